"""Random type-system documents, valid and invalid."""

from chance import Chance

SCALARS = ['Int', 'Float', 'String', 'Boolean', 'ID']
LOCATIONS = ['FIELD', 'QUERY', 'MUTATION', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT', 'FRAGMENT_DEFINITION', 'VARIABLE_DEFINITION', 'FIELD_DEFINITION', 'ARGUMENT_DEFINITION', 'OBJECT', 'ENUM_VALUE', 'INPUT_OBJECT',
             'INPUT_FIELD_DEFINITION', 'SCALAR', 'SCHEMA', 'UNION', 'INTERFACE', 'ENUM']


class Schemas(Chance):
    """Generates type-system documents from a seed."""

    def __init__(self, seed, errors=0.01):
        super().__init__(seed, errors)

    def document(self):
        r = self.random
        count = lambda low, high: r.randint(low, high)
        self.interfaces = {'I%d' % i: None for i in range(count(0, 3))}
        self.objects = ['Query'] + ['T%d' % i for i in range(count(0, 4))]
        self.unions = ['U%d' % i for i in range(count(0, 2))]
        self.enums = ['E%d' % i for i in range(count(0, 2))]
        self.inputs = ['In%d' % i for i in range(count(0, 4))]
        self.scalars = ['S%d' % i for i in range(count(0, 2))]
        self.directives = {'d%d' % i: None for i in range(count(0, 3))}
        parts = []
        for name in self.directives:
            locations = r.sample(LOCATIONS, count(1, 5))
            # graphql-core 3.2 does not check the arguments of directives in SDL, so they are valid
            # leaves only.
            arguments = {'a%d' % i: self.wrap(self.pick(SCALARS)) for i in range(count(0, 2))}
            repeatable = self.chance(0.3)
            self.directives[name] = (arguments, locations, repeatable)
        for name, (arguments, locations, repeatable) in self.directives.items():
            parts.append('directive @%s%s%s on %s' % (
                name if not self.wrong() else '__' + name, self.argument_definitions(arguments),
                ' repeatable' if repeatable else '', ' | '.join(locations)))
        for name in self.interfaces:
            fields = {'f%d' % r.randrange(6): (self.output_type(), {'a%d' % r.randrange(3): self.input_type()
                                                                 for _ in range(count(0, 1))})
                      for _ in range(count(1, 3))}
            bases = []
            for base, known in self.interfaces.items():
                if known and self.chance(0.3):
                    bases.append(base)
            for base in list(bases):
                for higher in self.interfaces[base][1]:
                    if higher not in bases and not self.wrong():
                        bases.append(higher)
            for base in bases:
                fields.update(self.interfaces[base][0])
            self.interfaces[name] = (fields, bases)
            parts.append(self.fields_type('interface', name, bases, fields))
        for name in self.objects:
            bases = [b for b in self.interfaces if self.chance(0.35)]
            for base in list(bases):
                for higher in self.interfaces[base][1]:
                    if higher not in bases and not self.wrong():
                        bases.append(higher)
            fields = {'f%d' % r.randrange(9): (self.output_type(), {'a%d' % r.randrange(3): self.input_type()
                                                                 for _ in range(count(0, 2))})
                      for _ in range(count(1, 4))}
            for base in bases:
                if not self.wrong():
                    fields.update(self.interfaces[base][0])
            if self.wrong():
                bases.append(self.pick(self.objects + self.unions + list(self.interfaces) + ['Nope']))
            parts.append(self.fields_type('type', name, bases, fields))
        for name in self.unions:
            members = r.sample(self.objects, count(1, len(self.objects)))
            if self.wrong():
                members.append(self.pick(self.objects + list(self.interfaces) + self.enums + ['Int', 'Nope']))
            parts.append('union %s%s = %s' % (name, self.applied('UNION'), ' | '.join(members)))
        for name in self.enums:
            values = ['A%d' % i for i in range(count(1, 4))]
            if self.wrong():
                values.append(self.pick(values + ['__A']))
            parts.append('enum %s%s { %s }' % (name, self.applied('ENUM'), ' '.join(
                v + self.applied('ENUM_VALUE') for v in values)))
        for name in self.inputs:
            one = self.chance(0.2)
            fields = []
            for i in range(count(1, 3)):
                type_ = self.input_type()
                if one and not self.wrong():
                    type_ = type_.rstrip('!')
                default = '' if one and not self.wrong() else self.default(type_, name)
                fields.append('%sg%d: %s%s%s' % (self.description(), i, type_, default, self.applied('INPUT_FIELD_DEFINITION')))
            parts.append('input %s%s%s { %s }' % (name, ' @oneOf' if one else '', self.applied('INPUT_OBJECT'), ' '.join(fields)))
        for name in self.scalars:
            parts.append('scalar %s%s' % (name, ' @specifiedBy(url: "https://example.com/%s")' % name if self.chance(0.5)
                                          else self.applied('SCALAR')))
        if self.chance(0.3):
            roots = ['query: Query'] + (['mutation: ' + self.pick(self.objects[1:])] if len(self.objects) > 1 and self.chance(0.4) else [])
            if self.wrong():
                roots.append(self.pick(['query: Query', 'subscription: ' + self.pick(self.objects + self.enums), 'mutation: Nope']))
            parts.append('schema%s { %s }' % (self.applied('SCHEMA'), ' '.join(roots)))
        if self.chance(0.2):
            parts.append(self.extension())
        if self.wrong() and parts:
            parts.append(self.pick(parts))
        r.shuffle(parts)
        return self.pick(['\n', '\n\n']).join(parts)

    def extension(self):
        name = self.pick(self.objects + list(self.interfaces) + self.enums + self.inputs + self.scalars)
        if self.chance(0.9):
            if name in self.objects:
                return 'extend type %s { extra: Int }' % name
            if name in self.interfaces:
                return 'extend interface %s%s' % (name, ' { extra: Int }' if self.wrong() else ' @tagged' if self.wrong() else ' { f0: Int }' if self.wrong() else ' @deprecated' if self.wrong() else ' { z: Int }' if self.wrong() else ' @include(if: true)' if self.wrong() else ' @skip(if: true)')
            if name in self.enums:
                return 'extend enum %s { EXTRA %s }' % (name, 'A0' if self.wrong() else '')
            if name in self.inputs:
                return 'extend input %s { extra: Int }' % name
            return 'extend scalar %s @specifiedBy(url: "x")' % name
        return self.pick(['extend type Nope { a: Int }', 'extend enum %s { B }' % name, 'extend union Query = T0',
                          'extend input %s { b: Int }' % name, 'extend type Quer { a: Int }'])

    def fields_type(self, keyword, name, bases, fields):
        items = []
        for field, (type_, arguments) in fields.items():
            if self.wrong():
                field = self.pick(list(fields) + ['__f'])
            items.append('%s%s%s: %s%s' % (self.description(), field, self.argument_definitions(arguments), type_,
                                          self.applied('FIELD_DEFINITION')))
        return '%s%s %s%s%s { %s }' % (self.description(), keyword, name,
                                       ' implements ' + ' & '.join(bases) if bases else '',
                                       self.applied('OBJECT' if keyword == 'type' else 'INTERFACE'), ' '.join(items))

    def argument_definitions(self, arguments):
        if not arguments:
            return ''
        items = ['%s: %s%s%s' % (n if not self.wrong() else self.pick(list(arguments) + ['__a']), t, self.default(t),
                                 self.applied('ARGUMENT_DEFINITION')) for n, t in arguments.items()]
        return '(' + ', '.join(items) + ')'

    def applied(self, location):
        if not self.chance(0.07):
            return ''
        if location in ('FIELD_DEFINITION', 'ENUM_VALUE', 'ARGUMENT_DEFINITION', 'INPUT_FIELD_DEFINITION') and self.chance(0.3):
            return ' @deprecated' + ('(reason: "old")' if self.chance(0.5) else '')
        known = [d for d, (a, l, r) in self.directives.items() if location in l] if not self.wrong() else list(self.directives) + ['nope']
        if not known:
            return ''
        name = self.pick(known)
        arguments = self.directives.get(name, ({}, [], False))[0]
        given = ', '.join('%s: %s' % (n, self.literal(t)) for n, t in arguments.items() if not self.wrong())
        text = ' @' + name + ('(%s)' % given if given else '')
        return text * 2 if self.wrong() else text

    def description(self):
        return self.pick(['"about" ', '"""\n  about\n    this\n""" ', '"" ', '"\\u{1F4D6} \\\\" ']) if self.chance(0.05) else ''

    def wrap(self, name):
        roll = self.random.random()
        return (name if roll < 0.5 else name + '!' if roll < 0.7 else '[%s]' % name if roll < 0.8 else
                '[%s!]' % name if roll < 0.9 else '[%s!]!' % name)

    def output_type(self):
        names = SCALARS + self.objects + list(self.interfaces) + self.unions + self.enums + self.scalars
        if self.wrong():
            names = self.inputs + ['Nope', 'Strng']
        return self.wrap(self.pick(names))

    def input_type(self):
        names = SCALARS + self.enums + self.scalars + self.inputs * 2
        if self.wrong():
            names = self.objects + ['Nope', 'In']
        return self.wrap(self.pick(names))

    def default(self, type_, within=None):
        """Returns a default value. Defaults of input fields omit fields only of later input objects, so that cycles are rare."""
        named = type_.strip('[]!')
        if not self.chance(0.15) or (named in self.inputs and within and named <= within and not self.wrong()):
            return ''
        return ' = ' + (self.literal(type_) if not self.wrong() else self.pick(['null', '1', '"s"', '{}', '[]', '[[1]]', '{g0: {}}', 'A9']))

    def literal(self, type_):
        if type_.endswith('!'):
            return self.literal(type_[:-1])
        if type_.startswith('['):
            return '[' + ', '.join(self.literal(type_[1:-1]) for _ in range(self.random.randint(0, 2))) + ']'
        if type_ in self.enums:
            return 'A0'
        return {'Int': '3', 'Float': '1.5', 'String': '"s"', 'Boolean': 'true', 'ID': '"i"'}.get(type_, '{}' if type_ in self.inputs else '1')
