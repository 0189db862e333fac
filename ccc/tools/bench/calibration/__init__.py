"""``ccc bench --calibrate``: measure the constants of the cost model on the card that is there."""
