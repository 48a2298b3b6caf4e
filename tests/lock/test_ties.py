"""A set is tied to nodes by patterns that node ids cannot trip (contract L4)."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.lock.ties import as_fnmatch, is_tied, unused_ties


@pytest.mark.parametrize(
    ("pattern", "tied", "free"),
    [
        pytest.param("*", ["t/a.py::x", ""], [], id="every node"),
        pytest.param("t/a.py", ["t/a.py", "t/a.py::x", "t/a.py::K::x[1]"], ["t/a.pyx", "u/t/a.py::x"], id="a file"),
        pytest.param("t/unit", ["t/unit/a.py::x"], ["t/units/a.py::x"], id="a folder"),
        pytest.param("t/unit/", ["t/unit/a.py::x"], ["t/units/a.py::x"], id="a folder with its slash"),
        pytest.param("t/a.py::K", ["t/a.py::K::x"], ["t/a.py::Kx", "t/a.py::L"], id="a class"),
        pytest.param("t/a.py::x", ["t/a.py::x", "t/a.py::x[1-::]"], ["t/a.py::xy"], id="a test with its cases"),
        pytest.param("t/a.py::x[a-?]", ["t/a.py::x[a-?]"], ["t/a.py::x[a-b]", "t/a.py::xa"], id="one case"),
        pytest.param("t/*::x", ["t/a.py::x", "t/b/c.py::x[1]"], ["t/a.py::y"], id="a star spans folders"),
        pytest.param("**/a.py", ["t/a.py::x", "t/u/a.py"], ["a.py"], id="two stars are one"),
        pytest.param("com.acme.*", ["com.acme.T.x"], ["com.other.T.x"], id="another runner's ids"),
        pytest.param("a.b", ["a.b::x"], ["aXb"], id="a dot is a dot"),
    ],
)
def test_ties(pattern: str, tied: list[str], free: list[str]) -> None:
    assert [node for node in tied if not is_tied((pattern,), node)] == []
    assert [node for node in free if is_tied((pattern,), node)] == []


fragments = st.lists(st.sampled_from(["a", "b", "*", "::", "/", "[", "]", "?", "."]), min_size=1, max_size=6).map(
    "".join
)


@given(fragments, fragments.map(lambda text: text.replace("*", "x")))
def test_fnmatch_reads_the_translated_patterns_as_they_were_meant(pattern: str, node: str) -> None:
    assert any(fnmatchcase(node, one) for one in as_fnmatch((pattern,))) is is_tied((pattern,), node)


def test_a_pattern_that_names_no_node_is_found() -> None:
    """A misspelt tie would let its set drift unseen."""
    assert unused_ties(("t/a.py", "t/misspelt.py", "*"), ["t/a.py::x"]) == ("t/misspelt.py",)
    assert unused_ties(("*",), []) == ("*",)
