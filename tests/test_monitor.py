"""What watches a server: is it up, is it ready, what has it counted; and what a revoked token and a signal end."""

import base64
import fcntl
import http.client
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from http.client import RemoteDisconnected

import pytest
from conftest import serve_command
from forking import fledgling
from running import GONE_SECONDS, PATIENCE, QUERY_WORKER, back_processes
from test_http import FIELDS, answered, modern, request, serving

from fledgling.broker.audit_log.records import CallRecord
from fledgling.broker.cli import secrets_of_run
from fledgling.broker.metrics import NO_TOOL, Metrics
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.monitor import MAX_CONNECTIONS, METRICS_TYPE
from fledgling.broker.reporting import explorer, report
from fledgling.config import ConfigError

SAMPLE = re.compile(r'(fledgling_\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\} ([0-9.e+-]+)')
LABELS = {"agent", "tool", "verdict", "process", "le"}


def free_port():
    """A port that nobody has, below those that the kernel gives to connections and to whoever asks for any (ip(7))."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Watching:
    """The address on which a server is watched."""

    def __init__(self, port):
        self.port = port

    def get(self, target, host=None, method="GET", more=""):
        """Status, headers and body of an answer."""
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
            host = host or f"127.0.0.1:{self.port}"
            connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
            status, fields, body = answered(connection, method)
            return status, fields, body.decode()

    def samples(self):
        """Name and labels of each number -> the number."""
        status, fields, body = self.get("/metrics")
        assert (status, fields["content-type"]) == (200, METRICS_TYPE)
        found = {}
        for line in body.splitlines():
            if line.startswith("# "):
                assert re.fullmatch(r"# (HELP fledgling_\w+ .+|TYPE fledgling_\w+ (counter|gauge|histogram))", line)
                continue
            name, labels, value = SAMPLE.fullmatch(line).groups()
            pairs = re.findall(r'(\w+)="((?:[^"\\\n]|\\.)*)"', labels)
            assert {label for label, _ in pairs} <= LABELS
            found[name, tuple(text for _, text in pairs)] = float(value)
        return found


@pytest.fixture(scope="module")
def watched(project, tmp_path_factory):
    port = free_port()
    home = tmp_path_factory.mktemp("watched")
    options = ["--monitor", f"127.0.0.1:{port}", "--page", "--secrets", str(home / "secrets")]
    with serving(project, home, options) as server:
        yield server, Watching(port)


def ready(watching):
    """Wait until every index is whole."""
    deadline = time.monotonic() + PATIENCE
    while (found := watching.get("/readyz"))[0] != 200:
        assert (found[0], found[2].count("\n")) == (503, 2)
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found[2]


def called(server, tool, agent, arguments):
    """The request of a call."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    meta = json.loads(modern(server, agent=agent).partition(b"\r\n\r\n")[2])["params"]["_meta"]
    body["params"] = {"name": tool, "arguments": arguments, "_meta": meta}
    fields = {**FIELDS, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return modern(server, body=json.dumps(body).encode(), fields=fields, agent=agent)


def asked(server, tool, agent="reviewer", **arguments):
    """Status, headers and body of a call; where it takes long the answer is the last event of a stream."""
    with server.connect() as connection:
        connection.sendall(called(server, tool, agent, arguments))
        response = http.client.HTTPResponse(connection, method="POST")
        response.begin()
        body = response.read()
        response.close()
    if response.getheader("content-type", "").startswith("text/event-stream"):
        body = [line for line in body.splitlines() if line.startswith(b"data:")][-1].removeprefix(b"data:")
    return response.status, dict(response.getheaders()), body


def test_up_and_ready(watched):
    _, watching = watched
    assert watching.get("/healthz")[::2] == (200, "ok\n")
    assert ready(watching) == "reviewer: generation 2\nanalyst: generation 2\n"
    assert watching.get("/healthz", method="HEAD")[::2] == (200, "")


def test_calls_are_counted_by_agent_tool_and_verdict(watched):
    server, watching = watched
    ready(watching)
    before = watching.samples()
    for tool, arguments in (("explore", {}), ("explore", {}), ("read", {"path": "nonesuch.py"})):
        asked(server, tool, **arguments)
    asked(server, "query", agent="analyst", sql="SELECT count(*) FROM files")
    asked(server, "query", agent="reviewer", sql="SELECT count(*) FROM files")
    after = watching.samples()
    grown = {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}
    calls = {labels: count for (name, labels), count in grown.items() if name == "fledgling_calls_total"}
    assert calls == {
        ("reviewer", "explore", "allowed"): 2,
        ("reviewer", "read", "refused"): 1,
        ("reviewer", "query", "denied"): 1,
        ("analyst", "query", "allowed"): 1,
    }
    buckets = [count for (name, labels), count in after.items() if name.endswith("_bucket") and "explore" in labels]
    assert buckets == sorted(buckets)
    assert buckets[-1] == after["fledgling_call_seconds_count", ("reviewer", "explore")]
    assert after["fledgling_index_generation", ("analyst",)] >= 2
    assert 10e6 < after["fledgling_memory_bytes", ("reviewer",)] < after["fledgling_memory_limit_bytes", ("reviewer",)]


def test_processes_are_counted(watched):
    server, watching = watched
    ready(watching)
    before = watching.samples()
    for worker in back_processes(server.seen, QUERY_WORKER):
        worker.kill()
    assert asked(server, "explore")[0] == 200
    assert asked(server, "explore", agent="analyst")[0] == 200
    after = watching.samples()
    for agent in ("reviewer", "analyst"):
        killed = "fledgling_processes_killed_total", (agent, "query worker")
        assert after[killed] == before.get(killed, 0) + 1
        started = "fledgling_processes_started_total", (agent, "query worker")
        assert after[started] > before[started]


# What is asked, and the status that comes back; {port} is the monitor's
BAD = {
    "another site": ({"target": "/metrics", "host": "evil.example"}, 421),
    "another site, our port": ({"target": "/metrics", "host": "evil.example:{port}"}, 421),
    "another port": ({"target": "/metrics", "host": "127.0.0.1:1"}, 421),
    "a page of this machine": ({"target": "/metrics", "more": "Origin: http://localhost:8000\r\n"}, 421),
    "another path": ({"target": "/mcp"}, 404),
    "a path below": ({"target": "/metrics/"}, 404),
    "an absolute target": ({"target": "http://127.0.0.1:{port}/metrics"}, 404),
    "a method that changes": ({"target": "/metrics", "method": "POST", "more": "Content-Length: 0\r\n"}, 405),
    "a method that deletes": ({"target": "/healthz", "method": "DELETE"}, 405),
}


@pytest.mark.parametrize("name", BAD)
def test_nothing_else_is_answered(watched, name):
    _, watching = watched
    asked, status = BAD[name]
    given = {key: value.format(port=watching.port) for key, value in asked.items()}
    found, fields, body = watching.get(**given)
    assert found == status
    assert fields["connection"] == "close"
    assert "agent=" not in body


def test_no_number_is_of_an_agents_making():
    """Labels are ours: a tool's name is a client's text, and stands for itself only where it is a tool's."""
    metrics = Metrics()
    common = {"profile": "p", "digest": "", "layer": "profile", "reason": None, "rows": 0, "bytes": 0}
    for number in range(1000):
        metrics.hear(
            CallRecord(tool=f'a"}} {number}', verdict="denied", milliseconds=1.0, arguments_sha256="", **common),
            "reviewer",
        )
    lines = [line for line in metrics.text({}).splitlines() if line.startswith("fledgling_calls_total")]
    assert lines == [f'fledgling_calls_total{{agent="reviewer",tool="{NO_TOOL}",verdict="denied"}} 1000']


def is_open(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def test_a_flood_ends_itself(watched):
    server, watching = watched
    held = [socket.create_connection(("127.0.0.1", watching.port), 30) for _ in range(100)]
    try:
        assert asked(server, "explore")[0] == 200
        assert watching.get("/healthz")[0] == 200
        assert sum(map(is_open, held)) < MAX_CONNECTIONS
    finally:
        for each in held:
            each.close()


# ---- tokens that are revoked, and the end ---------------------------------------------------------------------------


def test_a_revoked_token_ends_at_once_and_the_others_go_on(small_root, tmp_path):
    with serving(small_root, tmp_path) as server:
        assert asked(server, "explore")[0] == 200
        _, session = server.begins()
        with server.connect() as stream:
            fields = {"Mcp-Session-Id": session, "Accept": "text/event-stream"}
            stream.sendall(request(server, "GET", fields=fields))
            assert stream.recv(4096).startswith(b"HTTP/1.1 200")
            agents.revoke(server.file, "reviewer")
            begun = time.monotonic()
            while stream.recv(4096):
                pass
        assert time.monotonic() - begun < 5
        assert asked(server, "explore")[0] == 401
        assert asked(server, "explore", agent="analyst")[0] == 200
        agents.add(server.file, "another", "fledgling-core")  # from the next start
        agents.revoke(server.file, "analyst")
        until_refused(server, "analyst")
        assert "agent analyst is revoked" in server.said()


def until_refused(server, agent):
    deadline = time.monotonic() + 10
    status = 200
    while status != 401:
        assert time.monotonic() < deadline
        with suppress(RemoteDisconnected):  # it was at work as the token ended
            status = asked(server, "explore", agent=agent)[0]
        time.sleep(0.05)


@pytest.mark.parametrize("how", ["replaced", pytest.param("deleted", marks=pytest.mark.long)])  # seen by the same look
def test_a_server_ends_where_its_file_of_agents_is_another(small_root, tmp_path, how):
    with serving(small_root, tmp_path, agents_of={"reviewer": "fledgling-core"}) as server:
        if how == "deleted":
            server.file.unlink()
        else:
            other = tmp_path / "other.yaml"
            other.write_bytes(server.file.read_bytes())
            other.chmod(0o600)
            other.replace(server.file)
        assert server.process.wait(GONE_SECONDS) == 2
        assert "the file was deleted, or another has taken its place; start Fledgling again" in server.said()
        assert "Traceback" not in server.said()


def test_calls_at_work_are_answered_before_the_end(small_root, tmp_path):
    """Told to end, a server takes no further connection, closes streams, and lets calls have some seconds."""
    alone = {"analyst": "fledgling-analyst"}
    with serving(small_root, tmp_path, agents_of=alone) as server, ThreadPoolExecutor(1) as pool:
        assert asked(server, "query", agent="analyst", sql="SELECT 1")[0] == 200
        slow = "SELECT count(hash(range)) FROM range(300000000)"
        waiting = pool.submit(asked, server, "query", agent="analyst", sql=slow)
        time.sleep(0.5)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        status, _, body = waiting.result(30)
        assert (status, b"isError" in body or b"result" in body) == (200, True)
        assert server.process.wait(GONE_SECONDS) == 0
        assert time.monotonic() - begun < 10


# ---- the page of an operator ----------------------------------------------------------------------------------------


def password(server):
    return re.fullmatch(r"password: ([\w-]{43})\n", (server.log.parent / "secrets").read_text())[1]


def basic(name, token):
    return "Basic " + base64.b64encode(f"{name}:{token}".encode()).decode()


# What is wrong with a request for the page -> what it is besides a good one, and the status that says so.
UNFIT = {
    "no password": ({"Authorization": None}, 401),
    "an agent's token": ({"Authorization": "Bearer {agent}"}, 401),
    "an agent's token as the password": ({"Authorization": ("reviewer", "{agent}")}, 401),
    "a name that no agent has": ({"Authorization": ("nobody", "{page}")}, 401),
    "no name where there are two agents": ({"Authorization": ("", "{page}")}, 401),
    "a name that is a path": ({"Authorization": ("../reviewer", "{page}")}, 401),
    "what is no base64": ({"Authorization": "Basic <script>"}, 401),
    "what is no UTF-8": ({"Authorization": "Basic /////w=="}, 401),
    "two passwords": ({"authorization": ("reviewer", "{page}")}, 400),
    "another host": ({"Host": "evil.example"}, 421),
    "another site's script": ({"Origin": "http://evil.example"}, 403),
    "another site's frame": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "another port's frame": ({"Sec-Fetch-Site": "same-site"}, 403),
    "a method that changes things": ({"method": "POST"}, 405),
    "a slash more": ({"target": "/page/"}, 404),
    "a slash before it": ({"target": "//page"}, 404),
    "a file beside it": ({"target": "/page/../../etc/passwd"}, 404),
    "a part of it in code": ({"target": "/%70age"}, 404),
    "an address in place of a path": ({"target": "http://evil.example/page"}, 404),
}


def page_of(server, *, method="GET", target="/page", **fields):
    """Answer to a request for the page, good but for what is given."""
    tokens = {"agent": server.tokens["reviewer"], "page": password(server)}
    fields = {"Authorization": ("reviewer", "{page}"), **fields}
    for name, value in fields.items():
        if isinstance(value, tuple):
            fields[name] = basic(*(part.format(**tokens) for part in value))
        elif value:
            fields[name] = value.format(**tokens)
    return server.answer(request(server, method, target, fields=fields, agent=None))


@pytest.mark.parametrize("wrong", UNFIT)
def test_page_is_shown_to_nobody_else(watched, wrong):
    server, _ = watched
    given, status = UNFIT[wrong]
    found, fields, body = page_of(server, **given)
    assert (found, b"<html" in body) == (status, False)
    assert fields.get("www-authenticate", "").startswith("Basic ") == (status == 401)


def test_page_token_is_no_agents(watched):
    server, _ = watched
    fields = {"Authorization": f"Bearer {password(server)}"}
    assert server.answer(request(server, body=b"{}", fields=fields, agent=None))[0] == 401


def test_page_is_the_report_and_leaves_a_line_in_the_log(watched):
    server, watching = watched
    ready(watching)
    status, fields, body = page_of(server)
    text = body.decode()
    assert (status, text.startswith(report.MARK)) == (200, True)
    assert "process_batch" in text
    assert "profile fledgling-" in text
    assert (fields["cache-control"], fields["x-content-type-options"]) == ("no-store", "nosniff")
    assert fields["content-security-policy"].startswith(explorer.POLICY)
    assert "frame-ancestors 'none'" in fields["content-security-policy"]
    assert not re.search(r"(?:src|href)=", text)
    lines = map(json.loads, server.log.read_text().splitlines())
    told = [line for line in lines if line.get("agent") == "reviewer/page"]
    assert [(line["tool"], line["verdict"], line["bytes"]) for line in told] == [("page", "allowed", len(body))]


def test_password_is_in_its_file_alone(watched):
    server, _ = watched
    file = server.log.parent / "secrets"
    assert f"for the password in {file} and" in server.said()
    assert not any(password(server) in each.read_text() for each in server.log.parent.iterdir() if each != file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


SECRET = "A" * 43

# What stands where the secrets are to go -> what the one line says of it; None where it is taken.
PLACES = {
    "what an earlier run has left": (lambda file: written(file, f"token: {SECRET}\npassword: {SECRET}\n"), None),
    "an empty file": (lambda file: written(file, ""), None),
    "nothing": (lambda _: None, None),
    "somebody's text": (lambda file: written(file, "key: value\n"), "something other than secrets"),
    "another secret": (lambda file: written(file, f"api: {SECRET}\n"), "something other than secrets"),
    "one secret twice": (lambda file: written(file, f"token: {SECRET}\n" * 2), "something other than secrets"),
    "more behind secrets": (
        lambda file: written(file, f"token: {SECRET}\n" * 22 + "x"),
        "something other than secrets",
    ),
    "a link": (lambda file: file.symlink_to(written(file.with_name("other"), "")), "it cannot be opened"),
    "another name of a file": (lambda file: file.hardlink_to(written(file.with_name("other"), "")), "a single name"),
    "a FIFO": (os.mkfifo, "not a regular file"),
    "a directory": (os.mkdir, "it cannot be opened"),
    "what others may read": (lambda file: written(file, "", 0o640), "chmod 600 it"),
    "what another server writes": (lambda file: locked(written(file, "")), "another process"),
}


def written(file, text, mode=0o600):
    file.write_text(text)
    file.chmod(mode)
    return file


@contextmanager
def locked(file):
    with file.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("name", PLACES)
def test_secrets_go_into_a_file_of_ones_own_alone(name, tmp_path):
    prepare, problem = PLACES[name]
    file = tmp_path / "secrets"
    made = {"token": "B" * 43}
    with prepare(file) if name == "what another server writes" else nullcontext(prepare(file)):
        before = file.read_bytes() if file.is_file() else None
        if problem is None:
            assert secrets_of_run.told(made, str(file), ["/srv/app"]) == {"token": f"in {file}"}
            assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (f"token: {'B' * 43}\n", 0o600)
        else:
            with pytest.raises(ConfigError, match=problem) as wrong:
                secrets_of_run.told(made, str(file), ["/srv/app"])
            assert "B" * 43 not in str(wrong.value)
            assert before == (file.read_bytes() if file.is_file() else None)


# Options of a server without a terminal -> what the one line says that it ends with.
REFUSED = {
    "no place for a token": ([], "not a terminal, and the token of this run would end in a log; give --secrets FILE"),
    "no place for two": (["--page"], "the token and the password of this run would end in a log; give --secrets FILE"),
    "a file without a name": (["--secrets", ""], "flag --secrets: '': it cannot be opened (Is a directory)"),
    "no name and no HTTP": (
        ["--secrets", "", "--transport", "stdio"],
        "only a server over HTTP has any",
    ),
    "in the root": (["--secrets", "{root}/a"], "it is inside the root"),
    "no secret": (["--secrets", "{home}/a", "--agents", "{home}/agents.yaml"], "there is no secret to write"),
    "no HTTP": (["--secrets", "{home}/a", "--transport", "stdio"], "flag --secrets: only a server over HTTP has any"),
    "a port and no HTTP": (["--transport", "stdio"], "flag --port: only a server over HTTP has any"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_secrets_are_not_written_into_a_log(name, project, tmp_path):
    agents.add(tmp_path / "agents.yaml", "reviewer", "fledgling-core")
    given, problem = REFUSED[name]
    options = [option.format(root=project, home=tmp_path) for option in given]
    command = ["serve", "--root", str(project), "--transport", "http", "--port", str(free_port()), *options]
    done = fledgling(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert not re.search(r"[\w-]{43}", done.stderr.replace(str(tmp_path), ""))
    assert not [*project.glob("a"), *tmp_path.glob("a")]


def test_secrets_are_shown_on_a_terminal(small_root):
    """A server without agents says its token there, and what it is."""
    words = shlex.join(serve_command(small_root, "--transport", "http", "--port", str(free_port()), "--page"))
    run = ["timeout", "-s", "TERM", "20", "script", "-qec", words, os.devnull]
    with subprocess.Popen(run, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as shown:
        said = "".join(line for line, _ in zip(shown.stdout, range(3), strict=False))
        shown.terminate()
    assert re.search(r"the token of this run is [\w-]{43}\s", said)
    assert re.search(r"for the password [\w-]{43} and the name of an agent", said)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
@pytest.mark.parametrize("width", [420, 1400])
def test_browser_shows_the_page_and_runs_its_script(watched, width, tmp_path):
    server, watching = watched
    ready(watching)
    run = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
    place = f"http://reviewer:{password(server)}@{server.authority}/page"
    done = subprocess.run([*run, f"--window-size={width},900", place], capture_output=True, text=True, check=True)
    assert '<p><label for="filter">' in done.stdout  # hidden until the script runs
