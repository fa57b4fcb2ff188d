"""CSS, and what stylesheets have in common."""
