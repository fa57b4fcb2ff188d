"""What the account of a name says of its occurrences: how many are of which class, and where nobody can tell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fledgling.plain import counted

MOST = 20_000  # occurrences of one name that are accounted for, and places of others: some microseconds each
TEXTS = ("text", "document")  # classes of occurrences that say nothing of what they mean; "text" has keywords, too
SHOWN_PLACES = 3  # lines of unresolved occurrences, for each reason


class Account(NamedTuple):
    """How many occurrences of a name there are, and of which class; places of those that nobody can tell.

    They are those of its spelling, and where its language asks for no case, in files of such languages those of all.
    """

    name: str
    total: int
    is_whole: bool  # False where there are more than MOST
    classes: Counter[str]
    unknown: dict[str, list[str]]  # by the reason
    aliased: int  # uses of the definition by another name
    differ: bool = False  # whether some are in another case
    made: Sequence[str] = ()  # places where a name is made that may be this one
    inferred: Sequence[str] = ()  # places where an object is made of a type that nobody can tell, maybe of this
    texts: Mapping[str, Sequence[str]] = {}  # places of those of classes that no parser of code reads, and of "keyword"
    computed: Sequence[str] = ()  # places where any name may be computed


def sentence(account: Account, *, names_texts: bool) -> str:
    """Say it: `3 occurrences of `run`: 1 certain, 1 definition, 1 in documents and data; nothing unresolved`.

    Where the texts that have the name are all that is found, `names_texts` says where they are.
    """
    parts = []
    for kind, words in _WORDS.items():
        if count := account.classes[kind]:
            where = f" ({_shown(account.texts[kind])})" if names_texts and kind in TEXTS else ""
            parts.append(f"{count:,} {words if count > 1 or kind not in _ONE else _ONE[kind]}{where}")
    for reason, places in account.unknown.items():
        parts.append(f"{len(places):,} unresolved ({reason}: {_shown(places)})")
    least = "" if account.is_whole else f"the first {MOST:,} of more than "
    name = f"`{account.name}`{' in any case' if account.differ else ''}"
    said = f"{least}{counted(account.total, 'occurrence')} of {name}: {', '.join(parts) or 'none in the text'}"
    if not (account.unknown or account.made or account.inferred):
        said += "; nothing unresolved"
    if account.aliased:
        said += f"; {account.aliased:,} more by another name"
    if account.made:
        said += f"; a name computed at run time may be this one in {_counted(account.made)} ({_shown(account.made)})"
    if account.inferred:
        said += f"; {len(account.inferred):,} `new()` without a type may make one ({_shown(account.inferred)})"
    return said


def of_arguments(account: Account) -> str | None:
    """Say where arguments have the name of a field, which they may give a value: `A(size=1)`."""
    places = account.texts.get("keyword")
    return f"Arguments called `{account.name}` may give it a value ({_shown(places)})." if places else None


def of_computed(account: Account) -> str:
    """Say where a name may be computed that nobody sees, if anywhere: `, nor those by names that are computed ...`."""
    if not account.computed:
        return ""
    where = f"{_counted(account.computed)} ({_shown(account.computed)})"
    return f", nor those by names that are computed at run time in {where}"


_WORDS = {  # classes of occurrences, in their order, and what they are called
    "certain": "certain",
    "likely": "likely",
    "possible": "merely possible (possible=true lists them)",
    "other": "of other definitions",
    "local": "of local variables",
    "field": "of fields",
    "module": "of modules or namespaces",
    "external": "of what is outside the project",
    "elsewhere": "in other languages",
    "definition": "definitions",
    "import": "imports",
    "keyword": "names of arguments",
    "text": "in comments, strings or other words",
    "document": "in documents and data",
}
_ONE = {"definition": "definition", "import": "import", "keyword": "name of an argument"}


def _counted(places: Sequence[str]) -> str:
    return counted(len(places), "place") if len(places) <= MOST else f"more than {MOST:,} places"


def _shown(places: Sequence[str]) -> str:
    lines = [*dict.fromkeys(places)]
    more = ", ..." if len(lines) > SHOWN_PLACES else ""
    return f"{', '.join(lines[:SHOWN_PLACES])}{more}"
