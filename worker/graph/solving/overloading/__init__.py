"""Which of several functions of one name a call means, by its arguments: what it hands over is done elsewhere."""
