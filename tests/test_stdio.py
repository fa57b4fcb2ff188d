"""The client's bytes: a line that is no message is refused, the next one served, and memory stays where it was."""

import asyncio
import json
import os
import threading
import time
from contextlib import contextmanager

import pytest
from forking import executing
from running import PATIENCE, Server

from fledgling.broker.protocol.stdio import MAX_MESSAGE, MAX_PARTS, MAX_UNANSWERED, Unanswered

MIB = 2**20
REFUSED, UNPARSED, UNKNOWN, UNFIT = -32600, -32700, -32601, -32602
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Client(Server):
    """A client of one era of the protocol that says what it likes."""

    def __init__(self, root, era, *options, **started):
        super().__init__(root, *options, **started)
        self.meta = {"_meta": ENVELOPE} if era == "modern" else {}
        if era == "handshake":
            self.begin()

    def request(self, number, method="tools/call", **params):
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, **self.meta}}
        return json.dumps(asked).encode() + b"\n"

    def say(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def is_served(self, number=99):
        """Whether the next thing that comes is the right answer to a call."""
        self.say(self.request(number, name="explore", arguments={"path": "src/core"}))
        answer = self.receive()
        return answer["id"] == number and answer["result"]["structuredContent"]["path"] == "src/core/"

    def memory(self, key):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{key}:"))

    @contextmanager
    def grows_by_at_most(self, limit):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as peak:
            peak.write("5")  # from here on VmHWM is the peak
        before = self.memory("VmRSS")
        yield
        assert self.memory("VmHWM") - before <= limit


def executed_client(project, era):
    """A client of a server that is executed: how much it grows is looked at."""
    with executing():
        client = Client(project, era)
    with client:
        assert client.is_served()
        yield client


@pytest.fixture(scope="module")
def handshake(project):
    yield from executed_client(project, "handshake")


@pytest.fixture(scope="module")
def modern(project):
    yield from executed_client(project, "modern")


@pytest.fixture(params=["handshake", "modern"])
def client(request):
    return request.getfixturevalue(request.param)


# ---- one line -------------------------------------------------------------------------------------------------------


def ping(**fields):
    return json.dumps({"jsonrpc": "2.0", "id": 5, "method": "ping", **fields}).encode()


def argument(text):
    """A call of explore with this in its arguments."""
    return b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"explore","arguments":%s}}' % text


# what is said, and the code and id of the one error that comes back, or None where nothing does
HOSTILE = {
    "a line of one byte too many": (b"x" * (MAX_MESSAGE + 1), (REFUSED, None)),
    "a good message of one byte too many": (ping(pad="x" * MAX_MESSAGE), (REFUSED, None)),
    "a line of 8 MiB": (b"x" * 8 * MIB, (REFUSED, None)),
    "a blank line of 8 MiB, then a word": (b" " * 8 * MIB + b"x", (REFUSED, None)),
    "1 MiB that is no JSON": (b"x" * MAX_MESSAGE, (UNPARSED, None)),
    "a text without end": (b'{"jsonrpc":"2.0","id":5,"method":"' + b"a" * (MIB // 2), (UNPARSED, None)),
    "100,000 brackets": (b"[" * 100_000, (REFUSED, None)),
    "100,000 braces": (b'{"a":' * 100_000, (REFUSED, None)),
    "10,000 brackets": (argument(b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}"), (UNPARSED, None)),
    "too many values": (argument(b'{"a":[' + b"0," * MAX_PARTS + b"0]}"), (REFUSED, None)),
    "a number of 5,000 digits": (argument(b'{"depth":' + b"9" * 5000 + b"}"), (REFUSED, 5)),
    "a number of 500,000 digits": (argument(b'{"depth":' + b"9" * 500_000 + b"}"), (REFUSED, 5)),
    "an id of 5,000 digits": (ping().replace(b"5", b"9" * 5000), (REFUSED, None)),
    "bytes that are not UTF-8": (argument(b'{"path":"\xff\xfe"}'), (REFUSED, 5)),
    "a surrogate in bytes": (argument(b'{"path":"\xed\xa0\x80"}'), (REFUSED, 5)),
    "half a surrogate pair": (argument(b'{"path":"\\ud800"}'), (REFUSED, 5)),
    "half a surrogate pair in an id": (ping(id="\ud800"), (REFUSED, "\ufffd")),
    "half a surrogate pair, and a NUL": (argument(b'{"path":"\\ud800\0"}'), (UNPARSED, None)),
    "an overlong NUL": (argument(b'{"path":"\xc0\x80"}'), (REFUSED, 5)),
    "a byte order mark": (b"\xef\xbb\xbf" + ping(), (UNPARSED, None)),
    "UTF-16": (ping().decode().encode("utf-16-le").replace(b"\n", b""), (UNPARSED, None)),
    "NUL bytes": (b"\0" * 100, (UNPARSED, None)),
    "a NUL in a message": (argument(b'{"path":"a\0b"}'), (UNPARSED, None)),
    "a control character in a text": (argument(b'{"path":"a\x1bb"}'), (UNPARSED, None)),
    "two messages on one line": (ping() * 2, (UNPARSED, None)),
    "a message and a half": (ping() + b'{"jsonrpc"', (UNPARSED, None)),
    "half a message": (ping()[:-9], (UNPARSED, None)),
    "HTTP": (b"GET /mcp HTTP/1.1", (UNPARSED, None)),
    "an LSP header": (b"Content-Length: 17", (UNPARSED, None)),
    "a batch": (b"[" + ping() + b"]", (REFUSED, None)),
    "an empty batch": (b"[]", (REFUSED, None)),
    "a number": (b"7", (REFUSED, None)),
    "null": (b"null", (REFUSED, None)),
    "an empty object": (b"{}", (REFUSED, None)),
    "no version": (b'{"id":5,"method":"ping"}', (REFUSED, 5)),
    "another version": (ping(jsonrpc="1.0"), (REFUSED, 5)),
    "a method that is a number": (ping(method=7), (REFUSED, 5)),
    "a method that is an object": (ping(method={}, id="five"), (REFUSED, "five")),
    "parameters that are a list": (ping(params=[1]), (REFUSED, 5)),
    "parameters that are text": (ping(params="x"), (REFUSED, 5)),
    "an id that is an object": (b'{"jsonrpc":"2.0","id":{},"method":7}', (REFUSED, None)),
    "a request whose id is an object": (ping(id={}), (REFUSED, None)),
    "a request whose id is a fraction": (ping(id=1.5), (REFUSED, None)),
    "a request whose id is not a number": (ping(id=float("nan")), (UNPARSED, None)),
    "a request whose id is null": (ping(id=None), (REFUSED, None)),
    "a request whose id is true": (ping(id=True), (REFUSED, None)),
    "a tool call without parameters": (ping(method="tools/call"), (UNFIT, 5)),
    "a method that is not": (ping(method="tools/delete"), (UNKNOWN, 5)),
    "an empty line": (b"", None),
    "blanks": (b" \t\r", None),
    "a blank line of 8 MiB": (b" " * 8 * MIB, (REFUSED, None)),
    "an answer to nothing": (b'{"jsonrpc":"2.0","id":5,"result":{}}', None),
    "an error to nothing": (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', None),
    "a notification of no kind": (b'{"jsonrpc":"2.0","method":"notifications/none","params":{"a":1}}', None),
    "a cancellation of nothing": (
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987}}',
        None,
    ),
    "a cancellation without parameters": (b'{"jsonrpc":"2.0","method":"notifications/cancelled"}', None),
    "progress of nothing": (
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1e308}}',
        None,
    ),
}


def is_refused_in_any_era(era, name):
    """Whether a row repeats what the other era shows: what is no message is refused before its era is looked at."""
    _, refused = HOSTILE[name]
    return era == "handshake" and refused is not None and refused[0] in (REFUSED, UNPARSED)


@pytest.mark.parametrize(
    ("client", "name"),
    [
        pytest.param(era, name, marks=[pytest.mark.long] if is_refused_in_any_era(era, name) else [])
        for era in ("handshake", "modern")
        for name in HOSTILE
    ],
    indirect=["client"],
)
def test_hostile_line_is_refused_and_the_next_one_served(client, name):
    line, refused = HOSTILE[name]
    if client.meta and line.startswith(b'{"jsonrpc"') and refused and refused[0] in (UNFIT, UNKNOWN):
        line = json.dumps(json.loads(line) | {"params": client.meta}).encode()
    with client.grows_by_at_most(32 * MIB):
        client.say(line + b"\n")
        if refused:
            answer = client.receive()
            assert (answer["error"]["code"], answer["id"]) == refused
            assert len(answer["error"]["message"]) < 100
        assert client.is_served()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n\r\n \n"], ids=ascii)
def test_any_line_end_ends_a_message(client, end):
    client.say(end.join(client.request(number, "tools/list").strip() for number in range(3)) + end)
    assert sorted(client.receive()["id"] for _ in range(3)) == [0, 1, 2]


@pytest.mark.parametrize("size", [MAX_MESSAGE - 1, MAX_MESSAGE, MAX_MESSAGE + 1])
def test_the_limit_is_a_line_without_its_end(client, size):
    padded = client.request(5, "tools/list", pad="").strip()
    padded = padded.replace(b'"pad": ""', b'"pad": "%s"' % (b"x" * (size - len(padded))))
    assert len(padded) == size
    client.say(padded + b"\n")
    answer = client.receive()
    assert (answer["id"] is None) == (size > MAX_MESSAGE)
    assert client.is_served()


def test_a_message_may_come_byte_by_byte(client):
    for byte in client.request(7, name="explore", arguments={}):
        client.say(bytes([byte]))
    assert client.receive()["id"] == 7


# ---- floods ---------------------------------------------------------------------------------------------------------


def many(line, size):
    """Lines of `size` bytes together, in pieces of a MiB or more."""
    piece = (line + b"\n") * (1 + MIB // (len(line) + 1))
    for _ in range(size // len(piece)):
        yield piece


MESSAGE = ping(pad="x" * (MAX_MESSAGE - 100))
CALL = argument(b'{"path":"%s"}' % (b"x" * (MAX_MESSAGE - 200)))
LISTS = argument(b'{"a":[' + b"[]," * (MAX_PARTS // 2 - 9) + b'"' + b"x" * (MAX_MESSAGE // 2) + b'"]}')
NOTIFICATION = b'{"jsonrpc":"2.0","method":"notifications/none","params":{}}'

# What comes of a size, and how much of that: small messages take the SDK a while each.
FLOODS = {
    "one line without end": (lambda size: many(b"x" * MIB, size), 1),
    "one line of brackets without end": (lambda size: (b"[" * MIB for _ in range(size // MIB)), 1),
    "NUL bytes": (lambda size: (bytes(MIB) for _ in range(size // MIB)), 1),
    "lines of 2 MiB": (lambda size: many(b"x" * 2 * MIB, size), 1),
    "lines of a MiB": (lambda size: many(b"x" * MAX_MESSAGE, size), 1 / 4),
    "blank lines": (lambda size: many(b"", size), 1 / 16),
    "blanks": (lambda size: (b" " * MIB for _ in range(size // MIB)), 1 / 2),
    "the largest messages": (lambda size: many(MESSAGE, size), 1 / 8),
    "the largest arguments": (lambda size: many(CALL, size), 1 / 8),
    "far too many values": (lambda size: many(argument(b'{"a":[' + b"[]," * 300_000 + b"0]}"), size), 1 / 4),
    "as many values as may be": (lambda size: many(LISTS, size), 1 / 32),
    "notifications": (lambda size: many(NOTIFICATION, size), 1 / 256),
    "words": (lambda size: many(b"word", size), 1 / 1024),
}


class Hearing(threading.Thread):
    """Reads answers until `count` of them have come to a request."""

    def __init__(self, server, wanted, count=1):
        super().__init__(daemon=True)
        self._server, self._wanted, self._count = server, wanted, count
        self.answer = None

    def run(self):
        for line in self._server.process.stdout:
            answer = json.loads(line)
            self._count -= answer["id"] == self._wanted
            if not self._count:
                self.answer = answer
                break

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.join(60)


@pytest.mark.parametrize("size", [128 * MIB, pytest.param(1024 * MIB, marks=pytest.mark.long)], ids=["128MB", "1GB"])
@pytest.mark.parametrize("name", FLOODS)
def test_flood_leaves_memory_where_it_was(handshake, name, size):
    client, (flood, part) = handshake, FLOODS[name]
    with client.grows_by_at_most(32 * MIB), Hearing(client, "over") as hearing:
        for piece in flood(int(size * part)):
            client.say(piece)
        client.say(b"\n" + client.request("over", "tools/list"))
    assert hearing.answer["result"]["tools"]
    assert client.is_served()


def test_flood_before_the_first_request_leaves_memory_where_it_was(small_root):
    with executing(), Client(small_root, "none yet") as client:
        client.say(b"hello\n")
        assert client.receive()["error"]["code"] == UNPARSED
        with client.grows_by_at_most(32 * MIB), Hearing(client, 1) as hearing:
            for flood, part in FLOODS.values():
                for piece in flood(int(16 * MIB * max(part / 2, 1 / 16))):
                    client.say(piece)
                client.say(b"\n")
            client.say(client.request(1, "initialize", **HELLO))
        assert hearing.answer["result"]["serverInfo"]["name"] == "fledgling"


# ---- a client that does not read, and the end -----------------------------------------------------------------------

ARGUMENTS = {
    "good": {},
    "a page": {"path": "x" * 1000},
    "too long": {"path": "x" * 100_000},
    "of another type": {"path": 5},
}


def written(descriptor, data):
    """Write until nothing more is taken for half a second; return how much was."""
    os.set_blocking(descriptor, False)
    done, last = 0, time.monotonic()
    while done < len(data) and time.monotonic() - last < 0.5:
        try:
            done += os.write(descriptor, data[done : done + 65536])
            last = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    os.set_blocking(descriptor, True)
    return done


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("modern", "good"),
        ("modern", "too long"),
        ("handshake", "of another type"),
        pytest.param("handshake", "good", marks=pytest.mark.long),
        pytest.param("handshake", "a page", marks=pytest.mark.long),
        pytest.param("modern", "a page", marks=pytest.mark.long),
        pytest.param("handshake", "too long", marks=pytest.mark.long),
        pytest.param("modern", "of another type", marks=pytest.mark.long),
    ],
    indirect=["client"],
)
def test_client_that_does_not_read_is_waited_for(client, name):
    """Until it does, the broker takes no more than it can hold; then each call is answered."""
    call = client.request(5, name="explore", arguments=ARGUMENTS[name])
    with client.grows_by_at_most(32 * MIB):
        size = 64 * MIB // len(call) * len(call)
        done = written(client.process.stdin.fileno(), call * (size // len(call)))
        assert done < size
        whole = -(-done // len(call))
        with Hearing(client, 5, whole) as hearing:
            client.say(call[len(call) - (whole * len(call) - done) :])
    assert hearing.answer
    assert client.is_served()


@pytest.mark.anyio
@pytest.mark.parametrize(("size", "most"), [(1, MAX_UNANSWERED), (MAX_MESSAGE // 4, 4), (2 * MAX_MESSAGE, 1)])
async def test_so_many_requests_are_read_before_one_is_answered(size, most):
    unanswered = Unanswered()
    for number in range(most):
        await asyncio.wait_for(unanswered.admit(number, size), PATIENCE)
    next_one = asyncio.create_task(unanswered.admit(most, size))
    await asyncio.sleep(0)
    assert not next_one.done()
    unanswered.remove(0)
    await asyncio.wait_for(next_one, PATIENCE)


@pytest.mark.parametrize(
    "rest",  # of a long line, that it is refused, is said above
    [pytest.param(b'{"jsonrpc"', id="half a line"), pytest.param(b"x" * 2 * MIB, id="long", marks=pytest.mark.long)],
)
def test_end_of_input_ends_the_server(small_root, rest):
    with Client(small_root, "modern") as client:
        client.say(client.request(2, "tools/list") + rest)
        assert client.receive()["id"] == 2
        client.process.stdin.close()
        assert client.process.wait(PATIENCE) == 0


def test_client_that_goes_without_reading_ends_the_server(small_root):
    with Client(small_root, "modern") as client:
        written(client.process.stdin.fileno(), client.request(5, "tools/list") * 1000)
        client.process.stdin.close()
        client.process.stdout.close()
        assert client.process.wait(PATIENCE) == 0
