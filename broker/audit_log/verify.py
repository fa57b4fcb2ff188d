"""Whether the chain of an audit log is unbroken, and where it breaks."""

from collections.abc import Iterable

from msgspec import Struct

from fledgling.broker.audit_log.chain import Chain, ChainLink


class Checked(Struct, frozen=True):
    """What `verify` found: `found` is the number of the line with the known hash, `broken` says what is wrong."""

    lines: int
    torn: int
    hash: str
    found: int | None
    broken: str | None


def verify(lines: Iterable[bytes], known: str | None = None) -> Checked:
    """Follow a chain to its first break. `known` is the hash of a line, kept elsewhere.

    A torn line is no break as long as the line after it was written by one who had seen it.
    """
    chain, torn, found, number, broken = Chain(), 0, None, 0, None
    for number, line in enumerate(lines, 1):
        expected, sequence = chain.hash, chain.sequence + 1
        link = chain.line(line.removesuffix(b"\n"))
        if link is None:
            torn += 1
        elif (link.previous, link.sequence) != (expected, sequence):
            broken = f"line {number}: {_break(number, link, sequence)}"
            break
        if chain.hash == known:
            found = number
    if torn == number > 0:
        broken = "line 1: it is not a line of an audit log"
    return Checked(number - torn, torn, chain.hash, found, broken)


def _break(number: int, link: ChainLink, sequence: int) -> str:
    if link.sequence > sequence:
        return f"{link.sequence - sequence} lines before it are missing"
    if link.sequence < sequence:
        return "it was moved, repeated or inserted"
    if number == 1:
        return "it names a line before it, but there is none"
    return f"line {number - 1} was changed or replaced after this one was written"


def summary(checked: Checked, known: str | None) -> list[str]:
    """Return what `verify` found, in lines for a person."""
    said = [f"{checked.lines} lines, {checked.torn} torn by a crash or a full disk"]
    if known is not None:
        after = (
            f"is that of line {checked.found}" if checked.found else "is that of no line: lines were cut off or changed"
        )
        said.append(f"the hash of --last {after}")
    if checked.broken:
        return [*said, f"broken: {checked.broken}"]
    return [
        *said,
        f"unbroken; last hash {checked.hash}" if checked.hash else "empty: only --last HASH shows what was cut",
    ]
