"""The audit log: one line for each decision, a chain that shows what is gone, and no answer without a line."""

import asyncio
import hashlib
import json
import os
import re
import resource
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import connected
from costing import costs_under
from forking import fledgling
from mcp import MCPError
from running import ENDLESS, PATIENCE, Server, at_work, broker, in_time, opened, query_worker, until

from fledgling.broker.audit_log.records import EndRecord, MessageRecord
from fledgling.broker.audit_log.verify import verify
from fledgling.broker.audit_log.writer import MAX_ARGUMENTS, AuditLogError, open_log
from fledgling.messages.answers import Excerpt
from fledgling.security import profile as profiles

CORE = profiles.load("fledgling-core")
NOWHERE = Path("/nowhere")
EVENT = MessageRecord(verdict="refused", layer="protocol", reason="one of several")


def lines(log):
    return log.read_bytes().splitlines()


def records(log):
    return [json.loads(line) for line in lines(log)]


def begun(log, **options):
    return open_log(str(log), {"": str(NOWHERE)}, CORE, **{"with_arguments": False, **options})


def end(log):
    """Let go of the file, as the end of a process does."""
    os.close(log._fd)


# ---- what is in it --------------------------------------------------------------------------------------------------

HASTY = "SET extends = 'fledgling-analyst'; SET query_timeout = 2; SET max_rows = 3;"

# tool, arguments, and what the log says of it
CALLS = {
    "an answer": ("explore", {"path": "src"}, "allowed", "worker", None),
    "an excerpt": ("read", {"path": "src/core/engine.py"}, "allowed", "worker", None),
    "a table": ("query", {"sql": "SELECT path FROM files"}, "allowed", "worker", None),
    "a file that is not": ("read", {"path": "src/none.py"}, "refused", "index", "not_found"),
    "an argument of another type": ("read", {"path": 7}, "refused", "arguments", "invalid"),
    "an argument that is not": ("read", {"colour": "x"}, "refused", "arguments", "invalid"),
    "a number out of bounds": ("explore", {"depth": 10**30}, "refused", "arguments", "invalid"),
    "a statement that the gate denies": ("query", {"sql": "COPY files TO 'x'"}, "denied", "gate", "denied"),
    "a statement that takes too long": ("query", {"sql": ENDLESS}, "refused", "limit", "timeout"),
    "a tool that is not": ("execute", {"command": "id"}, "denied", "profile", "denied"),
    "a name that is not ASCII": ("s\u0435arch\x1b[2J\u202e" + "x" * 100, {}, "denied", "profile", "denied"),
    "arguments that are long": ("search", {"query": "x" * 500_000}, "refused", "arguments", "invalid"),
    "arguments that a terminal obeys": (
        "search",
        {"query": "\x1b]0;x\x07\u009b\u202e"},
        "refused",
        "arguments",
        "invalid",
    ),
}


def digest(arguments):
    return hashlib.sha256(json.dumps(arguments, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def calls(log):
    """The records of calls, but for those that a busy machine had no time for: they were put again."""
    return [record for record in records(log) if record["event"] == "call" and record["reason"] != "unavailable"]


@pytest.fixture(
    scope="module",
    params=[pytest.param("false", id="hashed", marks=pytest.mark.long), pytest.param("true", id="in clear")],
)  # that a log has no arguments unless it is told to, test_arguments_are_hashed_where_nothing_is_said shows, too
async def logged(request, anyio_backend, project, tmp_path_factory):
    """The log of one server after each of CALLS, one call cancelled and one line that is no message."""
    home = tmp_path_factory.mktemp("audit")
    (home / "hasty.sql").write_text(HASTY)
    log = home / "audit.jsonl"
    options = ["--profile", str(home / "hasty.sql"), "--audit-log", str(log), "--audit-arguments", request.param]
    async with connected(project, *options, era="handshake") as client:
        await in_time(client.call_tool, "symbols", {})
        for tool, arguments, *_ in CALLS.values():
            with suppress(MCPError):  # that is how a tool is denied
                await in_time(client.call_tool, tool, arguments)
        cancelled = asyncio.create_task(client.call_tool("query", {"sql": ENDLESS}))
        await at_work(broker(), 0.02)  # which a busy machine gives it before its time is over
        cancelled.cancel()
        await until(lambda: calls(log)[-1]["verdict"] == "cancelled")  # the worker that it ends has a line, too
    return log


@pytest.mark.anyio
async def test_every_call_is_one_line(logged):
    said = calls(logged)
    assert len(said) == len(CALLS) + 2
    for (name, (tool, arguments, *expected)), record in zip(CALLS.items(), said[1:], strict=False):
        assert [record["verdict"], record["layer"], record["reason"]] == expected, name
        assert record["tool"] == tool[:64].encode("ascii", "backslashreplace").decode()
        assert record["arguments_sha256"] == digest(arguments)
        assert record["profile"] == "hasty"
        assert record["bytes"] > 0
        assert (record["rows"] > 0) == (record["verdict"] == "allowed")
        assert 0 < record["milliseconds"] < 5000
        if record["layer"] in ("worker", "profile", "arguments"):
            assert record["generation"] == (0 if record["layer"] == "worker" else None)
    assert said[3]["rows"] == 3
    assert (said[-1]["verdict"], said[-1]["layer"]) == ("cancelled", "client")
    assert said[-1]["milliseconds"] > 10


@pytest.mark.anyio
async def test_arguments_are_in_it_only_where_asked_for_and_never_raw(logged):
    text = logged.read_bytes()
    assert text.isascii()
    assert not set(range(32)) - {10} & set(text)
    is_clear = b"engine.py" in text
    for record in records(logged):
        if "arguments" in record:
            assert is_clear
            assert hashlib.sha256(record["arguments"].encode()).hexdigest() == record["arguments_sha256"]
            assert len(record["arguments"]) <= MAX_ARGUMENTS
    assert is_clear == (sum("arguments" in record for record in calls(logged)) == len(CALLS) + 1)


@pytest.mark.anyio
async def test_the_whole_run_is_in_it(logged, project):
    start, *_, last = records(logged)
    assert start["event"] == "start"
    assert start["root"] == str(project)
    assert set(start["versions"]) == {"fledgling", "duckdb", "mcp", "tree-sitter"}
    assert last["event"] == "end"
    assert [record["sequence"] for record in records(logged)] == list(range(1, len(lines(logged)) + 1))
    assert all(record["time"].endswith("Z") for record in records(logged))
    assert verify(lines(logged)).broken is None
    assert logged.stat().st_mode & 0o777 == 0o600


def test_refused_lines_are_in_it_and_only_the_broker_holds_it(project, tmp_path):
    log = tmp_path / "audit.jsonl"
    with Server(project, "--audit-log", str(log)) as server:
        server.begin()
        for line in (b"x" * 2**21, b"nonsense", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"obey"}'):
            server.process.stdin.write(line + b"\n")
            server.process.stdin.flush()
            server.receive()
        server.call(2, "explore", {})
        server.receive()
        assert str(log) in opened(server.seen).values()
        assert str(log) not in opened(query_worker(server.seen)).values()
        with pytest.raises(AuditLogError, match="another process is writing to it"):
            begun(log)
    said = [record for record in records(log) if record["event"] == "message"]
    assert len(said) == 4
    assert {(record["verdict"], record["layer"]) for record in said} == {("refused", "protocol")}


def test_on_standard_error_it_is_a_chain_of_its_own_and_other_lines_hold_no_content(project):
    options = ["--audit-log", "stderr", "--log-format", "json", "--log-level", "debug"]
    done = fledgling("serve", "--root", str(project), *options)
    assert (done.returncode, done.stdout) == (0, "")
    said = [(line, json.loads(line)) for line in done.stderr.splitlines()]
    chain = [line.encode() for line, record in said if "event" in record]
    assert json.loads(chain[0])["event"] == "start"
    assert verify(chain).broken is None
    others = [record for _, record in said if "event" not in record]
    assert others[0]["message"] == f"root {project} (flag --root), profile fledgling-core"
    assert {"time", "level", "message"} <= set(others[0])
    assert "class Engine" not in done.stderr


def test_arguments_are_hashed_where_nothing_is_said(tmp_path):
    log = begun(tmp_path / "audit.jsonl")
    with log.deciding(CORE, "read", {"path": "src/core/engine.py"}) as decision:
        decision.became(Excerpt("a.py", "python", 1, ["x"], 1), 5)
    end(log)
    assert "engine.py" not in (tmp_path / "audit.jsonl").read_text()
    assert records(tmp_path / "audit.jsonl")[-1]["arguments_sha256"] == digest({"path": "src/core/engine.py"})


# ---- the chain ------------------------------------------------------------------------------------------------------


def altered(line, **fields):
    return json.dumps({**json.loads(line), **fields}, separators=(",", ":")).encode()


# what is done to ten lines, and the line that verify names, or None where it cannot know
TAMPERED = {
    "nothing": (lambda ten: ten, None),
    "a verdict is changed": (lambda ten: [*ten[:4], altered(ten[4], verdict="allowed"), *ten[5:]], 6),
    "a time is changed": (lambda ten: [*ten[:4], altered(ten[4], time="2026-01-01T00:00:00Z"), *ten[5:]], 6),
    "a blank is added": (lambda ten: [*ten[:4], ten[4] + b" ", *ten[5:]], 6),
    "a carriage return is added": (lambda ten: [*ten[:4], ten[4] + b"\r", *ten[5:]], 6),
    "the first line is changed": (lambda ten: [altered(ten[0], root="/"), *ten[1:]], 2),
    "a line is removed": (lambda ten: ten[:4] + ten[5:], 5),
    "five lines are removed": (lambda ten: ten[:2] + ten[7:], 3),
    "the first line is removed": (lambda ten: ten[1:], 1),
    "a line is removed and the numbers are mended": (
        lambda ten: ten[:4] + [altered(line, sequence=at) for at, line in enumerate(ten[5:], 5)],
        5,
    ),
    "two lines are swapped": (lambda ten: [*ten[:4], ten[5], ten[4], *ten[6:]], 5),
    "a line is there twice": (lambda ten: [*ten[:5], *ten[4:]], 6),
    "a line is inserted": (lambda ten: [*ten[:5], altered(ten[5], verdict="allowed"), *ten[5:]], 7),
    "an old run is put behind": (lambda ten: ten + ten[:3], 11),
    "a line is torn": (lambda ten: [*ten[:4], ten[4][:50], *ten[5:]], 6),
    "a line of garbage is inserted": (lambda ten: [*ten[:4], b"garbage", *ten[4:]], 6),
    "an empty line is inserted": (lambda ten: [*ten[:4], b"", *ten[4:]], 6),
    "a line of 1 MB is inserted": (lambda ten: [*ten[:4], b"x" * 10**6, *ten[4:]], 6),
    "100,000 brackets are inserted": (lambda ten: [*ten[:4], b"[" * 100_000, *ten[4:]], 6),
    "lines of another kind": (lambda ten: [b"a", b"b"], 1),
    "the last line is changed": (lambda ten: [*ten[:9], altered(ten[9], verdict="allowed")], None),
    "lines are cut off at the end": (lambda ten: ten[:7], None),
    "the last line is torn": (lambda ten: [*ten[:9], ten[9][:40]], None),
    "everything is removed": (lambda ten: [], None),
}


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    log = tmp_path_factory.mktemp("audit") / "ten.jsonl"
    writing = begun(log)
    for _ in range(9):
        writing.write(EVENT)
    end(writing)
    return lines(log)


@pytest.mark.parametrize("name", TAMPERED)
def test_verify(ten, name):
    tamper, broken = TAMPERED[name]
    last = hashlib.sha256(ten[9]).hexdigest()
    checked = verify(tamper(ten), last)
    assert (checked.broken or "").partition(":")[0] == (f"line {broken}" if broken else "")
    assert (checked.found == 10) == (tamper(ten)[:10] == ten)  # what a chain cannot show, a hash kept elsewhere does


def test_verify_command(ten, tmp_path):
    log = tmp_path / "audit.jsonl"
    log.write_bytes(b"\n".join(ten) + b"\n")
    good = fledgling("audit", "verify", str(log))
    assert good.returncode == 0
    assert f"unbroken; last hash {verify(ten).hash}" in good.stdout
    assert fledgling("audit", "verify", str(log), "--last", verify(ten).hash).returncode == 0
    earlier = fledgling("audit", "verify", str(log), "--last", verify(ten[:3]).hash)
    assert (earlier.returncode, "is that of line 3" in earlier.stdout) == (0, True)
    assert fledgling("audit", "verify", str(log), "--last", "0" * 64).returncode == 1
    log.write_bytes(b"\n".join(ten[:4] + ten[5:]))
    bad = fledgling("audit", "verify", "--json", str(log))
    assert (bad.returncode, json.loads(bad.stdout)["broken"]) == (1, "line 5: 1 lines before it are missing")
    assert fledgling("audit", "verify", str(tmp_path / "none")).returncode == 2
    os.mkfifo(tmp_path / "pipe")  # nobody writes into it
    refused = fledgling("audit", "verify", str(tmp_path / "pipe"))
    assert (refused.returncode, "is not a regular file; give - to read a pipe" in refused.stderr) == (2, True)
    log.write_bytes(b"")
    assert "empty: only --last HASH shows what was cut" in fledgling("audit", "verify", str(log)).stdout
    assert fledgling("audit", "verify", str(log), "--last", verify(ten).hash).returncode == 1


def test_a_chain_goes_on_over_runs(tmp_path):
    log = tmp_path / "audit.jsonl"
    for _ in range(3):
        writing = begun(log)
        writing.write(EVENT)
        writing.write(EndRecord(reason="over"))
        end(writing)
    assert [record["event"] for record in records(log)] == ["start", "message", "end"] * 3
    checked = verify(lines(log))
    assert (checked.lines, checked.torn, checked.broken) == (9, 0, None)


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_a_crash_at_any_byte_is_a_torn_line_and_no_break(tmp_path, wide):
    """Cut in the last line or the one before, then twice in the next run's first: where lines end, and in between."""
    log = tmp_path / "audit.jsonl"
    writing = begun(log)
    writing.write(EVENT)
    end(writing)
    whole = log.read_bytes()
    start, event = (len(line) + 1 for line in lines(log))
    ends = {end + at for end in (1, start, start + event) for at in (-2, -1, 0, 1, 2)}
    for cut in range(1, len(whole) + 1):
        if not wide and cut % 12 and cut not in ends:
            continue
        log.write_bytes(whole[:cut])
        end(begun(log))
        again = log.read_bytes()
        log.write_bytes(again[: -1 - cut % 50])
        end(begun(log))
        checked = verify(lines(log))
        assert checked.broken is None, cut
        assert checked.torn == (cut not in (start - 1, start, start + event - 1, start + event)) + bool(cut % 50)
        for removed in range(len(lines(log)) - 1):  # a torn line and the one before it are held by the next
            assert verify(line for at, line in enumerate(lines(log)) if at != removed).broken


# ---- where it may be ------------------------------------------------------------------------------------------------


def socket_at(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


UNFIT = {
    "a directory": (lambda path: path.mkdir(), "cannot be opened"),
    "a FIFO": (os.mkfifo, "not a regular file"),
    "a socket": (socket_at, "cannot be opened"),
    "a link": (lambda path: path.symlink_to("elsewhere"), "cannot be opened"),
    "a link to a file": (lambda path: (path.with_name("y").touch(), path.symlink_to("y")), "cannot be opened"),
    "a device": (lambda path: path.symlink_to("/dev/null"), "cannot be opened"),
    "a file with two names": (lambda path: (path.touch(), path.with_name("y").hardlink_to(path)), "a single name"),
    "a file that others may write": (lambda path: (path.touch(), path.chmod(0o622)), "others can write to it"),
    "a file of another kind": (lambda path: path.write_text("export PATH=/bin\n"), "something other than"),
    "a large file of another kind": (lambda path: path.write_bytes(b"x" * 10**6), "something other than"),
    "JSON of another kind": (lambda path: path.write_text('{"a": 1}\n'), "something other than"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_no_log_is_refused_and_left_alone(tmp_path, name):
    make, says = UNFIT[name]
    path = tmp_path / "x"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(AuditLogError, match=says):
        begun(path)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("where", ["audit.jsonl", "src/audit.jsonl", "src/../audit.jsonl", "../link/audit.jsonl"])
def test_a_log_inside_the_root_is_refused(tmp_path, where):
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    with pytest.raises(AuditLogError, match="inside the root"):
        open_log(str(root / where), {"": str(root)}, CORE, with_arguments=False)
    assert os.listdir(root) == ["src"]


def test_serve_says_what_is_wrong_with_it(project, tmp_path):
    done = fledgling("serve", "--root", str(project), "--audit-log", str(tmp_path / "none" / "x"))
    assert done.returncode == 2
    assert "audit_log" in done.stderr
    assert "No such file or directory" in done.stderr


# ---- a log that cannot be written -----------------------------------------------------------------------------------


def test_full_disk_refuses_calls_until_there_is_room(project, tmp_path):
    log = tmp_path / "audit.jsonl"
    with Server(project, "--audit-log", str(log)) as server:
        server.begin()
        server.call(2, "explore", {})
        assert "structuredContent" in server.receive()["result"]
        unlimited = server.seen.rlimit(resource.RLIMIT_FSIZE)
        server.seen.rlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 600, unlimited[1]))
        answers = []
        for number in range(3, 7):
            server.call(number, "explore", {})
            answers.append(server.receive()["result"])
        assert ["structuredContent" in answer for answer in answers] == [True, False, False, False]
        assert "the audit log cannot be written" in answers[-1]["content"][0]["text"]
        server.seen.rlimit(resource.RLIMIT_FSIZE, unlimited)
        server.call(8, "explore", {})
        assert "structuredContent" in server.receive()["result"]
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0
    checked = verify(lines(log))
    assert (checked.broken, checked.torn) == (None, 1)
    assert sum(b'"event":"call"' in line for line in lines(log)) == 4  # two answered, the torn one, one answered


def test_a_log_that_is_renamed_goes_on_and_one_that_is_removed_takes_no_line(tmp_path):
    """As rotation does: it compresses what it has renamed, and what is written after that is lost."""
    path, moved = tmp_path / "audit.jsonl", tmp_path / "audit.jsonl.1"
    log = begun(path)
    path.rename(moved)
    path.touch(0o600)
    log.of("reviewer").write(EVENT)
    checked = verify(lines(moved))
    assert (checked.lines, checked.broken, path.read_bytes()) == (2, None, b"")
    moved.unlink()
    for each in (log, log.of("reviewer")):
        with pytest.raises(AuditLogError, match="it was removed"):
            each.write(EVENT)
    end(log)


class Unread:
    """A pipe that is read when the test says so."""

    def __init__(self):
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)

    def fill(self):
        os.set_blocking(self.writing, False)
        with suppress(BlockingIOError):
            while True:
                os.write(self.writing, b"\0" * 65536)
        os.set_blocking(self.writing, True)

    def read(self):
        with suppress(BlockingIOError):
            return os.read(self._reading, 2**20).strip(b"\0").splitlines()
        return []


def test_who_does_not_read_the_log_is_answered_nothing_and_holds_up_nobody(project):
    errors = Unread()
    with Server(project, "--audit-log", "stderr", stderr=errors.writing) as server:
        server.begin()
        said, answers = errors.read(), []
        for number, reads in enumerate([False, False, True], 2):
            errors.fill()
            if reads:
                said += errors.read()
            server.call(number, "explore", {})
            answers.append(server.receive()["result"])
        said += errors.read()
        errors.fill()
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0
    assert ["structuredContent" in answer for answer in answers] == [False, False, True]
    assert "the audit log cannot be written" in answers[0]["content"][0]["text"]
    checked = verify([line for line in said if line.startswith(b'{"event"')])
    assert (checked.broken, checked.torn) == (None, 0)


def test_who_does_not_read_standard_error_is_served_and_told_what_it_has_missed(project):
    errors = Unread()
    errors.fill()
    with Server(project, stderr=errors.writing) as server:
        server.begin()
        server.call(2, "explore", {})
        assert "structuredContent" in server.receive()["result"]
        errors.read()
        server.send({"method": "notifications/cancelled"})
        server.call(3, "explore", {})
        server.receive()
        assert re.search(rb"; \d+ lines before it were not read", b" ".join(errors.read()))
        errors.fill()
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0


def test_a_line_costs_a_fraction_of_a_call(tmp_path):
    answer, calls = Excerpt("a.py", "python", 1, ["x"] * 100, 100), 2000
    log = begun(tmp_path / "audit.jsonl")

    def told():
        for _ in range(calls):
            with log.deciding(CORE, "read", {"path": "src/core/engine.py", "start_line": 1}) as decision:
                decision.became(answer, 5000)

    costs_under(0.0002 * calls, told)
