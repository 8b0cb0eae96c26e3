"""Url directories: the first three parts of the path."""

import pyarrow as pa
import pyarrow.compute as pc

READS = {"bid": ("auction", "bidder", "price", "channel", "url")}

_FIRST, _MANY = 3, 3


def answers(bids: pa.Table) -> pa.Table:
    """The bids with the directories; none where the url has fewer."""
    # Once for each url: they come again and again.
    urls = bids.column("url").combine_chunks().dictionary_encode()
    parts = pc.split_pattern(urls.dictionary, "/")
    # Lists of three: what a url does not have is null.
    directories = pc.list_slice(parts, _FIRST, _FIRST + _MANY, return_fixed_size_list=True).flatten()
    found = bids.drop_columns("url")
    for at in range(_MANY):
        directory = directories.take(pa.array(range(at, len(directories), _MANY), pa.int64()))
        found = found.append_column(f"dir{at + 1}", directory.take(urls.indices))
    return found
