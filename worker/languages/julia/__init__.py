"""Julia."""
