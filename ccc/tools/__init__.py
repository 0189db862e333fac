"""The tools of the command ``ccc``."""
