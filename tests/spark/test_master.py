from __future__ import annotations

import socket

import pytest

from causeway.runtime.errors import UserError
from causeway.spark.master import check_master


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[2]", "local[4, 2]", "local-cluster[2,1,1024]", "k8s://https://host:443"],
)
def test_masters_of_spark_are_taken(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", ["", "nonsense", "local[0]", "local[", "spark://host", "sc://host:15002"])
def test_other_masters_are_refused(master: str) -> None:
    with pytest.raises(UserError, match="expected local"):
        check_master(master)


def test_a_standalone_master_must_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_master(f"spark://nowhere.invalid:1,127.0.0.1:{port}")
    with pytest.raises(UserError, match=f"no Spark master answers at 127.0.0.1:{port}"):
        check_master(f"spark://127.0.0.1:{port}")


def test_yarn_needs_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(UserError, match="HADOOP_CONF_DIR"):
        check_master("yarn")
