"""The manifest is the `sha256sum` format, byte for byte (contract L1)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from admit.errors import InputError
from admit.lock.manifest import _read_lines, _read_plain, manifest_text, read_manifest

A, B = hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()
HEX_A, HEX_B = A.hex().encode(), B.hex().encode()
SHA256SUM = shutil.which("sha256sum")

needs_sha256sum = pytest.mark.skipif(SHA256SUM is None, reason="no sha256sum here")


def run(*arguments: bytes | str, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(arguments, cwd=cwd, input=stdin, capture_output=True, env=environment, check=False)


def escapes_cr() -> bool:
    """Return whether this sha256sum escapes a carriage return (coreutils 9.0 and newer do)."""
    if SHA256SUM is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a\rb").write_bytes(b"")
        return b"\\r" in run(SHA256SUM, b"a\rb", cwd=Path(folder)).stdout


NAME_BYTES = b"\\\nab *\t\xff\xc3\xa9.-\x01" + (b"\r" if escapes_cr() else b"")
names = (
    st.lists(st.sampled_from(NAME_BYTES), min_size=1, max_size=6).map(bytes).filter(lambda n: n not in (b".", b".."))
)
any_names = st.lists(st.integers(1, 255).filter(lambda n: n != 47), min_size=1, max_size=8).map(bytes).filter(
    lambda n: n not in (b".", b"..")
)  # fmt: skip
paths = st.lists(any_names, min_size=1, max_size=3).map(b"/".join)
manifests = st.dictionaries(paths, st.binary(min_size=32, max_size=32), max_size=8)


@needs_sha256sum
@given(st.dictionaries(names, st.binary(max_size=9), min_size=1, max_size=5))
@settings(max_examples=25)
@example({b"back\\slash": b"1", b"new\nline": b"2", b" space ": b"3", b"*star": b"4", b"\xff": b"5"})
@example({b"-": b"by itself the standard input"})
def test_sha256sum_accepts_what_is_written_and_what_it_writes_is_read(files: dict[bytes, bytes]) -> None:
    """Contract L1, against the real program."""
    assert SHA256SUM is not None
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(content)
        ours = manifest_text({name: hashlib.sha256(content).digest() for name, content in files.items()})
        checked = run(SHA256SUM, "--check", "--strict", "-", cwd=Path(folder), stdin=ours)
        assert (checked.returncode, checked.stderr) == (0, b""), ours
        given_names = [b"./-" if name == b"-" else name for name in sorted(files)]
        theirs = run(SHA256SUM, "--", *given_names, cwd=Path(folder)).stdout
        assert theirs == ours
        binary = run(SHA256SUM, "--binary", "--", *reversed(given_names), cwd=Path(folder)).stdout
        assert manifest_text(read_manifest(binary)) == ours


@needs_sha256sum
def test_sha256sum_notices_a_changed_file_in_what_is_written(tmp_path: Path) -> None:
    assert SHA256SUM is not None
    (tmp_path / "x").write_bytes(b"b")
    assert run(SHA256SUM, "--check", "-", cwd=tmp_path, stdin=manifest_text({b"x": A})).returncode == 1


@given(manifests)
def test_what_is_written_is_read_back(manifest: dict[bytes, bytes]) -> None:
    assert read_manifest(manifest_text(manifest)) == manifest


@given(manifests)
def test_the_order_in_which_files_were_found_makes_no_difference(manifest: dict[bytes, bytes]) -> None:
    assert manifest_text(dict(reversed(manifest.items()))) == manifest_text(manifest)


@given(manifests)
def test_both_ways_of_reading_agree(manifest: dict[bytes, bytes]) -> None:
    """The quick way either gives up or gives what reading line by line gives."""
    text = manifest_text(manifest)
    plain = _read_plain(text) if text else {}
    special = b"-" in manifest or any(set(path) & set(b"\\\n\r") for path in manifest)
    assert (plain is None) is special
    assert plain in (None, _read_lines(text, "m") if text else {})


@given(st.binary(max_size=300) | st.lists(st.sampled_from([HEX_A, b" ", b"*", b"\\", b"a", b"/", b".", b"\n", b"\r"])))
def test_any_bytes_are_a_manifest_or_a_taught_refusal(text: bytes | list[bytes]) -> None:
    raw = text if isinstance(text, bytes) else b"".join(text)
    refused = ""
    manifest = {}
    try:
        manifest = read_manifest(raw)
    except InputError as error:
        refused = str(error)
    assert refused == "" or refused.startswith("admit.sha256:")
    assert read_manifest(manifest_text(manifest)) == manifest


@pytest.mark.parametrize(
    ("text", "manifest"),
    [
        pytest.param(b"", {}, id="empty"),
        pytest.param(HEX_A + b"  x\n", {b"x": A}, id="text mode"),
        pytest.param(HEX_A + b" *x\n", {b"x": A}, id="binary mode"),
        pytest.param(HEX_A + b"  *x\n", {b"*x": A}, id="a star in the name"),
        pytest.param(HEX_A.upper() + b"  x\n", {b"x": A}, id="capital digits"),
        pytest.param(HEX_A + b"  x\r\n" + HEX_B + b" *y\r\n", {b"x": A, b"y": B}, id="CRLF"),
        pytest.param(HEX_A + b"  ./x\n", {b"x": A}, id="as find writes it"),
        pytest.param(HEX_A + b"   x \n", {b" x ": A}, id="spaces around"),
        pytest.param(b"\\" + HEX_A + b"  a\\\\b\\nc\\rd\n", {b"a\\b\nc\rd": A}, id="escapes"),
        pytest.param(b"\\" + HEX_A + b" *\\\\n\n", {b"\\n": A}, id="an escaped backslash before n"),
        pytest.param(HEX_B + b"  y\n" + HEX_A + b"  x\n", {b"x": A, b"y": B}, id="unsorted"),
    ],
)
def test_is_read(text: bytes, manifest: dict[bytes, bytes]) -> None:
    assert read_manifest(text) == manifest


def test_a_backslash_escapes_only_in_a_line_that_begins_with_one() -> None:
    """GNU: a line without the mark names the file as it stands."""
    assert read_manifest(HEX_A + b"  a\\nb\n") == {b"a\\nb": A}


GOOD = HEX_B + b"  good\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(GOOD + HEX_A + b"  x", "m:2: the last line has no end; write the manifest again", id="cut off"),
        pytest.param(GOOD + b"\n", "m:2: no checksum line: an empty line", id="blank line"),
        pytest.param(GOOD + b"# note\n", "m:2: no checksum line: # note", id="comment"),
        pytest.param(GOOD + HEX_A[:-1] + b"  x\n", "m:2: no checksum line", id="short digest"),
        pytest.param(GOOD + HEX_A[:-1] + b"g  x\n", "m:2: no checksum line", id="not hexadecimal"),
        pytest.param(GOOD + HEX_A[:-2] + b"    x\n", "m:2: no checksum line", id="spaces for digits"),
        pytest.param(GOOD + HEX_A + b" x\n", "m:2: no checksum line", id="one space"),
        pytest.param(GOOD + HEX_A + b"\t x\n", "m:2: no checksum line", id="tab"),
        pytest.param(
            GOOD + b"SHA256 (x) = " + HEX_A + b"\n", "m:2: .*write it with sha256sum, without --tag", id="--tag"
        ),
        pytest.param(GOOD + HEX_A + b"  ../x\n", r"m:2: a path that leaves the repository .*: \.\./x", id="leaves"),
        pytest.param(GOOD + HEX_A + b"  a/../../x\n", "m:2: a path that leaves the repository", id="leaves later"),
        pytest.param(GOOD + HEX_A + b"  a/..\n", "m:2: a path that leaves", id="dots at the end"),
        pytest.param(GOOD + HEX_A + b"  /etc/passwd\n", "m:2: an absolute path: /etc/passwd", id="absolute"),
        pytest.param(GOOD + HEX_A + b"  a//b\n", "m:2: a path with an empty part", id="empty part"),
        pytest.param(GOOD + HEX_A + b"  a/./b\n", "m:2: a path with an empty part or a dot", id="dot part"),
        pytest.param(GOOD + HEX_A + b"  a/\n", "m:2: a path with an empty part", id="folder"),
        pytest.param(GOOD + HEX_A + b"  \n", "m:2: an empty name", id="no name"),
        pytest.param(GOOD + HEX_A + b"  ./\n", "m:2: an empty name", id="a name of a dot and a slash"),
        pytest.param(GOOD + HEX_A + b"  a\0b\n", "m:2: a name with a zero byte", id="zero byte"),
        pytest.param(GOOD + GOOD, "m:2: good stands here and in line 1; keep one", id="twice"),
        pytest.param(GOOD + HEX_A + b"  ./good\n", "m:2: good stands here and in line 1", id="twice, spelt otherwise"),
        pytest.param(
            GOOD + b"\\" + HEX_A + b"  a\\tb\n", r"m:2: an escape that does not exist: \\t", id="unknown escape"
        ),
        pytest.param(GOOD + b"\\" + HEX_A + b"  a\\\n", "m:2: an escape that does not exist", id="half an escape"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, "m:1: no checksum line", id="byte order mark"),
    ],
)
def test_is_refused_with_its_line(text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        read_manifest(text, "m")
