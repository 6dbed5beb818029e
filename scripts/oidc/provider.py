"""An OpenID Connect provider for tests. See scripts/oidc/run."""

import os
import sys
import threading
import time

import werkzeug.serving
from oidc_provider_mock import _app as provider

app = provider.app()


def jwt_config(config):
    """Returns the settings of new tokens with the id of the key, as most providers send it."""

    def with_key_id(self, grant, client=None):
        settings = config(self, grant, client)
        settings["kid"] = provider.storage.jwk.thumbprint()
        return settings

    return with_key_id


for item in vars(provider).values():
    if isinstance(item, type) and "get_jwt_config" in vars(item):
        item.get_jwt_config = jwt_config(item.get_jwt_config)


@app.post("/rotate")
def rotate():
    provider.storage.jwk = type(provider.storage.jwk).generate_key(is_private=True)
    return "", 204


def end_with_parent(parent):
    """Ends this process when the process that has started it, the tests, has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


threading.Thread(target=end_with_parent, args=[os.getppid()], daemon=True).start()
server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
