"""A server to be attacked, and how what was seen of it becomes rows of the report."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from fledgling.messages.profile import Profile
from fledgling.security.audit.corpus import Attack, LookFor
from fledgling.security.audit.outside import Seen
from fledgling.security.audit.report import Result
from fledgling.security.audit.scratch import Scratch
from fledgling.security.audit.verdict import Verdict

SCRATCH, YOURS = "scratch", "yours"  # projects


class Target(Struct, frozen=True):
    """A profile, as it is asked for and as it is read, over a project; `hidden` may be in no reply, and is in what.

    Where a server has the project as a directory of a tree, `above` is that: `project/`.
    """

    command: tuple[str, ...]
    asked: str
    profile: Profile
    project: str
    root: Path
    scratch: Scratch
    hidden: dict[str, str]
    above: str = ""

    def called(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with their places, and with the path of the tree for one that is meant in the project."""
        found: dict[str, Any] = self.filled(arguments)
        path = found.get("path")
        if self.above and isinstance(path, str) and path and not path.startswith(("/", "~", "\\")):
            found["path"] = f"{self.above}{path}"
        return found

    def filled(self, value: Any) -> Any:
        """Return a value of the corpus with its places: `{root}/x`, `{outside}/canary.txt`."""
        if isinstance(value, str):
            return value.replace("{root}", str(self.root)).replace("{outside}", str(self.scratch.outside))
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self.filled(item) for name, item in value.items()}
        return value


def result(attack: Attack, verdict: Verdict, target: Target | None = None, tool: str = "") -> Result:
    """Return one row of the report; without a target it is about every profile."""
    return Result(
        profile=target.profile.name if target else "",
        project=target.project if target else "",
        family=attack.family,
        name=attack.name,
        tool=tool,
        threats=attack.threats,
        source=attack.source,
        expected=attack.layer,
        status=verdict.status,
        layer=verdict.layer,
        evidence=verdict.evidence,
    )


def looked(target: Target, attacks: Iterable[Attack], at: str, seen: Seen) -> list[Result]:
    """Return the rows that ask for one check of a whole run, with what it has found."""
    return [
        result(attack, judged(attack, seen), target)
        for attack in attacks
        if isinstance(attack.act, LookFor) and attack.act.at == at
    ]


def judged(attack: Attack, seen: Seen) -> Verdict:
    """Return what a look has found as a verdict."""
    good, evidence = seen
    return Verdict("held", attack.layer, evidence) if good else Verdict("through", "", evidence)
