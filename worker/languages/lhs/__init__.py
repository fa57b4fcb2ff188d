"""Literate Haskell."""
