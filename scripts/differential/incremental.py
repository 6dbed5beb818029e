"""Compares the responses of operations with @defer and @stream with those of graphql-core 3.3."""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys

from graphql import (ExecutionResult, GraphQLDeferDirective, GraphQLError, GraphQLStreamDirective, build_schema,
                     parse, validate)
from graphql.execution import experimental_execute_incrementally

SCHEMA = '''
type Query { node: Node! nodes: [Node!]! named: Named things: [Thing] }
interface Named { name: String node: Node }
type Node implements Named { id: Int! name: String node: Node nodes: [Node!] other: Other sure: Node! }
type Other implements Named { name: String node: Node flag: Boolean }
union Thing = Node | Other
'''
DIRECTIVES = '''
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int! = 0) on FIELD
'''
LEAVES = {'Node': ['id', 'name', 'a: name'], 'Other': ['name', 'flag'], 'Named': ['name'], 'Query': [], 'Thing': []}
OBJECTS = {'Node': [('node', 'Node'), ('other', 'Other'), ('sure', 'Node'), ('nodes', 'Node')],
           'Other': [('node', 'Node')], 'Named': [('node', 'Node')], 'Thing': [],
           'Query': [('node', 'Node'), ('nodes', 'Node'), ('named', 'Named'), ('things', 'Thing')]}
TYPES = {'Node': ['Node', 'Named'], 'Other': ['Other', 'Named'], 'Named': ['Node', 'Other', 'Named'],
         'Thing': ['Node', 'Other', 'Named'], 'Query': ['Query']}


class Case:
    """A random operation with its data."""

    def __init__(self, seed, streams, errors):
        self.random, self.streams, self.errors = random.Random(seed), streams, errors
        self.labels = self.lists = 0
        # A fragment spreads only later ones.
        self.fragments = 3
        selections = ' '.join(self.selections('Query', 4, 0) + ['node { %s }' % ' '.join(
            '...F%d @defer' % i for i in range(self.fragments))])
        self.source = '{ %s }' % selections + ''.join(
            '\nfragment F%d on Node { %s }' % (i, ' '.join(self.selections('Node', 2, i + 1)))
            for i in range(self.fragments))
        self.root = {'node': self.node(4, False), 'nodes': [self.node(3) for _ in range(3)], 'named': self.named(3),
                     'things': [self.named(3), None, self.named(2)]}

    def deferral(self, share=0.5):
        if self.random.random() > share:
            return ''
        self.labels += 1
        return ' @defer(label: "l%d")' % self.labels

    def selections(self, type_, depth, first):
        return ['__typename'] + [self.selection(type_, depth, first) for _ in range(self.random.randint(1, 4))]

    def selection(self, type_, depth, first):
        roll = self.random.random()
        if depth == 0 or roll < 0.25 or not (OBJECTS[type_] or roll < 0.6):
            return self.random.choice(LEAVES[type_] or ['__typename'])
        if roll < 0.6:
            if type_ == 'Node' and first < self.fragments and roll < 0.35:
                return '...F%d%s' % (self.random.randrange(first, self.fragments), self.deferral(0.8))
            condition = self.random.choice(TYPES[type_])
            return '... on %s%s { %s }' % (condition, self.deferral(), ' '.join(
                self.selections(condition, depth - 1, first)))
        field, inner = self.random.choice(OBJECTS[type_])
        prefix = ''
        stream = ''
        if field in ('nodes', 'things') and self.streams:
            # Streamed fields cannot be merged.
            self.lists += 1
            prefix = 's%d: ' % self.lists
            stream = ' @stream(initialCount: %d)' % self.random.randrange(3)
        return '%s%s%s { %s }' % (prefix, field, stream, ' '.join(self.selections(inner, depth - 1, first)))

    def node(self, depth, errors=True):
        if errors and self.errors and self.random.random() < 0.08:
            return {'$error': 'No node.'}
        id_ = None if errors and self.errors and self.random.random() < 0.1 else self.random.randrange(100)
        if depth < -3:
            return {'__typename': 'Node', 'id': id_, 'name': 'n', 'sure': {'$error': 'Too deep.'}}
        return {'__typename': 'Node', 'id': id_, 'name': 'n%d' % self.random.randrange(100),
                'node': self.node(depth - 1) if depth > 0 else None,
                'nodes': [self.node(depth - 1) for _ in range(self.random.randrange(3) if depth > 0 else 0)],
                'other': self.other(min(depth, 1) - 1) if depth > 0 else None, 'sure': self.node(depth - 2)}

    def other(self, depth):
        return {'__typename': 'Other', 'name': 'o', 'flag': True, 'node': self.node(depth - 1) if depth > 0 else None}

    def named(self, depth):
        return self.random.choice([self.node, self.other])(depth)


def with_exceptions(value):
    if isinstance(value, dict):
        return GraphQLError(value['$error']) if '$error' in value else {k: with_exceptions(v) for k, v in value.items()}
    return [with_exceptions(item) for item in value] if isinstance(value, list) else value


def error(value):
    return json.dumps([value['message'].replace("'", '"'), value.get('path')])


class Delivery:
    """A client that merges the data, and records the path and the fields of each delivery."""

    def __init__(self, parts):
        first = parts[0]
        self.data, self.errors = first.get('data'), [*map(error, first.get('errors') or [])]
        self.first = json.dumps(self.data, sort_keys=True)
        self.pending, self.pieces, self.has_failed = {}, [], False
        self.announce(first)
        for part in parts[1:]:
            self.announce(part)
            for entry in part.get('incremental') or []:
                path = self.pending[entry['id']]['path'] + (entry.get('subPath') or [])
                self.errors += map(error, entry.get('errors') or [])
                value = self.at(path)
                if 'items' in entry:
                    value += entry['items']
                else:
                    assert not set(value) & set(entry['data']), 'delivered twice'
                    self.pieces.append(json.dumps([path, sorted(entry['data'])]))
                    value.update(entry['data'])
            for entry in part.get('completed') or []:
                self.pending.pop(entry['id'])
                self.has_failed |= 'errors' in entry
                self.errors += map(error, entry.get('errors') or [])
            for entry in self.pending.values():
                # Raises an error if the client does not know the path.
                self.at(entry['path'])
        assert not self.pending and (len(parts) == 1 or parts[-1]['hasNext'] is False), 'not completed'
        self.pieces.sort()

    def announce(self, part):
        for entry in part.get('pending') or []:
            self.pending[entry['id']] = entry

    def at(self, path):
        value = self.data
        for key in path:
            value = value[key]
        return value

    def summary(self):
        # Whether a fragment is announced whose fields all belong to other fragments, too, depends on their order.
        if self.has_failed:
            # If a field fails that belongs to several fragments, the order decides which other fields are delivered.
            return {'first': self.first}
        return {'data': json.dumps(self.data, sort_keys=True), 'first': self.first, 'pieces': self.pieces,
                'errors': sorted(set(self.errors))}


async def incremental(schema, case):
    result = experimental_execute_incrementally(schema, parse(case.source), with_exceptions(case.root))
    if asyncio.iscoroutine(result):
        result = await result
    if isinstance(result, ExecutionResult):
        return [result.formatted]
    parts = [result.initial_result.formatted]
    async for part in result.subsequent_results:
        parts.append(part.formatted)
    return parts


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', type=int, default=5, help='maximum number of differences to print')
    options = parser.parse_args()
    tool = subprocess.Popen([os.environ['GRAPHQL_TOOL'], 'batch'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            encoding='utf-8')
    schema = build_schema(SCHEMA + DIRECTIVES)
    assert schema.get_directive(GraphQLDeferDirective.name) and schema.get_directive(GraphQLStreamDirective.name)
    differing = tested = 0
    for seed in range(options.seed, options.seed + options.count):
        case = Case(seed, streams=seed % 2 == 0, errors=seed % 4 < 2)
        if validate(schema, parse(case.source)):
            continue
        tested += 1
        tool.stdin.write(json.dumps({'op': 'execute-incrementally', 'schema': SCHEMA, 'source': case.source,
                                     'root': case.root}) + '\n')
        tool.stdin.flush()
        found = json.loads(tool.stdout.readline())
        try:
            right = Delivery(found['parts']).summary()
        except (AssertionError, KeyError, TypeError, IndexError) as failure:
            right = {'failure': repr(failure)}
        left = Delivery(await incremental(schema, case)).summary()
        different = [name for name in left if left[name] != right.get(name)]
        if different:
            differing += 1
            if differing <= options.show:
                print('--- incremental, seed %d\n%s\n%s' % (seed, case.source, json.dumps(case.root)))
                for name in different:
                    print('%s of graphql-core: %s\n%s of graphql-tool: %s' % (name, left[name], name, right.get(name, right)))
    print('incremental: %d documents, %d differ' % (tested, differing))
    sys.exit(2 if differing else 0)


if __name__ == '__main__':
    asyncio.run(main())
