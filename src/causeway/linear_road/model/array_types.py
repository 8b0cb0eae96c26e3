"""Short names for the arrays that rules, kernels and lookups work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["I32", "I64"]

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
