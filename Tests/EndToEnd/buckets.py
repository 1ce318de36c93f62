"""Buckets for servers under test. Where $MARTLET_TEST_MEDIA is `s3`, each data folder has one for its media.

The service is this process's own, and ends with it."""
import atexit
import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
REGION = "us-east-1"

is_bucket = os.environ.get("MARTLET_TEST_MEDIA") == "s3"
_service = None
_owner = None


class Service:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "bucket_service.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("moto does not start; Scripts/install-dependencies --test installs it")
        self.access = json.loads(line)
        self.names = set()
        self._client = None

    @property
    def client(self):
        if self._client is None:
            import boto3
            self._client = boto3.client("s3", endpoint_url=self.endpoint, region_name=REGION,
                                        aws_access_key_id=self.access["access_key"], aws_secret_access_key=self.access["secret_key"])
        return self._client

    @property
    def port(self):
        return self.access["port"]

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def make(self, name):
        if name not in self.names:
            self.client.create_bucket(Bucket=name)
            self.names.add(name)
        return name

    def settings(self, name, endpoint=None):
        """The settings of a server, or command, whose media lies in the bucket, as variables."""
        return {"MARTLET_MEDIA_S3_ENDPOINT": endpoint or self.endpoint, "MARTLET_MEDIA_S3_REGION": REGION, "MARTLET_MEDIA_S3_BUCKET": name,
                "MARTLET_MEDIA_S3_ACCESS_KEY": self.access["access_key"], "MARTLET_MEDIA_S3_SECRET_KEY": self.access["secret_key"]}

    def objects(self, name):
        """The bytes of each object, by key."""
        sizes = {}
        for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=name):
            sizes.update({entry["Key"]: entry["Size"] for entry in page.get("Contents", [])})
        return sizes

    def read(self, name, key):
        return self.client.get_object(Bucket=name, Key=key)["Body"].read()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(30)


def service():
    """Of this process: lanes are processes, each with its own."""
    global _service, _owner
    if _service is None or _owner != os.getpid():
        _service, _owner = Service(), os.getpid()
    return _service


@atexit.register
def close():
    """Ends this process's service, if it has one."""
    if _service is not None and _owner == os.getpid():
        _service.close()


def name_of(folder):
    return "t" + hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:20]


def settings_for(folder, always=False):
    """Of the folder's bucket, which is made if there is none; nothing where media lies in folders, unless `always`."""
    if not is_bucket and not always:
        return {}
    return service().settings(service().make(name_of(folder)))


def of(folder):
    """The name of the folder's bucket; None if it has none."""
    has_one = _service is not None and _owner == os.getpid() and name_of(folder) in _service.names
    return name_of(folder) if has_one else None


class Link:
    """A connection between a server and the service that a test cuts, or lets nothing come back on."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_cut = False
        # Set while answers may pass. `held` is set when one is there that may not.
        self.passing, self.held = threading.Event(), threading.Event()
        self.passing.set()
        self.open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def cut(self):
        self.is_cut = True
        for connection in list(self.open):
            self._end(connection)

    def mend(self):
        self.is_cut = False

    def hold(self):
        self.held.clear()
        self.passing.clear()

    def release(self):
        self.passing.set()

    def close(self):
        self.listener.close()
        self.cut()
        self.release()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                if self.is_cut:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self.target))
                self.open |= {client, server}
                threading.Thread(target=self._copy, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._copy, args=(server, client, True), daemon=True).start()

    def _copy(self, source, target, is_answer):
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if is_answer and not self.passing.is_set():
                    self.held.set()
                    self.passing.wait()
                target.sendall(data)
        self._end(source)
        self._end(target)

    def _end(self, connection):
        self.open.discard(connection)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()
