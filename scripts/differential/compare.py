"""Sends generated documents to graphql-tool and to graphql-core and tells where the answers differ."""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys

from graphql import GraphQLError, build_ast_schema, build_schema, parse, print_ast, validate, validate_schema
from graphql.language import ast as nodes
from graphql.validation.validate import validate_sdl

from documents import SCHEMA, Documents, damaged
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
        self.schema = build_schema(SCHEMA)

    def document(self, seed):
        return Documents(seed, errors=random.Random(seed).choice([0, 0.01, 0.03, 0.1])).document()

    def differences(self, source):
        answer = self.tool.ask(op='validate', schema=SCHEMA, source=source)
        assert 'phase' not in answer, answer
        try:
            expected = core_errors(source, validate(self.schema, parse(source)))
        except GraphQLError:
            # graphql-core evaluates @skip and @include of subscriptions, even of the wrong type.
            return None
        found = tool_errors(answer['errors'])
        if any('cannot condition on non composite type' in message for message, _ in found):
            # graphql-core compares a fragment with itself where its type is unknown and it spreads itself.
            expected, found = (without(counted, 'Fields "__typename" conflict') for counted in (expected, found))
        if any('must not use `@skip`' in message for message, _ in found):
            # New in September 2025; graphql-core 3.2 evaluates the directives instead.
            expected, found = (without(counted, 'Subscription') for counted in (expected, found))
        return None if expected == found else (expected - found, found - expected)


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
        if any('can only be defined once' in message for message, _ in found):
            # Which of two definitions with one name counts is open.
            found = without(found, 'cannot represent')
        found = without(found, 'must not be deprecated.$|must not reference itself, directly|provided a finite value')
        return None if expected == found else (expected - found, found - expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', type=int, default=5, help='differences to show of each kind')
    parser.add_argument('kinds', nargs='*', default=['lex', 'parse', 'print', 'validate', 'schema'])
    options = parser.parse_args()
    tool = Tool()
    total = 0
    for name in options.kinds:
        kind = {'lex': Lex, 'parse': Parse, 'print': Print, 'validate': Validate, 'schema': Schema}[name](tool)
        differing = 0
        for seed in range(options.seed, options.seed + options.count):
            source = kind.document(seed)
            difference = kind.differences(source)
            if difference is None:
                continue
            differing += 1
            if differing <= options.show:
                print('--- %s, seed %d\n%s\ngraphql-core: %s\ngraphql-tool: %s' % (name, seed, source, *difference))
        print('%s: %d documents, %d differ' % (name, options.count, differing))
        total += differing
    sys.exit(2 if total else 0)


if __name__ == '__main__':
    main()
