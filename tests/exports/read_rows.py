"""What DuckDB reads of files with rows: JSON lines, one for each query.

usage: read_rows.py CSV|JSONL FILE QUERY...

A query names the file `rows`.
"""

import json
import sys

import duckdb

KINDS = {
    "csv": "select * from read_csv($1)",
    "jsonl": "select * from read_json($1, format = 'newline_delimited')",
}


def main() -> None:
    kind, file, *queries = sys.argv[1:]
    with duckdb.connect() as db:
        rows = db.query(KINDS[kind].replace("$1", "'" + file + "'"))
        for query in queries:
            found = rows.query("rows", query).fetchall()
            print(json.dumps(found))


if __name__ == "__main__":
    main()
