"""R Markdown."""
