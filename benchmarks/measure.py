"""What one command costs: seconds of wall and processor, and the most memory its processes held together."""

import asyncio
import compileall
import ctypes
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, NamedTuple, Self

import psutil

import fledgling

_PSS = re.compile(r"^(Pss|Pss_Shmem): +(\d+) kB$", re.MULTILINE)  # in proc_pid_smaps(5)
POLL = 0.05  # seconds between two looks at memory
PR_SET_CHILD_SUBREAPER = 36
ORPHAN_SECONDS = 5.0  # until a process that was left behind is killed
LONGEST = 3600.0  # seconds a command may take
REST_SECONDS = 3.0  # without work until a server is at rest: it begins the graph a second behind its index
AT_REST = 0.05  # of a core, which a server may take that only looks after itself


class RunCost(NamedTuple):
    """Of one run; `cpu` counts children, `memory` is the peak in bytes, 0 where nobody looked."""

    wall: float
    cpu: float
    memory: int
    output: str


class CommandError(Exception):
    """A command failed; the message is the end of what it said."""


class MemoryWatch:
    """Looks at a process and its children until it is left.

    >>> with MemoryWatch(process.pid) as watch: ...
    >>> watch.peak
    467000000
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(POLL):
            self.peak = max(self.peak, held(self._pid))


def held(pid: int) -> int:
    """Return the bytes that a process and its children hold together: PSS, and memory files that nobody maps."""
    private, shared, files = 0, 0, dict[int, int]()
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            with suppress(OSError):
                text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                pages = {name: int(kilobytes) * 1024 for name, kilobytes in _PSS.findall(text)}
                private += pages["Pss"] - pages["Pss_Shmem"]
                shared += pages["Pss_Shmem"]
                files |= _memory_files(process.pid)
    return private + max(shared, sum(files.values()))


async def rest(pid: int) -> None:
    """Wait until a process and its children have no work left; what makes a graph takes all cores."""
    async with asyncio.timeout(LONGEST):
        while True:
            before = worked(pid)
            await asyncio.sleep(REST_SECONDS)
            after = worked(pid)
            if sum(after.values()) - sum(before.get(each, 0.0) for each in after) < AT_REST * REST_SECONDS:
                return


def worked(pid: int) -> dict[int, float]:
    """Return the seconds of processor time that a process and each of its children have had."""
    found = {}
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            taken = process.cpu_times()
            found[process.pid] = taken.user + taken.system
    return found


def spent(pid: int) -> dict[int, float]:
    """Return the seconds of processor time that a process and each of its children have had.

    Of a child those of what it has waited for are among them: extractors, which end where there is nothing to parse.
    """
    found = {}
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess, OSError):
            of_it = time.clock_gettime(~process.pid << 3 | 2)  # ticks are too coarse: clock_getcpuclockid(3)
            ended = process.cpu_times()
            found[process.pid] = of_it + (0.0 if process == root else ended.children_user + ended.children_system)
    return found


def since(before: Mapping[int, float], pid: int) -> float:
    """Return the seconds of processor time that have been spent since `spent`; not by what is gone by now."""
    return sum(seconds - before.get(each, 0.0) for each, seconds in spent(pid).items())


def started(command: Sequence[str]) -> int:
    """Return the process that was started by this one with a command."""
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if child.cmdline() == list(command):
                return child.pid
    raise LookupError(f"no process runs {command}")


def _memory_files(pid: int) -> dict[int, int]:
    """Return inode -> bytes of the memory files a process has open."""
    found = {}
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if str(fd.readlink()).startswith("/memfd:"):
                status = fd.stat()
                found[status.st_ino] = status.st_blocks * 512
    return found


def compile_modules() -> None:
    """Compile Fledgling's modules, as pip does where it installs them.

    A back process keeps nothing of what it compiles: modules that are newer than what was compiled cost each one anew.
    """
    package = Path(fledgling.__file__).parent
    for folder in (package, *filter(Path.is_dir, package.iterdir())):  # some are links, which are not followed
        compileall.compile_dir(folder, quiet=1)


def adopt() -> None:
    """Make orphans of what is run here children of this process, so that their processor time is counted: prctl(2)."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, *, watch: bool = False
) -> RunCost:
    """Run a command to its end, with its memory watched or not: watching costs some processor time."""
    _orphans()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        clock = threading.Timer(LONGEST, os.killpg, [process.pid, signal.SIGKILL])
        clock.start()
        try:
            with MemoryWatch(process.pid) if watch else nullcontext() as watching:
                _, status, used = os.wait4(process.pid, 0)
        except BaseException:  # interrupted: the command does not outlive the benchmark
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            clock.cancel()
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = used.ru_utime + used.ru_stime + _orphans()
        if process.returncode:
            raise CommandError(f"exit {process.returncode}: {_end(err) or _end(out)}")
        out.seek(0)
        return RunCost(wall, cpu, watching.peak if watching else 0, out.read().decode("utf-8", "replace"))


def _orphans() -> float:
    """Wait for what a command left behind, end what does not end by itself, and return its processor seconds."""
    seconds, patience = 0.0, time.monotonic() + ORPHAN_SECONDS
    with suppress(ChildProcessError):
        while True:
            pid, _, used = os.wait4(-1, os.WNOHANG)
            seconds += used.ru_utime + used.ru_stime
            if not pid:
                time.sleep(POLL / 10)
                if time.monotonic() > patience:
                    for left in psutil.Process().children(recursive=True):
                        left.kill()
    return seconds


def _end(file: IO[bytes]) -> str:
    """Return the last lines of what a command said."""
    file.seek(0)
    lines = file.read().decode("utf-8", "replace").strip().splitlines()
    telling = [line for line in lines if re.search(r"error|fail|refus", line, re.IGNORECASE)]
    return (telling or lines or [""])[-1][:300]
