"""The colours of an answer, which its reader checks for without loading what paints."""

# What a terminal is told, by what is painted: "select graphic rendition" of ECMA-48. They are ripgrep's.
COLORS = {"path": "35", "number": "32", "match": "1;31", "beside": "2", "note": "33"}
PLAIN = "0"
