"""Which tests a patch edits, and which it loses (contract T2, T7)."""

from __future__ import annotations

import pytest

from admit.trust.edits import edited_nodes, lost_nodes

OLD = '''
"""Tests of a cart."""
import pytest
LIMIT = 3

def helper(): return LIMIT

@pytest.mark.parametrize("n", [1, 2])
def test_a(n):
    """Say what."""
    assert n < helper()

def test_b(): assert True

class TestC:
    size = 1
    def setup_method(self): self.n = 1
    def test_d(self): assert self.n
    def test_e(self): assert self.n + 1
'''
A, B, D, E = "t.py::test_a[1]", "t.py::test_b", "t.py::TestC::test_d", "t.py::TestC::test_e"
ALL = {A, "t.py::test_a[2]", B, D, E}


def edited(old: str, new: str) -> set[str]:
    assert old in OLD
    return set(edited_nodes("t.py", OLD.encode(), OLD.replace(old, new).encode(), ALL))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("LIMIT = 3", "LIMIT = 3  # a comment\n\n", id="a comment"),
        pytest.param("Say what.", "Say something else.", id="a docstring"),
        pytest.param("Tests of a cart.", "Tests.", id="the module's docstring"),
        pytest.param("def test_b(): assert True", "def test_b():\n    assert (True)", id="layout"),
        pytest.param("class TestC", "def test_new(): assert 0\n\nclass TestC", id="a new test"),
        pytest.param("class TestC", "class TestNew:\n    def test_x(self): ...\n\nclass TestC", id="a new class"),
        pytest.param("    def test_d", "    def test_new(self): ...\n    def test_d", id="a new method"),
    ],
)
def test_no_test_is_edited_by(old: str, new: str) -> None:
    assert edited(old, new) == set()


@pytest.mark.parametrize(
    ("old", "new", "nodes"),
    [
        pytest.param("assert True", "assert 1", {B}, id="a body"),
        pytest.param("[1, 2]", "[1, 2, 3]", {A, "t.py::test_a[2]"}, id="a decorator"),
        pytest.param("def test_b()", "def test_b(x)", {B}, id="arguments"),
        pytest.param("def test_b()", "def test_z()", {B}, id="a name"),
        pytest.param("assert self.n + 1", "pass", {E}, id="a method"),
        pytest.param("size = 1", "size = 2", {D, E}, id="what a class holds"),
        pytest.param("self.n = 1", "self.n = 2", {D, E}, id="a class's set-up"),
        pytest.param("class TestC:", "class TestC(object):", {D, E}, id="a class's bases"),
        pytest.param("class TestC:", "@pytest.mark.skip\nclass TestC:", {D, E}, id="a class's decorators"),
        pytest.param("LIMIT = 3", "LIMIT = 9", ALL, id="a constant of the module"),
        pytest.param("return LIMIT", "return 9", ALL, id="a helper"),
        pytest.param("import pytest", "import pytest\npytestmark = pytest.mark.skip", ALL, id="a mark of the module"),
        pytest.param("def test_b():", "def test_b(:", ALL, id="no longer Python"),
    ],
)
def test_an_edit_is_one_of_the_tests_that_it_reaches(old: str, new: str, nodes: set[str]) -> None:
    assert edited(old, new) == nodes


def test_a_second_definition_under_a_name_is_an_edit() -> None:
    assert edited("class TestC", "def test_b(): assert 0\n\nclass TestC") == {B}


def test_the_class_that_a_class_is_made_from_is_part_of_its_tests() -> None:
    old = """
class TestBase:
    def setup_method(self): ...
    def test_x(self): ...
class TestY(TestBase):
    def test_z(self): ...
"""
    nodes = {"t.py::TestBase::test_x", "t.py::TestY::test_x", "t.py::TestY::test_z"}
    new = old.replace("setup_method(self): ...", "setup_method(self): pass")
    assert edited_nodes("t.py", old.encode(), new.encode(), nodes) == nodes


def test_a_file_that_went_or_is_no_python_is_edited_whole() -> None:
    assert edited_nodes("t.py", OLD.encode(), None, ALL) == ALL
    assert edited_nodes("t.txt", b"a", b"b", {"t.txt::t.txt"}) == {"t.txt::t.txt"}


def test_a_file_that_is_as_it_was_is_not_edited() -> None:
    assert edited_nodes("t.txt", b"a", b"a", {"t.txt::t.txt"}) == frozenset()


def test_a_node_that_no_name_leads_to_is_edited_with_anything() -> None:
    assert edited_nodes(
        "t.py", b"def test_a(): ...", b"def test_a(): ...\ntest_b = 1\ndef test_c(): ...", {"t.py::odd"}
    )


def test_a_node_that_is_gone_is_lost_t2() -> None:
    assert lost_nodes(["f::a", "f::b"], ["f::a", "f::c"], {}) == {"f::b"}


@pytest.mark.parametrize(
    ("node", "there", "renames"),
    [
        pytest.param("f.py::a", "f.py::b", {"f.py::a": "f.py::b"}, id="a test"),
        pytest.param("f.py::a[1]", "f.py::b[1]", {"f.py::a": "f.py::b"}, id="its parameter cases"),
        pytest.param("f.py::C::a", "f.py::D::a", {"f.py::C": "f.py::D"}, id="a class"),
        pytest.param("f.py::a", "g.py::a", {"f.py": "g.py"}, id="a file"),
        pytest.param("t/f.py::a", "u/f.py::a", {"t": "u"}, id="a folder"),
        pytest.param("f.py::a", "g.py::b", {"f.py": "g.py", "f.py::a": "g.py::b"}, id="the narrowest counts"),
    ],
)
def test_a_declared_rename_loses_nothing(node: str, there: str, renames: dict[str, str]) -> None:
    assert lost_nodes([node], [there], renames) == frozenset()


@pytest.mark.parametrize(
    ("base", "head", "renames"),
    [
        pytest.param(["f::a"], ["f::x"], {"f::a": "f::b"}, id="the new name is not there"),
        pytest.param(["f::ab"], ["f::cb"], {"f::a": "f::c"}, id="half a name"),
        pytest.param(["f::a", "f::b"], ["f::b"], {"f::a": "f::b"}, id="the base has the new name already"),
    ],
)
def test_a_rename_that_hides_a_loss_is_none(base: list[str], head: list[str], renames: dict[str, str]) -> None:
    assert lost_nodes(base, head, renames) == {base[0]}


def test_two_tests_do_not_become_one() -> None:
    assert lost_nodes(["f::a", "f::b"], ["f::c"], {"f::a": "f::c", "f::b": "f::c"}) == {"f::a", "f::b"}
