"""What is outside the project, where it hands on what it gets."""
