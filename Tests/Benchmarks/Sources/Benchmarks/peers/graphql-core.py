# Measures the same work in graphql-core. Prints a line `name nanoseconds` for each measurement.
# The argument is a folder with `schema.graphql`, a file for each document, and `items.graphql` to execute.
import json
import sys
import time
from pathlib import Path

from graphql import build_schema, execute, parse, validate

folder = Path(sys.argv[1])


def measure(name, work, seconds=3.0):
    end = time.perf_counter() + seconds
    best = float("inf")
    samples = 0
    while samples < 300 and (samples < 5 or time.perf_counter() < end):
        start = time.perf_counter_ns()
        work()
        best = min(best, time.perf_counter_ns() - start)
        samples += 1
    print(name, best)


schema = build_schema((folder / "schema.graphql").read_text())
for path in folder.glob("*.document"):
    text = path.read_text()
    document = parse(text)
    assert not validate(schema, document), path.stem
    measure(f"parse {path.stem}", lambda: parse(text))
    measure(f"validate {path.stem}", lambda: validate(schema, document))

items = [
    {
        "id": f"item-{index}",
        "title": f"The title of book number {index}",
        "author": None if index % 7 == 0 else f"Author {index % 500}",
        "pages": 100 + index % 900,
        "currentPage": index % 100 if index % 3 == 0 else None,
        "rating": (index % 50) / 10,
        "isRead": index % 2 == 0,
        "genre": "Science Fiction",
        "addedAt": "2026-01-14T09:30:00Z",
        "position": index,
    }
    for index in range(10_000)
]
document = parse((folder / "items.graphql").read_text())


def run():
    result = execute(schema, document, {"items": items})
    assert not result.errors
    return json.dumps(result.formatted)


measure("execute items", run, seconds=10)
