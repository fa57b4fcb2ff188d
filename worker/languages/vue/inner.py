"""Scripts of a component, in Vue as in Svelte: JavaScript, or TypeScript where one of them says so.

https://vuejs.org/api/sfc-spec.html, https://svelte.dev/docs/svelte/svelte-files
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.inner import Inner, only

ATTRIBUTES = rb"(?>(?:[^>=]++|=\s*+(?>(?:\"[^\"]*+\"|'[^']*+')?))*)"
SCRIPT = deferred(
    rb"<!--.*?(?:-->|\Z)|<script(?=[\s>/])(?P<attributes>" + ATTRIBUTES + rb")(?:>(?P<text>.*?)(?:</script\b|\Z)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
TYPED = deferred(rb"\blang\s*+=\s*+[\"']?+tsx?\b", re.IGNORECASE)


def inner(source: bytes) -> Inner:
    """The scripts of a component: `inner(b'<script lang="ts">let a</script>').language == "typescript"`."""
    scripts = [match for match in SCRIPT.finditer(source) if match["text"] is not None]
    typed = any(TYPED.search(match["attributes"]) for match in scripts)
    return Inner("typescript" if typed else "javascript", only(source, [match.span("text") for match in scripts]))
