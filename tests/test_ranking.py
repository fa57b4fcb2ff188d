"""Names found by `search` with a kind: the best first, and always in the same order."""

import duckdb
import pytest

from fledgling.messages.questions import Search
from fledgling.worker.matching import globs
from fledgling.worker.store.database import SQL
from fledgling.worker.store.symbols import CODES

# What is asked for -> the names that hold it, in order.
RANKED = {
    "batch": [
        "batch",  # the name
        "BATCH",  # in another case
        "Batch",
        "batches",  # it begins the name
        "batchSize",
        "the_batch",  # it is a part of the name
        "THE_BATCH_2",
        "processBatch",
        "process_batch",
        "HTTPBatchReader",
        "runBatch2",  # it begins a part
        "run_batches",
        "unbatched",  # it is somewhere
    ],
    "processBatch": ["processBatch", "ProcessBatch", "processBatches", "preprocessBatch"],
    "http_server": ["http_server", "HTTP_SERVER", "my_http_server"],
    "2": ["2d", "to_2_d", "v2"],
    "é": ["é", "É", "café_é", "café"],
}


@pytest.mark.parametrize(("query", "ranked"), RANKED.items(), ids=list(RANKED))
def test_rank(query: str, ranked: list[str]) -> None:
    db = duckdb.connect()
    db.execute("ATTACH ':memory:' AS text; CREATE TABLE text.files AS SELECT 'a.py' AS path, 'python' AS language")
    db.execute(SQL["schema_names"].replace("image.", ""))
    names = [*sorted(ranked), "bat", "other"]
    db.execute("INSERT INTO names SELECT unnest($names), $code, 0, 1", {"names": names, "code": CODES["class"]})
    filters = {"code": CODES["class"], "path": "", "language": None, "line": globs.query_pattern(Search(query))}
    found = db.execute(SQL["search_names"], {"query": query, "max_results": 50, "offset": 0, **filters}).fetchall()
    assert [names[row] for _, row in found] == ranked
    assert {total for total, _ in found} == {len(ranked)}
