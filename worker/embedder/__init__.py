"""An embedding endpoint is asked by processes that hold one connected socket and nothing else."""
