"""Layers taken away, one at a time and with the gate beside it: what is left stops every attack on files and rows.

The gate hides what lies behind it, so each other layer is also taken away together with it. Layers of the kernel are
left out by the field of the wire that only tests set; the others by a worker that starts with one function replaced.
What code inside a process can do without a layer, and on an older kernel, is tried by the probes of the audit.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import psutil
import pytest
from copying import Copy
from running import QUERY_WORKER, answered, back_processes, fronted, opened
from test_audit import WEAK

from fledgling.broker.front import Front
from fledgling.messages.answers import Refusal, Table
from fledgling.messages.control import Confining
from fledgling.messages.questions import Query, Search
from fledgling.security import landlock, layering, memory_file
from fledgling.security.audit import corpus, scratch
from fledgling.security.audit.corpus import Ask
from fledgling.security.audit.probes import PROBES_OF
from fledgling.security.audit.verdict import leaks

PROFILE = "SET tools = 'explore, query'; SET memory_limit = '512MB'; SET query_timeout = 2;"
STATE = "SELECT count(*), sum(hash(path || line_text)), (SELECT count(*) FROM files) FROM content"

GATE = """
import fledgling.worker.gate.statement as m
m.Gate.admit = lambda self, sql, tables, admitted=m.Admitted: admitted(sql, tables)
"""
ENGINE = """
import fledgling.worker.store.database as m
m.lock_down = lambda db: None
m.ImageFiles.register = lambda self, db: db.register_filesystem(self)
"""
STATEMENT = "import fledgling.worker.tools.query as m\nm.one_select = lambda cursor, sql: sql\n"
TRANSACTION = """
import inspect
import fledgling.worker.query.dispatch as answers, fledgling.worker.tools.query as m
from fledgling.messages.questions import Query
exec(inspect.getsource(m.query).replace("BEGIN TRANSACTION READ ONLY", "BEGIN TRANSACTION"), m.__dict__)
answers.HANDLERS[Query] = m.query
"""
SEALS = "import fledgling.security.memory_file as m\nm.seal = lambda fd: None\n"

# what is taken away: layers of the kernel, of Landlock also what came after a version; and what a worker runs first
TAKEN = {
    "nothing": ((), ""),
    "the gate": ((), GATE),
    "the engine's settings": ((), ENGINE),
    "Landlock": (("landlock",), ""),
    "seccomp": (("seccomp",), ""),
    "resource limits": (("limits",), ""),
    "another user and capabilities": (("user", "capabilities"), ""),
    "the gate and the engine's settings": ((), GATE + ENGINE),
    "the gate and Landlock": (("landlock",), GATE),
    "the gate and Landlock after its first version": (("landlock 1",), GATE),
    "the gate and the read-only transaction": ((), GATE + TRANSACTION),
    "the gate and the type of the statement": ((), GATE + STATEMENT),
    "the gate and the seals of the image": ((), GATE + SEALS),
    "the gate and seccomp": (("seccomp",), GATE),
    "the gate and resource limits": (("limits",), GATE),
    "the gate, the engine's settings and Landlock": (("landlock",), GATE + ENGINE),
    "the gate, the engine's settings and seccomp": (("seccomp",), GATE + ENGINE),
    "the gate, the engine's settings, Landlock, resource limits and the read-only transaction": (
        ("landlock", "limits"),
        GATE + ENGINE + TRANSACTION,
    ),
    "the gate, the engine's settings, seccomp, the type of the statement and the seals of the image": (
        ("seccomp",),
        GATE + ENGINE + STATEMENT + SEALS,
    ),
}
# What holds without so many layers, holds without fewer of them: those are run with the long tests.
PLAIN = {name for name in TAKEN if name.startswith("the gate, the engine's settings, ")}
EVERYTHING = (("landlock", "seccomp", "limits", "user", "capabilities"), GATE + STATEMENT + ENGINE)

FILES_AND_ROWS = {1, 2, 6, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 21, 112}
NETWORK = ("http:", "s3:", "https:", "INSTALL", "LOAD", "UPDATE EXTENSIONS")
ATTACKS = [
    attack
    for attack in corpus.attacks()
    if attack.family == "query"
    and isinstance(attack.act, Ask)
    and attack.act.must == "refused"
    and attack.name.startswith(("a file", "a secret", "the environment", "statement: plainly", "statement: delete"))
    and FILES_AND_ROWS & set(attack.threats)
]


def is_network(attack):
    return any(word in attack.act.arguments["sql"] for word in NETWORK)


ATTACKS.sort(key=is_network)


@pytest.fixture
def planted(tmp_path):
    """A project of two files, one of them secret, and the files beside it."""
    (tmp_path / "place").mkdir()
    made = scratch.plant(tmp_path / "place")
    shutil.rmtree(made.root)  # the large one
    made.hidden[".env"] = scratch.canary()
    (made.small / ".env").write_text(made.hidden[".env"])
    return made


async def attacked(planted, tmp_path, monkeypatch, taken, attacks=ATTACKS):
    """Run the attacks with layers taken away; return what got through: how, and by which attack or to which file."""
    without, weakness = taken
    latest = 1 if "landlock 1" in without else None
    weak = tmp_path / "weak"
    weak.write_text(WEAK.format(python=sys.executable, me=sys.executable, weakness=weakness))
    weak.chmod(0o755)
    profile = tmp_path / "ablation.sql"
    profile.write_text(PROFILE)
    monkeypatch.setattr(sys, "executable", str(weak))
    if SEALS in weakness:
        monkeypatch.setattr(memory_file, "is_sealed", lambda fd: True)  # the broker would refuse such an image
    local = [attack for attack in attacks if not is_network(attack)]
    through = []

    async def ask(attack):
        sql = attack.act.arguments["sql"].replace("{outside}", str(planted.outside))
        answer = await front.ask(Query(sql.replace("{root}", str(planted.small))))
        if leaks(msgspec.json.encode(answer).decode(), planted.hidden):
            through.append(("read", attack.name))

    async with fronted(planted.small, profile, confining=Confining(without=without, landlock_abi=latest)) as (
        front,
        indexing,
    ):
        await indexing.built()
        state, before = await rows(front), planted.snapshot()
        for attack in local:
            await ask(attack)
        if await rows(front) != state:
            through.append(("mutation", "one of them"))
        # Last: the kernel ends who opens a socket, and a worker that ends again and again is not started at once.
        for attack in attacks[len(local) :]:
            await ask(attack)
            if any(where.startswith("socket:") for where in held()):
                through.append(("network", attack.name))
        after = planted.snapshot()
    return through + [("write", path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)]


async def rows(front: Front) -> list:
    answer = await answered(front, Query(STATE))
    assert isinstance(answer, Table), answer
    return answer.rows


def held():
    return [where for worker in back_processes(psutil.Process(), QUERY_WORKER) for where in opened(worker).values()]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in PLAIN else pytest.mark.long) for name in TAKEN]
)
async def test_the_other_layers_hold(planted, tmp_path, monkeypatch, name):
    assert len(ATTACKS) > 60
    assert await attacked(planted, tmp_path, monkeypatch, TAKEN[name]) == []


@pytest.mark.anyio
async def test_without_any_layer_they_get_through(planted, tmp_path, monkeypatch):
    """What nothing stops is seen: else the rows above would prove nothing."""
    local = [attack for attack in ATTACKS if attack.name.startswith(("a file", "a secret"))]
    local = [attack for attack in local if not is_network(attack)]
    through = await attacked(planted, tmp_path, monkeypatch, EVERYTHING, local)
    assert len([name for kind, name in through if kind == "read"]) > 10, through
    assert len([name for kind, name in through if kind == "write"]) >= 3, through


@pytest.mark.anyio
@pytest.mark.long  # of every tool, tests/test_wire.py asks it
async def test_without_the_door_the_worker_refuses(planted, tmp_path):
    """Questions that no front has looked at: the worker asks the allowlist itself."""
    async with fronted(planted.small, "fledgling-core") as (front, _):
        answer = await front.ask(Query("SELECT 1"))
        assert isinstance(answer, Refusal)
        assert answer.kind == "denied"


# ---- code inside a process ------------------------------------------------------------------------------------------

EVERY_LAYER = ("seccomp", "landlock", "limits", "seals", "chroot", "user", "capabilities")
AS_ROOT = os.geteuid() == 0
DOES = {a.name: a.act.does for a in corpus.attacks(["syscalls"]) if isinstance(a.act, corpus.Probe) and a.act.does}

# What is taken away: layers, and all of Landlock that came after a version.
LANDLOCK_GONE = (Confining(without=("landlock",)), Confining(landlock_abi=5))
OTHERS_GONE = (Confining(without=("seccomp",)), Confining(without=("seals",)))
MORE_GONE = (
    *(Confining(landlock_abi=abi) for abi in (1, 2, 3, 4)),
    *(Confining(without=(layer,)) for layer in ("limits", "chroot", "user", "capabilities")),
    *(Confining(without=("seccomp",), landlock_abi=abi) for abi in range(1, 7)),
    *(Confining(without=("seccomp", layer)) for layer in ("landlock", "limits", "seals", "chroot")),
    Confining(without=("landlock", "chroot")),
    Confining(without=EVERY_LAYER),
)
# One role is asked of each of the two here: one call puts a layer on whatever the role. The long tests ask the rest.
PLAIN_ROLES = {
    LANDLOCK_GONE: ("indexer",),
    OTHERS_GONE: ("query worker",),
}


def rows_of(*taken):
    """Parameters of a test: what is taken away, whatever belongs to it, and from whom."""
    return [
        pytest.param(gone, *more, role, marks=[] if role in PLAIN_ROLES.get(gone, ()) else [pytest.mark.long])
        for gone, *more in taken
        for role in layering.BACK
    ]


@cache
def carried_out(role, gone):
    """Which threats code inside a process can carry out, by what is gone: the names of the probes that did."""
    command = [sys.executable, "-I", "-B", "-m", "fledgling.security.audit.probes", role]
    taken = msgspec.json.encode(gone).decode()
    done = subprocess.run([*command, taken], capture_output=True, cwd="/", env={}, check=True)
    tried = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["outcome"] for row in tried} <= {"killed", "refused", "through", "not run"}, tried
    assert len(tried) == len(gone) * sum(name.endswith(f": {PROBES_OF.get(role, role)}") for name in DOES)
    found = [{} for _ in gone]
    for row in tried:
        if row["harmed"]:
            found[row["taken"]].setdefault(DOES[row["name"]], []).append(row["name"])
    return found


# ---- links that lead out of the root ---------------------------------------------------------------------------------

# What follows every link, in place of the reader that follows none: it stands for one that is swapped in at any moment.
FOLLOWING = {
    "worker/files/openat.py": {"os.O_RDONLY | os.O_NOFOLLOW |": "os.O_RDONLY |"},
    "worker/files/walk.py": {
        "        is_symlink = item.is_symlink()\n": "        is_symlink = False\n",
        "if not is_symlink and not item.is_file(follow_symlinks=False):": "if False:",
        "        status = item.stat(follow_symlinks=False)": "        status = os.stat(directory.fd)",
        "            is_directory = item.is_dir(follow_symlinks=False)\n": (
            "            is_directory = item.is_dir(follow_symlinks=False) or item.name == 'way'\n"
        ),
    },
}


@pytest.mark.anyio
@pytest.mark.long
@pytest.mark.usefixtures("executed")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another root directory")
async def test_reader_landlock_and_root_directory_each_keep_links_inside(tmp_path, monkeypatch):
    following = Copy(tmp_path / "copy")
    for name, changes in FOLLOWING.items():
        following.edit(name, changes)
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    (outside / "way").mkdir(parents=True)
    for path in ("secret.py", "way/secret.py"):
        (outside / path).write_text("LEAKED = 1\n")
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "relative.py").symlink_to("../outside/secret.py")
    (root / "way").symlink_to(outside / "way")
    layers = ("landlock", "chroot")
    for python, taken in ((sys.executable, layers), *((following.python, (each,)) for each in layers)):
        monkeypatch.setattr(sys, "executable", str(python))
        assert not await leaks_out(root, taken), (python, taken)
    assert await leaks_out(root, layers), "nothing else keeps the one that follows links inside"


async def leaks_out(root, taken):
    async with fronted(root, confining=Confining(without=taken)) as (front, indexing):
        await indexing.built()
        return "LEAKED = 1" in str(await front.ask(Search("LEAKED")))


@pytest.mark.parametrize(("gone", "role"), rows_of((LANDLOCK_GONE,), (OTHERS_GONE,), (MORE_GONE,)))
def test_what_code_inside_a_process_can_do_without_a_layer_is_what_is_said(gone, role):
    """Neither more nor less: what doctor and security/README.md say of layers comes from the same table.

    Files and processes are those of the account that the process has become: that it is another stops nothing here.
    """
    for confining, found in zip(gone, carried_out(role, gone), strict=True):
        latest = min(landlock.abi(), confining.landlock_abi or landlock.abi())
        said = {
            name
            for name, threat in layering.THREATS.items()
            if role in threat.roles
            and not {*layering.holding(threat, role, latest, as_root=AS_ROOT)} - {*confining.without, "user"}
        }
        did = {name: probes for name, probes in found.items() if role in layering.THREATS[name].roles}
        assert did.keys() == said, (confining, did)


@pytest.mark.parametrize(("gone", "confines_tcp", "role"), rows_of((LANDLOCK_GONE, 1), (MORE_GONE, 3)))
def test_without_landlock_or_on_an_older_kernel_nobody_is_signalled_and_nothing_is_written(gone, confines_tcp, role):
    """Of what is gone, Landlock says nothing of TCP until the place `confines_tcp`."""
    found = carried_out(role, gone)[: confines_tcp + 1]
    kinds = [{layering.THREATS[name].kind for name in each} for each in found]
    sees = {"read"} if role == "indexer" and not AS_ROOT else set()
    connects = {"network"} if role == "connector" else set()
    assert kinds == [sees | connects] * confines_tcp + [sees]


def test_without_landlock_the_indexer_of_root_reads_and_sees_nothing_outside():
    """Elsewhere it does: so this is the root directory's doing, and nothing else's."""
    if not AS_ROOT:
        pytest.skip("only root may change the root directory")
    assert carried_out("indexer", LANDLOCK_GONE)[0] == {}
    [not_held] = carried_out("indexer", (Confining(without=("landlock", "chroot")),))
    assert not_held.keys() == {"read", "existence"}
    assert {name.rpartition(": ")[0] for name in not_held["read"]} >= {"read a file above the root", "openat"}


def test_every_threat_is_tried():
    assert set(DOES.values()) == layering.THREATS.keys()


def written(threat):
    """A threat as a row of the table in security/README.md."""

    def of(roles):
        if roles == ("indexer",):
            return "indexer"
        others = [role for role in threat.roles if role not in roles]
        return "-" if not roles else "all" if not others else f"all but {', '.join(others)}"

    since = f"ABI {threat.landlock}, Linux {layering.LINUX[threat.landlock]}" if threat.landlock else "never"
    on = (threat.limits, threat.chroot, threat.user, threat.seals)
    cells = (threat.what, threat.kind, of(threat.seccomp), since, *map(of, on))
    return f"| {' | '.join(cells)} |"


def test_the_table_of_layers_is_the_one_that_was_tried():
    readme = (Path(layering.__file__).parent / "README.md").read_text("utf-8")
    assert [row for row in map(written, layering.THREATS.values()) if row not in readme] == []


def test_layers_are_told_by_kernel():
    """What the doctor says of a kernel."""
    told = {abi: [*layering.thin(abi, as_root=False)] for abi in (0, 5, 7)}
    assert "a process of the account is signalled: seccomp alone, in each back process" in told[5]
    assert not any("signalled" in row for row in told[7])
    assert any(row.startswith("a file outside the root is read: NOTHING stops it, in indexer") for row in told[0])
    as_root = {abi: [*layering.thin(abi, as_root=True)] for abi in (0, 7)}
    assert "a file outside the root is read: chroot alone, in indexer" in as_root[0]
    assert not any(row.startswith("a file outside the root") for row in as_root[7])
    assert [*layering.lacks(5)] == [
        "an abstract Unix socket is connected (from ABI 6, Linux 6.12)",
        "a process of the account is signalled (from ABI 6, Linux 6.12)",
    ]
    assert [*layering.lacks(7)] == []
