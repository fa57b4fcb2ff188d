"""Judges of documents and data on the marked sources: docutils, markdown-it, PyYAML, tomllib and json."""

from pathlib import Path

import pytest
from test_documents import json_keys, judge, markdown, restructuredtext, toml_keys, yaml_keys

SOURCES = Path(__file__).parents[1] / "languages"
REFERENCES = {
    "compose.yaml": ("yaml", yaml_keys),
    "guide.md": ("markdown", markdown),
    "manual.rst": ("restructuredtext", restructuredtext),
    "package.json": ("json", json_keys),
    "Pipfile": ("toml", toml_keys),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_marked_sources_agree(name: str) -> None:
    language, reference = REFERENCES[name]
    path = SOURCES / name
    judge(language, reference, [(path, path.read_text())])
