"""The manifest: `sha256sum` text to digests and back, byte for byte (contract L1)."""

from __future__ import annotations

import hashlib
import re
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, TypeAlias

from admit.errors import InputError
from admit.lock.paths import all_are_plain, refusal, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

Manifest: TypeAlias = dict[bytes, bytes]
"""Path within the repository to the 32 bytes of its SHA-256."""

NAME: Final = "admit.sha256"
"""Where the manifest lies, unless the settings say otherwise."""

_LINE: Final = re.compile(rb"(\\?)([0-9a-fA-F]{64}) [ *](.*)", re.DOTALL)
_TAG: Final = re.compile(rb"\\?[A-Z0-9-]+ \(.*\) = ", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(.?)", re.DOTALL)
_ESCAPED: Final = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r"}
_UNESCAPED: Final = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_ALLOWED: Final = "64 hexadecimal digits, a space, a space or `*`, a path"


def read_manifest(text: bytes, where: str = NAME) -> Manifest:
    r"""Return the digest of every path that a manifest names.

    Accepts what GNU `sha256sum` writes: names with a backslash, newline or carriage return escaped in a line that
    starts with `\`, binary mode (`*`), a leading `./`; and CRLF line ends, as `sha256sum -c` does.

    Args:
        text: the manifest's bytes; empty names nothing.
        where: the file's name, for errors.

    Raises:
        InputError: with the line: not in the format, a path that is absolute or leaves the repository, a path named
            twice, or a last line without its newline, since a manifest that was cut off looks like that.
    """
    if not text:
        return {}
    if not text.endswith(b"\n"):
        last = text.count(b"\n") + 1
        raise InputError(f"{where}:{last}", "the last line has no end", do="write the manifest again, it looks cut off")
    plain = _read_plain(text)
    return _read_lines(text, where) if plain is None else plain


def _read_plain(text: bytes) -> Manifest | None:
    """Return the manifest if it needs no second look at any line, a few times faster than line by line."""
    if b"\\" in text or b"\r" in text:
        return None
    lines = text[:-1].split(b"\n")
    try:
        digests = bytes.fromhex(b"".join([line[:64] for line in lines]).decode("ascii"))
    except ValueError:
        return None
    # fromhex lets spaces pass; then a digest is too short, and so are all of them together
    if len(digests) != 32 * len(lines) or not {line[64:66] for line in lines} <= {b"  ", b" *"}:
        return None
    paths = [line[66:] for line in lines]
    manifest = {path: digests[at : at + 32] for path, at in zip(paths, range(0, len(digests), 32), strict=True)}
    return manifest if len(manifest) == len(paths) and all_are_plain(paths) else None


def _read_lines(text: bytes, where: str) -> Manifest:
    manifest: Manifest = {}
    first_line: dict[bytes, int] = {}
    for number, line in enumerate(text[:-1].split(b"\n"), 1):
        path, digest = _read_line(line.removesuffix(b"\r"), f"{where}:{number}")
        if path in manifest:
            raise InputError(
                f"{where}:{number}",
                f"{shown(path)} stands here and in line {first_line[path]}",
                do="keep one of the two",
            )
        manifest[path], first_line[path] = digest, number
    return manifest


def _read_line(line: bytes, where: str) -> tuple[bytes, bytes]:
    found = _LINE.fullmatch(line)
    if found is None:
        do = (
            "write it with sha256sum, without --tag"
            if _TAG.match(line)
            else "write it with sha256sum or admit lock write"
        )
        raise InputError(
            where, f"no checksum line: {shown(line)[:80] if line else 'an empty line'}", allowed=_ALLOWED, do=do
        )
    escaped, digits, path = found.groups()
    if escaped:
        path = _ESCAPE.sub(lambda match: _unescaped(match[1], where), path)
    while path.startswith(b"./"):
        path = path[2:]
    if why := refusal(path):
        raise InputError(
            where,
            f"{why}: {shown(path)}" if path else why,
            allowed="a path inside the repository, relative to its root",
        )
    return path, bytes.fromhex(digits.decode("ascii"))


def _unescaped(letter: bytes, where: str) -> bytes:
    if letter not in _UNESCAPED:
        raise InputError(where, rf"an escape that does not exist: \{shown(letter)}", allowed=r"\\, \n, \r")
    return _UNESCAPED[letter]


def manifest_text(manifest: Mapping[bytes, bytes]) -> bytes:
    """Return the one text of a manifest: sorted by the bytes of the paths, LF, text mode, GNU escapes (contract L1)."""
    paths = sorted(manifest)
    return manifest_lines(b"", paths, [manifest[path] for path in paths])


def manifest_lines(prefix: bytes, names: list[bytes], digests: list[bytes]) -> bytes:
    """Return the lines of some names behind one prefix (a folder with its slash, or nothing), in their order."""
    digits = b"".join(digests).hex().encode("ascii")
    hexes = [digits[at : at + 64] for at in range(0, len(digits), 64)]
    text = b"".join(chain.from_iterable(zip(hexes, repeat(b"  " + prefix), names, repeat(b"\n"))))
    is_plain = b"\\" not in text and b"\r" not in text and b"\n" not in b"".join([prefix, *names])
    if is_plain and (prefix or b"-" not in names):
        return text
    return b"".join(map(_line, hexes, [prefix + name for name in names]))


def _line(digits: bytes, path: bytes) -> bytes:
    if path == b"-":  # by itself it would be read as the standard input
        path = b"./-"
    if b"\\" in path or b"\n" in path or b"\r" in path:
        return b"\\%b  %b\n" % (digits, re.sub(rb"[\\\n\r]", lambda match: _ESCAPED[match[0]], path))
    return b"%b  %b\n" % (digits, path)


def digest_text(text: bytes) -> str:
    """Return the digest of a manifest's one text, as evidence and the lock file name it."""
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
