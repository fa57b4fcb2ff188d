"""Indexes of many repositories on a disk: made one by one, verified before anything opens them, served as one tree."""
