"""Read a proof record back: strictly, and with its answer checked against what the sides showed (contract P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from admit.errors import InputError
from admit.prove.cells import ANSWERS, DIRECTIONS, EXPECTS, SHOWN, Cell, Side, cell_of
from admit.prove.record import KEYS, MOST_REPEATS, ORIGINS, SCHEMA, Commit, Measured, NodeProof, Proof, Reach, digest_of
from admit.strictjson import count, only, read_object, refuse, text_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.prove.cells import Expect
    from admit.prove.record import Scalar


def read_proof(raw: bytes, where: str) -> Proof:
    """Return the proof in a file.

    Raises:
        InputError: it is not exactly a proof: a key too many or too few, a word that is none, an answer that does not
            follow from what the sides showed, bytes that were changed after they were written.
    """
    keys = read_object(raw, where, do="prove it again")
    only(keys, (*KEYS, "digest"), where)
    if keys["schema"] != SCHEMA:
        refuse(f"{where}: schema", keys["schema"], SCHEMA)
    digest = keys.pop("digest")
    if digest != digest_of(keys):
        raise InputError(where, "it was changed after it was written", do="prove it again")
    expect = _word(keys["expect"], EXPECTS, f"{where}: expect")
    repeat = count(keys["repeat"], f"{where}: repeat")
    if not 1 <= repeat <= MOST_REPEATS:
        refuse(f"{where}: repeat", repeat, f"1 to {MOST_REPEATS}")
    nodes = _list(keys["nodes"], f"{where}: nodes")
    read = tuple(_node(one, expect, f"{where}: nodes[{at}]") for at, one in enumerate(nodes))
    if len({one.node for one in read}) != len(read):
        raise InputError(f"{where}: nodes", "a test stands twice", allowed="each test once")
    return Proof(
        _commit(keys["patch"], f"{where}: patch"),
        _commit(keys["parent"], f"{where}: parent"),
        expect,
        repeat,
        _measured(keys["measured"], f"{where}: measured"),
        read,
    )


def _node(value: object, expect: Expect, where: str) -> NodeProof:
    keys = _object(value, _NODE_KEYS, where)
    one = NodeProof(
        node=_text(keys["node"], f"{where}: node"),
        path=_text(keys["path"], f"{where}: path"),
        blob=_text(keys["blob"], f"{where}: blob"),
        origin=_word(keys["origin"], ORIGINS, f"{where}: origin"),
        patch=_side(keys["patch"], f"{where}: patch"),
        parent=_side(keys["parent"], f"{where}: parent"),
        cell=Cell(
            _word(keys["answer"], tuple(ANSWERS), f"{where}: answer"),
            None if keys["direction"] is None else _word(keys["direction"], DIRECTIONS, f"{where}: direction"),
            _words(keys["reason"], f"{where}: reason"),
        ),
        vacuous=_words(keys["vacuous"], f"{where}: vacuous"),
        reach=Reach() if keys["reach"] is None else Reach(True, _texts(keys["reach"], f"{where}: reach")),
    )
    follows = cell_of(one.patch, one.parent, expect=expect, vacuous=one.vacuous, reaches=one.reach.answer)
    if one.cell != follows:
        raise InputError(
            f"{where}: answer", f"{one.cell.answer}, where the sides show {follows.answer}", do="prove it again"
        )
    return one


_NODE_KEYS: Final = (
    *("node", "path", "blob", "origin", "patch", "parent", "vacuous", "reach"),
    *("answer", "direction", "reason"),
)


def _side(value: object, where: str) -> Side:
    keys = _object(value, Side._fields, where)
    texts = [_words(keys[name], f"{where}: {name}") for name in Side._fields[1:]]
    return Side(_word(keys["shown"], SHOWN, f"{where}: shown"), *texts)


def _commit(value: object, where: str) -> Commit:
    keys = _object(value, Commit._fields, where)
    return Commit(*(_text(keys[name], f"{where}: {name}") for name in Commit._fields))


def _measured(value: object, where: str) -> Measured:
    keys = _object(value, Measured._fields, where)
    seed = keys["seed"]
    if type(seed) is not int:
        refuse(f"{where}: seed", seed, "a whole number")
    laid = keys["laid"]
    if not isinstance(laid, dict) or not all(path and (blob is None or _is_text(blob)) for path, blob in laid.items()):
        refuse(f"{where}: laid", laid, "an object that maps paths to blobs or null")
    return Measured(
        None if keys["manifest"] is None else _text(keys["manifest"], f"{where}: manifest"),
        None if keys["lock"] is None else _text(keys["lock"], f"{where}: lock"),
        seed,
        _profile(keys["profile"], f"{where}: profile"),
        laid,
        dict(text_pairs(keys["versions"], f"{where}: versions")),
    )


def _profile(value: object, where: str) -> dict[str, Scalar | tuple[str, ...]]:
    if not isinstance(value, dict):
        refuse(where, value, "an object")
    found: dict[str, Scalar | tuple[str, ...]] = {}
    for name, setting in value.items():
        if isinstance(setting, list):
            found[name] = _texts(setting, f"{where}: {name}")
        elif setting is None or isinstance(setting, bool | int | float | str):
            found[name] = setting
        else:
            refuse(f"{where}: {name}", setting, "a number, a text, true, false, null, a list of texts")
    return found


def _object(value: object, names: Sequence[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(where, value, f"an object of {', '.join(names)}")
    only(value, names, where)
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        refuse(where, value, "a list")
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        refuse(where, value, "a text that is not empty")
    return value


def _words(value: object, where: str) -> str:
    if not isinstance(value, str):
        refuse(where, value, "a text")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(map(_is_text, value)):
        refuse(where, value, "a list of texts")
    return tuple(value)


def _word(value: object, words: Sequence[Any], where: str) -> Any:
    if not isinstance(value, str) or value not in words:
        refuse(where, value, ", ".join(words))
    return value
