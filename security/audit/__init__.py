"""What proves a profile: starts the server, attacks it as a client, looks at its processes. Nothing of the server."""
