"""How wide a freeze is, and which nodes it reaches (contract F2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.freeze.reach import Width, finder, parts_of, reached, reaches, width_of


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param("tests/test_a.py::test_x", "node", id="test"),
        pytest.param("tests/test_a.py::TestA::test_x", "node", id="method"),
        pytest.param("tests/test_a.py::test_x[1]", "node", id="case"),
        pytest.param("tests/test_a.py::test_x[*]", "node", id="case-that-looks-like-a-pattern"),
        pytest.param("tests/test_a.py::test_x[a::b/c?[d]]", "node", id="case-of-any-characters"),
        pytest.param("tests/test_a.py::test_x[]", "node", id="empty-case"),
        pytest.param("src/money.py::money.Money", "node", id="doctest-of-a-class"),
        pytest.param("README.rst::README.rst", "node", id="doctest-of-a-page"),
        pytest.param("pkg/mail::TestSend", "node", id="go-test"),
        pytest.param("com.acme.MailTest::sends", "node", id="java-method"),
        pytest.param("app/[slug]/page.test.ts::renders a * b?", "node", id="sentence-in-a-route-folder"),
        pytest.param("tests/test_a.py", "file", id="file"),
        pytest.param("com.acme.MailTest", "file", id="java-class-alone"),
        pytest.param("tests", "directory", id="directory"),
        pytest.param("tests/unit/", "directory", id="directory-with-slash"),
        pytest.param("tests/test_a.py::TestA", "class", id="class"),
        pytest.param("tests/test_a.py::TestA::TestB", "class", id="nested-class"),
        pytest.param("tests/test_a.py::_Base", "class", id="private-class"),
        pytest.param("tests/test_*.py::test_x", "glob", id="pattern-in-the-path"),
        pytest.param("tests/test_[ab].py::test_x", "glob", id="set-in-the-path"),
        pytest.param("tests/test_a.py::test_*", "glob", id="pattern-in-the-test"),
        pytest.param("tests/test_a.py::TestA::test_?", "glob", id="mark-in-the-test"),
        pytest.param("tests/test_a.py::test_*[1]", "glob", id="pattern-before-a-case"),
        pytest.param("**", "glob", id="everything"),
        pytest.param("tests/test_a.py::", "no test", id="nothing-after-the-colons"),
        pytest.param("::test_x", "no test", id="nothing-before-the-colons"),
        pytest.param("tests/test_a.py::TestA::", "no test", id="nothing-after-the-class"),
        pytest.param("tests/test_a.py::::test_x", "no test", id="nothing-between"),
        pytest.param("tests/test_a.py::[1]", "no test", id="a-case-of-nothing"),
    ],
)
def test_only_one_test_or_one_case_is_narrow(node: str, expected: Width) -> None:
    assert width_of(node) == expected


@pytest.mark.parametrize(
    ("frozen", "node", "expected"),
    [
        pytest.param("a.py::test_x", "a.py::test_x", True, id="itself"),
        pytest.param("a.py::test_x", "a.py::test_x[1]", True, id="a-case-of-the-test"),
        pytest.param("a.py::test_x", "a.py::test_x[a]::b]", True, id="a-case-with-brackets"),
        pytest.param("a.py::test_x", "a.py::test_xy", False, id="a-longer-name"),
        pytest.param("a.py::test_x", "a.py::test_x::test_y", False, id="something-inside"),
        pytest.param("a.py::test_x[1]", "a.py::test_x", False, id="the-test-of-a-case"),
        pytest.param("a.py::test_x[1]", "a.py::test_x[2]", False, id="another-case"),
        pytest.param("a.py::test_x[1]", "a.py::test_x[1]]", False, id="a-case-that-starts-alike"),
        pytest.param("a.py::test_x[*]", "a.py::test_x[1]", False, id="a-case-is-no-pattern"),
        pytest.param("old/a.py::test_x", "new/a.py::test_x", False, id="a-renamed-file"),
        pytest.param("t/a.py", "t/a.py::test_x", True, id="file"),
        pytest.param("t/a.py", "t/a.pyx::test_x", False, id="file-that-starts-alike"),
        pytest.param("t", "t/u/a.py::test_x", True, id="directory"),
        pytest.param("t/", "t/a.py::test_x", True, id="directory-with-slash"),
        pytest.param("t", "tt/a.py::test_x", False, id="directory-that-starts-alike"),
        pytest.param("a.py::TestA", "a.py::TestA::test_x[1]", True, id="class"),
        pytest.param("a.py::TestA", "a.py::TestAB::test_x", False, id="class-that-starts-alike"),
        pytest.param("a.py::test_*", "a.py::test_x[1]", True, id="pattern"),
        pytest.param("a.py::test_*[1]", "a.py::test_x[1]", True, id="pattern-of-one-case"),
        pytest.param("a.py::test_*[1]", "a.py::test_x[2]", False, id="pattern-of-another-case"),
        pytest.param("a.py::TEST_*", "a.py::test_x", False, id="pattern-keeps-case"),
        pytest.param("t/*.py", "t/a.py::test_x", True, id="pattern-of-files"),
        pytest.param("a.py::*", "a.py", False, id="pattern-of-tests-and-a-file"),
        pytest.param("a.py::", "a.py::test_x", False, id="no-test-reaches-nothing"),
    ],
)
def test_a_freeze_reaches_what_it_names(frozen: str, node: str, expected: bool) -> None:
    assert reaches(frozen, node) is expected
    assert (finder({frozen: "it"})(node) is not None) is expected
    assert (node in reached({frozen: "it"}, [node])) is expected


def test_a_case_is_frozen_by_its_own_entry_before_its_tests_before_a_wide_one() -> None:
    frozen = {"t": "wide", "t/a.py::test_x": "test", "t/a.py::test_x[1]": "case"}
    assert reached(frozen, ["t/a.py::test_x[1]", "t/a.py::test_x[2]", "t/a.py::test_y", "u/a.py::test_x"]) == {
        "t/a.py::test_x[1]": "case",
        "t/a.py::test_x[2]": "test",
        "t/a.py::test_y": "wide",
    }


@given(
    st.text(min_size=1).filter(lambda text: "::" not in text), st.from_regex(r"test_[a-z]+", fullmatch=True), st.text()
)
def test_a_case_of_any_characters_is_taken_apart_and_reached_by_its_test(path: str, test: str, case: str) -> None:
    node = f"{path}::{test}[{case}]"
    if path.endswith(":"):  # three colons: the first two part path and test, as pytest reads them
        return
    assert parts_of(node) == (path, test, case)
    assert reaches(f"{path}::{test}", node)


ENTRIES = ["a.py::test_x", "a.py::test_x[1]", "a.py::test_y[1]", "[a]/b.py::test_z", "t", "a.py::TestA", "a.py::test_*"]
NODES = [
    *("a.py::test_x", "a.py::test_x[1]", "a.py::test_x[2]", "a.py::test_y", "a.py::test_y[1]", "a.py::test_y[2]"),
    *(
        "[a]/b.py::test_z",
        "[a]/b.py::test_z[1]",
        "[a]/b.py::test_q",
        "t/c.py::test_x[1]",
        "a.py::TestA::test_x[1]",
        "[a]",
    ),
]


@given(st.sets(st.sampled_from(ENTRIES)))
def test_what_is_reached_is_what_reaches_whatever_else_the_register_holds(entries: set[str]) -> None:
    found = reached({entry: entry for entry in sorted(entries)}, NODES)
    assert set(found) == {node for node in NODES if any(reaches(entry, node) for entry in entries)}
    assert all(reaches(entry, node) for node, entry in found.items())
