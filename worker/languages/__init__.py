"""What is known of each language: a folder each, which no other module knows but by the words of its row."""
