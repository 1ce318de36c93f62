"""A server on PostgreSQL: what it refuses at its start, its database going away, text that PostgreSQL cannot store, copies from SQLite and back."""
import contextlib
import os
import subprocess
import time

import databases
import invariants
from client import Api, User, bodies, room_path, timeline
from harness import PATIENCE, NotRun, test
from server import Server, program
from test_invariants import eventful

SECRET = "a-password-nobody-sees"


@contextlib.contextmanager
def database(name, options="TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"):
    """The URL of an empty database."""
    if not os.path.exists("/usr/lib/postgresql") and subprocess.run(["which", "initdb"], capture_output=True).returncode:
        raise NotRun("PostgreSQL is not installed (Scripts/install-dependencies --test)")
    server = databases.server()
    server.run(f"CREATE DATABASE {name} {options}")
    try:
        yield server.url(name)
    finally:
        server.run(f"DROP DATABASE {name} WITH (FORCE)")


def refused(url, **settings):
    """What a server says that does not start."""
    server = Server(database_url=url, **settings)
    try:
        server.start()
    except SystemExit:
        return server.output()
    finally:
        server.close()
    raise AssertionError(f"a server started on {url}")


@test("a server says plainly why it does not start on a database, and never shows the password")
def refusals(context):
    address = f"postgres://ann:{SECRET}@127.0.0.1:1/chat"
    shown = refused(address)
    assert "postgres://127.0.0.1:1/chat cannot be reached" in shown and SECRET not in shown, shown
    shown = refused("postgres://ann@127.0.0.1:1/chat", database_password=SECRET)
    assert "cannot be reached" in shown and SECRET not in shown, shown
    checked = subprocess.run([program(), "config", "check", "--database-url", address], capture_output=True, text=True, check=True)
    assert SECRET not in checked.stdout + checked.stderr and "postgres://127.0.0.1:1/chat" in checked.stdout, checked.stdout
    wrong = subprocess.run([program(), "config", "check", "--database-url", f"postgres://a:{SECRET}%00@b/c"], capture_output=True, text=True)
    assert wrong.returncode != 0 and "database.url" in wrong.stderr and SECRET not in wrong.stdout + wrong.stderr, wrong.stderr
    with database("latin", "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'") as url:
        assert "createdb" in refused(url)
    with database("twice") as url:
        first = Server(database_url=url).start()
        try:
            shown = refused(url)
            assert "in use by another server" in shown and str(first.process.pid) in shown, shown
            assert Api(first.base).get("/_matrix/client/versions").status == 200
        finally:
            first.close()


@test("text with U+0000 is refused with M_BAD_JSON, and nothing else suffers from it")
def zero_bytes(context):
    with database("zeros") as url:
        server = Server(database_url=url).start()
        try:
            ann = User(server.base)
            room = ann.create_room()
            for name in ("a\0b", "\0"):
                answer = ann.put(f"profile/{ann.user_id}/displayname", {"displayname": name})
                assert answer.status == 200 or answer.fails(400, "M_BAD_JSON")
                answer = ann.put(f"devices/{ann.device_id}", {"display_name": name})
                assert answer.status == 200 or answer.fails(400, "M_BAD_JSON")
                answer = ann.state(room, "m.room.name", {"name": name})
                assert answer.status == 200 or answer.fails(400, "M_BAD_JSON")
                answer = ann.put(f"user/{ann.user_id}/account_data/a.type", {"a": name})
                assert answer.status == 200 or answer.fails(400, "M_BAD_JSON")
            # Content of events is bytes to the database.
            event = ann.send(room, "with a \0 inside")
            assert ann.get(room_path(room, "event", event)).ok()["content"]["body"] == "with a \0 inside"
            assert "request failed" not in server.output(), server.output()
        finally:
            server.close()


@test("while the database is away requests get 503 and Retry-After, and everything goes on when it is back")
def away(context):
    with database("away") as url:
        server = Server(database_url=url).start()
        try:
            ann = User(server.base)
            room = ann.create_room()
            ann.send(room, "before")
            databases.server().run("ALTER DATABASE away ALLOW_CONNECTIONS false")
            databases.server().run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'away'")
            answer = ann.put(room_path(room, "send", "m.room.message", "t1"), {"msgtype": "m.text", "body": "during"})
            # The server waits five seconds for a database that has just gone away, and then refuses at once.
            assert answer.status == 503 and answer.headers["Retry-After"] == "1", (answer.status, answer.body)
            assert ann.get("/health").status == 200
            databases.server().run("ALTER DATABASE away ALLOW_CONNECTIONS true")
            end = time.monotonic() + PATIENCE
            while ann.put(room_path(room, "send", "m.room.message", "t1"), {"msgtype": "m.text", "body": "during"}).status != 200:
                assert time.monotonic() < end, server.output()
                time.sleep(0.05)
            ann.send(room, "after")
            assert bodies(timeline(ann.sync(), room))[-3:] == ["before", "during", "after"]
        finally:
            server.close()


def copy(source, target):
    done = subprocess.run([program(), "database", "copy", "--from", source, "--to", target], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@test("a server moves from SQLite to PostgreSQL and back: with all that was there, and all invariants hold")
def there_and_back(context):
    if databases.is_postgresql:
        raise NotRun("it begins with SQLite")
    with database("moved") as url:
        server = Server().start()
        file = os.path.join(server.folder, "martlet.db")
        try:
            eventful(server.base)
            ann, bob = User(server.base), User(server.base)
            room = ann.create_room(preset="public_chat")
            bob.join(room)
            ann.send(room, "grasshopper")
            since = bob.sync()["next_batch"]
            busy = subprocess.run([program(), "database", "copy", "--from", "sqlite:" + file, "--to", url], capture_output=True, text=True)
            assert busy.returncode == 1 and "in use" in busy.stderr, busy.stderr
            assert server.stop() == 0
            assert "are the same" in copy("sqlite:" + file, url)

            server.settings["database_url"] = url
            server.start()
            for user in (ann, bob):
                user.base = server.base
            found = []
            end = time.monotonic() + PATIENCE
            while not found and time.monotonic() < end:
                answer = ann.post("search", {"search_categories": {"room_events": {"search_term": "GRASSHOPPER"}}}).ok()
                found = answer["search_categories"]["room_events"]["results"]
            assert len(found) == 1
            ann.send(room, "from PostgreSQL")
            assert bodies(timeline(bob.sync(since=since), room)) == ["from PostgreSQL"]
            assert server.stop() == 0

            os.rename(file, file + ".old")
            copy(url, "sqlite:" + file)
            assert not invariants.report(server.folder), invariants.report(server.folder)
            del server.settings["database_url"]
            server.start()
            assert bodies(timeline(bob.sync(since=since), room)) == ["from PostgreSQL"]
        finally:
            server.close()
