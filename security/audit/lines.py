"""Bytes that no client would send, each with a request behind it that must be answered."""

from collections.abc import Sequence

from fledgling.security.audit import corpus
from fledgling.security.audit.client import Lines
from fledgling.security.audit.corpus import Attack, Line, LookFor
from fledgling.security.audit.report import Result
from fledgling.security.audit.target import Target, looked, result
from fledgling.security.audit.verdict import Verdict, leaks, shown


def by_lines(target: Target, attacks: Sequence[Attack]) -> list[Result]:
    """Start a server over a project of one file, send every line, and see how far it has grown."""
    server = Lines(target.command, target.scratch.small, target.asked, target.scratch.environment)
    try:
        server.begin()
        tool = target.profile.tools[0]
        server.ask("tools/call", {"name": tool, "arguments": corpus.REQUIRED.get(tool, {})})
        before = server.process.memory_info().rss
        rows = [
            result(attack, _sent(target, server, attack.act), target)
            for attack in attacks
            if isinstance(attack.act, Line)
        ]
        growth = (server.process.memory_info().rss - before) / 2**20
    finally:
        server.close()
    most = next(
        attack.act.expected for attack in attacks if isinstance(attack.act, LookFor) and attack.act.at == "growth"
    )
    return rows + looked(target, attacks, "growth", (growth <= float(str(most)), f"{growth:.0f} MiB more"))


def _sent(target: Target, server: Lines, line: Line) -> Verdict:
    sent = (target.filled(line.text) * line.times).encode(line.encoding) + line.end.encode()
    try:
        *said, _ = server.ask("tools/list", {}, before=sent)
    except TimeoutError:
        return Verdict("through", "", "the next request was not answered")
    except OSError:
        return Verdict("through", "", "the server has ended")
    reply = b"\n".join(said).decode("utf-8", "replace")
    if seen := leaks(reply, target.hidden):
        return Verdict("through", "", f"the reply holds what is in {seen[0]}")
    if str(target.scratch.small) in reply or "Traceback (most recent" in reply:
        return Verdict("through", "", f"the reply tells of the server's inside: {shown(reply)}")
    return Verdict("held", "protocol", shown(reply) or "ignored")
