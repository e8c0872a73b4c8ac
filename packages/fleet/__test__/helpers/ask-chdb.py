"""Answers the questions in examples/lake/queries by chdb, ClickHouse in a library, for a spec.

Reads JSON from stdin: the folder of the queries, a glob of files for each table, questions and parameters.
"""

import json
import re
import sys

from chdb import session

request = json.load(sys.stdin)
engine = session.Session()
for table, files in request["files"].items():
    engine.query(
        f"CREATE VIEW {table} AS SELECT * FROM file('{files}', Parquet) SETTINGS use_hive_partitioning = 1"
    )
answers = {}
for question in request["questions"]:
    with open(f"{request['queries']}/{question}.sql") as file:
        text = file.read()
    # The quantile and the parameters have other names than in DuckDB and Spark.
    text = re.sub(r"quantile_cont\((\w+), ([\d.]+)\)", r"quantileExactInclusive(\2)(\1)", text)
    text = re.sub(r"([ (=]):(\w+)", r"\1{\2:String}", text)
    lines = str(engine.query(text, "JSONEachRow", params=request["parameters"])).splitlines()
    answers[question] = [json.loads(line) for line in lines if line]
json.dump(answers, sys.stdout)
