"""The CUDA toolkit: finding it, and the door into its nvcc."""
