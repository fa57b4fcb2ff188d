"""Tokens of an OAuth issuer: the SDK's own client gets one and asks with it, and no forgery is taken."""

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from forking import fledgling
from httpx2 import AsyncClient
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from running import GONE_SECONDS, PATIENCE
from test_http import modern, request, serving

from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http import issuer as issuers
from fledgling.broker.protocol.http.issuer import MAX_TRIED
from fledgling.config import ConfigError

ALGORITHMS = {"first": "RS256", "second": "ES256", "unknown": "RS256"}
SUBJECT = "client-7f3c"


@cache
def private(name):
    """The key of a name, made when it is first asked for."""
    if ALGORITHMS[name] == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65537, 2048)


def public(name):
    kind = jwt.algorithms.get_default_algorithms()[ALGORITHMS[name]]
    return {**kind.to_jwk(private(name).public_key(), as_dict=True), "kid": name, "use": "sig"}


class Issuer:
    """An authorization server on this machine: its metadata, its keys in a file, tokens for one client."""

    def __init__(self, place):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                about = {
                    "issuer": outer.url,
                    "token_endpoint": f"{outer.url}/token",
                    "authorization_endpoint": f"{outer.url}/authorize",
                    "response_types_supported": ["code"],
                    "grant_types_supported": ["client_credentials"],
                }
                is_it = self.path == "/.well-known/oauth-authorization-server"
                self.reply(200 if is_it else 404, about if is_it else {})

            def do_POST(self):
                asked = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
                given = base64.b64decode(self.headers["authorization"].partition(" ")[2]).decode()
                if self.path != "/token" or given != f"{SUBJECT}:secret":
                    self.reply(401, {"error": "invalid_client"})
                    return
                token = outer.token(audience=asked["resource"][0])
                self.reply(200, {"access_token": token, "token_type": "Bearer", "expires_in": 300})

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.file = place / "keys.json"
        self.publish("first", "second")
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def publish(self, *names):
        self.file.write_text(json.dumps({"keys": [public(name) for name in names]}))

    def token(self, key="first", audience=None, headers=(), algorithm=None, **claims):
        now = int(time.time())
        said = {"iss": self.url, "sub": SUBJECT, "aud": audience, "iat": now, "exp": now + 300, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, private(key), algorithm or ALGORITHMS[key], {"kid": key, **dict(headers)})


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    found = Issuer(tmp_path_factory.mktemp("issuer"))
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(scope="module")
def server(project, issuer, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    assert agents.add(home / "agents.yaml", "remote", "fledgling-analyst", SUBJECT) is None
    options = ["--issuer", issuer.url, "--issuer-keys", str(issuer.file), "--resource", "http://127.0.0.1:{port}/mcp"]
    with serving(project, home, options, agents_of={"reviewer": "fledgling-core"}) as found:
        yield found


def asked(server, token):
    """Status and headers of a request with a token."""
    status, fields, _ = server.answer(modern(server, agent=None, fields={"Authorization": f"Bearer {token}"}))
    return status, fields


def test_the_sdks_client_finds_the_issuer_gets_a_token_and_asks(server, issuer):
    """From the 401 to the metadata, the issuer, its token and a tool that only this agent's profile has."""

    class Storage:
        tokens = client = None

        async def get_tokens(self):
            return self.tokens

        async def set_tokens(self, tokens):
            self.tokens = tokens

        async def get_client_info(self):
            return self.client

        async def set_client_info(self, client_info):
            self.client = client_info

    async def asking():
        provider = ClientCredentialsOAuthProvider(server.url, Storage(), SUBJECT, "secret", issuer=issuer.url)
        async with (
            AsyncClient(auth=provider, timeout=PATIENCE) as connections,
            Client(streamable_http_client(server.url, http_client=connections)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "query" in asyncio.run(asking())
    assert "query" not in server.lists("reviewer")  # by a token of ours, beside it


def test_who_has_no_token_is_told_where_to_get_one(server, issuer):
    status, fields, _ = server.answer(modern(server, agent=None))
    place = f"http://{server.authority}/.well-known/oauth-protected-resource/mcp"
    assert (status, fields["www-authenticate"]) == (401, f'Bearer resource_metadata="{place}"')
    status, _, body = server.answer(
        request(server, "GET", target="/.well-known/oauth-protected-resource/mcp", agent=None)
    )
    assert status == 200
    assert json.loads(body) == {
        "resource": server.url,
        "authorization_servers": [issuer.url],
        "bearer_methods_supported": ["header"],
    }
    assert (
        server.answer(request(server, "POST", target="/.well-known/oauth-protected-resource/mcp", agent=None))[0] == 405
    )


def encoded(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def with_hash_of_the_public_key(issuer, server):
    """The oldest forgery: the public key, which all know, as the secret of an HMAC."""
    secret = (
        private("first")
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    now = int(time.time())
    claims = {"iss": issuer.url, "sub": SUBJECT, "aud": server.url, "exp": now + 300}
    signed = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': 'first'})}.{encoded(claims)}"
    return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def without_signature(issuer, server):
    claims = {"iss": issuer.url, "sub": SUBJECT, "aud": server.url, "exp": int(time.time()) + 300}
    return f"{encoded({'alg': 'none', 'kid': 'first'})}.{encoded(claims)}."


def with_changed_claims(issuer, server):
    head, _, signature = issuer.token(audience=server.url, sub="nobody").split(".")
    claims = {"iss": issuer.url, "sub": SUBJECT, "aud": server.url, "exp": int(time.time()) + 300}
    return f"{head}.{encoded(claims)}.{signature}"


def with_its_own_key(issuer, server):
    key = {"jwk": public("unknown"), "jku": f"{issuer.url}/keys", "x5u": f"{issuer.url}/keys", "kid": "unknown"}
    return issuer.token("unknown", audience=server.url, headers=key)


FORGED = {
    "of another resource": lambda issuer, server: issuer.token(audience="https://other.example.org/mcp"),
    "of a longer resource": lambda issuer, server: issuer.token(audience=server.url + "/x"),
    "of no resource": lambda issuer, server: issuer.token(audience=None),
    "of another issuer": lambda issuer, server: issuer.token(audience=server.url, iss="https://other.example.org"),
    "of no issuer": lambda issuer, server: issuer.token(audience=server.url, iss=None),
    "out of date": lambda issuer, server: issuer.token(audience=server.url, exp=int(time.time()) - 60),
    "without an end": lambda issuer, server: issuer.token(audience=server.url, exp=None),
    "not yet": lambda issuer, server: issuer.token(audience=server.url, nbf=int(time.time()) + 300),
    "of nobody": lambda issuer, server: issuer.token(audience=server.url, sub=None),
    "of somebody else": lambda issuer, server: issuer.token(audience=server.url, sub=SUBJECT + "x"),
    "of an agent by its name": lambda issuer, server: issuer.token(audience=server.url, sub="reviewer"),
    "of a number": lambda issuer, server: issuer.token(audience=server.url, sub=5),
    "by an unknown key": lambda issuer, server: issuer.token("unknown", audience=server.url),
    "by an unknown key that takes a known one's number": lambda issuer, server: issuer.token(
        "unknown", audience=server.url, headers={"kid": "first"}
    ),
    "by a key that it brings along": with_its_own_key,
    "by another algorithm than its key's": lambda issuer, server: issuer.token(
        "second", audience=server.url, headers={"kid": "first"}
    ),
    "with an extension that must be understood": lambda issuer, server: issuer.token(
        audience=server.url, headers={"crit": ["x"], "x": 1}
    ),
    "the hash of the public key": with_hash_of_the_public_key,
    "no signature": without_signature,
    "changed claims": with_changed_claims,
    "until the end of time": lambda issuer, server: issuer.token(audience=server.url, exp=10**400),
    "no JSON": lambda issuer, server: f"{encoded(b'{')}.{encoded(b'{}')}.{encoded(b'x')}",
    "a list for a header": lambda issuer, server: f"{encoded([])}.{encoded({})}.{encoded(b'x')}",
    "a number for an algorithm": lambda issuer, server: f"{encoded({'alg': 1})}.{encoded({})}.{encoded(b'x')}",
    "many parts": lambda issuer, server: "." * 1_000,
    "deep": lambda issuer, server: f"{encoded(b'[' * 4_000)}.{encoded(b'[' * 4_000)}.x",
    "what the file of agents has": lambda issuer, server: agents.by_subject(SUBJECT),
}


@pytest.mark.parametrize("name", FORGED)
def test_no_token_is_taken_that_is(server, issuer, name):
    status, fields = asked(server, FORGED[name](issuer, server))
    assert (status, 'error="invalid_token"' in fields["www-authenticate"]) == (401, True)
    assert "Traceback" not in server.said()


@pytest.mark.parametrize("key", ["first", "second"])
def test_tokens_of_each_key_are_taken(server, issuer, key):
    assert asked(server, issuer.token(key, audience=server.url))[0] == 200
    assert asked(server, issuer.token(key, audience=["https://other.example.org", server.url]))[0] == 200


def test_keys_are_taken_over_as_their_file_changes(server, issuer):
    token = issuer.token("first", audience=server.url)
    issuer.publish("second")
    assert asked(server, token)[0] == 401
    issuer.file.write_text('{"keys": [')  # half written
    assert asked(server, issuer.token("second", audience=server.url))[0] == 200
    issuer.publish()
    assert asked(server, issuer.token("second", audience=server.url))[0] == 401
    issuer.publish("first", "second")
    assert asked(server, token)[0] == 200


def nameless(issuer, server, key):
    """A token that does not say which key has signed it."""
    now = int(time.time())
    said = {"iss": issuer.url, "sub": SUBJECT, "aud": server.url, "exp": now + 300}
    return jwt.encode(said, private(key), ALGORITHMS[key])


def test_a_token_that_names_no_key_is_tried_against_the_first(server, issuer):
    first, second = public("first"), [public("second") | {"kid": str(number)} for number in range(MAX_TRIED)]
    try:
        for keys, status in (([*second[1:], first], 200), ([*second, first], 401)):
            issuer.file.write_text(json.dumps({"keys": keys}))
            assert asked(server, nameless(issuer, server, "first"))[0] == status
            assert asked(server, issuer.token("first", audience=server.url))[0] == 200
    finally:
        issuer.publish("first", "second")


@pytest.mark.long  # seen by the same look as its file of agents, of which a plain test of tests/test_monitor.py says so
def test_a_server_ends_where_its_file_of_keys_is_another(project, issuer, tmp_path):
    """As updates by rename are: what the new file says cannot be read, and the old one may say too much."""
    keys = tmp_path / "keys.json"
    keys.write_bytes(issuer.file.read_bytes())
    agents.add(tmp_path / "agents.yaml", "remote", "fledgling-core", SUBJECT)
    options = ["--issuer", issuer.url, "--issuer-keys", str(keys), "--resource", "http://127.0.0.1:{port}/mcp"]
    with serving(project, tmp_path, options, agents_of={"reviewer": "fledgling-core"}) as found:
        (tmp_path / "new.json").write_bytes(keys.read_bytes())
        (tmp_path / "new.json").replace(keys)
        assert found.process.wait(GONE_SECONDS) == 2
        assert f"{keys}: the file was deleted, or another has taken its place" in found.said()


def test_a_stream_ends_with_its_token(server, issuer):
    token = issuer.token(audience=server.url, exp=int(time.time()) - 7)  # ten seconds are for clocks that differ
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    fields = {"Authorization": f"Bearer {token}"}
    status, got, _ = server.answer(request(server, body=body, agent=None, fields=fields))
    assert status == 200
    with server.connect() as stream:
        fields |= {"Mcp-Session-Id": got["mcp-session-id"], "Accept": "text/event-stream"}
        stream.sendall(request(server, "GET", agent=None, fields=fields))
        assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        begun = time.monotonic()
        while stream.recv(4096):
            pass
        assert time.monotonic() - begun < 8
    assert asked(server, token)[0] == 401


def test_what_a_server_does_not_start_with(project, issuer, tmp_path):
    (tmp_path / "private.json").write_text(
        json.dumps({"keys": [json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private("first")))]})
    )
    (tmp_path / "none.json").write_text('{"keys": []}')
    (tmp_path / "text.json").write_text("keys")
    many = [json.loads(issuer.file.read_text())["keys"][0] | {"kid": str(number)} for number in range(33)]
    (tmp_path / "many.json").write_text(json.dumps({"keys": many}))
    (tmp_path / "long.json").write_text(json.dumps({"keys": [], "said": "x" * 2**18}))
    writable = tmp_path / "writable.json"
    writable.write_bytes(issuer.file.read_bytes())
    writable.chmod(0o666)
    (tmp_path / "link.json").symlink_to(issuer.file)
    file = tmp_path / "agents.yaml"
    agents.add(file, "remote", "fledgling-core", SUBJECT)

    def refused(keys=issuer.file, url=issuer.url, resource="https://code.example.org/mcp", agents_file=file):
        options = ["--transport", "http", "--agents", str(agents_file), "--root", str(project)]
        given = {"--issuer": url, "--issuer-keys": keys and str(keys), "--resource": resource}
        options += [word for name, value in given.items() if value for word in (name, value)]
        done = fledgling("serve", *options)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr.splitlines()[-1]

    assert "it holds a private key" in refused(tmp_path / "private.json")
    for keys, why in (  # a start would say it as it says the first
        (tmp_path / "none.json", "it has no public key"),
        (tmp_path / "text.json", "it is not a JSON Web Key Set"),
        (tmp_path / "many.json", "it has more than 32 public keys"),
        (tmp_path / "long.json", "it is longer than 262144 bytes"),
        (writable, "others may write it"),
        (tmp_path / "link.json", "it cannot be read"),
        (tmp_path / "nothing.json", "it cannot be read"),
    ):
        with pytest.raises(ConfigError, match=why):
            issuers.Issuer(issuer.url, "https://code.example.org/mcp", keys)
    assert "issuer_keys is not set, and remote has the tokens of an issuer" in refused(None)
    assert "'http://example.org' is not an https URL" in refused(url="http://example.org")
    assert "is not an https URL" in refused(resource="https://user@example.org/mcp")
    with pytest.raises(ConfigError, match="is not an https URL"):
        issuers.Issuer("https://[", "https://code.example.org/mcp", issuer.file)
    other = tmp_path / "other.yaml"
    agents.add(other, "local", "fledgling-core")
    assert "no agent has a subject" in refused(agents_file=other)
