"""The tested releases of DuckDB other than the installed one: what depends on it is run again with each."""

import re
import subprocess
import sysconfig
import venv
from pathlib import Path

import _duckdb
import pytest

from fledgling.worker.store.database import TESTED

ROOT = Path(__file__).parent.parent
DEPENDING = [
    "tests/test_ablation.py",
    "tests/test_calls.py",
    "tests/test_generations.py",
    "tests/test_image.py",
    "tests/test_image_files.py",
    "tests/test_limits.py",
    "tests/test_memory_file.py",
    "tests/test_narrowing.py",
    "tests/test_overlay.py",
    "tests/test_statement.py",
    "tests/test_substitution.py",
]


@pytest.mark.long
@pytest.mark.parametrize("release", [release for release in TESTED if release != _duckdb.__version__])
def test_everything_that_depends_on_duckdb_holds_with(tmp_path: Path, release: str) -> None:
    """In an environment that has everything else from this one."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", f"duckdb=={release}"], check=True)
    [site] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    seen = subprocess.check_output([python, "-c", "import _duckdb; print(_duckdb.__version__)"], text=True)
    assert seen.strip() == release != _duckdb.__version__
    ran = subprocess.run(
        [python, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *DEPENDING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) > 600
