"""Trace what each node reaches, in the process that runs it (boundary; contract S1).

What runs is attributed to an owner: the node, a wider fixture that is set up or torn down, or the run outside of its
nodes. The process leaves a part (`admit.scope.traces`); whoever started the run joins the parts of all its processes.
"""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.core.context import Trial
from admit.pytest_plugin.proof_watch import strangers
from admit.scope.places import Places
from admit.scope.reached import Reached
from admit.scope.told import read_told
from admit.scope.traces import PART, Encoder

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from types import ModuleType

    from admit.scope.reached import LineTracer
    from admit.scope.told import Told
    from admit.scope.tracer_audit import Watch

_TRACING: Final[pytest.StashKey[Tracing]] = pytest.StashKey()
_HERE: Final[list[int]] = []
"""The process that traces already: a session nested in a test of it does not, its lines are the test's."""

_AT_ONCE: Final = "another node ran at the same time"


def begin(config: pytest.Config, folder: str) -> bool:
    """Begin to trace, if the folder that `--admit` names says what; return whether it does.

    Raises:
        InputError, UsageError: what stands there cannot be read; there is nothing to trace with.
    """
    told = read_told(folder)
    if told is None or os.getpid() in _HERE:
        return False
    _HERE.append(os.getpid())
    tracing = config.stash[_TRACING] = Tracing(told)
    tracing.begin()
    return True


def go_on(config: pytest.Config, *, has_workers: bool) -> None:
    """Trace what this process runs; where workers run the tests, leave only how the run ended."""
    tracing = config.stash[_TRACING]
    if has_workers:
        tracing.end()
        config.pluginmanager.register(Controlling(tracing.told), "admit-tracing")
    else:
        tracing.open()
        config.pluginmanager.register(tracing, "admit-tracing")


class Part:
    """The file to which a process appends what it reached; only the process that opened it does.

    Args:
        folder: for the parts of all processes.
    """

    def __init__(self, folder: str) -> None:
        self._owner = os.getpid()
        name = f"{PART}{self._owner}-{os.urandom(4).hex()}.jsonl"
        self._fd = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def append(self, raw: bytes) -> None:
        """Write whole records; a child process that was forked off writes nothing."""
        if os.getpid() == self._owner:
            while raw:
                raw = raw[os.write(self._fd, raw) :]


class Fixture:
    """A fixture of wider scope than one node: what its set-up and its tear-down reached, two owners with a number each.

    `uses` are the numbers of the others that its set-up saw.
    """

    def __init__(self, number: int) -> None:
        self.number, self.down_number = number, number + 1
        self.up, self.down = Reached(), Reached()
        self.uses: set[int] = set()


class Ended:
    """A node that has ended, until its lines are known."""

    def __init__(self, node: str, reached: Reached, uses: list[int]) -> None:
        self.node, self.reached, self.uses = node, reached, uses


class Tracing:
    """The pytest plugin that traces; it begins before the first conftest is imported.

    Args:
        told: what is traced.
    """

    def __init__(self, told: Told) -> None:
        self.told = told
        self._wanted = None if told.nodes is None else frozenset(told.nodes)
        self._places = Places(told.tree, told.files, apart=(sys.prefix, sys.exec_prefix))
        self._encoder = Encoder()
        self._outside = Reached()
        self._owners = [self._outside]
        self._fixtures: dict[Any, Fixture] = {}
        self._by_name: dict[str, list[Any]] = {}
        self._uses: set[int] = set()
        self._ended: list[Ended] = []
        self._said: object = None
        self._announced: str | None = None
        self._places_of: dict[str, str] = {}
        self._tracer: LineTracer = _tracer(self._places, told.files)
        self._watch: Watch | None = None

    def begin(self) -> None:
        """Begin to trace."""
        from admit.scope.tracer_audit import Watch

        for path, module in _loaded(self._places):
            self._outside.add(path, _all_lines(module))  # what its import ran is not known any more
        self._watch = Watch(self._places, self._outside, self._tracer.hears)
        self._tracer.start(self._outside)

    def open(self) -> None:
        """Leave from now on what is known: this process runs the tests."""
        self._part = Part(self.told.out)
        self._part.append(self._encoder.opening(self._tracer.name, platform.python_version()))

    def end(self) -> None:
        """Trace no more."""
        self._tracer.stop()
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    # ------------------------------------------------------------ owners

    def _enter(self, owner: Reached) -> None:
        # what goes on outside of nodes is looked at once, before the first: whatever is there later is seen in a node
        if len(self._owners) > 1 or not self._outside.checks:
            self._look()
        self._owners.append(owner)
        self._become(owner)

    def _leave(self, depth: int) -> None:
        """Return to the owner at a depth, from all that are above it."""
        while len(self._owners) > depth + 1:
            self._look()
            self._owners.pop()
            self._become(self._owners[-1])

    def _look(self) -> None:
        if self._watch is not None and self._owners[-1].is_kept:
            self._watch.look_back()
            self._tracer.check()

    def _become(self, owner: Reached) -> None:
        self._tracer.switch(owner)
        if self._watch is not None:
            self._watch.current = owner

    # ------------------------------------------------------------ nodes

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the nodes that are not to run, and name them."""
        without = frozenset(self.told.without)
        if left := [item for item in items if item.nodeid in without]:
            items[:] = [item for item in items if item.nodeid not in without]
            config.hook.pytest_deselected(items=left)
            self._part.append(self._encoder.left_out([item.nodeid for item in left]))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Attribute what runs to a node."""
        is_kept = self._is_wanted(item)
        node = Reached(is_kept=is_kept)
        for other in self._owners[1:]:
            other.went_blind(_AT_ONCE)
            node.went_blind(_AT_ONCE)
        if is_kept and self._announced != item.nodeid:
            self._part.append(self._begun(item))
        depth = len(self._owners) - 1
        self._uses.clear()
        self._enter(node)
        try:
            return (yield)
        except BaseException:
            node.went_blind("it was cut short")
            raise
        finally:
            self._leave(depth)
            if is_kept:
                self._ended.append(Ended(item.nodeid, node, sorted(self._uses)))
            self._write(nextitem)

    def _is_wanted(self, item: pytest.Item) -> bool:
        return self._wanted is None or item.nodeid in self._wanted

    def _begun(self, item: pytest.Item) -> bytes:
        path = os.fspath(item.path)
        if path not in self._places_of:
            self._places_of[path] = self._places.inside(path) or ""
        return self._encoder.begun(item.nodeid, self._places_of[path])

    def _write(self, following: pytest.Item | None) -> None:
        """Write down the nodes that have ended, what ran outside of them if that is more by now, and which one begins.

        All at once: where system calls are dear, these are what tracing a few files costs.
        """
        raw, self._announced = b"", None
        if self._tracer.is_prompt or self._watch is None:
            outside = self._outside
            said = (dict(outside.lines), len(outside.opened), len(outside.listed), outside.spawned, outside.is_alive)
            raw = b"" if said == self._said else self._encoder.outside(outside)
            for one in self._ended:
                raw += self._encoder.node(one.node, one.reached, one.uses)
            self._said = said
            self._ended.clear()
        if following is not None and self._is_wanted(following):
            raw += self._begun(following)
            self._announced = following.nodeid
        self._part.append(raw)

    # ------------------------------------------------------------ fixtures

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, object, object]:
        """Attribute the set-up of a wider fixture to it, and its tear-down, whenever that comes."""
        if fixturedef.scope == "function" == request.scope:
            return (yield)
        fixture = self._fixtures.get(fixturedef)
        if fixture is None:
            fixture = self._fixtures[fixturedef] = Fixture(2 * len(self._fixtures))
            self._by_name.setdefault(fixturedef.argname, []).append(fixturedef)
        depth = len(self._owners) - 1
        self._enter(fixture.up)
        try:
            return (yield)
        finally:
            self._leave(depth)
            # what it asked for by name while it was set up, nobody asks for again: all that were asked for by then
            fixture.uses |= self._wider(getattr(request, "_pyfuncitem", None), _names_of(request)) - {fixture.number}
            fixturedef.addfinalizer(lambda: self._tear_down(fixture))  # the last one added runs first

    def _tear_down(self, fixture: Fixture) -> None:
        self._uses.add(fixture.down_number)  # what goes wrong there goes wrong in the node that runs by now
        self._enter(fixture.down)

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """Attribute nothing more to a fixture that has been torn down."""
        fixture = self._fixtures.get(fixturedef)
        if fixture is not None and fixture.down in self._owners[1:]:
            self._leave(len(self._owners) - 2 - self._owners[::-1].index(fixture.down))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """See which wider fixtures the node used, also those that its tear-down asks for."""
        self._note(item)
        try:
            return (yield)
        finally:
            self._note(item)

    def _note(self, item: pytest.Item) -> None:
        names = _names_of(getattr(item, "_request", None))
        if names is not None:
            names |= {*getattr(item, "fixturenames", ())}
        self._uses |= self._wider(item, names)

    def _wider(self, item: Any, names: set[str] | None) -> set[int]:
        """Return the wider fixtures that names mean to a node, those that others override too; all if unknown."""
        if names is None:
            return {fixture.number for fixture in self._fixtures.values()}
        seen: dict[str, Any] = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        meant = [one for name in names for one in seen.get(name, self._by_name.get(name, ()))]
        return {self._fixtures[one].number for one in meant if one in self._fixtures}

    # ------------------------------------------------------------ the end

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """End, and leave what is known by now."""
        if self._watch is None:
            return
        is_worker = hasattr(session.config, "workerinput")
        self._leave(0)
        self._look()
        self.end()
        raw = b""
        for one in self._fixtures.values():
            raw += self._encoder.fixture(one.number, one.up, [*sorted(one.uses), one.down_number])
            raw += self._encoder.fixture(one.down_number, one.down, ())
        self._part.append(raw)
        self._write(None)
        found = strangers(Trial("base", "", self.told.tree))
        self._part.append(self._encoder.closing(None if is_worker else int(exitstatus), found))


class Controlling:
    """The plugin of a process whose workers run the tests: it leaves how the run ended."""

    def __init__(self, told: Told) -> None:
        self._part, self._encoder = Part(told.out), Encoder()
        self._part.append(self._encoder.opening(None, platform.python_version()))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Leave it."""
        self._part.append(self._encoder.closing(int(exitstatus), ()))


def _tracer(places: Places, files: Iterable[str]) -> LineTracer:
    from admit.scope import tracer_monitoring

    if tracer_monitoring.is_here():
        return tracer_monitoring.MonitoringTracer(places)
    from admit.scope.tracer_coverage import CoverageTracer

    return CoverageTracer(places, files)


def _names_of(request: Any) -> set[str] | None:
    """Return the names of the fixtures that were asked for so far in a node; None where pytest does not say."""
    found = getattr(request, "_fixture_defs", None)
    return set(found) if isinstance(found, dict) else None


def _loaded(places: Places) -> Iterable[tuple[str, ModuleType]]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and (path := places.traced(file)) is not None:
            yield path, module


def _all_lines(module: ModuleType) -> int:
    with open(str(module.__file__), "rb") as stream:
        return (1 << (stream.read().count(b"\n") + 2)) - 2
