"""What files say: definitions, imports and comment lines, one engine or reader a file; and the processes for it."""
