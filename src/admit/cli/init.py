"""`admit init`: look at a repository and write what admit needs there; touches nothing that exists."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from admit.errors import LedgerError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from admit.starter import Findings


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def run(args: Namespace) -> int:
    """Write each file that is not there yet, and say what was done and what comes next."""
    from admit.settings import FILE
    from admit.starter import look_at
    from admit.wiring import workspace

    root = workspace().root
    findings = look_at(root, FILE)
    done = _write_files(root, findings)
    done.append(_ignore(root, findings))
    done.append(_lock(root))
    _print(args.format, findings, [line for line in done if line])
    return 0


def _write_files(root: Path, findings: Findings) -> list[str]:
    from admit.policy.files import shipped_text
    from admit.settings import FILE
    from admit.starter import config_text, waived_router
    from admit.starter.files import ABSTENTIONS, FREEZES, POLICY_FILE

    router = "router" if findings.property_files else POLICY_FILE
    files = {
        FILE: config_text(findings, router=router),
        "admit.freezes.toml": FREEZES,
        "admit.abstentions.toml": ABSTENTIONS,
    }
    if router == POLICY_FILE and not (root / FILE).exists():
        files[POLICY_FILE] = waived_router(shipped_text("router"))
    return [_write_new(root / name, text) for name, text in files.items()]


def _write_new(path: Path, text: str) -> str:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        return f"kept   {path.name}, which was there"
    except OSError as error:
        raise LedgerError(str(path), f"cannot be written: {error.strerror}", do="make the folder writable") from error
    return f"wrote  {path.name}"


def _ignore(root: Path, findings: Findings) -> str:
    from admit.starter import ignore_lines

    lines = ignore_lines(findings.ignored)
    if not lines:
        return ""
    path = root / ".gitignore"
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        gap = "" if not before or before.endswith("\n") else "\n"
        path.write_text(before + gap + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(str(path), f"cannot be written: {error}", do=f"add these lines: {' '.join(lines)}") from error
    return f"added  {' '.join(lines)} to .gitignore"


def _lock(root: Path) -> str:
    from admit.wiring import workspace, write_lock

    space = workspace(root)
    if space.path("lock.manifest").exists():
        return f"kept   {space.settings.text('lock.manifest')}, which was there"
    return f"wrote  {write_lock(space)}"


def _print(how: str, findings: Findings, done: list[str]) -> None:
    said = _said(findings)
    if how == "json":
        tree = {
            "found": findings._asdict() | {"ignored": sorted(findings.ignored)},
            "said": said,
            "done": done,
            "next": _NEXT,
        }
        sys.stdout.write(json.dumps(tree, indent=1) + "\n")
        return
    mark = "- " if how == "markdown" else ""
    sys.stdout.write("".join(f"{mark}{line}\n" for line in [*said, *done, *(f"next   {step}" for step in _NEXT)]))


def _said(findings: Findings) -> list[str]:
    properties = len(findings.property_files)
    lines = [
        f"found  {findings.files} files",
        f"found  {findings.python_tests} Python test files, {properties} of them with property tests",
    ]
    if not properties:
        lines.append("found  no property tests: the policy written does not require their gate, and says so in words")
    lines.append(f"found  pinned: {', '.join(findings.pinned)}")
    return lines


_NEXT = [
    "admit abstain write    (runs the tests once, declares what by design gives no verdict here)",
    "review the files and commit them",
    "admit run -- python -m pytest",
]
