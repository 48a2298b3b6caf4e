"""One run of real pytest over the situations in which recorders went wrong (contract E8, U5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

PLAIN = """
    import unittest

    import pytest

    def test_pass(): pass
    def test_fail(): assert 1 == 2
    def test_fail_in_words(): raise ValueError("no\\nsuch   thing")
    def test_fail_silently(): raise KeyError
    def test_exits(): raise SystemExit(0)
    def test_fail_surrogates(): raise ValueError("\\udc80 alone")
    class Unprintable(Exception):
        def __str__(self): raise RuntimeError
    def test_fail_unprintable(): raise Unprintable

    @pytest.fixture
    def broken_setup(): raise RuntimeError("no database")
    def test_setup_error(broken_setup): pass

    @pytest.fixture
    def broken_teardown():
        yield
        raise RuntimeError("left open")
    def test_teardown_error(broken_teardown): pass
    def test_fail_and_teardown_error(broken_teardown): assert 1 == 2
    def test_skip_and_teardown_error(broken_teardown): pytest.skip("not today")

    @pytest.mark.skip(reason="for   now: a, b")
    def test_skip_mark(): pass
    @pytest.mark.skipif(True, reason="on this platform")
    def test_skipif(): pass
    def test_skip_inside(): pytest.skip("inside")
    @pytest.fixture
    def skipping(): pytest.skip("in a fixture")
    def test_skip_in_fixture(skipping): pass
    @unittest.skip("the unittest way")
    def test_skip_unittest(): pass
    def test_skip_raised(): raise unittest.SkipTest("raised")
    def test_importorskip(): pytest.importorskip("no_such_module_at_all")

    @pytest.mark.xfail(reason="known")
    def test_xfail(): assert 0
    @pytest.mark.xfail(reason="known", strict=True)
    def test_xfail_strict(): assert 0
    @pytest.mark.xfail(reason="dangerous", run=False)
    def test_xfail_not_run(): assert 0
    def test_xfail_inside(): pytest.xfail("from inside")
    @pytest.mark.xfail(reason="known", raises=KeyError)
    def test_xfail_other_error(): raise ValueError("another")
    @pytest.mark.xfail(reason="known")
    def test_xpass(): pass
    @pytest.mark.xfail(reason="known", strict=True)
    def test_xpass_strict(): pass

    def test_subtests_one_fails(subtests):
        for i in range(3):
            with subtests.test("sub", i=i):
                assert i != 1
    def test_subtests_pass(subtests):
        for i in range(3):
            with subtests.test(i=i):
                pass
    def test_subtests_skip(subtests):
        with subtests.test(i=0):
            pytest.skip("one of them")
        with subtests.test(i=1):
            pass

    class TestUnittest(unittest.TestCase):
        def test_subtest_fails(self):
            for i in range(3):
                with self.subTest(i=i):
                    assert i != 1
        def test_subtests_pass(self):
            for i in range(3):
                with self.subTest(i=i):
                    pass
        def test_subtest_skips(self):
            with self.subTest(i=0):
                self.skipTest("one of them")
            with self.subTest(i=1):
                pass
        @unittest.expectedFailure
        def test_expected_failure(self): assert 0
        @unittest.expectedFailure
        def test_unexpected_success(self): pass
        def test_teardown_error(self): self.addCleanup(lambda: 1 / 0)
        def test_skip(self): self.skipTest("unittest skip")

    async def test_async(): pass

    ODD = ["a::b[c]", "new\\nline", "sp ace", "ünïcode ☃", "back\\\\slash", '"quo\\'te"', "", "\\udcff"]
    @pytest.mark.parametrize("p", ODD, ids=lambda p: p)
    def test_ids(p): assert p != "a::b[c]"
"""

DOCTEST = '''
    """
    >>> 1 + 1
    2
    """
    def wrong():
        """
        >>> 1 + 1
        3
        """
'''


@pytest.fixture(scope="module")
def session(new_project: Callable[[], Project]) -> Session:
    project = new_project()
    ini = "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
    project.write("pytest.ini", ini)
    project.write("test_plain.py", PLAIN)
    project.write("documented.py", DOCTEST)
    return project.run("--doctest-modules", "-q")


@pytest.mark.parametrize(
    ("node", "check", "why", "message"),
    [
        ("test_pass", "pass", None, ""),
        ("test_fail", "fail", None, "AssertionError: assert 1 == 2"),
        ("test_fail_in_words", "fail", None, "ValueError: no such thing"),
        ("test_fail_silently", "fail", None, "KeyError"),
        ("test_exits", "fail", None, "SystemExit: 0"),
        ("test_fail_surrogates", "fail", None, "ValueError: \\udc80 alone"),
        ("test_fail_unprintable", "fail", None, "Unprintable: <unprintable Unprintable: RuntimeError>"),
        ("test_setup_error", "not_run", "error_setup", "RuntimeError: no database"),
        ("test_teardown_error", "fail", "error_teardown", "RuntimeError: left open"),
        ("test_fail_and_teardown_error", "fail", None, "AssertionError: assert 1 == 2"),
        ("test_skip_and_teardown_error", "not_run", "error_teardown", "RuntimeError: left open"),
        ("test_skip_mark", "not_run", "skip", "for   now: a, b"),
        ("test_skipif", "not_run", "skip", "on this platform"),
        ("test_skip_inside", "not_run", "skip", "inside"),
        ("test_skip_in_fixture", "not_run", "skip", "in a fixture"),
        ("test_skip_unittest", "not_run", "skip", "the unittest way"),
        ("test_skip_raised", "not_run", "skip", "raised"),
        (
            "test_importorskip",
            "not_run",
            "skip",
            "could not import 'no_such_module_at_all': No module named 'no_such_module_at_all'",
        ),
        ("test_xfail", "not_run", "xfail", "known"),
        ("test_xfail_strict", "not_run", "xfail", "known"),
        ("test_xfail_not_run", "not_run", "xfail", "[NOTRUN] dangerous"),
        ("test_xfail_inside", "not_run", "xfail", "from inside"),
        ("test_xfail_other_error", "fail", None, "ValueError: another"),
        ("test_xpass", "not_run", "xpass", "known"),
        ("test_xpass_strict", "fail", "xpass", "known"),
        ("test_subtests_one_fails", "fail", None, "AssertionError: assert 1 != 1"),
        ("test_subtests_pass", "pass", None, ""),
        ("test_subtests_skip", "not_run", "skip", "one of them"),
        ("TestUnittest::test_subtest_fails", "fail", None, "AssertionError: assert 1 != 1"),
        ("TestUnittest::test_subtests_pass", "pass", None, ""),
        ("TestUnittest::test_subtest_skips", "not_run", "skip", "one of them"),
        ("TestUnittest::test_expected_failure", "not_run", "xfail", ""),
        ("TestUnittest::test_unexpected_success", "fail", "xpass", "Failed: Unexpected success"),
        ("TestUnittest::test_teardown_error", "fail", None, "ZeroDivisionError: division by zero"),
        ("TestUnittest::test_skip", "not_run", "skip", "unittest skip"),
        ("test_ids[a::b[c]]", "fail", None, "AssertionError: assert 'a::b[c]' != 'a::b[c]'"),
        ("test_ids[new\nline]", "pass", None, ""),
        ("test_ids[sp ace]", "pass", None, ""),
        ("test_ids[ünïcode ☃]", "pass", None, ""),
        ("test_ids[back\\slash]", "pass", None, ""),
        ('test_ids["quo\'te"]', "pass", None, ""),
        ("test_ids[]", "pass", None, ""),
        ("test_ids[\\udcff]", "pass", None, ""),
    ],
)
def test_a_node_is_recorded_as_the_worst_that_was_seen(
    session: Session, node: str, check: str, why: str | None, message: str
) -> None:
    assert session.verdict("fixture_check", f"test_plain.py::{node}") == (check, why, message)


def test_doctests_are_recorded_like_any_node(session: Session) -> None:
    assert session.node("fixture_check", "documented.py::documented")["check"] == "pass"
    assert session.node("fixture_check", "documented.py::documented.wrong")["check"] == "fail"


def test_an_async_test_without_a_plugin_is_recorded_as_pytest_reports_it(session: Session) -> None:
    check, why, message = session.verdict("fixture_check", "test_plain.py::test_async")
    assert (check, why) == ("fail", None)
    assert "async def functions are not natively supported" in message


def test_every_planned_node_has_one_record(session: Session) -> None:
    planned = session.planned("fixture_check")
    assert sorted(planned) == sorted(session.names("fixture_check"))
    assert len(planned) == len(set(planned)) > 40


def test_a_red_session_with_failures_is_finished_and_sealed_by_the_plugin(session: Session) -> None:
    assert session.exit_code == 1
    for gate in ("fixture_check", "property_check", "flaky_freeze"):
        closing = session.document(gate).closing
        assert closing is not None
        assert (closing.ended, closing.exit_code, closing.closed_by) == ("finished", 1, "plugin")


def test_the_opening_says_what_the_context_said(session: Session) -> None:
    opening = session.document("fixture_check").opening
    assert (opening.patch_id, opening.run_id, opening.nonce) == ("pr-7", "run", "n0nce")
    assert (opening.head, opening.base, opening.tool) == ("a" * 40, "b" * 40, "pytest")
