"""`causeway sql`: `script` runs statements, `shell` asks for them, `output` prints their answers."""

from causeway.cli.sql.script import sql

__all__ = ["sql"]
