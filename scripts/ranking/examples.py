"""Prints the first 20 cards of five invented readers. scripts/ranking/examples describes it."""

import pathlib
import sys

from measure import Product, popularities, read

LIKE, DISLIKE = 1.0, -0.3  # reader_signals.voice

READERS = {
    "a fantasy reader": (
        {
            "The Name of the Wind": LIKE,
            "The Final Empire": LIKE,
            "The Lies of Locke Lamora": LIKE,
            "Assassin's Apprentice": LIKE,
            "The Eye of the World": LIKE,
        },
        [],
    ),
    "a crime reader": (
        {
            "The Girl with the Dragon Tattoo": LIKE,
            "In the Woods": LIKE,
            "And Then There Were None": LIKE,
            "The Cuckoo's Calling": LIKE,
            "The Silence of the Lambs": LIKE,
        },
        [],
    ),
    "a reader with only dislikes": (
        {"Twilight": DISLIKE, "City of Bones": DISLIKE, "Divergent": DISLIKE, "Hush, Hush": DISLIKE, "Fallen": DISLIKE},
        [],
    ),
    "a reader who prefers Poetry and Science Fiction": ({}, ["Poetry", "Science Fiction"]),
    "a reader of many kinds, who prefers History": (
        {"Pride and Prejudice": LIKE, "Dune": LIKE, "Gone Girl": LIKE, "The Hobbit": LIKE, "Twilight": DISLIKE},
        ["History"],
    ),
}


def find(books, title):
    for number, book in enumerate(books):
        if book["title"] == title:
            return number
    sys.exit(f"There is no book with the title {title}.")


def line(book):
    series = f" ({book['series']} {book.get('series_position') or ''})" if book.get("series") else ""
    return f"{book['title'][:50]}{series} by {(book['authors'] or ['?'])[0]}: {', '.join((book.get('genres') or [])[:4])}"


def main():
    tool, folder = sys.argv[1:]
    books, readers = read(pathlib.Path(folder))
    train = [[(book, rating) for _, book, rating in history] for history in readers.values()]
    world, own = popularities(books, train)
    products = {"fresh": Product(tool, books, world, []), "trained": Product(tool, books, own, train)}
    for name, (opinions, preferred) in READERS.items():
        signals = [(find(books, title), weight) for title, weight in opinions.items()]
        for installation, product in products.items():
            [cards] = product.rank([signals], 20, preferred)
            print(f"\n## {name[0].upper()}{name[1:]}, {installation}\n")
            print("\n".join(f"{position:2}. {line(books[card])}" for position, card in enumerate(cards, 1)))


if __name__ == "__main__":
    main()
