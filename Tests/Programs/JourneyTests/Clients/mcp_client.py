"""Lists and calls tools with the official client of the Model Context Protocol, and prints the results as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

url, reader_token, writer_token = sys.argv[1:]


def connect(token, mode):
    headers = {"Authorization": f"Bearer {token}"}
    return Client(streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers)), mode=mode)


async def pages(client):
    cursor, found = None, []
    while True:
        page = await client.list_tools(cursor=cursor)
        found.append([tool.name for tool in page.tools])
        cursor = page.next_cursor
        if cursor is None:
            return found


def outcome(result):
    text = result.content[0].text
    assert json.loads(text) == result.structured_content
    return {"isError": result.is_error, "content": result.structured_content}


async def main():
    printed = {}
    # The newest clients ask for the revisions of the server first. Older ones begin with the handshake.
    for mode in ["auto", "legacy"]:
        async with connect(reader_token, mode) as client:
            printed[mode] = client.protocol_version
            printed["readerPages"] = await pages(client)
            printed["refused"] = outcome(await client.call_tool("AddBook", {"title": "Emma"}))
    async with connect(writer_token, "auto") as client:
        printed["writerPages"] = await pages(client)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        printed["addBook"] = tools["AddBook"].model_dump(by_alias=True, exclude_none=True, mode="json")
        printed["added"] = outcome(await client.call_tool("AddBook", {"title": "Emma"}))
        printed["books"] = outcome(await client.call_tool("Books", {"first": 1}))
        printed["wrongType"] = outcome(await client.call_tool("Books", {"first": "one"}))
        printed["wrongName"] = outcome(await client.call_tool("Books", {"frist": 1}))
        try:
            await client.call_tool("Nothing", {})
        except Exception as error:
            printed["unknown"] = str(error)
    print(json.dumps(printed))


asyncio.run(main())
