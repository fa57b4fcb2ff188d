"""The query worker: it opens a generation of the index and answers until the pipe closes."""
