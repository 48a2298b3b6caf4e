"""`admit policy`: show a policy, verify what it promises, test it against a table of cases (contract V1, V3, V4)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from admit.cli.output import add_format
from admit.cli.verbs import Verb, add_verbs
from admit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

POLICY_HELP: Final = "router, arbiter, trusted-arbiter, or a policy file (default: the router as configured)"


def configure(parser: ArgumentParser) -> None:
    """Add the verbs."""
    add_verbs(parser, VERBS)


def run(args: Namespace) -> int:
    """Do what the verb says."""
    return VERBS[args.verb].run(args)


def _source(given: str | None) -> str:
    """Return the policy that was named, or the router as configured."""
    from admit.policy import SHIPPED
    from admit.wiring import workspace

    if given is not None:
        return given
    space = workspace()
    configured = space.settings.text("policy.router")
    return configured if configured in SHIPPED else os.path.relpath(space.root / configured)


# ---------------------------------------------------------------- show


def _configure_show(parser: ArgumentParser) -> None:
    parser.add_argument("policy", nargs="?", metavar="POLICY", help=POLICY_HELP)
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "html", "json", "toml"),
        default="text",
        help="toml prints the policy file itself, to copy and edit",
    )


def _show(args: Namespace) -> int:
    from admit.core.verify import verify
    from admit.policy import SHIPPED, load
    from admit.policy.export import FORMATS
    from admit.policy.files import read_text, shipped_text

    source = _source(args.policy)
    policy = load(source)
    if args.format == "toml":
        sys.stdout.write(shipped_text(source) if source in SHIPPED else read_text(source))
        return 0
    sys.stdout.write(FORMATS[args.format](policy, verify(policy.ladder).counts))
    return 0


# ---------------------------------------------------------------- verify


def _configure_verify(parser: ArgumentParser) -> None:
    from admit.core.verify import STEPS

    parser.add_argument("policy", nargs="?", metavar="POLICY", help=POLICY_HELP)
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help="how much work to do before an answer is given up (default %(default)s)",
    )
    add_format(parser)


def _verify(args: Namespace) -> int:
    from admit.core.verify import verify
    from admit.policy import SHIPPED, load
    from admit.policy.files import read_text
    from admit.policy.report import FORMATS
    from admit.policy.soundness import refuse_open_doors, refuse_unverified
    from admit.policy.text import read_draft

    if args.steps < 1:
        raise UsageError("--steps", f"{args.steps}", allowed="a whole number from 1")
    source = _source(args.policy)
    draft = None if source in SHIPPED else read_draft(read_text(source), source)
    policy = draft.policy if draft else load(source)
    if draft:
        refuse_open_doors(draft.document, policy.ladder, draft.source)
    found = verify(policy.ladder, steps=args.steps)
    sys.stdout.write(FORMATS[args.format](policy, found))
    if draft and any(answer.held == "no" for answer in found.answers):
        sys.stdout.flush()
        refuse_unverified(found, policy.ladder, draft.source)
    return 0 if found.holds else 1


# ---------------------------------------------------------------- test


def _configure_test(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the table of cases (TOML)")
    parser.add_argument("--policy", metavar="POLICY", help=POLICY_HELP)
    parser.add_argument("--every-rule", action="store_true", help="fail, too, if no case tries some rule")
    add_format(parser)


def _test(args: Namespace) -> int:
    from admit.policy import load
    from admit.policy.case_report import FORMATS
    from admit.policy.cases import read_cases, try_cases
    from admit.policy.files import read_text

    policy = load(_source(args.policy))
    cases = read_cases(read_text(args.file, "table of cases"), args.file, policy.ladder)
    report = try_cases(cases, policy.ladder)
    sys.stdout.write(FORMATS[args.format](policy, report))
    return 1 if report.wrong or (args.every_rule and report.untried) else 0


VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
        Verb(
            "show",
            "Print a policy: signals, outcomes, rules, census, the whole table.",
            "admit policy show router --format markdown",
            _configure_show,
            _show,
        ),
        Verb(
            "verify",
            "Verify exactly what a policy promises: exit 0 if every guarantee was obtained and holds, 1 if not, "
            "65 if the policy is refused.",
            "admit policy verify admit.policy.toml",
            _configure_verify,
            _verify,
        ),
        Verb(
            "test",
            "Try a table of cases of your own: exit 0 if all hold, 1 if not.",
            "admit policy test cases.toml --policy admit.policy.toml",
            _configure_test,
            _test,
        ),
    )
}
