"""The gate's own Hypothesis profile and seed, whatever a project or a CI machine loads (contract L3)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project

    from admit.core.context import RunContext

GATE = "property_check"
HYPOTHESIS = ("hypothesispytest",)

DRAWS = """
    import pathlib
    from hypothesis import given, strategies as st
    drawn = []
    @given(st.integers())
    def test_p(n): drawn.append(n)
    def test_last(): pathlib.Path("drawn").write_text(repr(drawn))
"""


def test_the_seed_is_in_force_even_where_ci_is_set(project: Project, context: Callable[..., RunContext]) -> None:
    project.write("test_a.py", DRAWS)
    seen = {}
    for name, seed, ci in [("a", 1, "true"), ("b", 1, "true"), ("c", 2, "true"), ("d", 1, "")]:
        project.folder = project.root / name
        project.folder.mkdir()
        env = {"CI": ci} if ci else {}
        session = project.run("-q", plugins=HYPOTHESIS, context=context(seed=seed), env=env)
        assert session.node(GATE, "test_a.py::test_p")["check"] == "pass"
        assert session.node(GATE, "test_a.py::test_p")["seed"] == seed
        seen[name] = (project.root / "drawn").read_text(encoding="utf-8")
    assert seen["a"] == seen["b"] == seen["d"] != seen["c"]


def test_profiles_that_a_project_loads_do_not_take_over(project: Project) -> None:
    load = """
        from hypothesis import settings
        shared = settings(max_examples=2)
        settings.register_profile("mine", max_examples=7, derandomize=True)
        settings.load_profile("mine")
    """
    project.write("conftest.py", load)
    project.write("sub/conftest.py", load)
    project.write("sub/test_b.py", DRAWS)
    project.write("test_a.py", DRAWS)
    project.write(
        "test_c.py",
        """
        from hypothesis import given, settings, strategies as st
        from conftest import shared
        @shared
        @given(st.integers())
        def test_shared(n): pass
        settings.load_profile("mine")
        @given(st.integers())
        def test_own(n): pass
        """,
    )
    session = project.run("-q", "--hypothesis-profile=mine", "--hypothesis-seed=5", plugins=HYPOTHESIS)
    for node in ("test_a.py::test_p", "sub/test_b.py::test_p"):
        record = session.node(GATE, node)
        assert (record["check"], record["fixture_lock"], record["examples"]["max"]) == ("pass", "match", 25)
    shared = session.node(GATE, "test_c.py::test_shared")
    assert (shared["fixture_lock"], shared["examples"]["max"]) == ("match", 2)
    own = session.node(GATE, "test_c.py::test_own")
    assert (own["fixture_lock"], own["examples"]["max"]) == ("drifted", 7)
    assert "settings of another profile than 'admit': " in own["message"]


def test_properties_are_recorded_without_hypothesis_own_plugin(project: Project) -> None:
    project.write("test_a.py", DRAWS + "    @given(st.integers())\n    def test_q(n): assert n < 3\n")
    session = project.run("-q", env={"CI": "true"})
    assert session.node(GATE, "test_a.py::test_p")["examples"] == {"ran": 25, "valid": 25, "max": 25}
    failed = session.node(GATE, "test_a.py::test_q")
    assert (failed["check"], failed["fixture_lock"], failed.get("seed")) == ("fail", "match", 0)
    assert "n=3" in failed["counterexample"]
    assert "@reproduce_failure" in failed["reproduce"]


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        pytest.param({"max_examples": 5, "no_such": 1}, "does not know the settings no_such", id="unknown"),
        pytest.param({"max_examples": "many"}, "Hypothesis could not be pinned: InvalidArgument", id="wrong-type"),
        pytest.param({"phases": ("explicit", "pray")}, "Hypothesis could not be pinned: KeyError", id="unknown-word"),
    ],
)
def test_a_profile_that_cannot_be_loaded_is_drift(
    project: Project, context: Callable[..., RunContext], profile: dict[str, object], message: str
) -> None:
    project.write("test_a.py", DRAWS)
    session = project.run("-q", context=context(profile=profile))
    record = session.node(GATE, "test_a.py::test_p")
    assert record["fixture_lock"] == "drifted"
    assert message in record["message"]
    assert session.node("fixture_check", "test_a.py::test_last")["fixture_lock"] == "match"


def test_every_field_of_the_profile_is_in_force(project: Project, context: Callable[..., RunContext]) -> None:
    project.write(
        "test_a.py",
        """
        from hypothesis import settings, given, strategies as st
        @given(st.integers())
        def test_p(n): pass
        def test_print():
            s = test_p._hypothesis_internal_use_settings
            phases = [p.name for p in s.phases]
            print("\\nSEEN", s.max_examples, s.deadline, phases, s.verbosity.name, s.stateful_step_count, s.print_blob)
            print("SEEN", s.database, s.derandomize, s.backend, s.report_multiple_bugs, s.suppress_health_check)
        """,
    )
    profile = {
        "max_examples": 6,
        "deadline": 500,
        "phases": ("generate", "shrink"),
        "verbosity": "quiet",
        "stateful_step_count": 9,
        "suppress_health_check": ("too_slow",),
        "report_multiple_bugs": False,
    }
    session = project.run("-q", "-s", context=context(profile=profile))
    assert "SEEN 6 0:00:00.500000 ['generate', 'shrink'] quiet 9 True" in session.stdout
    assert "SEEN None False hypothesis False (HealthCheck.too_slow,)" in session.stdout
    assert session.node(GATE, "test_a.py::test_p")["fixture_lock"] == "match"


def test_hypothesis_is_not_imported_for_a_project_without_properties(project: Project) -> None:
    project.write("test_a.py", "import sys\ndef test_a(): assert 'hypothesis' not in sys.modules\n")
    session = project.run("-q", plugins=HYPOTHESIS)
    assert session.node("fixture_check", "test_a.py::test_a")["check"] == "pass"
    assert session.names(GATE) == []


def test_markers_and_paths_name_other_property_tests(project: Project, context: Callable[..., RunContext]) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers =\n    law\n")
    tests = """
        import pytest
        @pytest.mark.law
        def test_law(): pass
        def test_other(): pass
    """
    project.write("test_a.py", tests)
    project.write("laws/deep/test_b.py", tests)
    project.write("test_laws.py", tests)
    session = project.run("-q", context=context(property_markers=("law",), property_paths=("laws/*",)))
    assert session.names(GATE) == [
        "laws/deep/test_b.py::test_law",
        "laws/deep/test_b.py::test_other",
        *(f"{name}.py::test_law" for name in ("test_a", "test_laws")),
    ]
    assert session.names("fixture_check") == ["test_a.py::test_other", "test_laws.py::test_other"]
    assert session.planned(GATE) == session.names(GATE)


def test_the_plugin_lives_with_warnings_as_errors(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nfilterwarnings = error\n")
    project.write("conftest.py", "from hypothesis import settings\nsettings.load_profile('ci')\n")
    project.write("test_a.py", DRAWS)
    session = project.run("-q", plugins=HYPOTHESIS, env={"PYTHONWARNINGS": "error"})
    assert session.exit_code == 0, session.stdout + session.stderr
    assert session.stderr == ""
    assert session.node(GATE, "test_a.py::test_p")["check"] == "pass"


@pytest.mark.parametrize(
    "plugins", [("admit",), ("no:admit", "admit.pytest_plugin")], ids=["by-entry-point", "by-module"]
)
def test_the_pin_holds_where_plugins_are_loaded_automatically(project: Project, plugins: tuple[str, ...]) -> None:
    # then pytest's assertion rewriter claims Hypothesis, because that is a plugin's package too
    project.write("test_a.py", DRAWS)
    named = [part for plugin in plugins for part in ("-p", plugin)]
    unwanted = [part for name in ("rerunfailures", "flaky", "asyncio") for part in ("-p", f"no:{name}")]
    write = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "", "CI": "true"}
    session = project.run_command(
        [sys.executable, "-m", "pytest", *named, *unwanted, f"--admit={project.folder}"], env=write
    )
    record = session.node(GATE, "test_a.py::test_p")
    assert (record["fixture_lock"], record["seed"], record["examples"]["max"]) == ("match", 0, 25)


def test_the_pin_holds_where_a_conftest_puts_an_import_hook_in_front(project: Project) -> None:
    project.write(
        "conftest.py",
        """
        import importlib.machinery, sys
        class Greedy:
            @staticmethod
            def find_spec(name, path=None, target=None):
                return importlib.machinery.PathFinder.find_spec(name, path, target)
        sys.meta_path.insert(0, Greedy)
        """,
    )
    project.write("test_a.py", DRAWS)
    record = project.run("-q", plugins=HYPOTHESIS, env={"CI": "true"}).node(GATE, "test_a.py::test_p")
    assert (record["fixture_lock"], record["seed"], record["examples"]["max"]) == ("match", 0, 25)
