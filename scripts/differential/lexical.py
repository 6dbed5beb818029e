"""Documents that test the lexer: strings with escapes, block strings, numbers, and unusual characters."""

import random

PIECES = [
    '"', '"', '"""', '\\"""', '\\', '\\n', '\\"', '\\/', '\\x', '\\u', '\\u00e9', '\\u0000', '\\uD83D\\uDE00', '\\uD83D',
    '\\uDE00', '\\u{1F600}', '\\u{}', '\\u{D800}', '\\u{110000}', '\\u{0000000041}', '\\u{00000041}', '\\u{41', '\n',
    '\r', '\r\n', '\t', ' ', '  ', '    ', 'a', 'bc', '\u00e9', '\U0001F600', '\u2028', '\ufeff', '\x00', '\x07', '\x7f',
    '#', '# c\n', ',', '.', '...', '0', '1', '-', '-1', '12', '1.5', 'e', 'E+3', '1e-3', '00', '_', '}', '{', '(', ')',
    '[', ']', ':', '$', '@', '!', '|', '&', '=', "'", '?', 'true', 'null', 'on',
]


class Lexical:
    """Generates values of arguments, and occasionally arbitrary text at arbitrary positions."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def document(self):
        style = self.random.randrange(5)
        if style == 0:
            return self.pieces(12)
        value = [self.quoted, self.block, self.number, lambda: self.pieces(4)][style - 1]()
        return self.random.choice([
            '{ a(b: %s) }', '{ a(b: [%s 1]) }', '%s type A { a: B }', 'query ($a: T = %s) { b }',
            '%s query ($a: T) { b }', 'query (%s $a: T) { b }', '%s fragment A on B { c }', '%s { a }',
            'type A { %s b(%s c: D): E } enum F { %s G }',
        ]).replace('%s', value)

    def pieces(self, most):
        return ''.join(self.random.choice(PIECES) for _ in range(self.random.randint(0, most)))

    def quoted(self):
        inner = ''.join(p for p in (self.random.choice(PIECES) for _ in range(self.random.randint(0, 6)))
                        if self.random.random() < 0.1 or p not in ('"', '"""', '\n', '\r', '\r\n', '\\'))
        return '"%s"' % inner

    def block(self):
        lines = [self.random.choice(['', ' ', '  ', '    ', '\t']) + self.random.choice(
            ['', 'a', '\\"""', 'a "" b', '\\n', '\U0001F600', ' b ', '\\', '"x']) for _ in range(self.random.randint(0, 6))]
        return '"""%s%s' % (self.random.choice(['\n', '\r\n', '\r']).join(lines), self.random.choice(['"""', '\n"""']))

    def number(self):
        return ''.join(self.random.choice(['', '-', '0', '1', '23', '.', 'e', 'E', '+', '.5', '_', 'a', '"'])
                       for _ in range(self.random.randint(1, 6)))
