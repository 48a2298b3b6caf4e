"""Names are bytes; people and JSON get text that says which."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.lock.paths import all_are_plain, caseless_form, name_of, path_of, refusal, shown, twins

SOME = st.lists(st.sampled_from([b"a", b".", b"..", b"", b"/", b"...", b"\0"]), max_size=6).map(b"".join)


@given(st.binary())
def test_a_name_stands_for_the_same_bytes(path: bytes) -> None:
    assert path_of(name_of(path)) == path


@given(st.lists(SOME, min_size=1, max_size=4))
def test_asking_about_many_paths_at_once_agrees_with_asking_one_by_one(paths: list[bytes]) -> None:
    assert all_are_plain(paths) is not any(refusal(path) for path in paths)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(b"a/b c", "a/b c", id="plain"),
        pytest.param("\u00e9".encode(), "\u00e9", id="UTF-8"),
        pytest.param(b"a\nb", "a\\nb", id="newline"),
        pytest.param(b"\x1b[31m", "\\x1b[31m", id="terminal control"),
        pytest.param(b"\xff", "\\xff", id="not UTF-8"),
        pytest.param("\u202egnp".encode(), "\\u202egnp", id="text direction"),
        pytest.param(b"", ".", id="the root"),
    ],
)
def test_is_shown(path: bytes, text: str) -> None:
    assert shown(path) == text


def test_twins_are_names_that_some_file_system_cannot_tell_apart() -> None:
    nfc, nfd = (unicodedata.normalize(form, "\u00e9.txt").encode() for form in ("NFC", "NFD"))
    assert twins([b"A/x", b"a/X", b"b"]) == [(b"A/x", b"a/X")]
    assert twins([nfc, nfd]) == [(nfc, nfd)]
    assert twins([b"\xc3\x9f", b"SS"]) == [(b"\xc3\x9f", b"SS")]
    assert twins([b"a", b"b", b"\xff", b"\xfe"]) == []


@given(st.text(max_size=8))
def test_normalising_first_makes_no_difference_to_the_caseless_form(name: str) -> None:
    raw = name.encode("utf-8", "surrogatepass")
    forms = {
        caseless_form(unicodedata.normalize(form, name).encode("utf-8", "surrogatepass")) for form in ("NFC", "NFD")
    }
    assert len(forms | {caseless_form(raw)}) == 1
