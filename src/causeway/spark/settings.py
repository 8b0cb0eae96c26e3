"""Spark's settings: who chose each of them, and a query's own settings for as long as it runs.

Three parties set them: this package's defaults for every session, a query for its duration, and the user. The
user's word wins over both. So a session remembers which values were chosen here (`OWN_SETTINGS`); whatever
else is set in it is the user's, in a session that the user made as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OWN_SETTINGS", "applied", "check_settings", "refuse_other_values", "users_settings"]

OWN_SETTINGS: Final = "spark.causeway.ownSettings"
"""The setting that lists, in JSON, the values that this package chose."""

# Java's own option for the memory of a process takes no other form.
_MEMORY: Final = re.compile(r"[1-9]\d*[kmgt]", re.IGNORECASE)
_MEMORY_SETTINGS: Final = ("spark.driver.memory", "spark.executor.memory")


def check_settings(settings: Mapping[str, str]) -> None:
    """Refuse what is no setting of Spark's, which itself ignores it and says so only in its log."""
    for key, value in settings.items():
        if not key.startswith("spark."):
            raise UserError(
                f"setting {key}: Spark's settings begin with `spark.`; write Hadoop's as spark.hadoop.…"
            )
        if key in _MEMORY_SETTINGS and not _MEMORY.fullmatch(value):
            raise UserError(f"setting {key} takes a size, as in 800m or 8g; got {value!r}")


def users_settings(spark: SparkSession, names: Collection[str] | None = None) -> dict[str, str]:
    """What the user set in this session, when it was made or since; with `names`, of these settings only.

    To ask Java for all settings takes some 50 ms, a round trip for each of them.
    """
    present = dict(spark.conf.getAll) if names is None else _present(spark, names)
    own: dict[str, str] = json.loads(spark.conf.get(OWN_SETTINGS, None) or "{}")
    return {key: value for key, value in present.items() if key != OWN_SETTINGS and own.get(key) != value}


@contextmanager
def applied(
    spark: SparkSession, settings: Mapping[str, str], *, required: Mapping[str, str] | None = None
) -> Iterator[dict[str, str]]:
    """Apply a query's settings within the block and restore the earlier ones after it.

    The user's value of a setting wins. Where the query cannot work with another value, name the setting in
    `required` with the reason: a user's other value is then refused with a UserError. Yields the values in
    force.
    """
    before = _present(spark, [*settings, OWN_SETTINGS])
    users = users_settings(spark, settings)
    refuse_other_values(users, settings, required or {})
    own = {key: value for key, value in settings.items() if key not in users}
    in_force = {key: users.get(key, value) for key, value in settings.items()}
    known: dict[str, str] = json.loads(before.get(OWN_SETTINGS, "{}"))
    try:
        for key, value in own.items():
            spark.conf.set(key, value)
        spark.conf.set(OWN_SETTINGS, json.dumps(known | own))
        yield in_force
    finally:
        for key in (*own, OWN_SETTINGS):
            if key in before:
                spark.conf.set(key, before[key])
            else:
                spark.conf.unset(key)


def _present(spark: SparkSession, names: Collection[str]) -> dict[str, str]:
    """The values of those settings that are set."""
    values = {name: spark.conf.get(name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def refuse_other_values(
    users: Mapping[str, str], settings: Mapping[str, str], required: Mapping[str, str]
) -> None:
    """Refuse a user's other value of a setting in `required`, with the reason."""
    for key, reason in required.items():
        if key in users and key in settings and not _same(users[key], settings[key]):
            raise UserError(
                f"{key}={users[key]} is not possible here: {reason}. Leave it out, or set {settings[key]}."
            )


def _same(one: str, other: str) -> bool:
    return one.strip().lower() == other.strip().lower()
