"""Inputs of the samples: graphs of the real kinds."""
