"""Which files a project holds, and what they are."""
