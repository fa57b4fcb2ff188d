"""What an agent means by a call that is not quite one of ours: spellings.toml has the rows, this applies them."""
