"""JavaScript, and what TypeScript has in common with it."""
