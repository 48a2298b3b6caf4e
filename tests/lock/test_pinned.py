"""The lock file is one value and one text, and nothing else is read as one (contract L3, L4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.lock.pinned import Instrument, Lock, PinnedSet, Value, instrument, lock_text, read_lock

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
values = scalars | st.lists(scalars, max_size=3)
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
file_names = st.lists(st.text("aA.\u00e9\udcff", min_size=1, max_size=4), min_size=1, max_size=2).map("/".join).filter(
    lambda name: not {".", ".."} & set(name.split("/"))
)  # fmt: skip
instruments = st.builds(
    instrument,
    st.none() | st.integers(),
    st.dictionaries(words, values, max_size=3),
    st.dictionaries(words, words, max_size=3),
)
locks = st.builds(
    Lock,
    st.binary(min_size=32, max_size=32).map(lambda digest: f"sha256:{digest.hex()}"),
    st.integers(0, 10**6),
    st.integers(0, 10**15),
    st.sampled_from([(PinnedSet("a", ("x",)),), (PinnedSet("a", ("x", "!y")), PinnedSet("b", ("**",), ("t::x", "u")))]),
    st.dictionaries(file_names, words, max_size=2).map(lambda links: tuple(sorted(links.items()))),
    st.lists(file_names, unique=True, max_size=2).map(lambda names: tuple(sorted(names))),
    instruments,
)

LOCK = Lock("sha256:" + "0" * 64, 1, 2, (PinnedSet("s", ("d/**",)),), (("d/l", "x"),), ("d/x",), instrument(0, {}, {}))
TREE: dict[str, Any] = json.loads(lock_text(LOCK))


@given(locks)
def test_what_is_written_is_read_back(lock: Lock) -> None:
    assert read_lock(lock_text(lock)) == lock


@given(locks)
def test_the_text_is_ascii_on_every_machine(lock: Lock) -> None:
    assert lock_text(lock).isascii()


@given(locks, locks)
def test_equal_locks_have_equal_bytes_and_others_have_not(one: Lock, other: Lock) -> None:
    assert (lock_text(one) == lock_text(other)) is (one == other)


@given(instruments, st.randoms(use_true_random=False))
def test_the_order_of_settings_makes_no_difference(one: Instrument, random: Any) -> None:
    settings, versions = list(one.profile().items()), list(one.versions)
    random.shuffle(settings)
    random.shuffle(versions)
    assert instrument(one.seed, dict(settings), dict(versions)) == one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(1, True, id="one and true"),
        pytest.param(0, False, id="zero and false"),
        pytest.param(1, 1.0, id="whole and fraction"),
        pytest.param(None, "null", id="null and its word"),
        pytest.param("", [], id="empty text and list"),
    ],
)
def test_values_that_python_takes_for_equal_are_different_settings(one: Value, other: Value) -> None:
    """Contract L3: the same hashes under another setting are drift."""
    assert instrument(0, {"x": one}, {}) != instrument(0, {"x": other}, {})


def test_a_tuple_and_a_list_are_the_same_setting() -> None:
    made = instrument(0, {"phases": ["explicit", "reuse"]}, {})
    assert made == instrument(0, {"phases": ("explicit", "reuse")}, {})
    assert made.profile() == {"phases": ("explicit", "reuse")}


@pytest.mark.parametrize(
    ("seed", "settings", "versions", "message"),
    [
        pytest.param(True, {}, {}, "seed: true; allowed: a whole number", id="a boolean seed"),
        pytest.param("0", {}, {}, 'seed: "0"', id="a text for a seed"),
        pytest.param(0, {"x": float("nan")}, {}, "setting x: nan", id="NaN"),
        pytest.param(0, {"x": object}, {}, "setting x: a value that JSON cannot hold", id="a class"),
        pytest.param(0, {"x": [[1]]}, {}, "setting x: a value that JSON cannot hold", id="a list of lists"),
        pytest.param(0, {}, {"pytest": ""}, "versions: ", id="an empty version"),
    ],
)
def test_cannot_be_pinned(seed: Any, settings: Any, versions: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        instrument(seed, settings, versions)


def changed(**keys: object) -> bytes:
    return json.dumps({key: value for key, value in (TREE | keys).items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "admit.lock:1: not JSON", id="empty"),
        pytest.param(b"{", "admit.lock:1: not JSON", id="cut off"),
        pytest.param(b"[]", "admit.lock: a JSON array; allowed: one JSON object", id="an array"),
        pytest.param(b"\n\xff", "admit.lock:2: bytes that are not UTF-8", id="not UTF-8"),
        pytest.param(b'{"a":{"b":1,"b":1}}', "the key 'b' stands twice", id="a key twice"),
        pytest.param(b'{"a":NaN}', "NaN is no JSON number", id="NaN"),
        pytest.param(b'{"a":' + b"9" * 5000 + b"}", "not JSON that is read here", id="a number too long"),
        pytest.param(b'{"a":' + b"[" * 10**5 + b"}", "not JSON that is read here", id="too deep"),
        pytest.param(changed(extra=1), "admit.lock: unknown key 'extra'; allowed: schema, manifest", id="unknown key"),
        pytest.param(changed(seed=...), "admit.lock: the key 'seed' is missing", id="a key missing"),
        pytest.param(changed(schema="admit.lock/2"), "admit.lock: schema: ", id="another schema"),
        pytest.param(changed(manifest="md5:0"), "admit.lock: manifest: ", id="another digest"),
        pytest.param(changed(manifest="sha256:" + "A" * 64), "admit.lock: manifest: ", id="capital digits"),
        pytest.param(changed(files=-1), "admit.lock: files: -1; allowed: a whole number from 0", id="negative"),
        pytest.param(changed(files=True), "admit.lock: files: true", id="a boolean count"),
        pytest.param(changed(bytes=1.0), "admit.lock: bytes: 1.0", id="a fraction"),
        pytest.param(changed(seed=1.5), "seed: 1.5", id="a fractional seed"),
        pytest.param(changed(sets=[]), "admit.lock: no pinned set", id="no set"),
        pytest.param(changed(sets={}), "admit.lock: sets: ", id="sets as an object"),
        pytest.param(changed(sets=[{"name": "s", "paths": ["x"]}]), "the key 'nodes' is missing", id="no nodes"),
        pytest.param(changed(sets=[{"name": 1, "paths": ["x"], "nodes": ["*"]}]), "sets: 1", id="a number for a name"),
        pytest.param(
            changed(sets=[{"name": "s", "paths": "x", "nodes": ["*"]}]), "set s: paths: ", id="a text for paths"
        ),
        pytest.param(
            changed(sets=[{"name": "s", "paths": ["x", "x"], "nodes": ["*"]}]), "none of them twice", id="twice"
        ),
        pytest.param(changed(sets=[{"name": "s", "paths": ["x"], "nodes": []}]), "tied to nothing", id="no node"),
        pytest.param(changed(sets=[{"name": "s", "paths": ["../x"], "nodes": ["*"]}]), "pattern '../x'", id="leaves"),
        pytest.param(changed(sets=TREE["sets"] * 2), "the set name 's'", id="a set twice"),
        pytest.param(changed(links={"../x": "y"}), "links: a path that leaves the repository", id="a link outside"),
        pytest.param(changed(links={"a": 1}), "links: ", id="a number for a target"),
        pytest.param(changed(links={"\ud800": "y"}), "links: half of a surrogate pair", id="no bytes"),
        pytest.param(changed(executable=["/bin/sh"]), "executable: an absolute path", id="an absolute path"),
        pytest.param(changed(settings=[]), "admit.lock: settings: ", id="settings as a list"),
        pytest.param(changed(settings={"x": {}}), "setting x: a value", id="an object for a setting"),
        pytest.param(
            changed().replace(b'"settings": {}', b'"settings": {"x": 1e999}'),
            "setting x: inf",
            id="an infinite setting",
        ),
        pytest.param(changed(versions={"pytest": 9}), "versions: ", id="a number for a version"),
    ],
)
def test_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_lock(text)
    assert message in str(caught.value)


@given(
    st.binary(max_size=60) | st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(words, inner)),
    st.data(),
)
def test_any_bytes_are_a_lock_or_a_taught_refusal(part: Any, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(TREE)))
    text = part if isinstance(part, bytes) else changed(**{key: part})
    refused = ""
    lock = LOCK
    try:
        lock = read_lock(text)
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused
    assert read_lock(lock_text(lock)) == lock


def test_the_order_of_sets_in_the_file_makes_no_difference() -> None:
    sets = [{"name": name, "paths": ["x"], "nodes": ["*"]} for name in ("b", "a")]
    assert read_lock(changed(sets=sets)) == read_lock(changed(sets=sets[::-1]))


def test_line_ends_of_the_file_make_no_difference() -> None:
    assert read_lock(lock_text(LOCK).replace(b"\n", b"\r\n")) == LOCK
