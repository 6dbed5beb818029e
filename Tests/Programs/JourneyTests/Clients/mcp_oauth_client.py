"""Signs in by OAuth with the official client of the Model Context Protocol, which knows only the URL of the endpoint.

The program also acts as the browser and as the reader's own app. It prints the results as JSON.
"""

import asyncio
import html
import json
import re
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

url, reader, metadata = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
server = "{0.scheme}://{0.netloc}".format(urlsplit(url))
printed = {}


class Storage:
    tokens = info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.info

    async def set_client_info(self, info):
        self.info = info


async def approve(code):
    query = "mutation($code: String!) { approveAuthorization(input: {code: $code}) { status } }"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {reader}"}) as app:
        response = await app.post(f"{server}/graphql", json={"query": query, "variables": {"code": code}})
        assert response.json()["data"]["approveAuthorization"]["status"] == "APPROVED", response.text


async def main():
    results = []

    async def browse(authorization_url):
        printed["requestedScope"] = parse_qs(urlsplit(authorization_url).query).get("scope", [None])[0]
        async with httpx2.AsyncClient() as browser:
            redirect = await browser.get(authorization_url, follow_redirects=False)
            page_url = server + redirect.headers["location"]
            page = await browser.get(page_url)
            await approve(html.unescape(re.search(r'<p class="code">(.*?)</p>', page.text).group(1)))
            location = (await browser.get(page_url, follow_redirects=False)).headers["location"]
        assert location.startswith(metadata["redirect_uris"][0])
        results.append({name: values[0] for name, values in parse_qs(urlsplit(location).query).items()})

    async def returned():
        result = results.pop()
        return AuthorizationCodeResult(code=result["code"], state=result["state"], iss=result["iss"])

    storage = Storage()
    auth = OAuthClientProvider(url, OAuthClientMetadata.model_validate(metadata), storage, browse, returned)
    async with httpx2.AsyncClient(auth=auth) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            printed["tools"] = [tool.name for tool in (await client.list_tools()).tools]
            called = await client.call_tool("AddBook", {"title": "Emma"})
            printed["added"] = called.structured_content
            # The client refreshes an expired token with the next request.
            first = storage.tokens.access_token
            auth.context.token_expiry_time = 1
            await client.list_tools()
            printed["refreshed"] = storage.tokens.access_token != first
    printed["clientName"] = storage.info.client_name
    printed["grantedScope"] = storage.tokens.scope
    print(json.dumps(printed))


asyncio.run(main())
