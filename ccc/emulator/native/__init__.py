"""Runs the emulator's programs in C: operations on many lanes, and the schedule around them."""
