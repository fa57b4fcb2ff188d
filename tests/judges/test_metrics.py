"""Prometheus's own parser is the judge of what /metrics says: types, labels, buckets and numbers."""

import pytest
from test_http import serving
from test_monitor import METRICS_TYPE, Watching, asked, free_port, ready

from fledgling.broker.metrics import NO_TOOL, NOBODY

parser = pytest.importorskip("prometheus_client.parser")

pytestmark = [pytest.mark.long, pytest.mark.judge]
AGENTS = {"a.b-c_D": "fledgling-core", "9": "fledgling-analyst"}


@pytest.fixture(scope="module")
def text(project, tmp_path_factory):
    port = free_port()
    options = ["--monitor", f"127.0.0.1:{port}"]
    with serving(project, tmp_path_factory.mktemp("watched"), options, agents_of=AGENTS) as server:
        watching = Watching(port)
        ready(watching)
        for agent in AGENTS:
            for tool in ("explore", "search", 'x{le="1"} 5', "query"):
                asked(server, tool, agent=agent, query="a", sql="SELECT 1")
        status, fields, body = watching.get("/metrics")
        assert (status, fields["content-type"]) == (200, METRICS_TYPE)
        return body


def test_every_line_is_of_a_family_that_says_its_type_and_help(text):
    families = list(parser.text_string_to_metric_families(text))
    assert {family.type for family in families} == {"counter", "gauge", "histogram"}
    assert all(family.documentation for family in families)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert sum(len(family.samples) for family in families) == len(lines)
    names = {family.name for family in families}
    assert len(names) == len(families)
    assert all(name.startswith("fledgling_") for name in names)


def test_labels_are_names_of_agents_and_words_of_ours(text):
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    labels = [sample.labels for family in families.values() for sample in family.samples]
    assert {each["agent"] for each in labels if "agent" in each} == {*AGENTS, NOBODY}
    assert {each["tool"] for each in labels if "tool" in each} == {"explore", "search", "query", NO_TOOL}
    calls = {tuple(sorted(each.labels.items())): each.value for each in families["fledgling_calls"].samples}
    assert sum(calls.values()) >= 6


def test_buckets_of_a_histogram_add_up(text):
    [seconds] = [
        family for family in parser.text_string_to_metric_families(text) if family.name == "fledgling_call_seconds"
    ]
    of = {}
    for sample in seconds.samples:
        labels = tuple(sorted((name, value) for name, value in sample.labels.items() if name != "le"))
        of.setdefault(labels, []).append(sample)
    for samples in of.values():
        buckets = [sample.value for sample in samples if sample.name.endswith("_bucket")]
        [count] = [sample.value for sample in samples if sample.name.endswith("_count")]
        assert buckets == sorted(buckets)
        assert buckets[-1] == count
        assert [sample.labels["le"] for sample in samples if sample.name.endswith("_bucket")][-1] == "+Inf"
