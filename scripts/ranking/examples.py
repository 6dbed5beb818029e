"""Prints the first 20 cards of invented readers. scripts/ranking/examples describes it."""

import pathlib
import sys

from measure import Product, popularities, read

LIKE, DISLIKE = 1.0, -0.3  # reader_signals.voice

# The likes and dislikes, the preferred genres, and the genres of the books that suit the reader.
READERS = {
    "a fantasy reader": (
        ["The Name of the Wind", "The Final Empire", "The Lies of Locke Lamora", "Assassin's Apprentice", "The Eye of the World"],
        [],
        [],
        {"Fantasy"},
    ),
    "a crime reader": (
        ["The Girl with the Dragon Tattoo", "In the Woods", "And Then There Were None", "The Cuckoo's Calling", "The Silence of the Lambs"],
        [],
        [],
        {"Mystery & Crime", "Thriller", "True Crime"},
    ),
    "a romance reader": (
        ["The Notebook", "Me Before You", "Outlander", "The Duke and I", "Vision in White"],
        [],
        [],
        {"Romance"},
    ),
    "a reader of science": (
        ["A Brief History of Time", "Cosmos", "The Selfish Gene", "A Short History of Nearly Everything", "The Double Helix"],
        [],
        [],
        {"Science & Nature", "Technology & Computing", "Psychology & Health", "Philosophy", "History"},
    ),
    "a reader of classics": (
        ["Jane Eyre", "Crime and Punishment", "Great Expectations", "Anna Karenina", "Wuthering Heights"],
        [],
        [],
        {"Classics"},
    ),
    "a reader with only dislikes": (
        [],
        ["Twilight", "City of Bones", "Divergent", "Hush, Hush", "Fallen"],
        [],
        {"Young Adult", "Paranormal"},
    ),
    "a reader who prefers Poetry and Science Fiction": ([], [], ["Poetry", "Science Fiction"], {"Poetry", "Science Fiction"}),
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
    world, own = popularities(books, readers)
    products = {"fresh": Product(tool, books, world, []), "trained": Product(tool, books, own, readers)}
    for name, (likes, dislikes, preferred, suitable) in READERS.items():
        signals = [(find(books, title), LIKE) for title in likes] + [(find(books, title), DISLIKE) for title in dislikes]
        for installation, product in products.items():
            [cards] = product.rank([signals], 20, preferred)
            near = sum(bool(suitable & set(books[card]["genres"][:3])) for card in cards)
            print(f"\n## {name[0].upper()}{name[1:]}, {installation}: {near} of 20 in {', '.join(sorted(suitable))}\n")
            print("\n".join(f"{position:2}. {line(books[card])}" for position, card in enumerate(cards, 1)))


if __name__ == "__main__":
    main()
