"""Runs statements by Spark on this machine, for a spec: from stdin, by name, as JSON."""

import json
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()


def rows_of(statement):
    return [row.asDict() for row in spark.sql(statement).collect()]


answers = {name: rows_of(statement) for name, statement in json.load(sys.stdin).items()}
json.dump(answers, sys.stdout, default=str)
