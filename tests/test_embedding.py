"""The embedding endpoint: what goes there, what comes of whatever it answers, and what holds those who ask it."""

import asyncio
import contextlib
import json
import math
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
from running import Server, back_processes, fronted, is_alive, opened, until
from trees import make

from fledgling.broker.audit_log.records import AnyRecord, EmbeddedRecord
from fledgling.broker.embedding import connector as connecting
from fledgling.broker.embedding.connector import MODULE, WORDS, Connector, FailedError
from fledgling.broker.embedding.endpoint import Endpoint, endpoint_of
from fledgling.broker.embedding.reranking import QUERY_CHARS
from fledgling.broker.front import Front
from fledgling.config import ConfigError, resolve
from fledgling.messages.answers import Ranking
from fledgling.messages.bounded import CANDIDATE_BYTES, MAX_CANDIDATES
from fledgling.messages.control import CONFINED
from fledgling.messages.embedding import Protocol
from fledgling.messages.profile import Profile
from fledgling.security import limits
from fledgling.security import profile as profiles
from fledgling.security.confinement import ROLES
from fledgling.worker.embedder.asking import EndpointError, vectors
from fledgling.worker.tools.reordered import REORDERED

pytestmark = pytest.mark.anyio

PATHS: dict[Protocol, str] = {"ollama": "/api/embed", "openai": "/v1/embeddings"}
SECONDS = 1  # that an endpoint has in these tests where it takes longer
SOON_SECONDS = SECONDS + 4  # in which a failure is told of; the rest is for a machine that is busy
ATTEMPTS = 5
PATIENT_SECONDS = 30  # that it has where it answers: the machine may stand still for a while


# ---- a small endpoint ------------------------------------------------------------------------------------------------


class Heard(NamedTuple):
    """A request as it came: the line that it begins with, its head, and what its JSON says."""

    line: str
    head: str
    asked: dict[str, Any]


def vector(text: str) -> list[float]:
    """A text's vector: the second number says how much it is about sessions."""
    return [1.0, 10.0 * text.lower().count("session"), 0.5]


def said(asked: dict[str, Any], protocol: Protocol) -> bytes:
    vectors = [vector(text) for text in asked["input"]]
    if protocol == "ollama":
        return json.dumps({"model": asked["model"], "embeddings": vectors, "total_duration": 14}).encode()
    items = [{"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(vectors)]
    return json.dumps({"object": "list", "data": items[::-1], "usage": {"total_tokens": 9}}).encode()


def reply(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


Behaviour = Callable[[socket.socket, Heard, Protocol], object]


def well(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
    connection.sendall(reply(said(heard.asked, protocol)))


class Fake:
    """An endpoint that speaks both protocols, or whatever it is told to."""

    def __init__(self) -> None:
        self.behave: Behaviour = well
        self.heard: list[Heard] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def endpoint(self, protocol: Protocol = "ollama", seconds: int = PATIENT_SECONDS) -> Endpoint:
        return Endpoint("127.0.0.1", self.port, PATHS[protocol], protocol, "small-model", seconds)

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            data = b""
            while b"\r\n\r\n" not in data:
                if not (more := connection.recv(65536)):
                    return
                data += more
            head, _, body = data.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65536)
            line, _, rest = head.decode().partition("\r\n")
            heard = Heard(line, rest, json.loads(body))
            self.heard.append(heard)
            self.behave(connection, heard, "ollama" if PATHS["ollama"] in line else "openai")


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    endpoint = Fake()
    yield endpoint
    endpoint.close()


@pytest.fixture(autouse=True)
def behaved(request: pytest.FixtureRequest) -> None:
    if "fake" in request.fixturenames:
        fake = request.getfixturevalue("fake")
        fake.behave, fake.heard = well, []


TOLD: list[AnyRecord] = []


@pytest.fixture(scope="module")
def connectors(fake: Fake) -> Iterator[dict[Protocol, Connector]]:
    """A connector for each protocol; this test stands for the broker."""
    found = {protocol: Connector(fake.endpoint(protocol), CONFINED, TOLD.append) for protocol in PATHS}
    yield found
    for connector in found.values():
        connector.close()


@pytest.fixture(scope="module")
def hasty(fake: Fake) -> Iterator[Connector]:
    """A connector to an endpoint that has SECONDS."""
    connector = Connector(fake.endpoint(seconds=SECONDS), CONFINED, TOLD.append)
    yield connector
    connector.close()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rest behind a failure, and short pauses before another try."""
    monkeypatch.setattr(connecting, "REST_SECONDS", 0.0)
    monkeypatch.setattr(connecting, "BACK_OFF", tuple(pause / 20 for pause in connecting.BACK_OFF))


async def similar(connector: Connector, *texts: str, seconds: float = PATIENT_SECONDS) -> tuple[float, ...]:
    return await connector.similar("session", texts, time.monotonic() + seconds, TOLD.append)


async def asked_until_answered(connector: Connector, *texts: str) -> int:
    """How often an endpoint that has one second is asked until it answers: the machine may stand still for that."""
    for attempt in range(1, ATTEMPTS + 1):
        with contextlib.suppress(FailedError):
            assert len(await similar(connector, *texts)) == len(texts)
            return attempt
    raise AssertionError("it does not answer")


# ---- what it answers -------------------------------------------------------------------------------------------------


def in_pieces(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
    data = reply(said(heard.asked, protocol))
    for at in range(0, len(data), 40):
        connection.sendall(data[at : at + 40])


def without_length(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
    connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + said(heard.asked, protocol))


def staying_open(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
    well(connection, heard, protocol)
    time.sleep(SECONDS)


@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("behaviour", [well, in_pieces, without_length, staying_open])
async def test_an_endpoint_says_how_near_each_text_is(
    fake: Fake, connectors: dict[Protocol, Connector], protocol: Protocol, behaviour: Behaviour
) -> None:
    fake.behave = behaviour
    shares = await similar(connectors[protocol], "Session", "a session's session", "paint")
    assert shares[0] == pytest.approx(1.0)
    assert shares[2] == pytest.approx(1.25 / math.sqrt(1.25 * 101.25))
    [heard] = fake.heard
    assert heard.line == f"POST {PATHS[protocol]} HTTP/1.0"
    assert heard.asked["model"] == "small-model"
    assert heard.asked["input"] == ["session", "Session", "a session's session", "paint"]


def last_first(connection: socket.socket, heard: Heard, _: Protocol) -> None:
    """Say by OpenAI's protocol that each text is nearer than the one before it."""
    count = len(heard.asked["input"])
    vectors = [[1.0, 0.0], *([1.0, float(count - at)] for at in range(1, count))]
    items = [{"index": at, "embedding": each} for at, each in enumerate(vectors)]
    connection.sendall(reply(json.dumps({"data": items}).encode()))


def silent(connection: socket.socket, *_: object) -> None:
    time.sleep(SECONDS + 1)


def dripping(connection: socket.socket, *_: object) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.05)


def endless(begin: bytes, piece: bytes) -> Behaviour:
    def send(connection: socket.socket, *_: object) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(piece * 2000)

    return send


def sending(data: bytes) -> Behaviour:
    return lambda connection, *_: connection.sendall(data)


def saying(made: Callable[[int], object]) -> Behaviour:
    """Answer by Ollama's protocol with what is made of the number of texts as vectors."""
    return lambda connection, heard, _: connection.sendall(
        reply(json.dumps({"embeddings": made(len(heard.asked["input"]))}).encode())
    )


def once(failing: Behaviour) -> Behaviour:
    """Fail three times, then answer well."""
    left = iter([failing] * 3)

    def behave(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
        next(left, well)(connection, heard, protocol)

    return behave


OK = b"HTTP/1.1 200 OK\r\n"
ZEROS = b'{"embeddings": [[' + b"0," * (4 * 2**20) + b"0]]}"
# what the endpoint does -> what is said of it, and how often it is asked
FAILING: dict[str, tuple[Behaviour, str, int]] = {
    "is silent": (silent, "silent", 1),
    "drips": (dripping, "silent", 1),
    "sends a head without end": (endless(OK, b"X: y\r\n"), "garbage", 1),
    "sends a body without end": (endless(OK + b"\r\n", b"0123456789"), "too long", 1),
    "says that it will send a terabyte": (sending(OK + b"Content-Length: 999999999\r\n\r\n"), "too long", 1),
    "sends very many numbers": (sending(reply(ZEROS[: 8 * 2**20])), "too long", 1),
    "sends no HTTP": (sending(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), "garbage", 1),
    "sends no JSON": (sending(reply(b"<html>")), "garbage", 1),
    "sends bytes": (sending(reply(bytes(range(256)) * 10)), "garbage", 1),
    "sends lists in lists": (sending(reply(b'{"embeddings": ' + b"[" * 100_000)), "garbage", 1),
    "sends other JSON": (sending(reply(b'{"error": "no such model"}')), "garbage", 1),
    "sends words for numbers": (saying(lambda count: [["a", "b"]] * count), "garbage", 1),
    "sends numbers without bound": (sending(reply(b'{"embeddings": [[1e308, 1e308]]}')), "dimensions", 1),
    "sends numbers that overflow": (saying(lambda count: [[1e308, 1e308]] * count), "garbage", 1),
    "sends chunks": (sending(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "garbage", 1),
    "sends two lengths": (sending(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), "garbage", 1),
    "sends too few vectors": (saying(lambda count: [[1, 2]] * (count - 1)), "dimensions", 1),
    "sends too many vectors": (saying(lambda count: [[1, 2]] * (count + 1)), "dimensions", 1),
    "sends vectors of several lengths": (
        saying(lambda count: [[1] * at for at in range(1, count + 1)]),
        "dimensions",
        1,
    ),
    "sends empty vectors": (saying(lambda count: [[]] * count), "dimensions", 1),
    "sends vectors that are too long": (saying(lambda count: [[1] * 8193] * count), "dimensions", 1),
    "knows no such path": (sending(reply(b"{}", "404 Not Found")), "status", 1),
    "sends elsewhere": (sending(reply(b"", "302 Found\r\nLocation: http://127.0.0.1:1/")), "status", 1),
    "closes at once": (lambda connection, *_: connection.close(), "cut", 4),
    "closes within its answer": (sending(reply(b"{}", length=1000)), "cut", 4),
    "is overloaded": (sending(reply(b"{}", "503 Service Unavailable")), "busy", 4),
}


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("what", FAILING)
async def test_whatever_it_sends_it_is_said_in_time_and_the_next_is_asked(
    fake: Fake, connectors: dict[Protocol, Connector], hasty: Connector, what: str
) -> None:
    fake.behave, reason, tries = FAILING[what]
    connector = hasty if reason == "silent" else connectors["ollama"]
    for _ in range(ATTEMPTS):  # the machine may stand still in each but one
        fake.heard.clear()
        begun = time.monotonic()
        with pytest.raises(FailedError, match=f"^{WORDS[reason]}$"):  # type: ignore[index]
            await similar(connector, "one", "two")
        taken = time.monotonic() - begun
        if fake.heard and taken < SOON_SECONDS:
            break
    assert taken < SOON_SECONDS
    assert len(fake.heard) == tries
    fake.behave = well
    await asked_until_answered(connector, "one", "two")


def test_a_reply_of_very_many_numbers_is_not_decoded() -> None:
    """What memory holds them to stands behind it."""
    with pytest.raises(EndpointError) as failed:
        vectors(ZEROS, "ollama", 1)
    assert failed.value.reason == "too long"


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("failing", ["closes at once", "is overloaded"])
async def test_it_is_asked_three_times_more_where_that_may_help(
    fake: Fake, connectors: dict[Protocol, Connector], failing: str
) -> None:
    fake.behave = once(FAILING[failing][0])
    assert len(await similar(connectors["ollama"], "one")) == 1
    assert len(fake.heard) == 4


async def test_one_that_cannot_be_reached_is_left_alone_for_a_while(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "BACK_OFF", (0.01, 0.01, 0.01))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    told: list[AnyRecord] = []
    connector = Connector(fake.endpoint(seconds=9)._replace(port=port), CONFINED, told.append)
    try:
        for words in (WORDS["unreachable"], connecting.RESTING):
            with pytest.raises(FailedError, match=f"^{words}$"):
                await connector.similar("x", ["y"], time.monotonic() + 9, told.append)
        assert [each.outcome for each in told if isinstance(each, EmbeddedRecord)] == ["unreachable"] * 4
    finally:
        connector.close()


@pytest.mark.parametrize("seconds", [1.5 * SECONDS, pytest.param(12, marks=pytest.mark.long)])
@pytest.mark.usefixtures("hurried")
async def test_a_connector_that_takes_long_to_start_is_waited_for(fake: Fake, seconds: float) -> None:
    """On a starved machine; and nobody is asked what nobody waits for any more."""
    connector = Connector(fake.endpoint(seconds=SECONDS), CONFINED, TOLD.append)
    try:
        *_, process = sorted(psutil.Process().children(), key=psutil.Process.create_time)
        process.suspend()
        with pytest.raises(FailedError, match=WORDS["silent"]):
            await similar(connector, "late", seconds=0.2)
        await asyncio.sleep(seconds)
        process.resume()
        await until(lambda: not connector._at_work)  # it has started, in more time than a question has
        most = await asked_until_answered(connector, "session")
        assert 1 <= len(fake.heard) <= most
        assert {heard.asked["input"][1] for heard in fake.heard} == {"session"}
    finally:
        connector.close()


async def test_whoever_waits_no_longer_leaves_nothing_to_the_next(
    fake: Fake, connectors: dict[Protocol, Connector]
) -> None:
    def late(connection: socket.socket, heard: Heard, protocol: Protocol) -> None:
        time.sleep(0.4)
        well(connection, heard, protocol)

    fake.behave = late
    with pytest.raises(FailedError, match=WORDS["silent"]):
        await similar(connectors["ollama"], "session", "session", seconds=0.2)
    fake.behave = well
    assert len(await similar(connectors["ollama"], "paint")) == 1


# ---- what goes there -------------------------------------------------------------------------------------------------

FILES = {
    "src/login.py": '"""Checks a password of a user, and the expiry of tokens."""\n\n\ndef check_user(user):\n'
    "    return user\n",
    "src/users.py": '"""Users: names, passwords and tokens."""\n\n\ndef user_names(users):\n'
    "    # session session session\n    return users\n",
    "src/tokens.py": '"""Tokens of a user: they have an expiry."""\n\n\nclass Token:\n    user = None\n',
    "src/hidden/tokens_of_users.py": '"""Tokens of a user, password, expiry: HIDDEN-CANARY."""\n\n\n'
    "def hidden_user():\n    pass\n",
    "src/long_users.py": '"""Users."""\n\n\ndef long_user(user, tokens):\n' + "    user.tokens()\n" * 500,
    ".env": "PASSWORD_OF_USER=SECRET-CANARY\n",
}
HIDING = (
    "SET extends = 'fledgling-core';\nSET embedding = 'loopback';\n"
    "CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE 'src/hidden/%';\n"
)
QUESTION = "expiry of tokens of a user"


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """A front over users, tokens and what the profile hides."""
    place = tmp_path_factory.mktemp("embedding")
    (place / "hiding.sql").write_text(HIDING)
    async with fronted(make(place / "project", **FILES), place / "hiding.sql") as (front, indexing):
        await indexing.built()
        yield front


async def ranked(front: Front, connector: Connector | None, query: str = QUESTION, **arguments: Any) -> Ranking:
    front.connector = connector
    found = await front.call("search", {"query": query, **arguments})
    assert isinstance(found, Ranking), found
    return found


@pytest.mark.parametrize("mode", ["auto", "meaning"])
async def test_the_endpoint_has_a_say_in_the_order_and_that_is_said(
    front: Front, fake: Fake, connectors: dict[Protocol, Connector], mode: str
) -> None:
    fake.behave = last_first
    before, after = await ranked(front, None, mode=mode), await ranked(front, connectors["openai"], mode=mode)
    first, *others, last = [file.path for file in before.files]
    assert [file.path for file in after.files] == [first, last, *others]
    assert {file.path: file.score for file in after.files} == {file.path: file.score for file in before.files}
    assert after.note == " ".join(filter(None, (REORDERED, before.note)))


@pytest.mark.parametrize("most", [1, 2])
async def test_the_endpoint_has_a_say_in_which_few_of_many_are_shown(
    front: Front, fake: Fake, connectors: dict[Protocol, Connector], most: int
) -> None:
    fake.behave = last_first
    every = await ranked(front, connectors["openai"], mode="meaning")
    few = await ranked(front, connectors["openai"], mode="meaning", max_results=most)
    assert [file.path for file in few.files] == [file.path for file in every.files[:most]]
    assert REORDERED in str(few.note)


async def test_what_goes_there_is_what_the_profile_shows_and_no_more_of_it_than_is_said(
    front: Front, fake: Fake, connectors: dict[Protocol, Connector]
) -> None:
    TOLD.clear()
    await ranked(front, connectors["ollama"], mode="meaning", also=["when a login ends", "x" * QUERY_CHARS])
    [heard] = fake.heard
    query, *texts = heard.asked["input"]
    assert query == f"{QUESTION}; when a login ends; {'x' * QUERY_CHARS}"[:QUERY_CHARS]
    paths = {text.partition("\n")[0] for text in texts}
    assert paths == {"src/login.py", "src/users.py", "src/tokens.py", "src/long_users.py"}
    assert "CANARY" not in str(heard)
    assert len(texts) <= MAX_CANDIDATES
    assert max(len(text.encode()) for text in texts) <= CANDIDATE_BYTES
    assert str(front.indexing.root) not in str(heard)


async def test_nothing_goes_there_where_nothing_says_what_is_asked(
    front: Front, fake: Fake, connectors: dict[Protocol, Connector]
) -> None:
    await ranked(front, connectors["ollama"], "kernels of a graphics card", mode="meaning")
    await front.call("search", {"query": "user"})
    await front.call("search", {"query": "names of users", "mode": "docs"})
    assert fake.heard == []


@pytest.mark.parametrize("what", ["is silent", "sends no JSON", "is overloaded"])
@pytest.mark.usefixtures("hurried")
async def test_without_an_answer_the_order_is_that_of_words_and_that_is_said(
    front: Front, fake: Fake, connectors: dict[Protocol, Connector], hasty: Connector, what: str
) -> None:
    fake.behave, reason, _ = FAILING[what]
    connector = hasty if reason == "silent" else connectors["ollama"]
    before, after = await ranked(front, None, mode="meaning"), await ranked(front, connector, mode="meaning")
    assert after.files == before.files
    said_so = f"In the order of words alone: the embedding endpoint {WORDS[reason]}."  # type: ignore[index]
    assert after.note == " ".join(filter(None, (said_so, before.note)))


# ---- which endpoint may be named -------------------------------------------------------------------------------------

LOOPBACK = "http://127.0.0.1:11434/api/embed"
# the URL -> what a server that is told to use it under a profile that allows loopback says
REFUSED = {
    "https://127.0.0.1/api/embed": "it is not http",
    "http://user:secret@127.0.0.1/api/embed": "more than an address",
    "http://127.0.0.1/api/embed?key=secret": "more than an address",
    "http://127.0.0.1/api/embed#x": "more than an address",
    "http://127.0.0.1/api/em%0d%0abed/api/embed": "more than an address",
    "http://127.0.0.1/api/generate": "its path ends neither",
    "http://embeddings.example/v1/embeddings": "its host is not an IP address",
    "http://2130706433/api/embed": "its host is not an IP address",
    "http://127.0.0.1:99999/api/embed": "its port is not one",
    "http://127.0.0.1:0/api/embed": "nobody listens at port 0",
    "http://user:secret℀@127.0.0.1/api/embed": "it is not a URL",
    "http://0.0.0.0:11434/api/embed": "its address is not that of one host",
    "http://224.0.0.1/api/embed": "its address is not that of one host",
    "http://[::ffff:10.0.0.1]/api/embed": "its address is not that of one host",
    "http://[fe80::1%25eth0]/api/embed": "its address is not that of one host",
    "http://10.0.0.7:8080/v1/embeddings": "no profile that is served lets text",
    "http://[2001:db8::1]/v1/embeddings": "no profile that is served lets text",
}


def named(url: str, profile: Profile, **further: str) -> Endpoint | None:
    flags = {"embedding_endpoint": url, "embedding_model": "m", **further}
    return endpoint_of(resolve(flags, {}), [profile])


@pytest.fixture(scope="module")
def allowing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profile]:
    place, found = tmp_path_factory.mktemp("allowing"), {}
    for where in ("off", "loopback", "anywhere"):
        (place / f"{where}.sql").write_text(f"SET extends = 'fledgling-core';\nSET embedding = '{where}';\n")
        found[where] = profiles.load(str(place / f"{where}.sql"))
    return found


@pytest.mark.parametrize("url", REFUSED)
def test_an_endpoint_is_one_plain_address_that_the_profile_allows(allowing: dict[str, Profile], url: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED[url]) as refused:
        named(url, allowing["loopback"])
    assert "secret" not in str(refused.value)


def test_where_an_endpoint_is_decides_which_profiles_allow_it(allowing: dict[str, Profile]) -> None:
    for url in (LOOPBACK, "http://localhost:11434/api/embed", "http://[::1]:80/v1/embeddings"):
        assert named(url, allowing["loopback"]) == named(url, allowing["anywhere"]) is not None
    assert named("http://10.0.0.7:8080/v1/embeddings", allowing["anywhere"]) is not None
    for profile in (allowing["off"], *map(profiles.load, profiles.shipped())):
        with pytest.raises(ConfigError, match="no shipped one does"):
            named(LOOPBACK, profile)
    with pytest.raises(ConfigError, match="embedding_model is not"):
        named(LOOPBACK, allowing["loopback"], embedding_model="none")


# ---- what holds the processes ----------------------------------------------------------------------------------------


ALARMED = """
import os, signal
from fledgling.messages.control import CONFINED
from fledgling.security import limits
from fledgling.security.confinement import confine
signal.setitimer(signal.ITIMER_REAL, 0.3)
confine("connector", CONFINED, lowered=limits.CONNECTOR, connectable=[1])
confine("embedder", CONFINED, parent=os.getppid(), lowered=limits.EMBEDDER)
for evade in (
    lambda: signal.setitimer(signal.ITIMER_REAL, 0), lambda: signal.alarm(0),
    lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]),
    lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN),
):
    try:
        evade()
    except OSError:
        pass
while True:
    pass
"""


def test_the_kernel_ends_an_embedder_whatever_runs_in_it() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", ALARMED], timeout=20, check=False)
    assert done.returncode == -signal.SIGALRM


LITTLE = 3 * 2**20  # bytes


async def test_an_answer_that_takes_more_memory_than_there_is_is_too_long(
    fake: Fake, connectors: dict[Protocol, Connector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest answer fits the limit, so this connector starts with a lower one: little more than another holds."""
    await similar(connectors["ollama"], "paint")
    holds = min(process.memory_info().data for process in back_processes(psutil.Process(), MODULE))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nulimit -d {(holds + LITTLE) // 1024}\nexec {sys.executable} "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    connector = Connector(fake.endpoint(), CONFINED, TOLD.append)
    try:
        assert len(await similar(connector, "paint")) == 1
        fake.behave = sending(reply(b" " * 2 * LITTLE))
        with pytest.raises(FailedError, match=f"^{WORDS['too long']}$"):
            await similar(connector, "paint")
    finally:
        connector.close()


def test_one_that_cannot_be_started_leaves_no_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is opened for it is closed, also where there are too few, and then it matters most."""
    before = opened(psutil.Process())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError):
        Connector(Endpoint("127.0.0.1", 1, PATHS["ollama"], "ollama", "m", SECONDS), CONFINED, TOLD.append)
    assert opened(psutil.Process()) == before


def data_limits(process: psutil.Process) -> list[str]:
    with open(f"/proc/{process.pid}/limits") as file:
        [shown] = [line for line in file if line.startswith("Max data size")]
    return shown.split()[3:5]


async def test_both_end_with_the_broker_and_an_embedder_holds_one_connection(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text(HIDING)
    log = tmp_path / "audit.log"
    options = ("--profile", str(tmp_path / "mine.sql"), "--embedding-endpoint", fake.endpoint().url)
    options += ("--embedding-model", "m", "--audit-log", str(log))
    release = threading.Event()
    fake.behave = lambda *_: release.wait(20)
    with Server(make(tmp_path / "project", **FILES), *options) as server:
        server.begin()
        server.call(2, "search", {"query": QUESTION, "mode": "meaning"})
        await until(lambda: fake.heard)
        connector, embedder = sorted(back_processes(server.seen, MODULE), key=lambda found: found.create_time())
        assert embedder.ppid() == connector.pid
        held = {
            process: sorted(where.partition(":")[0] for where in opened(process).values())
            for process in (connector, embedder)
        }
        assert held == {connector: ["/dev/null"] * 2 + ["pipe", "socket"], embedder: ["/dev/null"] * 2 + ["socket"] * 2}
        for process in held:
            assert data_limits(process) == [str(limits.EMBEDDING_MEMORY)] * 2
        assert [found.raddr.port for found in embedder.net_connections("inet")] == [fake.port]
        assert connector.net_connections("inet") == server.seen.net_connections("inet") == []
        server.process.kill()
        server.process.wait()
        await until(lambda: not (is_alive(connector) or is_alive(embedder)))
    release.set()
    events = [json.loads(line) for line in log.read_text().splitlines()]
    confined = {each["process"]: each["confinement"] for each in events if each["event"] == "process"}
    assert confined["connector"].keys() == {*ROLES["connector"]}
    assert confined["embedder"].keys() == {*ROLES["embedder"]}
    assert {*confined["embedder"].values()} == {"enforced"}
