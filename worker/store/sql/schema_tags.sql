-- What files are about, in the catalog of a cursor: a row for each rule that says so, or agent. `confidence` is that of all of
-- them together, `rule_confidence` of this one; `line` is NULL for a path.
CREATE TEMP TABLE tags (
    path VARCHAR, symbol VARCHAR, tag VARCHAR, confidence DOUBLE, rule VARCHAR, rule_confidence DOUBLE, line INTEGER,
    evidence VARCHAR
);
