"""Which files are about what is asked, by their words alone: nothing is learnt here, and nothing is sent away."""
