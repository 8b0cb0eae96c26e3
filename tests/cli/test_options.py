from __future__ import annotations

import pytest

from causeway.cli.options import parse_settings
from causeway.runtime.errors import UserError


def test_settings_are_read() -> None:
    pairs = ["spark.a=1", " spark.b = x=y ", "spark.driver.memory=800m", "spark.a=2"]
    assert parse_settings(pairs) == {"spark.a": "2", "spark.b": "x=y", "spark.driver.memory": "800m"}


@pytest.mark.parametrize("pair", ["spark.driver.memory", "=8g"])
def test_a_pair_without_a_key_or_a_value_is_refused(pair: str) -> None:
    with pytest.raises(UserError, match="--conf takes key=value"):
        parse_settings([pair])


@pytest.mark.parametrize("pair", ["driver.memory=8g", "spark.driver.memory=lots", "spark.executor.memory="])
def test_what_is_no_setting_is_refused(pair: str) -> None:
    with pytest.raises(UserError, match=f"setting {pair.partition('=')[0]}"):
        parse_settings([pair])
