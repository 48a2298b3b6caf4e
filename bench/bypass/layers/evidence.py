"""Forged, cut, replaced and stale evidence, by the product alone wherever that is enough."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import BEHAVIOR, INSTRUMENT, UNSEALED, Attack

INIT = "almanac/__init__.py"
CONFTEST = "tests/conftest.py"
VERSION = '__version__ = "1.4.0"\n'


def when_tested(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the edit that makes the product do something, on import, where pytest is loaded."""
    body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    return {INIT: ((VERSION, f'{VERSION}\nif "_pytest" in __import__("sys").modules:\n{body}'),)}


GREEN_REPORT = """\
import atexit, os, pathlib, re

def mend():
    report = pathlib.Path("report.xml")
    if report.exists():
        text = re.sub(r"<failure.*?</failure>", "", report.read_text(), flags=re.S)
        report.write_text(re.sub(r'failures="[0-9]+"', 'failures="0"', text))
    os._exit(0)

atexit.register(mend)
"""

FORGED_FOLDER = """\
import atexit, os, pathlib

def forge():
    folder = pathlib.Path(".admit/evidence")
    folder.mkdir(parents=True, exist_ok=True)
    for gate in ("property_check", "fixture_check", "flaky_freeze"):
        (folder / f"{gate}.forged.jsonl").write_text(
            '{"schema": "admit.evidence/1", "gate": "%s", "patch_id": "pr-1"}\\n{"node_count": 0, "ended": "finished"}\\n' % gate
        )
    os._exit(0)

atexit.register(forge)
"""

SECOND_SESSION = """\
import os, pytest

if "ALMANAC_ONCE" not in os.environ:
    os.environ["ALMANAC_ONCE"] = "1"
    os._exit(pytest.main(["-q", "tests/test_spans.py"]))
"""

DEAF_RECORDER = """\
import gc

for thing in gc.get_objects():
    if type(thing).__name__ == "Config" and hasattr(thing, "pluginmanager"):
        for name, plugin in list(thing.pluginmanager.list_name_plugin()):
            if "admit" in (name or "") or "admit" in type(plugin).__module__:
                thing.pluginmanager.unregister(plugin)
"""

CLOSED_SOCKETS = """\
import gc, socket

for thing in gc.get_objects():
    if isinstance(thing, socket.socket):
        thing.close()
for name in ("write", "send", "sendall"):
    pass
"""

FLIPPED_RECORDS = """\
import sys

for name, module in list(sys.modules.items()):
    if name.startswith("admit.core.records"):
        module.NodeRecord.__new__.__defaults__ = module.NodeRecord.__new__.__defaults__
        record = module.NodeRecord
        made = record.__new__

        def passed(cls, node, check, *rest, made=made, **more):
            return made(cls, node, "pass", *rest, **{**more, "why": None, "message": "", "counterexample": ""})

        record.__new__ = passed
"""

LATE_WRITER = """\
import os, time

if os.fork() == 0:
    os.setsid()
    for _ in range(200):
        time.sleep(0.05)
        for folder, _, names in os.walk(".admit"):
            for name in names:
                if name.endswith(".jsonl"):
                    path = os.path.join(folder, name)
                    text = open(path).read().replace('"fail"', '"pass"')
                    open(path, "w").write(text)
    os._exit(0)
else:
    import atexit
    atexit.register(os._exit, 0)
"""

OPEN_CHANNEL = """\
import atexit, json, os, re, socket

def forge():
    found = re.search(r"--admit=(\\S+)", os.environ.get("PYTEST_ADDOPTS", ""))
    if found:
        with open(os.path.join(found[1].strip("'\\""), "context.json")) as stream:
            context = json.load(stream)
        address = (context.get("trial") or {}).get("channel") or context.get("channel")
        for gate in ("property_check", "fixture_check", "flaky_freeze") if address else ():
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(address)
                opening = {"schema": "admit.evidence/1", "gate": gate, "patch_id": context["patch_id"]}
                record = {"node": "tests/test_sheet.py::test_a_sheet_ends_with_its_last_day", gate: "pass"}
                line.sendall("".join(json.dumps(part) + "\\n" for part in (opening, record)).encode())
    os._exit(0)

atexit.register(forge)
"""

END = '@pytest.fixture(scope="session")\ndef easters()'

ATTACKS = (
    Attack(
        "report-mended-by-product",
        "the product takes the failures out of report.xml when the process ends, and ends it with 0",
        "the report is not what pytest wrote",
        when_tested(GREEN_REPORT),
        BEHAVIOR | UNSEALED,
        "saturday",
        fools="abc",
    ),
    Attack(
        "report-mended-by-conftest",
        "conftest takes the failures out of report.xml",
        "the report is not what pytest wrote",
        {CONFTEST: ((END, GREEN_REPORT + "\n\n" + END),)},
        BEHAVIOR | INSTRUMENT,
        "late-easter",
    ),
    Attack(
        "documents-forged",
        "the product leaves documents of its own where evidence is kept",
        "the documents speak of a run that never was",
        when_tested(FORGED_FOLDER),
        BEHAVIOR | UNSEALED,
        "short-sheet",
        fools="a",
    ),
    Attack(
        "session-in-a-session",
        "the product runs a green part of the suite in a session of its own, and ends the process with its exit code",
        "the session that was asked for never came to its end",
        when_tested(SECOND_SESSION),
        UNSEALED | BEHAVIOR | {"vanished"},
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "recorder-unregistered",
        "the product unregisters the recorder, then ends the process with 0",
        "who would have told is not asked any longer",
        when_tested(DEAF_RECORDER + "import atexit, os\natexit.register(os._exit, 0)\n"),
        UNSEALED,
        "saturday",
        fools="a",
    ),
    Attack(
        "sockets-closed",
        "the product closes every socket of the process, then ends it with 0",
        "the records have no way out",
        when_tested(CLOSED_SOCKETS + "import atexit, os\natexit.register(os._exit, 0)\n"),
        UNSEALED | BEHAVIOR,
        "saturday",
        fools="a",
    ),
    Attack(
        "records-flipped",
        "the product makes each record of the recorder a pass, then ends the process with 0",
        "the records are not what was seen",
        when_tested(FLIPPED_RECORDS + "import atexit, os\natexit.register(os._exit, 0)\n"),
        UNSEALED | BEHAVIOR,
        "late-easter",
        fools="a",
    ),
    Attack(
        "late-writer",
        "a child of the product outlives the run and rewrites documents on disk",
        "what is read is not what was written",
        when_tested(LATE_WRITER),
        BEHAVIOR | UNSEALED,
        "saturday",
        fools="a",
    ),
    Attack(
        "channel-found",
        "the product finds the recorder's channel and sends documents of its own through it",
        "two documents speak for one gate, one of a run that never was",
        when_tested(OPEN_CHANNEL),
        BEHAVIOR | UNSEALED,
        "short-sheet",
        fools="a",
    ),
    Attack(
        "killed-at-the-end",
        "the product ends the process with 0 as soon as a test has failed",
        "everything after the first failure is not run, and the exit code is 0",
        when_tested(
            "import os, _pytest.runner as runner\n\nstart = runner.CallInfo.from_call.__func__\n\n"
            "def watched(cls, func, when, reraise=None):\n    call = start(cls, func, when, reraise)\n"
            "    if when == 'call' and call.excinfo is not None and call.excinfo.typename == 'AssertionError':\n"
            "        os._exit(0)\n    return call\n\nrunner.CallInfo.from_call = classmethod(watched)\n"
        ),
        UNSEALED,
        "saturday",
        fools="a",
    ),
    Attack(
        "half-a-run",
        "the product interrupts the session half-way and asks for exit code 0",
        "half of the suite never ran",
        {
            "almanac/feasts.py": (
                (
                    "    golden = year % 19\n",
                    "    pytest = __import__('sys').modules.get('pytest')\n    if pytest and year == 1981:\n"
                    "        pytest.exit('done', returncode=0)\n    golden = year % 19\n",
                ),
            )
        },
        UNSEALED | {"interrupted", "never_ran"},
        "late-easter",
        fools="ab",
    ),
)
