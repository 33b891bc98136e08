"""Engines that hold the same rows."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def spark():
    """Return a local Spark session, which needs a Java runtime; `.ci/run` installs one where it can."""
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip("no Java runtime on this machine")
    pytest.importorskip("pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("simplexdp-tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        # In Java alone: the usual one loads a native library, and takes that of musl where musl is installed too.
        "spark.sql.parquet.compression.codec": "gzip",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
