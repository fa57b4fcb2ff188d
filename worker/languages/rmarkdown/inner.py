"""Chunks of R in a document: https://bookdown.org/yihui/rmarkdown/r-code.html."""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.inner import Inner, only

CHUNK = deferred(
    rb"^```+[ \t]*+\{[ \t]*+r\b[^\n]*+\n(?P<code>.*?)(?:^```|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)


def inner(source: bytes) -> Inner:
    """The chunks of a document: of "```{r}\\na <- 1\\n```" the second line."""
    return Inner("r", only(source, [chunk.span("code") for chunk in CHUNK.finditer(source)]))
