"""Random operations for any schema, with values for their results and variables."""

from chance import Chance

from graphql import (GraphQLEnumType, GraphQLInputObjectType, GraphQLInterfaceType, GraphQLObjectType, GraphQLScalarType,
                     GraphQLUnionType, is_composite_type, is_input_type, is_list_type, is_non_null_type)

LITERALS = {'Int': ['0', '7', '-3', '2147483647'], 'Float': ['1', '-1.5', '2e3', '0.25'], 'String': ['"s"', '""', '"""b"""', '"\\u{1F600}"'],
            'Boolean': ['true', 'false'], 'ID': ['"i"', '7']}
VALUES = {'Int': [0, 7, -3, 2147483647, 1.0], 'Float': [1, -1.5, 0.25], 'String': ['s', '', '\U0001F600"'],
          'Boolean': [True, False], 'ID': ['i', 7]}
CUSTOM = ['1', '"s"', 'ENUM', '[1, null]', '{a: {b: [true]}}', '1.5']
WRONG = ['null', '1', '1.5', '"x"', 'true', 'A0', 'B9', '[]', '[null]', '{}', '{g0: null}', '{g0: 1, g1: "x"}', '2147483648', '[[1]]',
         '$nope']


def fields_of(type_):
    return type_.fields if isinstance(type_, (GraphQLObjectType, GraphQLInterfaceType)) else {}


class Operations(Chance):
    """Generates one document for a schema: an operation with variables and nested fragments."""

    def __init__(self, schema, seed, errors=0.0):
        super().__init__(seed, errors)
        self.schema = schema

    def document(self):
        self.variables, self.fragments, self.open_fragments = {}, {}, []
        roots = [(kind, root) for kind, root in (('query', self.schema.query_type), ('mutation', self.schema.mutation_type),
                                                 ('subscription', self.schema.subscription_type)) if root]
        kind, root = self.pick(roots)
        self.kind = kind
        body = self.selections(root, 0)
        applied = self.directives(kind.upper())
        head = ', '.join('$%s: %s%s%s' % (name, type_, default, self.directives('VARIABLE_DEFINITION', constant=True))
                         for name, (type_, default) in self.variables.items())
        operation = '%s%s%s%s %s' % (kind, ' Op', '(%s)' % head if head else '', applied, body)
        parts = [operation] + list(self.fragments.values())
        self.random.shuffle(parts)
        return '\n'.join(parts)

    def possible(self, type_):
        return [type_] if isinstance(type_, GraphQLObjectType) else self.schema.get_possible_types(type_)

    def selections(self, type_, depth):
        items = [self.selection(type_, depth) for _ in range(self.random.choice([1, 2, 2, 3]))]
        return '{ %s }' % ' '.join(items)

    def selection(self, type_, depth):
        roll = self.random.random()
        if roll < 0.12 and depth < 4:
            return '...%s%s %s' % (self.condition(type_)[0], self.applied('INLINE_FRAGMENT'), self.last(depth))
        if roll < 0.26 and depth < 5:
            return self.spread(type_, depth)
        return self.field(type_, depth)

    def condition(self, type_):
        """Returns ` on T` or nothing, and sets `self.inner` to the type of the selections."""
        self.inner = type_
        if self.chance(0.3):
            return ('',)
        mine = {t.name for t in self.possible(type_)}
        near = [t for t in self.schema.type_map.values() if is_composite_type(t) and not t.name.startswith('__')
                and mine & {p.name for p in self.possible(t)}] or [type_]
        every = [t for t in self.schema.type_map.values() if not t.name.startswith('__')]
        self.inner = self.pick(near if not self.wrong() else every)
        return (' on %s' % self.inner.name,)

    def last(self, depth):
        return self.selections(self.inner, depth + 1)

    def spread(self, type_, depth):
        mine = {t.name for t in self.possible(type_)} if is_composite_type(type_) else set()
        usable = [n for n, (c, _) in getattr(self, 'conditions', {}).items()
                  if n in self.fragments and (mine & c or self.wrong())]
        if usable and self.chance(0.6):
            return '...%s%s' % (self.pick(usable), self.applied('FRAGMENT_SPREAD'))
        if len(self.open_fragments) + len(self.fragments) > 5:
            return self.field(type_, depth)
        name = 'F%d' % (len(self.open_fragments) + len(self.fragments))
        if name in self.fragments or name in self.open_fragments:
            return self.field(type_, depth)
        self.open_fragments.append(name)
        self.condition(type_)
        inner = self.inner
        body = self.selections(inner, depth + 1)
        self.open_fragments.remove(name)
        self.fragments[name] = 'fragment %s on %s%s %s' % (name, inner.name, self.directives('FRAGMENT_DEFINITION'), body)
        if not hasattr(self, 'conditions'):
            self.conditions = {}
        self.conditions[name] = ({t.name for t in self.possible(inner)} if is_composite_type(inner) else set(), inner)
        return '...%s%s' % (name, self.applied('FRAGMENT_SPREAD'))

    def field(self, type_, depth):
        known = fields_of(type_)
        if self.wrong():
            return self.pick(['f%d' % self.random.randrange(9), '__type', '__schema { description }', 'nope { a }'])
        if depth == 0 and self.kind == 'query' and self.chance(0.08):
            return self.introspection()
        if not known or self.chance(0.06):
            return '__typename'
        name = self.pick(known)
        definition = known[name]
        # Fields with arguments mostly get distinct aliases. Other documents test merging.
        alias = 'x%d' % self.random.randrange(999) if definition.args and not self.chance(0.1) else self.pick(['', '', '', 'y'])
        text = (alias + ': ' if alias else '') + name + self.arguments(definition.args) + self.applied('FIELD')
        inner = definition.type
        while hasattr(inner, 'of_type'):
            inner = inner.of_type
        if is_composite_type(inner):
            if depth > 3:
                return text + ' { __typename }'
            return text + ' ' + self.selections(inner, depth + 1)
        return text + (' { a }' if self.wrong() else '')

    def introspection(self):
        """Selects only the schema's own types, because descriptions of built-in types may differ."""
        own = [n for n, t in self.schema.type_map.items() if not n.startswith('__') and n not in LITERALS]
        all_ = self.pick(['', '(includeDeprecated: true)', '(includeDeprecated: false)'])
        input_ = '{ name type { ...TypeRef } isDeprecated deprecationReason }'
        members = ['kind', 'name', 'description', 'isOneOf', 'specifiedByURL', 'ofType { name }', 'interfaces { name kind }',
                   'enumValues%s { name isDeprecated deprecationReason description }' % all_,
                   'inputFields%s %s' % (all_, input_),
                   'fields%s { name description args%s %s type { ...TypeRef } isDeprecated deprecationReason }' % (all_, all_, input_),
                   '__typename', 'k: kind ... on __Type { n: name }']
        body = self.random.sample(members, self.random.randint(1, 5))
        if any('TypeRef' in member for member in body):
            self.fragments['TypeRef'] = 'fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { name } } } }'
        alias = 't%d' % self.random.randrange(999)
        if self.chance(0.2):
            return '%s: __schema { queryType { %s } mutationType { name } subscriptionType { kind name } description }' % (
                alias, ' '.join(body))
        name = '"%s"' % self.pick(own + ['Nope'])
        if self.chance(0.3):
            self.variables['n'] = ('String!', ' = ' + name)
            name = '$n'
        return '%s: __type(name: %s) { %s }' % (alias, name, ' '.join(body))

    def arguments(self, known, constant=False):
        given = []
        for name, argument in known.items():
            if (is_non_null_type(argument.type) and not self.wrong()) or self.chance(0.6):
                given.append('%s: %s' % (name, self.value(argument.type, constant)))
        if self.wrong():
            given.append('nope: 1')
        return '(%s)' % ', '.join(given) if given else ''

    def applied(self, location):
        text = ''
        if self.chance(0.08):
            text = ' @%s(if: %s)' % (self.pick(['skip', 'include']), self.pick(
                ['true', 'false'] + ([self.variable('Boolean!')] if not self.wrong() else [self.variable('Boolean')])))
        return text + self.directives(location)

    def directives(self, location, constant=False):
        known = [d for d in self.schema.directives if d.name not in ('skip', 'include', 'deprecated', 'specifiedBy', 'oneOf')
                 and (location in [l.name for l in d.locations] or self.wrong())]
        if not known or not self.chance(0.3):
            return ''
        directive = self.pick(known)
        text = ' @%s%s' % (directive.name, self.arguments(directive.args, constant))
        return text * 2 if self.wrong() or directive.is_repeatable and self.chance(0.3) else text

    def variable(self, type_):
        same = [n for n, (t, _) in self.variables.items() if t == type_]
        if same and self.chance(0.5):
            return '$' + self.pick(same)
        name = 'v%d' % len(self.variables)
        # Reserve the name before generating the default value.
        self.variables[name] = (type_, '')
        if self.chance(0.3):
            self.variables[name] = (type_, ' = ' + self.typed(type_))
        return '$' + name

    def typed(self, text):
        """Returns a constant of a type that is given as text."""
        if text.endswith('!'):
            return self.typed(text[:-1])
        if text.startswith('['):
            return '[' + ', '.join(self.typed(text[1:-1]) for _ in range(self.random.randint(0, 2))) + ']'
        return self.pick(LITERALS[text]) if text in LITERALS else self.value(self.schema.type_map[text], constant=True)

    def value(self, type_, constant=False, one_of=False, depth=0):
        if not constant and self.chance(0.3):
            wanted = str(type_) + ('!' if (one_of or self.chance(0.2)) and not is_non_null_type(type_) else '')
            return self.variable(wanted if not self.wrong() else self.pick(['Int', 'String!', '[Int]', wanted.rstrip('!')]))
        if self.wrong():
            return self.pick(WRONG)
        if is_non_null_type(type_):
            return self.value(type_.of_type, True, one_of, depth)
        if not one_of and self.chance(0.06):
            return 'null'
        if is_list_type(type_):
            if self.chance(0.15):
                return self.value(type_.of_type, constant, True, depth)
            return '[' + ', '.join(self.value(type_.of_type, constant, False, depth) for _ in range(self.random.randint(0, 2))) + ']'
        if isinstance(type_, GraphQLInputObjectType):
            return self.object(type_, constant, depth)
        if isinstance(type_, GraphQLEnumType):
            return self.pick(type_.values)
        return self.pick(LITERALS.get(type_.name, CUSTOM))

    def object(self, type_, constant, depth):
        if depth > 6:
            # The nesting depth is limited elsewhere.
            return '{}'
        names = [n for n, f in type_.fields.items()
                 if (is_non_null_type(f.type) and not self.wrong()) or self.chance(0.4 if depth < 3 else 0.05)]
        if type_.is_one_of and not self.wrong():
            names = [self.pick(type_.fields)]
        given = ['%s: %s' % (n, self.value(type_.fields[n].type, constant, type_.is_one_of, depth + 1)) for n in names]
        if self.wrong():
            given.append(self.pick(['nope: 1', 'g0: 1']))
        return '{' + ', '.join(given) + '}'


class RandomValues(Chance):
    """Random JSON for the root of a schema and for variables, occasionally of the wrong type."""

    def __init__(self, schema, seed, errors=0.03):
        super().__init__(seed, errors)
        self.schema = schema

    def root(self, kind):
        root = {'query': self.schema.query_type, 'mutation': self.schema.mutation_type,
                'subscription': self.schema.subscription_type}[kind]
        self.size = 0
        return self.object(root, 0)

    def object(self, type_, depth):
        members = {'__typename': type_.name}
        for name, field in type_.fields.items():
            members[name] = {'$args': True} if str(field.type).strip('!') == 'String' and field.args else self.output(
                field.type, depth + 1)
        return members

    def output(self, type_, depth):
        self.size += 1
        if self.wrong():
            return self.pick([None, {'$error': 'No.'}, 'x', 1.5, True, [], {}, [[1]], 4294967296])
        if is_non_null_type(type_):
            return self.output(type_.of_type, depth)
        if depth > 5 or self.size > 400 or self.chance(0.05):
            return None
        if is_list_type(type_):
            return [self.output(type_.of_type, depth) for _ in range(self.random.randint(0, 2))]
        if is_composite_type(type_):
            possible = self.schema.get_possible_types(type_) if not isinstance(type_, GraphQLObjectType) else [type_]
            every = [t for t in self.schema.type_map.values() if isinstance(t, GraphQLObjectType) and not t.name.startswith('__')]
            return self.object(self.pick(possible if possible and not self.wrong() else every), depth)
        if isinstance(type_, GraphQLEnumType):
            return self.pick(type_.values)
        return self.pick(VALUES.get(type_.name, [{'a': [1, None]}, 's', 2]))

    def variables(self, definitions, type_of):
        return {d.variable.name.value: self.input(type_of(d.type), 0) for d in definitions if not self.chance(0.15)}

    def input(self, type_, depth):
        if self.wrong():
            return self.pick([None, 'x', 1.5, True, [], {}, [None], {'g0': None}, {'g0': 1, 'g1': 1}, 4294967296, 'A0', {'nope': 1}])
        if is_non_null_type(type_):
            return self.input(type_.of_type, depth)
        if self.chance(0.06):
            return None
        if is_list_type(type_):
            return self.input(type_.of_type, depth) if self.chance(0.15) else [
                self.input(type_.of_type, depth) for _ in range(self.random.randint(0, 2))]
        if isinstance(type_, GraphQLInputObjectType):
            names = [n for n, f in type_.fields.items() if is_non_null_type(f.type) or self.chance(0.4 if depth < 3 else 0)]
            if type_.is_one_of:
                names = [self.pick(type_.fields)]
            return {n: self.input(type_.fields[n].type, depth + 1) for n in names} if depth < 8 else {}
        if isinstance(type_, GraphQLEnumType):
            return self.pick(type_.values)
        return self.pick(VALUES.get(type_.name, [{'a': [1, None]}, 's', 2]))
