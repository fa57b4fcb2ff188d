"""The attacks that `fledgling audit` runs, as data."""
