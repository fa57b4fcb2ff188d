"""The indexer: one build, from the tree to the sealed images."""
