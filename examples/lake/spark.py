"""Answers the questions in queries/ on a Spark cluster, about a lake that `cpu-prof lake add` has written.

    spark-submit --master spark://… spark.py <lake> functions
    spark-submit --master spark://… spark.py <lake> trend steps package=… file=src/a.js function=renderTable

The lake is any place that Hadoop reads: file:///…, s3a://…, hdfs://…. Prints a row a line, as JSON: its question
first.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from pyspark.sql import SparkSession

QUERIES = Path(__file__).parent / "queries"
TABLES = ["functions", "groups", "threads", "stacks", "stack_times"]
VERSION = "v1"
IS_RUN = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
IS_COMPACTED = re.compile(r"c-[0-9a-f]{16}")


def live_stems(stems, changes):
    """Returns the files of a partition that count, each run once: see packages/fleet/docs/internals.md."""
    added = {stem for change in changes for stem in change["adds"]}
    replaced = {stem for change in changes for stem in change["replaces"]}
    settled = {stem.split("-")[0] for stem in added | replaced if IS_RUN.fullmatch(stem)}
    live = {stem for stem in stems if stem in added - replaced}
    runs = defaultdict(list)
    for stem in stems:
        if IS_RUN.fullmatch(stem) and stem.split("-")[0] not in settled:
            runs[stem.split("-")[0]].append(stem)
    return live | {min(same) for same in runs.values()}


def partitions(spark, lake):
    """Returns the live stems of each partition, by its path below a table."""
    hadoop = spark._jvm.org.apache.hadoop.fs
    root = hadoop.Path(lake)
    system = root.getFileSystem(spark._jsc.hadoopConfiguration())

    def files(folder):
        path = hadoop.Path(f"{lake}/{VERSION}/{folder}")
        if not system.exists(path):
            return
        listed = system.listFiles(path, True)
        while listed.hasNext():
            yield listed.next().getPath()

    stems, changes = defaultdict(list), defaultdict(list)
    for path in files("functions"):
        name = path.getName()
        stem = name.removesuffix(".parquet")
        if name != stem and (IS_RUN.fullmatch(stem) or IS_COMPACTED.fullmatch(stem)):
            stems[partition_of(path)].append(stem)
    names = [path.toString() for path in files("changes") if re.fullmatch(r"\d{8}\.json", path.getName())]
    if names:
        for name, text in spark.sparkContext.wholeTextFiles(",".join(names)).collect():
            changes[partition_of(hadoop.Path(name))].append(json.loads(text))
    return {partition: live_stems(all, changes[partition]) for partition, all in stems.items()}


def partition_of(path):
    return f"{path.getParent().getParent().getName()}/{path.getParent().getName()}"


def open_lake(spark, lake, tables):
    """Makes a view of each table over the files that count."""
    live = partitions(spark, lake)
    if not any(live.values()):
        raise SystemExit(f"{lake} has no run: cpu-prof lake add <run> --to {lake}")
    for table in tables:
        base = f"{lake}/{VERSION}/{table}"
        files = [f"{base}/{partition}/{stem}.parquet" for partition, stems in live.items() for stem in stems]
        spark.read.option("basePath", base).parquet(*sorted(files)).createOrReplaceTempView(table)


def text_of(question):
    """Returns the SQL of a question. Only the quantile has another name than in DuckDB."""
    text = (QUERIES / f"{question}.sql").read_text()
    return re.sub(r"quantile_cont\((\w+), ([\d.]+)\)", r"percentile(\1, \2)", text)


def main():
    lake, *words = sys.argv[1:]
    arguments = dict(word.split("=", 1) for word in words if "=" in word)
    texts = {question: text_of(question) for question in words if "=" not in question}
    spark = SparkSession.builder.appName("cpu-prof lake").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # The texts of paths stay texts.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    tables = [table for table in TABLES if any(re.search(rf"\b{table}\b", text) for text in texts.values())]
    open_lake(spark, lake.rstrip("/"), tables)
    for question, text in texts.items():
        for row in spark.sql(text, args=arguments).toLocalIterator():
            print(json.dumps([question, row.asDict()], default=str))
    spark.stop()


if __name__ == "__main__":
    main()
