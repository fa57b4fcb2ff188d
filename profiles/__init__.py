"""The shipped profiles: one SQL file each, no code."""
