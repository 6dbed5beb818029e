"""The base class of the document generators."""

import random


class Chance:
    """Random choices from a seed, with occasional errors."""

    def __init__(self, seed, errors=0.0):
        self.random = random.Random(seed)
        self.errors = errors

    def chance(self, p):
        return self.random.random() < p

    def wrong(self):
        return self.chance(self.errors)

    def pick(self, options):
        return self.random.choice(list(options))
