"""Scores the ranking of the feed offline and compares it with popularity, item-item cosine, and EASE.

    scripts/ranking/measure FOLDER [later [PERCENT] | last|before|random [SEED]]

FOLDER contains `books.jsonl.gz` (one book per line: goodbooks_id, genres, authors, ratings_count) and
`interactions/ratings-train.csv.gz` (user_id, seq, book_id, rating). The data are not part of this repository; observe
their licenses. Genres become the canonical ones, as in the catalog.

The script scores the product's own code, the module Ranking, through `ranking-tool`. A ranking shows ten books to a
reader. A book counts as found if the reader has a held-out rating of 4 or 5 for it. Books with known ratings are not
shown.

Warm readers: a fifth of each reader's ratings is held out.

- `last`: the last fifth.
- `before`: the last fifth of the ratings is removed, and the last fifth of the remaining ones is held out.
- `random`: a random fifth, which is easier to predict.
- `later`: a split by time, as in a running service. Only the first PERCENT (default: 80) of all ratings are used, and
  the last fifth of each reader's ratings among them is held out.

Cold readers: all ratings are held out. The cold readers are the ones with at least 20 ratings among 200 readers drawn
with SEED or, with `later`, among the readers without a rating in the period. The first table uses a cold reader's first
k ratings as known and looks for the rest. The second table looks for the ratings after the first ten, so that the
held-out ratings are the same for each k. The last lines of both tables are means over readers of the differences in
recall, with their standard errors: between Bookplate and popularity among these readers, and, for a new installation
without other readers, between Bookplate and the popularity in the catalog.

`genres` is the share of different first genres among the ten books, and `fewest` is that share for the reader with the
lowest one. `variety` is 1 minus the mean Jaccard overlap of the genres of two of the ten books. `EASE` treats every
rating as 1; `EASE, weighted` uses the weights that the product learns from. `one per author and series` is popularity
with the product's rule for new readers. `the best ten that keep the rule, by hindsight` are the best such ten books if
the future ratings of the cold readers were known. This is the upper bound for showing the same ten books to every new
reader.
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
COLD_AFTER = (0, 1, 3, 5, 10)
COMPARED = (
    ("**Bookplate**", "popularity, own readers'"),
    ("Bookplate, new installation", "popularity, world"),
)


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


def read(folder):
    books, canonical = {}, canonical_genres()
    with gzip.open(folder / "books.jsonl.gz", "rt") as lines:
        for line in lines:
            book = json.loads(line)
            if book.get("goodbooks_id"):
                book["genres"] = genres_of(book, canonical)
                books[book["goodbooks_id"]] = book
    readers = {}
    with gzip.open(folder / "interactions/ratings-train.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            readers.setdefault(int(row["user_id"]), []).append((int(row["seq"]), int(row["book_id"]), int(row["rating"])))
    index = {book: number for number, book in enumerate(sorted(books))}
    for reader in readers:
        readers[reader] = [(seq, index[book], rating) for seq, book, rating in sorted(readers[reader]) if book in index]
    return [books[book] for book in sorted(books)], readers


def split(readers, held, seed):
    end = float("inf")
    if held == "later":
        times = sorted(seq for history in readers.values() for seq, _, _ in history)
        end = times[len(times) * seed // 100]
    begun = {reader for reader, history in readers.items() if history and history[0][0] < end}
    readers = {reader: [(book, rating) for seq, book, rating in history if seq < end or reader not in begun] for reader, history in readers.items()}
    if held == "before":
        readers = {reader: history[: int(len(history) * 0.8)] if len(history) >= 10 else history for reader, history in readers.items()}
    order, chance = sorted(readers), np.random.RandomState(seed)
    left = [r for r in order if r not in begun] if held == "later" else chance.choice(order, 200, replace=False)
    cold = [r for r in left if len(readers[r]) >= 20]
    train, warm = [], []
    for reader in order:
        if reader in cold or reader not in begun:
            continue
        history = readers[reader]
        kept = int(len(history) * 0.8) if len(history) >= 5 else len(history)
        if held == "random":
            told = set(chance.choice(len(history), kept, replace=False))
            history = [history[n] for n in sorted(told)] + [history[n] for n in range(len(history)) if n not in told]
        train.append(history[:kept])
        wanted = {book for book, rating in history[kept:] if rating >= 4}
        if wanted:
            warm.append((history[:kept], wanted))
    return train, warm, [readers[reader] for reader in cold]


class Measure:
    def __init__(self, books):
        self.origins = [{((book.get("authors") or [""])[0]).lower(), "in " + (book.get("series") or "").lower()} - {"", "in "}
                        for book in books]  # fmt: skip
        self.genres = [set(book.get("genres") or []) for book in books]
        self.first = [(book.get("genres") or [""])[0] for book in books]

    def __call__(self, tops, wanted):
        recall, gain, hit, genres, variety = [], [], [], [], []
        for top, found in zip(tops, wanted):
            top = list(top)[:10]
            marks = [book in found for book in top]
            recall.append(sum(marks) / len(found))
            hit.append(any(marks))
            ideal = sum(1 / np.log2(place + 2) for place in range(min(10, len(found))))
            gain.append(sum(mark / np.log2(place + 2) for place, mark in enumerate(marks)) / ideal)
            genres.append(len({self.first[book] for book in top}) / 10)
            pairs = [self.overlap(a, b) for place, a in enumerate(top) for b in top[:place]]
            variety.append(1 - np.mean(pairs))
        distinct = len({book for top in tops for book in list(top)[:10]})
        return [np.mean(recall), np.mean(gain), np.mean(hit), np.mean(genres), min(genres), np.mean(variety), distinct], np.array(recall)

    def best_by_hindsight(self, wanted):
        """Returns the ten books that follow the rule and find the most, and an upper bound from the best book of each
        author.
        """
        worth = np.zeros(len(self.first))
        for found in wanted:
            worth[list(found)] += 1 / len(found) / len(wanted)
        authors = {}
        for book, origins in enumerate(self.origins):
            author = min((name for name in origins if not name.startswith("in ")), default=book)
            authors[author] = max(authors.get(author, 0), worth[book])
        return self.once(worth, []), sum(sorted(authors.values())[-10:])

    def once(self, worth, history):
        told, top, seen = {book for book, _ in history}, [], set()
        for book in np.argsort(-worth, kind="stable"):
            if book not in told and not self.origins[book] & seen:
                top.append(book)
                seen |= self.origins[book]
            if len(top) == 10:
                return top

    def overlap(self, a, b):
        both = self.genres[a] | self.genres[b]
        return len(self.genres[a] & self.genres[b]) / len(both) if both else 0


class Product:
    """The product's own code, run as a child process."""

    def __init__(self, command, books, popularity, train):
        self.genres, origins = {}, {}
        self.tool = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for book, share in zip(books, popularity):
            genres = [str(self.genres.setdefault(genre, len(self.genres) + 1)) for genre in book.get("genres") or []]
            origin = [str(origins.setdefault(name.lower(), len(origins) + 1)) if name else "0" for name in
                      ((book.get("authors") or [None])[0], book.get("series"))]  # fmt: skip
            self.send(" ".join(["item", f"{share:.9f}"] + origin + [volume(book), ",".join(genres) or "-"]))
        # Newest first, which is the order in which the product reads them.
        for reader, history in enumerate(train):
            for book, rating in reversed(history):
                self.send(f"signal {reader} {book} {WEIGHTS[rating]}")

    def send(self, line):
        self.tool.stdin.write(line + "\n")

    def rank(self, histories, count=10, preferred=()):
        """Ranks books for readers with these signals, each a book and its weight, the newest last."""
        self.send(" ".join(["prefer"] + [str(self.genres[genre]) for genre in preferred]))
        tops = []
        for history in histories:
            self.send(" ".join([f"query {count}"] + [f"{book}:{weight}" for book, weight in history]))
            self.tool.stdin.flush()
            tops.append([int(book) for book in self.tool.stdout.readline().split()])
        return tops


def volume(book):
    """Returns the number of a volume, or "-" if the book has none or contains several volumes."""
    try:
        return str(float(book.get("series_position")))
    except (TypeError, ValueError):
        return "-"


def popularities(books, train):
    """Returns the popularity in the catalog alone, and with the readers' signals."""
    world = np.array([book.get("ratings_count") or 0 for book in books], dtype=np.float64)
    own = np.zeros(len(books))
    for history in train:
        for book, rating in history:
            own[book] += max(0, VOICES[rating])
    both = world + own * world.sum() / PRIOR
    return world / world.max(), both / both.max()


def signals(histories):
    return [[(book, VOICES[rating]) for book, rating in history] for history in histories]


def matrix(histories, count, weights=None):
    rows = [number for number, history in enumerate(histories) for _ in history]
    columns = [book for history in histories for book, _ in history]
    values = [weights[rating] if weights else 1.0 for history in histories for _, rating in history]
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(histories), count), dtype=np.float32)


def best(scores, histories, count=10):
    tops = []
    for row, history in zip(scores, histories):
        row = np.array(row, dtype=np.float64)
        row[[book for book, _ in history]] = -np.inf
        tops.append(np.argsort(-row, kind="stable")[:count])
    return tops


def cosine(train, count):
    ratings = matrix(train, count)
    gram = (ratings.T @ ratings).tocoo()
    norms = np.asarray(ratings.power(2).sum(0)).ravel()
    shares = gram.data / (np.sqrt(norms[gram.row] * norms[gram.col]) + 10)
    shares[gram.row == gram.col] = 0
    return sparse.csr_matrix((shares, (gram.row, gram.col)), shape=gram.shape)


def ease(train, count, weights=None, ridge=200):
    ratings = matrix(train, count, weights)
    known = np.where(np.asarray(ratings.sum(0)).ravel() > 0)[0]
    gram = (ratings.T @ ratings)[known][:, known].toarray().astype(np.float64)
    inverse = np.linalg.inv(gram + ridge * np.eye(len(known)))
    links = inverse / -np.diag(inverse)
    np.fill_diagonal(links, 0)
    return known, links


def main():
    tool, folder, held, seed = (sys.argv[1:] + [""] * 4)[:4]  # scripts/ranking/measure passes the path of ranking-tool
    held = held or "later"
    seed = seed or ("80" if held == "later" else "1")
    known = held in ("later", "last", "before", "random") and seed.isdigit() and (held != "later" or 10 <= int(seed) <= 95)
    if not known or not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    books, readers = read(pathlib.Path(folder))
    train, warm, cold = split(readers, held, int(seed))
    measure, count = Measure(books), len(books)
    world, popularity = popularities(books, train)
    product, fresh = Product(tool, books, popularity, train), Product(tool, books, world, [])
    shared = cosine(train, count)
    rated, plain = ease(train, count)
    _, weighted = ease(train, count, WEIGHTS, 300)

    def linear(histories, weights, links):
        scores = np.zeros((len(histories), count))
        scores[:, rated] = matrix(histories, count, weights)[:, rated] @ links
        return scores

    def rows(histories, wanted):
        everybody = len(histories)
        yield "popularity, world", best([world] * everybody, histories)
        yield "popularity, own readers'", best([popularity] * everybody, histories)
        yield "popularity, one per author and series", [measure.once(popularity, history) for history in histories]
        yield "item-item cosine", best((matrix(histories, count) @ shared).toarray(), histories)
        yield "EASE", best(linear(histories, None, plain), histories)
        yield "EASE, weighted", best(linear(histories, WEIGHTS, weighted), histories)
        yield "popularity under the rules, world", fresh.rank([[(book, 0) for book, _ in history] for history in histories])
        yield "Bookplate, new installation", fresh.rank(signals(histories))
        yield "**Bookplate**", product.rank(signals(histories))

    print(f"{len(train)} readers, {sum(map(len, train))} ratings, {count} books; {len(warm)} warm readers\n")
    print("| | recall@10 | ndcg@10 | hit@10 | genres@10 | fewest | variety@10 | books |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    histories, wanted = [history for history, _ in warm], [found for _, found in warm]
    for name, tops in rows(histories, wanted):
        figures, _ = measure(tops, wanted)
        print("| " + " | ".join([name] + [f"{figure:.3f}" for figure in figures[:6]] + [str(figures[6])]) + " |")
    for first, what in (None, "the rest"), (10, "what comes after ten"):
        print(f"\n{len(cold)} cold readers, recall@10 (hit@10, genres@10) of {what} after k ratings\n")
        table, less = {}, {}
        for told in COLD_AFTER:
            histories, wanted = [], []
            for history in cold:
                found = {book for book, rating in history[told if first is None else first :] if rating >= 4}
                if found:
                    histories.append(history[:told])
                    wanted.append(found)
            recalls = {}
            for name, tops in rows(histories, wanted):
                figures, recalls[name] = measure(tops, wanted)
                table.setdefault(name, []).append(f"{figures[0]:.3f} ({figures[2]:.2f}, {figures[3]:.2f})")
            for better, worse in COMPARED:
                difference = recalls[better] - recalls[worse]
                cell = f"{difference.mean():+.4f} ± {difference.std() / len(difference) ** 0.5:.4f}"
                less.setdefault(f"{better} less {worse}", []).append(cell)
            if told == 0:
                top, bound = measure.best_by_hindsight(wanted)
                figures, _ = measure([top] * len(wanted), wanted)
                best_new = f"{figures[0]:.3f} ({figures[2]:.2f}, {figures[3]:.2f}); at most {bound:.3f}"
        table["the best ten that keep the rule, by hindsight"] = [best_new] + ["-"] * (len(COLD_AFTER) - 1)
        table |= less
        print("| | " + " | ".join(map(str, COLD_AFTER)) + " |\n|---" + "|---" * len(COLD_AFTER) + "|")
        for name, cells in table.items():
            print("| " + " | ".join([name] + cells) + " |")


if __name__ == "__main__":
    start = time.monotonic()
    main()
    print(f"\n{time.monotonic() - start:.0f} s", file=sys.stderr)
