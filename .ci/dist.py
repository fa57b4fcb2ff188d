"""Build the wheel and the sdist of the last commit: the same bytes from every clone of it, by the same Python.

    .venv/bin/python .ci/dist.py dist

Built is what git has, not what lies in the working tree, with the modes and the time of the commit. The sdist is packed
again, because setuptools writes into it when it was built, and by whom (https://reproducible-builds.org/docs/).
"""

import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = "import sys, setuptools.build_meta as b; out = sys.argv[1]; b.build_wheel(out); b.build_sdist(out)"
UMASK = 0o022  # of whoever unpacked the tree: a wheel keeps the modes of its files


def git(root: Path, *arguments: str) -> bytes:
    """Return what git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout


def build(root: Path, out: Path) -> None:
    """Build both into a directory."""
    epoch = int(git(root, "log", "-1", "--format=%ct"))
    os.umask(UMASK)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        tree, built = Path(name, "tree"), Path(name, "built")
        with tarfile.open(fileobj=io.BytesIO(git(root, "-c", "tar.umask=0022", "archive", "HEAD"))) as committed:
            committed.extractall(tree, filter="tar")
        built.mkdir()
        environment = {"PATH": os.defpath, "SOURCE_DATE_EPOCH": str(epoch)}
        command = [sys.executable, "-I", "-c", BUILD, str(built)]
        subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
        for wheel in built.glob("*.whl"):
            (out / wheel.name).write_bytes(wheel.read_bytes())
        for sdist in built.glob("*.tar.gz"):
            (out / sdist.name).write_bytes(packed_again(sdist, epoch))


def packed_again(sdist: Path, epoch: int) -> bytes:
    """Return the sdist with its members in order, and nothing in it that tells of the machine that built it."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=packed, mtime=epoch) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        tarfile.open(sdist) as built,
    ):
        for member in sorted(built.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.pax_headers = {}
            tar.addfile(member, built.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


if __name__ == "__main__":
    try:
        build(ROOT, Path(sys.argv[1]).absolute())
    except subprocess.CalledProcessError as failed:  # which has said why
        sys.exit(
            f"{Path(failed.cmd[0]).name} has failed. What builds is pinned in constraints.txt: see README.md, Set-up"
        )
