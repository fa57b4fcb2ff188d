"""Less, and SCSS."""
