"""Which tests of a file a patch changes, by their syntax trees, and which it takes away (contract T2, T7)."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping

_Test: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def edited_nodes(path: str, old: bytes | None, new: bytes | None, nodes: Iterable[str]) -> frozenset[str]:
    """Return which nodes of a file of the base are not the same test in the patch's form.

    Two forms are the same if their syntax trees are, docstrings aside: comments, blank lines and layout are no edits.
    What stands beside the tests of a module, or beside those of a class, is part of each of them.

    Args:
        path: the file; all its nodes are edited if it is no Python file.
        old: its content on the base.
        new: in the patch; None where the patch deletes it.
        nodes: the base's nodes in it, as pytest names them.
    """
    mine = frozenset(nodes)
    if old == new:
        return frozenset()
    known = frozenset(part.partition("[")[0] for node in mine for part in node.split("::")[1:])
    before, after = _tests_of(path, old, known), _tests_of(path, new, known)
    if before is None or after is None:
        return mine
    return frozenset(node for node in mine if _form(node, before) != _form(node, after))


def _tests_of(path: str, text: bytes | None, known: frozenset[str]) -> Mapping[tuple[str, ...], str] | None:
    """Return the form of everything in a module by its names, None where it cannot be read as Python."""
    if text is None or not path.endswith(".py"):
        return None
    try:
        module = ast.parse(text)
        return dict(_forms((), module.body, known))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _forms(
    inside: tuple[str, ...], body: list[ast.stmt], known: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the form of each test in a body by its names, and of the rest of the body under the name of the whole."""
    rest: list[str] = []
    for statement in _without_docstring(body):
        if isinstance(statement, _Test) and _is_test(statement, known):
            names = (*inside, statement.name)
            if isinstance(statement, ast.ClassDef):
                yield from _forms(names, statement.body, known)
                head = ast.ClassDef(statement.name, statement.bases, statement.keywords, [], statement.decorator_list)
                yield (*names, "="), ast.dump(head)
                yield (*names, "^"), " ".join(base.id for base in statement.bases if isinstance(base, ast.Name))
            else:
                statement.body = _without_docstring(statement.body)
                yield (*names, "="), ast.dump(statement)
        else:
            rest.append(ast.dump(statement))
    yield (*inside, "*"), "\n".join(rest)


def _is_test(statement: _Test, known: frozenset[str]) -> bool:
    # one that the base knows, or one that the patch adds; a helper is part of every test of its module
    return statement.name in known or statement.name.startswith(("test", "Test"))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *others] if others:
            return others
    return body


def _form(node: str, forms: Mapping[tuple[str, ...], str]) -> tuple[str | None, ...]:
    """Return all that a node is made of: the module's rest, its classes' rests, and itself."""
    _, *parts = node.split("::")
    names = tuple(part.partition("[")[0] for part in parts)
    found: list[str | None] = [forms.get(("*",))]
    for depth in range(1, len(names) + 1):
        found += _own(names[:depth], forms)
    if not names or forms.get((*names, "=")) is None:
        found.append("\n".join(f"{key}: {form}" for key, form in sorted(forms.items())))  # whatever it is, all of it
    return tuple(found)


def _own(names: tuple[str, ...], forms: Mapping[tuple[str, ...], str]) -> list[str | None]:
    """Return the form of a test or class, and of what the classes of the module bring that it is made from."""
    found, made_from, at = [], [names], 0
    while at < len(made_from):
        one = made_from[at]
        found += [forms.get((*one, "=")), forms.get((*one, "*"))]
        bases = [(base,) for base in forms.get((*one, "^"), "").split()]
        made_from += [base for base in bases if base not in made_from and (*base, "=") in forms]
        at += 1
    return found


def lost_nodes(base_nodes: Iterable[str], head_nodes: Iterable[str], renames: Mapping[str, str]) -> frozenset[str]:
    """Return the nodes of the base that the patch no longer has, declared renames aside (contract T2).

    Args:
        base_nodes: the base's nodes in the files that the patch changes.
        head_nodes: what the patch's own form of these files collects.
        renames: old name to new; that of a folder, a file or a class covers what is beneath. The new
            node has to be there, and not on the base.
    """
    mine, there = frozenset(base_nodes), frozenset(head_nodes)
    return mine - there - gone_on(mine - there, there, mine, renames=renames).keys()


def gone_on(
    gone: Collection[str], there: Container[str], base: Container[str], *, renames: Mapping[str, str]
) -> dict[str, str]:
    """Return the new name of each node that went, and goes on under another by a declared rename (contract T2).

    Args:
        gone: nodes of the base that the patch does not have under their own name.
        there: the patch's nodes.
        base: the base's nodes.
        renames: as for `lost_nodes`.
    """
    new = {node: name for node in gone if (name := _renamed(node, renames)) is not None}
    taken = Counter(new.values())
    # a name that the base has already, or that two nodes claim, is another test: under it one would vanish
    return {node: name for node, name in new.items() if name in there and name not in base and taken[name] == 1}


def _renamed(node: str, renames: Mapping[str, str]) -> str | None:
    """Return a node's new name, by the declaration that says most of it."""
    for old in sorted(renames, key=len, reverse=True):
        rest = node.removeprefix(old)
        if node.startswith(old) and (not rest or rest.startswith(("::", "[", "/"))):
            return renames[old] + rest
    return None
