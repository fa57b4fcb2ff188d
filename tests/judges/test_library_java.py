"""Judge of what the graph knows of Java's library: a JDK of the version that the list was made of."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fledgling.worker.language import own_text

ASKED = Path(__file__).parent / "library.java"
VERSION = "17"  # of Java: the oldest that has sealed classes

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("java"), reason="no java"),
]


def test_the_list_of_java_is_what_its_library_has() -> None:
    version = subprocess.run(["java", "--version"], check=True, capture_output=True, text=True).stdout
    if f" {VERSION}." not in version.splitlines()[0]:
        pytest.skip(f"another Java than {VERSION}")
    said = subprocess.run(["java", str(ASKED)], check=True, capture_output=True, text=True).stdout
    assert own_text("java/library.txt") == said
