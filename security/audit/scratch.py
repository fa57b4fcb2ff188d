"""The scratch project of an audit: what tree.toml plants, with a canary in everything that nobody may see."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

from msgspec import Struct

from fledgling.security.audit import corpus
from fledgling.security.user import NOBODY

SECRET = "FLEDGLING_AUDIT_SECRET"  # the variable of the server's environment that holds a canary
_OUTSIDE = {"canary.txt": "{}\n", "canary.csv": "{},x\n1,2\n", "canary.json": '[{{"secret": "{}"}}]\n'}
_SPECIAL = {"pipe": stat.S_IFIFO, "socket": stat.S_IFSOCK, "device": stat.S_IFCHR}
_HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")


class Scratch(Struct, frozen=True):
    """A place with a project, what lies beside it, and the canaries in them by what they are in.

    `small` is another project, of one file. `hidden` may be in no reply; `bait` only where `read` shows it. `missing`
    are plants that this user may not make.
    """

    place: Path
    root: Path
    small: Path
    outside: Path
    hidden: dict[str, str]
    bait: dict[str, str]
    missing: tuple[str, ...]
    environment: dict[str, str]

    def snapshot(self) -> dict[str, tuple[int, ...]]:
        """Return what would change if a file was made, changed, moved or removed: path -> times, size, inode, mode."""
        return dict(_entries(self.place))


def plant(place: Path) -> Scratch:
    """Write the project and what lies beside it below an empty directory."""
    root, small, outside = place / "project", place / "small", place / "outside"
    hidden = {SECRET: canary()}
    small.mkdir()
    (small / "README.md").write_text("A project of one file.\n")
    for directory in (outside, place / "project-evil"):
        directory.mkdir()
        for name, text in _OUTSIDE.items():
            hidden[f"{directory.name}/{name}"] = canary()
            (directory / name).write_text(text.format(hidden[f"{directory.name}/{name}"]))
    bait: dict[str, str] = {}
    missing = []
    for planted in corpus.plants():
        token = canary()
        try:
            _plant(root, planted, planted.text.replace("{outside}", str(outside)).replace("{canary}", token))
        except PermissionError:
            missing.append(planted.path)
        if planted.hidden:
            hidden[planted.path] = token
        if planted.bait:
            bait[planted.path] = token
    if os.geteuid() == 0:
        os.chown(root, NOBODY, NOBODY)  # the indexer becomes the owner of the root
    environment = {name: str(place / name) for name in _HOMES} | {SECRET: hidden[SECRET], "PATH": os.defpath}
    for name in _HOMES:
        (place / name).mkdir()
    return Scratch(place, root, small, outside, hidden, bait, tuple(missing), environment)


def canary() -> str:
    """Return a text that stands nowhere else and that no attack can know."""
    return f"CANARY-{token_hex(8)}"


def _plant(root: Path, planted: corpus.Plant, text: str) -> None:
    coding = "latin-1" if planted.kind == "bytes" else "utf-8"
    path = root / os.fsdecode(planted.path.encode(coding))
    path.parent.mkdir(parents=True, exist_ok=True)
    match planted.kind:
        case "file" | "bytes" | "closed":
            path.write_bytes(text.encode(coding) * planted.times)
            if planted.kind == "closed":
                path.chmod(0)
        case "link":
            path.symlink_to(text)
        case "special":
            kind, _, device = text.partition(" ")
            os.mknod(path, _SPECIAL[kind] | 0o600, os.makedev(*map(int, device.split(":"))) if device else 0)
        case "sparse":
            path.touch()
            os.truncate(path, planted.times)
        case "nest":
            path.joinpath(*["d"] * planted.times).mkdir(parents=True)
        case "many":
            path.mkdir()
            for number in range(planted.times):
                path.joinpath(f"{number}.txt").touch()


def _entries(place: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for directory, names, files in os.walk(place):
        for path in (Path(directory), *(Path(directory, name) for name in (*names, *files))):
            entry = path.lstat()
            yield str(path), (entry.st_mtime_ns, entry.st_ctime_ns, entry.st_size, entry.st_ino, entry.st_mode)
