"""Runs statements by chdb, ClickHouse in a library, for a spec: from stdin, by name, as JSON."""

import json
import sys

from chdb import session

engine = session.Session()


def rows_of(statement):
    lines = str(engine.query(statement, "JSONEachRow")).splitlines()
    return [json.loads(line) for line in lines if line]


json.dump({name: rows_of(statement) for name, statement in json.load(sys.stdin).items()}, sys.stdout)
