"""The audit log: one JSON line for each decision and each event of the processes, with the hash of the line before."""
