"""Gets tokens with both grants of OAuth, with Authlib. The program acts as the app, the browser, and the reader's own app."""

import html
import os
import re
import sys
from urllib.parse import parse_qs, urlsplit

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.integrations.requests_client import OAuth2Session

issuer, client_id, client_secret, device_id, reader = sys.argv[1:]
parts = urlsplit(issuer)
server = f"{parts.scheme}://{parts.netloc}"
metadata = requests.get(f"{server}/.well-known/oauth-authorization-server{parts.path}").json()
assert metadata["issuer"] == issuer
graphql = f"{server}/graphql"


def approve(code):
    query = "mutation($code: String!) { approveAuthorization(input: {code: $code}) { status } }"
    response = requests.post(
        graphql,
        json={"query": query, "variables": {"code": code}},
        headers={"Authorization": f"Bearer {reader}"},
    ).json()
    assert response["data"]["approveAuthorization"]["status"] == "APPROVED", response


def read(session):
    data = session.post(graphql, json={"query": "{ me { books { totalCount } } }"}).json()["data"]
    return data is not None and data["me"]["books"]["totalCount"] == 0


app = OAuth2Session(
    client_id,
    client_secret or None,
    scope="library:read",
    redirect_uri="https://stats.example/callback",
    code_challenge_method="S256",
    token_endpoint_auth_method="client_secret_basic" if client_secret else "none",
    token_endpoint=metadata["token_endpoint"],
)
verifier = "0123456789" * 5
url, state = app.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
browser = requests.Session()
page = browser.get(url, headers={"Accept-Language": "en"})
approve(html.unescape(re.search(r'<p class="code">(.*?)</p>', page.text).group(1)))
location = browser.get(page.url, allow_redirects=False).headers["Location"]
result = parse_qs(urlsplit(location).query)
assert result["iss"] == [issuer]
token = app.fetch_token(authorization_response=location, state=state, code_verifier=verifier)
assert token["scope"] == "library:read"
words = ["code"] + (["read"] if read(app) else [])
first = token["access_token"]
if app.refresh_token(metadata["token_endpoint"])["access_token"] != first and read(app):
    words.append("refreshed")
revoked = app.revoke_token(metadata["revocation_endpoint"], token=app.token["refresh_token"])
if revoked.status_code == 200 and not read(app):
    words.append("revoked")
print(*words)

started = requests.post(
    metadata["device_authorization_endpoint"], data={"client_id": device_id, "scope": "library:read"}
).json()
approve(started["user_code"])
device = OAuth2Session(device_id, token_endpoint_auth_method="none")
device.fetch_token(
    metadata["token_endpoint"],
    grant_type="urn:ietf:params:oauth:grant-type:device_code",
    device_code=started["device_code"],
)
print("device", *(["read"] if read(device) else []))
