"""Names found by `search` with a kind: the best first, and always in the same order."""

import duckdb
import pytest

from fledgling.wire import Search
from fledgling.worker import globs
from fledgling.worker.image import SQL

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
    db.execute(
        "CREATE TABLE symbols AS SELECT 'a.py' AS path, 'python' AS language, unnest($names) AS name, 'class' AS kind,"
        " 1 AS line_start, 2 AS line_end, NULL AS signature, NULL AS parent_name",
        {"names": [*sorted(ranked), "bat", "other"]},
    )
    filters = {"kind": "class", "path": "", "language": None, "line": globs.query_pattern(Search(query))}
    found = db.execute(SQL["search_symbols"], {"query": query, "max_results": 50, "offset": 0, **filters}).fetchall()
    assert [row[3] for row in found] == ranked
    assert {row[0] for row in found} == {len(ranked)}
