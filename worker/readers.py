"""The readers by name: languages that need neither a grammar nor statements, read by linear rules of their own."""

from collections.abc import Callable

from fledgling.worker import json_keys, markdown, restructuredtext, toml_keys, yaml_keys
from fledgling.worker.outline import Outline

READERS: dict[str, Callable[[bytes], Outline]] = {
    "json": json_keys.outline,
    "markdown": markdown.outline,
    "restructuredtext": restructuredtext.outline,
    "toml": toml_keys.outline,
    "yaml": yaml_keys.outline,
}
