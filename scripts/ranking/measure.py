"""Scores the ranking of the feed offline with the product's own code, next to popularity and EASE.

    scripts/ranking/measure FOLDER [test|before|random]

FOLDER contains `books.jsonl.gz` (one book per line: goodbooks_id, genres, authors, ratings_count) and
`interactions/ratings-train.csv.gz` (user_id, seq, book_id, rating). The data are not part of this repository; observe
their licenses. Genres become the canonical ones, as in the catalog.

`test` splits by time. The fifth of the readers who started last is unseen: nothing is learned from them. The last fifth
of the ratings of each other reader is held out. `before` is the validation part, on which constants are chosen: it
removes everything that `test` holds out and splits the rest in the same way. `random` holds out a random fifth of each
reader's ratings, and a random fifth of the readers. This is easier to predict, and no service can know it.

A ranking shows ten books to a reader. A book counts as found if the reader has a held-out rating of 4 or 5 for it. Books
with known ratings are not shown. For an unseen reader with at least 20 ratings, the first k ratings are known.

Differences are means over readers of the differences in recall@10, with their standard errors. `genres` is the share of
different first genres among the ten books. "Similar books alone" sums the links from a reader's books, without popularity,
content, and rules. "Without" rows leave out one price or rule of `CardOrder`.
"""

import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sparse

WEIGHTS = {5: 1.25, 4: 1.0, 3: 0.6, 2: 0.2, 1: 0.1}  # reader_signals.weight
VOICES = {5: 1.25, 4: 1.0, 3: 0.6, 2: 0.0, 1: -0.3}  # reader_signals.voice
PRIOR = 5000  # refresh_popularity
KNOWN_RATINGS = (0, 1, 3, 5, 10)
RULES = {"prices for genres": "genres", "limits for series and authors": "limits", "the rule on neighbours": "neighbours"}


def canonical_genres():
    """Returns the canonical genre of each name as (name, whether it is a general one), from the migration that creates them."""
    [text] = [path.read_text() for path in pathlib.Path("migrations").glob("*_create_catalog.sql")]
    genres = {}
    for name, general, aliases in re.findall(r"\(\d+, '(.+)', (true|false), (?:true|false), '([^']*)'\)", text):
        for alias in aliases.split(","):
            genres[fold(alias)] = (name, general == "true")
    return genres


def fold(name):
    return re.sub("[^a-z0-9]+", " ", name.lower().replace("'", "").replace("&", " and ")).strip()


def genres_of(book, canonical):
    """Returns the genres as `genre_ids` assigns them to editions. A general genre counts only if there is no other."""
    found = [canonical[fold(name)] for name in book.get("genres") or [] if fold(name) in canonical]
    chosen = [name for name, general in found if not general] or [name for name, _ in found][:1]
    return list(dict.fromkeys(chosen))


def every_book(folder):
    """Returns the books in their order, with canonical genres."""
    canonical = canonical_genres()
    with gzip.open(folder / "books.jsonl.gz", "rt") as lines:
        books = [json.loads(line) for line in lines]
    for book in books:
        book["genres"] = genres_of(book, canonical)
    return books


def read(folder):
    """Returns the rated books, and each reader's ratings as (book, rating), oldest first. Readers are in the order of their first rating."""
    books = {book["goodbooks_id"]: book for book in every_book(folder) if book.get("goodbooks_id")}
    index = {book: number for number, book in enumerate(sorted(books))}
    readers = {}
    with gzip.open(folder / "interactions/ratings-train.csv.gz", "rt") as lines:
        for row in sorted(csv.DictReader(lines), key=lambda row: int(row["seq"])):
            if int(row["book_id"]) in index:
                readers.setdefault(row["user_id"], []).append((index[int(row["book_id"])], int(row["rating"])))
    return [books[book] for book in sorted(books)], list(readers.values())


def split(readers):
    """Returns the known ratings of the readers who started first, their held-out ratings, and all ratings of the others."""
    started = readers[: len(readers) * 4 // 5]
    kept = [len(history) * 4 // 5 if len(history) >= 5 else len(history) for history in started]
    known = [history[:count] for history, count in zip(started, kept)]
    held = [history[count:] for history, count in zip(started, kept)]
    return known, held, readers[len(started) :]


def liked(history):
    return {book for book, rating in history if rating >= 4}


class Measure:
    def __init__(self, books):
        self.first = [(book["genres"] or [""])[0] for book in books]

    def __call__(self, tops, wanted):
        """Returns the recall for each reader, the share of readers with a hit, and the mean share of different genres."""
        found = [len(set(top) & books) for top, books in zip(tops, wanted)]
        recall = np.array([count / len(books) for count, books in zip(found, wanted)])
        genres = [len({self.first[book] for book in top}) / 10 for top in tops]
        return recall, np.mean(np.array(found) > 0), np.mean(genres)


class Product:
    """The product's own code, run as a child process."""

    def __init__(self, command, books, popularity, known, volumes=True):
        numbers, origins = {}, {}
        self.tool = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for book, share in zip(books, popularity):
            genres = [str(numbers.setdefault(genre, len(numbers) + 1)) for genre in book["genres"]]
            author, series = (book.get("authors") or [""])[0].lower(), (book.get("series") or "").lower()
            # A series is one by its name and the first author.
            keys = (author, author and series and (series, author))
            origin = [str(origins.setdefault(key, len(origins) + 1)) if key else "0" for key in keys]
            self.send(" ".join(["item", f"{share:.9f}"] + origin + [volume(book) if volumes else "-", ",".join(genres) or "-"]))
        # Newest first, which is the order in which the product reads them.
        for reader, history in enumerate(known):
            for book, rating in reversed(history):
                self.send(f"signal {reader} {book} {WEIGHTS[rating]}")

    def send(self, line):
        self.tool.stdin.write(line + "\n")

    def rank(self, histories, count=10, omitted=()):
        """Ranks books for readers with these signals, each a book and its weight, the newest last."""
        self.send(" ".join(["omit", *omitted]))
        tops = []
        for history in histories:
            self.send(" ".join([f"query {count}"] + [f"{book}:{weight}" for book, weight in history]))
            self.tool.stdin.flush()
            tops.append([int(book) for book in self.tool.stdout.readline().split()])
        return tops

    def links(self, count):
        """Returns the learned links as a matrix: the weight of the link from a row's book to a column's."""
        self.send("links")
        self.tool.stdin.flush()
        rows = [line.split() for line in iter(self.tool.stdout.readline, "\n")]
        start, end, weights = zip(*rows)
        return sparse.csr_matrix((np.array(weights, float), (np.array(start, int), np.array(end, int))), shape=(count, count))


def volume(book):
    """Returns the number of a volume, or "-" if the book has none or contains several volumes."""
    try:
        return str(float(book.get("series_position")))
    except (TypeError, ValueError):
        return "-"


def popularities(books, known):
    """Returns the popularity in the catalog alone, and with the readers' signals."""
    world = np.array([book.get("ratings_count") or 0 for book in books], dtype=np.float64)
    own = np.zeros(len(books))
    for history in known:
        for book, rating in history:
            own[book] += max(0, VOICES[rating])
    both = world + own * world.sum() / PRIOR
    return world / world.max(), both / both.max()


def signals(histories):
    return [[(book, VOICES[rating]) for book, rating in history] for history in histories]


def matrix(signals, count):
    """Returns a matrix with a row for each reader."""
    rows = [number for number, history in enumerate(signals) for _ in history]
    columns = [book for history in signals for book, _ in history]
    weights = [weight for history in signals for _, weight in history]
    return sparse.csr_matrix((weights, (rows, columns)), shape=(len(signals), count))


def recent(histories):
    """Returns the signals multiplied by `FeedRanking.recencyBoost`."""
    boosted = []
    for history in histories:
        newer, row = 0, []
        for book, rating in reversed(history):
            row.append((book, VOICES[rating] * (1 + 4 * 2 ** (-newer / 3))))
            newer += VOICES[rating] > 0
        boosted.append(row)
    return boosted


def best(scores, histories):
    tops = []
    for row, history in zip(scores, histories):
        row = np.array(row, dtype=np.float64)
        row[[book for book, _ in history]] = -np.inf
        tops.append(np.argsort(-row, kind="stable")[:10])
    return tops


def ease(known, histories, count, ridge=200):
    """Returns the scores of EASE, which treats every rating as 1."""
    ones = matrix([[(book, 1.0) for book, _ in history] for history in known], count)
    rated = np.flatnonzero(ones.sum(0))
    gram = (ones.T @ ones)[rated][:, rated].toarray()
    inverse = np.linalg.inv(gram + ridge * np.eye(len(rated)))
    links = inverse / -np.diag(inverse)
    np.fill_diagonal(links, 0)
    scores = np.zeros((len(histories), count))
    scores[:, rated] = matrix([[(book, 1.0) for book, _ in history] for history in histories], count)[:, rated] @ links
    return scores


def difference(recall, other):
    return f"{np.mean(recall - other):+.4f} ± {np.std(recall - other) / len(recall) ** 0.5:.4f}"


def main():
    tool, folder, part = (sys.argv[1:] + ["test"])[:3]  # scripts/ranking/measure passes the path of ranking-tool
    if not 3 <= len(sys.argv) <= 4 or part not in ("test", "before", "random"):
        sys.exit(__doc__)
    books, readers = read(pathlib.Path(folder))
    if part == "before":
        readers = split(readers)[0]
    if part == "random":
        print("A random split: it is easier than a split by time, and its numbers cannot be compared with those.\n")
        chance = np.random.RandomState(1)
        readers = [[history[index] for index in chance.permutation(len(history))] for history in readers]
        chance.shuffle(readers)
    known, held, unseen = split(readers)
    unseen = [history for history in unseen if len(history) >= 20]
    measure, count = Measure(books), len(books)
    world, own = popularities(books, known)
    product, fresh = Product(tool, books, own, known), Product(tool, books, world, [])
    unordered = Product(tool, books, own, known, volumes=False)

    pairs = [(history, liked(later)) for history, later in zip(known, held) if liked(later)]
    histories, wanted = [history for history, _ in pairs], [found for _, found in pairs]
    told, every = signals(histories), tuple(RULES.values())
    tables = {
        "popularity": best([own] * len(histories), histories),
        "EASE": best(ease(known, histories, count), histories),
        "similar books alone": best((matrix(recent(histories), count) @ product.links(count)).toarray(), histories),
        "**Bookplate**": product.rank(told),
        **{f"without {name}": product.rank(told, omitted=[rule]) for name, rule in RULES.items()},
        "without the order of volumes": unordered.rank(told),
        "without any price or rule": unordered.rank(told, omitted=every),
    }
    results = {name: measure(tops, wanted) for name, tops in tables.items()}
    print(f"{len(known)} known readers, {sum(map(len, known))} ratings, {count} books; {len(histories)} readers with held-out likes\n")
    print("| | recall@10 | less EASE | less Bookplate | hit@10 | genres |\n|---|---:|---:|---:|---:|---:|")
    for name, (recall, hit, genres) in results.items():
        cells = [difference(recall, results[other][0]) if other != name else "" for other in ("EASE", "**Bookplate**")]
        print(f"| {name} | {recall.mean():.4f} | {cells[0]} | {cells[1]} | {hit:.3f} | {genres:.3f} |")

    print(f"\n{len(unseen)} unseen readers: recall@10 (hit@10, genres) after k ratings, of the later ones\n")
    rows = {}
    for k in KNOWN_RATINGS:
        pairs = [(history[:k], liked(history[k:])) for history in unseen if liked(history[k:])]
        histories, wanted = [history for history, _ in pairs], [found for _, found in pairs]
        told = signals(histories)
        tables = {
            "popularity": best([own] * len(histories), histories),
            # The same books are left out, but nothing is learned from them.
            "Bookplate without signals": product.rank([[(book, 0) for book, _ in history] for history in told]),
            "**Bookplate**": product.rank(told),
            "without any price or rule": unordered.rank(told, omitted=every),
            "popularity, new installation": best([world] * len(histories), histories),
            "**Bookplate, new installation**": fresh.rank(told),
        }
        results = {name: measure(tops, wanted) for name, tops in tables.items()}
        for name, (recall, hit, genres) in results.items():
            rows.setdefault(name, []).append(f"{recall.mean():.4f} ({hit:.2f}, {genres:.2f})")
        for name, other in (
            ("**Bookplate**", "popularity"),
            ("**Bookplate**", "Bookplate without signals"),
            ("**Bookplate, new installation**", "popularity, new installation"),
        ):
            cell = difference(results[name][0], results[other][0])
            rows.setdefault(f"{name} less {other}", []).append(cell)
    print("| | " + " | ".join(map(str, KNOWN_RATINGS)) + " |\n|---" + "|---:" * len(KNOWN_RATINGS) + "|")
    for name, cells in rows.items():
        print("| " + " | ".join([name, *cells]) + " |")


if __name__ == "__main__":
    start = time.monotonic()
    main()
    print(f"\n{time.monotonic() - start:.0f} s", file=sys.stderr)
