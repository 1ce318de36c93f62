"""Databases of PostgreSQL for servers under test, where $MARTLET_TEST_DATABASE is `postgres`: each data folder has one.

The database server is this process's own, and ends with it. A database is a copy of one that has the schema already."""
import atexit
import hashlib
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "Tests", "PostgreSQLTesting", "postgresql-server")
TEMPLATE = "martlet_template"
# Tests may take the path away.
PSQL = shutil.which("psql") or "psql"

is_postgresql = os.environ.get("MARTLET_TEST_DATABASE") == "postgres"
_server = None
_owner = None


class Server:
    """Runs as long as this process: the script ends when nobody has the other end of its input."""

    def __init__(self):
        self.process = subprocess.Popen([SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.folder = self.process.stdout.readline().strip()
        if not self.folder:
            raise SystemExit("PostgreSQL does not start; Scripts/install-dependencies --test installs it")
        self.names = set()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(30)

    def url(self, name):
        return f"postgres://martlet@/{name}?host={self.folder.replace('/', '%2F')}"

    def run(self, sql, database="postgres"):
        """What the server answers, as text without headers."""
        command = [PSQL, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(database), "-c", sql]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def make(self, name, template="template0"):
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8' LOCALE 'C'")
        self.names.add(name)

    def drop(self, name):
        if name in self.names:
            self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self.names.discard(name)


def server():
    """Of this process: lanes are processes, each with its own."""
    global _server, _owner
    if _server is None or _owner != os.getpid():
        _server, _owner = Server(), os.getpid()
    return _server


@atexit.register
def close():
    """Ends this process's database server, if it has one."""
    if _server is not None and _owner == os.getpid():
        _server.close()


def name_of(folder):
    return "t" + hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:20]


def url_for(folder, migrate):
    """The URL of the folder's database, which is made if there is none. `migrate` is called once, with the URL of an empty database: it gives
    it the schema."""
    own, name = server(), name_of(folder)
    if TEMPLATE not in own.names:
        own.make(TEMPLATE)
        migrate(own.url(TEMPLATE))
    if name not in own.names:
        own.make(name, TEMPLATE)
    return own.url(name)


def bring(folder):
    """Copies the folder's database, which no server uses, to its martlet.db, where tests read it; it stays with SQLite."""
    if not is_postgresql or _server is None or name_of(folder) not in server().names:
        return
    import server as martlet
    path = os.path.join(folder, "martlet.db")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    subprocess.run([martlet.program(), "database", "copy", "--from", server().url(name_of(folder)), "--to", "sqlite:" + path],
                   check=True, stdin=subprocess.DEVNULL, capture_output=True)


def needs_sqlite(what):
    from harness import NotRun
    if is_postgresql:
        raise NotRun(f"{what} is for SQLite")


def forget(folder):
    if _server is not None and _owner == os.getpid():
        _server.drop(name_of(folder))
