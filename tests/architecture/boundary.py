"""Which modules may touch the world; a new one adds its line here, where a reviewer sees it."""

from __future__ import annotations

EDGES: dict[str, str] = {
    "admit.__main__": "`python -m admit`",
    "admit.cli": "arguments, streams, exit codes",
    "admit.pytest_plugin": "runs inside somebody else's test process",
    "admit.wiring.base": "reads what CI says of the base",
    "admit.wiring.base_evidence": "finds what the base's own run left",
    "admit.wiring.editables": "asks an interpreter where it imports from",
    "admit.wiring.instrument": "asks which versions are installed",
    "admit.wiring.inventory": "keeps what a base collects",
    "admit.wiring.judging": "picks the evidence folder and the ledger",
    "admit.wiring.patch": "finds approvals",
    "admit.wiring.prove": "finds the commits and the test files of a proof",
    "admit.wiring.scope": "finds the map",
    "admit.wiring.scope_record": "finds the map and what a run left",
    "admit.wiring.space": "picks the clock and the configuration",
    "admit.wiring.telling": "makes a run's ids",
    "admit.wiring.trusted": "picks the files under review",
}
"""Rooms that touch the world by design, all of their modules."""

BOUNDARY: dict[str, str] = {
    "admit.collect.files": "reads reports",
    "admit.evidence.context": "reads and writes the file that hands a run's context to its child process",
    "admit.evidence.each": "reads evidence documents, record by record",
    "admit.evidence.files": "reads evidence documents",
    "admit.evidence.read": "finds evidence documents",
    "admit.evidence.write": "appends evidence documents",
    "admit.abstain.files": "reads and writes the abstentions",
    "admit.filetext": "reads and replaces the text files under review",
    "admit.freeze.files": "reads and writes the register",
    "admit.launch.child": "starts the test command and watches how it ends",
    "admit.ledger.sqlite": "the ledger's connection",
    "admit.ledger.sqlite_errors": "names what went wrong with it",
    "admit.ledger.sqlite_file": "opens the ledger's file",
    "admit.lock.check": "hashes the pinned files and compares",
    "admit.lock.hashing": "reads what it hashes",
    "admit.lock.statcache": "remembers what was hashed, for `--fast`",
    "admit.lock.walk": "lists the pinned files",
    "admit.lock.workers": "hashes on all cores",
    "admit.lock.write": "writes the manifest and the lock file",
    "admit.policy.compile": "writes the module of shipped policies, at a developer's wish",
    "admit.policy.files": "reads policies and tables of cases",
    "admit.repository.git": "asks git",
    "admit.repository.hunks": "asks git which lines differ",
    "admit.repository.laid": "makes a commit through git",
    "admit.repository.patch": "asks git what a patch changes",
    "admit.repository.process": "runs git",
    "admit.repository.spawn": "starts programs",
    "admit.repository.submodules": "fills submodules of a worktree",
    "admit.scope.places": "follows links",
    "admit.scope.told": "reads and writes what a traced run is told",
    "admit.scope.tracer_audit": "hears what this process opens and starts",
    "admit.scope.tracer_coverage": "traces this process through coverage.py",
    "admit.scope.tracer_monitoring": "traces this process through sys.monitoring",
    "admit.scope.mapfile": "reads and writes maps of what tests reach",
    "admit.starter.look": "looks at a repository for `admit init`",
    "admit.trust.channel": "receives what a run records, over a socket",
    "admit.trust.environment": "maps the paths of an environment",
    "admit.trust.overlay": "makes worktrees",
    "admit.trust.signedfiles": "reads and writes keys and envelopes",
}
"""Single modules of the other rooms, and what each touches. A line that is no longer needed fails."""

WORLD: frozenset[str] = frozenset(
    """
    _thread asyncio atexit concurrent ctypes faulthandler fcntl fileinput ftplib gc getpass glob grp http
    importlib.metadata importlib.resources linecache locale logging mmap multiprocessing os pathlib pkgutil platform
    poplib posix posixpath pty pwd queue random resource runpy sched secrets select selectors shelve shutil signal
    smtplib socket socketserver sqlite3 ssl subprocess syslog tempfile termios threading time tracemalloc tty urllib
    uuid webbrowser zipfile zipimport zoneinfo
    """.split()
)
"""Modules of the standard library that read or change something outside the values passed in."""

PURE_NAMES: frozenset[str] = frozenset(
    {"os.PathLike", "pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "urllib.parse.quote"}
)
"""Names that may be imported from such a module, one by one: they only name or spell."""

WORLD_CALLS: frozenset[str] = frozenset({"open", "input", "print", "breakpoint", "eval", "exec", "__import__"})
"""Built-in functions that do."""

WORLD_ATTRIBUTES: frozenset[str] = frozenset(
    """
    date.today datetime.now datetime.today datetime.utcnow io.FileIO io.open
    sys.argv sys.exit sys.flags sys.path sys.modules sys.platform sys.stderr sys.stdin sys.stdout
    """.split()
)
"""Names reached through a harmless module that do."""

PLUGIN_ONLY: frozenset[str] = frozenset({"_pytest", "hypothesis", "pluggy", "pytest", "xdist"})
"""What the plugin finds in the process that it runs in; no other room may need it."""

NEEDS_EXTRA: frozenset[str] = frozenset({"admit.scope.tracer_coverage", "admit.trust.keys"})
"""Modules that import what only an extra brings, and only where it is used; without it they say which extra."""
