"""The report as an MCP App: a page that a client shows beside answers of `explore`, if it says that it shows any.

https://modelcontextprotocol.io/specification/draft/extensions/apps, of 2026-01-26. The page is a resource of its own
scheme, and runs in the client's sandbox: it loads nothing, asks nothing of the server, and tells the client its size.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.types import ClientCapabilities

from fledgling.broker.front import Front
from fledgling.messages.answers import Refusal

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
URI = "ui://fledgling/report"
TOOL = "explore"  # beside whose answers it is shown
NEEDED = frozenset({"explore", "symbols", "dependencies"})  # what it shows is theirs to tell
DESCRIPTION = "The project as a page to explore: directories, hubs, cycles, long functions, what was not parsed."
META: Mapping[str, Any] = {"ui": {"resourceUri": URI}}

SCRIPT = """
(() => {
  if (window.parent === window) return;
  const send = (message) => window.parent.postMessage({jsonrpc: "2.0", ...message}, "*");
  const tell = () =>
    send({method: "ui/notifications/size-changed", params: {height: document.documentElement.scrollHeight}});
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || !event.data || event.data.jsonrpc !== "2.0") return;
    const {id, method, result} = event.data;
    if (method === "ui/resource-teardown" || method === "ping") send({id, result: {}});
    if (method === undefined && id === 1 && result) {
      send({method: "ui/notifications/initialized", params: {}});
      tell();
      new ResizeObserver(tell).observe(document.body);
    }
  });
  const params = {protocolVersion: "2026-01-26", appInfo: {name: "fledgling", version: "1"}, appCapabilities: {}};
  send({id: 1, method: "ui/initialize", params});
})();
"""


class App:
    """The page of one index, for clients that show it."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._making = asyncio.Lock()  # one at a time: who asks meanwhile is refused

    def is_for(self, capabilities: ClientCapabilities | None) -> bool:
        """Return whether a client says that it shows pages of this kind."""
        extensions = capabilities.extensions if capabilities else None
        kinds = (extensions or {}).get(EXTENSION, {}).get("mimeTypes")
        return isinstance(kinds, list | tuple) and MIME in kinds

    async def page(self, deadline: float) -> str | Refusal:
        """Return the page as the index is now, unless it is longer than one answer may be, or another is made."""
        from fledgling.broker.reporting import live  # noqa: PLC0415  (few clients show it)

        if self._making.locked():
            return Refusal("busy", "a page is being made already", "Wait for it, then ask again.")
        async with self._making:
            made = await live.made(self._front, SCRIPT, deadline)
        most = self._front.profile.max_result_bytes
        if isinstance(made, str) and len(made.encode()) > most:
            problem = f"the page is longer than the profile's max_result_bytes of {most}"
            return Refusal("memory", problem, "Ask explore, symbols and dependencies for a part of it.")
        return made


def of(front: object) -> App | None:
    """Return the app of an index, where there is one index, and its profile allows the tools that tell the same."""
    return App(front) if isinstance(front, Front) and {*front.profile.tools} >= NEEDED else None
