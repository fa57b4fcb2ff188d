"""HTTP from outside: what is refused and how, several agents behind one socket, and what is left when it ends."""

import asyncio
import http.client
import json
import logging
import math
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
import tomllib
from bisect import bisect
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress

import psutil
import pytest
from conftest import ERAS, TESTS, serve_command
from forking import executing
from httpx2 import AsyncClient
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from running import ENDLESS, PATIENCE, QUERY_WORKER, at_work, back_processes, is_alive, until

from fledgling.broker.audit_log.verify import verify
from fledgling.broker.logs import OthersSeldom
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.framing import MAX_BETWEEN, MAX_HEAD
from fledgling.broker.protocol.http.guests import MAX_HELD, MAX_REQUESTS, MAX_SESSIONS
from fledgling.broker.protocol.http.listening import BACKLOG
from fledgling.broker.protocol.http.refusing import PATHS
from fledgling.broker.protocol.stdio import MAX_MESSAGE, MAX_PARTS
from fledgling.security import profile as profiles

# Times that a test can wait for, given to the process that is tested before anything of it runs.
HURRIED = {"connections.HEAD_SECONDS": 0.5, "guests.BODY_SECONDS": 0.5, "guests.IDLE_SECONDS": 0.5}
HURRIED |= {"connections.KEEP_ALIVE_SECONDS": 1}
PROGRAM = """
from fledgling.broker.cli import main
from fledgling.broker.protocol.http import connections, guests
{}
main.main()
"""
PROFILES = {"reviewer": "fledgling-core", "analyst": "fledgling-analyst"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Serving:
    """A server over HTTP, and a token for each of its agents; without agents, the one that it makes up."""

    def __init__(self, root, home, options=(), hurried=False, transport="http", agents_of=PROFILES, host="127.0.0.1"):
        self.host = host
        with socket.socket(family(host)) as probe:
            probe.bind((host, 0))
            self.port = probe.getsockname()[1]
        self.file = home / "agents.yaml"
        self.tokens = {  # of an agent its profile, or that and what else its line says
            name: agents.add(self.file, name, *([given] if isinstance(given, str) else given))
            for name, given in agents_of.items()
        }
        self.log = home / "audit.jsonl"
        self.root = root
        chosen = ["--transport", transport, "--host", host, "--port", str(self.port)]
        chosen += ["--agents", str(self.file)] if agents_of else []
        chosen += [option.replace("{port}", str(self.port)) for option in options]
        command = serve_command(root, *chosen, "--audit-log", str(self.log))
        if hurried:
            settings = "".join(f"{name} = {value};" for name, value in HURRIED.items())
            command[3:5] = ["-c", PROGRAM.format(settings)]
        self.errors = home / "stderr"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stderr=errors)
        self.seen = psutil.Process(self.process.pid)
        self.authority = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.url = f"http://{self.authority}{next(iter(PATHS[transport]))}"

    def wait(self):
        """Until it says that it serves."""
        deadline = time.monotonic() + PATIENCE
        while "serving http" not in self.said():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.02)

    def said(self):
        return self.errors.read_text()

    def close(self):
        self.process.kill()
        self.process.wait()

    def connect(self, timeout=PATIENCE):
        return socket.create_connection((self.host, self.port), timeout)

    def answer(self, data):
        """Status, headers and body of what comes back for these bytes."""
        with self.connect() as connection:
            with suppress(OSError):  # it may refuse before it has read all
                connection.sendall(data)
            return answered(connection, data.partition(b" ")[0].decode("latin-1"))

    def lists(self, agent="reviewer"):
        """The names of the tools that an agent is told of, in one request of the newest era."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}})
        fields = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        status, _, text = self.answer(request(self, body=body.encode(), fields=fields, agent=agent))
        assert status == 200, text
        return [tool["name"] for tool in json.loads(text)["result"]["tools"]]

    def begins(self, agent="reviewer"):
        """A session of an older era: status and id."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
        status, fields, _ = self.answer(request(self, body=body.encode(), agent=agent))
        return status, fields.get("mcp-session-id")

    def ends(self, session, agent="reviewer"):
        return self.answer(request(self, "DELETE", fields={"Mcp-Session-Id": session}, agent=agent))[0]


def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def answered(connection, method="POST"):
    response = http.client.HTTPResponse(connection, method=method)
    try:
        response.begin()
        if response.getheader("content-type", "").startswith("text/event-stream"):
            return response.status, dict(response.getheaders()), response.read1()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        response.close()


@contextmanager
def serving(*arguments, **options):
    server = Serving(*arguments, **options)
    try:
        server.wait()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def server(project, tmp_path_factory):
    with serving(project, tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="module")
def hurried(small_root, tmp_path_factory):
    one = {"reviewer": "fledgling-core"}
    with serving(small_root, tmp_path_factory.mktemp("hurried"), hurried=True, agents_of=one) as found:
        yield found


# ---- requests that are refused --------------------------------------------------------------------------------------

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}).encode()
FIELDS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
}


def request(server, method="POST", target="/mcp", version="1.1", fields=(), body=b"", agent="reviewer", more=b""):
    """A good request but for what is given; a header that is None is left out."""
    values = {"Host": server.authority, "Accept": FIELDS["Accept"]}
    if agent:
        values["Authorization"] = f"Bearer {server.tokens[agent]}"
    if method == "POST":
        values |= {"Content-Type": FIELDS["Content-Type"], "Content-Length": len(body)}
    values |= dict(fields)
    lines = [f"{name}: {value}" for name, value in values.items() if value is not None]
    return (
        "\r\n".join([f"{method} {target} HTTP/{version}", *lines, "", ""]).encode("latin-1")[:-2]
        + more
        + b"\r\n"
        + body
    )


def modern(server, **options):
    """A request of the newest era that would be answered, but for what is given."""
    fields = {**FIELDS, **dict(options.pop("fields", ()))}
    return request(server, body=options.pop("body", PING), fields=fields, **options)


def call(name, **arguments):
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, **arguments}}
    ).encode()


CHUNKED = {"Content-Length": None, "Transfer-Encoding": "chunked"}
PORT = "{port}"

# What is changed of a good request, and the status that comes back. {port} and {token} stand for the server's own.
BAD = {
    # -- Host: DNS rebinding (CWE-350)
    "host: none": ({"fields": {"Host": None}}, 400),
    "host: empty": ({"fields": {"Host": ""}}, 421),
    "host: HTTP/1.0 needs one too": ({"fields": {"Host": None}, "version": "1.0"}, 400),
    "host: twice": ({"more": b"Host: evil.example\r\n"}, 400),
    "host: twice the same": ({"more": b"Host: 127.0.0.1:{port}\r\n"}, 400),
    "host: another site": ({"fields": {"Host": "evil.example"}}, 421),
    "host: another site, our port": ({"fields": {"Host": "evil.example:{port}"}}, 421),
    "host: ours is a prefix": ({"fields": {"Host": "localhost:{port}.evil.example"}}, 421),
    "host: ours is a prefix of a port": ({"fields": {"Host": "localhost:{port}1"}}, 421),
    "host: ours is a suffix": ({"fields": {"Host": "evil-localhost:{port}"}}, 421),
    "host: without a port": ({"fields": {"Host": "localhost"}}, 421),
    "host: another port": ({"fields": {"Host": "localhost:1"}}, 421),
    "host: any port": ({"fields": {"Host": "localhost:*"}}, 421),
    "host: a user before it": ({"fields": {"Host": "localhost:{port}@evil.example"}}, 421),
    "host: a trailing dot": ({"fields": {"Host": "localhost.:{port}"}}, 421),
    "host: another name of loopback": ({"fields": {"Host": "127.1:{port}"}}, 421),
    "host: IPv6, not listened on": ({"fields": {"Host": "[::1]:{port}"}}, 421),
    "host: 0.0.0.0": ({"fields": {"Host": "0.0.0.0:{port}"}}, 421),
    "host: two in one": ({"fields": {"Host": "localhost:{port}, evil.example"}}, 421),
    "host: forwarded ones do not count": (
        {"fields": {"Host": "evil.example", "X-Forwarded-Host": "localhost:{port}", "Forwarded": "host=localhost"}},
        421,
    ),
    # -- Origin: a page of another site (CWE-346)
    "origin: another site": ({"fields": {"Origin": "https://evil.example"}}, 403),
    "origin: null": ({"fields": {"Origin": "null"}}, 403),
    "origin: empty": ({"fields": {"Origin": ""}}, 403),
    "origin: ours is a prefix": ({"fields": {"Origin": "http://localhost:{port}.evil.example"}}, 403),
    "origin: another port of this machine": ({"fields": {"Origin": "http://localhost:8000"}}, 403),
    "origin: no port": ({"fields": {"Origin": "http://localhost"}}, 403),
    "origin: another scheme": ({"fields": {"Origin": "https://localhost:{port}"}}, 403),
    "origin: a file": ({"fields": {"Origin": "file://"}}, 403),
    "origin: an extension": ({"fields": {"Origin": "chrome-extension://aaaaaaaaaaaaaaaa"}}, 403),
    "origin: a path behind it": ({"fields": {"Origin": "http://localhost:{port}/"}}, 403),
    "origin: two in one": ({"fields": {"Origin": "http://localhost:{port} http://evil.example"}}, 403),
    "origin: twice": ({"fields": {"Origin": "http://localhost:{port}"}, "more": b"Origin: null\r\n"}, 400),
    "origin: another site without a token": ({"fields": {"Origin": "https://evil.example"}, "agent": None}, 403),
    # -- tokens
    "token: none": ({"agent": None}, 401),
    "token: empty": ({"fields": {"Authorization": "Bearer "}}, 401),
    "token: only the scheme": ({"fields": {"Authorization": "Bearer"}}, 401),
    "token: another scheme": ({"fields": {"Authorization": "Basic {token}"}}, 401),
    "token: no scheme": ({"fields": {"Authorization": "{token}"}}, 401),
    "token: wrong": ({"fields": {"Authorization": "Bearer " + "A" * 43}}, 401),
    "token: cut": ({"fields": {"Authorization": "Bearer {token:.42}"}}, 401),
    "token: too long": ({"fields": {"Authorization": "Bearer {token}A"}}, 401),
    "token: very long": ({"fields": {"Authorization": "Bearer " + "A" * 8000}}, 401),
    "token: its hash": ({"fields": {"Authorization": "Bearer {digest}"}}, 401),
    "token: not ASCII": ({"fields": {"Authorization": "Bearer \xe9\xff"}}, 401),
    "token: a good one behind another": ({"fields": {"Authorization": "Bearer A, Bearer {token}"}}, 401),
    "token: two headers": ({"more": b"Authorization: Bearer A\r\n"}, 400),
    "token: in the query": ({"agent": None, "target": "/mcp?token={token}&access_token={token}"}, 401),
    "token: in a cookie": ({"agent": None, "fields": {"Cookie": "token={token}"}}, 401),
    "token: in another header": ({"agent": None, "fields": {"X-Api-Key": "{token}"}}, 401),
    # -- paths and methods
    "path: root": ({"target": "/"}, 404),
    "path: below": ({"target": "/mcp/"}, 404),
    "path: escaped": ({"target": "/%6dcp"}, 404),
    "path: dots": ({"target": "/x/../mcp"}, 404),
    "path: two slashes": ({"target": "//mcp"}, 404),
    "path: absolute form": ({"target": "http://evil.example/mcp"}, 404),
    "path: the other transport": ({"target": "/sse", "method": "GET"}, 404),
    "path: an authority's metadata": ({"target": "/.well-known/oauth-authorization-server", "method": "GET"}, 404),
    "method: OPTIONS, as before a request of another site": (
        {"method": "OPTIONS", "fields": {"Access-Control-Request-Method": "POST", "Content-Length": None}},
        405,
    ),
    "method: PUT": ({"method": "PUT"}, 405),
    "method: HEAD": ({"method": "HEAD", "body": b""}, 405),
    "method: TRACE": ({"method": "TRACE", "body": b""}, 405),
    "method: CONNECT": ({"method": "CONNECT", "target": "evil.example:443", "body": b""}, 404),
    "method: lower case": ({"method": "post"}, 405),
    "method: one that nobody knows": ({"method": "BREW"}, 405),
    "method: GET, where there are no streams": ({"method": "GET", "body": b""}, 405),
    # -- bodies that a form or a page can send without asking (CWE-352)
    "type: text/plain": ({"fields": {"Content-Type": "text/plain"}}, 415),
    "type: a form": ({"fields": {"Content-Type": "application/x-www-form-urlencoded"}}, 415),
    "type: a form with files": ({"fields": {"Content-Type": "multipart/form-data; boundary=application/json"}}, 415),
    "type: none": ({"fields": {"Content-Type": None}}, 415),
    "type: JSON as a parameter": ({"fields": {"Content-Type": "text/plain; application/json"}}, 415),
    "type: JSON is a prefix": ({"fields": {"Content-Type": "application/jsonp"}}, 415),
    "type: two in one": ({"fields": {"Content-Type": "application/json, text/plain"}}, 415),
    "type: another charset": ({"fields": {"Content-Type": "application/json; charset=utf-7"}}, 415),
    "type: twice": ({"more": b"Content-Type: text/plain\r\n"}, 400),
    "type: compressed": ({"fields": {"Content-Encoding": "gzip"}}, 415),
    # -- bodies
    "body: none": ({"body": b""}, 400),
    "body: no JSON": ({"body": b"{"}, 400),
    "body: no UTF-8": ({"body": b'"\xff\xfe"'}, 400),
    "body: a batch": ({"body": b"[" + PING + b"]"}, 400),
    "body: an empty batch": ({"body": b"[]"}, 400),
    "body: null": ({"body": b"null"}, 400),
    "body: a number": ({"body": b"1e999999"}, 400),
    "body: no JSON-RPC": ({"body": b'{"method": "tools/list"}'}, 400),
    "body: another version of it": ({"body": b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}'}, 400),
    "body: an id that is a list": ({"body": b'{"jsonrpc": "2.0", "id": [], "method": "tools/list"}'}, 400),
    "body: deep": ({"body": b"[" * 30000}, 400),
    "body: deep in a message": ({"body": b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b'{"a":' * 9000}, 400),
    "body: many values": ({"body": b"[" + b"0," * (MAX_PARTS + 1) + b"0]"}, 400),
    "body: a number of a hundred thousand digits": ({"body": b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b"}"}, 400),
    "body: another message behind it": ({"body": PING + b"\n" + PING}, 400),
    "body: a response to nothing": ({"body": b'{"jsonrpc": "2.0", "id": 1, "result": {}}'}, 400),
    "body: 5 MB": ({"body": b" " * 5_000_000}, 413),
    "body: a byte too long": ({"body": b" " * (MAX_MESSAGE + 1)}, 413),
    "body: said to be endless": ({"fields": {"Content-Length": "9" * 19}}, 413),
    "body: 2 MB in chunks": (
        {
            "fields": CHUNKED,
            "body": b"10000\r\n" + b" " * 65536 + b"\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 31,
        },
        413,
    ),
    # -- framing: two that understand a request differently (CWE-444)
    "length: of ten thousand digits": ({"fields": {"Content-Length": "9" * 10_000}}, 400),
    "length: negative": ({"fields": {"Content-Length": "-1"}}, 400),
    "length: no number": ({"fields": {"Content-Length": "0x10"}}, 400),
    "length: signed": ({"fields": {"Content-Length": "+5"}}, 400),
    "length: two": ({"more": b"Content-Length: 1\r\n"}, 400),
    "length: and chunks": ({"fields": {"Transfer-Encoding": "chunked"}, "body": b"0\r\n\r\n"}, 400),
    "chunks: not the last coding": ({"fields": {**CHUNKED, "Transfer-Encoding": "chunked, gzip"}}, 400),
    "chunks: unknown coding": ({"fields": {**CHUNKED, "Transfer-Encoding": "xchunked"}}, 400),
    "chunks: no length": ({"fields": CHUNKED, "body": b"zz\r\nabc\r\n"}, 400),
    "chunks: a length that is too long": ({"fields": CHUNKED, "body": b"f" * 40 + b"\r\n"}, 400),
    "chunks: endless extension": ({"fields": CHUNKED, "body": b"1;" + b"a" * 50_000}, 400),
    "chunks: long extensions": ({"fields": CHUNKED, "body": (b"1;" + b"a" * 5000 + b"\r\n \r\n") * 8}, 413),
    "chunks: of one byte, without number": ({"fields": CHUNKED, "body": b"1\r\n \r\n" * (MAX_BETWEEN // 4)}, 413),
    # -- heads
    "head: no HTTP": ({"raw": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"}, 400),
    "head: HTTP/2": ({"raw": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, 400),
    "head: HTTP/0.9": ({"raw": b"GET /mcp\r\n\r\n"}, 400),
    "head: a space in a name": ({"more": b"Authorization : Bearer A\r\n"}, 400),
    "head: a zero byte": ({"more": b"X: a\x00b\r\n"}, 400),
    "head: a long line": ({"target": "/mcp?" + "a" * 70_000}, 431),
    "head: a long header": ({"more": b"X: " + b"a" * 70_000 + b"\r\n"}, 431),
    "head: many headers": ({"more": b"".join(b"X-%d: %d\r\n" % (n, n) for n in range(2000))}, 431),
    "head: endless": ({"raw": b"POST /mcp HTTP/1.1\r\n" + b"X: a\r\n" * 200_000}, 431),
    # -- the protocol's own headers
    "accept: neither": ({"fields": {"Accept": "text/html"}}, 406),
    "version: unknown": ({"fields": {"MCP-Protocol-Version": "1999-01-01"}}, 400),
    "version: twice": ({"more": b"MCP-Protocol-Version: 2025-06-18\r\n"}, 400),
    "method header: another": ({"fields": {"Mcp-Method": "tools/call"}}, 400),
    "method header: none": ({"fields": {"Mcp-Method": None}}, 400),
    "session: none, in an era that has them": ({"fields": {"MCP-Protocol-Version": "2025-06-18"}}, 400),
    "session: one that is not": (
        {"fields": {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "0" * 32}},
        404,
    ),
    "session: a path": (
        {"fields": {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "../../etc/passwd"}},
        404,
    ),
    "session: two": (
        {"fields": {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "a"}, "more": b"Mcp-Session-Id: b\r\n"},
        400,
    ),
    "session: a stream of none": (
        {"method": "GET", "body": b"", "fields": {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "0" * 32}},
        404,
    ),
    "session: an end of none": (
        {"method": "DELETE", "body": b"", "fields": {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "0" * 32}},
        404,
    ),
}


def filled(server, value):
    """The row with the server's own port and token put in."""
    if isinstance(value, dict):
        return {name: filled(server, inner) for name, inner in value.items()}
    own = {"port": server.port, "token": server.tokens["reviewer"], "digest": agents.digest(server.tokens["reviewer"])}
    if isinstance(value, str) and "{" in value:
        return value.format_map(own)
    if isinstance(value, bytes) and len(value) < 100:
        return value.replace(b"{port}", str(server.port).encode()).replace(b"{token}", own["token"].encode())
    return value


@pytest.mark.parametrize("name", BAD)
def test_refused(server, name):
    changed, expected = BAD[name]
    changed = filled(server, {key: value for key, value in changed.items() if key != "body"}) | {
        key: value for key, value in changed.items() if key == "body"
    }
    status, fields, body = server.answer(changed["raw"] if "raw" in changed else modern(server, **changed))
    assert status == expected, body
    assert not [field for field in fields if field.lower().startswith("access-control")]
    assert ("www-authenticate" in fields) == (status == 401)
    assert ("allow" in {field.lower() for field in fields}) == (status == 405)
    for secret in (str(server.root), *server.tokens.values(), "Traceback"):
        assert secret.encode() not in body
    assert "read" in server.lists()


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"fields": {"Host": "LOCALHOST:{port}"}},
        {"fields": {"Origin": "http://localhost:{port}"}},
        {"fields": {"Origin": "http://127.0.0.1:{port}"}},
        {"fields": {"Content-Type": 'application/json; charset="UTF-8"'}},
        {"fields": {"Authorization": "bearer {token}"}},
        {"target": "/mcp?x=1"},
        {"version": "1.0"},
        {"fields": CHUNKED, "body": b"%x\r\n%s\r\n0\r\n\r\n" % (len(PING), PING)},
        {"body": PING + b" " * (MAX_MESSAGE - len(PING))},
        {"more": b"X: " + b"a" * (MAX_HEAD - 1000) + b"\r\n"},
    ],
)
def test_served(server, changed):
    body = {key: value for key, value in changed.items() if key == "body"}
    status, _, text = server.answer(modern(server, **filled(server, {**changed, "body": b""}) | {"body": PING} | body))
    assert status == 200, text


# ---- requests that two programs could read differently --------------------------------------------------------------

FRAMING = tomllib.loads((TESTS / "http_framing.toml").read_text())["row"]
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")  # in no body of an answer


def framed(server, row):
    """The bytes of a row, and of a good request behind it."""
    own = {"length": len(PING), "chunk": f"{len(PING):x}", "message": PING.decode(), "host": server.authority}
    given = {**FIELDS, "Host": server.authority, "Authorization": f"Bearer {server.tokens['reviewer']}"}
    if not row.get("token", True):
        del given["Authorization"]
    lines = [row.get("first", "POST /mcp HTTP/1.1"), *(f"{name}: {value}" for name, value in given.items())]
    lines += [f"{n}: {n}" for n in range(row.get("many", 0))] + row.get("head", [])
    head = row.get("end", "\r\n").join([*lines, "", ""])
    old, new = row.get("replaced", ("\0\0", ""))
    whole = replaced(head, own).replace(replaced(old, own), replaced(new, own))
    return (whole + replaced(row.get("body", "{message}"), own)).encode("latin-1") + modern(
        server, fields={"Connection": "close"}
    )


def replaced(text, own):
    return re.sub(r"\{(\w+)\}", lambda found: str(own[found[1]]), text)


def statuses(server, *parts):
    """The statuses of all answers to these bytes, until the server closes the connection."""
    received = b""
    with server.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # it may close before all is sent
            for part in parts:
                connection.sendall(part)
        with suppress(ConnectionError):
            while data := connection.recv(2**16):
                received += data
    return [int(status) for status in STATUS.findall(received)]


@pytest.mark.parametrize("row", FRAMING, ids=[row["name"] for row in FRAMING])
def test_no_request_is_read_in_two_ways(server, row):
    assert statuses(server, framed(server, row)) == row["answers"]


@pytest.mark.parametrize(
    "row",  # which are all read in one way, whole or in pieces: every fifth shows that of all kinds
    [pytest.param(row, id=row["name"], marks=[pytest.mark.long] if at % 5 else []) for at, row in enumerate(FRAMING)],
)
def test_a_request_in_pieces_is_read_as_a_whole_one_is(server, row):
    data = framed(server, row)
    assert statuses(server, *(data[at : at + 7] for at in range(0, len(data), 7))) == row["answers"]


def test_a_body_that_does_not_end_is_no_message(server):
    """Neither one that is shorter than its length, though the message is whole, nor chunks that break off."""
    explores = asking("explore", pattern="cut")
    size = len(explores)
    fields = {"Mcp-Method": "tools/call", "Mcp-Name": "explore"}
    cut = [
        modern(server, fields={**fields, "Content-Length": size + 1}, body=explores),
        modern(server, fields={**fields, **CHUNKED}, body=b"%x\r\n%s\r\n" % (size, explores)),
        modern(server, fields={**fields, **CHUNKED}, body=b"%x\r\n%s\r\n;" % (size, explores)),
    ]
    before = len(audited(server))
    for data in cut:
        with server.connect() as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(2**16):
                pass
    asyncio.run(until(lambda: len(refused_since(server, before)) >= len(cut)))
    assert not [line for line in audited(server)[before:] if line["event"] == "call"]


def refused_since(server, before):
    return [line for line in audited(server)[before:] if line["event"] == "message"]


def test_a_stream_cannot_be_taken_up_where_it_ended(server):
    """No events are kept, and a stream that began anew would pass for what is left of the last one."""
    status, session = server.begins()
    assert status == 200
    fields = {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": session}
    for last in ("1", "", "\xff", "0_0"):
        status, _, body = server.answer(request(server, "GET", fields={**fields, "Last-Event-ID": last}))
        assert (status, b"without Last-Event-ID" in body) == (400, True)
    with server.connect() as connection:  # its first event, a ping, takes 15 seconds
        connection.sendall(request(server, "GET", fields=fields))
        assert connection.recv(13) == b"HTTP/1.1 200 "
    assert server.ends(session) == 200


# ---- one token, IPv6, hosts and origins of the operator's ------------------------------------------------------------

NAMED = ["--hosts", "Proxy.example", "--hosts", "proxy.example:8443", "--origins", "https://App.example"]

# What is sent as Host and Origin, and the status; {own} is the authority of the server.
ADDRESSED = {
    "its own": ("{own}", "http://{own}", 200),
    "the other name of loopback": ("localhost:{port}", "http://localhost:{port}", 200),
    "a given host": ("proxy.example", None, 200),
    "in capitals": ("PROXY.EXAMPLE:8443", "HTTPS://APP.EXAMPLE", 200),
    "a given origin, its own host": ("{own}", "https://app.example", 200),
    "host: another loopback": ("{another}:{port}", None, 421),
    "host: its own without a port": ("{bare}", None, 421),
    "host: written out": ("[0:0:0:0:0:0:0:1]:{port}", None, 421),
    "host: with a zone": ("[::1%lo]:{port}", None, 421),
    "host: without brackets": ("::1:{port}", None, 421),
    "host: the default port, said": ("proxy.example:443", None, 421),
    "host: the port that listens": ("proxy.example:{port}", None, 421),
    "host: below a given one": ("a.proxy.example", None, 421),
    "host: above a given one": ("example", None, 421),
    "host: a given one goes on": ("proxy.example.evil.example", None, 421),
    "host: a trailing dot": ("proxy.example.", None, 421),
    "host: with a scheme": ("https://proxy.example", None, 421),
    "host: a given origin's": ("app.example", None, 421),
    "origin: a given host's": ("proxy.example", "https://proxy.example", 403),
    "origin: another scheme": ("proxy.example", "http://app.example", 403),
    "origin: the default port, said": ("proxy.example", "https://app.example:443", 403),
    "origin: below a given one": ("proxy.example", "https://a.app.example", 403),
    "origin: a given one goes on": ("proxy.example", "https://app.example.evil.example", 403),
    "origin: a user before it": ("proxy.example", "https://app.example@evil.example", 403),
    "origin: no scheme": ("proxy.example", "app.example", 403),
}


@pytest.fixture(scope="module")
def lone(small_root, tmp_path_factory):
    """A server without agents, on IPv6 where this machine has it, executed: its environment is looked at."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        host = "::1"
    except OSError:
        host = "127.0.0.1"
    home = tmp_path_factory.mktemp("lone")
    options = [*NAMED, "--secrets", str(home / "secrets")]
    with ExitStack() as served:
        with executing():
            found = served.enter_context(serving(small_root, home, options, agents_of={}, host=host))
        found.tokens = {"default": (home / "secrets").read_text().split()[1]}
        yield found


@pytest.mark.parametrize("name", ADDRESSED)
def test_hosts_and_origins_are_exact(lone, name):
    another, bare = ("[::1]", "127.0.0.1") if lone.host == "127.0.0.1" else ("127.0.0.1", "[::1]")
    own = {"own": lone.authority, "port": lone.port, "another": another, "bare": bare}
    *given, expected = ADDRESSED[name]
    fields = dict(zip(("Host", "Origin"), [value and value.format_map(own) for value in given], strict=True))
    assert lone.answer(modern(lone, fields=fields, agent="default"))[0] == expected


def test_the_token_of_a_run_is_in_its_file_and_nowhere_else(lone):
    token = lone.tokens["default"]
    assert (len(token), token in lone.said()) == (43, False)
    assert lone.lists("default") == list(profiles.load("fledgling-core").tools)
    lone.answer(modern(lone, agent="default", fields={"Content-Type": "text/plain"}))
    for other in (token[:-1], token + "A", token.swapcase(), agents.digest(token), "A" * 43):
        status, _, body = lone.answer(modern(lone, agent=None, fields={"Authorization": f"Bearer {other}"}))
        assert status == 401
        assert token.encode() not in body
    assert lone.seen.environ().get("PATH"), "the kernel shows what it was started with"
    for process in (lone.seen, *back_processes(lone.seen)):
        assert token not in " ".join(process.cmdline())
        assert token not in process.environ().values()
    assert token not in lone.said()
    assert token not in lone.log.read_text()


# ---- what takes its time --------------------------------------------------------------------------------------------


def dribbled(server, *parts, every=0.1, total=15.0):
    """What comes back when a part is sent now and then: status, None for a connection that is just closed, seconds."""
    begun = time.monotonic()
    first, *rest = parts
    with server.connect() as connection:
        connection.sendall(first)
        connection.settimeout(every)
        while time.monotonic() - begun < total:
            try:
                if not connection.recv(1, socket.MSG_PEEK):
                    return None, time.monotonic() - begun
                break
            except TimeoutError:
                if rest:
                    connection.sendall(rest[0])
            except ConnectionError:
                return None, time.monotonic() - begun
        connection.settimeout(PATIENCE)
        return answered(connection)[0], time.monotonic() - begun


SLOW = {
    "nothing at all": (lambda server: [b""], 408),
    "half a line": (lambda server: [b"POST /mc"], 408),
    "a head that does not end": (lambda server: [b"POST /mcp HTTP/1.1\r\n", b"X: a\r\n"], 408),
    "a body that does not come": (lambda server: [request(server, fields={"Content-Length": 100})], 408),
    "a body a byte at a time": (lambda server: [request(server, fields={"Content-Length": 1000}), b" "], 408),
    "chunks without an end": (lambda server: [request(server, fields=CHUNKED), b"1\r\na\r\n"], 408),
}


def test_slow_requests_end(hurried):
    with ThreadPoolExecutor(len(SLOW)) as pool:
        found = list(pool.map(lambda row: dribbled(hurried, *row[0](hurried)), SLOW.values()))
    assert [status for status, _ in found] == [status for _, status in SLOW.values()]
    assert all(0.4 < seconds < 15 for _, seconds in found), found
    assert "read" in hurried.lists()


def test_a_connection_that_has_been_answered_ends(hurried):
    """Whether its next request never comes, comes slowly, or what is left of a refused body goes on for ever."""
    rest = {"nothing": b"", "a slow head": b"P", "a refused body": b" " * 100}
    for name, part in rest.items():
        with hurried.connect() as connection:
            fields = {"Content-Length": MAX_MESSAGE + 1} if name == "a refused body" else {}
            connection.sendall(request(hurried, "POST" if fields else "PUT", fields=fields))
            assert answered(connection)[0] in (405, 413)
            begun = time.monotonic()
            connection.settimeout(0.1)
            while time.monotonic() - begun < 15:
                try:
                    if part:
                        connection.sendall(part)
                    if not connection.recv(1000):
                        break
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            assert time.monotonic() - begun < 15, name


def test_an_idle_session_ends(hurried):
    status, session = hurried.begins()
    assert status == 200
    time.sleep(4 * HURRIED["guests.IDLE_SECONDS"])
    assert hurried.ends(session) == 404


# ---- how many -------------------------------------------------------------------------------------------------------


def test_sessions_of_one_agent_are_its_own_and_counted(server):
    opened = [server.begins() for _ in range(MAX_SESSIONS)]
    try:
        assert {status for status, _ in opened} == {200}
        before = server.said()
        assert {server.begins() for _ in range(50)} == {(503, None)}
        assert 1 <= server.said().removeprefix(before).count("Refusing to open a new session") < 25
        status, other = server.begins("analyst")
        assert status == 200, "one agent takes the sessions of another"
        assert server.ends(other) == 404, "one agent can end the session of another"
        assert server.ends(other, "analyst") == 200
    finally:
        assert {server.ends(session) for _, session in opened} == {200}
    assert server.ends(opened[0][1]) == 404


def test_connections_make_way(server):
    """A flood of connections that say nothing keeps nobody out, and no more than the limit are held."""
    held = [server.connect() for _ in range(400)]
    try:
        assert "read" in server.lists()
        files = len(server.seen.net_connections("tcp"))
        assert files <= 2 * MAX_REQUESTS + 64 + 2
    finally:
        for connection in held:
            connection.close()


def test_requests_of_one_agent_are_counted(server):
    """Past the bound an agent is told so; the other one does not notice."""
    open_requests = []
    try:
        for _ in range(MAX_REQUESTS):
            connection = server.connect()
            connection.sendall(request(server, fields={"Content-Length": 10}))
            open_requests.append(connection)
        asyncio.run(until(lambda: server.answer(modern(server))[0] == 429))
        assert "query" in server.lists("analyst")
    finally:
        for connection in open_requests:
            connection.close()


def test_bodies_of_one_agent_are_counted(server):
    """Past MAX_HELD another body of its is refused, however few requests there are, until one is let go of."""
    asyncio.run(until(lambda: server.answer(modern(server))[0] == 200))  # those of another test are let go of
    size = MAX_MESSAGE - 1
    held = [server.connect() for _ in range(MAX_HELD // size)]
    try:
        for connection in held:  # all but the last byte
            connection.sendall(request(server, fields={"Content-Length": size + 1}, body=b" " * size))
        asyncio.run(until(lambda: b"bodies of more than" in server.answer(request(server, body=b" " * 2**17))[2]))
        assert "query" in server.lists("analyst")
    finally:
        for connection in held:
            connection.close()
    asyncio.run(until(lambda: b"bodies of more than" not in server.answer(request(server, body=b" " * 2**17))[2]))
    assert "read" in server.lists()


def test_refusals_do_not_fill_the_log(server):
    before = len(server.said())
    for _ in range(300):
        assert server.answer(request(server, "GET", agent=None))[0] == 401
    assert len(server.said()) - before < 3000


# ---- clients --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def client(server, agent="reviewer", era="modern", **options):
    fields = {"Authorization": f"Bearer {server.tokens[agent]}"}
    async with AsyncClient(headers=fields, timeout=PATIENCE) as connections:
        transport = streamable_http_client(server.url, http_client=connections)
        async with Client(transport, mode=ERAS[era], **options) as found:
            yield found


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_list_call_and_error(server, era):
    async with client(server, era=era) as mine:
        names = [tool.name for tool in (await mine.list_tools()).tools]
        assert "query" not in names
        found = await mine.call_tool("search", {"query": "timeout"})
        assert not found.is_error
        assert (await mine.call_tool("read", {"path": "nowhere.py"})).is_error
        with pytest.raises(MCPError, match="not a tool of the profile fledgling-core"):
            await mine.call_tool("query", {"sql": "SELECT 1"})


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_agent_hears_of_its_own_calls_alone(server, era):
    heard = {"analyst": [], "reviewer": []}

    def hearing(agent):
        async def hear(message):
            heard[agent].append(message.data["tool"])

        return hear

    level = {"log_level": "info"} if era == "modern" else {}
    async with (
        client(server, "analyst", era, logging_callback=hearing("analyst"), **level) as analyst,
        client(server, "reviewer", era, logging_callback=hearing("reviewer")) as reviewer,
    ):
        if era == "handshake":
            await analyst.set_logging_level("info")
        for one in (analyst, reviewer):
            await one.call_tool("search", {"query": "timeout"})
            await one.list_tools()
        assert heard == {"analyst": ["search"], "reviewer": []}


@pytest.mark.anyio
async def test_who_listens_does_not_hold_up_the_calls_of_the_same_agent(server):
    async with client(server) as reviewer, asyncio.timeout(PATIENCE):
        async with reviewer.listen(resource_subscriptions=["fledgling://status"]):
            assert not (await reviewer.call_tool("explore", {})).is_error
        assert not (await reviewer.call_tool("explore", {})).is_error


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_agents_have_their_own(server, era):
    async with client(server, era=era) as reviewer, client(server, "analyst", era) as analyst:
        seen = [{tool.name for tool in (await one.list_tools()).tools} for one in (reviewer, analyst)]
        assert seen[1] - seen[0] == {"query"}
        offered = [[found.name for found in (await one.list_resources()).resources] for one in (reviewer, analyst)]
        assert offered == [["overview", "status", "profile"], ["overview", "status", "profile", "schema"]]
        with pytest.raises(MCPError, match="is not a resource of the profile fledgling-core"):
            await reviewer.read_resource("fledgling://schema")
        for one, has_sql in ((reviewer, False), (analyst, True)):
            prompt = await one.get_prompt("orient")
            assert ("query: " in prompt.messages[0].content.text) == has_sql
        assert not (await reviewer.call_tool("explore", {})).is_error
        assert not (await analyst.call_tool("query", {"sql": "SELECT count(*) FROM files"})).is_error
        assert "fledgling-core" in reviewer.instructions
        assert "fledgling-analyst" in analyst.instructions
    assert len(back_processes(server.seen, QUERY_WORKER)) == len(PROFILES), "agents share a worker"


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_ends(server, era):
    """In the newest era by closing the connection, in the older ones by a notification; the worker is free at once."""
    async with client(server, "analyst", era) as mine:
        asked = asyncio.create_task(mine.call_tool("query", {"sql": ENDLESS}))
        await at_work(server.seen)
        asked.cancel()
        await asyncio.wait([asked])
        assert not (await mine.call_tool("query", {"sql": "SELECT 1"})).is_error
    await until(lambda: [line for line in audited(server) if line.get("verdict") == "cancelled"])


def audited(server):
    return [json.loads(line) for line in server.log.read_text().splitlines()]


@pytest.mark.anyio
async def test_progress_while_the_index_is_made_and_a_kill(tmp_path):
    """Calls hear how far it is; a server that is killed meanwhile leaves no process."""
    root = tmp_path / "root"
    root.mkdir()
    text = "".join(f"def f{n}(a, b):\n    return g{n}(a) + b\n\n" for n in range(300))
    for number in range(500):
        (root / f"m{number}.py").write_text(text)
    told, asked = {era: [] for era in ERAS}, []

    async def asks(server, era):
        async def heard(progress, total, message):
            told[era].append(progress)

        async with client(server, era=era) as mine:
            asked.append(era)
            await mine.call_tool("symbols", {"path": "m1.py"}, progress_callback=heard)

    with serving(root, tmp_path, agents_of={"reviewer": "fledgling-core"}) as slow:
        held = back_processes(slow.seen)
        for process in held:
            process.suspend()  # so that calls are asked before the index is made, however busy the machine is
        asking = [asyncio.create_task(asks(slow, era)) for era in ERAS]
        await until(lambda: len(asked) == len(ERAS))
        for process in held:
            process.resume()
        await until(lambda: all(told.values()))
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)
        below = back_processes(slow.seen)
        slow.process.kill()
        await until(lambda: not [process for process in below if is_alive(process)])
    assert below
    assert all(numbers == sorted(numbers) for numbers in told.values())


def test_the_log_names_the_agent(server):
    assert "read" in server.lists()
    server.answer(modern(server, fields={"Mcp-Method": "tools/call", "Mcp-Name": "explore"}, body=asking("explore")))
    server.answer(modern(server, fields={"Content-Type": "text/plain"}, agent="analyst"))
    lines = audited(server)
    assert lines[0]["event"] == "start"
    assert {line["agent"]: line["profile"] for line in lines if line["event"] == "agent"} == PROFILES
    assert all("agent" in line for line in lines if line["event"] == "call")
    assert {line["agent"] for line in lines if line.get("process") == "query worker"} <= set(PROFILES)
    assert [line["reason"] for line in lines if line["event"] == "message" and line.get("agent") == "analyst"]
    with open(server.log, "rb") as file:
        assert verify(file).broken is None


def asking(name, **arguments):
    params = {"name": name, "arguments": arguments, "_meta": ENVELOPE}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


@pytest.mark.anyio
async def test_sse_is_served_and_deprecated(small_root, tmp_path):
    with serving(small_root, tmp_path, transport="sse", agents_of={"reviewer": "fledgling-core"}) as old:
        assert old.said().count("deprecated") == 1
        fields = {"Authorization": f"Bearer {old.tokens['reviewer']}"}
        async with Client(sse_client(old.url, headers=fields), mode="legacy") as mine:
            assert "read" in [tool.name for tool in (await mine.list_tools()).tools]
            assert not (await mine.call_tool("explore", {})).is_error
            assert old.said().count("deprecated") == 1
        with ExitStack() as streams:
            for _ in range(MAX_SESSIONS):
                stream = streams.enter_context(old.connect())
                stream.sendall(request(old, "GET", target="/sse"))
                assert answered(stream)[0] == 200
            assert old.answer(request(old, "GET", target="/sse"))[0] == 429
        await until(lambda: old.answer(request(old, "GET", target="/sse"))[0] == 200)
        for _ in range(3):  # messages to a stream that ends while they come
            with ExitStack() as posting, old.connect() as stream:
                stream.sendall(request(old, "GET", target="/sse"))
                place = re.search(r"/messages/\S+", answered(stream)[2].decode())[0]
                for _ in range(30):
                    posting.enter_context(old.connect()).sendall(request(old, target=place, body=PING))
        assert old.answer(request(old, target="/mcp"))[0] == 404
        assert old.answer(request(old, target="/messages/?session_id=" + "0" * 32, body=PING))[0] == 404
        assert old.answer(request(old, "GET", target="/sse", agent=None))[0] == 401
        old.process.send_signal(signal.SIGINT)
        assert old.process.wait(PATIENCE) == 0
        assert "Traceback" not in old.said()


# ---- the end --------------------------------------------------------------------------------------------------------


def test_nothing_is_left(small_root, tmp_path):
    with serving(small_root, tmp_path) as ended:
        for agent in PROFILES:
            ended.answer(
                modern(
                    ended,
                    fields={"Mcp-Method": "tools/call", "Mcp-Name": "explore"},
                    body=asking("explore"),
                    agent=agent,
                )
            )
        ended.begins()
        below = back_processes(ended.seen)
        assert len(below) >= len(PROFILES)
        ended.process.send_signal(signal.SIGTERM)
        assert ended.process.wait(PATIENCE) == 0
        assert not [process for process in below if is_alive(process)]
        assert audited(ended)[-1]["event"] == "end"
        assert "Traceback" not in ended.said()
        with pytest.raises(ConnectionRefusedError):
            ended.connect()


# ---- one agent's storm ----------------------------------------------------------------------------------------------

# What comes in a storm, over how many connections; and whether the other agent makes a new connection for each request.
STORMS = {
    "calls": (lambda server: tool_call(server, "search", query="timeout"), 60, False),
    "more calls than it may have at once": (lambda server: tool_call(server, "search", query="timeout"), 120, False),
    "requests that are refused": (lambda server: modern(server, fields={"Content-Type": "text/plain"}), 60, False),
    "ends of sessions that are not": (lambda server: request(server, "DELETE", fields=NO_SESSION), 60, False),
    "requests that are nobody's": (lambda server: request(server, "GET", agent=None), 120, False),
    "calls, against new connections": (lambda server: tool_call(server, "search", query="timeout"), 150, True),
}
NO_SESSION = {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "0" * 32}


def tool_call(server, name, **arguments):
    fields = {"Mcp-Method": "tools/call", "Mcp-Name": name}
    return modern(server, fields=fields, body=asking(name, **arguments))


PLAIN_STORMS = ("calls", "requests that are nobody's")


@pytest.mark.parametrize(
    "name", [name if name in PLAIN_STORMS else pytest.param(name, marks=pytest.mark.long) for name in STORMS]
)
def test_a_storm_lets_others_through(server, tmp_path, name):
    """What comes between another's request and its answer is a few of the storm's, not one of each connection.

    That is what each request of the storm itself waits for: in the same run, so a busy machine slows both.
    """
    asked, connections, connects = STORMS[name]
    with storm(server, asked(server), connections, tmp_path) as answers:
        asyncio.run(until(lambda: len(answers()) > 2 * connections))
        quiet = [listed(server) for _ in range(20)] if connects else listed_over_one(server, 20)
        among = answers()
    ended = sorted(end for _, end in among)

    def passed(begun, end):
        return bisect(ended, end) - bisect(ended, begun)

    its_own = statistics.median(passed(*one) for one in among[connections:])
    others = statistics.median(passed(*one) for one in quiet)
    assert others <= its_own / 3, (others, its_own)


def test_a_storm_of_connections_keeps_nobody_out(server, tmp_path):
    """More than there may be: of those that make way, none is another agent's."""
    with storm(server, tool_call(server, "search", query="timeout"), 250, tmp_path), server.connect() as connection:
        for _ in range(5):
            listed(server)
            connection.sendall(modern(server, agent="analyst"))
            assert answered(connection)[0] == 200


def test_who_has_asked_is_heard_before_it_has_to_make_way(server):
    """All connect while nobody is accepted: the one that has asked is the oldest, and the others say nothing."""
    listed(server)  # whoever connected before has been accepted
    server.process.send_signal(signal.SIGSTOP)
    with ExitStack() as open_ones:
        try:
            asking_one = open_ones.enter_context(server.connect())
            asking_one.sendall(modern(server, agent="analyst"))
            for _ in range(BACKLOG - 10):
                open_ones.enter_context(server.connect())
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert answered(asking_one)[0] == 200


def listed(server):
    """When another agent has asked for its tools, over a connection of its own, and when it knew them."""
    begun = time.monotonic()
    assert "query" in server.lists("analyst")
    return begun, time.monotonic()


def listed_over_one(server, times):
    with server.connect() as connection:

        def once():
            begun = time.monotonic()
            connection.sendall(modern(server, agent="analyst"))
            assert answered(connection)[0] == 200
            return begun, time.monotonic()

        return [once() for _ in range(times)]


@contextmanager
def storm(server, asked, connections, directory):
    """Yield what tells when each request of the storm was sent and answered until now."""
    (directory / "request").write_bytes(asked)
    command = [sys.executable, TESTS / "storming.py", str(server.port), str(connections), directory / "request"]
    seen = directory / "answers"

    def answers():
        return [tuple(map(float, line.split())) for line in seen.read_text().splitlines()]

    with seen.open("wb") as out, subprocess.Popen(command, stdout=out) as storming:
        try:
            yield answers
            assert storming.poll() is None
        finally:
            storming.kill()


def test_what_other_libraries_say_is_shown_seldom() -> None:
    """Errors by themselves; and a call of theirs that is malformed costs no caller anything."""
    seldom = OthersSeldom()
    levels = (logging.WARNING, logging.WARNING, logging.ERROR, logging.ERROR)
    records = [logging.makeLogRecord({"name": "mcp", "levelno": level}) for level in levels]
    assert [seldom.filter(record) for record in records] == [True, False, True, False]
    seldom._said[False] = -math.inf
    malformed = {"name": "mcp", "levelno": logging.WARNING, "msg": "%d", "args": ("a",)}
    seldom._unsaid = 1
    assert seldom.filter(logging.makeLogRecord(malformed))
