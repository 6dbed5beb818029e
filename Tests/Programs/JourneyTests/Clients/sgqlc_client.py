"""Creates a shelf with types that sgqlc has generated from the introspection."""
import sys

from sgqlc.endpoint.http import HTTPEndpoint
from sgqlc.operation import Operation

import bookplate_schema as schema

url, token = sys.argv[1:]
endpoint = HTTPEndpoint(url, {"Authorization": f"Bearer {token}"})
mutation = Operation(schema.Mutation)
mutation.create_shelf(input={"name": "sgqlc"}).name()
result = endpoint(mutation)
print((mutation + result).create_shelf.name)
