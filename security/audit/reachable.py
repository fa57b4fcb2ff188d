"""What a probe may name: files, sockets, memory, and a process of the same account, as each probe is to find them."""

import ctypes
import os
import platform
import select
import shutil
import signal
import socket
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fledgling.security import memory_file, user
from fledgling.security.system import prctl

SECONDS = 20.0  # for one call, from a fork on; one that hangs has not been refused
_PR_SET_DUMPABLE = 4  # prctl(2)
# exit(0), by EM_ of elf.h: mov eax, 60; xor edi, edi; syscall. mov x8, 93; mov x0, 0; svc 0
_EXITS = {
    "x86_64": (62, bytes.fromhex("b83c00000031ff0f05")),
    "aarch64": (183, bytes.fromhex("a80b8052000080d2010000d4")),
}


class Victim(NamedTuple):
    """A process of the account that a probe runs under: it echoes what it is sent for as long as it lives."""

    pid: int
    sends: int
    hears: int


class Reachable:
    """What a probe may name with @, made anew for each probe that may change it."""

    def __init__(self, role: str) -> None:
        apart = os.geteuid() == 0 and role not in ("broker", "keeper", "anybody")
        self._account = user.NOBODY if apart else os.geteuid()
        self._place = Path(tempfile.mkdtemp(prefix="fledgling-probe-"))
        self._root = self._place / "root"
        self._root.mkdir()
        for path in (self._place, self._root):
            path.chmod(0o755)
            self._give(path)
        self._listening = [*self._listeners()]
        self.root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        self._victim = self._started()
        self._fds: list[int] = []
        self._values: dict[str, object] = {}
        self._is_sealed = True
        self.is_used = True  # a probe may have changed something

    def value(self, name: str) -> object:
        """Return what stands for a name, as ctypes passes it."""
        return self._values[name]

    def descriptors(self) -> Iterator[tuple[str, int]]:
        """Yield the descriptors by their names."""
        yield from zip(("image", "program", "input", "pipe"), self._fds, strict=True)

    def prepare(self, *, sealed: bool) -> None:
        """Where the last probe may have changed something, put files back, start another victim, open pipes anew."""
        if not self.is_used and self._is_sealed == sealed:
            return
        self._is_sealed = sealed
        for fd in self._fds:
            os.close(fd)
        image = memory_file.create()
        os.write(image, bytes(8192))
        if sealed:
            memory_file.seal(image)
        reading, writing = os.pipe()
        os.write(writing, b"x")
        self._fds = [image, os.open("/bin/true", os.O_RDONLY), reading, writing]
        self._end()
        self._victim = self._started()
        self._plant()
        buffer = ctypes.create_string_buffer(b"x", 8)
        paths = {"file": self._file, "new": self._place / "new", "inside": Path("inside"), "tool": Path("tool")}
        self._values = {
            "cwd": -100,
            "root": self.root,
            "victim": self._victim.pid,
            "buffer": buffer,
            "vector": _buffer(struct.pack("PN", ctypes.addressof(buffer), 1)),
            "owner": _buffer(struct.pack("=ii", 1, self._victim.pid)),  # struct f_owner_ex, F_OWNER_PID
            "queued": _buffer(struct.pack("=iii116x", signal.SIGKILL, 0, -1)),  # siginfo_t of sigqueue(3)
            **{name: ctypes.c_char_p(os.fsencode(path)) for name, path in paths.items()},
            **{name: _buffer(address) for name, address in self._addresses.items()},
            **dict(self.descriptors()),
        }

    def is_hit(self) -> bool:
        """Return whether the victim was signalled: what is sent to it after that, it no longer echoes."""
        with suppress(BrokenPipeError):
            os.write(self._victim.sends, b"?")
        ready, _, _ = select.select([self._victim.hears], [], [], SECONDS)
        return not ready or not os.read(self._victim.hears, 1)

    def close(self) -> None:
        """End the victim and remove the files."""
        self._end()
        shutil.rmtree(self._place)

    @property
    def _file(self) -> Path:
        return self._place / "file"

    def _give(self, path: Path) -> None:
        if self._account != os.geteuid():
            os.chown(path, self._account, self._account)

    def _plant(self) -> None:
        """Two files of the account, one of them below the root, where there is a program, too; and nothing else."""
        kept = {self._root, self._place / "unix"}
        for made in {*self._place.iterdir(), *self._root.iterdir()} - kept:
            made.rmdir() if made.is_dir() and not made.is_symlink() else made.unlink()
        for path in (self._file, self._root / "inside"):
            path.write_text("as it was\n")
            path.chmod(0o644)
            self._give(path)
        (self._root / "tool").write_bytes(_program())
        (self._root / "tool").chmod(0o755)

    def _listeners(self) -> Iterator[socket.socket]:
        """Yield what a socket may reach: TCP and UDP on this machine, a Unix socket with a path and one without."""
        unix, abstract = self._place / "unix", f"\0fledgling-probe-{os.getpid():08x}"
        internet = ("127.0.0.1", 0)
        kinds: dict[str, tuple[int, int, str | tuple[str, int]]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, internet),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, internet),
            "unix": (socket.AF_UNIX, socket.SOCK_DGRAM, str(unix)),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
        }
        self._addresses = {}
        for name, (family, kind, address) in kinds.items():
            listening = socket.socket(family, kind)
            listening.bind(address)
            if kind == socket.SOCK_STREAM:
                listening.listen()
            yield listening
            if family == socket.AF_INET:
                port = listening.getsockname()[1]
                self._addresses[name] = struct.pack("=HH4s8x", family, socket.htons(port), bytes([127, 0, 0, 1]))
            else:
                self._addresses[name] = struct.pack("=H108s", family, os.fsencode(str(address)))
        unix.chmod(0o666)

    def _started(self) -> Victim:
        heard, sends = os.pipe()
        hears, says = os.pipe()

        def echo() -> None:
            os.close(sends)
            if self._account != os.geteuid():
                user.become(self._account, self._account)
                prctl(_PR_SET_DUMPABLE, 1)  # as a process is that another program has become
            while data := os.read(heard, 1):
                os.write(says, data)

        pid = forked(echo)
        os.close(heard)
        os.close(says)
        return Victim(pid, sends, hears)

    def _end(self) -> None:
        os.kill(self._victim.pid, signal.SIGKILL)
        os.waitpid(self._victim.pid, 0)
        os.close(self._victim.sends)
        os.close(self._victim.hears)


def _buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, len(data))


def _program() -> bytes:
    """Return a program that needs no other file, and does nothing: elf(5), for 64 bits. Its code is exit(0)."""
    machine, code = _EXITS.get(platform.machine(), (0, b""))
    address, head, entry = 0x400000, 64, 56
    start, size = address + head + entry, head + entry + len(code)
    kind = struct.pack("<16sHHI", b"\x7fELF\2\1\1", 2, machine, 1)
    header = kind + struct.pack("<QQQIHHHHHH", start, head, 0, 0, head, entry, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, size, size, 0x1000) + code


def forked(run: Callable[[], object]) -> int:
    """Run a function in a process of its own, which ends with 1 behind it; return its process id."""
    pid = os.fork()
    if pid == 0:
        try:
            run()
        except Exception as problem:  # noqa: BLE001  (a probe that cannot be made is said to be broken)
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        os._exit(1)
    return pid
