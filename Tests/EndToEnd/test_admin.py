"""The operator's subcommands, on a data folder of their own: while no server runs, and through one that does."""
import json
import os
import pty
import select
import stat
import subprocess
import threading
import time

from client import PASSWORD, Api, User, room_path
from harness import PATIENCE, test
from server import Server, program
from shell import Operator

TEXT = "The server is down on Sunday.\u001b[2J"


def log_in(base, name, password=PASSWORD):
    body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": password}
    return Api(base).post("login", body)


def administer(operator, name):
    """Every subcommand for accounts, the same whether a server runs or not."""
    user = f"@{name}:test.example"
    assert operator.run("user", "add", name, stdin=PASSWORD + "\n") == user + "\n"
    assert "already" in operator.run("user", "add", name, stdin=PASSWORD + "\n", code=1)
    assert "is locked" in operator.run("user", "lock", name)
    assert operator.json("user", "show", user)["locked"] is True
    operator.run("user", "unlock", name)
    operator.run("user", "suspend", name)
    assert operator.json("user", "show", name)["suspended"] is True
    operator.run("user", "unsuspend", user)
    operator.run("user", "admin", name)
    assert [row["name"] for row in operator.json("user", "list", "--admins", "--search", name)["users"]] == [user]
    operator.run("user", "admin", name, "--remove")
    operator.run("user", "reset-password", name, stdin="another password\n")
    assert user in operator.run("user", "list")
    assert "no such account" in operator.run("user", "lock", "nobody" + name, code=1)
    assert "--yes" in operator.run("user", "deactivate", name, code=64)
    token = operator.run("token", "create", "--uses", "2", "--days", "3").strip()
    assert token in operator.run("token", "list")
    operator.run("token", "delete", token)
    assert token not in operator.run("token", "list")
    assert operator.json("statistics")["users"] >= 1
    assert operator.json("report", "list")["reports"] == []
    actions = [entry["action"] for entry in operator.json("audit", "--target", user)["entries"]]
    assert actions[-1] == "user.create" and "user.reset_password" in actions, actions
    assert PASSWORD not in operator.run("audit") and token not in operator.run("audit")


@test("the operator's commands do the same with the server stopped and running")
def stopped_and_running(context):
    server = Server()
    operator = Operator(server)
    try:
        # The folder is made by the server's first start.
        if not server.database_url:
            assert "there is no database" in operator.run("user", "add", "early", stdin=PASSWORD + "\n", code=1)
            assert sorted(os.listdir(server.folder)) == []
        server.start().stop()
        administer(operator, "stopped")
        server.start()
        path = os.path.join(server.folder, "admin.sock")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        administer(operator, "running")
        for name in ("stopped", "running"):
            assert log_in(server.base, name, "another password").status == 200
        session = log_in(server.base, "running", "another password").json
        operator.run("user", "deactivate", "running", "--yes")
        assert Api(server.base, session["access_token"]).get("account/whoami").status == 401
        assert server.stop() == 0
        assert not os.path.exists(path)
        assert operator.json("user", "show", "running")["deactivated"] is True
    finally:
        server.close()


@test("the data folder alone is enough for a command: it tells the server's name")
def data_folder_alone(context):
    server = Server().start()
    operator = Operator(server)
    try:
        operator.settings = ["--data-dir", server.folder]
        for name in ("running", "stopped"):
            if name == "stopped":
                server.stop()
                if server.database_url:
                    operator.settings += ["--database-url", server.database_url]
            assert operator.run("user", "add", name, stdin=PASSWORD + "\n") == f"@{name}:test.example\n"
            assert operator.json("user", "show", name)["name"] == f"@{name}:test.example"
            assert "test.example" in operator.run("user", "show", name, "--server-name", "other.example", code=1)
        assert operator.json("user", "show", "running")["name"] == "@running:test.example"
    finally:
        server.close()


@test("the operator deletes rooms, histories and files of a running server, and is asked first")
def content(context):
    server = Server().start()
    operator = Operator(server)
    try:
        ann, bob = User(server.base, "ann"), User(server.base, "bob")
        room = ann.create_room(preset="public_chat", name="Bad \u001b[31mroom")
        bob.join(room)
        first, second = ann.send(room, "first"), ann.send(room, "second")
        listed = operator.run("room", "list")
        assert room in listed and "\u001b" not in listed
        assert bob.user_id in operator.run("room", "show", room)
        assert "1 message deleted" in operator.run("room", "purge-history", room, "--before-event", second, "--yes")
        ann.get(room_path(room, "event", first)).fails(404, "M_NOT_FOUND")
        operator.run("room", "purge-history", room, "--yes", code=64)
        operator.run("room", "block", room)
        operator.run("room", "unblock", room)
        bob.post(room_path(room, "report", second), {"reason": "spam"}).ok()
        number = str(operator.json("report", "list")["reports"][0]["id"])
        assert operator.json("report", "show", number)["event_json"]["content"]["body"] == "second"
        operator.run("report", "delete", number)

        upload = ann.request("POST", "/_matrix/media/v3/upload", body=b"x" * 2048, headers={"Content-Type": "text/plain"}).ok()
        uri = upload["content_uri"]
        download = "/_matrix/client/v1/media/download/" + uri.removeprefix("mxc://")
        assert "2.0 KiB" in operator.run("media", "list", ann.user_id)
        assert ann.user_id in operator.run("media", "statistics")
        operator.run("media", "quarantine", uri)
        assert ann.get(download).status == 404
        operator.run("media", "unquarantine", uri)
        assert ann.get(download).status == 200
        operator.run("media", "delete", uri, "--yes")
        assert ann.get(download).status == 404

        assert "--yes" in operator.run("room", "delete", room, code=64)
        answered = on_terminal([program(), "room", "delete", room, *operator.settings], b"n\n")
        assert "[y/N]" in answered and "nothing was done" in answered, answered
        answered = on_terminal([program(), "room", "delete", room, "--block", *operator.settings], b"y\n")
        assert "2 members removed" in answered, answered
        bob.post("join/" + room).fails((403, 404), ("M_FORBIDDEN", "M_NOT_FOUND"))
        assert "no such room" in operator.run("room", "show", room, code=1)
    finally:
        server.close()


def on_terminal(command, answer):
    """What a command shows on a terminal where somebody types `answer`."""
    process, descriptor = pty.fork()
    if process == 0:
        os.execv(command[0], command)
    os.write(descriptor, answer)
    shown = b""
    while select.select([descriptor], [], [], 60)[0]:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.waitpid(process, 0)
    os.close(descriptor)
    return shown.decode(errors="replace")


@test("a broadcast reaches everyone once, also when the server is killed in the middle of it")
def broadcast(context):
    server = Server().start()
    operator = Operator(server)
    try:
        people = [User(server.base, "p") for _ in range(40)]
        sender = threading.Thread(target=lambda: subprocess.run(
            [program(), "notice", "broadcast", TEXT, "--yes", *operator.settings], capture_output=True, timeout=120))
        sender.start()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not invitations(people[0]):
            pass
        server.kill()
        sender.join()
        server.start()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            audit = operator.json("audit", "--action", "notice.broadcast")["entries"]
            if all(invitations(person) for person in people):
                break
        assert len(audit) == 1
        for person in people:
            rooms = invitations(person)
            assert len(rooms) == 1
            person.join(rooms[0])
            chunk = person.get(room_path(rooms[0], "messages"), dir="b").ok()["chunk"]
            bodies = [event["content"].get("body") for event in chunk if event["type"] == "m.room.message"]
            assert bodies == [TEXT], bodies
        operator.run("notice", "send", people[0].user_id, "Only you.")
        chunk = people[0].get(room_path(invitations(people[0], "join")[0], "messages"), dir="b").ok()["chunk"]
        assert chunk[0]["content"]["body"] == "Only you."
    finally:
        server.close()


def invitations(user, kind="invite"):
    return list(user.get("sync", timeout=0).ok().get("rooms", {}).get(kind, {}))


@test("commands say what is wrong with them")
def mistakes(context):
    server = Server().start()
    operator = Operator(server)
    try:
        server.stop()
        for words in (["user", "lock"], ["user", "lock", "a", "b"], ["user", "list", "--limit", "0"], ["user", "list", "--limit"],
                      ["user", "list", "--json", "--json"], ["audit", "--before", "x"]):
            assert operator.run(*words, code=64).startswith("martlet: "), words
        assert "unknown setting --what" in operator.run("user", "list", "--what", "x", code=78)
        assert "user list, user show" in operator.run("user", "frobnicate", code=64)
    finally:
        server.close()
