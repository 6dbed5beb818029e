"""Sends generated documents to graphql-tool and graphql-core, and prints the differences between their results."""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys

from graphql import (GraphQLError, Undefined, build_ast_schema, build_schema, execute, introspection_from_schema,
                     is_input_object_type, parse, print_ast, type_from_ast, validate, validate_schema, value_from_ast)
from graphql.language import REMOVE, Visitor, ast as nodes, visit
from graphql.validation.validate import validate_sdl

from documents import FIELDS, INPUTS, SCHEMA, Documents, mutated
from generic import Operations, RandomValues
from lexical import Lexical
from schemas import Schemas


class Tool:
    """A graphql-tool process that executes one request per line."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ['GRAPHQL_TOOL'], 'batch'], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, encoding='utf-8')

    def send(self, **request):
        self.process.stdin.write(json.dumps(request) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit('graphql-tool exited on the request ' + json.dumps(request))
        return json.loads(line)


def normalized(message):
    """Returns a message in a common format. graphql-core formats values like Python."""
    message = message.replace("'", '"').replace('None', 'null')
    message = message.replace('True', 'true').replace('False', 'false').replace('to be a mapping', 'to be an object')
    message = message.replace('{"$error":"No."}', '<exception GraphQLError>')
    # The rest of the message is about resolving types in a program, which does not apply to JSON.
    message = re.sub(r'(^Abstract type .* at runtime for field "[^"]*").*', r'\1', message)
    # graphql-tool formats the values of variables like JavaScript, graphql-core like Python.
    message = re.sub(r'(?<=[{,]) ?"(\w+)": ?', r' \1: ', message)
    message = re.sub(r'(?<=[^{ ])}', ' }', message)
    # It writes no space after the commas of results.
    message = re.sub(r',(?=\S)', ', ', message)
    return re.sub(r'may not be used on ([a-z ]+)\.',
                  lambda match: 'may not be used on %s.' % match[1].upper().replace(' ', '_'), message)


def location(source, offset):
    """Returns the line and column (UTF-16) of an offset in code points.

    graphql-core counts columns in code points, and miscounts some lines after a carriage return.
    """
    before = source[:offset]
    lines = before.replace('\r\n', '\n').replace('\r', '\n').split('\n')
    if before.endswith('\r') and source[offset:offset + 1] == '\n':
        lines.pop()
    return len(lines), len(lines[-1].encode('utf-16-le')) // 2 + 1


def core_errors(source, errors):
    found = []
    for error in errors:
        offsets = error.positions or []
        found.append((normalized(error.message), tuple(location(source, offset) for offset in offsets)))
    return collections.Counter(found)


def tool_errors(errors):
    return collections.Counter(
        (normalized(e['message']), tuple((l['line'], l['column']) for l in e['locations'])) for e in errors)


def without(errors, pattern):
    """Returns the errors whose messages do not match the pattern."""
    return collections.Counter({key: n for key, n in errors.items() if not re.search(pattern, key[0])})


class Parse:
    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        rng = random.Random(seed)
        text = Documents(seed).document() if seed % 3 else Schemas(seed).document()
        return mutated(text, rng) if rng.random() < 0.7 else text

    def differences(self, source):
        response = self.tool.send(op='parse', source=source)
        try:
            document = parse(source)
        except GraphQLError as error:
            expected = core_errors(source, [error])
            found = tool_errors(response.get('errors', []))
            return None if expected == found else (expected, found or 'a document')
        if 'ast' not in response:
            return 'a document', response['errors']
        expected = tree(document, offsets(source))
        return None if expected == response['ast'] else first_difference(expected, response['ast'])


class Lex(Parse):
    def document(self, seed):
        return Lexical(seed).document()


class Print:
    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        return [Documents, Schemas, Lexical][seed % 3](seed).document()

    def differences(self, source):
        try:
            expected = print_ast(parse(source))
        except GraphQLError:
            return None
        found = self.tool.send(op='print', source=source).get('text')
        return None if expected == found else (expected, found)


def offsets(source):
    """Returns the UTF-16 offset of each code point."""
    table, total = [], 0
    for character in source:
        table.append(total)
        total += 2 if ord(character) > 0xFFFF else 1
    return table + [total]


def tree(node, table):
    """Returns a node of graphql-core in the format of graphql-js."""
    if isinstance(node, (list, tuple)):
        return [tree(item, table) for item in node]
    if not isinstance(node, nodes.Node):
        return node.value if hasattr(node, 'value') else node
    kind = ''.join(part.capitalize() for part in node.kind.split('_'))
    result = {'kind': kind, 'loc': {'start': table[node.loc.start], 'end': table[node.loc.end]}}
    for key in node.keys:
        if key == 'loc' or (node.kind, key) == ('directive_definition', 'directives'):
            # Directives on directive definitions are not part of the September 2025 edition.
            continue
        value = getattr(node, key, None)
        if value is None:
            if key in ('block',):
                result[key] = False
            continue
        parts = key.split('_')
        result[parts[0] + ''.join(part.capitalize() for part in parts[1:])] = tree(value, table)
    return result


def first_difference(left, right, path=''):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(set(left) | set(right)):
            if left.get(key) != right.get(key):
                return first_difference(left.get(key), right.get(key), path + '.' + key)
    if isinstance(left, list) and isinstance(right, list):
        for index, (one, other) in enumerate(zip(left, right)):
            if one != other:
                return first_difference(one, other, '%s[%d]' % (path, index))
    return '%s: %r' % (path, left), '%r' % (right,)


class Validate:
    def __init__(self, tool):
        self.tool = tool
        self.sdl, self.schema = SCHEMA, build_schema(SCHEMA)

    def document(self, seed):
        return Documents(seed, errors=random.Random(seed).choice([0, 0.01, 0.03, 0.1])).document()

    def differences(self, source):
        response = self.tool.send(op='validate', schema=self.sdl, source=source)
        assert 'phase' not in response, response
        try:
            expected = core_errors(source, validate(self.schema, parse(source)))
        except GraphQLError:
            # graphql-core evaluates @skip and @include of subscriptions, even of the wrong type.
            return None
        found = tool_errors(response['errors'])
        if any(re.search('cannot condition on non composite type|Field "__typename" must not have a selection', message)
               for message, _ in found):
            # graphql-core differs for `__typename` with a selection set: it compares a fragment of
            # unknown type that spreads itself with itself, and it compares such a selection set
            # with a fragment only once, so that conflicts of its fields are not reported again.
            expected, found = (without(counted, 'Fields ".*" conflict') for counted in (expected, found))
        # graphql-core and graphql-js do not check the variable if the OneOf type is non-null, as
        # items of lists can be.
        oneof = 'must be non-nullable to be used for OneOf'
        if not without(expected, oneof) - without(found, oneof) and not expected - found:
            expected, found = without(expected, oneof), without(found, oneof)
        if any('must not use `@skip`' in message for message, _ in found):
            # This rule is new in September 2025. graphql-core 3.2 evaluates the directives instead.
            expected, found = (without(counted, 'Subscription') for counted in (expected, found))
        expected, found = truncated(expected), truncated(found)
        return None if expected == found else (expected - found, found - expected)


def truncated(errors):
    """Truncates long errors: graphql-core reports only a part of many conflicts at one location."""
    return collections.Counter(
        (key if len(key[0]) < 1000 and len(key[1]) < 40 else key[0][:900] for key in errors.elements()))


class Schema:
    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        return Schemas(seed, errors=random.Random(seed).choice([0, 0.005, 0.01, 0.05])).document()

    def differences(self, source):
        response = self.tool.send(op='validate', schema=source, source='{ __typename }')
        document = parse(source)
        errors = validate_sdl(document)
        found = tool_errors(response['errors'] if response.get('phase') == 'schema' else [])
        if not errors:
            try:
                errors = validate_schema(build_ast_schema(document, assume_valid_sdl=True))
            except (TypeError, GraphQLError):
                # graphql-core cannot represent a schema with types of the wrong kind.
                return None if found else ('an error', 'none')
        expected = core_errors(source, errors)
        # The following rules are new in September 2025 and not implemented in graphql-core 3.2.
        wrong = {re.match(r'(.*) has invalid default value', message)[1] for message, _ in found if 'invalid default' in message}
        if wrong:
            # There, an input without a valid default value counts as required.
            expected, found = (without(counted, 'includes required argument|Required .* cannot be deprecated|cannot have a default value')
                               for counted in (expected, found))
        # There, a default value is also invalid if it uses another one that is invalid.
        if not expected and not (wrong and wrong <= invalid_defaults(document)) and invalid_defaults(document) != wrong:
            return invalid_defaults(document), wrong
        found = without(found, 'has invalid default value|Invalid circular reference. The default value')
        if any('must be nullable' in message for message, _ in found):
            # A OneOf type with a non-null field is invalid. It is not a cycle if another field can be provided.
            expected, found = (without(counted, 'series of non-null fields') for counted in (expected, found))
        if any('can only be defined once' in message for message, _ in found):
            # It is unspecified which of two definitions with the same name is used.
            found = without(found, 'cannot represent')
            expected, found = (without(counted, 'is required, but it was not provided') for counted in (expected, found))
        found = without(found, 'must not be deprecated.$|must not reference itself, directly|provided a finite value|'
                        'All root types must be different')
        expected, found = normalized_cycles(expected), normalized_cycles(found)
        return None if expected == found else (expected - found, found - expected)


def normalized_cycles(errors):
    """Identifies cycles by their fields, because a OneOf type can change the field at which a cycle is reported to start."""
    return collections.Counter(
        ('cycle', tuple(sorted(places))) if 'series of non-null fields' in message else (message, places)
        for message, places in errors.elements())


def invalid_defaults(document):
    """Returns the coordinates of default values that do not match their types."""
    schema = build_ast_schema(document, assume_valid_sdl=True)
    wrong = set()

    def check(coordinate, input_):
        value = input_.ast_node and input_.ast_node.default_value
        if value and value_from_ast(value, input_.type) is Undefined:
            wrong.add(coordinate)

    for directive in schema.directives:
        for name, argument in directive.args.items():
            check('@%s(%s:)' % (directive.name, name), argument)
    for type_ in schema.type_map.values():
        for name, field in getattr(type_, 'fields', {}).items():
            if is_input_object_type(type_):
                check('%s.%s' % (type_.name, name), field)
                continue
            for argument_name, argument in field.args.items():
                check('%s.%s(%s:)' % (type_.name, name, argument_name), argument)
    return wrong


class Execute:
    """Executes valid documents on random JSON, with errors and unexpected nulls."""

    def __init__(self, tool):
        self.tool = tool
        self.sdl, self.schema = SCHEMA, build_schema(SCHEMA)

    def document(self, seed):
        self.seed = seed
        return repair(Documents(seed, errors=0).document(), self.schema)

    def differences(self, source):
        if source is None:
            return None
        document = parse(source)
        operation = next(d for d in document.definitions if isinstance(d, nodes.OperationDefinitionNode))
        name = operation.name.value if operation.name else None
        variables, root = self.given(operation)
        response = self.tool.send(op='execute', schema=self.sdl, source=source, operationName=name, variables=variables,
                               root=root)
        result = execute(self.schema, document, with_exceptions(root), operation_name=name, variable_values=variables)
        expected = self.errors(source, result.errors or [])
        found = collections.Counter((normalized(e['message']), tuple((l['line'], l['column']) for l in e['locations']),
                                     tuple(e.get('path', []))) for e in response.get('errors', []))
        if any(re.search('must not use `@skip`|to be used for OneOf', key[0]) for key in found):
            return None
        if expected != found:
            return expected - found, found - expected
        if json.dumps(with_integers(result.data)) != json.dumps(response.get('data')):
            return json.dumps(result.data), json.dumps(response.get('data'))
        return None

    def given(self, operation):
        values = Values(self.seed)
        return values.variables(operation), values.object({
            'query': 'Query', 'mutation': 'Mutation', 'subscription': 'Subscription'}[operation.operation.value], 0)

    @staticmethod
    def errors(source, errors):
        return collections.Counter((normalized(e.message), tuple(location(source, o) for o in e.positions or []),
                                    tuple(e.path or [])) for e in errors)


def repair(source, schema):
    """Returns the document without its invalid nodes, or None if it is still invalid."""
    document = parse(source)
    for _ in range(20):
        try:
            errors = validate(schema, document)
        except GraphQLError:
            return None
        if not errors:
            return print_ast(document)
        wrong = {id(error.nodes[-1]) for error in errors if error.nodes}

        class Remover(Visitor):
            def enter(self, node, *_):
                return REMOVE if id(node) in wrong else None

            def leave_selection_set(self, node, *_):
                if not node.selections:
                    name = nodes.NameNode(value='__typename')
                    field = nodes.FieldNode(name=name, arguments=(), directives=(), alias=None, selection_set=None)
                    return nodes.SelectionSetNode(selections=(field,))
                return None

        try:
            document = parse(print_ast(visit(document, Remover())))
        except (GraphQLError, AttributeError, TypeError):
            return None
    return None


def with_exceptions(value):
    """Returns the JSON with its errors as exceptions, for graphql-core's default resolvers."""
    if isinstance(value, dict):
        if '$args' in value:
            return lambda info, **arguments: json.dumps(with_integers(arguments), separators=(',', ':'), ensure_ascii=False)
        return GraphQLError(value['$error']) if '$error' in value else {k: with_exceptions(v) for k, v in value.items()}
    return [with_exceptions(item) for item in value] if isinstance(value, list) else value


def with_integers(value):
    """Returns the value with integral floats as integers, which is how JavaScript formats them."""
    if isinstance(value, dict):
        return {key: with_integers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value == int(value) and abs(value) < 1 << 53 else value


class Values:
    """Generates random values of the types of SCHEMA."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def variables(self, operation):
        given = {}
        for definition in operation.variable_definitions:
            if self.random.random() < 0.85:
                given[definition.variable.name.value] = self.input(print_ast(definition.type))
        return given

    def input(self, type_):
        if self.random.random() < 0.03:
            return self.random.choice([None, 'x', 1, 1.5, True, [], {}, [None], {'min': 1}, 3000000000, 1.0, -0.0, '1', '', 'SHORT',
                                       [1], [[1]], [[1, None]], {'min': 1, 'more': 2}, {'id': None}, {'id': 1, 'name': 'a'}, 1e3,
                                       -2147483648, 2147483648, 9007199254740993, 12345678901234567890, -9223372036854775809, False, {'range': {'min': 'x'}}])
        if type_.endswith('!'):
            return self.input(type_[:-1])
        if self.random.random() < 0.1:
            return None
        if type_.startswith('['):
            return [self.input(type_[1:-1]) for _ in range(self.random.randint(0, 3))]
        if type_ in INPUTS:
            names = [n for n, t in INPUTS[type_].items() if t.endswith('!') or self.random.random() < 0.2]
            if type_ == 'Pick':
                names = [self.random.choice(list(INPUTS[type_]))]
            return {n: self.input(INPUTS[type_][n]) for n in names}
        return self.random.choice({'Int': [1, -7], 'Float': [1.5, 2], 'String': ['a'], 'ID': ['i', 7], 'Boolean': [True],
                                   'Style': ['SHORT', 'LONG'], 'Anything': [{'a': [1]}, 's']}[type_])

    def object(self, type_, depth):
        return {'__typename': type_, **{
            n: {'$args': True} if t == 'String' and self.random.random() < 0.5 else self.output(t, depth + 1)
            for n, t in FIELDS[type_].items()}}

    def output(self, type_, depth):
        roll = self.random.random()
        if roll < 0.02:
            return {'$error': 'No %s today.' % type_}
        if type_.endswith('!') and roll > 0.05:
            return self.output(type_[:-1], depth)
        if roll < 0.1 or depth > 7:
            return None
        if type_.startswith('['):
            return [self.output(type_[1:-1], depth) for _ in range(self.random.randint(0, 3))]
        type_ = type_.rstrip('!')
        choices = {'Node': ['Book', 'Author', 'Shelf'], 'Named': ['Book', 'Author'], 'Item': ['Book', 'Author']}
        if type_ not in FIELDS and self.random.random() < 0.03:
            return self.random.choice(['12', 2.5, True, 3000000000, {}, [], 'SHORT', ''])
        if type_ in FIELDS:
            return self.object(self.random.choice(choices.get(type_, [type_])), depth)
        return self.random.choice({'Int': [0, 42, -1], 'Float': [0.5, -2.25], 'String': ['a', 'é😀"\\', ''],
                                   'ID': ['x', 7], 'Boolean': [True, False], 'Anything': [{'a': [None, 1]}, 's', 2]}[type_])


class Introspect:
    """Compares the introspection of the types and directives that a document defines."""

    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        source = Schemas(seed, errors=0).document()
        document = parse(source)
        if validate_sdl(document) or validate_schema(build_ast_schema(document)):
            return None
        return source

    def differences(self, source):
        if source is None:
            return None
        response = self.tool.send(op='introspect', schema=source)
        if 'data' not in response:
            # graphql-core 3.2 does not implement these rules of September 2025.
            return None if all(re.search('must not be deprecated|reference itself|references itself|finite value|invalid default value',
                                         e['message'])
                               for e in response['errors']) else (
                'a schema', response['errors'])
        expected = introspection_from_schema(build_schema(source), specified_by_url=True, directive_is_repeatable=True,
                                             schema_description=True, input_value_deprecation=True,
                                             input_object_one_of=True)
        left, right = (plain_defaults(self.comparable(side['__schema'])) for side in (expected, response['data']))
        return None if left == right else first_difference(left, right)

    @staticmethod
    def comparable(schema):
        """Removes built-in definitions and sorts the types, whose order is unspecified."""
        own = [t for t in schema['types'] if not t['name'].startswith('__') and t['name'] not in (
            'String', 'Int', 'Float', 'Boolean', 'ID')]
        for type_ in own:
            # graphql-core ignores `@specifiedBy` on extensions.
            type_.pop('specifiedByURL')
            if type_['possibleTypes']:
                type_['possibleTypes'].sort(key=lambda possible: possible['name'])
        directives = [d for d in schema['directives'] if d['name'] not in (
            'skip', 'include', 'deprecated', 'specifiedBy', 'oneOf')]
        for directive in directives:
            # Directives on directive definitions are not part of the September 2025 edition.
            directive.pop('isDeprecated', None)
            directive.pop('deprecationReason', None)
        return {**schema, 'types': sorted(own, key=lambda t: t['name']),
                'directives': sorted(directives, key=lambda d: d['name'])}


def plain_defaults(value):
    """Truncates default values at the first input object, which may or may not include the defaults of its fields."""
    if isinstance(value, list):
        return [plain_defaults(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: inner.split('{')[0] if key == 'defaultValue' and inner else plain_defaults(inner)
            for key, inner in value.items()}


class AnySchema:
    """Generates valid schemas, one for every twenty documents."""

    def __init__(self):
        self.number, self.sdl, self.schema = None, None, None

    def of(self, seed):
        if seed // 20 != self.number:
            self.number = seed // 20
            self.sdl = Schemas(self.number, errors=0).document()
            document = parse(self.sdl)
            self.schema = None if validate_sdl(document) else build_ast_schema(document)
            if self.schema and validate_schema(self.schema):
                self.schema = None
        return self.sdl, self.schema


class ValidateAny(Validate):
    """Validates valid and invalid operations on random schemas."""

    def __init__(self, tool):
        self.tool, self.schemas = tool, AnySchema()

    def document(self, seed):
        self.sdl, self.schema = self.schemas.of(seed)
        errors = random.Random(seed).choice([0, 0.01, 0.03, 0.1])
        return Operations(self.schema, seed, errors).document() if self.schema else None

    def differences(self, source):
        if source is None or 'phase' in self.tool.send(op='validate', schema=self.sdl, source='{ __typename }'):
            # September 2025 rejects this schema, but graphql-core 3.2 accepts it.
            return None
        return super().differences(source)


class ExecuteAny(Execute):
    """Executes operations, including introspection, on random schemas and random JSON."""

    def __init__(self, tool):
        self.tool, self.schemas = tool, AnySchema()

    def document(self, seed):
        self.seed = seed
        self.sdl, self.schema = self.schemas.of(seed)
        if not self.schema or 'phase' in self.tool.send(op='validate', schema=self.sdl, source='{ __typename }'):
            return None
        return repair(Operations(self.schema, seed).document(), self.schema)

    def given(self, operation):
        values = RandomValues(self.schema, self.seed, random.Random(self.seed).choice([0, 0.02, 0.05]))
        return (values.variables(operation.variable_definitions, lambda node: type_from_ast(self.schema, node)),
                values.root(operation.operation.value))


KINDS = {'lex': Lex, 'parse': Parse, 'print': Print, 'validate': Validate, 'schema': Schema, 'introspect': Introspect,
         'execute': Execute, 'validate-any': ValidateAny, 'execute-any': ExecuteAny}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', type=int, default=5, help='maximum number of differences to print per kind')
    parser.add_argument('kinds', nargs='*', default=list(KINDS))
    options = parser.parse_args()
    tool = Tool()
    total = 0
    for name in options.kinds:
        kind = KINDS[name](tool)
        differing = tested = 0
        for seed in range(options.seed, options.seed + options.count):
            source = kind.document(seed)
            tested += source is not None
            difference = kind.differences(source)
            if difference is None:
                continue
            differing += 1
            if differing <= options.show:
                print('--- %s, seed %d\n%s\ngraphql-core: %s\ngraphql-tool: %s' % (name, seed, source, *difference))
        print('%s: %d documents, %d differ' % (name, tested, differing))
        total += differing
    sys.exit(2 if total else 0)


if __name__ == '__main__':
    main()
