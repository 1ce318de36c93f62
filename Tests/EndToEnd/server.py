"""Starts, kills and restarts `martlet serve` on a free loopback port with a data folder of its own."""
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import buckets
import databases

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEALTH_SECONDS = 60
# Logs of all servers of this process that are there.
logs = []
# Not the same in processes that were forked.
_random = random.SystemRandom()


def program():
    """$MARTLET_PROGRAM, or the newest build."""
    found = os.environ.get("MARTLET_PROGRAM") or newest_build("martlet")
    if not found:
        raise SystemExit("martlet is not built: swift build --product martlet")
    return found


def newest_build(name):
    """The path of a program of the package; None if it is not built."""
    built = [os.path.join(ROOT, ".build", kind, name) for kind in ("release", "debug")]
    return max(filter(os.path.exists, built), key=os.path.getmtime, default=None)


def free_port():
    """One below those that the system gives to connections: none of them takes it before it is bound."""
    while True:
        port = _random.randrange(10_000, 32_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def _migrate(url):
    """Gives a database its schema: the first command for a data folder does."""
    with tempfile.TemporaryDirectory(prefix="martlet-test-") as folder:
        subprocess.run([program(), "user", "list", "--data-dir", folder], check=True, stdin=subprocess.DEVNULL, capture_output=True,
                       env={**os.environ, "MARTLET_DATABASE_URL": url})


class Server:
    """`settings` are flags without their dashes: rate_limits="false" becomes --rate-limits false. The folder is removed by
    `close` unless it was given."""

    def __init__(self, folder=None, **settings):
        self.owns_folder = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="martlet-test-")
        self.port = free_port()
        self.settings = {"server_name": "test.example", "bind": f"127.0.0.1:{self.port}", "data_dir": self.folder,
                         "registration": "open", "rate_limits": "false", "password_hash_memory_mib": "8",
                         "password_hash_iterations": "1", "log_level": "warning",
                         # Its Worker would be most of what many pages cost; tests of encryption have rooms or servers of their own.
                         "encryption": "off",
                         # The ports after a free one are others'.
                         "calls_workers": "1", **settings}
        self.log = os.path.join(self.folder, "test-server.log")
        self.process = None
        logs.append(self.log)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def database_url(self):
        """None with SQLite."""
        return databases.url_for(self.folder, _migrate) if databases.is_postgresql else None

    def start(self):
        arguments = [program(), "serve"]
        for name, value in self.settings.items():
            arguments += ["--" + name.replace("_", "-").replace(".", "-"), str(value)]
        url = self.database_url
        environment = {**os.environ, **({"MARTLET_DATABASE_URL": url} if url else {}), **buckets.settings_for(self.folder)}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)
        end = time.monotonic() + HEALTH_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"martlet serve ended with {self.process.returncode}:\n{self.output()}")
            try:
                urllib.request.urlopen(self.base + "/health", timeout=2).read()
                return self
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"martlet serve is not healthy after {HEALTH_SECONDS} s:\n{self.output()}")

    def kill(self):
        """kill -9: nothing is flushed, nobody is told."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it as an operator would; gives the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def close(self):
        self.stop()
        if databases.is_postgresql and self.owns_folder:
            databases.forget(self.folder)
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def output(self, characters=4000):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()[-characters:]
        except OSError:
            return ""
