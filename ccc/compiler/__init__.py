"""From marked PTX to transformed PTX, and from a source to that."""
