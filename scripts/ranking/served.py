"""Scores the feed that a server returns through GraphQL. scripts/ranking/served describes it.

    served.py readers FOLDER        prints the known readers for `bookplate-admin readers import`
    served.py measure FOLDER URL    requests their feeds and prints the scores
    served.py scroll FOLDER URL     scrolls as 60 unseen readers, and prints how the cards vary and whether series are in order
"""

import datetime
import json
import pathlib
import sys
import time
import urllib.request

import numpy as np

from measure import Measure, liked, read, split

CARDS = "id isbn13 title authors { name } series { position series { id } }"
SCROLL = f"query($after: String) {{ feed(first: 10, after: $after) {{ nodes {{ {CARDS} }} pageInfo {{ endCursor }} }} }}"
SWIPE = "mutation($swipes: [SwipeInput!]!) { recordSwipes(inputs: $swipes) { recorded } }"
FEED = "{ feed(first: 10) { nodes { isbn13 title authors { name } } } }"
SIGN_IN = "mutation($token: String!) { signIn(input: {apple: {identityToken: $token}}) { accessToken } }"


def subject(number):
    return f"reader.{number}"


def print_readers(books, known):
    start = datetime.datetime(2025, 1, 1)
    for number, history in enumerate(known):
        library = []
        for position, (book, rating) in enumerate(history):
            day = start + datetime.timedelta(hours=8 * position)
            library.append({
                "title": books[book]["title"],
                "authors": [{"name": name} for name in books[book]["authors"]],
                "isbn": books[book].get("isbn13"),
                "status": "READ",
                "rating": rating,
                "addedAt": day.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "reads": [{"finishedOn": day.strftime("%Y-%m-%d"), "outcome": "FINISHED"}],
            })  # fmt: skip
        print(json.dumps({"sub": subject(number), "books": library}, ensure_ascii=False))


def post(url, body, token=None):
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        return json.load(response)


def sign_in(url, name):
    """Returns a function that executes an operation as a reader and returns the data."""
    token = post(f"{url}/development/identity-token", {"subject": name, "audience": "served"})["identityToken"]
    session = post(f"{url}/graphql", {"query": SIGN_IN, "variables": {"token": token}})["data"]["signIn"]
    return lambda query, **variables: post(f"{url}/graphql", {"query": query, "variables": variables}, session["accessToken"])["data"]


def book_numbers(books):
    """Returns the number of each book by its ISBN, and by its title and author."""
    numbers = {book["isbn13"]: number for number, book in enumerate(books) if book.get("isbn13")}
    return numbers | {(book["title"], *book["authors"][:1]): number for number, book in enumerate(books)}


def book_number(card, numbers):
    return numbers.get(card["isbn13"], numbers.get((card["title"], *[author["name"] for author in card["authors"][:1]])))


def measure(books, known, held, url):
    numbers = book_numbers(books)
    wanted = [liked(later) - {book for book, _ in history} for history, later in zip(known, held)]
    readers = [number for number, found in enumerate(wanted) if found]
    tops, times, unknown = [], [], 0
    for reader in readers:
        execute = sign_in(url, subject(reader))
        start = time.perf_counter()
        cards = execute(FEED)["feed"]["nodes"]
        times.append(time.perf_counter() - start)
        top = [book_number(card, numbers) for card in cards]
        unknown += top.count(None)
        tops.append([book for book in top if book is not None])
    recall, hit, genres = Measure(books)(tops, [wanted[reader] for reader in readers])
    error = recall.std(ddof=1) / np.sqrt(len(recall))
    print(f"{len(readers)} readers: recall@10 {recall.mean():.4f} ± {error:.4f}, hit@10 {hit:.3f}, genres {genres:.3f}")
    print(f"{unknown} of {10 * len(readers)} cards are not among the rated books")
    print("first page with a new deck: p50 {:.0f} ms, p95 {:.0f} ms".format(*np.percentile(times, [50, 95]) * 1000))


def scroll(books, unseen, url):
    """Each reader likes the cards that they have rated with 4 or 5, dislikes those with 1 or 2, and skips every third other one."""
    numbers = book_numbers(books)
    late, counts = 0, {"series": [], "author": []}
    for reader, history in enumerate(unseen[:60]):
        execute, ratings = sign_in(url, f"unseen.{reader}"), dict(history)
        shown, passed, is_late = [], {}, False
        for _ in range(3):  # three scrolls of ten pages
            # Cards that were shown but not swiped may come again.
            after, last = None, dict(passed)
            for _ in range(10):
                page = execute(SCROLL, after=after)["feed"]
                after, swipes = page["pageInfo"]["endCursor"], []
                for position, card in enumerate(page["nodes"]):
                    volumes = [
                        (entry["series"]["id"], int(entry["position"]))
                        for entry in card["series"]
                        if (entry["position"] or "").isdigit()
                    ]
                    for series, volume in volumes:
                        is_late |= volume < last.get(series, 0)
                        last[series] = max(last.get(series, 0), volume)
                    rating = ratings.get(book_number(card, numbers))
                    action = "SKIP" if rating in (None, 3) else "LIKE" if rating >= 4 else "DISLIKE"
                    if action != "SKIP" or position % 3 == 0:
                        swipes.append({"cardId": card["id"], "action": action})
                        for series, volume in volumes:
                            passed[series] = max(passed.get(series, 0), volume)
                shown.append(page["nodes"])
                execute(SWIPE, swipes=swipes)
        late += is_late
        cards = [card for page in shown[:2] for card in page]
        keys = {
            "series": [entry["series"]["id"] for card in cards for entry in card["series"]],
            "author": [author["name"] for card in cards for author in card["authors"][:1]],
        }
        for key, values in keys.items():
            counts[key].append(max((values.count(value) for value in values), default=0))
    print(f"{late} of 60 readers got a volume after a later one that they had swiped or that came before in the scroll")
    for key, most in counts.items():
        print(f"most cards of one {key} among the first 20: mean {np.mean(most):.2f}, at most {max(most)}")


def main():
    command, folder, *rest = sys.argv[1:]
    books, readers = read(pathlib.Path(folder))
    known, held, unseen = split(readers)
    if command == "readers":
        print_readers(books, known)
    elif command == "scroll":
        scroll(books, unseen, *rest)
    else:
        measure(books, known, held, *rest)


if __name__ == "__main__":
    main()
