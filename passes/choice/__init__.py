"""The choice: what is worth doing with annotated paths, by a cost model."""
