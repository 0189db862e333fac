"""What CuPy's classes are compiled with: one source to a module on disk."""
