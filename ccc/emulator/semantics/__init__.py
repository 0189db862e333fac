"""What instructions compute, for all active lanes at once."""
