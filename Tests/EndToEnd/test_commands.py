"""What every command of the shell prints: `commands.txt` has the commands and their output, as a person sees them.

`MARTLET_ACCEPT_LOOKS=1 Tests/EndToEnd/run --only commands` writes it anew; read the difference aloud before it is committed.
"""
import difflib
import json
import os
import re
import shlex
import subprocess
import tempfile
from types import SimpleNamespace

import databases
from client import PASSWORD, User, room_path
from harness import test
from server import ROOT, Server, program

KEPT = os.path.join(ROOT, "Tests", "EndToEnd", "commands.txt")
# Text of others: an escape sequence, a change of direction, a second line.
HOSTILE = "A \u001b[31mred\u202e name\nof two lines"


class Transcript:
    """Runs commands against one data folder, and writes down what they print."""

    def __init__(self, server, folder):
        self.server = server
        self.settings = [word for name in ("server_name", "data_dir", "password_hash_memory_mib", "password_hash_iterations")
                         for word in ("--" + name.replace("_", "-"), str(server.settings[name]))]
        # Without the variables of the tests themselves, which `config check` would warn of.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("MARTLET_")} | {"XDG_DATA_HOME": folder}
        self.text = ""
        self.names = [(server.folder, "/var/lib/martlet"), (server.base, "https://test.example")]

    def call(self, *words, stdin="", code=0, settings=False, only_comments=False):
        """`only_comments`: of an output that is a settings file, keeps the lines that have no setting."""
        done = subprocess.run([program(), *words, *(self.settings if settings else [])], input=stdin, capture_output=True, text=True,
                              timeout=120, env=self.environment)
        shown = done.stdout + done.stderr
        assert done.returncode == code, f"{words} ended with {done.returncode}: {shown}"
        assert "\u001b" not in shown and "\u202e" not in shown, f"{words}: {shown!r}"
        if only_comments:
            shown = "".join(line for line in shown.splitlines(keepends=True) if line.startswith("#"))
        status = "" if code == 0 else f"[{code}]\n"
        self.text += f"$ martlet {shlex.join(words)}\n{shown}{status}\n"
        return done.stdout

    def admin(self, *words, **options):
        return self.call(*words, settings=True, **options)

    def quietly(self, *words):
        return subprocess.run([program(), *words, *self.settings], capture_output=True, text=True, timeout=120).stdout

    def heading(self, text):
        self.text += f"# {text}\n\n"

    def name(self, value, shown):
        """`value` differs from run to run; `shown` takes its place."""
        self.names.append((value, shown))

    def stable(self):
        text = self.text
        for value, shown in sorted(self.names, key=lambda name: -len(name[0])):
            text = text.replace(value, shown)
        text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d", "2026-11-20 22:48", text)
        text = re.sub(r"\b1[789]\d{11}\b", "1795214880000", text)
        text = re.sub(r'(--before |"entry":|"next_before":|"age":)\d+', r"\g<1>7", text)
        text = re.sub(r"!(?=.*[A-Z0-9])[\w-]{43}", "!other", text)
        # Columns are as wide as the longest text, whose length may differ.
        return re.sub(r"(?<=[^\s|]) {2,}(?=\S)", "  ", text)


def log_in(base, name):
    return User(base, login_as=SimpleNamespace(user_id=f"@{name}:test.example"))


def ordinary(shell):
    shell.heading("Help and mistakes")
    shell.call("version")
    shell.text += "$ martlet help\n" + re.sub(
        r"(?s)(\n--config FILE or .*?\n\n).*?(?=A client for any)", r"\1  (the settings of Documentation/Configuration.md)\n\n",
        subprocess.run([program(), "help"], capture_output=True, text=True, timeout=60).stdout) + "\n"
    shell.call(code=64)
    shell.call("nonsense", code=64)
    shell.call("user", "lock", code=64)
    shell.call("user", "lock", "--help", code=0)
    shell.call("call", "key", code=64)
    shell.call("call", "key", "--help")
    shell.call("help", "token")
    shell.call("user", "add", "ann", "--json", "--help")
    shell.call("backup", "--help")
    shell.call("media", "copy", "--help")
    shell.call("config", "check", "--help")
    shell.call("help", "nonsense", code=64)
    shell.call("user", "frobnicate", code=64)
    shell.admin("user", "list", "--limit", "0", code=64)
    shell.call("send", "--help")
    shell.call("send", "--nonsense", code=64)
    shell.call("config", "check", "--nonsense", "1", code=78)
    shell.call("config", "check", "--public-url", "https://chat.example.org", code=78)
    with tempfile.TemporaryDirectory() as folder:
        check_files(shell, folder)
    shell.call("config", code=64)
    shell.call("user", "lock", "ann", "bob", code=64)


def check_files(shell, folder):
    """What `config check` says of files as people write them: each mistake, and the end of its output for two that are valid."""
    path = os.path.join(folder, "martlet.yaml")
    shell.name(path, "martlet.yaml")
    for text in ("server_name: chat.example.org\nlog:\n\tlevel: debug\n", "log:\n  level: debug\n   format: json\n",
                 "log:\nlevel: debug\n", "mail:\n  password: swordfish\n from: a@example.org\n", "support.contacts: @ann:example.org\n",
                 "public_url: https://chat.example.org\n", "log: debug\n"):
        write(shell, path, text)
        shell.call("config", "check", "--config", path, code=78)
    for text in ("server_name: chat.example.org\n", "public_base_url: https://chat.example.org\nregistration: open\n"):
        write(shell, path, text)
        shell.call("config", "check", "--config", path, only_comments=True)


def write(shell, path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    shell.text += "$ cat martlet.yaml\n" + text.replace("\t", "→") + "\n"


def folders(shell, folder):
    shell.heading("Folders that are no data folder")
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    for words in (["user", "list"], ["check"], ["backup", os.path.join(folder, "copy")]):
        for path in (os.path.join(folder, "typo"), empty, "/dev/null"):
            shell.call(*words, "--data-dir", path, code=1)
    shell.call("restore", empty, "--data-dir", os.path.join(folder, "typo"), code=1)
    assert os.listdir(empty) == [] and sorted(os.listdir(folder)) == ["empty"]


def accounts(shell):
    shell.heading("Accounts, while no server runs")
    password = PASSWORD + "\n"
    shell.admin("user", "add", "ann", "--admin", stdin=password)
    shell.admin("user", "add", "bob", stdin=password)
    shell.admin("user", "add", "bob", stdin=password, code=1)
    shell.admin("user", "add", "carl", stdin="\n", code=1)
    shell.admin("user", "lock", "bob")
    shell.admin("user", "list")
    shell.admin("user", "unlock", "bob")
    shell.admin("user", "suspend", "bob")
    shell.admin("user", "show", "bob")
    shell.admin("user", "unsuspend", "bob")
    shell.admin("user", "admin", "bob")
    shell.admin("user", "admin", "bob", "--remove")
    shell.admin("user", "reset-password", "bob", stdin=password)
    shell.admin("user", "lock", "nobody", code=1)
    shell.admin("token", "create", "--token", "come-in", "--uses", "2", "--days", "3")
    shell.admin("token", "list")
    shell.admin("token", "delete", "come-in")
    shell.admin("token", "list")
    shell.admin("media", "check", code=1)
    shell.admin("media", "copy", "--to", "s3", code=64)
    shell.admin("media", "copy", code=64)
    shell.admin("invite-link", "list")
    shell.admin("invite-link", "revoke", "none", code=1)
    shell.admin("report", "list")


def content(shell):
    base = shell.server.base
    ann, bob = log_in(base, "ann"), log_in(base, "bob")
    bob.put(f"profile/{bob.user_id}/displayname", {"displayname": HOSTILE}).ok()
    room = ann.create_room(name=HOSTILE, topic="Leaves", preset="public_chat", room_alias_name="tea")
    bob.join(room)
    first, second = ann.send(room, "first"), bob.send(room, "second")
    shell.name(room, "!tea:test.example")
    shell.name(first, "$first")
    shell.name(second, "$second")
    shell.heading("Rooms, files and reports, through a running server")
    shell.admin("room", "list")
    shell.admin("room", "show", room)
    shell.admin("room", "purge-history", room, "--before-event", second, code=64)
    shell.admin("room", "purge-history", room, "--yes", code=64)
    shell.admin("room", "purge-history", room, "--before-event", second, "--yes")
    shell.admin("room", "block", room)
    shell.admin("room", "unblock", room)
    ann.post(room_path(room, "report", second), {"reason": HOSTILE}).ok()
    shell.admin("report", "list")
    number = str(json.loads(shell.quietly("report", "list", "--json"))["reports"][0]["id"])
    shell.name(f"{number}  ", "1  ")
    shell.name(f" {number}\n", " 1\n")
    shell.admin("report", "show", number)
    shell.admin("report", "delete", number)
    uri = ann.request("POST", "/_matrix/media/v3/upload?filename=tea.txt", body=b"x" * 2048, headers={"Content-Type": "text/plain"}).ok()["content_uri"]
    shell.name(uri.split("/")[-1], "MEDIA")
    shell.admin("media", "list", "ann")
    shell.admin("media", "statistics")
    shell.admin("media", "quarantine", uri)
    shell.admin("media", "unquarantine", uri)
    shell.admin("media", "delete", uri, code=64)
    shell.admin("media", "delete", uri, "--yes")
    shell.admin("notice", "send", "bob", "The server is down on Sunday.")
    shell.admin("notice", "broadcast", "The server is up again.", "--yes")
    return room


def calls(shell):
    shell.heading("Keys for calls")
    shown = shell.admin("call", "key", "add", "shop")
    key, secret = (line.split()[-1] for line in shown.splitlines())
    shell.name(key, "4596882123")
    shell.name(secret, "SECRET")
    shell.admin("call", "key", "list")
    shell.admin("call", "key", "callback", key, "https://shop.example/calls")
    shell.admin("call", "key", "callback", key, "none")
    shell.admin("call", "key", "remove", key, code=64)
    shell.admin("call", "key", "remove", key, "--yes")


def terminal(shell, room, folder):
    shell.heading("A client in the terminal")
    shell.call("rooms", code=3)
    shown = shell.call("login", "@bob:test.example", "--homeserver", shell.server.base, "--password-stdin", stdin=PASSWORD + "\n")
    assert "bob" in shown
    shell.call("rooms")
    shell.call("read", room)
    shell.call("send", room, "**hello**")
    shell.call("send", "Nowhere", "hello", code=4)
    shell.call("send", room, code=64)
    shell.call("read", "#tea:test.example", "--limit", "1")
    ann = log_in(shell.server.base, "ann")
    ann.put(room_path(room, "state", "m.room.encryption", ""), {"algorithm": "m.megolm.v1.aes-sha2"}).ok()
    shell.call("send", room, "hello")
    plan = os.path.join(folder, "plan.txt")
    with open(plan, "w") as file:
        file.write("Tea at four")
    shell.call("send", room, "--file", plan)
    page = os.path.join(folder, "tea.html")
    shell.name(folder, "/home/bob")
    shell.call("export", room, "--to", page)
    shell.call("logout")


def ends(shell, room):
    shell.heading("What is for good")
    shell.admin("room", "delete", room, code=64)
    shell.admin("room", "delete", room, "--yes")
    shell.admin("room", "show", room, code=1)
    shell.admin("user", "deactivate", "bob", code=64)
    shell.admin("user", "deactivate", "bob", "--yes")
    shell.admin("user", "list", "--deactivated")
    shell.admin("statistics")
    shell.admin("audit", "--limit", "3")
    shell.admin("audit", "--limit", "1", "--json")


@test("every command of the shell prints what commands.txt says")
def commands(context):
    databases.needs_sqlite("commands.txt")
    server = Server()
    with tempfile.TemporaryDirectory(prefix="martlet-commands-") as folder:
        shell = Transcript(server, folder)
        try:
            server.start().stop()
            ordinary(shell)
            folders(shell, folder)
            accounts(shell)
            server.start()
            room = content(shell)
            calls(shell)
            terminal(shell, room, folder)
            ends(shell, room)
        finally:
            server.close()
    text = shell.stable()
    if os.environ.get("MARTLET_ACCEPT_LOOKS") == "1":
        with open(KEPT, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(KEPT, encoding="utf-8") as file:
        kept = file.read()
    difference = "\n".join(difflib.unified_diff(kept.splitlines(), text.splitlines(), "commands.txt", "what is printed", lineterm=""))
    assert not difference, difference
