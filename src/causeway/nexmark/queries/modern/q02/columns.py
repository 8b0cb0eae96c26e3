"""Selection: bids on every 123rd auction."""

import numpy as np
import pyarrow as pa

READS = {"bid": ("auction", "price")}


def answers(bids: pa.Table) -> pa.Table:
    """The bids selected."""
    return bids.take(np.flatnonzero(bids.column("auction").to_numpy() % 123 == 0))
