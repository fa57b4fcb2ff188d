"""What an index costs that is built anew after a checkout, beside a fresh one: `renewal.py ROOT`.

A copy of a git repository is indexed, files of it are edited or renamed, and it is indexed again by the same server, as
it is where more has changed than is laid over an index. Read the ratios of processor time, over all processes and up to
the definitions: a busy machine hits both alike.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import corpora
import measure
from changes import MAX_FILES, MOVED, move

from fledgling.broker.indexing.indexing import Indexing
from fledgling.security import profile as profiles
from fledgling.settings import Settings


def lengthen(root: Path, paths: list[str]) -> None:
    """Add an empty line to files: a comment of another language would have to be repaired, which takes longer."""
    for path in paths:
        with (root / path).open("ab") as file:
            file.write(b"\n")


CHANGES = {"edited": lengthen, "renamed": move}


async def costs(corpus: Path, profile: str, changed: str, count: int) -> tuple[float, float]:
    """Return the processor seconds of a fresh index, and of another after so many files have changed."""
    with tempfile.TemporaryDirectory(prefix="fledgling-bench-") as place:
        root = Path(place, "changing")
        shutil.copytree(corpus, root, symlinks=True)
        paths = [path for path in corpora.listed(root) if not (root / path).is_symlink()]
        before = measure.spent(os.getpid())
        indexing = Indexing(Settings(root=str(root), max_files=MAX_FILES), profiles.load(profile), is_followed=True)
        try:
            await indexing.built()
            fresh = measure.since(before, os.getpid())
            CHANGES[changed](root, paths[:: len(paths) // count][:count])
            before = measure.spent(os.getpid())
            indexing.renew()
            await indexing.built()
            return fresh, measure.since(before, os.getpid())
        finally:
            await indexing.close()


def main() -> None:
    """Measure, and print a line for each pair, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--profile", default="fledgling-core")
    parser.add_argument("--files", type=int, default=MOVED, help="how many change")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    if not 0 < options.files <= len(corpora.listed(options.root)):
        parser.error(f"{options.root} has fewer than {options.files:,} files")
    measure.compile_modules()
    for changed in CHANGES:
        ratios = []
        for _ in range(options.pairs):
            fresh, again = asyncio.run(costs(options.root, options.profile, changed, options.files))
            ratios.append(again / fresh)
            sys.stdout.write(f"{changed:8} fresh {fresh:7.2f} s, again {again:7.2f} s  {ratios[-1]:.2f}x\n")
            sys.stdout.flush()
        sys.stdout.write(f"{changed:8} median {statistics.median(ratios):.2f}x\n")


if __name__ == "__main__":
    main()
