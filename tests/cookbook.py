"""The SQL cookbook: statements and their answers. `python tests/cookbook.py DIRECTORY` writes the answers of Flask."""

import asyncio
import re
import sys
from pathlib import Path

from conftest import connected

BOOK = Path(__file__).parent.parent / "docs" / "cookbook" / "sql.md"
RECIPE = re.compile(r"(?P<head>```sql\n(?P<sql>.*?)\n```\n\n```text\n)(?P<answer>.*?)(?=```\n)", re.DOTALL)


def recipes(text: str) -> list[tuple[str, str]]:
    """Return each statement with the answer beside it."""
    return [(found["sql"], found["answer"]) for found in RECIPE.finditer(text)]


async def answers(root: Path, statements: list[str]) -> list[str]:
    """Return what a server says to each statement, as lines of text."""
    found = []
    async with connected(root, "--profile", "fledgling-analyst") as client:
        for sql in statements:
            answer = await client.call_tool("query", {"sql": sql})
            found.append("".join(f"{line}\n" for line in answer.content[0].text.splitlines()))  # type: ignore[union-attr]
    return found


def main() -> None:
    text = BOOK.read_text()
    told = iter(asyncio.run(answers(Path(sys.argv[1]), [sql for sql, _ in recipes(text)])))
    BOOK.write_text(RECIPE.sub(lambda found: found["head"] + next(told), text))


if __name__ == "__main__":
    main()
