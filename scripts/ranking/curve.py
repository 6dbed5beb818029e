#!/usr/bin/env python3
"""Reads pages of feeds and prints the work that they cause in PostgreSQL. scripts/ranking/curve starts it.

    curve.py URL CLUSTER BOOKS SWIPES:USER:TOKEN...

CLUSTER is PostgreSQL's data folder; its log must be JSON. Each kind of page is read three times: to measure the time
of the client and the CPU time of PostgreSQL's processes (with the kernel's counters), the duration of the statements
with the log (parse, bind, and execute), and the buffers with auto_explain. CURVE_PSQL contains the psql command for changing settings,
separated by tabs.
"""
import collections
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

FEED = """query($first: Int!, $after: String, $genres: [String!]) { feed(first: $first, after: $after, genres: $genres) {
  nodes { id title authors { name } genres { name } averageRating ratingsCount pageCount hook } pageInfo { endCursor } } }"""
PAGES = 200
KINDS = {
    "first": "first page",
    "walk": "40 pages on end",
    "filtered_half": "of 20 genres",
    "filtered_all": "of 40 genres",
    "build": "first page, builds its deck",
}


def psql(*statements):
    command = os.environ["CURVE_PSQL"].split("\t") + [f"-c{text}" for text in statements]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Reader:
    """Reads pages of one user's feed and records the time of each request."""

    def __init__(self, url, user, token):
        self.url, self.user, self.token, self.times = url, user, token, []
        self.genres = [genre["name"] for genre in self.execute("{ genres { name } }")["genres"]]

    def execute(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=60) as response:
            return json.load(response)["data"]

    def page(self, **variables):
        start = time.time()
        feed = self.execute(FEED, first=10, **variables)["feed"]
        self.times.append((start, time.time()))
        if len(feed["nodes"]) != 10:
            sys.exit(f"expected a page of 10 cards, got {len(feed['nodes'])}")
        time.sleep(0.003)  # the timestamps in the log have a precision of 1 ms
        return feed["pageInfo"]["endCursor"]

    def first(self):
        for _ in range(PAGES):
            self.page()

    def walk(self):
        for _ in range(PAGES // 40):
            after = None
            for _ in range(40):
                after = self.page(after=after)

    def filtered_half(self):
        for _ in range(PAGES):
            self.page(genres=self.genres[20:40])

    def filtered_all(self):
        for _ in range(PAGES):
            self.page(genres=self.genres[:40])

    def build(self):
        for _ in range(PAGES // 4):
            psql(f"update users set signals_version = signals_version + 1 where id = '{self.user}'")
            self.page()


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        with open(f"{folder}/postmaster.pid") as file:
            self.postmaster = file.readline().strip()

    def set(self, name, value):
        psql(f"alter system set {name} = '{value}'", "select pg_reload_conf()")
        time.sleep(1)

    def cpu(self):
        """Returns the CPU time of the server's connections so far, in nanoseconds."""
        spent = 0
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path) as file, open(path.replace("cmdline", "stat")) as stat:
                    if "bookplate_app" in file.read() and stat.read().rsplit(")", 1)[1].split()[1] == self.postmaster:
                        with open(path.replace("cmdline", "schedstat")) as schedule:
                            spent += int(schedule.read().split()[0])
            except OSError:
                pass
        return spent

    def log(self, since):
        """Yields the time in seconds and the content of each log entry of the server's connections since a time."""
        time.sleep(1)
        for path in sorted(glob.glob(f"{self.folder}/log/*.json")):
            with open(path, errors="replace") as file:
                for line in file:
                    if not line.endswith("}\n"):
                        continue
                    entry = json.loads(line)
                    stamp = datetime.datetime.strptime(entry["timestamp"], "%Y-%m-%d %H:%M:%S.%f %Z")
                    at = stamp.replace(tzinfo=datetime.timezone.utc).timestamp()
                    if at >= since - 0.001 and entry.get("user") == "bookplate_app" and entry.get("vxid"):
                        yield at, entry


def by_page(times, entries, amount):
    """Returns for each page the sums of `amount` over its log entries. Ignores the transactions of jobs."""
    entries = [(at, (entry["pid"], entry["vxid"]), entry) for at, entry in entries]
    jobs = {key for _, key, entry in entries if re.search(r"begin_job|claim_jobs", entry.get("statement", "") + entry["message"])}
    pages, index = [], 0
    entries.sort(key=lambda entry: entry[0])
    for start, end in times:
        sums = collections.Counter()
        while index < len(entries) and entries[index][0] <= end + 0.0015:
            at, key, entry = entries[index]
            index += 1
            if at >= start - 0.001 and key not in jobs:
                sums.update(amount(entry))
        pages.append(sums)
    return pages


def duration(entry):
    match = re.match(r"duration: ([\d.]+) ms +(parse|bind|execute) ", entry["message"])
    return {"ms": float(match[1])} if match else {}


def work(entry):
    match = re.match(r"duration: [\d.]+ ms +plan:\n(.*)", entry["message"], re.DOTALL)
    if not match:
        return {}
    plan = json.loads(match[1])["Plan"]
    return {"buffers": plan.get("Shared Hit Blocks", 0) + plan.get("Shared Read Blocks", 0)}


def percentile(pages, name, part):
    amounts = sorted(page[name] for page in pages)
    return amounts[min(len(amounts) - 1, int(len(amounts) * part))]


def main():
    url, cluster, books, readers = sys.argv[1], Cluster(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    if books == 10000:
        print("| books | swipes | page | client p50, ms | p95 | CPU, ms | SQL p50, ms | p95 | buffers p50 | p95 |")
        print("| ---: | ---: | --- " + "| ---: " * 7 + "|")
    for name in readers:
        swipes, user, token = name.split(":")
        for kind, label in KINDS.items():
            reader = Reader(url, user, token)
            read = getattr(reader, kind)
            read()  # warm-up: prepares the statements on every connection, and builds the decks
            before, reader.times = cluster.cpu(), []
            read()
            cpu = (cluster.cpu() - before) / len(reader.times) / 1e6
            clients = [{"ms": (end - start) * 1000} for start, end in reader.times]
            cluster.set("log_min_duration_statement", "0")
            reader.times = []
            read()
            cluster.set("log_min_duration_statement", "-1")
            times = by_page(reader.times, cluster.log(reader.times[0][0]), duration)
            cluster.set("auto_explain.log_min_duration", "0")
            reader.times = []
            read()
            cluster.set("auto_explain.log_min_duration", "-1")
            works = by_page(reader.times, cluster.log(reader.times[0][0]), work)
            cells = [f"{percentile(clients, 'ms', part):.1f}" for part in (0.5, 0.95)]
            cells += [f"{cpu:.2f}", f"{percentile(times, 'ms', 0.5):.2f}", f"{percentile(times, 'ms', 0.95):.2f}"]
            cells += [str(percentile(works, "buffers", part)) for part in (0.5, 0.95)]
            print(f"| {books:,} | {int(swipes):,} | {label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main()
