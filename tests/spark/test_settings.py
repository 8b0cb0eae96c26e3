"""A query's settings hold for its duration, and the user's word wins or is refused with a reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from causeway.runtime.errors import UserError
from causeway.spark.settings import OWN_SETTINGS, applied, users_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITIONS = "spark.sql.shuffle.partitions"
_RETAINED = "spark.sql.streaming.minBatchesToRetain"


class FakeConf:
    """The settings of a session that does not exist."""

    def __init__(self, **values: str) -> None:
        self.values = {f"spark.{key}": value for key, value in values.items()}

    @property
    def getAll(self) -> dict[str, str]:  # noqa: N802
        return dict(self.values)

    def get(self, key: str, default: str | None) -> str | None:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value

    def unset(self, key: str) -> None:
        self.values.pop(key, None)


class FakeSession:
    def __init__(self, users: dict[str, str], own: dict[str, str]) -> None:
        self.conf = FakeConf()
        self.conf.values = own | users
        self.conf.values[OWN_SETTINGS] = json.dumps(
            {key: value for key, value in own.items() if key not in users}
        )


def test_settings_hold_within_the_block_only() -> None:
    session = FakeSession(users={}, own={"spark.a": "1"})
    before = session.conf.getAll
    with applied(session, {"spark.a": "2", "spark.b": "3"}) as in_force:  # type: ignore[arg-type]
        assert in_force == {"spark.a": "2", "spark.b": "3"}
        assert session.conf.values["spark.a"] == "2"
        assert session.conf.values["spark.b"] == "3"
    assert session.conf.getAll == before


def test_they_are_restored_after_an_error() -> None:
    session = FakeSession(users={}, own={"spark.a": "1"})
    before = session.conf.getAll
    with pytest.raises(ZeroDivisionError), applied(session, {"spark.a": "2"}):  # type: ignore[arg-type]
        raise ZeroDivisionError
    assert session.conf.getAll == before


@pytest.mark.parametrize("users_value", ["7", "1"])
def test_the_users_value_wins_even_if_it_is_our_default(users_value: str) -> None:
    session = FakeSession(users={"spark.a": users_value}, own={"spark.a": "1"})
    with applied(session, {"spark.a": "2"}) as in_force:  # type: ignore[arg-type]
        assert in_force == {"spark.a": users_value}
        assert session.conf.values["spark.a"] == users_value


def test_a_value_that_the_user_set_later_wins() -> None:
    session = FakeSession(users={}, own={"spark.a": "1"})
    session.conf.set("spark.a", "7")
    with applied(session, {"spark.a": "2"}) as in_force:  # type: ignore[arg-type]
        assert in_force == {"spark.a": "7"}


def test_a_query_within_another_has_its_own_settings() -> None:
    session = FakeSession(users={"spark.b": "9"}, own={})
    with applied(session, {"spark.a": "1", "spark.b": "1"}):  # type: ignore[arg-type]
        with applied(session, {"spark.a": "2", "spark.b": "2"}) as in_force:  # type: ignore[arg-type]
            assert in_force == {"spark.a": "2", "spark.b": "9"}
        assert session.conf.values["spark.a"] == "1"
    assert "spark.a" not in session.conf.values


def test_a_value_that_cannot_work_is_refused_with_the_reason() -> None:
    session = FakeSession(users={"spark.a": "7"}, own={})
    before = session.conf.getAll
    required = {"spark.a": "the state is kept in two parts"}
    with (
        pytest.raises(UserError, match=r"spark\.a=7 is not possible here: the state is kept in two parts"),
        applied(session, {"spark.a": "2", "spark.b": "1"}, required=required),  # type: ignore[arg-type]
    ):
        pass
    assert session.conf.getAll == before
    session.conf.set("spark.a", "2")
    with applied(session, {"spark.a": "2"}, required=required):  # type: ignore[arg-type]
        pass


def test_a_real_session_knows_its_users_settings(spark: SparkSession) -> None:
    assert "spark.driver.extraJavaOptions" in users_settings(spark)  # see conftest
    assert _RETAINED not in users_settings(spark)
    some = ["spark.driver.extraJavaOptions", _RETAINED, _PARTITIONS]
    assert users_settings(spark, some) == {
        name: value for name, value in users_settings(spark).items() if name in some
    }
    before = dict(spark.conf.getAll)
    with applied(spark, {_PARTITIONS: "5", _RETAINED: "4"}):
        assert spark.conf.get(_RETAINED) == "4"
        assert _RETAINED not in users_settings(spark)
        assert spark.conf.get(_PARTITIONS) == before[_PARTITIONS]
    assert dict(spark.conf.getAll) == before
    spark.conf.set(_PARTITIONS, "9")
    try:
        assert users_settings(spark)[_PARTITIONS] == "9"
        with applied(spark, {_PARTITIONS: "5"}):
            assert spark.conf.get(_PARTITIONS) == "9"
    finally:
        spark.conf.set(_PARTITIONS, before[_PARTITIONS])
