"""Telling clients of Fledgling: their own settings files, and a bundle."""
