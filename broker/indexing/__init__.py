"""How one index comes to be: the indexer of a build, the memory files it fills, and another build where it dies."""
