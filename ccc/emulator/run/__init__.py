"""A module on the CPU: warps, schedules, counters, and the race detector."""
