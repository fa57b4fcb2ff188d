"""Shell: Bash, and what it has in common with others."""
