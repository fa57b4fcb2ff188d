"""What the best files say that answer a search by meaning: all of a project that may go to an embedding endpoint.

It is what the index holds, so what a profile hides is not in it.
"""

from fledgling.messages.bounded import CANDIDATE_BYTES
from fledgling.messages.inner_answers import Candidate, CandidateTexts
from fledgling.messages.questions import Candidates
from fledgling.worker.ranking import passages
from fledgling.worker.ranking.definitions import Definitions
from fledgling.worker.store.text import File
from fledgling.worker.tools import meaning, tags
from fledgling.worker.tools.request import Request


def candidates(request: Request, question: Candidates) -> CandidateTexts:
    """Answer with the path of each file and how its best passage begins; none where no file says what is asked."""
    order = meaning.order_of(request, question.question, tags.left(request, question.question))
    if not order.is_said:
        return CandidateTexts([])
    found = []
    for each in order.ranked:
        request.check()
        file = request.blocks.file(each.file)
        found.append(Candidate(file.path, _text(order.definitions, file)))
    return CandidateTexts(found)


def _text(definitions: Definitions, file: File) -> str:
    """Return the path of a file and its best passage, as far as there is room."""
    lines, blocks = passages.passage(definitions, file), definitions.features.corpus.blocks
    text = bytearray(file.path.encode(errors="replace") + b"\n")
    for block in blocks.holding(file, lines.first, lines.last):
        rows = blocks.text(block).split(b"\n")
        skipped = max(lines.first - blocks.first_lines[block], 0)
        text += b"\n".join(rows[skipped:]) + b"\n"
        if len(text) > CANDIDATE_BYTES:
            break
    return text[:CANDIDATE_BYTES].decode(errors="ignore")
