"""From the facts of all files to what every name may mean."""
