"""Checks the input schemas of tools with jsonschema, and prints arguments that they accept.

Reads a list of tools from the file that is the first argument. Each line of the output is the arguments of one tool: once with all
properties, and once with the required ones.
"""

import json
import sys

from jsonschema import Draft202012Validator

NESTING_MAX = 4
FORMATS = {"date-time": "2026-01-31T12:00:00Z", "uri": "https://example.com/a"}


def sample(schema, root, is_full, depth=0):
    if "$ref" in schema:
        return sample(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, is_full, depth)
    if "anyOf" in schema:
        return None if depth > NESTING_MAX else sample(schema["anyOf"][0], root, is_full, depth)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if depth > NESTING_MAX and "null" in types:
        return None
    match types[0]:
        case "object":
            names = list(schema["properties"])
            if "maxProperties" in schema:
                names = names[:1]
            elif not is_full or depth > NESTING_MAX:
                names = schema.get("required", [])
            return {name: sample(schema["properties"][name], root, is_full, depth + 1) for name in names}
        case "array":
            return [sample(schema["items"], root, is_full, depth + 1)]
        case "integer":
            return 3
        case "number":
            return 2.5
        case "boolean":
            return True
        case "string":
            if "enum" in schema:
                return schema["enum"][-1]
            if "pattern" in schema:
                return "9780141439587" if "13" in schema["pattern"] else "2019-05"
            return FORMATS.get(schema.get("format"), "text")


with open(sys.argv[1]) as file:
    tools = json.load(file)
for tool in tools:
    schema = tool["inputSchema"]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for is_full in [True, False]:
        arguments = sample(schema, schema, is_full)
        validator.validate(arguments)
        assert not validator.is_valid(arguments | {"unknown property": 1}), tool["name"]
        for name in schema.get("required", []):
            assert not validator.is_valid({k: v for k, v in arguments.items() if k != name}), tool["name"]
        print(json.dumps(arguments))
