"""What an operator's agents may do besides reading: tasks that they share, and the indexes of this server."""
