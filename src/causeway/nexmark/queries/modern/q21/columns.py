"""Add channel id: the number of a well-known channel, or the one that the url names."""

import pyarrow as pa
import pyarrow.compute as pc

READS = {"bid": ("auction", "bidder", "price", "channel", "url")}

_NUMBERS = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}
_IN_URL = r"(?:&|^)channel_id=(?P<id>[^&]*)"


def answers(bids: pa.Table) -> pa.Table:
    """The bids that have one."""
    channel = _once_each(bids.column("channel"), _well_known)
    in_url = _once_each(bids.column("url"), _named)
    known = bids.drop_columns("url").append_column("channel_id", pc.coalesce(channel, in_url))
    return known.filter(pc.is_valid(known.column("channel_id")))


def _once_each(values: pa.ChunkedArray, function) -> pa.Array:  # type: ignore[no-untyped-def]
    """A function of texts, computed once for each that there is: channels and urls come again and again."""
    encoded = values.combine_chunks().dictionary_encode()
    return function(encoded.dictionary).take(encoded.indices)


def _well_known(channels: pa.Array) -> pa.Array:
    place = pc.index_in(pc.utf8_lower(channels), pa.array(list(_NUMBERS)))
    return pa.array(list(_NUMBERS.values())).take(place)


def _named(urls: pa.Array) -> pa.Array:
    return pc.struct_field(pc.extract_regex(urls, _IN_URL), "id")
