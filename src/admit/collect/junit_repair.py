"""A second try at XML that holds characters which XML may not hold: each becomes U+FFFD, nothing else changes."""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
"""What stands in for a forbidden character: no part of XML's own syntax, so that no text can turn into an element."""

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE: Final = re.compile(r"&#(?:x([0-9A-Fa-f]{1,8})|([0-9]{1,10}));")
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,40})["']""")
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def repaired(raw: bytes) -> bytes | None:
    """Return the document as UTF-8 with each character that XML forbids replaced, or None if it holds none.

    Characters written as references (`&#27;`) count as well, and so do bytes that the declared encoding cannot read.
    Structure is never touched: what is broken otherwise stays broken.
    """
    encoding = next((name for bom, name in _BOMS if raw.startswith(bom)), None) or _declared(raw)
    try:
        text = raw.decode(encoding, "replace")
    except LookupError:
        return None
    mended = _REFERENCE.sub(_checked, _FORBIDDEN.sub(REPLACEMENT, text))
    if mended == text and REPLACEMENT not in text:
        return None
    return mended.encode()


def _declared(raw: bytes) -> str:
    match = _DECLARED.match(raw)
    return match[1].decode("ascii") if match else "utf-8"


def _checked(match: re.Match[str]) -> str:
    number = int(match[1], 16) if match[1] else int(match[2])
    allowed = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF and not _FORBIDDEN.fullmatch(chr(number))
    return match[0] if allowed else REPLACEMENT
