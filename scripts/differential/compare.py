"""Sends generated documents to graphql-tool and to graphql-core and tells where the answers differ."""

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

from documents import FIELDS, INPUTS, SCHEMA, Documents, damaged
from generic import Answers, Operations
from lexical import Lexical
from schemas import Schemas


class Tool:
    """One graphql-tool, asked line by line."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ['GRAPHQL_TOOL'], 'batch'], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, encoding='utf-8')

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit('graphql-tool ended at ' + json.dumps(request))
        return json.loads(line)


def words(message):
    """Messages of both in one form: graphql-core quotes as Python does."""
    message = message.replace("'", '"').replace('None', 'null')
    message = message.replace('True', 'true').replace('False', 'false').replace('to be a mapping', 'to be an object')
    message = message.replace('{"$error":"No."}', '<exception GraphQLError>')
    # How a program would tell the type of a value is not for JSON.
    message = re.sub(r'(^Abstract type .* at runtime for field "[^"]*").*', r'\1', message)
    # The value of a variable reads as JavaScript writes objects, not as Python does.
    while re.search(r'\{"\w+": ', message):
        message = re.sub(r'\{("\w+": [^{}]*)\}', lambda match: '{ %s }' % re.sub(r'"(\w+)": ', r'\1: ', match[1]),
                         message, count=1)
    return re.sub(r'may not be used on ([a-z ]+)\.',
                  lambda match: 'may not be used on %s.' % match[1].upper().replace(' ', '_'), message)


def location(source, offset):
    """Line and column (UTF-16) of an offset in code points.

    graphql-core counts columns in code points, and some lines wrongly behind a carriage return.
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
        found.append((words(error.message), tuple(location(source, offset) for offset in offsets)))
    return collections.Counter(found)


def tool_errors(errors):
    return collections.Counter(
        (words(e['message']), tuple((l['line'], l['column']) for l in e['locations'])) for e in errors)


def without(errors, pattern):
    """The errors whose messages do not match."""
    return collections.Counter({key: n for key, n in errors.items() if not re.search(pattern, key[0])})


class Parse:
    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        rng = random.Random(seed)
        text = Documents(seed).document() if seed % 3 else Schemas(seed).document()
        return damaged(text, rng) if rng.random() < 0.7 else text

    def differences(self, source):
        answer = self.tool.ask(op='parse', source=source)
        try:
            document = parse(source)
        except GraphQLError as error:
            expected = core_errors(source, [error])
            found = tool_errors(answer.get('errors', []))
            return None if expected == found else (expected, found or 'a document')
        if 'ast' not in answer:
            return 'a document', answer['errors']
        expected = tree(document, offsets(source))
        return None if expected == answer['ast'] else first_difference(expected, answer['ast'])


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
        found = self.tool.ask(op='print', source=source).get('text')
        return None if expected == found else (expected, found)


def offsets(source):
    """UTF-16 offsets of code points."""
    table, total = [], 0
    for character in source:
        table.append(total)
        total += 2 if ord(character) > 0xFFFF else 1
    return table + [total]


def tree(node, table):
    """A node of graphql-core in the shape of graphql-js."""
    if isinstance(node, (list, tuple)):
        return [tree(item, table) for item in node]
    if not isinstance(node, nodes.Node):
        return node.value if hasattr(node, 'value') else node
    kind = ''.join(part.capitalize() for part in node.kind.split('_'))
    result = {'kind': kind, 'loc': {'start': table[node.loc.start], 'end': table[node.loc.end]}}
    for key in node.keys:
        if key == 'loc' or (node.kind, key) == ('directive_definition', 'directives'):
            # Directives on directive definitions are no part of September 2025.
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
        answer = self.tool.ask(op='validate', schema=self.sdl, source=source)
        assert 'phase' not in answer, answer
        try:
            expected = core_errors(source, validate(self.schema, parse(source)))
        except GraphQLError:
            # graphql-core evaluates @skip and @include of subscriptions, even of the wrong type.
            return None
        found = tool_errors(answer['errors'])
        if any(re.search('cannot condition on non composite type|Field "__typename" must not have a selection', message)
               for message, _ in found):
            # graphql-core compares a fragment with itself where its type is unknown and it spreads itself, and a selection
            # of __typename with a fragment once where another is compared again.
            expected, found = (without(counted, 'Fields "__typename" conflict') for counted in (expected, found))
        # graphql-core, like graphql-js, does not see the variable where the OneOf is non-null, as items of lists may be.
        oneof = 'must be non-nullable to be used for OneOf'
        if not without(expected, oneof) - without(found, oneof) and not expected - found:
            expected, found = without(expected, oneof), without(found, oneof)
        if any('must not use `@skip`' in message for message, _ in found):
            # New in September 2025; graphql-core 3.2 evaluates the directives instead.
            expected, found = (without(counted, 'Subscription') for counted in (expected, found))
        expected, found = told_briefly(expected), told_briefly(found)
        return None if expected == found else (expected - found, found - expected)


def told_briefly(errors):
    """graphql-core tells a part of what conflicts in one place."""
    return collections.Counter(
        (key if len(key[0]) < 1000 and len(key[1]) < 40 else key[0][:900] for key in errors.elements()))


class Schema:
    def __init__(self, tool):
        self.tool = tool

    def document(self, seed):
        return Schemas(seed, errors=random.Random(seed).choice([0, 0.005, 0.01, 0.05])).document()

    def differences(self, source):
        answer = self.tool.ask(op='validate', schema=source, source='{ __typename }')
        document = parse(source)
        errors = validate_sdl(document)
        found = tool_errors(answer['errors'] if answer.get('phase') == 'schema' else [])
        if not errors:
            try:
                errors = validate_schema(build_ast_schema(document, assume_valid_sdl=True))
            except (TypeError, GraphQLError):
                # Types of the wrong kind where graphql-core cannot even hold them.
                return None if found else ('an error', 'none')
        expected = core_errors(source, errors)
        # Of September 2025, and not in graphql-core 3.2.
        wrong = {re.match(r'(.*) has invalid default value', message)[1] for message, _ in found if 'invalid default' in message}
        if wrong:
            # What has no default that is a value counts there as required.
            expected, found = (without(counted, 'includes required argument|Required .* cannot be deprecated|cannot have a default value')
                               for counted in (expected, found))
        # There a default is wrong, too, where it uses another that is.
        if not expected and not (wrong and wrong <= wrong_defaults(document)) and wrong_defaults(document) != wrong:
            return wrong_defaults(document), wrong
        found = without(found, 'has invalid default value|Invalid circular reference. The default value')
        if any('must be nullable' in message for message, _ in found):
            # A OneOf with a non-null field is wrong already, and is no cycle where another field can be given.
            expected, found = (without(counted, 'series of non-null fields') for counted in (expected, found))
        if any('can only be defined once' in message for message, _ in found):
            # Which of two definitions with one name counts is open.
            found = without(found, 'cannot represent')
            expected, found = (without(counted, 'is required, but it was not provided') for counted in (expected, found))
        found = without(found, 'must not be deprecated.$|must not reference itself, directly|provided a finite value|'
                        'All root types must be different')
        expected, found = rings(expected), rings(found)
        return None if expected == found else (expected - found, found - expected)


def rings(errors):
    """Cycles by their fields: a OneOf on the way to one decides where it is said to begin."""
    return collections.Counter(
        ('cycle', tuple(sorted(places))) if 'series of non-null fields' in message else (message, places)
        for message, places in errors.elements())


def wrong_defaults(document):
    """The places of a document's default values that are no values of their types."""
    schema = build_ast_schema(document, assume_valid_sdl=True)
    wrong = set()

    def check(place, input_):
        value = input_.ast_node and input_.ast_node.default_value
        if value and value_from_ast(value, input_.type) is Undefined:
            wrong.add(place)

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
    """Valid documents over random JSON, with errors and nulls in wrong places."""

    def __init__(self, tool):
        self.tool = tool
        self.sdl, self.schema = SCHEMA, build_schema(SCHEMA)

    def document(self, seed):
        self.seed = seed
        return repaired(Documents(seed, errors=0).document(), self.schema)

    def differences(self, source):
        if source is None:
            return None
        document = parse(source)
        operation = next(d for d in document.definitions if isinstance(d, nodes.OperationDefinitionNode))
        name = operation.name.value if operation.name else None
        variables, root = self.given(operation)
        answer = self.tool.ask(op='execute', schema=self.sdl, source=source, operationName=name, variables=variables,
                               root=root)
        result = execute(self.schema, document, raised(root), operation_name=name, variable_values=variables)
        expected = self.errors(source, result.errors or [])
        found = collections.Counter((words(e['message']), tuple((l['line'], l['column']) for l in e['locations']),
                                     tuple(e.get('path', []))) for e in answer.get('errors', []))
        if any(re.search('must not use `@skip`|to be used for OneOf', key[0]) for key in found):
            return None
        if expected != found:
            return expected - found, found - expected
        if json.dumps(whole(result.data)) != json.dumps(answer.get('data')):
            return json.dumps(result.data), json.dumps(answer.get('data'))
        return None

    def given(self, operation):
        values = Values(self.seed)
        return values.variables(operation), values.object({
            'query': 'Query', 'mutation': 'Mutation', 'subscription': 'Subscription'}[operation.operation.value], 0)

    @staticmethod
    def errors(source, errors):
        return collections.Counter((words(e.message), tuple(location(source, o) for o in e.positions or []),
                                    tuple(e.path or [])) for e in errors)


def repaired(source, schema):
    """The document without the nodes that make it invalid; nothing where that does not help."""
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


def raised(value):
    """The JSON with its errors as exceptions, for graphql-core's default resolvers."""
    if isinstance(value, dict):
        if '$args' in value:
            return lambda info, **arguments: json.dumps(whole(arguments), separators=(',', ':'), ensure_ascii=False)
        return GraphQLError(value['$error']) if '$error' in value else {k: raised(v) for k, v in value.items()}
    return [raised(item) for item in value] if isinstance(value, list) else value


def whole(value):
    """Numbers without a fraction as JavaScript writes them."""
    if isinstance(value, dict):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value == int(value) and abs(value) < 1 << 53 else value


class Values:
    """Random values of the types of SCHEMA."""

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
    """What introspection tells of the types and directives that a document defines."""

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
        answer = self.tool.ask(op='introspect', schema=source)
        if 'data' not in answer:
            # Rules of September 2025 that graphql-core 3.2 does not have.
            return None if all(re.search('must not be deprecated|reference itself|references itself|finite value|invalid default value',
                                         e['message'])
                               for e in answer['errors']) else (
                'a schema', answer['errors'])
        expected = introspection_from_schema(build_schema(source), specified_by_url=True, directive_is_repeatable=True,
                                             schema_description=True, input_value_deprecation=True,
                                             input_object_one_of=True)
        left, right = (plain_defaults(self.comparable(side['__schema'])) for side in (expected, answer['data']))
        return None if left == right else first_difference(left, right)

    @staticmethod
    def comparable(schema):
        """Without what no document says, and without the order of types, which is not told."""
        own = [t for t in schema['types'] if not t['name'].startswith('__') and t['name'] not in (
            'String', 'Int', 'Float', 'Boolean', 'ID')]
        for type_ in own:
            # graphql-core leaves out what an extension says of it.
            type_.pop('specifiedByURL')
            if type_['possibleTypes']:
                type_['possibleTypes'].sort(key=lambda possible: possible['name'])
        directives = [d for d in schema['directives'] if d['name'] not in (
            'skip', 'include', 'deprecated', 'specifiedBy', 'oneOf')]
        for directive in directives:
            # Directives on directive definitions are no part of September 2025.
            directive.pop('isDeprecated', None)
            directive.pop('deprecationReason', None)
        return {**schema, 'types': sorted(own, key=lambda t: t['name']),
                'directives': sorted(directives, key=lambda d: d['name'])}


def plain_defaults(value):
    """Input objects as they are written, or with the defaults of their fields: both are right as default values."""
    if isinstance(value, list):
        return [plain_defaults(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: inner.split('{')[0] if key == 'defaultValue' and inner else plain_defaults(inner)
            for key, inner in value.items()}


class AnySchema:
    """Schemas that are right, one for twenty documents."""

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
    """Operations on any schema, right and wrong."""

    def __init__(self, tool):
        self.tool, self.schemas = tool, AnySchema()

    def document(self, seed):
        self.sdl, self.schema = self.schemas.of(seed)
        errors = random.Random(seed).choice([0, 0.01, 0.03, 0.1])
        return Operations(self.schema, seed, errors).document() if self.schema else None

    def differences(self, source):
        if source is None or 'phase' in self.tool.ask(op='validate', schema=self.sdl, source='{ __typename }'):
            # A schema that September 2025 refuses and graphql-core 3.2 does not.
            return None
        return super().differences(source)


class ExecuteAny(Execute):
    """Operations on any schema, introspection among them, over random JSON."""

    def __init__(self, tool):
        self.tool, self.schemas = tool, AnySchema()

    def document(self, seed):
        self.seed = seed
        self.sdl, self.schema = self.schemas.of(seed)
        if not self.schema or 'phase' in self.tool.ask(op='validate', schema=self.sdl, source='{ __typename }'):
            return None
        return repaired(Operations(self.schema, seed).document(), self.schema)

    def given(self, operation):
        answers = Answers(self.schema, self.seed, random.Random(self.seed).choice([0, 0.02, 0.05]))
        return (answers.variables(operation.variable_definitions, lambda node: type_from_ast(self.schema, node)),
                answers.root(operation.operation.value))


KINDS = {'lex': Lex, 'parse': Parse, 'print': Print, 'validate': Validate, 'schema': Schema, 'introspect': Introspect,
         'execute': Execute, 'validate-any': ValidateAny, 'execute-any': ExecuteAny}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', type=int, default=5, help='differences to show of each kind')
    parser.add_argument('kinds', nargs='*', default=list(KINDS))
    options = parser.parse_args()
    tool = Tool()
    total = 0
    for name in options.kinds:
        kind = KINDS[name](tool)
        differing = asked = 0
        for seed in range(options.seed, options.seed + options.count):
            source = kind.document(seed)
            asked += source is not None
            difference = kind.differences(source)
            if difference is None:
                continue
            differing += 1
            if differing <= options.show:
                print('--- %s, seed %d\n%s\ngraphql-core: %s\ngraphql-tool: %s' % (name, seed, source, *difference))
        print('%s: %d documents, %d differ' % (name, asked, differing))
        total += differing
    sys.exit(2 if total else 0)


if __name__ == '__main__':
    main()
