"""From a comment or a string as it stands in a source to plain text."""

import ast
import re
import warnings

PLAIN = re.compile(r'"""(?>(?:[^"\\\r\0]++|"(?!""))*)"""')  # its value is as it stands; a parser takes ten times longer
COMMENT_BEGIN = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+(?![/)])|//+!?|--+(?:\[=*\[)?(?:[ ]\|)?|\(\*+|\{-(?:[ ]\|)?|\{#|<#|#+(?!>)'?|;+|%+"
    r"|=begin\b|=end\b)?[ \t]?",
    re.MULTILINE,
)
# Blanks and stars are gone through once each: no match begins among them.
COMMENT_END = re.compile(r"(?<![ \t])[ \t]*+(?:(?<!\*)\*++[/)]|#[>}]|-\}|\]=*+\])[ \t]*+$", re.MULTILINE)
COMMENT_ENDS = ("*/", "*)", "-}", "#>", "#}", "]]", "]=")  # what one holds that the expression matches
AT_MARGIN = re.compile(r"\n\S")


def unmarked(text: str, mark: str = "(?!)") -> str:
    """Comments without their marks: `text` of `/** text */`, ` * text` or `// text`, line by line.

    A comment that begins with none of them loses the mark of its language, a regular expression: `!>` in Fortran.
    """
    begin = COMMENT_BEGIN.match(text)
    if begin and not begin[0].strip():
        return re.sub(rf"^[ \t]*(?:{mark})[ \t]?", "", text, flags=re.MULTILINE)
    text = COMMENT_BEGIN.sub("", text)
    return COMMENT_END.sub("", text) if any(end in text for end in COMMENT_ENDS) else text


def cleaned(text: str) -> str:
    """What `inspect.cleandoc` makes of a text; loading `inspect` takes a twentieth of what an extractor loads.

    Most have one line, or a second one that begins at the margin.
    """
    text = text.expandtabs()
    if AT_MARGIN.search(text):
        first, newline, more = text.partition("\n")
        return (first.lstrip() + newline + more).strip("\n")
    top, *lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([top.lstrip(), *(line[margin:] for line in lines)]).strip("\n")


def literal(source: str) -> str | None:
    """The value of a Python string expression, cleaned like `ast.get_docstring`; None for bytes and f-strings."""
    if PLAIN.fullmatch(source):
        return cleaned(source[3:-3])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in the project's text is no news of ours
            value = ast.literal_eval(f"({source}\n)")
    except (SyntaxError, ValueError):
        return None
    return cleaned(value) if isinstance(value, str) else None
