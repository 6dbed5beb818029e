"""OpenStack Swift with its S3 API, for tests. See scripts/s3/run."""

import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import boto3
from swift.cli.ringbuilder import main as ring_builder

REGION = "eu-central-1"
KINDS = ["account", "container", "object"]
ACCESS_KEY, SECRET_KEY = "covers:bookplate", "bookplate-secret"

SERVER = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
devices = {folder}
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = {region}
[filter:tempauth]
use = egg:swift#tempauth
user_covers_bookplate = {secret} .admin
"""
SETTINGS = """[swift-hash]
swift_hash_path_prefix = test
swift_hash_path_suffix = test
[storage-policy:0]
name = one
default = yes
"""


def free_ports(count):
    """Returns ports that are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def make_ring(folder, kind, port):
    """Makes a ring with one device: the folder itself."""
    builder = str(folder / f"{kind}.builder")
    device = ["--region", "1", "--zone", "1", "--ip", "127.0.0.1", "--port", str(port), "--device", "device"]
    for command in [["create", "2", "1", "1"], ["add", *device, "--weight", "1"], ["rebalance"]]:
        try:
            ring_builder(["swift-ring-builder", builder, *command])
        except SystemExit as exit:
            if exit.code not in (0, None):
                raise


def start(folder, kind, port, configuration):
    """Starts a server, which the kernel kills when this process ends."""
    file = folder / f"{kind}.conf"
    file.write_text(configuration)
    library = ctypes.CDLL(None)
    return subprocess.Popen(
        [pathlib.Path(sys.executable).parent / f"swift-{kind}-server", file],
        preexec_fn=lambda: library.prctl(1, signal.SIGKILL),
    )


def end_with_parent(parent):
    """Ends this process when the process that has started it, the tests, has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def wait_until_it_listens(port):
    """Waits until a server accepts connections, for at most a minute."""
    for attempt in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if attempt == 599:
                raise
            time.sleep(0.1)


def prepare(port):
    """Creates the bucket."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
    )
    client.create_bucket(Bucket="covers")


threading.Thread(target=end_with_parent, args=[os.getppid()], daemon=True).start()
folder = pathlib.Path(tempfile.mkdtemp(prefix="bookplate-swift-"))
(folder / "device").mkdir()
(folder / "swift.conf").write_text(SETTINGS)
ports = free_ports(4)
options = {"folder": folder, "user": os.environ.get("USER") or "root", "region": REGION, "secret": SECRET_KEY}
for kind, port in zip(KINDS, ports):
    make_ring(folder, kind, port)
    start(folder, kind, port, SERVER.format(kind=kind, port=port, **options))
# The proxy would not use servers for a minute that had failed several times.
for port in ports[:3]:
    wait_until_it_listens(port)
start(folder, "proxy", ports[3], PROXY.format(port=ports[3], **options))
wait_until_it_listens(ports[3])
prepare(ports[3])
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{ports[3]} {ACCESS_KEY} {SECRET_KEY}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
threading.Event().wait()
