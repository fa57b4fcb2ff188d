"""Judge of who calls whom in Ruby: what gems of Debian do when they run, as TracePoint sees it. Needs apt and ruby."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from uses import SURE, Target, calls

from fledgling.worker.graph.reasons import Confidence

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
NEAR = 6  # lines of one call: Ruby names the one where its arguments end
NO_METHOD = re.compile(r"\s*(class|module|alias|alias_method)\b")  # the definition of a class, and another name
KRAMDOWN = """
require "kramdown"
Dir[ARGV[0] + "/docs/{graph,tools}.md"].each do |path|
  text = File.read(path)
  made = Kramdown::Document.new(text)
  [made.to_html, made.to_kramdown, made.to_latex, made.to_man, made.to_toc, made.to_hash_ast]
  Kramdown::Document.new(made.to_html, input: "html").to_kramdown
end
"""
ROUGE = """
require "rouge"
plain = Rouge::Formatters::HTML.new
formatters = [plain, Rouge::Formatters::Terminal256.new, Rouge::Formatters::HTMLLinewise.new(plain)]
Dir[ARGV[0] + "/{README.md,Makefile,.pre-commit-config.yaml,tests/judges/*.{rb,java,go,php,cs,cjs}}"].each do |path|
  text = File.read(path)
  lexer = Rouge::Lexer.guess(filename: path, source: text)
  formatters.each { |each| each.format(lexer.lex(text)) }
end
Rouge::Theme.find("github").render(scope: "a")
"""
ASCIIDOCTOR = """
require "asciidoctor"
text = "= A\\n:toc:\\n\\n*b* {c} footnote:[d] <<e>>\\n\\n[[e]]\\n== F\\n. g\\n* h\\ni:: j\\n\\n"
text += "|===\\n|K |L\\n|===\\n\\n----\\nm <1>\\n----\\n<1> n\\n\\nNOTE: o\\n\\nimage::p.png[q]\\n"
%w[html5 docbook5 manpage].each do |backend|
  Asciidoctor.convert(text, backend: backend, standalone: true, safe: :safe)
  Asciidoctor.convert(text, backend: backend, doctype: "book")
end
Asciidoctor.load(text).find_by(context: :listing)
"""
PROGRAMS = {  # a gem, what it is run with, the least part of the calls seen that is found
    "kramdown": (KRAMDOWN, 0.90),
    "rouge": (ROUGE, 0.50),
    "asciidoctor": (ASCIIDOCTOR, 0.90),
}

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not all(map(shutil.which, ("apt-get", "dpkg", "ruby"))), reason="no apt, no ruby"),
]


class Seen(NamedTuple):
    """What ran: by file, line and name what was called there."""

    root: Path
    called: dict[tuple[str, int, str], set[Target]]


def lines(root: Path, path: str) -> list[str]:
    return (root / path).read_text(errors="replace").split("\n")


@pytest.fixture(params=PROGRAMS)
def seen(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Seen, float]:
    """The calls that a gem makes when it is used."""
    program, least = PROGRAMS[request.param]
    fetched = ["apt-get", "download", "--quiet", f"ruby-{request.param}"]
    if subprocess.run(fetched, cwd=tmp_path, check=False, capture_output=True).returncode:
        pytest.skip(f"no ruby-{request.param}")
    [package] = tmp_path.glob("*.deb")
    subprocess.run(["dpkg", "-x", str(package), str(tmp_path / "gem")], check=True)
    [root] = (tmp_path / "gem").glob(f"usr/share/rubygems-integration/all/gems/{request.param}-*/lib")
    out = tmp_path / "calls.json"
    environment = {**os.environ, "CALLS_ROOT": str(root), "CALLS_OUT": str(out)}
    command = ["ruby", "-I", str(root), "-r", str(HERE / "traced.rb"), "-e", program, str(PROJECT)]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    called = defaultdict[tuple[str, int, str], set[Target]](set)
    for path, line, name, to, first in json.loads(out.read_text()):
        called[path, line, name].add((to, first))
    return Seen(root, called), least


def test_calls_that_run_are_found_and_no_certain_one_leads_elsewhere(seen: tuple[Seen, float]) -> None:
    (root, called), least = seen
    ours = defaultdict[tuple[str, int], dict[Target, Confidence]](dict)
    right = wrong = 0
    for call, targets in calls(root, "ruby").items():
        names = (call.name, "initialize") if call.name == "new" else (call.name,)
        ran = set().union(*(called.get((call.path, call.line, name), set()) for name in names))
        for target, sure in targets.items():
            known = ours[call.path, call.line]
            known[target] = min(sure, known.get(target, sure))
            if ran and sure == Confidence.CERTAIN and not NO_METHOD.match(lines(root, target[0])[target[1] - 1]):
                right += target in ran
                wrong += target not in ran
    print(f"certain: {right} right, {wrong} wrong")  # noqa: T201
    assert right > 150
    assert not wrong
    found = Counter(
        any(ours[path, near].get(target) in SURE for near in range(line - NEAR, line + NEAR + 1))
        for (path, line, name), targets in called.items()
        if is_named(lines(root, path)[line - 1], name)
        for target in targets
    )
    print(f"found: {found[True]} of {found.total()}")  # noqa: T201
    assert found[True] / found.total() >= least


def is_named(text: str, name: str) -> bool:
    """Whether a line names what is called there: it is neither `a.each(&:b)` nor an operator."""
    word = "new" if name == "initialize" else name.rstrip("=")
    return re.search(rf"(?<![\w:]){re.escape(word)}(?!\w)", text) is not None
