"""Scores the feed that a server returns through GraphQL. scripts/ranking/served describes it.

    served.py readers FOLDER        prints the known readers for `bookplate-admin readers import`
    served.py measure FOLDER URL    requests their feeds and prints the scores
    served.py scroll FOLDER URL     scrolls as 60 unseen readers, and prints how the cards vary and whether series are in order
    served.py examples FOLDER URL NAME
                                    prints the first 20 cards of invented readers, to be judged by eye. NAME is a part of the
                                    readers' names, so that each call has new readers
"""

import datetime
import json
import pathlib
import sys
import time
import urllib.request

import numpy as np

from measure import Measure, every_book, liked, read, split

CARDS = "id isbn13 title authors { name } series { position series { id } }"
SCROLL = f"query($after: String) {{ feed(first: 10, after: $after) {{ nodes {{ {CARDS} }} pageInfo {{ endCursor }} }} }}"
SWIPE = "mutation($swipes: [SwipeInput!]!) { recordSwipes(inputs: $swipes) { recorded } }"
FEED = "{ feed(first: 10) { nodes { isbn13 title authors { name } } } }"
SIGN_IN = """mutation($token: String!, $languages: [String!]) {
  signIn(input: {apple: {identityToken: $token}}, languages: $languages) { accessToken }
}"""
EXAMPLE = """{ feed(first: 20) { nodes {
  title language authors { name } genres { name } series { position series { name } } reason { kind }
} } }"""
LOOK_UP = "query($isbns: [String!]!) { lookupISBNs(isbns: $isbns) { card { id } } }"
ADD = "mutation($books: [CreateBookInput!]!) { createBooks(inputs: $books) { book { id } } }"

# Invented readers: the titles of their likes and dislikes, their languages, and the genres or the language of the cards that suit them.
# `dislikes_first` is a number of cards of the feed that the reader dislikes, and `library` the number of popular books of these genres that
# the reader has read.
EXAMPLES = {
    "fantasy": {
        "likes": ["The Name of the Wind", "The Final Empire", "The Lies of Locke Lamora", "Assassin's Apprentice", "The Eye of the World"],
        "suitable": {"Fantasy"},
    },
    "crime": {
        "likes": ["The Girl with the Dragon Tattoo", "In the Woods", "And Then There Were None", "The Cuckoo's Calling", "The Silence of the Lambs"],
        "suitable": {"Mystery & Crime", "Thriller", "True Crime"},
    },
    "romance": {
        "likes": ["The Notebook", "Me Before You", "Outlander", "The Duke and I", "Vision in White"],
        "suitable": {"Romance"},
    },
    "science": {
        "likes": ["A Brief History of Time", "Cosmos", "The Selfish Gene", "A Short History of Nearly Everything", "The Double Helix"],
        "suitable": {"Science & Nature", "Technology & Computing", "Psychology & Health", "Philosophy", "History"},
    },
    "classics": {
        "likes": ["Jane Eyre", "Crime and Punishment", "Great Expectations", "Anna Karenina", "Wuthering Heights"],
        "suitable": {"Classics"},
    },
    "children": {
        "likes": ["Where the Wild Things Are", "The Gruffalo", "Matilda", "Charlotte's Web", "Goodnight Moon"],
        "suitable": {"Children", "Picture Books", "Middle Grade"},
    },
    "westerns": {
        "likes": ["Lonesome Dove", "True Grit", "The Sisters Brothers", "All the Pretty Horses", "The Son"],
        "suitable": {"Westerns"},
    },
    "Spanish": {
        "likes": ["El túnel", "Paula", "La catedral del mar", "Marina", "El coronel no tiene quien le escriba"],
        "languages": ["es"],
        "suitable": {"es"},
    },
    "German, English, and Spanish": {
        "likes": ["Momo", "Saphirblau", "Er ist wieder da", "Marina", "The Name of the Wind"],
        "languages": ["de", "en", "es"],
        "suitable": {"de", "es"},
    },
    "five dislikes": {
        "dislikes": ["Twilight", "City of Bones", "Divergent", "Hush, Hush", "Fallen"],
        "suitable": {"Young Adult", "Paranormal"},
    },
    "60 dislikes": {"dislikes_first": 60, "suitable": {"Young Adult"}},
    "library of 800": {"library": 800, "suitable": {"Fantasy", "Science Fiction"}},
}


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


def sign_in(url, name, languages=None):
    """Returns a function that executes an operation as a reader and returns the data."""
    token = post(f"{url}/development/identity-token", {"subject": name, "audience": "served"})["identityToken"]
    session = post(f"{url}/graphql", {"query": SIGN_IN, "variables": {"token": token, "languages": languages}})["data"]["signIn"]
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


def card_ids(execute, books):
    """Returns the ids of the cards of books. Those without an ISBN are left out."""
    isbns = [book["isbn13"] for book in books if book.get("isbn13")]
    found = [entry for start in range(0, len(isbns), 50) for entry in execute(LOOK_UP, isbns=isbns[start : start + 50])["lookupISBNs"]]
    return [entry["card"]["id"] for entry in found if entry["card"]]


def print_examples(books, url, name):
    titles = {book["title"]: book for book in reversed(books)}
    for reader, example in EXAMPLES.items():
        execute, suitable = sign_in(url, f"{name}.{reader}", example.get("languages")), example["suitable"]
        if example.get("library"):
            liked = sorted((book for book in books if suitable & set(book["genres"][:2])), key=lambda book: -book["ratings_count"])
            cards = card_ids(execute, liked[: example["library"]])
            for start in range(0, len(cards), 50):
                execute(ADD, books=[{"cardId": card, "status": "READ"} for card in cards[start : start + 50]])
        for action, field in (("LIKE", "likes"), ("DISLIKE", "dislikes")):
            for card in card_ids(execute, [titles[title] for title in example.get(field, [])]):
                execute(SWIPE, swipes=[{"cardId": card, "action": action}])
        for _ in range(example.get("dislikes_first", 0) // 20):
            cards = execute("{ feed(first: 20) { nodes { id } } }")["feed"]["nodes"]
            execute(SWIPE, swipes=[{"cardId": card["id"], "action": "DISLIKE"} for card in cards])
        cards = execute(EXAMPLE)["feed"]["nodes"]
        near = [{card["language"], *(genre["name"] for genre in card["genres"][:3])} & suitable for card in cards]
        print(f"\n## {reader}, {name}: {sum(map(bool, near))} of {len(cards)} in {', '.join(sorted(suitable))}\n")
        for position, card in enumerate(cards, 1):
            series = "".join(f" ({entry['series']['name']} {entry['position'] or ''})" for entry in card["series"][:1])
            authors, reason = "".join(author["name"] for author in card["authors"][:1]), (card["reason"] or {}).get("kind", "")
            genres = ", ".join(genre["name"] for genre in card["genres"][:3])
            print(f"{position:2}. {card['title'][:50]}{series} by {authors}: {card['language']}; {genres}; {reason}")


def main():
    command, folder, *rest = sys.argv[1:]
    books, readers = read(pathlib.Path(folder))
    known, held, unseen = split(readers)
    if command == "readers":
        print_readers(books, known)
    elif command == "examples":
        print_examples(every_book(pathlib.Path(folder)), *rest)
    elif command == "scroll":
        scroll(books, unseen, *rest)
    else:
        measure(books, known, held, *rest)


if __name__ == "__main__":
    main()
