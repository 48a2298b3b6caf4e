"""The table of settings: what `admit.toml` may say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.settings import SETTINGS, PinnedPaths, Settings, hypothesis_profile, read_settings


def test_an_empty_file_gives_every_default() -> None:
    settings = read_settings(b"")
    for row in SETTINGS:
        assert settings._values[row.key] == row.default


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.key)
def test_every_default_has_its_type_and_every_row_says_what_it_does(row: object) -> None:
    assert type(row.default) is row.kind
    assert row.help


def test_values_and_sets_are_read() -> None:
    text = (
        b'[run]\ntimeout_s = 5\n[lock.sets.data]\npaths = ["d/**"]\n[lock.sets.x]\npaths = ["x"]\nnodes = ["t.py::*"]\n'
    )
    settings = read_settings(text)
    assert settings.number("run.timeout_s") == 5
    assert settings.sets == (PinnedPaths("data", ("d/**",)), PinnedPaths("x", ("x",), ("t.py::*",)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"[run]\ntimeout = 5\n", "unknown key run.timeout; allowed: policy.router", id="unknown key"),
        pytest.param(b"x = 1\n", "the key x stands outside a table", id="outside a table"),
        pytest.param(b'[run]\ntimeout_s = "5"\n', "run.timeout_s is '5'; allowed: a whole number", id="type"),
        pytest.param(b"[run]\ntimeout_s = true\n", "run.timeout_s is True; allowed: a whole number", id="bool"),
        pytest.param(
            b"[run]\ntimeout_s = 0\n", "run.timeout_s is 0; allowed: a whole number of at least 1", id="range"
        ),
        pytest.param(b'[run]\nlane = ""\n', "run.lane is empty", id="empty text"),
        pytest.param(
            b"[run]\ncommand = [1]\n", r"run.command is \[1\]; allowed: a list of texts", id="list of numbers"
        ),
        pytest.param(b"[lock.sets.a]\npaths = []\n", "lock.sets.a.paths is", id="a set without paths"),
        pytest.param(b"[lock.sets.a]\npath = ['x']\n", "lock.sets.a is", id="a set with an unknown key"),
        pytest.param(b"[lock]\nsets = 3\n", "lock.sets is not a table", id="sets"),
        pytest.param(b"[freeze]\nhorizon_days = 999\n", "allowed: 1 to 365", id="a horizon without end"),
        pytest.param(b'[lock]\nmanifest = "../x"\n', "a plain path under", id="a path that leaves"),
        pytest.param(b'[lock]\nmanifest = "/x"\n', "a plain path under", id="an absolute path"),
        pytest.param(b'[evidence]\nfolder = "."\n', "a plain path under", id="the root itself"),
        pytest.param(b'[lock]\nmanifest = "admit.toml"\n', "as is the configuration", id="the configuration itself"),
        pytest.param(
            b'[lock]\nmanifest = "x"\nfile = "x"\n', "lock.file is 'x', as is lock.manifest", id="one path twice"
        ),
        pytest.param(b'[freeze]\nregister = "a\\u0000"\n', "printable characters", id="a NUL"),
        pytest.param(b"x = " + b"[" * 3000, "not readable as TOML|not TOML", id="deep"),
        pytest.param(b"[run]\ntimeout_s = " + b"1" * 5000, "not TOML", id="a huge number"),
        pytest.param(b"[run\n", "not TOML", id="syntax"),
        pytest.param(b"[run]\nlane='a'\nlane='b'\n", "not TOML", id="duplicate"),
        pytest.param(b"\xff\xfe", "not TOML", id="bytes"),
    ],
)
def test_what_a_setting_may_not_be_is_refused_in_one_line(text: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_settings(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("admit.toml: ")


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_a_refusal(raw: bytes) -> None:
    try:
        assert isinstance(read_settings(raw), Settings)
    except InputError:
        return


def test_the_hypothesis_profile_leaves_no_field_open_l3() -> None:
    from hypothesis import settings

    ours = set(hypothesis_profile(Settings()))
    assert set(settings.default._attributes if hasattr(settings.default, "_attributes") else ours) <= ours | {
        "verbosity"
    }
