"""Makefiles."""
