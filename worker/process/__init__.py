"""What every back process does first, and how its end is told."""
