"""Readers of data and documents, and of languages that need neither a grammar nor statements."""
