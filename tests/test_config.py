import os
import random
from pathlib import Path

import msgspec
import pytest
from costing import costs_under
from tables import cases

from fledgling.broker.cli.over_http import FLAGS
from fledgling.config import MAX_YAML_BYTES, ConfigError, Resolved, UserFile, read_user_file, resolve
from fledgling.project_file import narrow
from fledgling.roots import refuse_wide, with_root
from fledgling.scope import Scope
from fledgling.settings import KEYS, TYPES, Settings

TABLES = Path(__file__).parent / "settings"
SCOPE = Scope(("*.pyc",), max_file_size=1000, max_files=100)


def tupled(fields):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


def resolved(case):
    file = UserFile("mine.yaml", case["file"].encode()) if "file" in case else None
    return resolve(tupled(case.get("flags", {})), case.get("environment", {}), file)


def same_starts(texts, starts):
    return len(texts) == len(starts) and all(map(str.startswith, texts, starts))


@pytest.mark.parametrize("case", [row for row in cases(TABLES / "resolve.toml") if "says" not in row.values[0]])
def test_resolve(case):
    found = resolved(case)
    assert {key: getattr(found.settings, key) for key in case["settings"]} == tupled(case["settings"])
    assert {key: found.sources[key] for key in case.get("sources", {})} == case.get("sources", {})
    assert same_starts(found.notices, case.get("notices", []))
    assert tuple(found.sources) == KEYS


@pytest.mark.parametrize("case", [row for row in cases(TABLES / "resolve.toml") if "says" in row.values[0]])
def test_resolve_refuses(case):
    with pytest.raises(ConfigError) as error:
        resolved(case)
    assert str(error.value).startswith(case["says"])


@pytest.mark.parametrize("case", cases(TABLES / "narrow.toml"))
def test_narrow(case):
    scope = msgspec.structs.replace(SCOPE, **case.get("given", {}))
    found = narrow(scope, case["yaml"].encode())
    assert found.scope == msgspec.structs.replace(scope, **tupled(case.get("scope", {})))
    assert found.narrowed == tuple(case.get("narrowed", []))
    assert same_starts(found.notices, case.get("notices", [])), found.notices


def test_the_scope_of_the_settings_is_the_scope():
    assert Settings().scope == Scope()
    assert set(Scope.__struct_fields__) < set(KEYS)


def test_every_setting_says_what_it_may_be():
    assert all(TYPES[key].__metadata__[0].description for key in KEYS)


def test_flags_that_a_pipe_refuses_are_the_settings_for_http():
    of_http = [key for key in KEYS if "for http and sse" in TYPES[key].__metadata__[0].description]
    assert sorted(FLAGS) == sorted([*of_http, "secrets"])


# ---- the user's own file


def test_the_users_file_is_in_the_config_home(tmp_path):
    path = tmp_path / "fledgling" / "fledgling.yaml"
    assert read_user_file({"XDG_CONFIG_HOME": str(tmp_path)}) is None
    path.parent.mkdir()
    path.write_text("port: 1", encoding="utf-8")
    assert read_user_file({"XDG_CONFIG_HOME": str(tmp_path)}) == UserFile(str(path), b"port: 1")


def test_without_a_config_home_it_is_below_home(tmp_path):
    path = tmp_path / ".config" / "fledgling" / "fledgling.yaml"
    path.parent.mkdir(parents=True)
    path.touch()
    assert read_user_file({"HOME": str(tmp_path)}) == UserFile(str(path), b"")
    assert read_user_file({}) is None


def test_a_relative_config_home_does_not_lead_into_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("fledgling", "x/fledgling", ".config/fledgling"):
        Path(folder).mkdir(parents=True)
        Path(folder, "fledgling.yaml").write_text("root: /", encoding="utf-8")
    Path("fledgling.yaml").write_text("root: /", encoding="utf-8")
    for home in ("", ".", "x"):
        assert read_user_file({"XDG_CONFIG_HOME": home, "HOME": home}) is None


def test_a_named_file_goes_before_and_must_be_there(tmp_path):
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    one.write_text("port: 1", encoding="utf-8")
    assert read_user_file({"FLEDGLING_CONFIG": str(one)}) == UserFile(str(one), b"port: 1")
    assert read_user_file({"FLEDGLING_CONFIG": str(other)}, str(one)) == UserFile(str(one), b"port: 1")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for missing in (str(other), str(tmp_path), str(pipe)):
        with pytest.raises(ConfigError):
            read_user_file({"FLEDGLING_CONFIG": missing})


def test_a_large_file_is_refused(tmp_path):
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_YAML_BYTES + 1))
    with pytest.raises(ConfigError, match="it is larger than 65536 bytes"):
        resolve({}, {}, read_user_file({}, str(tmp_path / "large.yaml")))


def test_a_relative_file_in_the_environment_could_be_the_projects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fledgling.yaml").write_text("root: /", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"environment FLEDGLING_CONFIG: the path .* is relative"):
        read_user_file({"FLEDGLING_CONFIG": "fledgling.yaml"})
    assert read_user_file({"FLEDGLING_CONFIG": "x.yaml"}, "fledgling.yaml") == UserFile("fledgling.yaml", b"root: /")


# ---- the root

CLAUDE, VARIABLE = "environment CLAUDE_PROJECT_DIR", "environment FLEDGLING_ROOT"
WORKING, GIT = "the working directory", "the nearest .git"

# What there is, where the command is started, what it is told; then the root and its source, or what is said about it.
# `@` is the home directory.
ROOTS = {
    "the flag": ({"a/.git": 1}, "a", {"root": "../b"}, {}, "b", "flag --root"),
    "the variable": ({"a/.git": 1}, "a", {}, {"FLEDGLING_ROOT": "@b", "CLAUDE_PROJECT_DIR": "@a"}, "b", VARIABLE),
    "the user's file": ({"a/.git": 1}, "a", {}, {"file": "root: @b", "CLAUDE_PROJECT_DIR": "@a"}, "b", "mine.yaml:1"),
    "what Claude Code names": ({"a/.git": 1}, "a", {}, {"CLAUDE_PROJECT_DIR": "@b"}, "b", CLAUDE),
    "a relative name is passed over": ({}, "a", {}, {"CLAUDE_PROJECT_DIR": "b"}, "a", WORKING),
    "the directory of .git": ({"a/.git": 1, "a/c/d": 1}, "a/c/d", {}, {}, "a", GIT),
    "the nearest of two": ({"a/.git": 1, "a/c/.git": 1, "a/c/d": 1}, "a/c/d", {}, {}, "a/c", GIT),
    "a .git that is a file, of a worktree": ({"a/.git": "gitdir: x", "a/c": 1}, "a/c", {}, {}, "a", GIT),
    "no .git": ({"a/c": 1}, "a/c", {}, {}, "a/c", WORKING),
    "a .git in the home directory": ({".git": 1, "a/c": 1}, "a/c", {}, {}, "a/c", WORKING),
    "the home directory is refused": ({}, ".", {}, {}, None, "the working directory: root '@.' is more than a project"),
    "and where it is named": ({}, "a", {"root": ".."}, {}, None, "flag --root: root '@.' is more than a project"),
    "and through a link": ({"l": "->."}, "a", {"root": "../l"}, {}, None, "flag --root: root '@.' is more than a"),
    "so is what is above it": ({}, "a", {"root": "../.."}, {}, None, "flag --root: root '@..' is more than a project"),
    "and everything": ({}, "a", {}, {"FLEDGLING_ROOT": "/"}, None, f"{VARIABLE}: root '/' is more than a project"),
    "a file is refused": ({"f": "x"}, "a", {"root": "../f"}, {}, None, "flag --root: root '@f' is not a directory"),
    "what is not there": ({}, "a", {}, {"CLAUDE_PROJECT_DIR": "@x"}, None, f"{CLAUDE}: root '@x' is not there"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROOTS.values(), ids=ROOTS)
def test_root(row, tmp_path, monkeypatch):
    tree, working, flags, told, root, source = row
    home = tmp_path / "home"

    def placed(text):
        return text.replace("@..", str(tmp_path)).replace("@.", str(home)).replace("@", f"{home}/")

    for name, what in {"a": 1, "b": 1, **tree}.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == 1:
            path.mkdir(parents=True, exist_ok=True)
        elif what.startswith("->"):
            path.symlink_to(what[2:])
        else:
            path.write_text(what)
    monkeypatch.chdir(home / working)
    environment = {"HOME": str(home), **{name: placed(value) for name, value in told.items()}}
    file = UserFile("mine.yaml", environment.pop("file").encode()) if "file" in told else None
    if root is None:
        with pytest.raises(ConfigError) as error:
            refuse_wide(with_root(resolve(flags, environment, file), environment), environment)
        assert str(error.value).startswith(placed(source))
    else:
        found = with_root(resolve(flags, environment, file), environment)
        refuse_wide(found, environment)
        assert (found.settings.root, found.sources["root"]) == (str(home / root), source)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_git_directory_of_another_user_is_passed_over(tmp_path, monkeypatch):
    inner = tmp_path / "shared" / "mine"
    inner.mkdir(parents=True)
    (tmp_path / "shared" / ".git").mkdir()
    os.chown(tmp_path / "shared" / ".git", 65534, 65534)
    monkeypatch.chdir(inner)
    assert with_root(resolve({}, {}), {"HOME": "/nowhere"}).settings.root == str(inner)


@pytest.mark.parametrize("root", ["a\0b", "loop"])
def test_name_that_is_none_is_refused(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(ConfigError, match=r"cannot be found|no directory"):
        with_root(resolve({"root": root}, {}), {})


def test_directory_that_is_gone_is_no_root(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ConfigError, match="cannot be found"):
        with_root(resolve({}, {}), {})


@pytest.mark.parametrize("root", ["/", "/home", "/home/somebody", "/Users/somebody"])
def test_homes_of_others_are_no_projects(root):
    settings = Resolved(Settings(root=root), {"root": "flag --root"})
    with pytest.raises(ConfigError, match="say --yes-really"):
        refuse_wide(settings, {"HOME": "/nowhere/me"})
    refuse_wide(Resolved(Settings(root="/home/somebody/project"), {"root": "flag --root"}), {"HOME": "/nowhere/me"})


# ---- hostile bytes

HOSTILE = {
    "not UTF-8": b"max_files: \xff",
    "UTF-16": "max_files: 1".encode("utf-16"),
    "NUL": b"max_files: 1\0",
    "an escape beyond Unicode": b'max_files: "\\U00110000"',
    "half a character": b'max_files: "\\ud800"',
    "half a character in a list": b'exclude_patterns: ["\\udfff"]',
    "half a character as a name": b'"\\ud800": 1',
    "an escape beyond a C int": b'max_files: "\\UFFFFFFFF"',
    "a version of 60,000 digits": b"%YAML " + b"9" * 60_000 + b".1\n---\nmax_files: 1",
    "a number of 60,000 digits": b"max_files: " + b"9" * 60_000,
    "an exponent without end": b"max_files: 1e999999999",
    "open brackets": b"[" * MAX_YAML_BYTES,
    "open braces": b"{" * MAX_YAML_BYTES,
    "dashes": b"- " * (MAX_YAML_BYTES // 2),
    "questions": b"? " * (MAX_YAML_BYTES // 2),
    "names": b"".join(b"k%d: 1\n" % number for number in range(6000)),
    "too many patterns": b"exclude_patterns: [" + b"x," * 32_000 + b"]",
    "a tag handle of 30,000 letters": b"%TAG !" + b"a" * 30_000 + b"! b\n%TAG !" + b"a" * 30_000 + b"! b\n---\na: 1",
    "too many bytes": b"#" * (MAX_YAML_BYTES + 1),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_cost_little_and_change_nothing(data):
    found = costs_under(2, lambda: narrow(SCOPE, data))  # half a second for the slowest
    assert (found.scope, found.narrowed) == (SCOPE, ())
    assert 1 <= len(found.notices) <= 21
    assert all(len(notice) < 400 and notice.isprintable() for notice in found.notices)


PIECES = (
    *b"exclude_patterns: max_file_size: max_files: index_content: profile: <<: - -- [ ] { } , a '!a' ! &a *a".split(),
    *b"' \" | > % # : ? ~ 1 -1 0 1e5 99999999 true false \\x \\U \xff \0 !!int".split(),
    *(b"\n", b"  ", b"\t", b" ", b"---\n", b"...\n", b"exclude_patterns:\n"),
)
LINES = (
    b"max_files: 5\n",
    b"max_file_size: 2000\n",
    b"index_content: false\n",
    b"exclude_patterns: [b, c]\n",
    b"'a': 1\n",
)


def test_soup_never_raises_and_never_widens():
    chance, narrowed = random.Random(1), 0
    for _ in range(4000):
        pieces = chance.choices(PIECES, k=chance.randrange(4)) + chance.choices(LINES, k=chance.randrange(4))
        found = narrow(SCOPE, b"".join(chance.sample(pieces, len(pieces))))
        scope = found.scope
        assert scope.max_files <= SCOPE.max_files
        assert scope.max_file_size <= SCOPE.max_file_size
        assert scope.exclude_patterns[:1] == SCOPE.exclude_patterns
        assert not any(pattern.lstrip().startswith("!") for pattern in scope.exclude_patterns)
        assert bool(found.narrowed) == (scope != SCOPE)
        assert all(len(notice) < 400 and notice.isprintable() for notice in found.notices)
        narrowed += bool(found.narrowed)
    assert narrowed > 300, "the soup is too thin to say anything"
