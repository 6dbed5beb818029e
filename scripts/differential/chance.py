"""What the generators of documents share: chance, from one seed."""

import random


class Chance:
    """Random choices, and now and then a mistake."""

    def __init__(self, seed, errors=0.0):
        self.random = random.Random(seed)
        self.errors = errors

    def chance(self, p):
        return self.random.random() < p

    def wrong(self):
        return self.chance(self.errors)

    def pick(self, options):
        return self.random.choice(list(options))
