"""The bundler: it makes of the indexes of several repositories what all of them are asked by, and opens nothing."""
