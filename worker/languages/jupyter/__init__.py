"""Jupyter."""
