"""An S3 server for tests. See scripts/s3/run."""

import os
import sys
import threading
import time

is_public = sys.argv[2] == "public"
# moto verifies the signatures of all requests after the four that prepare the server. It reads this when it is imported.
if not is_public:
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"

import boto3
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
# The policy of docs/security.md. Unlike S3, moto requires s3:DeleteObject for the bucket itself, too.
POLICY = """{"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:DeleteObject"], "Resource": "arn:aws:s3:::covers"},
    {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], "Resource": "arn:aws:s3:::covers/*"}
]}"""

# Everyone may read objects, but not list them.
PUBLIC_POLICY = """{"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::covers/*"}
]}"""


def end_with_parent(parent):
    """Ends this process when the process that has started it, the tests, has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def prepare(port):
    """Creates the bucket and a user who may use it. Returns the user's key."""
    options = {
        "endpoint_url": f"http://127.0.0.1:{port}",
        "region_name": REGION,
        "aws_access_key_id": "administrator",
        "aws_secret_access_key": "administrator",
    }
    iam = boto3.client("iam", **options)
    iam.create_user(UserName="bookplate")
    key = iam.create_access_key(UserName="bookplate")["AccessKey"]
    iam.put_user_policy(UserName="bookplate", PolicyName="covers", PolicyDocument=POLICY)
    s3 = boto3.client("s3", **options)
    s3.create_bucket(Bucket="covers", CreateBucketConfiguration={"LocationConstraint": REGION})
    if is_public:
        s3.put_bucket_policy(Bucket="covers", Policy=PUBLIC_POLICY)
    return key


threading.Thread(target=end_with_parent, args=[os.getppid()], daemon=True).start()
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
key = prepare(port)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{port} {key['AccessKeyId']} {key['SecretAccessKey']}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
threading.Event().wait()
