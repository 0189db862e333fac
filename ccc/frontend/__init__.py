"""CUDA with annotations: reading it, and marking it for the compilers."""
