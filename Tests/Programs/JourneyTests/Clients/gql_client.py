"""Reads the schema by introspection, and receives the change of a mutation over a WebSocket, with gql."""

import asyncio
import sys

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.websockets import WebsocketsTransport

url, token = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}


async def main():
    socket = WebsocketsTransport(url.replace("http", "ws", 1), headers=headers)
    async with (
        Client(transport=AIOHTTPTransport(url, headers=headers), fetch_schema_from_transport=True) as http,
        Client(transport=socket) as live,
    ):
        events = live.subscribe(gql("subscription { changes { kind typename } }"))
        event = asyncio.ensure_future(anext(events))
        number = 0
        # The first shelves may be created before the subscription begins.
        while not event.done():
            number += 1
            await http.execute(gql(f'mutation {{ createShelf(input: {{name: "gql {number}"}}) {{ id }} }}'))
            await asyncio.wait([event], timeout=0.2)
        print(event.result()["changes"]["kind"], event.result()["changes"]["typename"])
        await events.aclose()


asyncio.run(main())
