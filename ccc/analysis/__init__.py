"""What can be said of a function without running it. Graphs are over labels."""
