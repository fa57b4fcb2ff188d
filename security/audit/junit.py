"""A report as JUnit XML, for CI: a suite for each profile and family, a case for each row."""

from itertools import groupby
from xml.sax.saxutils import quoteattr

from fledgling.security.audit.report import Report, Result, counted

_TAGS = {"through": "failure", "unproven": "error", "not run": "skipped", "elsewhere": "skipped"}


def junit(report: Report) -> str:
    """Return the XML; what got through is a failure, what was not tried here is skipped."""
    suites = []
    for (profile, project, family), rows in groupby(report.results, key=lambda r: (r.profile, r.project, r.family)):
        results = list(rows)
        count = counted(results)
        name = ".".join(part for part in (profile, project, family) if part)
        suites.append(
            f"<testsuite name={_quoted(name)} tests='{len(results)}' failures='{count['through']}' "
            f"errors='{count['unproven']}' skipped='{count['not run'] + count['elsewhere']}'>"
        )
        suites += [_case(name, result) for result in results]
        suites.append("</testsuite>")
    return "\n".join(["<?xml version='1.0' encoding='UTF-8'?>", "<testsuites name='fledgling audit'>", *suites,
                      "</testsuites>\n"])  # fmt: skip


def _case(suite: str, result: Result) -> str:
    begin = f"<testcase classname={_quoted(suite)} name={_quoted(result.name)}"
    if result.status not in _TAGS:
        return f"{begin}/>"
    return f"{begin}><{_TAGS[result.status]} message={_quoted(result.evidence)}/></testcase>"


def _quoted(text: str) -> str:
    """Return a text as an attribute: evidence is printable, but what a row is called may hold what XML cannot."""
    return quoteattr("".join(c if c.isprintable() else "?" for c in text))
