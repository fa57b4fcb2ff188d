"""`fledgling shell`: questions of a pipe, and of a person at a prompt, over one index."""

import importlib.util
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import PATIENCE

from fledgling.broker.cli.shell import MAX_LINE
from fledgling.plain import MAX_SAID_CHARS, MAX_SHOWN

COMMAND = [sys.executable, "-I", "-B", "-m", "fledgling", "shell"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "TERM": "xterm"}
SECONDS = 60.0  # until something is shown, on a machine that is busy

# What is typed, and what each stream has of it, in this order.
LINES = (
    ("search timeout -C 0 -m 1 -t python", "[cut here; go on with: fledgling search ", ""),
    ("fledgling search --color always timeout -m 1 -C 0 -t python", "\x1b[1;31mTIMEOUT\x1b[0m = 30.0", ""),
    ("", "", ""),
    ("SELECT count(*) AS files FROM files", "files\n-----\n   20\n", ""),
    ("query 'SELECT 1 AS a' --format jsonl", '{"a":1}', ""),
    ("search timeout -l -t python", "src/core/config.py\nsrc/core/engine.py\n", ""),
    ("explore --json", '"total_files": 20', ""),
    ("nope", "", "'nope' is not a tool. Type `search timeout -t python`"),
    ("n" * MAX_LINE, "", f"fledgling: {'n' * MAX_SHOWN!r} is not a tool. Type"),
    (f"symbols --{'n' * 9000}", "", f"fledgling: No such option '--{'n' * (MAX_SAID_CHARS - 19)}…\n"),
    ("n" * MAX_LINE + " explore", "", "fledgling: a line has more than 65,536 characters; ask for less at once\n"),
    ("n " * MAX_LINE * 3, "", "fledgling: a line has more than 65,536 characters; ask for less at once\n"),
    ('read "x', "", "No closing quotation; quote it as in a shell"),
    ("symbols --root x", "", "--root is a setting of the whole shell"),
    ("read src/core/enginee.py", "", "The nearest: src/core/engine.py"),
    ("search", "", "Missing argument 'QUERY'"),
    ("FROM read_text('/etc/hostname')", "", "read_text"),
    ("read --help", "Usage: read [OPTIONS]", ""),
    ("help", "Tools of the profile fledgling-analyst: explore, ", ""),
    ("help symbols", "Usage: symbols [OPTIONS]", ""),
    ("search -F 'no such text'", "Nothing found in", ""),
    ("exit", "", ""),
    ("explore", "", ""),
)


def test_lines_of_a_pipe_are_answered_in_order(project: Path) -> None:
    run = [*COMMAND, "--root", str(project), "--profile", "fledgling-analyst"]
    typed = "".join(f"{line}\n" for line, _, _ in LINES)
    done = subprocess.run(
        run, input=typed, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    for stream, column in ((done.stdout, 1), (done.stderr, 2)):
        at = 0
        for row in LINES:
            at = stream.find(row[column], at)
            assert at >= 0, (row, stream)
    assert done.returncode == 1  # of the last line that was answered
    assert "Traceback" not in done.stderr


def test_an_edit_is_in_the_next_answer(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    run = [*COMMAND, "--root", str(tmp_path)]
    with subprocess.Popen(run, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdin
        assert shell.stdout
        for text in ("first", "second"):
            (tmp_path / "a.py").write_text(f"{text} = 1\n")
            shell.stdin.write(f"search {text} -C 0\n")
            shell.stdin.flush()
            assert [shell.stdout.readline() for _ in range(3)] == ["1 hit in 1 file\n", "a.py\n", f"1:{text} = 1\n"]
        shell.stdin.close()
        assert shell.wait(SECONDS) == 0


class Typing:
    """A person at a terminal."""

    def __init__(self, root: Path) -> None:
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            os.execve(COMMAND[0], [*COMMAND, "--root", str(root)], ENVIRONMENT)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def shown(self, text: str) -> bool:
        """Wait until a text is on the screen; where the cursor is, is told whoever asks."""
        seen, until = b"", time.monotonic() + SECONDS
        while text.encode() not in seen and time.monotonic() < until:
            if select.select([self._terminal], [], [], 0.2)[0]:
                try:
                    read = os.read(self._terminal, 2**16)
                except OSError:  # the other end is closed
                    break
                seen += read
                if b"\x1b[6n" in read:
                    self.type("\x1b[1;1R")
        return text.encode() in seen

    def end(self) -> int:
        """Return the exit code, once the shell has ended."""
        for _ in range(int(SECONDS * 10)):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self._terminal)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)
        raise TimeoutError


@pytest.mark.skipif(importlib.util.find_spec("prompt_toolkit") is None, reason="needs the extra `shell`")
def test_prompt_completes_remembers_and_leaves_nothing(project: Path) -> None:
    before = sorted(project.rglob("*"))
    person = Typing(project)
    assert person.shown("fledgling>")
    person.type("read src/core/en\t")
    assert person.shown("gine.py")
    person.type(" -s process_batch\r")
    assert person.shown("lines 16-26 of 49")
    assert person.shown("fledgling>")
    person.type("nonsense")
    assert person.shown("nonsense")
    person.type("\x03")  # Ctrl-C: another line
    assert person.shown("fledgling>")
    person.type("\x1b[A")  # the one before, once more
    assert person.shown("process_batch")
    person.type("\r")
    assert person.shown("lines 16-26 of 49")
    assert person.shown("fledgling>")
    person.type("\x04")  # Ctrl-D
    assert person.end() == 0
    assert sorted(project.rglob("*")) == before


def test_prompt_without_the_extra_says_what_to_install(project: Path) -> None:
    program = "import sys; sys.modules['prompt_toolkit'] = None; from fledgling.broker.cli.main import main; main()"
    run = f'{sys.executable} -I -c "{program}" shell --root {project}'
    done = subprocess.run(
        ["script", "-qec", run, os.devnull],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, "pip install 'fledgling-lens[shell]'" in done.stdout) == (2, True)
