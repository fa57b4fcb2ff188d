"""What is known of each language."""
