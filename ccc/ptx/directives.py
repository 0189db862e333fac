"""What directives of PTX tell ptxas."""

from __future__ import annotations

NO_UNROLL = '.pragma "nounroll";'
"""In the header of a loop: to leave it as it is. So cicc says ``#pragma unroll 1``."""
