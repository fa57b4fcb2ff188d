"""The readers by name: languages that need neither a grammar nor statements, read by linear rules of their own."""

from collections.abc import Callable

from fledgling.worker.extracting.outline import Outline
from fledgling.worker.extracting.readers import (
    clojure,
    json_keys,
    markdown,
    markup,
    restructuredtext,
    stylesheet,
    toml_keys,
    yaml_keys,
)

READERS: dict[str, Callable[[bytes], Outline]] = {
    "clojure": clojure.outline,
    "css": stylesheet.css,
    "html": markup.outline,
    "json": json_keys.outline,
    "less": stylesheet.less_or_scss,
    "markdown": markdown.outline,
    "restructuredtext": restructuredtext.outline,
    "scss": stylesheet.less_or_scss,
    "toml": toml_keys.outline,
    "yaml": yaml_keys.outline,
}
