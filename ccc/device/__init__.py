"""What runs modules."""
