"""nvcc with our pass inside: the command line, running it, and what it starts for cicc."""
