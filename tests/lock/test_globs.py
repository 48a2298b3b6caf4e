"""Patterns of a pinned set take what `.gitignore` would, one folder at a time (contract L4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.lock.globs import Globs


@pytest.mark.parametrize(
    ("patterns", "taken", "left"),
    [
        pytest.param(["data/**"], ["data/a", "data/b/c"], ["data", "x/data/a", "datax/a"], id="everything beneath"),
        pytest.param(["data"], ["data", "data/a", "x/data/b/c"], ["datax", "x/adata"], id="a name at any depth"),
        pytest.param(["data/"], ["data/a", "x/data/b/c"], ["data", "x/data"], id="a folder at any depth"),
        pytest.param(["/data"], ["data", "data/a"], ["x/data"], id="from the root"),
        pytest.param(["t/data/"], ["t/data/a"], ["t/data", "x/t/data/a"], id="a folder from the root"),
        pytest.param(["*.json"], ["a.json", "x/y/b.json", "d.json/x"], ["a.jsonx", "a.js"], id="suffix"),
        pytest.param(["t/*.json"], ["t/a.json"], ["t/x/a.json", "a.json"], id="suffix in one folder"),
        pytest.param(["t/**/*.json"], ["t/a.json", "t/x/y/a.json"], ["a.json"], id="suffix beneath a folder"),
        pytest.param(["**/conftest.py"], ["conftest.py", "a/b/conftest.py"], ["xconftest.py"], id="at any depth"),
        pytest.param(["a/**/b/**/c"], ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "b/c"], id="two spans"),
        pytest.param(["**"], ["a", "a/b"], [], id="everything"),
        pytest.param(["a?c"], ["abc", "a\u00e9c", "a\nc"], ["ac", "abbc"], id="one character"),
        pytest.param(["x[ab]"], ["xa", "xb"], ["xc", "xab"], id="class"),
        pytest.param(["x[!ab]"], ["xc", "x\u00e9"], ["xa", "xb", "x"], id="negated class"),
        pytest.param(["x[0-9]y"], ["x5y"], ["xay"], id="range"),
        pytest.param(["x[*]", "y[?]", "z[[]", "w[]]"], ["x*", "y?", "z[", "w]"], ["xa", "ya"], id="literal in a class"),
        pytest.param([r"x\*y", r"\[a"], ["x*y", "[a"], ["xzy"], id="escaped"),
        pytest.param(["a.b", "c+d"], ["a.b", "c+d"], ["axb", "ccd"], id="other characters are themselves"),
        pytest.param(
            ["**", "!*.tmp"], ["a", "x/b"], ["a.tmp", "x/b.tmp", "x/y/b.tmp", "t.tmp/a"], id="without a suffix"
        ),
        pytest.param(["!gen/", "**"], ["a", "gen"], ["gen/a", "x/gen/y/z"], id="without a folder, in any order"),
        pytest.param(["d/**", "!d/x/**"], ["d/a", "d/x"], ["d/x/a"], id="without what lies beneath"),
        pytest.param(["d/**", "!**"], [], ["d/a"], id="without everything"),
        pytest.param(["a**b"], ["ab", "axxb"], ["a/b"], id="two stars inside a name are one"),
    ],
)
def test_takes(patterns: list[str], taken: list[str], left: list[str]) -> None:
    globs = Globs(patterns, "lock.sets")
    assert [path for path in taken if not globs.match(path.encode())] == []
    assert [path for path in left if globs.match(path.encode())] == []


@given(st.lists(st.sampled_from(["a", "b", "*", "**", "a*"]), min_size=1, max_size=4), st.data())
def test_taking_agrees_with_the_definition(parts: list[str], data: st.DataObject) -> None:
    """The definition, without states: a pattern takes a path if it matches the path or a folder on the way to it."""
    path = data.draw(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4))

    def name_matches(pattern: str, name: str) -> bool:
        return {"a": name == "a", "b": name == "b", "*": True, "a*": name.startswith("a")}[pattern]

    def matches(pattern: list[str], names: list[str]) -> bool:
        if not pattern:
            return not names
        if pattern[0] == "**":
            return bool(names) if len(pattern) == 1 else any(matches(pattern[1:], names[i:]) for i in range(len(names)))
        return bool(names) and name_matches(pattern[0], names[0]) and matches(pattern[1:], names[1:])

    anchored = parts if len(parts) > 1 else ["**", *parts]
    expected = any(matches(anchored, path[:end]) for end in range(1, len(path) + 1))
    assert Globs(["/".join(parts)], "w").match("/".join(path).encode()) is expected


def test_a_folder_that_nothing_beneath_can_belong_to_is_not_entered() -> None:
    globs = Globs(["t/data/*.json", "!skip/"], "w")
    inside = globs.entered(globs.start, b"t")
    assert inside is not None
    assert globs.entered(globs.start, b"src") is None
    assert globs.entered(inside, b"other") is None
    assert globs.entered(inside, b"skip") is None
    assert globs.entered(inside, b"data") is not None


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        pytest.param([], "no pattern that pins anything", id="none"),
        pytest.param(["!a"], "no pattern that pins anything", id="only exclusions"),
        pytest.param([""], "the pattern ''", id="empty"),
        pytest.param(["/"], "the pattern '/'", id="the root"),
        pytest.param(["a//b"], "the pattern 'a//b'", id="an empty part"),
        pytest.param(["../a"], "the pattern '../a'; allowed: a path inside the repository", id="leaves"),
        pytest.param(["./a"], "the pattern './a'", id="a dot for a part"),
        pytest.param(["a[b"], r"the class in 'a\[b'", id="no end"),
        pytest.param(["a[z-a]"], r"the class in 'a\[z-a\]'", id="an empty range"),
        pytest.param(["a[\u00e9]"], "in ASCII", id="more than ASCII"),
    ],
)
def test_is_refused(patterns: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Globs(patterns, "lock.sets.x")
