"""What can be done with the paths of a loop: one file for each strategy, and their registry."""
