"""From the IR to segments of Python that run without looking at it again."""
