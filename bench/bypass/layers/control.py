"""Edits of the gate's own files: configuration, policy, register, abstentions, manifest, lock.

Plain pytest reads none of them, so each is green under every plain rule unless its fault is not hidden otherwise.
"""

from __future__ import annotations

from cases import CONTROL, FIXTURE, TEST_EDIT, Append, Attack, Copy, Link, Repin, WithoutLine

TOML, POLICY, FREEZES, ABSTAIN = "admit.toml", "admit.policy.toml", "admit.freezes.toml", "admit.abstentions.toml"
MANIFEST, LOCK = "admit.sha256", "admit.lock"
ROUTER = 'router = "router"'

LENIENT = """\
schema = "admit.policy/1"
name = "lenient"
rules_on = "patch"
about = "Whatever was not seen to fail is fine."
required = ["fixture_check"]

[[signal]]
name = "fixture_check"
states = ["pass", "unknown", "missing", "fail"]
clean = ["pass", "unknown", "missing"]

[[outcome]]
name = "MERGE_OK"
means = "accept"

[[outcome]]
name = "BLOCK"
means = "reject"

[order]
worse = ["MERGE_OK < BLOCK"]

[accept]
region = "all-clean"

[[rule]]
any = "fail"
outcome = "BLOCK"
reason = "concrete-behavior"
look_first = "production"

[[rule]]
all = "clean"
outcome = "MERGE_OK"
reason = "all-gates-held"
look_first = ""
"""

SKIPPED = "@pytest.mark.skip(reason='by design')\n@pytest.mark.parametrize(\"year\""
NODES = [
    f"tests/test_feasts.py::test_easter_is_on_the_day_that_was_printed[{year}]"
    for year in (1961, 1981, 2008, 2026, 2038)
]
DECLARED = "".join(f'\n[[abstain]]\nnode = "{node}"\nwhy = "skip"\nreason = "by design"\n' for node in NODES)

ATTACKS = (
    Attack(
        "lenient-policy",
        "the configuration names a new router, for which what was not seen does no harm",
        "the patch writes the law that it is judged by",
        {TOML: ((ROUTER, f'router = "{POLICY}"'),), POLICY: LENIENT},
        CONTROL,
    ),
    Attack(
        "policy-in-a-quiet-place",
        "the new router lies under docs, and is named like a page",
        "the patch writes the law that it is judged by",
        {TOML: ((ROUTER, 'router = "docs/gates.toml"'),), "docs/gates.toml": LENIENT},
        CONTROL,
    ),
    Attack(
        "frozen-by-the-patch",
        "the patch freezes the test that its fault fails, and skips it",
        "who breaks a test may not also say that it does not count",
        {
            FREEZES: "[[freeze]]\n"
            'node = "tests/test_feasts.py::test_easter_is_on_the_day_that_was_printed[1981]"\n'
            'reason = "flaky"\nowner = "nobody"\nexpires = {SOON}\n',
            "tests/test_feasts.py": (
                (
                    '@pytest.mark.parametrize("year"',
                    '@pytest.mark.skip(reason="frozen")\n@pytest.mark.parametrize("year"',
                ),
            ),
        },
        CONTROL,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "skip-declared",
        "a test is skipped, and the skip is declared as by design in the same patch",
        "who takes a test away may not also declare that it never said anything",
        {ABSTAIN: Append(DECLARED), "tests/test_feasts.py": (('@pytest.mark.parametrize("year"', SKIPPED),)},
        CONTROL,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "abstentions-widened",
        "tests that pass today are declared to give no verdict by design",
        "the next patch may skip them unseen",
        {ABSTAIN: Append(DECLARED)},
        CONTROL,
    ),
    Attack(
        "fewer-examples-configured",
        "the gate is configured to try one example a property",
        "a property of one example finds nothing",
        {TOML: (("max_examples = 100", "max_examples = 1"),)},
        CONTROL,
    ),
    Attack(
        "lucky-seed",
        "another seed is configured and locked",
        "a seed can be searched for until the fault is not found",
        {TOML: (("seed = 0", "seed = 4242"),), LOCK: (('"seed": 0', '"seed": 4242'),)},
        CONTROL,
    ),
    Attack(
        "nothing-pinned",
        "the pinned set is narrowed to the README, and the printed sheets follow the code",
        "whatever the tests read may move",
        {
            TOML: (('    "tests/data/**",\n', ""), ('    "tests/golden/**",\n', '    "README.md",\n')),
            "tests/golden/2026-02.txt": (("23 24 25 26 27 28\n", "23 24 25 26 27\n"),),
            "tests/golden/2026-12.txt": (("28 29 30 31\n", "28 29 30\n"),),
            "tests/golden/2028-02.txt": (("28 29\n", "28\n"),),
            "tests/test_sheet.py": (('== "31"', 'in "30 31"'),),
        },
        CONTROL,
        "short-sheet",
    ),
    Attack(
        "repinned",
        "a printed sheet is rewritten and pinned again in one patch",
        "the lock follows what it is to hold",
        {"tests/golden/2026-02.txt": ((" February 2026\n", " February 2026 \n"),), MANIFEST: Repin(), LOCK: Repin()},
        CONTROL | FIXTURE | TEST_EDIT,
        fools="",
    ),
    Attack(
        "manifest-line-removed",
        "the line of the table of Easter days is taken out of the manifest",
        "what is not pinned may move",
        {MANIFEST: WithoutLine("easters.json")},
        CONTROL,
    ),
    Attack("manifest-removed", "the manifest is removed", "nothing is pinned", {MANIFEST: None}, CONTROL),
    Attack("lock-removed", "the lock file is removed", "seed, settings and versions are free", {LOCK: None}, CONTROL),
    Attack(
        "configuration-removed",
        "the configuration is removed, so that defaults hold",
        "no set is pinned by default",
        {TOML: None},
        CONTROL,
    ),
    Attack(
        "horizon-moved",
        "freezes may last a year",
        "a freeze that nobody remembers is a test that nobody has",
        {TOML: (("horizon_days = 30", "horizon_days = 365"),)},
        CONTROL,
    ),
    Attack(
        "other-register",
        "another register is configured, with freezes that nobody reviewed",
        "the register that is read is not the one that people look at",
        {
            TOML: (("[freeze]\n", '[freeze]\nregister = "docs/freezes.toml"\n'),),
            "docs/freezes.toml": "[[freeze]]\n"
            'node = "tests/test_sheet.py::test_a_sheet_ends_with_its_last_day"\n'
            'reason = "flaky"\nowner = "nobody"\nexpires = {SOON}\n',
        },
        CONTROL,
    ),
    Attack(
        "evidence-from-elsewhere",
        "evidence is read from a folder that the patch brings",
        "the evidence speaks of another commit",
        {
            TOML: (("[freeze]\n", '[evidence]\nfolder = "docs/evidence"\n\n[freeze]\n'),),
            "docs/evidence/fixture_check.old.jsonl": "{}\n",
        },
        CONTROL,
    ),
    Attack(
        "command-replaced",
        "the configured test command becomes one that does nothing",
        "whoever runs the tests without being told how runs none",
        {TOML: (('command = ["python", "-m", "pytest"]', 'command = ["true"]'),)},
        CONTROL,
    ),
    Attack(
        "configuration-is-a-link",
        "the configuration becomes a link to a copy of the same bytes, which later patches may edit",
        "the name that is guarded is not the file that is read",
        {"docs/gate-settings.toml": Copy(TOML), TOML: Link("docs/gate-settings.toml")},
        CONTROL,
    ),
    Attack(
        "property-gate-emptied",
        "the configuration counts every test as a property test",
        "the gate of examples has nothing left to say",
        {TOML: (("property_paths = []", 'property_paths = ["tests/**"]'),)},
        CONTROL,
    ),
)
