"""Confinement as the kernel and an operator see it: what holds which process, and what if a layer is missing.

What a confined process can still do is tried from inside by the audit: tests/test_audit.py and tests/test_ablation.py.
"""

import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from conftest import serve_command
from running import FOLLOWER, INDEXER, PATIENCE, QUERY_WORKER, Server, answered, back_processes, first, fronted, until

from fledgling.broker.refused import NOT_STARTED
from fledgling.messages.answers import Exploration
from fledgling.messages.control import CONFINED, Layer
from fledgling.messages.questions import Explore
from fledgling.security import inspection, landlock
from fledgling.security.confinement import DEGRADABLE, LAYERS, ROLES
from fledgling.security.system_calls import CHECKS, MACHINES, program, rules

BACK = ("query worker", "extractor", "extractor's parent", "indexer")
NARROWED = (*BACK, "bundler", "keeper", "connector", "embedder")
X86 = MACHINES["x86_64"]
HEADERS = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm-generic/unistd.h")]

# Every call of Linux that takes a path, changes one, or makes a way out of the process. From the manual pages.
NAMES_A_PATH = frozenset(
    """
    open openat openat2 creat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat chdir
    mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod fchmodat
    fchmodat2 chown lchown fchownat truncate utime utimes utimensat futimesat mknod mknodat statfs getxattr
    lgetxattr setxattr lsetxattr listxattr llistxattr removexattr lremovexattr inotify_add_watch fanotify_mark
    name_to_handle_at mount umount2 pivot_root chroot swapon swapoff acct uselib quotactl open_tree move_mount
    fsopen fspick mount_setattr execve execveat
    """.split()  # noqa: SIM905
)
LEADS_OUT = frozenset(
    """
    socket connect bind listen accept accept4 socketpair sendto sendmsg recvfrom recvmsg ptrace process_vm_readv
    process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal kill kcmp io_uring_setup io_uring_enter bpf
    perf_event_open userfaultfd keyctl add_key request_key mount setns unshare open_by_handle_at shmget shmat msgget
    semget mq_open init_module kexec_load personality modify_ldt memfd_secret
    """.split()  # noqa: SIM905
)

# Run a command below a filter that knows no such call, as an older kernel or a container would.
WITHOUT = """
import ctypes, os, struct, sys
from fledgling.security import no_new_privs
from fledgling.security.system import call
missing, command = sys.argv[1].split(","), sys.argv[2:]
step = lambda code, value, yes=0, no=0: struct.pack("=HBBI", code, yes, no, value)
unknown = b"".join(step(0x15, int(number), 0, 1) + step(0x06, 0x00050026) for number in missing)
code = step(0x20, 0) + unknown + step(0x06, 0x7FFF0000)
steps = ctypes.create_string_buffer(code, len(code))
filtered = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(steps))
no_new_privs.confine()
call("seccomp", 1, 0, ctypes.create_string_buffer(filtered, len(filtered)))
os.execv(command[0], command)
"""
MISSING = {"landlock": "444", "seccomp": "317"}  # the call without which there is no such layer, on x86-64
REFUSED = {
    "landlock": "landlock_create_ruleset: Function not implemented",
    "seccomp": "seccomp: Function not implemented",
}


def without(layer: str, command: list[str]) -> list[str]:
    return [sys.executable, "-I", "-c", WITHOUT, MISSING[layer], *command]


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


# ---- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", NARROWED)
def test_every_call_that_leads_out_of_a_process_is_refused(role: str) -> None:
    verdicts = {rule.name: rule.verdict for rule in rules(role, X86)}
    allowed = {name for name in (*NAMES_A_PATH, *LEADS_OUT) if verdicts.get(name, ".") not in {".", "!"}}
    reads = {"openat", "newfstatat", "statx", "readlink", "readlinkat"}
    further = {"indexer": reads, "keeper": {"unlinkat"}, "connector": {"socket", "connect"}}
    assert allowed == further.get(role, set())
    assert role != "indexer" or verdicts["openat"] == "reading"


def test_only_the_process_above_an_extractor_may_fork_and_only_the_broker_may_start_a_program() -> None:
    for role in NARROWED:
        verdicts = {rule.name: rule.verdict for rule in rules(role, X86)}
        assert {verdicts["execve"], verdicts["execveat"], verdicts["vfork"]} == {"!"}
        assert verdicts["socket"] == ("tcp" if role == "connector" else "!")
        forks = {verdicts["fork"], verdicts["clone"]}
        if role in ("extractor", "keeper", "embedder"):
            assert forks == {"!"}
        else:
            assert forks == ({"+", "fork"} if role in ("extractor's parent", "connector") else {"!", "thread"})


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("machine", MACHINES)
def test_table_has_a_known_verdict_for_each_role_and_no_call_twice(role: str, machine: str) -> None:
    found = rules(role, MACHINES[machine])
    assert {rule.verdict for rule in found} <= {"+", ".", "?", "!", *CHECKS}
    assert len({rule.name for rule in found}) == len({rule.number for rule in found}) == len(found)
    assert len(program(role, MACHINES[machine])) < 8 * 4096  # BPF_MAXINSNS


@pytest.mark.parametrize(("machine", "header"), [*zip(MACHINES, HEADERS, strict=True)])
def test_numbers_are_those_of_the_kernel_headers(machine: str, header: Path) -> None:
    if not header.exists():
        pytest.skip("needs the kernel's headers")
    shown = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in shown}
    numbers["newfstatat"] = {"x86_64": 262, "aarch64": 79}[machine]  # the generic header calls it fstatat
    known = [rule for rule in rules("indexer", MACHINES[machine]) if rule.name in numbers]
    assert len(known) > 150
    assert [rule for rule in known if numbers[rule.name] != rule.number] == []


# What runs, and what a call is: role, name, arguments -> what the filter says. High bits are those the kernel ignores.
ALLOWED, NOT_ALLOWED, ABSENT, ENDED = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
HIGH, DGRAM, STREAM = 1 << 32, 2, 1
THREAD, FORK, VFORK = 0x003D0F00, 0x01200011, 0x4111
JUDGED = [
    (BACK, "fcntl", (0, 10, 9), NOT_ALLOWED),  # F_SETSIG
    (BACK, "fcntl", (0, HIGH | 10, 9), NOT_ALLOWED),
    *[
        (ROLES, "fcntl", (0, command, 1), NOT_ALLOWED)
        for command in (5, 6, 7, 8, 9, 11, 15, 16, 37, 38, 1024, 1026, 1031, 1035)
    ],
    (ROLES, "fcntl", (0, 4, os.O_ASYNC), NOT_ALLOWED),
    (ROLES, "fcntl", (0, 4, HIGH | os.O_ASYNC | os.O_NONBLOCK), NOT_ALLOWED),
    (BACK, "fcntl", (0, 4, os.O_NONBLOCK), NOT_ALLOWED),
    (("broker",), "fcntl", (0, 4, os.O_NONBLOCK), ALLOWED),
    (("indexer", "broker"), "fcntl", (0, 1030, 0), ALLOWED),
    (("indexer", "broker"), "fcntl", (0, 1033, 15), ALLOWED),
    (("query worker", "extractor", "extractor's parent"), "fcntl", (0, 3, 0), NOT_ALLOWED),
    (BACK, "ioctl", (0, 0x5401, 0), NOT_ALLOWED),
    (("broker",), "ioctl", (0, 0x5401, 0), ALLOWED),
    *[
        (ROLES, "ioctl", (0, asked, 0), NOT_ALLOWED)
        for asked in (0x5412, HIGH | 0x5412, 0x541C, 0x5452, 0x8901, 0x8902)
    ],
    (("keeper",), "unlinkat", (5, 1, 0), ALLOWED),
    *[(("keeper",), "unlinkat", (5, 1, flags), NOT_ALLOWED) for flags in (0x200, HIGH | 0x200)],  # AT_REMOVEDIR
    (("indexer",), "openat", (0, 0, os.O_RDONLY), ALLOWED),
    (
        ("indexer",),
        "openat",
        (0, 0, os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_NONBLOCK | os.O_NOCTTY),
        ALLOWED,
    ),
    *[
        (("indexer",), "openat", (0, 0, flags), NOT_ALLOWED)
        for flags in (os.O_RDWR, os.O_WRONLY, 3, os.O_CREAT, os.O_TRUNC, os.O_PATH, os.O_TMPFILE, os.O_ASYNC)
    ],
    *[
        (("broker",), "openat", (0, 0, flags), NOT_ALLOWED)
        for flags in (os.O_RDWR, os.O_WRONLY, os.O_CREAT, os.O_TRUNC, os.O_TMPFILE, os.O_ASYNC, HIGH | os.O_CREAT)
    ],
    (("query worker", "extractor", "extractor's parent"), "openat", (0, 0, 0), NOT_ALLOWED),
    (BACK, "mmap", (0, 1, 3, 0x22), ALLOWED),
    (BACK, "mmap", (0, 1, 3, 0x21), ALLOWED),  # shared with what it forks
    (BACK, "mmap", (0, 1, 1, 0x2), ALLOWED),
    *[(BACK, "mmap", (0, 1, 3, flags), NOT_ALLOWED) for flags in (0x1, 0x3, 0x0, HIGH | 0x1)],  # shared with a file
    *[(BACK, "mmap", (0, 1, prot, 0x22), NOT_ALLOWED) for prot in (4, 7, HIGH | 5)],
    *[(BACK, "mprotect", (0, 1, prot), NOT_ALLOWED) for prot in (4, 7, HIGH | 5)],
    *[(ROLES, "futex", (0, operation), ALLOWED) for operation in (0, 1, 128, 129, 137, 393)],
    *[(ROLES, "futex", (0, operation), NOT_ALLOWED) for operation in (2, 6, 7, 8, 11, 12, 13, 134, HIGH | 134)],
    (BACK, "madvise", (0, 1, 4), ALLOWED),
    *[(BACK, "madvise", (0, 1, advice), NOT_ALLOWED) for advice in (9, 10, 12, 21, 100, 101)],
    (("query worker", "indexer", "broker"), "clone", (THREAD,), ALLOWED),
    (("extractor's parent", "broker"), "clone", (FORK,), ALLOWED),
    (("broker",), "clone", (VFORK,), ALLOWED),
    (("query worker", "indexer"), "clone", (FORK,), NOT_ALLOWED),
    (("extractor",), "clone", (THREAD,), ENDED),
    *[
        (("query worker", "extractor's parent", "indexer", "broker"), "clone", (flags,), NOT_ALLOWED)
        # CLONE_PARENT, PTRACE, PIDFD, NEWUSER, NEWPID, UNTRACED, IO; no signal; SIGKILL; memory shared by no thread
        for flags in (0x8011, 0x2011, 0x1011, 0x10000011, 0x20000011, 0x800011, 0x80000011, 0, 9, HIGH | 9, 0x111)
    ],
    (("extractor's parent", "broker"), "seccomp", (1, 0, 0), ALLOWED),
    *[(("extractor's parent", "broker"), "seccomp", (1, flag, 0), NOT_ALLOWED) for flag in (1, 2, 4, 8, 16, 32)],
    (("extractor's parent", "broker"), "seccomp", (2, 0, 0), NOT_ALLOWED),
    (("extractor's parent", "broker"), "prctl", (1, 9), ALLOWED),
    *[
        (("extractor's parent",), "prctl", made, NOT_ALLOWED)
        for made in ((1, 0), (1, 15), (38, 1), (15, 0), (HIGH | 4, 1))
    ],
    *[(ROLES, "prctl", (option, 1), NOT_ALLOWED) for option in (4, 8, 14, 22, 28, 35, 36, 62, 0x59616D61)],
    (("broker",), "prctl", (38, 1), ALLOWED),
    (("broker",), "socketpair", (1, STREAM | os.O_CLOEXEC, 0), ALLOWED),
    *[(("broker",), "socketpair", made, NOT_ALLOWED) for made in ((1, DGRAM, 0), (1, 5, 0), (2, 1, 0), (40, 1, 0))],
    *[(("connector",), "socket", made, ALLOWED) for made in ((2, 1, 0), (10, 0x80801, 6))],
    *[
        (("connector",), "socket", made, NOT_ALLOWED)
        for made in ((1, 1, 0), (2, 2, 0), (2, 3, 0), (16, 3, 0), (17, 3, 0), (40, 1, 0), (2, 1, 132), (2, 5, 0))
    ],
    (("embedder",), "socket", (2, 1, 0), ENDED),
    (("embedder",), "connect", (), ENDED),
    *[
        (("embedder",), name, (), NOT_ALLOWED)
        for name in ("setitimer", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn")
    ],
    (("broker",), "sendto", (0, 0, 1, 0, 0, 0), ALLOWED),
    *[(("broker",), "sendto", (0, 0, 1, 0, address, 16), NOT_ALLOWED) for address in (1, HIGH, 0x7FFF00000000)],
    *[(("broker",), "kill", (pid, 9), ALLOWED) for pid in (4242, 2**64 - 4242)],  # or the group that a process leads
    *[(("broker",), "kill", (pid, 9), NOT_ALLOWED) for pid in (0, 2**32 - 1, 2**64 - 1, HIGH)],
    (("broker", "extractor's parent"), "prlimit64", (0, 7, 0, 0), ALLOWED),
    *[(("broker", "extractor's parent"), "prlimit64", (pid, 7, 0, 0), NOT_ALLOWED) for pid in (1, 4242, HIGH | 1)],
]


def verdict(role: str, machine: str, name: str, arguments: tuple[int, ...], audit: int | None = None) -> int:
    """What the filter says of a call: it is run here as the kernel runs it."""
    known = MACHINES[machine]
    number = next((rule.number for rule in rules(role, known) if rule.name == name), None) if name else -1
    if number is None:
        return NOT_ALLOWED  # there is no such call, or it is not listed
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<iIQ6Q", number, audit or known.audit, 0, *padded)
    steps = [*struct.iter_unpack("=HBBI", program(role, known))]
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                [accumulator] = struct.unpack_from("<I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x35:
                at += if_true if accumulator >= value else if_false
            case 0x06:
                return value


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide_where_the_table_says_so(machine: str) -> None:
    wrong = [
        (role, name, arguments, hex(found))
        for roles, name, arguments, expected in JUDGED
        for role in roles
        if (found := verdict(role, machine, name, arguments)) != expected and {found, expected} != {NOT_ALLOWED, ENDED}
    ]
    assert wrong == []


@pytest.mark.parametrize("role", ROLES)
def test_calls_by_another_door_end_the_process(role: str) -> None:
    """x32 numbers and those of 32-bit programs mean other calls."""
    assert verdict(role, "x86_64", "read", (), audit=0x40000003) == ENDED
    assert verdict(role, "aarch64", "read", (), audit=0x40000028) == ENDED
    assert verdict(role, "x86_64", "", ()) == ENDED


def test_a_call_that_is_not_listed_is_refused_everywhere() -> None:
    for machine in MACHINES.values():
        last = {role: struct.unpack("=HBBI", program(role, machine)[-8:]) for role in ROLES}
        assert {role: step[3] for role, step in last.items()} == dict.fromkeys(NARROWED, NOT_ALLOWED) | {
            "broker": ABSENT
        }


# ---- what holds -----------------------------------------------------------------------------------------------------


def threads(process: psutil.Process) -> list[dict[str, str]]:
    """What the kernel shows of each thread of a process that has not ended meanwhile."""
    found = []
    with suppress(FileNotFoundError):  # the process has ended
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                found.append(status(int(task.name)))
    return found


def is_held(process: psutil.Process, filters: int = 2) -> bool:
    """Whether each of its threads is: a back process by a filter of its own besides that of the broker."""
    found = threads(process)
    return bool(found) and all(
        (shown["NoNewPrivs"], shown["Seccomp"]) == ("1", "2") and int(shown["Seccomp_filters"]) >= filters
        for shown in found
    )


@pytest.mark.anyio
@pytest.mark.usefixtures("executed")
async def test_every_thread_of_every_process_is_confined(staged: Path) -> None:
    with Server(staged) as server:
        indexer = await first(server.seen, INDEXER)
        await until(lambda: is_held(indexer))
        indexer.suspend()  # else it ends when it has the index, and what it has forked with it
        server.begin()
        server.call(2, "explore", {})
        await first(server.seen, QUERY_WORKER)
        await until(lambda: len(indexer.children()) > 1)  # the lister, and the process above extractors
        building = [indexer, *indexer.children(recursive=True)]
        await until(lambda: all(map(is_held, building)))
        for process in building:
            assert {shown["CapEff"] for shown in threads(process)} == {"0" * 16}
        indexer.resume()
        server.receive()
        follower = await first(server.seen, FOLLOWER)
        await until(lambda: all(map(is_held, [follower, *follower.children(recursive=True)])))
        assert {shown["CapEff"] for shown in threads(follower)} == {"0" * 16}
        [worker] = back_processes(server.seen, QUERY_WORKER)
        await until(lambda: is_held(worker))
        assert len(threads(worker)) > 1
        for shown in threads(worker):
            assert {shown[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
            if os.geteuid() == 0:
                assert set(shown["Uid"].split()) == set(shown["Gid"].split()) == {"65534"}
                assert shown["CapBnd"] == "0" * 16
                assert shown["Groups"].strip() == ""
        assert is_held(server.seen, filters=1)


# Threads that end all the time, as those of a process do that is just done.
ENDING = """
import threading
print(flush=True)
while True:
    started = [threading.Thread(target=int) for _ in range(4)]
    for thread in started: thread.start()
    for thread in started: thread.join()
"""


def test_process_is_looked_at_while_threads_of_it_end() -> None:
    with subprocess.Popen([sys.executable, "-I", "-c", ENDING], stdout=subprocess.PIPE) as unconfined:
        assert unconfined.stdout
        unconfined.stdout.readline()
        layers = tuple(Layer(name) for name in LAYERS)
        found = {inspection.problem("query worker", unconfined.pid, layers, CONFINED) for _ in range(2000)}
        unconfined.kill()
    assert len(found) == 1
    assert "the kernel says" in str(found)


def test_process_that_has_ended_is_not_used() -> None:
    with subprocess.Popen([sys.executable, "-I", "-c", ""]) as ended:
        pass
    found = inspection.problem("query worker", ended.pid, (), CONFINED)
    assert found == "the query worker ended before it could be looked at"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to start as another user")
def test_project_of_another_user_is_indexed_as_that_user(tmp_path: Path) -> None:
    """What only its owner may read is read, and what only root may read is not."""
    for name, mode in (("mine.py", 0o600), ("roots.py", 0o600)):
        (tmp_path / name).write_text("x = 1\n")
        (tmp_path / name).chmod(mode)
    os.chown(tmp_path, 12345, 12345)
    os.chown(tmp_path / "mine.py", 12345, 12345)
    found = fledgling("explore", "--root", str(tmp_path), "--json")
    assert json.loads(found.stdout)["summary"]["skipped"] == {"unreadable": 1}


def fledgling(*arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "-I", "-B", "-m", "fledgling", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


PROCESSES = {"broker", "indexer", "lister", "extractors", "query worker"}
ORDINARY = "import os, sys; os.setgroups([]); os.setgid(12345); os.setuid(12345); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.usefixtures("executed")
def test_doctor_finds_every_layer(project: Path) -> None:
    found = json.loads(fledgling("doctor", "--root", str(project), "--json").stdout)
    assert found["serves"]
    states = {(row["process"], row["layer"]): row["state"] for row in found["findings"]}
    assert {process for process, _ in states} == PROCESSES
    owned_by_root = os.geteuid() == 0 and project.stat().st_uid == 0
    absent = {place for place, state in states.items() if state != "enforced"}
    assert absent == ({("indexer", "user"), ("lister", "user")} if owned_by_root else set())
    assert {layer for process, layer in states if process == "query worker"} == set(LAYERS) - {"chroot"}
    changed = {process for process, layer in states if layer == "chroot"}
    assert changed == ({"indexer", "lister"} if os.geteuid() == 0 else set())


@pytest.mark.skipif(os.geteuid() != 0, reason="is an ordinary user already")
def test_doctor_finds_every_layer_as_an_ordinary_user(project: Path) -> None:
    prefix = (sys.executable, "-I", "-c", ORDINARY)
    if subprocess.run([*prefix, sys.executable, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("another user cannot start this interpreter")
    theirs = str(Path(json.__file__).parent)  # a directory that any user may read
    found = json.loads(fledgling("doctor", "--root", theirs, "--json", prefix=("env", "HOME=/", *prefix)).stdout)
    assert {row["state"] for row in found["findings"]} == {"enforced"}
    assert not any(row["layer"] == "chroot" for row in found["findings"])
    assert any(
        "is asked which paths exist outside the root: NOTHING stops it, in indexer" in row for row in found["thin"]
    )


WITHOUT_CHROOT = ("setpriv", "--bounding-set=-sys_chroot")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, to take a capability from it")
def test_root_that_may_not_change_its_root_directory_is_served_and_told(project: Path) -> None:
    """As in a container that was started without that capability."""
    done = fledgling("doctor", "--root", str(project), "--json", prefix=WITHOUT_CHROOT)
    found = json.loads(done.stdout)
    absent = {(row["process"], row["layer"]) for row in found["findings"] if row["state"] != "enforced"}
    assert absent >= {("indexer", "chroot"), ("lister", "chroot")}
    assert "a file outside the root is read: landlock alone, in indexer" in found["thin"]
    assert (found["serves"], done.stderr) == (True, "")


# What is loaded late in an indexer, where paths of the system name files of the project.
LOADING_LATE = """
import codecs, encodings, importlib, os, sys
from pathlib import Path
from fledgling.security.confinement import confine
from fledgling.messages.control import CONFINED
project = Path(sys.argv[1])
for place in {*sys.path, *encodings.__path__}:
    planted = Path(f"{project}{place}")
    planted.mkdir(parents=True, exist_ok=True)
    (planted / "planted.py").write_text("print('the project was run')")
root = os.open(project, os.O_RDONLY | os.O_DIRECTORY)
confine("indexer", CONFINED, parent=os.getppid(), root=root, readable=[root])
assert os.path.samestat(os.stat("/"), os.fstat(root)) and os.path.samestat(os.stat("."), os.fstat(root))
assert Path(encodings.__path__[0], "planted.py").read_text()
for load in (codecs.lookup, importlib.import_module, lambda name: importlib.import_module(f"encodings.{name}")):
    try:
        load("planted")
    except (LookupError, ImportError) as refused:
        print(type(refused).__name__)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root directory")
def test_no_module_is_loaded_from_a_project_that_is_the_root_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    command = [sys.executable, "-I", "-B", "-c", LOADING_LATE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert (done.stdout.split(), done.stderr) == (["LookupError", "ModuleNotFoundError", "ModuleNotFoundError"], "")


def test_what_is_confined_while_it_has_a_thread_is_refused() -> None:
    """Landlock would not bind the thread that is there already."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            "import threading\n"
            "from fledgling.security.confinement import confine\n"
            "from fledgling.messages.control import CONFINED\n"
            "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
            "confine('query worker', CONFINED)",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a thread was started before it" in done.stderr


INHERITING = """
import os, signal, sys
from fledgling.messages.control import Confining, Layer
from fledgling.security import inspection, no_new_privs, system_calls
from fledgling.security.confinement import LAYERS
no_new_privs.confine()
system_calls.confine("broker")
ours = inspection.filters()
for role in ("", "query worker"):
    (reader, writer), (held, _) = os.pipe(), os.pipe()
    if not (pid := os.fork()):
        if role:
            system_calls.confine(role)
        os.write(writer, b"held")
        os.read(held, 1)
    os.read(reader, 4)
    layers = [Layer(name) for name in LAYERS]
    print(inspection.problem("query worker", pid, layers, Confining(without=("user", "capabilities")), *GIVEN))
    sys.stdout.flush()
    os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.parametrize("given", ["", "ours", "ours - 1"])
def test_a_filter_that_a_process_has_from_the_broker_is_not_its_own(given: str) -> None:
    """Started before the broker was confined, it would have one less from there."""
    command = [sys.executable, "-I", "-c", INHERITING.replace("*GIVEN", given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    inherits, confined = done.stdout.splitlines()
    assert confined == "None"
    assert ("seccomp does not hold the query worker: the kernel says Seccomp_filters" in inherits) == (
        given != "ours - 1"
    )


@pytest.mark.anyio
async def test_worker_that_only_says_it_is_confined_is_not_asked(project, tmp_path, monkeypatch):
    """The broker looks for itself before the first call."""
    async with fronted(project) as (front, indexing):
        await indexing.built()
        for layer in ("no_new_privs", "seccomp"):
            liar = tmp_path / layer
            liar.write_text(
                f"#!{sys.executable} -I\n"
                "from fledgling.pipe import Pipe\n"
                "from fledgling.security.confinement import LAYERS, confine\n"
                "from fledgling.messages.control import *\n"
                "pipe = Pipe(ToWorker)\n"
                "opened = pipe.receive()\n"
                f"confine('query worker', Confining(without=({layer!r},)), parent=opened.broker_pid)\n"
                "pipe.send(Ready(tuple(Layer(name) for name in LAYERS)))\n"
                "pipe.receive()\n"
            )
            liar.chmod(0o700)
            assert isinstance(await answered(front), Exploration)
            [honest] = back_processes(psutil.Process(), QUERY_WORKER)
            honest.kill()
            honest.wait()
            with monkeypatch.context() as lying:
                lying.setattr(sys, "executable", str(liar))
                assert await front.ask(Explore()) == NOT_STARTED, layer


# ---- what is missing ------------------------------------------------------------------------------------------------

ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="names calls by their number on x86-64")


@ON_X86
@pytest.mark.parametrize("layer", DEGRADABLE)
def test_server_does_not_start_where_a_layer_is_missing(project: Path, layer: str) -> None:
    done = subprocess.run(
        without(layer, serve_command(project)), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{layer} cannot be enforced here" in done.stderr
    assert "--allow-degraded" in done.stderr
    assert "Traceback" not in done.stderr


@ON_X86
@pytest.mark.parametrize("layer", ["landlock", pytest.param("seccomp", marks=pytest.mark.long)])  # the doctor has it
def test_server_starts_degraded_where_it_may_and_says_so(project: Path, tmp_path: Path, layer: str) -> None:
    log = tmp_path / "audit.log"
    command = without(layer, serve_command(project, "--allow-degraded", "--audit-log", str(log)))
    with (tmp_path / "stderr").open("wb") as stderr, Server(project, command=command, stderr=stderr) as server:
        server.begin()
        server.call(2, "explore", {})
        assert "structuredContent" in server.receive()["result"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    degraded = {line["process"] for line in lines if line["event"] == "degraded" and line["layer"] == layer}
    assert degraded - {"follower"} == PROCESSES
    assert f"is not confined by {layer}" in (tmp_path / "stderr").read_text()


@ON_X86
@pytest.mark.parametrize("layer", [pytest.param("landlock", marks=pytest.mark.long), "seccomp"])  # a server has it
def test_doctor_says_what_is_missing_and_what_that_means(project: Path, layer: str) -> None:
    command = without(layer, [sys.executable, "-I", "-B", "-m", "fledgling", "doctor", "--root", str(project)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stdout.count("ABSENT: " + REFUSED[layer]) == len(PROCESSES)
    assert LAYERS[layer] in done.stdout
    first, _, rest = done.stdout.partition("\n")
    assert first.startswith(f"NOT WELL: a server does not start here: {layer} cannot be enforced. ")
    assert "--allow-degraded" in first
    assert "does not start here" not in rest


@pytest.mark.skipif(not shutil.which("prlimit"), reason="needs prlimit")
def test_doctor_starts_nothing_where_nothing_can_be_started(project: Path) -> None:
    done = fledgling("doctor", "--root", str(project), prefix=("prlimit", "--nofile=30"))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "NOT WELL: a server does not start like this. What is wrong, and what to do, is below"
    )
    assert "wrong   system: ulimit -n: 30 open files are too few; allow 64 or more" in done.stdout


OLDER = "import fledgling.security.landlock as m; m.abi = lambda: {abi}; from fledgling.__main__ import main; main()"
IN_INDEXER = "seccomp alone, in indexer"
THIN = (
    "it is asked which paths exist outside the root: chroot alone, in indexer"
    if os.geteuid() == 0
    else "a file outside the root is read: landlock alone, in indexer"
)


@pytest.mark.parametrize(
    ("abi", "says", "never"),
    [
        pytest.param(
            2,
            [
                "Landlock ABI 2",
                "a file is cut short without being opened to write (from ABI 3, Linux 6.2)",
                "a TCP port is bound or connected (from ABI 4, Linux 6.7)",
                "a process of the account is signalled (from ABI 6, Linux 6.12)",
                f"a TCP port is bound or connected: {IN_INDEXER}",
            ],
            [],
            marks=pytest.mark.long,
        ),
        (
            5,
            ["Landlock ABI 5", "a process of the account is signalled: seccomp alone", THIN],
            ["from ABI 3", "from ABI 4", f"a TCP port is bound or connected: {IN_INDEXER}"],
        ),
        # What each version lacks, tests/test_ablation.py says; that what it has is not told, the row of 5, of two.
        pytest.param(6, [THIN], ["from ABI", "is signalled"], marks=pytest.mark.long),
    ],
)
def test_doctor_says_what_an_older_landlock_lacks(project: Path, abi: int, says: list[str], never: list[str]) -> None:
    """The broker is confined as that version can; its back processes are not told."""
    program = OLDER.format(abi=abi)
    command = [sys.executable, "-I", "-B", "-c", program, "doctor", "--root", str(project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert [text for text in says if text not in done.stdout] == []
    assert [text for text in never if text in done.stdout] == []


def test_kernel_has_landlock() -> None:
    """Where it has none, the tests above prove less."""
    assert landlock.abi() >= 1
