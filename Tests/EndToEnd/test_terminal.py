"""`martlet` as a client in a terminal: the program as it is built, against the test server."""
import contextlib
import glob
import json
import os
import pty
import select
import signal
import socket
import stat
import subprocess
import tempfile
import time

from chromium import chromium
from clear_text import ALWAYS_SEALED, found_in_folder, specific
from client import PASSWORD, User, fresh, room_path
from harness import PATIENCE, test
from server import free_port, program

HOSTILE = "<script>document.title = 'hacked'</script><img src=x onerror=\"document.title = 'hacked'\"> \u001b[2J\u202e"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082")


class Terminal:
    """One person's shell, with a data folder of its own."""

    def __init__(self, context):
        self.context = context
        self.folder = tempfile.TemporaryDirectory(prefix="martlet-terminal-")
        self.environment = {**os.environ, "XDG_DATA_HOME": os.path.join(self.folder.name, "data")}
        self.said = set()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        data = self.environment["XDG_DATA_HOME"]
        # The session lies beside the store, for its owner only: a program that only sends needs no key of the store.
        found = found_in_folder(data, *ALWAYS_SEALED, PASSWORD, *self.tokens(), *specific(self.said), without=["session.json"])
        self.folder.cleanup()
        assert kind or not found, f"the store is not sealed: {found}"

    def tokens(self):
        tokens = []
        for path in glob.glob(os.path.join(self.environment["XDG_DATA_HOME"], "martlet", "accounts", "*", "session.json")):
            with open(path, encoding="utf-8") as file:
                session = json.load(file)
            tokens += [session[name] for name in ("access_token", "refresh_token") if session.get(name)]
        return tokens

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, *words, stdin="", code=0, folder=None):
        """Standard output, or standard error where it fails as it should."""
        if words[:1] == ("send",):
            self.said.update([*(word for word in words[2:] if word[:1] not in "-/"), *filter(None, [stdin.strip()])])
        done = subprocess.run(
            [os.path.abspath(program()), *words], input=stdin, capture_output=True, text=True, timeout=120, env=self.environment, cwd=folder)
        assert done.returncode == code, f"martlet {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}"
        assert "\u001b" not in done.stdout + done.stderr, "an escape sequence"
        return done.stdout if code == 0 else done.stderr

    def json(self, *words, stdin=""):
        return [json.loads(line) for line in self.run(*words, "--json", stdin=stdin).splitlines()]

    def log_in(self, user, homeserver=None):
        return self.json("login", user.user_id, "--homeserver", homeserver or self.context.base, "--password-stdin", stdin=PASSWORD + "\n")[0]

    def start(self, *words):
        return subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment)


def lines_until(process, condition):
    """What it has written when `condition(text)` holds."""
    text, end = b"", time.monotonic() + PATIENCE
    while not condition(text.decode(errors="replace")):
        assert time.monotonic() < end, f"not in {PATIENCE} s: {text!r}"
        if select.select([process.stdout], [], [], 0.2)[0]:
            read = os.read(process.stdout.fileno(), 65536)
            assert read, f"ended with {process.wait()}: {text!r} {process.stderr.read()!r}"
            text += read
    return text.decode()


@test("login keeps the session to its owner; a wrong password, nobody logged in and no network have codes of their own")
def sessions(context):
    ann = User(context.base, "ann")
    with Terminal(context) as terminal:
        assert "login" in terminal.run("rooms", code=3)
        error = json.loads(terminal.run("rooms", "--json", code=3))
        assert error["error"] == "not_logged_in" and error["message"], error
        wrong = json.loads(terminal.run(
            "login", ann.user_id, "--homeserver", context.base, "--password-stdin", "--json", stdin="wrong\n", code=5))
        assert wrong["error"] == "refused" and wrong["errcode"] == "M_FORBIDDEN", wrong
        assert not os.path.exists(terminal.environment["XDG_DATA_HOME"])
        terminal.run("login", "ann", "--password-stdin", stdin="x\n", code=64)
        terminal.run("login", ann.user_id, "--password", PASSWORD, code=64)
        terminal.run("login", ann.user_id, "--homeserver", f"http://127.0.0.1:{free_port()}", "--password-stdin", stdin="x\n", code=6)
        session = terminal.log_in(ann)
        assert session == {"user_id": ann.user_id, "device_id": session["device_id"], "homeserver": context.base, "verified": True}, session
        for folder, _, files in os.walk(terminal.environment["XDG_DATA_HOME"]):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700, folder
            for name in files:
                assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600, name
        # Once more, as the same device.
        assert terminal.log_in(ann)["device_id"] == session["device_id"]
        bob = User(context.base, "bob")
        terminal.log_in(bob)
        assert ann.user_id in terminal.run("rooms", code=64)
        terminal.run("rooms", "--account", "nobody", code=3)
        assert terminal.json("rooms", "--account", bob.user_id) == []
        assert terminal.json("logout", "--account", bob.user_id) == [{"user_id": bob.user_id}]
        assert session["device_id"] in [device["device_id"] for device in ann.get("devices").ok()["devices"]]
        terminal.run("logout")
        assert session["device_id"] not in [device["device_id"] for device in ann.get("devices").ok()["devices"]]
        terminal.run("rooms", code=3)


@test("a session that the server has ended says so, and logging in again goes on")
def ended(context):
    ann = User(context.base, "ann")
    with Terminal(context) as terminal:
        device = terminal.log_in(ann)["device_id"]
        terminal.run("rooms")
        auth = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": ann.user_id}, "password": PASSWORD}
        first = ann.request("DELETE", "devices/" + device, {})
        ann.request("DELETE", "devices/" + device, {"auth": {**auth, "session": first.json["session"]}}).ok()
        assert "login" in terminal.run("rooms", code=3)
        terminal.log_in(ann)
        terminal.run("rooms")


@test("the password is asked for on a terminal and not shown")
def prompt(context):
    ann = User(context.base, "ann")
    with Terminal(context) as terminal:
        reader, writer = pty.openpty()
        process = subprocess.Popen([program(), "login", ann.user_id, "--homeserver", context.base], stdin=writer, stdout=writer, stderr=writer, env=terminal.environment)
        os.close(writer)
        text, typed, end = b"", False, time.monotonic() + PATIENCE
        while process.poll() is None or select.select([reader], [], [], 0)[0]:
            assert time.monotonic() < end, text
            if select.select([reader], [], [], 0.2)[0]:
                try:
                    text += os.read(reader, 65536)
                except OSError:
                    break
            if b"Password: " in text and not typed:
                typed = True
                os.write(reader, PASSWORD.encode() + b"\n")
        os.close(reader)
        assert process.wait() == 0 and b"is logged in" in text and PASSWORD.encode() not in text, text


@test("texts, standard input and files are sent and read; rooms go by ID, alias and name")
def sending(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    alias = fresh("tea")
    room = ann.create_room(name="Tea", topic="Leaves", preset="public_chat", room_alias_name=alias)
    bob.join(room)
    for _ in range(2):
        ann.create_room(name="Twice")
    with Terminal(context) as terminal:
        terminal.log_in(ann)
        rooms = {entry["room_id"]: entry for entry in terminal.json("rooms")}
        tea = rooms[room]
        assert tea["name"] == "Tea" and tea["topic"] == "Leaves" and tea["members"] == 2 and tea["membership"] == "join", tea
        assert set(tea) == {"room_id", "name", "membership", "alias", "topic", "members", "unread", "highlights", "direct", "encrypted", "last_activity_ts"}, tea
        assert "Tea" in terminal.run("rooms") and room in terminal.run("rooms")
        first = terminal.json("send", room, "by ID")[0]
        assert set(first) == {"room_id", "event_id"} and first["room_id"] == room, first
        assert terminal.run("send", tea["alias"], "by alias") == ""
        terminal.run("send", "tea", "-", stdin="by name\nin two lines\n")
        terminal.run("send", "Tea", stdin="from the pipe")
        terminal.run("send", "Tea", "a notice", "--notice")
        terminal.run("send", "Tea", "an answer", "--reply-to", first["event_id"])
        with open(terminal.path("cat.png"), "wb") as file:
            file.write(PNG)
        terminal.run("send", "Tea", "--file", terminal.path("cat.png"))
        for name, code in (("Nowhere", 4), ("Twice", 4), ("#nowhere:test.example", 4), ("!nowhere:test.example", 4)):
            terminal.run("send", name, "lost", code=code)
        terminal.run("send", "Tea", code=64)
        terminal.run("send", "Tea", "--file", terminal.path("none"), code=1)
        events = {event["content"]["body"]: event for event in bob.get(room_path(room, "messages"), dir="b", limit=30).ok()["chunk"] if event["type"] == "m.room.message"}
        assert set(events) == {"by ID", "by alias", "by name\nin two lines", "from the pipe", "a notice", "an answer", "cat.png"}, set(events)
        assert events["a notice"]["content"]["msgtype"] == "m.notice"
        assert events["an answer"]["content"]["m.relates_to"]["m.in_reply_to"]["event_id"] == first["event_id"]
        assert events["cat.png"]["content"]["msgtype"] == "m.image" and events["cat.png"]["content"]["info"]["size"] == len(PNG)

        bob.send(room, "Hello \u001b[2J\u202eAnn\n2027-01-01 00:00  @ann:x  forged")
        entries = terminal.json("read", "Tea", "--limit", "3")
        assert [entry["kind"] for entry in entries] == ["text", "image", "text"], entries
        assert set(entries[0]) == {"room_id", "event_id", "sender", "origin_server_ts", "kind", "text", "reply_to"}, entries[0]
        assert entries[1]["file"]["name"] == "cat.png" and entries[2]["sender"] == bob.user_id
        shown = terminal.run("read", "Tea", "--limit", "1")
        assert "\n    2027" in shown and "\u202e" not in shown and shown.count("\ufffd") == 2, shown
        assert terminal.run("read", "Tea", "--limit", "0") == ""


@test("what the server refuses ends with its words")
def refused(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Silent", preset="public_chat", power_level_content_override={"events_default": 50})
    bob.join(room)
    with Terminal(context) as terminal:
        terminal.log_in(bob)
        error = json.loads(terminal.run("send", "Silent", "hello", "--json", code=5))
        assert error["errcode"] == "M_FORBIDDEN", error
        terminal.run("read", "Silent")


@test("martlet sends no clear text into an encrypted room, reads what others write there, files, too")
def encrypted(context):
    ann = User(context.base, "ann")
    room = ann.create_room(name="Secret")
    with Terminal(context) as terminal:
        terminal.log_in(ann)
        terminal.run("send", "Secret", "in time")
        # While nobody was listening.
        ann.put(room_path(room, "state", "m.room.encryption", ""), {"algorithm": "m.megolm.v1.aes-sha2"}).ok()
        terminal.run("send", "Secret", "for members")
        # Once more, as the same device, with the same keys.
        terminal.log_in(ann)
        assert "for members" in terminal.run("read", "Secret")
        with open(terminal.path("plan.txt"), "w") as file:
            file.write("in a file")
        terminal.run("send", "Secret", "--file", terminal.path("plan.txt"))
        entry = terminal.json("read", "Secret", "--limit", "1")[0]
        assert entry["file"]["name"] == "plan.txt" and entry["file"]["encrypted"], entry
        events = ann.get(room_path(room, "messages"), dir="b", limit=30).ok()["chunk"]
        assert [event["content"]["body"] for event in events if event["type"] == "m.room.message"] == ["in time"], events
        assert sum(event["type"] == "m.room.encrypted" for event in events) == 2, events
        server, media = entry["file"]["url"].removeprefix("mxc://").split("/")
        stored = ann.request("GET", f"/_matrix/client/v1/media/download/{server}/{media}")
        assert len(stored.body) == len("in a file") and b"in a file" != stored.body, stored
        bob = User(context.base, "bob")
        ann.post(room_path(room, "invite"), {"user_id": bob.user_id}).ok()
        bob.join(room)
        with Terminal(context) as other:
            other.log_in(bob)
            terminal.run("send", "Secret", "hello Bob")
            assert "hello Bob" in other.run("read", "Secret")
            other.run("send", "Secret", "hello Ann")
        assert "hello Ann" in terminal.run("read", "Secret")


@test("martlet makes a recovery key, and another terminal that has it is verified and reads what was written before")
def recovery(context):
    ann = User(context.base, "ann")
    room = ann.create_room(name="Secret")
    ann.put(room_path(room, "state", "m.room.encryption", ""), {"algorithm": "m.megolm.v1.aes-sha2"}).ok()
    with Terminal(context) as one, Terminal(context) as other:
        assert one.log_in(ann)["verified"]
        one.run("send", "Secret", "before")
        assert one.json("recovery") == [{"verified": True, "recovery": "disabled", "backup": "off"}]
        key = one.json("recovery", "set-up")[0]["recovery_key"]
        assert one.json("recovery") == [{"verified": True, "recovery": "enabled", "backup": "on", "waiting": 0}]
        report = one.json("encryption")[0]
        assert (report["identity"], report["verified"], report["backup"], report["waiting"], report["unread"]) == (True, True, "on", 0, 0), report
        assert "fault: none" in one.run("encryption") and key.split()[0] not in report["text"] and room not in report["text"]
        assert not other.log_in(ann)["verified"]
        assert "before" not in other.run("read", "Secret")
        for name, text in (("wrong", key[::-1]), ("key", key)):
            with open(other.path(name), "w") as file:
                file.write(text + "\n")
        other.run("recovery", "use", code=64)
        assert "recovery key" in other.run("recovery", "use", "--key-file", other.path("wrong"), code=1)
        assert other.json("recovery", "use", "--key-file", other.path("key")) == [{"verified": True}]
        assert "before" in other.run("read", "Secret")
        one.run("send", "Secret", "to both")
        assert "to both" in other.run("read", "Secret")


@test("read --follow shows what others send, while another terminal sends with the same session")
def follow(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Tea", preset="public_chat")
    bob.join(room)
    before = bob.send(room, "before")
    with Terminal(context) as terminal:
        terminal.log_in(ann)
        process = terminal.start("read", "Tea", "--follow", "--json")
        try:
            lines_until(process, lambda text: before in text)
            bob.send(room, "while it looks on")
            shown = lines_until(process, lambda text: "while it looks on" in text)
            assert json.loads(shown)["sender"] == bob.user_id
            terminal.run("send", "Tea", "from beside")
            shown = lines_until(process, lambda text: "from beside" in text)
            assert json.loads(shown)["sender"] == ann.user_id
            assert "another martlet" in terminal.run("logout", code=1)
        finally:
            process.kill()
            process.communicate()
        terminal.run("send", "Tea", "afterwards")


@test("while one terminal follows an encrypted room, it carries out what others of the account are asked")
def handed_over(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Secret")
    ann.put(room_path(room, "state", "m.room.encryption", ""), {"algorithm": "m.megolm.v1.aes-sha2"}).ok()
    with Terminal(context) as terminal, Terminal(context) as others:
        terminal.log_in(ann)
        others.log_in(bob)
        terminal.run("send", "Secret", "before")
        first = terminal.start("read", "Secret", "--follow", "--json")
        try:
            lines_until(first, lambda text: "before" in text)
            sent = terminal.json("send", "Secret", stdin="from **beside**\n")[0]
            assert json.loads(lines_until(first, lambda text: "beside" in text))["event_id"] == sent["event_id"]
            assert ann.get(room_path(room, "event", sent["event_id"])).ok()["type"] == "m.room.encrypted"
            shown = terminal.run("read", "Secret")
            assert "before" in shown and "from **beside**" in shown, shown
            with open(terminal.path("tea.txt"), "w") as file:
                file.write("tea")
            terminal.run("send", "Secret", "--file", "tea.txt", folder=terminal.path("."))
            lines_until(first, lambda text: "tea.txt" in text)
            assert "Secret" in terminal.run("rooms") and "no room" in terminal.run("read", "Other", code=4)
            assert "bytes" in terminal.run("send", "Secret", stdin="a" * 60_001, code=1)
            terminal.run("send", "Secret", " ", code=64)
            second = terminal.start("read", "Secret", "--follow")
            try:
                lines_until(second, lambda text: "tea.txt" in text)
                terminal.run("send", "Secret", "to both")
                for process in (first, second):
                    lines_until(process, lambda text: "to both" in text)
                socket_is_private(terminal)
                first.kill()
                first.communicate()
                assert second.wait(PATIENCE) == 1 and "has ended" in second.stderr.read().decode()
            finally:
                second.kill()
                second.communicate()
        finally:
            first.kill()
            first.communicate()
        # Two at once: one has the store, the other is done by it, or comes after it.
        sending = [terminal.start("send", "Secret", f"at once {number}") for number in range(4)]
        for process in sending:
            _, complaint = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, complaint
        shown = terminal.run("read", "Secret")
        assert all(f"at once {number}" in shown for number in range(4)), shown


@contextlib.contextmanager
def opened(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def socket_is_private(terminal):
    """Only its owner can open it, and what is no command gets no answer."""
    (path,) = glob.glob(terminal.environment["XDG_DATA_HOME"] + "/martlet/accounts/*/commands.sock")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    for line in (b"no JSON\n", b'{"words":["logout"],"folder":"/"}\n', b'{"words":[]}\n', b"{" * (2 << 20)):
        with socket.socket(socket.AF_UNIX) as connection, opened(os.path.dirname(path)) as folder:
            connection.settimeout(PATIENCE)
            # The path is longer than an address may be.
            connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(line)
                assert connection.recv(100) == b""


@test("texts are sent as Markdown, whose HTML is safe, or as they are")
def markdown(context):
    ann = User(context.base, "ann")
    room = ann.create_room(name="Tea")
    with Terminal(context) as terminal:
        terminal.log_in(ann)

        def sent(*words, stdin=""):
            event = terminal.json("send", "Tea", *words, stdin=stdin)[0]["event_id"]
            return ann.get(room_path(room, "event", event)).ok()["content"]

        content = sent("**Tea** <script>alert(1)</script>")
        assert content["body"] == "**Tea** <script>alert(1)</script>" and content["format"] == "org.matrix.custom.html", content
        assert content["formatted_body"] == "<strong>Tea</strong> &lt;script&gt;alert(1)&lt;/script&gt;", content
        listed = sent("--emote", stdin="- one\n- two\n")
        assert listed["msgtype"] == "m.emote" and "<li>one</li>" in listed["formatted_body"], listed
        assert "formatted_body" not in sent("just text & more")
        for plain in (sent("**Tea**", "--plain"), sent("--plain", "--notice", stdin="**Tea**\n")):
            assert plain["body"] == "**Tea**" and "formatted_body" not in plain and "format" not in plain, plain
        terminal.run("send", "Tea", "--plain", "--file", "/etc/hostname", code=64)
        terminal.run("send", "Tea", stdin="*a* " * 15_000, code=1)
        assert ann.get(room_path(room, "messages"), dir="b", limit=1).ok()["chunk"][0]["content"]["body"] == "**Tea**"


@test("read --follow shows what becomes of the messages it showed: edits, reactions, removals")
def changes(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Tea", preset="public_chat")
    bob.join(room)
    unseen, first = bob.send(room, "unseen"), bob.send(room, "the first")
    for number in range(60):
        bob.send(room, f"number {number}")

    def edit(event, body):
        bob.send(room, "* " + body, **{"m.new_content": {"msgtype": "m.text", "body": body}, "m.relates_to": {"rel_type": "m.replace", "event_id": event}})

    def react(user, event, key):
        path = room_path(room, "send", "m.reaction", fresh("t"))
        return user.put(path, {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": key}}).ok()["event_id"]

    def redact(user, event):
        user.put(room_path(room, "redact", event, fresh("t")), {}).ok()

    with Terminal(context) as terminal, Terminal(context) as other:
        terminal.log_in(ann)
        other.log_in(ann)
        machine = terminal.start("read", "Tea", "--follow", "--limit", "61", "--json")
        person = other.start("read", "Tea", "--follow", "--limit", "61")
        try:
            history = [json.loads(line) for line in lines_until(machine, lambda text: text.count("\n") == 61).splitlines()]
            assert history[0]["event_id"] == first and history[-1]["text"] == "number 59", history
            lines_until(person, lambda text: text.count("\n") == 61)
            edit(unseen, "nobody shall see")
            edit(first, "the very first")
            thumb = react(ann, first, "\U0001f44d")
            react(bob, first, "\u001b[2J")
            redact(ann, thumb)
            later = bob.send(room, "later")
            edit(later, "later on")
            redact(bob, later)
            bob.send(room, "the end")

            # What one sync brings is told as it stands: new messages, then what became of those that were there.
            def records_in(text):
                return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

            def is_gone(record):
                return record["event_id"] == later and record["kind"] in ("redaction", "redacted")

            def is_all_told(text):
                records = records_in(text)
                return "the end" in text and any(map(is_gone, records)) and any(record.get("key") == "\u001b[2J" for record in records)
            records = records_in(lines_until(machine, is_all_told))
            shown = lines_until(person, lambda text: all(part in text for part in ("the end\n", " edited ", "[2J")))
        finally:
            for process in (machine, person):
                process.kill()
                process.communicate()
    short = [(record["kind"], record["event_id"], record.get("sender"), record.get("text") or record.get("key")) for record in records]
    assert ("edit", first, bob.user_id, "the very first") in short, short
    # What comes in one sync may be told as one.
    assert ("reaction", first, bob.user_id, "\u001b[2J") in short, short
    assert (("reaction", first, ann.user_id, "\U0001f44d") in short) == (("reaction_removed", first, ann.user_id, "\U0001f44d") in short), short
    assert [entry[0] for entry in short if entry[1] == later][-1] in ("redaction", "redacted"), short
    assert all(record["event_id"] in (first, later) or record.get("text") == "the end" for record in records), records
    assert all(record["seen_ts"] > 1_700_000_000_000 for record in records if record["kind"] in ("edit", "reaction", "redaction")), records
    assert f"-- {bob.user_id} edited “the first” to: the very first\n" in shown, shown
    assert f"-- {bob.user_id} reacted \ufffd[2J to “the very first” of {bob.user_id}\n" in shown, shown
    assert "nobody" not in shown and "\u001b" not in shown, shown


def history(context):
    """A room with something of everything; (its owner, its ID)."""
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    ann.put("profile/" + ann.user_id + "/displayname", {"displayname": "Ann <b>&"})
    room = ann.create_room(name="Tea <script>", topic=HOSTILE, preset="public_chat")
    bob.join(room)
    first = ann.send(room, "first draft")
    ann.send(room, "* final words", **{"m.new_content": {"msgtype": "m.text", "body": "final words"}, "m.relates_to": {"rel_type": "m.replace", "event_id": first}})
    bob.send(room, HOSTILE)
    bob.send(room, "an answer", **{"m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    gone = bob.send(room, "to be removed")
    ann.put(room_path(room, "redact", gone, fresh("t")), {}).ok()
    bob.put(room_path(room, "send", "m.reaction", fresh("t")), {"m.relates_to": {"rel_type": "m.annotation", "event_id": first, "key": "\U0001f44d"}}).ok()
    for name, content, kind in (("cat.png", PNG, "m.image"), ("page.html", b"<script>document.title='hacked'</script>", "m.file"), ("large.zip", bytes(3 << 20), "m.file")):
        uri = bob.request("POST", "/_matrix/media/v3/upload", body=content, headers={"Content-Type": "text/html"}, filename=name).ok()["content_uri"]
        bob.send(room, name, msgtype=kind, url=uri, info={"size": len(content)})
    bob.send(room, "lost.png", msgtype="m.image", url="mxc://test.example/" + "nothing0" * 4)
    for number in range(600):
        ann.send(room, f"number {number}")
    return ann, room


@test("a room is exported to one page on which nothing runs, and to JSON lines")
async def export(context):
    ann, room = history(context)
    with Terminal(context) as terminal:
        terminal.log_in(ann)
        page = terminal.path("tea.html")
        result = terminal.json("export", room, "--to", page)[0]
        assert result["format"] == "html" and result["path"] == page and result["files"] == 3 and result["missing_files"] == 1, result
        assert sorted(os.listdir(terminal.folder.name)) == ["data", "tea-files", "tea.html"], os.listdir(terminal.folder.name)
        assert os.listdir(terminal.path("tea-files")) == ["0003-large.zip"]
        assert "is there already" in terminal.run("export", room, "--to", page, code=1)
        terminal.run("export", room, "--to", page, "--overwrite")

        lines_path = terminal.path("lines.jsonl")
        terminal.run("export", room, "--to", lines_path)
        with open(lines_path) as file:
            events = [json.loads(line) for line in file]
        assert len(events) == result["events"]
        assert events[0]["type"] == "m.room.create" and events[-1]["content"]["body"] == "number 599"
        files = [event["martlet.file"] for event in events if "martlet.file" in event]
        assert len(files) == 3 and files[0] == "lines-files/0001-cat.png", files
        assert all(os.path.exists(terminal.path(name)) for name in files), files
        await look_at(context, page)


async def look_at(context, page_path):
    """Opens the page in Chromium, in light and dark."""
    async with chromium() as browser:
        backgrounds = []
        for scheme in ("light", "dark"):
            page = await browser.new_page(color_scheme=scheme)
            troubles, requests = [], []
            page.on("console", lambda message: troubles.append(message.text))
            page.on("request", lambda request: requests.append(request.url))
            await page.goto("file://" + page_path)
            assert await page.title() == "Tea <script>", await page.title()
            assert await page.locator("script").count() == 0
            text = await page.locator("main").inner_text()
            for shown in ("final words (edited)", "an answer", "message removed by Ann <b>&", "number 599", "<script>document.title", "joined"):
                assert shown in text, shown
            assert "first draft" not in text and "to be removed" not in text
            assert await page.locator(".reactions").first.inner_text() == "\U0001f44d 1"
            assert "final words" in await page.locator("blockquote").first.inner_text()
            assert await page.locator("img").count() == 1
            await page.locator("img").scroll_into_view_if_needed()
            await page.wait_for_function("document.querySelector('img').naturalWidth === 1")
            assert not troubles, troubles
            assert not [url for url in requests if not url.startswith(("data:", "file://" + page_path))], requests
            await page.locator("blockquote a").first.click()
            assert (await page.evaluate("document.querySelector(':target').innerText")).endswith("1")
            await page.evaluate("scrollTo(0, 0)")
            await page.screenshot(path=os.path.join(context.artifacts, f"export-{scheme}.png"))
            backgrounds.append(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
            await page.close()
        assert backgrounds[0] != backgrounds[1], backgrounds


@test("an export that is interrupted leaves nothing; what a killed one left is in nobody's way")
def interrupted(context):
    ann, room = history(context)
    with Terminal(context) as terminal:
        terminal.log_in(ann)
        target = os.path.join(terminal.path("out"), "tea.html")
        os.mkdir(terminal.path("out"))
        for number in (signal.SIGINT, signal.SIGKILL):
            process = terminal.start("export", room, "--to", target)
            end = time.monotonic() + PATIENCE
            while not any(name.endswith(".part-events") for name in os.listdir(terminal.path("out"))) and process.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.001)
            process.send_signal(number)
            process.communicate()
            if number == signal.SIGINT:
                assert process.returncode == 130, process.returncode
                assert os.listdir(terminal.path("out")) == [], os.listdir(terminal.path("out"))
        terminal.run("export", room, "--to", target)
        assert sorted(os.listdir(terminal.path("out"))) == ["tea-files", "tea.html"]
