"""`fledgling audit`: the corpus covers every threat, the shipped profiles hold, and an audit can fail."""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom
from collections import Counter, defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import psutil
import pytest
from conftest import write_project
from forking import fledgling
from msgspec.structs import replace
from running import QUERY_WORKER, back_processes, until

from fledgling.security import profile as profiles
from fledgling.security.audit import client, corpus, junit, outside, page, report, run, scratch
from fledgling.security.audit.corpus import Ask, Elsewhere, LookFor, Probe
from fledgling.security.audit.report import Audited, Report, Result
from fledgling.security.audit.session import _Session, by_session, stopped
from fledgling.security.audit.target import SCRATCH, YOURS, Target
from fledgling.security.audit.verdict import leaks

pytestmark = pytest.mark.usefixtures("executed_behind")

ROOT = Path(__file__).parent.parent
ATTACKS = corpus.attacks()
MINE = """
SET tools = 'explore, read, search, symbols, dependencies, query';
SET query_timeout = 0.5;
SET memory_limit = '256MB';
CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE 'private/%';
"""

# ---- the corpus -----------------------------------------------------------------------------------------------------


def test_every_threat_is_represented_and_every_row_names_one():
    threats = corpus.threats()
    assert sorted(threats) == list(range(1, 139))
    assert {number for attack in ATTACKS for number in attack.threats} == set(threats)


def test_every_row_has_a_name_of_its_own_and_a_source_where_one_exists():
    names = Counter((attack.family, attack.name) for attack in ATTACKS)
    assert [name for name, count in names.items() if count > 1] == []
    wrong = [a.source for a in ATTACKS if not re.fullmatch(r"CWE-\d+|CVE-\d{4}-\d+|GHSA(-[\w]{4}){3}|", a.source)]
    assert not wrong
    assert sum(bool(attack.source) for attack in ATTACKS) > 0.95 * len(ATTACKS)


def test_there_are_as_many_rows_as_promised():
    rows = Counter(attack.family for attack in ATTACKS)
    assert sum(rows.values()) >= 600
    assert set(rows) == set(report.FAMILIES)
    probes = Counter(attack.act.role for attack in ATTACKS if isinstance(attack.act, Probe))
    [tried] = {*probes.values()}
    assert f"Of {tried} things that an attacker would try" in (ROOT / "security/README.md").read_text("utf-8")


def test_every_layer_is_explained():
    layers = {layer for threat in corpus.threats().values() for layer in threat.layers} | {a.layer for a in ATTACKS}
    assert layers <= set(report.LAYERS) == set(get_args(corpus.Layer))


def test_whole_tests_that_carry_a_threat_exist():
    for attack in ATTACKS:
        if isinstance(attack.act, Elsewhere):
            file, _, name = attack.act.test.partition("::")
            assert bool(name) != bool(attack.act.because), attack.name
            assert not name or re.search(rf"def {name}\b", (ROOT / file).read_text()), attack.act.test


# ---- profiles that hold ---------------------------------------------------------------------------------------------


# What a plain run probes: whoever hears agents, whoever parses what a project has, and whoever answers them. What does
# harm, test_ablation.py tries in others, and test_confinement.py asks every filter.
PLAIN_ROLES = ("broker", "indexer", "query worker")


def in_part(attacks):
    """Of a call that is put at three places or more a sixth of them, each time another sixth; of probes some roles.

    Of statements that the gate refuses there is a twelfth, and of those that only a limit ends there is one of a kind:
    test_statement.py and test_limits.py have the others.
    """
    kinds = {attack.name.partition(":")[0]: attack for attack in reversed(attacks) if is_endless(attack)}
    refused = [attack for attack in attacks if is_refused(attack)][::12]
    kept = {(attack.family, attack.name) for attack in (*kinds.values(), *refused)}
    calls, places = defaultdict(list), set()
    for attack in attacks:
        if isinstance(attack.act, Ask) and not (is_endless(attack) or is_refused(attack)):
            calls[called(attack)].append(attack)
    for turn, rows in enumerate(calls.values()):
        for number, attack in enumerate(rows):
            if len(rows) < 3 or (number + turn) % min(6, len(rows)) == 0 or placed(attack) not in places:
                places.add(placed(attack))
                kept.add((attack.family, attack.name))

    def is_kept(attack):
        match attack.act:
            case Ask():
                return (attack.family, attack.name) in kept
            case Probe():
                return attack.act.role in PLAIN_ROLES
        return True

    return [attack for attack in attacks if is_kept(attack)]


def is_endless(attack):
    return isinstance(attack.act, Ask) and (attack.act.tool, attack.act.must) == ("query", "ends")


def is_refused(attack):
    return isinstance(attack.act, Ask) and (attack.act.tool, attack.layer) == ("query", "gate")


def called(attack):
    return attack.family, attack.name.rpartition(": ")[0]


def placed(attack):
    return attack.family, attack.act.tool, *attack.act.arguments


@pytest.fixture(scope="module", params=["in part", pytest.param("whole", marks=pytest.mark.long)])
def audited(request, tmp_path_factory):
    """An audit of a profile of our own, which allows SQL: the longest run of the plain tests."""
    mine = tmp_path_factory.mktemp("profile") / "mine.sql"
    mine.write_text(MINE)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in part":
            patch.setattr(corpus, "ROLES", PLAIN_ROLES)
            patch.setattr(corpus, "attacks", lambda: in_part(ATTACKS))
        return asyncio.run(run.audit({str(mine): profiles.load(str(mine))}, root=None))


def test_a_part_has_each_call_and_each_place():
    whole, part = [[attack for attack in of if isinstance(attack.act, Ask)] for of in (ATTACKS, in_part(ATTACKS))]
    assert {*map(placed, part)} == {*map(placed, whole)}
    others = [attack for attack in whole if not (is_endless(attack) or is_refused(attack))]
    assert {*map(called, part)} >= {*map(called, others)}
    assert len(part) < 0.6 * len(whole)


def told(results):
    return [f"{r.profile} {r.family}: {r.name}: {r.evidence}" for r in results]


def test_nothing_gets_through_under_any_profile(audited):
    bad = [result for result in audited.results if result.status in ("through", "unproven")]
    assert told(bad) == []
    assert audited.exit_code == 0
    assert {result.profile for result in audited.results} == {"", "mine"}
    rows = Counter(result.profile for result in audited.results)
    assert len({count for profile, count in rows.items() if profile}) == 1, "each profile meets the same rows"


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(profiles.shipped()))
def test_nothing_gets_through_under_a_shipped_profile(name):
    found = asyncio.run(run.audit({name: profiles.load(name)}, root=None))
    assert told([result for result in found.results if result.status in ("through", "unproven")]) == []
    assert found.exit_code == 0


def test_what_was_not_tried_says_why(audited):
    skipped = [result for result in audited.results if result.status == "not run"]
    assert all(result.evidence for result in skipped)
    assert os.geteuid() != 0 or told(skipped) == []


def test_sql_is_stopped_by_the_gate_where_the_profile_has_a_query_and_else_at_the_door(audited):
    for result in audited.results:
        if result.family == "query" and result.expected == "gate":
            has_query = result.profile in ("fledgling-analyst", "mine")
            assert (result.status, result.layer) == ("held", "gate" if has_query else "door"), told([result])


def test_layers_of_arguments_are_those_of_the_table(audited):
    for result in audited.results:
        if (
            result.family == "arguments"
            and result.expected in ("door", "paths", "arguments")
            and result.status == "held"
        ):
            assert result.layer in (result.expected, "door"), told([result])


# Of 329 attempts, a broker may make the 60 that [[may]] of syscalls.toml names; what it may not, above all:
NEVER_IN_A_BROKER = """
  open a file|create a file|openat for writing|mkdir|unlink|rename|link|symlink|truncate|setxattr|socket: TCP
  socket: Unix|connect|bind|listen|execve|execveat|execveat of a descriptor|execve by way of /proc|bpf|mount|setns
  trace another process|read memory of another process|signal another process|signal the parent|unshare: user
  a process in a new user namespace|io_uring_setup|perf_event_open|userfaultfd|keyctl|write to the index
  have the kernel kill the owner of a pipe|kill a process by its descriptor|signal everybody|limits of another process
  bound the processor time of a process|priority of another process|type for whoever has the terminal|splice|vmsplice
  watch a file: inotify|let anybody trace|hear what a filter is asked|a pair of datagram sockets|io_setup
"""


WORKING = {"query worker": 3, "extractor": 3, "extractor's parent": 7, "indexer": 12, "keeper": 5, "connector": 10}
WORKING |= {"embedder": 3}  # how many of them work in a back process


def test_probes_that_are_allowed_are_harmless_by_name(audited):
    went = {result.name: result.status for result in audited.results if result.family == "syscalls"}
    allowed = {name for name, status in went.items() if status == "works"}
    assert allowed <= corpus.harmless().keys()
    assert os.geteuid() != 0 or allowed == corpus.harmless().keys() & went.keys()
    of = Counter(name.rpartition(": ")[2] for name in allowed)
    roles = {name.rpartition(": ")[2] for name in went} - {"broker"}
    assert {role: of[role] for role in roles}.items() <= WORKING.items()
    assert {went[f"{name.strip()}: broker"] for name in re.split("[|\n]", NEVER_IN_A_BROKER.strip())} == {"held"}


# ---- probes, unconfined ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["anybody", pytest.param("nobody", marks=pytest.mark.long)])
def test_most_probes_would_get_through_without_confinement(role):
    if role == "nobody" and os.geteuid() != 0:
        pytest.skip("only root may become nobody")
    command = [sys.executable, "-I", "-B", "-m", "fledgling.security.audit.probes", role]
    done = subprocess.run(command, capture_output=True, cwd="/", check=True)
    outcomes = Counter(json.loads(line)["outcome"] for line in done.stdout.splitlines())
    assert outcomes["broken"] == 0, done.stderr.decode()
    assert outcomes["through"] >= (180 if role == "anybody" and os.geteuid() == 0 else 120), outcomes


# ---- servers that do not --------------------------------------------------------------------------------------------

# Runs a module of Fledgling as the interpreter would, with a weakness; so do the processes that it starts.
WEAK = """#!{python} -I
import runpy, sys
sys.executable = {me!r}
at = sys.argv.index("-m")
module, sys.argv[:] = sys.argv[at + 1], sys.argv[at + 1:]
if module == "fledgling":
    import fledgling.security.landlock
    fledgling.security.landlock.confine = lambda *_, **__: None  # it may start this file, and not only the interpreter
{weakness}
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""

SECRETS = "import fledgling.security.secret_files as m\nm.is_secret = lambda path: False"
LYING = """
import fledgling.security.profile as m, msgspec
load = m.load
m.load = lambda name: msgspec.structs.replace(load("fledgling-analyst"), name=name)
"""
TALKING = """
if module == "fledgling":
    import fledgling.broker.protocol.render as m
    refusal = m.refusal
    m.refusal = lambda answer: refusal(answer) + "Traceback (most recent call last):"
"""

# rows that are run against a server with all of these weaknesses, and what must be seen of each
FOUND = {
    "a SELECT is answered": "it was answered",
    "descriptions of tools": "query",
    "search for what is hidden": "the reply holds what is in ",
    "a secret file: read.path": "the reply holds what is in .env",
    "absolute: read.path": "the reply holds a traceback",
}


def weakened(place, weakness):
    script = place / "weak"
    script.write_text(WEAK.format(python=sys.executable, me=str(script), weakness=weakness))
    script.chmod(0o755)
    return (str(script), "-I", "-B", "-m", "fledgling", "serve")


async def seen(place, command, rows, root=None):
    """Run some rows under the core profile against a server."""
    (place / "scratch").mkdir()
    planted = scratch.plant(place / "scratch")
    shutil.rmtree(planted.root)  # the large one
    hidden = {**planted.hidden, ".env": scratch.canary()}
    (planted.small / ".env").write_text(hidden[".env"])
    planted = replace(planted, bait={}, hidden=hidden)
    profile = profiles.load("fledgling-core")
    target = Target(command, "fledgling-core", profile, SCRATCH, planted.small, planted, hidden)
    if root is not None:
        target = replace(target, project=YOURS, root=root, hidden=dict(run._secrets(root)))
    chosen = [a for a in ATTACKS if a.name.startswith(rows) and isinstance(a.act, Ask | LookFor)]
    with open(os.devnull, "w") as log:  # noqa: ASYNC230  (it does not block)
        return [row for row in await by_session(target, chosen, log) if row.name.startswith(rows)]


@pytest.mark.anyio
async def test_weaknesses_are_found(tmp_path):
    found = await seen(tmp_path, weakened(tmp_path, LYING + SECRETS + TALKING), tuple(FOUND))
    for rows, says in FOUND.items():
        evidence = [row.evidence for row in found if row.name.startswith(rows) and row.status == "through"]
        assert any(says in text for text in evidence), told(found)


@pytest.mark.long  # test_weaknesses_are_found has such a server, of the project that is made for an audit
@pytest.mark.anyio
async def test_secrets_of_the_users_own_project_are_watched_for_and_never_quoted(tmp_path):
    (tmp_path / "project").mkdir()
    root = write_project(tmp_path / "project")
    (root / ".env").write_text("TIMEOUT_SECRET=a-long-and-telling-value\n")
    found = await seen(tmp_path, weakened(tmp_path, SECRETS), "search for any letter", root)
    assert [row.status for row in found] == ["through"]
    assert found[0].evidence == "the reply holds what is in .env"


def commanded(weak, *options):
    """`fledgling audit` as an installed command, but for the interpreter that it starts servers with."""
    program = f"import sys; sys.executable = {weak!r}; from fledgling.broker.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-I", "-c", program, "audit", *options], capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_the_command_fails_where_something_gets_through(tmp_path):
    mine = tmp_path / "mine.sql"
    mine.write_text("SET tools = 'explore'; SET query_timeout = 0.5;")
    reports = ["--junit", str(tmp_path / "a.xml"), "--html", str(tmp_path / "a.html")]
    (tmp_path / "a.xml").write_text("an earlier one " * 100_000)
    done = commanded(weakened(tmp_path, LYING)[0], "--profile", str(mine), *reports)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("NOT PROVEN")
    assert "THROUGH  mine (scratch)  query: a SELECT is answered" in done.stdout
    assert "What got through" in (tmp_path / "a.html").read_text()
    assert xml.dom.minidom.parse(str(tmp_path / "a.xml")).getElementsByTagName("failure")


def test_the_command_fails_where_there_is_no_server(tmp_path):
    done = commanded(weakened(tmp_path, "sys.exit(3)")[0], "--json")
    assert done.returncode == 1, done.stderr
    assert "attacking a server under fledgling-core; " in done.stderr
    rows = json.loads(done.stdout)["results"]
    assert "the server starts, and answers to the end" in [row["name"] for row in rows if row["status"] == "unproven"]


@pytest.mark.anyio
async def test_a_child_that_has_ended_is_not_taken_for_the_server(project):
    ended = await asyncio.to_thread(subprocess.Popen, ["true"])
    await until(lambda: psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE)
    async with client.connected(client.COMMAND, project, "fledgling-core", {}, sys.stderr) as (server, shaken):
        assert server.pid != ended.pid
        assert (await shaken).process == server
    ended.wait()


@pytest.mark.anyio
@pytest.mark.parametrize("at", outside.CHECKS)
async def test_a_process_that_has_ended_proves_nothing_by_what_it_shows(at):
    """An extractor ends when it has signed what was to be signed: it has no arguments then, and no descriptors."""
    expected = next(a.act.expected for a in ATTACKS if isinstance(a.act, LookFor) and a.act.at == at)
    ended = await asyncio.to_thread(subprocess.Popen, ["true"])
    await until(lambda: psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE)
    with pytest.raises(OSError, match="No such"):
        outside.look(ended.pid, at, expected)
    ended.wait()


@pytest.mark.anyio
async def test_a_process_is_looked_at_only_if_it_stopped_before_its_end():
    ended = await asyncio.to_thread(subprocess.Popen, ["true"])
    await until(lambda: psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE)
    assert not await stopped(ended.pid)
    ended.wait()
    assert not await stopped(ended.pid)
    at_work = await asyncio.to_thread(subprocess.Popen, ["sleep", "60"])
    try:
        assert await stopped(at_work.pid)
        assert psutil.Process(at_work.pid).status() == psutil.STATUS_STOPPED
    finally:
        at_work.kill()
        at_work.wait()


@pytest.mark.anyio
async def test_what_has_to_work_is_asked_again_where_it_was_only_late(tmp_path):
    """A worker that has stopped is ended at the profile's time, and to start another takes longer than that."""
    (tmp_path / "scratch").mkdir()
    planted = scratch.plant(tmp_path / "scratch")
    mine = tmp_path / "mine.sql"
    mine.write_text("SET tools = 'read'; SET query_timeout = 0.5;")
    target = Target(client.COMMAND, str(mine), profiles.load(str(mine)), SCRATCH, planted.small, planted, {})
    attack = next(attack for attack in ATTACKS if isinstance(attack.act, Ask) and attack.act.must == "works")
    async with client.connected(client.COMMAND, planted.small, str(mine), {}, sys.stderr) as (server, shaken):
        session = _Session(target, await shaken)
        await session.calibrate()
        for worker in back_processes(server, QUERY_WORKER):
            worker.suspend()
        verdict = await session.asked(attack, Ask("read", {"path": "README.md"}, "works"))
    assert verdict.status == "works", verdict


@pytest.mark.anyio
async def test_a_server_is_found_the_moment_it_is_started():
    for number in range(15):
        told = ["9", f"0.{number}"]
        started = await asyncio.to_thread(subprocess.Popen, ["sleep", *told])
        try:
            assert (await client.child(told)).pid == started.pid
        finally:
            started.kill()
            started.wait()
    with pytest.raises(ProcessLookupError):
        await client.child(["--nobody"])


WRONG = [["--profile", "nobodys"], ["--root", "/nowhere/at/all"], ["--html", "/nowhere/x"]]
ALIKE = [pytest.param(["--junit", "/nowhere/x"], marks=pytest.mark.long)]


@pytest.mark.parametrize("wrong", [*WRONG, *ALIKE], ids=" ".join)
def test_wrong_usage_is_said_before_anything_is_started_and_costs_no_page(tmp_path, wrong):
    """What is named before it and could be written is what it was, and is not made."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("an earlier page")
    others = {"--html": ["--junit", str(old)], "--junit": ["--html", str(old)]}
    named = others.get(wrong[0], ["--html", str(old), "--junit", str(new)])
    done = fledgling("audit", *named, *wrong)
    assert done.returncode == 2
    assert wrong[1] in done.stderr
    assert (old.read_text(), new.exists()) == ("an earlier page", False)


# ---- reports --------------------------------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>\"'&]]>\x1b[2J\u202e\x00{{}}"


def hostile_report():
    row = Result("p", "scratch", "query", HOSTILE, HOSTILE, (1,), HOSTILE, "gate", "through", "", HOSTILE)
    rows = (row, *(replace(row, status=status, layer="gate") for status in report.STATUSES))
    return Report("0", HOSTILE, HOSTILE, 1.0, (Audited(HOSTILE, HOSTILE, (HOSTILE,), "anywhere"),), {1: HOSTILE}, rows)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_page_is_self_contained_and_nothing_in_it_is_live():
    text = page.page(hostile_report())
    tags = Tags()
    tags.feed(text)
    used = {tag for tag, _ in tags.found}
    assert not used & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "svg", "a"}
    assert {name for _, attributes in tags.found for name in attributes} <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
    }
    assert not re.search(r"url\(|@import|https?:", text)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.isascii()


def test_the_page_calls_a_tool_by_its_name_where_the_profile_has_it():
    row = Result("p", "scratch", "arguments", "a row", "status", (1,), "", "door", "held", "door", "")
    both = (row, replace(row, profile="q"), replace(row, tool=""))
    profiles = (Audited("p", "", ("status",)), Audited("q", "", ("read",)))
    text = page.page(Report("0", "", "", 1.0, profiles, {1: ""}, both))
    assert text.count("<td>status</td>") == 2
    assert text.count("<td>no such tool</td>") == 4


def test_junit_is_xml_whatever_stands_in_it():
    parsed = xml.dom.minidom.parseString(junit.junit(hostile_report()))
    assert [len(parsed.getElementsByTagName(tag)) for tag in ("testcase", "failure", "error", "skipped")] == [
        7,
        2,
        1,
        2,
    ]


def test_the_text_begins_with_the_verdict_and_says_what_leaves():
    assert report.text(hostile_report()).startswith("NOT PROVEN")
    said = "may leave to an embedding endpoint on any machine."
    assert said in report.text(hostile_report())
    assert said in page.page(hostile_report())
    assert hostile_report().exit_code == 1


def test_a_canary_is_seen_in_any_coding():
    token = scratch.canary()
    forms = [token, token.encode().hex(), token.encode().hex().upper()]
    forms += [base64.b64encode(f"{shift}{token} and more".encode()).decode() for shift in ("", "x", "xy", "xyz")]
    for form in forms:
        assert leaks(f"before {form} after", {"a file": token}) == ["a file"], form
    assert leaks("CANARY-0000", {"a file": token}) == []
