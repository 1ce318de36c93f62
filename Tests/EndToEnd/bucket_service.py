#!/usr/bin/env python3
"""An S3-compatible service for tests (moto) that checks signatures, on a free port. Prints its port and an access key as JSON when it is ready.

Ends when its standard input ends: so with the tests, however they end. Objects are in memory."""
import json
import os
import sys

# What makes the access key is asked for without one.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "3"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

RIGHTS = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}


def main():
    service = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    service.start()
    _, port = service.get_host_and_port()
    iam = boto3.client("iam", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
                       aws_access_key_id="none", aws_secret_access_key="none")
    iam.create_user(UserName="martlet")
    iam.put_user_policy(UserName="martlet", PolicyName="media", PolicyDocument=json.dumps(RIGHTS))
    key = iam.create_access_key(UserName="martlet")["AccessKey"]
    print(json.dumps({"port": port, "access_key": key["AccessKeyId"], "secret_key": key["SecretAccessKey"]}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
