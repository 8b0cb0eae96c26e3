"""Where reference data of other implementations is, which is not part of this repository."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["REFERENCE"]

REFERENCE: Final = Path(__file__).resolve().parents[2] / "shared" / "reference"
"""Beside the repository. Tests that need it are skipped where it is missing, and say so."""
