"""Two versions of a kernel on the same inputs: launches, outputs, figures, and their origin."""
