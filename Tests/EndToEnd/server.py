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
import nodes

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
    `close` unless it was given. `environment`: further variables."""

    def __init__(self, folder=None, environment=None, **settings):
        self.environment = environment or {}
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
        # Further nodes on the same database; the name of this one among several, and the server that is the first of them.
        self.others, self.node, self.first = [], None, self
        # Of further nodes, by their numbers: they stay over a restart.
        self.node_ports, self.public_ports = {}, {}
        logs.append(self.log)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def bases(self):
        """Of all its nodes."""
        return [self.base, *(f"http://127.0.0.1:{port}" for _, port in sorted(self.public_ports.items()))]

    @property
    def _node_count(self):
        """A test that names a node, or the database, is about that one."""
        return 1 if self.node is not None or "database_url" in self.settings else nodes.COUNT

    @property
    def database_url(self):
        """None with SQLite."""
        return databases.url_for(self.folder, _migrate) if databases.is_postgresql else None

    def start(self):
        self.process = self._start(self.settings, 1)
        self._wait_until_healthy(self.process, self.port)
        for number in range(2, self._node_count + 1):
            port = self.public_ports.setdefault(number, free_port())
            settings = {**self.settings, "bind": f"127.0.0.1:{port}", "data_dir": nodes.folder_of(self.folder, number)}
            # Tests look at the metrics of the first.
            settings.pop("metrics_bind", None)
            self.others.append(self._start(settings, number))
            self._wait_until_healthy(self.others[-1], port)
        if self.others:
            nodes.take_turns([base.removeprefix("http://") for base in self.bases])
        return self

    def _start(self, settings, number):
        arguments = [program(), "serve"]
        for name, value in settings.items():
            arguments += ["--" + name.replace("_", "-").replace(".", "-"), str(value)]
        url = self.database_url
        is_node = self.node is not None or self._node_count > 1
        environment = {**os.environ, **self.environment, **buckets.settings_for(self.first.folder, always=is_node)}
        if url:
            environment["MARTLET_DATABASE_URL"] = url
        if is_node:
            port = self.node_ports.setdefault(number, free_port())
            environment |= {"MARTLET_CLUSTER_NODE": self.node or f"node{number}", "MARTLET_CLUSTER_BIND": f"127.0.0.1:{port}",
                            "MARTLET_SHUTDOWN_DRAIN_SECONDS": "0"}
        with open(self.log, "ab") as log:
            return subprocess.Popen(arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)

    def _wait_until_healthy(self, process, port):
        end = time.monotonic() + HEALTH_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                raise SystemExit(f"martlet serve ended with {process.returncode}:\n{self.output()}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).read()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"martlet serve is not healthy after {HEALTH_SECONDS} s:\n{self.output()}")

    def kill(self):
        """kill -9: nothing is flushed, nobody is told."""
        for process in [*self.others, self.process]:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.others = []

    def stop(self):
        """Ends it as an operator would; gives the exit code."""
        if self.process is None:
            return None
        for process in [*self.others, self.process]:
            if process.poll() is not None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.others = []
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
