"""Serving leaves nothing behind: no file is created or changed, and no call of the system tries to.

The one that asks for a socket is refused: what is refused is seen where all calls are.
"""

import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from conftest import serve_command
from running import CALLS, PATIENCE, QUERY_WORKER, Server, back_processes, is_alive, until

from fledgling.messages.control import Images

pytestmark = pytest.mark.usefixtures("executed")

TRACED = (
    "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
)
TRACED += "unlink,unlinkat,rmdir,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,utime,utimensat,setxattr,"
TRACED += "socket,connect,bind,execve,memfd_create,"
TRACED += "inotify_init,inotify_init1,inotify_add_watch,fanotify_init,fanotify_mark"

OPENING = re.compile(r'open(?:at)?\((?:AT_FDCWD, |\d+, )?"(?P<path>.*?)", (?P<flags>[A-Z_|]+)')
NAME = re.compile(r"^(\w+)\(")
# DuckDB asks who its user is, and glibc a daemon of names: our filter refuses it the socket.
REFUSED = "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0) = -1 EPERM"
DEVICES = {"/dev/null", "/dev/tty"}


def snapshot(*roots):
    """Path -> what would change if it was written: times, size, inode, mode."""
    found = {}
    for root in roots:
        for directory, names, files in os.walk(root):
            for path in (directory, *(os.path.join(directory, name) for name in (*names, *files))):
                entry = os.lstat(path)
                found[path] = (entry.st_mtime_ns, entry.st_ctime_ns, entry.st_size, entry.st_ino, entry.st_mode)
    return found


def suffixes(paths):
    """How the names of those end that are no directories."""
    return {os.path.splitext(path)[1] for path in paths if not os.path.isdir(path)}


def use(server, edited=None):
    """Rounds of every tool, wrong ones among them; a worker is killed, and a file edited where there is one."""
    server.begin()
    number = 1
    for turn in range(2):
        if edited:
            (edited / "edited.py").write_text(f"value = {turn}\n")
        for tool, arguments in [
            *CALLS,
            ("query", {"sql": "SELECT * FROM content"}),
            ("query", {"sql": "COPY files TO 'x'"}),
        ]:
            number += 1
            server.call(number, tool, arguments)
            assert server.receive()["id"] == number
        if turn == 0:
            for worker in back_processes(server.seen, QUERY_WORKER):
                worker.kill()


@pytest.fixture
def places(tmp_path, project):
    """Every place where programs like to leave something, and the environment that names them."""
    environment = {"PATH": os.environ["PATH"]}
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        environment[name] = str(tmp_path / name)
        (tmp_path / name).mkdir()
    (tmp_path / "cwd").mkdir()
    shutil.copytree(project, tmp_path / "project", symlinks=True)
    return tmp_path, environment


@pytest.mark.anyio
@pytest.mark.parametrize(
    "is_compiled",
    [pytest.param(True, id="compiled"), pytest.param(False, id="not compiled", marks=pytest.mark.long)],
)
async def test_no_file_is_created_or_changed(places, is_compiled):
    """But for bytecode of what Python loads, where there is none and nobody forbids it: by the broker, as it starts."""
    place, environment = places
    watched = (place, Path(sysconfig.get_path("purelib")), Path(__file__).parent.parent / "fledgling")
    command = serve_command(place / "project", "--profile", "fledgling-analyst")
    if not is_compiled:
        (place / "bytecode").mkdir()
        command[1:3] = ["-I", "-X", f"pycache_prefix={place / 'bytecode'}"]
    before = snapshot(*watched)
    with Server(place / "project", command=command, cwd=place / "cwd", env=environment) as server:
        server.begin()
        compiled = snapshot(place / "bytecode") if not is_compiled else {}
        use(server)
        left = [server.seen, *back_processes(server.seen)]
        server.process.kill()
        await until(lambda: server.process.poll() is not None and not any(map(is_alive, left)))
    after = snapshot(*watched)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert changed == compiled.keys()
    assert suffixes(changed) == ({".pyc"} if compiled else set())


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize(
    "tracing",  # with --seccomp-bpf, which costs half as much, strace does not see what our filters refuse
    [
        pytest.param(["strace", "--seccomp-bpf"], id="let through"),
        pytest.param(["strace"], id="refused, too", marks=pytest.mark.long),
    ],
)
def test_no_system_call_writes_to_a_path_opens_a_socket_or_starts_a_program(places, tracing):
    place, environment = places
    tracing = [*tracing, "-ff", "-qq", "-o", str(place / "trace"), "-e", f"trace={TRACED}"]
    command = serve_command(place / "project", "--profile", "fledgling-analyst")
    with Server(place / "project", command=[*tracing, *command], cwd=place / "cwd", env=environment) as server:
        use(server, place / "project")
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0
    lines = [line for trace in place.glob("trace.*") for line in trace.read_text(errors="replace").splitlines()]
    assert not [line for line in lines if "killed by SIGSYS" in line]
    tried = [line for line in lines if NAME.match(line) and not line.startswith(REFUSED)]
    opened = [OPENING.match(line) for line in tried if line.startswith("open")]
    assert all(opened)
    assert len(opened) > 1000
    written = {found["path"] for found in opened if {"O_WRONLY", "O_RDWR", "O_CREAT"} & set(found["flags"].split("|"))}
    assert {path for path in written if not re.fullmatch(r"/proc/(self|\d+)/fd/\d+", path)} <= DEVICES  # the image
    others = {NAME.match(line)[1] for line in tried if not line.startswith("open")}
    assert others <= {"execve", "memfd_create", "ftruncate"}, others
    started = [line for line in tried if line.startswith("execve")]
    # Broker, indexer, a query worker, the one that took over, and the follower; on a busy machine another is started.
    assert len(started) in (5, 6)
    assert all(f'"{sys.executable}"' in line for line in started)
    assert len([line for line in tried if line.startswith("memfd_create")]) == len(Images.__struct_fields__) + 3
