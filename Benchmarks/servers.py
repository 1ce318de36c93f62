"""The servers the comparison puts side by side, each started fresh on a free loopback port and ended by its process ID."""
import atexit
import fcntl
import filecmp
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "Tests", "EndToEnd"))
from relay import Relay  # noqa: E402

UNLIMITED = 1_000_000


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A homeserver process with a folder of its own. Subclasses give `name`, `prepare()` and `command()`."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.port = free_port()
        self.process = None
        os.makedirs(self.folder, exist_ok=True)
        self.prepare()

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    @property
    def pids(self):
        """The processes whose time is the server's."""
        return [self.pid]

    def start(self, seconds=120):
        log = open(os.path.join(self.folder, "output.log"), "ab")
        self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended with {self.process.returncode}; see {log.name}")
            try:
                urllib.request.urlopen(self.base + "/_matrix/client/versions", timeout=2).read()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.name} did not answer within {seconds} s; see {log.name}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def shell_command(self):
        return "exec " + shlex.join(self.command())

    def version(self):
        """What the server calls itself."""
        url = self.base + "/_matrix/federation/v1/version"
        try:
            return json.load(urllib.request.urlopen(url, timeout=5))["server"]["version"].split(" ")[0]
        except (OSError, ValueError, KeyError):
            return ""


class Martlet(Server):
    name = "martlet"
    program = os.environ.get("MARTLET_PROGRAM") or os.path.join(ROOT, ".build", "release", "martlet")

    def prepare(self):
        pass

    def command(self):
        return [self.program, "serve", "--server-name", "load.test", "--bind", f"127.0.0.1:{self.port}", "--data-dir", self.folder,
                "--registration", "open", "--rate-limits", "false", "--password-hash-memory-mib", "8", "--password-hash-iterations", "1"]


class MartletOnPostgreSQL(Martlet):
    """On a database of its own server, which syncs each commit to the disk as SQLite does."""
    name = "martlet-postgresql"
    script = os.path.join(ROOT, "Tests", "PostgreSQLTesting", "postgresql-server")
    # Seconds for which a relay holds each packet, as a network would.
    delay = 0.0

    def prepare(self):
        self.postgresql = subprocess.Popen([self.script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                           env={**os.environ, "MARTLET_POSTGRESQL_FSYNC": "on"})
        folder = self.postgresql.stdout.readline().strip()
        if not folder:
            raise SystemExit("PostgreSQL does not start; Scripts/install-dependencies --test installs it")
        atexit.register(self.close)
        socket_url = f"postgres://martlet@/{{}}?host={folder.replace('/', '%2F')}"
        subprocess.run(["psql", "-X", "-q", socket_url.format("postgres"), "-c",
                        "CREATE DATABASE load TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"], check=True)
        self.url = Relay(folder + "/.s.PGSQL.5432", self.delay).url("load") if self.delay else socket_url.format("load")
        with open(os.path.join(folder, "data", "postmaster.pid")) as f:
            self.postmaster = int(f.readline())

    def command(self):
        return super().command() + ["--database-url", self.url]

    @property
    def pids(self):
        """The server and its database: each connection has a process."""
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.postmaster)], capture_output=True, text=True).stdout.split()
        return [self.pid, self.postmaster, *map(int, children)]

    def close(self):
        if self.postgresql.poll() is None:
            self.postgresql.stdin.close()
            self.postgresql.wait(30)


class MartletFarFromPostgreSQL(MartletOnPostgreSQL):
    """The same with a millisecond each way between the two."""
    name = "martlet-postgresql-1ms"
    delay = 0.001


def before(kind, path):
    """Another build of Martlet, beside this one."""
    return type(kind.__name__ + "Before", (kind,), {"name": kind.name + "-before", "program": path})


class Synapse(Server):
    """Synapse from PyPI as its documentation sets it up with SQLite, but without rate limits, presence and federation, and
    with the cheapest password hash. Durability is its own default: SQLite's write-ahead log with synchronous=FULL, so
    a message is on the disk (fsync of the log) before its 200, as in Martlet."""
    name = "synapse"
    venv = os.path.join(ROOT, ".build", "synapse-venv")
    requirements = os.path.join(ROOT, "Scripts", "synapse-requirements.txt")

    @classmethod
    def install(cls):
        """Raises where PyPI does not give it. Lanes of the tests may ask side by side: one installs, the others wait."""
        with open(cls.venv + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            cls._install()

    @classmethod
    def _install(cls):
        python = os.path.join(cls.venv, "bin", "python")
        installed = os.path.join(cls.venv, "installed-requirements.txt")
        if os.path.exists(installed) and filecmp.cmp(cls.requirements, installed, shallow=False) \
                and subprocess.run([python, "-c", "import synapse"], capture_output=True).returncode == 0:
            return
        print("installing matrix-synapse into", os.path.relpath(cls.venv, ROOT), file=sys.stderr)
        shutil.rmtree(cls.venv, ignore_errors=True)
        subprocess.check_call([sys.executable, "-m", "venv", cls.venv])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--require-hashes", "-r", cls.requirements])
        shutil.copy(cls.requirements, installed)

    def command(self):
        return [os.path.join(self.venv, "bin", "python"), "-m", "synapse.app.homeserver", "-c", os.path.join(self.folder, "homeserver.yaml")]

    # Settings a caller may change before `start`.
    overrides = {}

    def prepare(self):
        def path(name):
            return os.path.join(self.folder, name)

        rate = {"per_second": UNLIMITED, "burst_count": UNLIMITED}
        settings = {
            "server_name": "load.test", "report_stats": False, "pid_file": path("pid"), "signing_key_path": path("signing.key"),
            "listeners": [{"port": self.port, "bind_addresses": ["127.0.0.1"], "type": "http", "tls": False,
                           "resources": [{"names": ["client", "federation"], "compress": False}]}],
            "database": {"name": "sqlite3", "args": {"database": path("homeserver.db")}},
            "media_store_path": path("media"), "log_config": path("log.yaml"),
            "enable_registration": True, "enable_registration_without_verification": True,
            "registration_shared_secret": "load", "macaroon_secret_key": "load", "form_secret": "load", "bcrypt_rounds": 4,
            "presence": {"enabled": False}, "federation_domain_whitelist": [], "trusted_key_servers": [],
            "suppress_key_server_warning": True, "url_preview_enabled": False,
        }
        for name in ("message", "registration", "registration_token_validity", "admin_redaction", "room_creation", "joins_per_room",
                     "third_party_invite", "media_create", "delayed_event_mgmt", "reports", "user_directory"):
            settings["rc_" + name] = rate
        settings["rc_login"] = {"address": rate, "account": rate, "failed_attempts": rate}
        settings["rc_joins"] = {"local": rate, "remote": rate}
        settings["rc_invites"] = {"per_room": rate, "per_user": rate, "per_issuer": rate}
        settings["rc_presence"] = {"per_user": rate}
        settings.update(self.overrides)
        logging = {"version": 1, "disable_existing_loggers": False, "root": {"level": "WARNING", "handlers": ["file"]},
                   "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
                   "handlers": {"file": {"class": "logging.FileHandler", "filename": path("synapse.log"), "formatter": "plain"}}}
        for name, value in (("homeserver.yaml", settings), ("log.yaml", logging)):  # JSON is YAML
            with open(path(name), "w") as f:
                json.dump(value, f, indent=1)
        if not os.path.exists(path("signing.key")):
            code = "import sys; from signedjson.key import generate_signing_key, write_signing_keys; write_signing_keys(sys.stdout, [generate_signing_key('a')])"
            key = subprocess.check_output([os.path.join(self.venv, "bin", "python"), "-c", code])
            with open(path("signing.key"), "wb") as f:
                f.write(key)
