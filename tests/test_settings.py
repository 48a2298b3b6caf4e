"""The table of settings: what `admit.toml` may say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.settings import MAX_LINES, SETTINGS, PinnedPaths, Settings, hypothesis_profile, read_settings


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
        pytest.param(b"[polcy]\n", r"unknown table \[polcy\]", id="an empty table of another name"),
        pytest.param(b'[policy]\nrouter = "./x.toml"\n', "a plain path under", id="a policy spelled otherwise"),
        pytest.param(b'[policy]\narbiter = "a//x.toml"\n', "a plain path under", id="a policy spelled otherwise too"),
        pytest.param(b'[policy]\nrouter = "a/../x.toml"\n', "a plain path under", id="a policy by a way around"),
        pytest.param(b'[policy]\nrouter = "/x.toml"\n', "a plain path under", id="a policy from elsewhere"),
        pytest.param(b'[policy]\nrouter = ".admit/x.toml"\n', "outside of .admit", id="a policy in our own folder"),
        pytest.param(b'[freeze]\nregister = ".admit/x.toml"\n', "outside of .admit", id="a register there"),
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
    assert re.match(r"admit\.toml(:\d+)?: ", str(caught.value))


LINES = """\
# "run.lane" here = 1
[run]
command = [
    "make",  # lane = 3
    "test",
]
lane = "x"

[lock]
versions = []
sets = { "all" = { paths = ["d/**"] }, "a.b" = { paths = ["x"] }, x = { paths = ['''
lane = 5
[lock.sets.x]'''] } }

["gates"]
"property_paths" = ["x"]

[hypothesis]
seed = 0

[freeze]
register = "r.toml"
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        pytest.param('"test"', "3", 3, id="a list of several lines, at its first"),
        pytest.param('lane = "x"', "lane = 4", 7, id="a key"),
        pytest.param("versions", "version", 10, id="an unknown key"),
        pytest.param('["d/**"]', "[]", 11, id="an inline table, at its first line"),
        pytest.param('_paths" = ["x"]', '_paths" = [3]', 16, id="a key in quotes"),
        pytest.param("seed = 0", "seed = -1", 19, id="a number"),
        pytest.param("r.toml", "../r.toml", 22, id="a path"),
        pytest.param("r.toml", "admit.sha256", 22, id="a path that is another's default"),
        pytest.param("r.toml", "admit.abstentions.toml", 22, id="a path that is the default of a later setting"),
        pytest.param("[freeze]", "[freeze", 21, id="no TOML"),
        pytest.param("# ", "x = 3\n# ", 1, id="a key outside a table"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_refusal_names_the_line(old: str, new: str, line: int, end: str) -> None:
    """Also where a text of several lines holds what looks like keys and tables."""
    assert read_settings(LINES.replace("\n", end).encode()).text("run.lane") == "x"
    with pytest.raises(InputError) as caught:
        read_settings(LINES.replace(old, new, 1).replace("\n", end).encode())
    assert caught.value.where == f"admit.toml:{line}"


def test_a_set_is_named_at_its_header_and_its_keys_at_their_own_lines() -> None:
    text = "[lock.sets.a]\npaths = ['x']\n[lock.sets.'a.b']\npaths = ['x']\nnodes = ['t.py::*']\n"
    for old, new, line in (("paths", "path", 1), ("['t.py::*']", "[]", 5)):
        with pytest.raises(InputError) as caught:
            read_settings(text.replace(old, new, 1).encode())
        assert caught.value.where == f"admit.toml:{line}"


def test_far_down_in_a_long_file_a_refusal_names_the_file_alone() -> None:
    """Never a wrong line: it is not looked for there, because that would take long."""
    with pytest.raises(InputError) as caught:
        read_settings(b"#\n" * MAX_LINES + b"[run]\nlane = 3\n")
    assert str(caught.value) == "admit.toml: run.lane is 3; allowed: a text"


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
