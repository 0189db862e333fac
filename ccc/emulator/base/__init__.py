"""Faults of an emulated kernel, and what an instruction with its modifiers is."""
