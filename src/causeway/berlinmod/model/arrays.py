"""Short names for the arrays that kernels work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BOOL", "F64", "I32", "I64", "U64"]

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
