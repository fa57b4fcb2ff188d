"""Judge of who calls whom in PHP: the language server intelephense, over the sources of Twig. Needs apt and npm."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from corpora import FetchError, fetch, unpack
from uses import Call, Target, calls, report, tally

from fledgling.worker.graph.reasons import Confidence

SERVER = "intelephense@1.18.5"
# A name before a bracket, as far as it stands behind the last backslash; what declares a function is none.
CALLED = re.compile(rb"(?<![\w$\\])((?:\\?\w+\\)*)([A-Za-z_]\w*)\s*\(")
DECLARED = re.compile(rb"\b(function|fn)\s*&?\s*$")

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm, no node"),
]


def test_calls_are_those_of_the_language_server(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    cache = Path(pytestconfig.cache.mkdir("corpora"))
    try:
        root = unpack(fetch("twig", cache), tmp_path / "twig").resolve()
    except FetchError as error:
        pytest.skip(str(error))
    npm = ["npm", "install", "--silent", "--prefix", str(tmp_path / "server"), SERVER]
    subprocess.run(npm, check=True, capture_output=True)
    [script] = (tmp_path / "server/node_modules/intelephense/lib").glob("intelephense.js")
    server = LanguageServer(["node", str(script), "--stdio"], root, tmp_path / "state")
    theirs: dict[Call, set[Target]] = {}
    outside: set[Call] = set()
    try:
        for call, targets, is_known in asked(server, root):
            if targets:
                theirs[call] = targets
            elif is_known:
                outside.add(call)
    finally:
        server.end()
    found = tally(calls(root, "php"), theirs, outside)
    report("twig", found)
    assert found.sites > 4_500
    assert found.found / found.sites >= 0.99
    assert found.precision(Confidence.CERTAIN) >= 0.999, found.wrong[Confidence.CERTAIN]


def asked(server: "LanguageServer", root: Path) -> Iterator[tuple[Call, set[Target], bool]]:
    """Each call of the project, the definitions in it that are meant, and whether the server knows any at all."""
    for path in sorted(root.rglob("*.php")):
        text = path.read_bytes()
        if path.is_symlink() or not text.isascii():  # columns of the protocol are no bytes
            continue
        document = {"uri": uri(path), "languageId": "php", "version": 1, "text": text.decode()}
        server.tell("textDocument/didOpen", textDocument=document)
        for number, line in enumerate(text.split(b"\n")):
            for name in CALLED.finditer(line):
                if DECLARED.search(line[: name.start()]):
                    continue
                at = {"line": number, "character": name.start(2)}
                said = server.ask("textDocument/definition", textDocument={"uri": uri(path)}, position=at) or []
                places = [
                    (within(one["targetUri"], root), one["targetSelectionRange"]["start"]["line"] + 1)
                    for one in listed(said)
                ]
                call = Call(str(path.relative_to(root)), number + 1, name.start(2), name[2].decode())
                yield call, {(to, line) for to, line in places if to}, bool(places)
        server.tell("textDocument/didClose", textDocument={"uri": uri(path)})


def uri(path: Path) -> str:
    return f"file://{quote(str(path))}"


def within(address: str, root: Path) -> str:
    """The path of a file below the root; "" of one that is elsewhere."""
    path = Path(unquote(address.removeprefix("file://")))
    return str(path.relative_to(root)) if path.is_relative_to(root) else ""


def listed(said: Any) -> list[Any]:
    return said if isinstance(said, list) else [said]


class LanguageServer:
    """A language server over its standard input and output, which has read a project."""

    def __init__(self, command: list[str], root: Path, state: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._asked = 0
        self.ask(
            "initialize",
            processId=None,
            rootUri=uri(root),
            workspaceFolders=[{"uri": uri(root), "name": root.name}],
            initializationOptions={"storagePath": str(state), "clearCache": True},
            capabilities={
                "workspace": {"workspaceFolders": True},
                "textDocument": {"definition": {"linkSupport": True}},  # with the place of a definition's name
            },
        )
        self.tell("initialized")
        while self._heard().get("method") != "indexingEnded":
            pass

    def ask(self, method: str, **params: Any) -> Any:
        """Return what the server says to a request."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while (said := self._heard()).get("id") != self._asked or "method" in said:
            pass
        return said.get("result")

    def tell(self, method: str, **params: Any) -> None:
        """Send what is not answered."""
        self._send({"method": method, "params": params})

    def end(self) -> None:
        """Kill it: it holds nothing."""
        self._process.kill()
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _heard(self) -> dict[str, Any]:
        """The next message; what the server asks is answered with nothing."""
        assert self._process.stdout
        length = 0
        while head := self._process.stdout.readline().strip():
            name, _, value = head.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        if "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        return message
