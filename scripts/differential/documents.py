"""Random executable documents, mostly valid, with occasional errors."""

import re

from chance import Chance

SCHEMA = '''
directive @onField(note: String, level: Int! = 1) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @onQuery(if: Boolean!) on QUERY | MUTATION | SUBSCRIPTION | FRAGMENT_DEFINITION | VARIABLE_DEFINITION
directive @tag(name: String!) repeatable on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT | QUERY

interface Node { id: ID! }
interface Named implements Node { id: ID! name: String nick(style: Style = SHORT): String }
type Book implements Named & Node {
  id: ID! name: String nick(style: Style = SHORT): String title: String! pages: Int price: Float
  tags: [String!]! author: Author similar(first: Int = 10, filter: Filter): [Book!]! read: Boolean
}
type Author implements Named & Node {
  id: ID! name: String nick(style: Style = SHORT): String age: Int books(first: Int!, filter: Filter): [Book]
  friend: Author title: Int
}
type Shelf implements Node { id: ID! items: [Item!]! owner: Author label: [String] }
union Item = Book | Author
scalar Anything
enum Style { SHORT LONG FORMAL }
input Filter { text: String style: Style = SHORT limit: Int! = 5 any: Anything not: Filter range: Range ids: [ID!] }
input Range { min: Int! max: Float }
input Pick @oneOf { id: ID name: String range: Range }
type Query {
  node(id: ID!): Node book(id: ID!): Book author: Author items(filter: Filter, pick: Pick): [Item!]!
  named: Named shelf: Shelf anything(value: Anything): Anything count(of: [Int!]!, flag: Boolean = false): Int!
  matrix(rows: [[Int]]): [[Float]]
  echo(int: Int = 7, float: Float, string: String, id: ID, flag: Boolean, style: Style, filter: Filter, range: Range,
    ids: [[ID!]], numbers: [[Int!]!] = [[1]], pick: Pick, picks: [Pick!], any: Anything = {a: [1, A]}, not: Int!= 3): String
}
type Mutation { rename(id: ID!, to: String!): Named drop(ids: [ID!]!): Boolean! }
type Subscription { changed(id: ID): Item ticked: Int! }
'''

FIELDS = {
    'Node': {'id': 'ID!'},
    'Named': {'id': 'ID!', 'name': 'String', 'nick': 'String'},
    'Book': {'id': 'ID!', 'name': 'String', 'nick': 'String', 'title': 'String!', 'pages': 'Int', 'price': 'Float',
             'tags': '[String!]!', 'author': 'Author', 'similar': '[Book!]!', 'read': 'Boolean'},
    'Author': {'id': 'ID!', 'name': 'String', 'nick': 'String', 'age': 'Int', 'books': '[Book]', 'friend': 'Author',
               'title': 'Int'},
    'Shelf': {'id': 'ID!', 'items': '[Item!]!', 'owner': 'Author', 'label': '[String]'},
    'Item': {},
    'Query': {'node': 'Node', 'book': 'Book', 'author': 'Author', 'items': '[Item!]!', 'named': 'Named',
              'shelf': 'Shelf', 'anything': 'Anything', 'count': 'Int!', 'matrix': '[[Float]]', 'echo': 'String'},
    'Mutation': {'rename': 'Named', 'drop': 'Boolean!'},
    'Subscription': {'changed': 'Item', 'ticked': 'Int!'},
}
ARGUMENTS = {
    'nick': {'style': 'Style'}, 'similar': {'first': 'Int', 'filter': 'Filter'},
    'books': {'first': 'Int!', 'filter': 'Filter'}, 'node': {'id': 'ID!'}, 'book': {'id': 'ID!'},
    'items': {'filter': 'Filter', 'pick': 'Pick'}, 'anything': {'value': 'Anything'},
    'count': {'of': '[Int!]!', 'flag': 'Boolean'}, 'matrix': {'rows': '[[Int]]'},
    'echo': {'int': 'Int', 'float': 'Float', 'string': 'String', 'id': 'ID', 'flag': 'Boolean', 'style': 'Style',
             'filter': 'Filter', 'range': 'Range', 'ids': '[[ID!]]', 'numbers': '[[Int!]!]', 'pick': 'Pick', 'picks': '[Pick!]',
             'any': 'Anything', 'not': 'Int!'},
    'rename': {'id': 'ID!', 'to': 'String!'}, 'drop': {'ids': '[ID!]!'}, 'changed': {'id': 'ID'},
}
INPUTS = {
    'Filter': {'text': 'String', 'style': 'Style', 'limit': 'Int!', 'any': 'Anything', 'not': 'Filter',
               'range': 'Range', 'ids': '[ID!]'},
    'Range': {'min': 'Int!', 'max': 'Float'},
    'Pick': {'id': 'ID', 'name': 'String', 'range': 'Range'},
}
TYPES = ['Int', 'Int!', 'Float', 'String', 'String!', 'ID', 'ID!', 'Boolean', 'Boolean!', 'Style', 'Filter', 'Range!',
         '[Int!]!', '[Int]', '[ID!]', '[[Int]]', 'Anything', 'Pick', '[Pick!]', 'Pick!', '[[Int!]!]', '[[ID!]]', 'Range', 'Book', 'Nowhere',
         'Item!']
COMPOSITES = ['Node', 'Named', 'Book', 'Author', 'Shelf', 'Item', 'Query']
ODD_NAMES = ['titel', 'nam', 'Bok', 'ids', 'foo', 'nickname', 'page', '__schema', 'SHRT', 'autor', 'Filtr', 'ID_']


class Documents(Chance):
    """Generates documents for SCHEMA from a seed."""

    def __init__(self, seed, errors=0.03):
        super().__init__(seed, errors)

    def document(self):
        r = self.random
        self.fragments = ['F%d' % i for i in range(r.randint(0, 4))]
        parts = []
        for i in range(1 if self.chance(0.8) else r.randint(1, 3)):
            parts.append(self.operation(i))
        for i, name in enumerate(self.fragments):
            self.depth = 0
            # Most spreads refer to later fragments, so that cycles are rare.
            self.usable = self.fragments if self.wrong() else self.fragments[i + 1:]
            type_ = self.pick(COMPOSITES if not self.wrong() else ['Style', 'Nowhere', 'Filter'])
            name = self.pick(self.fragments) if self.wrong() else name
            parts.append('fragment %s on %s%s %s' % (name, type_, self.directives('FRAGMENT_DEFINITION'),
                                                    self.selections(type_)))
        if self.wrong():
            parts.append(self.pick(['type Odd { a: Int }', 'extend schema { query: Query }', 'scalar Odd',
                                    'directive @odd on FIELD']))
        r.shuffle(parts)
        return self.pick(['\n', '\n\n', ' ']).join(parts)

    def operation(self, index):
        r = self.random
        self.depth = 0
        self.usable = self.fragments
        kind, root = self.pick([('query', 'Query')] * 6 + [('mutation', 'Mutation'), ('subscription', 'Subscription')])
        self.variables = []
        head = kind
        if index or self.chance(0.6):
            head += ' ' + ('Q%d' % index if not self.wrong() else 'Q0')
        elif kind == 'query' and self.chance(0.5):
            return self.selections(root)
        for i in range(r.randint(0, 3)):
            self.variables.append(('v%d' % (i if not self.wrong() else 0), self.pick(TYPES[:-3] if not self.wrong() else TYPES)))
        if self.variables:
            head += '(' + ', '.join('$%s: %s%s%s' % (n, t, ' = ' + self.constant(t) if self.chance(0.2) else '',
                                                   self.directives('VARIABLE_DEFINITION'))
                                    for n, t in self.variables) + ')'
        return head + self.directives(kind.upper()) + ' ' + self.selections(root)

    def directives(self, location):
        text = ''
        if self.chance(0.08):
            allowed = {'FIELD': ['@onField', '@skip(if: true)', '@include(if: false)', '@tag(name: "a")',
                                 '@onField(note: "x", level: 2)'],
                       'VARIABLE_DEFINITION': ['@onQuery(if: true)']}.get(location, ['@onQuery(if: true)'])
            if location in ('FRAGMENT_SPREAD', 'INLINE_FRAGMENT'):
                allowed = ['@onField', '@skip(if: true)', '@tag(name: "b")']
            odd = ['@nowhere', '@skip', '@onField(level: "1")', '@onField(nope: 1)', '@deprecated', '@onQuery(if: 1)',
                   '@tag(name: 1)', '@onField(note: "a", note: "b")', '@skip(if: null)', '@include(if: [true])']
            for _ in range(self.random.randint(1, 2)):
                text += ' ' + self.pick(allowed if not self.errors or not self.chance(0.15) else odd)
        return text

    def selections(self, type_, top=True):
        self.depth += 1
        items = [self.selection(type_) for _ in range(self.random.choice([1, 1, 2, 2, 3, 4]))]
        self.depth -= 1
        return '{ ' + self.pick([' ', ' ', '\n  ', ', ']).join(items) + ' }'

    def selection(self, type_):
        roll = self.random.random()
        if roll < 0.12 and self.usable:
            name = self.pick(self.usable) if not self.wrong() else 'Unknown'
            return '...' + name + self.directives('FRAGMENT_SPREAD')
        if roll < 0.25 and self.depth < 5:
            on = self.pick(COMPOSITES if not self.wrong() else ['Style', 'Nowhere', 'Int'])
            if self.chance(0.3):
                return '...' + self.directives('INLINE_FRAGMENT') + ' ' + self.selections(type_)
            if not self.chance(0.2):
                on = self.pick({'Item': ['Book', 'Author', 'Named'], 'Node': ['Book', 'Shelf', 'Author', 'Named'],
                                'Named': ['Book', 'Author', 'Node']}.get(type_, [type_]))
            return '... on ' + on + self.directives('INLINE_FRAGMENT') + ' ' + self.selections(on)
        return self.field(type_)

    def field(self, type_):
        fields = FIELDS.get(type_, {})
        if not fields or self.chance(0.05):
            name, of = '__typename', 'String!'
        elif self.wrong():
            name, of = self.pick(ODD_NAMES), 'String'
        else:
            name = self.pick(fields)
            of = fields[name]
        text = name
        # graphql-core does not compare the types of introspection fields with those of other fields.
        if self.chance(0.12) and not name.startswith('__'):
            text = self.pick(['a', 'b', 'name', 'title', 'id']) + ': ' + text
        text += self.arguments(ARGUMENTS.get(name, {}))
        text += self.directives('FIELD')
        inner = of.strip('[]!')
        composite = inner in FIELDS
        if composite != self.wrong():
            if composite and self.depth > 6:
                return text + ' { __typename }'
            text += ' ' + self.selections(inner if composite else 'Book')
        return text

    def arguments(self, known):
        given = []
        for name, type_ in known.items():
            if (type_.endswith('!') and not self.wrong()) or self.chance(0.35):
                given.append((name, self.value(type_)))
        if self.wrong():
            given.append((self.pick(ODD_NAMES + list(known)), self.value('Int')))
        return '(' + ', '.join('%s: %s' % pair for pair in given) + ')' if given else ''

    def value(self, type_):
        if getattr(self, 'variables', None) and self.chance(0.25):
            same = [n for n, t in self.variables if t == type_]
            if same or self.errors:
                return '$' + self.pick(same if same and not self.wrong() else [n for n, _ in self.variables])
        if self.errors and self.chance(0.02):
            return '$' + self.pick(['v0', 'nope'])
        return self.constant(type_, self.value)

    def constant(self, type_, inner=None):
        inner = inner or self.constant
        if self.wrong():
            type_ = self.pick(TYPES[:-3])
        if type_.endswith('!'):
            return self.constant(type_[:-1], inner) if not self.wrong() else 'null'
        if self.chance(0.05):
            return 'null'
        if type_.startswith('['):
            if self.chance(0.2):
                return inner(type_[1:-1])
            if self.chance(0.05) and type_.startswith('[['):
                return '[' + ', '.join(inner(type_.strip('[]!')) for _ in range(self.random.randint(0, 3))) + ']'
            return '[' + ', '.join(inner(type_[1:-1]) for _ in range(self.random.randint(0, 3))) + ']'
        if type_ in INPUTS:
            return self.object(type_, inner)
        return {
            'Int': lambda: self.pick(['0', '1', '-7', '2147483647', '2147483648', '100'] if self.wrong() else ['1', '42']),
            'Float': lambda: self.pick(['1', '1.5', '-2e10', '0.0', '-0', '1e-7', '1E+2', '123456789012345678']),
            'String': lambda: self.pick(['"a"', '"b c"', '""', '"""block"""', '"\\u00e9"', '"\\"q\\""']),
            'ID': lambda: self.pick(['"x"', '7', '-0', '12345678901234567890']),
            'Boolean': lambda: self.pick(['true', 'false']),
            'Style': lambda: self.pick(['SHORT', 'LONG', 'FORMAL'] if not self.wrong() else ['SHRT', '"SHORT"', 'long']),
            'Anything': lambda: self.pick(['1', '"s"', '{a: [1, {b: null}]}', 'ENUM', '[true]', '1.5', '{}']),
        }[type_]() if type_ not in ('Book', 'Nowhere', 'Item') else '1'

    def object(self, type_, inner):
        fields = INPUTS[type_]
        given = []
        if type_ == 'Pick':
            names = [self.pick(fields)] if not self.wrong() else self.random.sample(list(fields), 2)
        else:
            names = [n for n, t in fields.items() if (t.endswith('!') and not self.wrong()) or self.chance(0.2)]
        if self.depth > 8:
            names = [n for n in names if n != 'not']
        self.depth += 1
        for name in names:
            given.append('%s: %s' % (name, inner(fields[name])))
        self.depth -= 1
        if self.wrong():
            given.append('%s: 1' % self.pick(ODD_NAMES + list(fields)))
        return '{' + ', '.join(given) + '}'


def mutated(text, rng):
    """Returns the text with a few characters or tokens changed, to test the parser."""
    if rng.random() < 0.2:
        # Place names and tokens across the boundaries of the blocks that the lexer reads at once.
        words = re.findall(r'[A-Za-z_]+', text)
        if words:
            long = rng.choice(words) + '_' * rng.choice([7, 8, 9, 14, 15, 16, 22, 23, 24, 54, 60, 64])
            text = re.sub(r'\b%s\b' % rng.choice(words), long, text, count=rng.randint(1, 3))
        text = ' ' * rng.randint(0, 70) + text
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(text) + 1)
        roll = rng.random()
        if roll < 0.3 and text:
            j = min(len(text), i + rng.randint(1, 4))
            text = text[:i] + text[j:]
        elif roll < 0.8:
            text = text[:i] + rng.choice(
                ['{', '}', '(', ')', '[', ']', '!', '$', '@', ':', '=', '|', '&', '...', '..', '"', '"""', '\\', '#', '\n',
                 '\r\n', '\r', ',', ' ', '\t', '\ufeff', 'é', '😀', '\u2028', '0', '01', '1.', '1e', '-', '-1', '.5',
                 '1.5e+3', '0x1', '1a', 'on', 'null', 'true', 'fragment', 'query', 'extend', 'type', 'input', 'schema',
                 'repeatable', 'implements', '"\\u{1F600}"', '"\\uD83D\\uDE00"', '"\\uD800"', '"\\u{110000}"', '"\\x"',
                 '"a\nb"', '"""\n  a\n    b\n"""', '\x00', '\x07', '&&', '?', '~', '%']) + text[i:]
        else:
            words = text.split(' ')
            rng.shuffle(words)
            text = ' '.join(words)
    return text
