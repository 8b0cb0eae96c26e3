"""A query of the user's own, from a file: SQL over the streams' views, or a function of the streams.

    my.sql         streaming SQL; its comments may declare what `declarations` says
    my.py          in place of it: `answers`, as in a module of plain Spark (see `query`)
    my.batch.sql   beside either, if the answers are to be checked: the batch statement

Errors in such a file are the user's to read: they name the file and the line.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from causeway.nexmark.model import MODELS
from causeway.nexmark.queries.declarations import read_declarations
from causeway.nexmark.queries.files import query_names
from causeway.nexmark.queries.query import Query, query_of_module
from causeway.runtime.errors import CausewayError, UserError
from causeway.spark.errors import explain

__all__ = ["batch_file", "errors_in", "own_query"]

_COMMENT: Final = re.compile(r"--.*")
_NAME: Final = re.compile(r"\w[\w-]*")
_PLACE: Final = re.compile(r"[;,]?\s*\(?\bline (\d+),? pos(?:ition)? \d+\)?")


def batch_file(path: Path) -> Path:
    """Where the batch statement of a query's file is, if there is one."""
    return path.with_name(f"{path.stem}.batch.sql")


def own_query(model: str, path: Path) -> Query:
    """The query in a file, called as the file is."""
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    if path.suffix not in (".sql", ".py"):
        raise UserError(f"{path}: a query is a file *.sql or *.py")
    if _NAME.fullmatch(path.stem) is None or path.stem in query_names(model):
        raise UserError(f"{path}: call it by a word that is no query of the benchmark; got {path.stem!r}")
    try:
        query = _from_text(model, path) if path.suffix == ".sql" else _from_module(model, path)
    except ValueError as wrong:
        raise UserError(f"{path}: {wrong}") from wrong
    batch = batch_file(path)
    return replace(query, file=path, batch=batch.read_text(encoding="utf-8") if batch.exists() else None)


def _from_text(model: str, path: Path) -> Query:
    text = path.read_text(encoding="utf-8")
    streams = MODELS[model].streams
    statement = _COMMENT.sub("", text)
    # Spark's file source reads the columns that the plan needs: they need not be named.
    named = {
        stream: tuple(streams[stream].names)
        for stream in streams
        if re.search(rf"\b(FROM|JOIN)\s+`?(arriving_)?{stream}\b", statement, re.IGNORECASE)
    }
    if not named:
        raise ValueError(
            f"the text selects from none of the streams {', '.join(streams)}; if it does, say so "
            "in a comment as `-- reads: bid(auction, price)`"
        )
    declared = read_declarations(model, text, otherwise=named)
    return Query(
        model,
        path.stem,
        "ours",
        declared.keys,
        reads=declared.reads,
        text=text,
        engine="spark",
        state_store=declared.state_store,
        watermarked=True,
    )


def _from_module(model: str, path: Path) -> Query:
    spec = spec_from_file_location(f"causeway_query_{path.stem.replace('-', '_')}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    with errors_in(path):
        spec.loader.exec_module(module)
    if not callable(getattr(module, "answers", None)):
        raise ValueError("define `answers(bid)`, a function of the streams that returns the answers")
    _send_with_its_code(module)
    return query_of_module(model, path.stem, module)


def _send_with_its_code(module: ModuleType) -> None:
    """Let Python workers, which can't import the file, get what it defines."""
    from pyspark import cloudpickle

    sys.modules[module.__name__] = module
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


@contextmanager
def errors_in(path: Path | None) -> Iterator[None]:
    """Raise what goes wrong in a query's file as a UserError; does nothing without a file."""
    try:
        yield
    except CausewayError:
        raise
    except Exception as wrong:
        if path is None:
            raise
        raise UserError(_words(path, wrong)) from wrong


def _words(path: Path, wrong: Exception) -> str:
    from pyspark.errors import PySparkException

    if isinstance(wrong, SyntaxError):
        return f"{path}, line {wrong.lineno}: {wrong.msg}"
    frames = [frame for frame in traceback.extract_tb(wrong.__traceback__) if frame.filename == str(path)]
    line = f", line {frames[-1].lineno}" if frames else ""
    if not isinstance(wrong, PySparkException):
        return f"{path}{line}: {explain(wrong)}"
    # Behind the message stands the text or the plan.
    message = str(wrong).strip().partition("\n")[0]
    place = _PLACE.search(message)
    if place is not None:
        line = line or f", line {place[1]}"
        message = message[: place.start()] + message[place.end() :]
    return f"{path}{line}: {message.rstrip(' ;')}"
