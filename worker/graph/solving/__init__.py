"""What every expression may stand for: a cell for each, a function for each operation. None of them makes a row."""
