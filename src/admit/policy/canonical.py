"""The digest of a policy: one for two files that decide alike in one order, another after any change that decides."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from admit.policy.model import TRUST

if TYPE_CHECKING:
    from admit.policy.document import Document
    from admit.policy.model import TrustOptions


def digest_of(document: Document) -> str:
    """Return `sha256:` and 64 hex digits over the policy's canonical form.

    The order of rules, signals, outcomes and states is part of it. Comments, white space, the order of keys in a table,
    a word that stands alone instead of in a list, a default that is written out, and `about` are not. Nor is trust in
    nobody, so that a policy from before there was a [trust] table keeps its digest.
    """
    form = {
        "name": document.name,
        "rules_on": document.rules_on,
        "check": document.check,
        "required": sorted(document.required),
        "waived": document.waived,
        "signals": [(signal.name, signal.states, sorted(signal.clean)) for signal in document.signals],
        "outcomes": document.outcomes,
        "worse": sorted(document.worse),
        "region": sorted(document.region),
        "options": document.options._asdict(),
        "rules": [
            (sorted(rule.any), sorted(rule.all), rule.when, rule.outcome, rule.reason, rule.look_first)
            for rule in document.rules
        ],
    }
    if document.trust != TRUST:
        form["trust"] = _trust(document.trust)
    text = json.dumps(form, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _trust(trust: TrustOptions) -> dict[str, object]:
    """Return whom the policy trusts; the order in which keys and lanes are listed decides nothing."""
    return {
        "approvers": sorted(trust.approvers),
        "evidence": sorted((gate, sorted(keys)) for gate, keys in trust.evidence),
        "timing_lanes": sorted(trust.timing_lanes),
        "instrument_edits": trust.instrument_edits,
    }
