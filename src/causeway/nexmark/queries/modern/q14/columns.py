"""Calculation: bids in a range of prices, with the time of day and the number of c's in their filling."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

READS = {"bid": ("auction", "bidder", "price", "dateTime", "extra")}

_RATE = pa.scalar(Decimal("0.908"), pa.decimal128(3, 3))
_LOW, _HIGH = 1_000_000_000, 50_000_000_000
"""Of a price in thousandths of a euro cent."""
_TIMES = pa.array(["dayTime", "nightTime", "otherTime"])


def answers(bids: pa.Table) -> pa.Table:
    """Those in range; prices as DECIMAL(23, 3)."""
    thousandths = 908 * bids.column("price").to_numpy()
    chosen = bids.take(np.flatnonzero((thousandths > _LOW) & (thousandths < _HIGH)))
    hour = chosen.column("dateTime").cast(pa.int64()).to_numpy() // 3_600_000 % 24
    night = (hour <= 6) | (hour >= 20)
    times = np.where((hour >= 8) & (hour <= 18), 0, np.where(night, 1, 2))
    return pa.table(
        {
            "auction": chosen.column("auction"),
            "bidder": chosen.column("bidder"),
            "price": pc.multiply(chosen.column("price").cast(pa.decimal128(19, 0)), _RATE),
            "bidTimeType": _TIMES.take(pa.array(times)),
            "dateTime": chosen.column("dateTime"),
            "extra": chosen.column("extra"),
            "c_counts": pc.count_substring(chosen.column("extra"), "c").cast(pa.int64()),
        }
    )
