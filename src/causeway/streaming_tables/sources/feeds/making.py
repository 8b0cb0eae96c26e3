"""Makes a feed from its plain facts, in whichever process needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from causeway.streaming_tables.sources.feeds.feed import Feed
from causeway.streaming_tables.sources.feeds.file_list import DiscoveredFiles
from causeway.streaming_tables.sources.feeds.files_feed import FilesFeed
from causeway.streaming_tables.sources.feeds.merged_feed import MergedFeed
from causeway.streaming_tables.sources.feeds.received import ReceivedChunks
from causeway.streaming_tables.sources.parsing.target import Reading

__all__ = ["make_feed"]


def make_feed(spec: dict[str, Any]) -> Feed:
    """The feed that `spec` describes."""
    reading = Reading.from_json(spec["reading"])
    if spec["kind"] == "merged":
        return MergedFeed(spec["parts"], reading, spec)
    if spec["kind"] == "socket":
        return FilesFeed(ReceivedChunks(Path(spec["state"]), spec["format"]), reading, spec, spec["source"])
    files = DiscoveredFiles(
        Path(spec["place"]),
        Path(spec["state"]),
        file_format=spec["format"],
        order=spec["order"],
        ends=spec["ends"],
    )
    return FilesFeed(files, reading, spec)
