"""What functions of Python do besides returning a value."""
