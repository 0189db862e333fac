"""Paths: found at their markers, checked, and what each takes along."""
