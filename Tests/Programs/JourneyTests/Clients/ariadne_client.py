"""Creates a shelf with a client that ariadne-codegen has generated."""
import asyncio
import sys

from bookplate_client import Client, CreateShelfInput

url, token = sys.argv[1:]


async def main():
    async with Client(url, headers={"Authorization": f"Bearer {token}"}) as client:
        added = await client.add_shelf(CreateShelfInput(name="ariadne-codegen"))
        home = await client.home()
        print(added.create_shelf.name, [shelf.name for shelf in home.me.shelves].count("ariadne-codegen"))


asyncio.run(main())
