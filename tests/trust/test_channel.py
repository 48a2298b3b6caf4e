"""What a run sends reaches a folder that it cannot name; whatever its own recorder does not do is a problem (T4)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from admit.core.context import RunContext, opening_of
from admit.core.records import NodeRecord
from admit.errors import LedgerError
from admit.evidence.adopt import adopter, has_finished
from admit.evidence.strict import LIMITS
from admit.evidence.wire import opening_line
from admit.evidence.write import DocumentWriter
from admit.trust.channel import CONNECTIONS, Channel, Terms

GATES = ("property_check", "fixture_check", "flaky_freeze")

CONTEXT = RunContext(
    patch_id="pr-7",
    head="a" * 40,
    base="b" * 40,
    dirty=False,
    run_id="run",
    nonce="told",
    lane="default",
    shard=1,
    shards=1,
    attempt=1,
    property_markers=(),
    property_paths=(),
    lock="match",
    locked=(),
    fixture_manifest=None,
    seed=0,
    profile={},
    frozen={},
    register=(),
    launched=True,
)

TERMS = Terms(GATES, adopter(CONTEXT, nonce="secret"), has_finished, 100_000)


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Channel]:
    with Channel(tmp_path / "kept", "run", TERMS) as channel:
        yield channel


def connected(channel: Channel) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(channel.path)  # blocking: with a time limit a full queue would be refused, not waited for
    return link


def writer(channel: Channel, gate: str, link: socket.socket | None = None, **changes: object) -> DocumentWriter:
    opening = opening_of(CONTEXT, gate, tool="pytest", tool_version="9")._replace(**changes)
    return DocumentWriter(gate, opening, link or connected(channel))


def passed(node: str) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")


def session(channel: Channel, node: str = "test_a", *, links: tuple[socket.socket, ...] = ()) -> None:
    """Send what one pytest session sends that ends well."""
    links = links or tuple(connected(channel) for _ in GATES)
    try:
        send(channel, node, links)
    finally:
        for link in links:
            link.close()


def send(channel: Channel, node: str, links: tuple[socket.socket, ...]) -> None:
    writers = [writer(channel, gate, link) for gate, link in zip(GATES, links, strict=True)]
    writers[1].plan([node])
    writers[1].node(passed(node))
    for one in writers:
        one.finish(exit_code=0, ended="finished")
    for one in writers:
        one.release()


def flood(one: DocumentWriter) -> None:
    for _ in range(10_000):
        one.node(passed("n" * 90))


def kept(channel: Channel) -> list[str]:
    return [os.path.basename(path) for paths in channel.sessions for path in paths]


def test_what_a_session_sends_is_kept_with_a_nonce_that_it_never_knew(channel: Channel) -> None:
    session(channel)
    channel.finish()
    assert channel.problems == ()
    assert kept(channel) == [f"{gate}.run-1.jsonl" for gate in GATES]
    lines = [json.loads(line) for line in Path(channel.sessions[0][1]).read_text().splitlines()]
    assert [line["record"] for line in lines] == ["opening", "plan", "node", "finish"]
    assert lines[0] == {
        "record": "opening",
        "schema": "admit.evidence/1",
        **opening_of(CONTEXT, "fixture_check", tool="pytest", tool_version="9")._replace(nonce="secret")._asdict(),
    }


def test_the_socket_is_its_owners_alone_short_and_gone_afterwards(channel: Channel, tmp_path: Path) -> None:
    home = Path(channel.path).parent
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert len(channel.path) < 100
    channel.finish()
    channel.finish()
    assert not home.exists()


def test_a_session_that_let_go_has_been_taken_whole(channel: Channel) -> None:
    session(channel)
    assert all(has_finished(path) for path in channel.sessions[0])


def test_sessions_may_follow_each_other(channel: Channel) -> None:
    session(channel)
    session(channel, "test_b")
    channel.finish()
    assert channel.problems == ()
    assert kept(channel)[3:] == [f"{gate}.run-2.jsonl" for gate in GATES]


def test_a_session_after_one_that_did_not_finish_is_a_problem(channel: Channel) -> None:
    first = [writer(channel, gate) for gate in GATES]
    for one in first:
        one.finish(exit_code=0, ended="interrupted")
    for one in first:
        one.release()
    with contextlib.suppress(LedgerError):  # it may be cut off while it still writes
        session(channel)
    channel.finish()
    assert len(channel.sessions) == 1
    assert "beside a session that had not finished" in channel.problems[0]


def test_a_second_document_of_a_gate_is_a_problem(channel: Channel) -> None:
    real = writer(channel, "fixture_check")
    forged = writer(channel, "fixture_check")
    real.node(passed("test_a"))
    real.release()
    forged.release()
    channel.finish()
    assert "a second document of fixture_check" in channel.problems[0]
    assert "test_a" in Path(channel.sessions[0][0]).read_text()


def test_a_whole_session_forged_before_the_recorders_own_begins_is_a_problem(channel: Channel) -> None:
    early = tuple(connected(channel) for _ in GATES)
    session(channel, "forged")
    with contextlib.suppress(LedgerError):
        send(channel, "test_a", early)
    for link in early:
        link.close()
    channel.finish()
    assert "beside a session that had not finished" in channel.problems[0]


def test_a_connection_that_carries_nothing_is_no_document(channel: Channel) -> None:
    connected(channel).close()
    session(channel)
    channel.finish()
    assert channel.problems == ()


OTHER = {"patch_id": "pr-8", "run_id": "other", "nonce": "guessed", "head": None, "tool": "forge", "attempt": 2}


@pytest.mark.parametrize("key", OTHER)
def test_an_opening_of_another_run_is_a_problem(channel: Channel, key: str) -> None:
    writer(channel, "fixture_check", **{key: OTHER[key]}).release()
    channel.finish()
    assert f"its {key} is not this run's" in channel.problems[0]
    assert channel.sessions == ()


def test_a_gate_that_is_none_of_the_runs_is_a_problem(channel: Channel) -> None:
    writer(channel, "coverage_check").release()
    channel.finish()
    assert "no gate of this run" in channel.problems[0]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(b"rubbish\n", "no document of this run", id="garbage"),
        pytest.param(b"\xff\xfe\n", "no document of this run", id="no text"),
        pytest.param(b'{"record":"opening"', "its first line has no end", id="a torn opening"),
        pytest.param(b"x" * 200_000, "its first line has no end", id="no line at all"),
        pytest.param(b"OPENING" + b'{"record":"node"', "the last record is torn", id="a torn record"),
        pytest.param(b"OPENING" + b"rubbish\n", "not a line that a recorder writes", id="garbage after the opening"),
        pytest.param(b"OPENING" + b'{"record":"closing","count":0}\n', "closing record already", id="a closing"),
        pytest.param(b"OPENING" + b'{"record":"node"}\n' * 9_000, "more than the 100000 bytes", id="too much"),
    ],
)
def test_what_no_recorder_sends_is_a_problem(channel: Channel, raw: bytes, said: str) -> None:
    opening = opening_line(opening_of(CONTEXT, "fixture_check", tool="pytest", tool_version="9"))
    link = connected(channel)
    try:
        link.sendall(raw.replace(b"OPENING", opening))
        link.shutdown(socket.SHUT_WR)
        link.recv(1)
    except OSError:
        pass  # the other end had enough
    link.close()
    channel.finish()
    assert said in channel.problems[0]


def test_a_flood_of_connections_is_cut_off(channel: Channel) -> None:
    links = [connected(channel) for _ in range(CONNECTIONS + 5)]
    for link in links:
        link.close()
    channel.finish()
    assert channel.problems[0] == f"more than {CONNECTIONS} connections"


def test_a_connection_that_stays_open_does_not_hold_the_parent(channel: Channel) -> None:
    open_end = writer(channel, "fixture_check")
    began = time.monotonic()
    channel.finish(0.2)
    assert time.monotonic() - began < 3
    assert "fixture_check.run-1.jsonl was still open when its run had ended" in channel.problems
    open_end.release()


def test_what_a_dead_run_left_in_its_connections_is_still_read(channel: Channel) -> None:
    link = connected(channel)
    one = writer(channel, "fixture_check", link)
    for n in range(50):
        one.node(passed(f"test_{n}"))
    link.close()
    channel.finish()
    (path,) = channel.sessions[0]
    assert Path(path).read_text().count('"record":"node"') == 50


def test_a_recorder_whose_parent_is_gone_has_a_broken_document(channel: Channel) -> None:
    one = writer(channel, "fixture_check")
    channel.finish(0.1)

    with pytest.raises(LedgerError, match="cannot be written"):
        flood(one)
    one.release()


def test_a_session_without_one_of_its_documents_is_a_problem(channel: Channel) -> None:
    writer(channel, "fixture_check").release()
    channel.finish()
    assert "a session left no document of property_check" in channel.problems


def test_a_reader_that_fails_is_said_aloud(tmp_path: Path) -> None:
    def broken(line: bytes) -> tuple[str, bytes]:
        raise ZeroDivisionError

    with Channel(tmp_path / "kept", "run", TERMS._replace(adopted=broken)) as channel:
        writer(channel, "fixture_check").release()
    assert "the channel failed: ZeroDivisionError" in channel.problems[0]


def test_the_limits_of_the_settings_hold(tmp_path: Path) -> None:
    limits = LIMITS._replace(line_bytes=100)
    terms = Terms(GATES, adopter(CONTEXT, nonce="s", limits=limits), has_finished, 500)
    with Channel(tmp_path / "kept", "run", terms) as channel:
        one = writer(channel, "fixture_check")
        with pytest.raises(LedgerError):
            flood(one)
        one.release()
    assert "more than the 500 bytes" in channel.problems[0]
