"""The three answers to whether a node covers a patch, and the closed list of reasons for them (contract S1, S2)."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

ReachWord: TypeAlias = Literal["covers", "does_not_cover", "unknown"]

Kind: TypeAlias = Literal[
    "line",
    "function",
    "import",
    "outside",
    "kept",
    "data",
    "folder",
    "no_map",
    "other_base",
    "incomplete",
    "blind_run",
    "new_node",
    "blind",
    "spawned",
    "unseen",
    "differs",
    "unreadable",
    "configuration",
    "dependencies",
    "native",
    "generated",
    "submodule",
    "link",
    "mode",
    "binary",
    "apart",
    "no_change",
]

KINDS: Final[dict[Kind, tuple[ReachWord, str]]] = {
    "line": ("covers", "it ran a line that changes"),
    "function": ("covers", "it entered a function that changes as a whole"),
    "import": ("covers", "what changes runs when the file is imported"),
    "outside": ("covers", "what changes runs while no test does: at an import, or when the session starts"),
    "kept": ("covers", "what changes is in a function whose results are kept for later callers"),
    "data": ("covers", "it opened a file that changes"),
    "folder": ("covers", "it listed a folder in which a file comes or goes"),
    "no_map": ("unknown", "there is no map"),
    "other_base": ("unknown", "the map is of another base"),
    "incomplete": ("unknown", "the run that made the map did not end by itself"),
    "blind_run": ("unknown", "the map does not know what ran while no test did"),
    "new_node": ("unknown", "the map does not have it: it is new, or was not run"),
    "blind": ("unknown", "tracing was not alive in it"),
    "spawned": ("unknown", "it went where no tracer follows"),
    "unseen": ("unknown", "the map does not have the file"),
    "differs": ("unknown", "the map was made from another content of the file"),
    "unreadable": ("unknown", "the file's lines cannot be told apart"),
    "configuration": ("unknown", "how tests are run changes"),
    "dependencies": ("unknown", "what tests run with changes"),
    "native": ("unknown", "code changes that no tracer of Python follows"),
    "generated": ("unknown", "a file changes that code is made from"),
    "submodule": ("unknown", "another repository's commit changes"),
    "link": ("unknown", "a symbolic link changes"),
    "mode": ("unknown", "a file's mode changes"),
    "binary": ("unknown", "git shows no lines of the file"),
    "apart": ("does_not_cover", "tracing was alive in it, and it reached nothing that changes"),
    "no_change": ("does_not_cover", "nothing changes"),
}
"""Every reason: the answer that it gives, and in words why."""


class Reason(NamedTuple):
    """Why: the kind, the changed path and line of the base that show it (0: no line), and what else is to be said."""

    kind: Kind
    path: str = ""
    line: int = 0
    text: str = ""

    def words(self) -> str:
        """Return the reason in words."""
        said = KINDS[self.kind][1]
        return f"{said} ({self.text})" if self.text else said


class Reach(NamedTuple):
    """One node's answer with its reason; whatever is not `does_not_cover` is in scope (S2)."""

    reason: Reason

    @property
    def word(self) -> ReachWord:
        """The answer."""
        return KINDS[self.reason.kind][0]

    @property
    def is_in_scope(self) -> bool:
        """Whether the node counts for the patch."""
        return self.word != "does_not_cover"
