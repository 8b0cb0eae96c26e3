"""`causeway berlinmod`, as a user types it, in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from causeway.cli import main as cli

__all__ = ["Causeway", "run_causeway"]

Causeway = Callable[..., tuple[int, str, str]]
"""Takes the words of a command; gives its exit code, what it prints, and its error in one line."""


def run_causeway(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    """Run `causeway berlinmod` with some arguments."""
    monkeypatch.setattr(sys, "argv", ["causeway", "berlinmod", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, " ".join(printed.err.split())
