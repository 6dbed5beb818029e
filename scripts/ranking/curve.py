#!/usr/bin/env python3
"""Reads feeds and prints what their pages cost PostgreSQL: scripts/ranking/curve starts it.

    curve.py URL LOG BOOKS SWIPES:TOKEN...

LOG is the folder of PostgreSQL's log (JSON), in which the server's role notes how long each statement took. A page's cost is the
sum of what it was parsed, bound and executed in, of all its statements, in milliseconds."""
import collections
import glob
import json
import re
import sys
import time
import urllib.request

FEED = """query($after: String, $genres: [String!]) { feed(first: 10, after: $after, genres: $genres) {
  nodes { id title authors genre averageRating ratingsCount pageCount hook } pageInfo { endCursor } } }"""
PAGES = 200


def ask(url, token, variables):
    body = json.dumps({"query": FEED, "variables": variables}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
        feed = json.load(answer)["data"]["feed"]
        if len(feed["nodes"]) != 10:
            sys.exit(f"a page has {len(feed['nodes'])} cards")
        return feed["pageInfo"]["endCursor"]


def lines(folder):
    for path in sorted(glob.glob(f"{folder}/*.json")):
        with open(path, errors="replace") as file:
            yield from (line for line in file if line.endswith("}\n"))


def cost(folder, pages):
    """Of what `pages` asks for: milliseconds a page, in order."""
    known = sum(1 for _ in lines(folder))
    count = pages()
    time.sleep(1)
    spent = collections.Counter()
    for line in list(lines(folder))[known:]:
        entry = json.loads(line)
        match = re.match(r"duration: ([\d.]+) ms +(parse|bind|execute) ", entry.get("message", ""))
        if match and entry.get("user") == "bookplate_app" and entry.get("vxid"):
            statement = entry.get("statement", "") + entry["message"]
            spent[entry["pid"], entry["vxid"]] += float(match[1])
            if "FROM editions" in statement:
                spent[entry["pid"], entry["vxid"], "feed"] = 1
    # A page may take several transactions: what the feed took in all, over its pages.
    costs = sorted(ms for key, ms in spent.items() if len(key) == 2 and spent.get((*key, "feed")))
    return costs, count


def main():
    url, folder, books, readers = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    for reader in readers:
        swipes, token = reader.split(":")

        def tops():
            for _ in range(PAGES):
                ask(url, token, {})
            return PAGES

        def walk():
            for _ in range(PAGES // 25):
                after = ask(url, token, {})
                for _ in range(24):
                    after = ask(url, token, {"after": after})
            return PAGES

        def filtered():
            for number in range(PAGES):
                ask(url, token, {"genres": [f"Genre {number % 32}"]})
            return PAGES

        for name, pages in (("first page", tops), ("25 pages on end", walk), ("of one genre", filtered)):
            pages()  # every connection has prepared it
            costs, count = cost(folder, pages)
            place = lambda share: costs[min(len(costs) - 1, int(len(costs) * share))]  # noqa: E731
            print(f"| {books:,} | {int(swipes):,} | {name} | {place(0.5):.2f} | {place(0.95):.2f} | {sum(costs) / count:.2f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    print("| books | swipes | | p50 | p95 | mean of a page |\n| ---: | ---: | --- | ---: | ---: | ---: |") if sys.argv[3] == "10000" else None
    main()
