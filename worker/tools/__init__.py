"""The tools: one file a tool, and what all of them share."""
