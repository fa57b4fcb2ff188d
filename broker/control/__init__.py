"""The socket by which an operator asks a running server: where it is, who may, what is answered."""
