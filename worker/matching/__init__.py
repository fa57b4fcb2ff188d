"""Which lines and names match: everything here takes linear time."""
