"""Url directories: the first three parts of the path."""

import pyarrow as pa

READS = {"bid": ("auction", "bidder", "price", "channel", "url")}

_FIRST, _MANY = 3, 3


def answers(bids: pa.Table) -> pa.Table:
    """The bids with the directories; none where the url has fewer."""
    # Once for each url: they come again and again.
    urls = bids.column("url").combine_chunks().dictionary_encode()
    parts = [[*url.split("/"), *[None] * (_FIRST + _MANY)] for url in urls.dictionary.to_pylist()]
    found = bids.drop_columns("url")
    for at in range(_MANY):
        directory = pa.array([part[_FIRST + at] for part in parts], pa.string()).take(urls.indices)
        found = found.append_column(f"dir{at + 1}", directory)
    return found
