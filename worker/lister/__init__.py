"""The lister: the walk as a process of its own."""
