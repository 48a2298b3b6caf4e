"""`admit decide --inventory`: what the base ran has to be there, for any runner. Real git and JUnit files (T2, P3)."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from conftest import Repository

KEPT = ".admit/base"
FILE = "src/sum.test.ts"


def report(**tests: str) -> str:
    """Return what Vitest writes; a test is told by its name and what came of it."""
    shown = {"pass": "", "fail": '<failure message="1 != 2">1 != 2</failure>', "skip": "<skipped/>"}
    cases = "".join(
        f'<testcase classname="{FILE}" name="{name.replace("_", " ")}" time="0.1">{shown[told]}</testcase>'
        for name, told in tests.items()
    )
    count = {word: sum(told == word for told in tests.values()) for word in shown}
    counts = f'tests="{len(tests)}" failures="{count["fail"]}" errors="0" skipped="{count["skip"]}"'
    return f'<testsuites><testsuite name="{FILE}" {counts} time="0.1">{cases}</testsuite></testsuites>'


class Patch:
    """A repository whose tests run elsewhere: it holds reports, and the base's evidence is kept beside."""

    def __init__(self, repository: Repository) -> None:
        self.repository, self.root = repository, repository.root

    def collected(self, out: str, *words: str, **tests: str) -> None:
        """Collect the report of a run on the commit that is checked out."""
        path = self.root / ".admit" / "report.xml"
        path.write_text(report(**tests))
        code = str(int("fail" in tests.values()))
        done = self.repository.admit(
            "collect",
            "junit",
            ".admit/report.xml",
            "--gate",
            "fixture_check",
            "--exit-code",
            code,
            "--out",
            out,
            *words,
        )
        assert done.returncode == 0, done.stderr

    def changed(self, *trailers: str) -> None:
        """Commit a patch."""
        self.repository.git("checkout", "-q", "-b", "patch")
        self.repository.write("src/sum.ts", "export const sum = (...n: number[]) => n.reduce((a, b) => a + b, 0)\n")
        self.repository.commit("\n\n".join(["patch", "\n".join(trailers)]) if trailers else "patch")

    def decided(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.repository.admit("decide", *words, **env)

    def decision(self) -> dict[str, object]:
        return json.loads((self.root / ".admit" / "decision.json").read_text())

    def found(self) -> set[tuple[str, str | None]]:
        """Return reason and why of each node that did not get in."""
        return {(one["reason"], one["record"]["why"]) for gate in self.decision()["gates"] for one in gate["nodes"]}


ON_BASE = ("--base", "main", "--inventory", KEPT)


def line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.splitlines()[0] if done.stdout else done.stderr[-500:]


@pytest.fixture
def patch(bare: Repository) -> Patch:
    """Give a repository without pytest, and the evidence of its base: two tests that passed and one that is skipped."""
    repository = bare
    repository.git("rm", "-rq", "tests", "pyproject.toml", "shop.py")
    repository.write("src/sum.ts", "export const sum = (a: number, b: number) => a + b\n")
    repository.write(FILE, "test('adds', () => {})\n")
    assert repository.admit("init").returncode == 0
    repository.commit("base")
    found = Patch(repository)
    (repository.root / ".admit").mkdir(exist_ok=True)
    found.collected(KEPT, adds="pass", carries="pass", comes_later="skip")
    return found


def test_a_patch_that_keeps_the_bases_tests_merges_and_its_own_are_counted_as_proposals_t2_p3(patch: Patch) -> None:
    patch.changed()
    patch.collected(".admit/evidence", adds="pass", carries="pass", sums_three="pass")
    done = patch.decided(*ON_BASE)
    assert (done.returncode, line(done)) == (0, "MERGE_OK attribution=all-gates-held"), done.stdout + done.stderr
    decision = patch.decision()
    left = [(one["node"], one["why"]) for gate in decision["gates"] for one in gate["left"]]
    assert left == [(f"{FILE}::sums three", "proposal")]
    assert decision["arbiter"]["name"] == "trusted-arbiter"
    assert any(note.startswith("no-base: ") for note in decision["notes"])
    assert any(note.startswith("inventory: 2 nodes ran on the base ") for note in decision["notes"])


@pytest.mark.parametrize(
    ("here", "told", "found"),
    [
        pytest.param(
            {"adds": "pass"},
            (2, "ESCALATE attribution=inadmissible-evidence"),
            {("fixture_not_run", "vanished")},
            id="a test vanished",
        ),
        pytest.param(
            {"adds": "pass", "carries": "fail"},
            (1, "BLOCK attribution=concrete-behavior"),
            {("fixture_fail", None)},
            id="a test of the base fails",
        ),
        pytest.param(
            {"adds": "pass", "carries": "pass", "sums_three": "fail"},
            (2, "ESCALATE attribution=inadmissible-evidence"),
            {("unproven_property", None)},
            id="a new test fails",
        ),
    ],
)
def test_what_comes_of_the_bases_tests_and_of_new_ones_t2_p3(
    patch: Patch, here: dict[str, str], told: tuple[int, str], found: set[tuple[str, str | None]]
) -> None:
    patch.changed()
    patch.collected(".admit/evidence", **here)
    done = patch.decided(*ON_BASE)
    assert (done.returncode, line(done)) == told
    assert patch.found() == found


def test_without_the_bases_evidence_nothing_is_asked_of_the_patch(patch: Patch) -> None:
    patch.changed()
    patch.collected(".admit/evidence", adds="pass")
    assert patch.decided("--base", "main").returncode == 0
    assert patch.decision()["arbiter"]["name"] == "arbiter"


def test_a_declared_rename_merges_and_one_that_is_not_declared_holds_t2(patch: Patch) -> None:
    patch.changed()
    patch.collected(".admit/evidence", adds="pass", carries_over="pass")
    assert patch.decided(*ON_BASE).returncode == 2
    said = f"Admit-Rename: {FILE}::carries => {FILE}::carries over"
    patch.repository.git("commit", "-q", "--amend", "-m", f"patch\n\n{said}")
    shutil.rmtree(patch.root / ".admit" / "evidence")
    patch.collected(".admit/evidence", adds="pass", carries_over="pass")
    done = patch.decided(*ON_BASE)
    assert done.returncode == 0, done.stdout
    assert f"renamed, as the patch declares: {FILE}::carries => {FILE}::carries over" in patch.decision()["notes"]


def test_a_test_may_come_up_in_any_shard_t2(patch: Patch) -> None:
    patch.changed()
    patch.collected(".admit/evidence", "--shard", "1/2", carries="pass")
    patch.collected(".admit/evidence", "--shard", "2/2", adds="pass")
    assert patch.decided(*ON_BASE).returncode == 0


def test_the_folder_may_be_a_setting_of_the_base_and_the_base_may_be_found_in_ci_t2(patch: Patch) -> None:
    patch.repository.write("admit.toml", (patch.root / "admit.toml").read_text() + f'\n[trust]\ninventory = "{KEPT}"\n')
    assert patch.repository.admit("lock", "write").returncode == 0
    patch.repository.commit("keep the base's evidence")
    shutil.rmtree(patch.root / KEPT)
    patch.collected(KEPT, adds="pass", carries="pass")
    base = patch.repository.git("rev-parse", "HEAD")
    patch.changed()
    patch.collected(".admit/evidence", adds="pass")
    nobody = patch.decided()
    assert (nobody.returncode, line(nobody)) == (2, "ESCALATE attribution=no-inventory")
    found = patch.decided(GITLAB_CI="true", CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (found.returncode, line(found)) == (2, "ESCALATE attribution=inadmissible-evidence")
    assert patch.found() == {("fixture_not_run", "vanished")}
    named = patch.decided("--base", "main", "--inventory", "elsewhere")
    assert line(named) == "ESCALATE attribution=no-inventory"


def moved(patch: Patch) -> None:
    patch.collected(KEPT, adds="pass", carries="pass")  # on the patch's own commit by now


def emptied(patch: Patch) -> None:
    for path in (patch.root / KEPT).iterdir():
        path.unlink()


def removed(patch: Patch) -> None:
    shutil.rmtree(patch.root / KEPT)


def cut(patch: Patch) -> None:
    (path,) = (patch.root / KEPT).glob("fixture_check.*")
    path.write_bytes(path.read_bytes().rpartition(b'{"record":"closing"')[0])


def changed(patch: Patch) -> None:
    (path,) = (patch.root / KEPT).glob("fixture_check.*")
    path.write_bytes(path.read_bytes().replace(b"carries", b"marries"))


def of_no_test(patch: Patch) -> None:
    (path,) = (patch.root / KEPT).glob("fixture_check.*")
    path.unlink()


def committed(patch: Patch) -> None:
    patch.repository.git("add", "-f", KEPT)
    patch.repository.git("commit", "-qm", "bring the base's evidence along")


def linked(patch: Patch) -> None:
    shutil.move(patch.root / KEPT, patch.root / "kept")
    (patch.root / KEPT).symlink_to("../kept")
    patch.repository.git("add", "-f", "kept")
    patch.repository.git("commit", "-qm", "bring the base's evidence along")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(moved, "and the patch left its base at", id="of another commit"),
        pytest.param(emptied, "it holds no document", id="empty"),
        pytest.param(removed, "is no folder", id="not there"),
        pytest.param(cut, "has no closing record", id="without a closing record"),
        pytest.param(changed, "the document was changed after it was sealed", id="changed"),
        pytest.param(of_no_test, "it names no test that ran", id="of no test"),
        pytest.param(committed, "the commit holds", id="brought by the patch"),
        pytest.param(linked, "the commit holds", id="a link to what the patch brings"),
    ],
)
def test_base_evidence_that_is_none_holds_and_is_never_taken_for_no_inventory_t2(
    patch: Patch, spoil: object, said: str
) -> None:
    patch.changed()
    spoil(patch)
    patch.collected(".admit/evidence", adds="pass", carries="pass")
    done = patch.decided(*ON_BASE)
    assert done.returncode == 2
    decision = patch.decision()
    told = [decision["detail"], *decision["notes"]]
    assert [text for text in told if "is no inventory: " in text and said in text], told


def test_a_policy_that_names_keys_asks_a_signature_of_the_bases_evidence_too_t5(patch: Patch) -> None:
    repository = patch.repository
    assert repository.admit("keys", "new", "ci", "--out", ".admit").returncode == 0
    key = (patch.root / ".admit" / "ci.pub").read_text().split()[0]
    policy = patch.root / "admit.policy.toml"
    policy.write_text(policy.read_text() + f'\n[trust.evidence]\nfixture_check = ["{key}"]\n')
    repository.commit("signed evidence alone")
    shutil.rmtree(patch.root / KEPT)
    patch.collected(KEPT, adds="pass")
    patch.changed()
    patch.collected(".admit/evidence", adds="pass")
    for folder, exit_code in ((".admit/evidence", 2), (KEPT, 0)):
        mine = [str(path) for path in (patch.root / folder).glob("fixture_check.*.jsonl")]
        assert repository.admit("sign", *mine, "--key", ".admit/ci.key").returncode == 0
        done = patch.decided(*ON_BASE)
        assert done.returncode == exit_code, done.stdout
        assert (line(done) == "ESCALATE attribution=no-inventory") == bool(exit_code)


def test_a_loss_waits_for_an_approval_of_what_the_patch_does_to_its_file_t1(patch: Patch) -> None:
    repository = patch.repository
    assert repository.admit("keys", "new", "ana", "--out", ".admit").returncode == 0
    key = (patch.root / ".admit" / "ana.pub").read_text().split()[0]
    policy = patch.root / "admit.policy.toml"
    policy.write_text(policy.read_text() + f'\n[trust]\napprovers = ["{key}"]\n')
    repository.commit("an approver")
    shutil.rmtree(patch.root / KEPT)
    patch.collected(KEPT, adds="pass", carries="pass")
    repository.git("checkout", "-q", "-b", "patch")
    repository.write(FILE, "test('adds', () => {})\n// carries went\n")
    repository.commit("patch")
    patch.collected(".admit/evidence", adds="pass")
    assert patch.decided(*ON_BASE).returncode == 2
    words = ("--base", "main", "--node", f"{FILE}::carries", "--reason", "nothing carries", "--key", ".admit/ana.key")
    assert repository.admit("approve", *words).returncode == 0
    done = patch.decided(*ON_BASE)
    assert done.returncode == 0, done.stdout
    assert "1 nodes of fixture_check are gone with a reviewer's approval" in patch.decision()["notes"]
