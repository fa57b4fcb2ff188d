"""Judges of what the graph knows of the libraries of Java and Kotlin: what these are, read as the lists were made.

That of Java takes a JDK of the version below. That of Kotlin takes such a JDK as well, and JUDGES_KOTLIN_LIBRARY, the
folder `lib` of npm's `kotlin-compiler`.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fledgling.worker.language import own_text

HERE = Path(__file__).parent
VERSION = "17"  # of Java: the oldest that has sealed classes
KOTLIN = Path(os.environ.get("JUDGES_KOTLIN_LIBRARY", ""))

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("java"), reason="no java"),
]


def test_the_list_of_java_is_what_its_library_has() -> None:
    assert own_text("java/library.txt") == _printed(str(HERE / "library.java"))


@pytest.mark.skipif("JUDGES_KOTLIN_LIBRARY" not in os.environ, reason="no JUDGES_KOTLIN_LIBRARY")
def test_the_list_of_kotlin_is_what_its_library_has() -> None:
    compiler, library = KOTLIN / "kotlin-compiler.jar", KOTLIN / "kotlin-stdlib-sources.jar"
    said = _printed("-cp", str(compiler), str(HERE / "library_kotlin.java"), str(library))
    assert own_text("kotlin/library.txt") == said


def _printed(*arguments: str) -> str:
    version = subprocess.run(["java", "--version"], check=True, capture_output=True, text=True).stdout
    if f" {VERSION}." not in version.splitlines()[0]:
        pytest.skip(f"another Java than {VERSION}")
    return subprocess.run(["java", *arguments], check=True, capture_output=True, text=True).stdout
