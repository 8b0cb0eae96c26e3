"""Log to files: every bid with the day and the minute that its file is found by."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

READS = {"bid": ("auction", "bidder", "price", "dateTime", "extra")}


def answers(bids: pa.Table) -> pa.Table:
    """The bids with both as text."""
    time = bids.column("dateTime")
    minutes, place = np.unique(time.cast(pa.int64()).to_numpy() // 60_000, return_inverse=True)
    # Texts are made once for each minute, not for each bid.
    moments = pa.array(60_000 * minutes).cast(time.type)
    days, hours = (pc.strftime(moments, format=text).take(pa.array(place)) for text in ("%Y-%m-%d", "%H:%M"))
    return bids.append_column("dt", days).append_column("hm", hours)
