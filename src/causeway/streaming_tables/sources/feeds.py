"""Makes a feed from its plain facts, in whichever process needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from causeway.streaming_tables.sources.feed import Feed
from causeway.streaming_tables.sources.file_list import DiscoveredFiles
from causeway.streaming_tables.sources.files_feed import FilesFeed
from causeway.streaming_tables.sources.target import Reading

__all__ = ["make_feed"]


def make_feed(spec: dict[str, Any]) -> Feed:
    """The feed that `spec` describes."""
    reading = Reading.from_json(spec["reading"])
    files = DiscoveredFiles(
        Path(spec["place"]),
        Path(spec["state"]),
        file_format=spec["format"],
        order=spec["order"],
        ends=spec["ends"],
    )
    return FilesFeed(files, reading, spec, spec.get("source"))
