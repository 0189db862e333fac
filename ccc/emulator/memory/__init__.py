"""The state spaces, accesses to them, and what they cost."""
