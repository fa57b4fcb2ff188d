"""Several projects behind one server: each is a directory of one tree, with an index and processes of its own."""
