"""Build the documents as a site of static files; a link or an anchor that leads nowhere fails.

    python .ci/site.py site

The pages are those that git has, at their own places: a link is the same here and in the repository. What they link to
that is no page lies beside them as it is. Needs mkdocs-material (.ci/site-requirements.txt).
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOT_SHOWN = ("tests/", ".github/")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def listed() -> list[Path]:
    """Return the pages, and the files that they link to."""
    command = ["git", "ls-files", "-z", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    pages = [ROOT / name for name in names.decode().split("\0") if name and not name.startswith(NOT_SHOWN)]
    linked = {(page.parent / link).resolve() for page in pages for link in LINK.findall(page.read_text())}
    return [
        *pages,
        *sorted(path for path in linked if path.is_file() and path.is_relative_to(ROOT) and path not in pages),
    ]


def build(out: Path) -> None:
    """Build the site into a directory."""
    with tempfile.TemporaryDirectory() as name:
        for path in listed():
            copy = Path(name, "docs", path.relative_to(ROOT))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        settings = Path(name, "mkdocs.yml")
        shutil.copyfile(ROOT / ".ci/mkdocs.yml", settings)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", settings, "-d", out.resolve()]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
