"""What a client is told that asks for a log: how each call of its own was decided, and nothing of anybody else's.

MCP has deprecated this, and clients of the handshake era still ask for it. Since 2026-07-28 a request says itself from
which level on it wants to hear, and the SDK holds back the rest; before, a client sets a level and is told until then
nothing.
"""

import warnings
from typing import get_args

from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import EmptyResult, LoggingLevel, SetLevelRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from fledgling.broker.audit_log.writer import Decision
from fledgling.broker.protocol.offers import Context

_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)  # from debug to emergency


class ClientLog:
    """The log of one agent's clients; its level is that of the client that has set one last."""

    def __init__(self) -> None:
        self._level: LoggingLevel | None = None

    async def set_level(self, _: Context, params: SetLevelRequestParams) -> EmptyResult:
        """Tell from now on what is at this level or above."""
        self._level = params.level
        return EmptyResult()

    async def tell(self, context: Context, decision: Decision) -> None:
        """Tell of a call that is over, if its client wants to hear: an answer is `info`, a refusal `warning`."""
        level: LoggingLevel = "info" if decision.verdict == "allowed" else "warning"
        if not self._is_wanted(context, level):
            return
        said = {
            "tool": decision.shown_tool,
            "verdict": decision.verdict,
            "layer": decision.layer,
            "milliseconds": decision.milliseconds,
            "rows": decision.rows,
            "bytes": decision.bytes,
        }
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            sending = context.session.send_log_message(level, said, "fledgling", context.request_id)
        await sending

    def _is_wanted(self, context: Context, level: LoggingLevel) -> bool:
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return True  # as far as the request says so
        return self._level is not None and _LEVELS.index(level) >= _LEVELS.index(self._level)
