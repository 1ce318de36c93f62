"""The sample programs of the client library, as they are built, against the real server. And the check of its public API."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pty
import select
import subprocess
import tempfile
import time

from client import PASSWORD, Api, User, bodies, fresh, register, timeline
from harness import NotRun, test
from server import ROOT, newest_build


@test("the README's sample logs in, says hello, and hears the answer")
def sample(context):
    hello = built("Hello")
    api = Api(context.base)
    api.token = register(api, "alice").ok()["access_token"]
    bob = User(context.base, "bob")
    room = bob.create_room(name="Tea", preset="public_chat")
    api.post("join/" + room).ok()

    reader, writer = pty.openpty()
    process = subprocess.Popen([hello, context.base], stdout=writer, stderr=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    try:
        bob.sync_until(lambda answer: "Hello from Swift" in str(answer))
        bob.send(room, "Hello from Bob")
        output = read_until(reader, "Hello from Bob", 15)
        assert "Hello from Bob" in output, output
    finally:
        process.kill()
        process.wait()
        os.close(reader)


@test("the echo bot comes where it is invited, answers commands, and neither itself nor what was said before")
def echo_bot(context):
    name = fresh("bot")
    register(Api(context.base), name).ok()
    alice = User(context.base, "alice")
    room = alice.create_room(preset="private_chat", name="Bots")
    alice.send(room, "!echo too early")
    bot = f"@{name}:{alice.user_id.split(':', 1)[1]}"
    process = subprocess.Popen([built("EchoBot"), context.base, name, PASSWORD], stdin=subprocess.DEVNULL)
    try:
        said = Said(alice, room, bot)
        alice.post(f"rooms/{room}/invite", {"user_id": bot}).ok()
        assert "!help" in said.next()
        for command, answer in (("!echo hi there", "hi there"), ("!help", "!echo TEXT"), ("!dance", "I do not know that"), ("!echo", "What?")):
            alice.send(room, command)
            assert answer in said.next(), command
        alice.send(room, "!time")
        assert time.strptime(said.next(), "%Y-%m-%dT%H:%M:%SZ")
        alice.send(room, "no command")
        alice.send(room, "!echo last")
        assert said.next() == "last"
        assert said.count == 7, "it answered something else as well"
    finally:
        process.kill()
        process.wait()


@test("the articles' samples do what they say")
def use_cases(context):
    user = User(context.base, "carol")
    room = user.create_room(preset="public_chat", name="Use cases", visibility="public")
    user.send(room, "Said before")
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = pty.openpty()
        command = [built("UseCases"), context.base, user.user_id, PASSWORD, "Use cases"]
        process = subprocess.Popen(command, stdout=writer, stderr=writer, stdin=subprocess.DEVNULL, cwd=folder)
        os.close(writer)
        try:
            user.sync_until(lambda answer: "Hello World!" in str(answer))
            output = read_until(reader, "Said before", 15)
            user.send(room, "Said after")
            output += read_until(reader, "Said after", 15)
            public = user.get("publicRooms", limit=20).ok()["chunk"][0]
            first = f"{public.get('name') or public['room_id']} {public['num_joined_members']}"
            for words in (first, "Use cases 0", "Said before", "Said after"):
                assert words in output, output
            assert os.path.getsize(os.path.join(folder, "account.store")) > 0
        finally:
            process.kill()
            process.wait()
            os.close(reader)


@test("a package that depends on this one writes and reads with it")
def consumer(context):
    program = os.path.join(ROOT, ".build", "consumer", "debug", "Consumer")
    if not os.path.exists(program):
        raise NotRun("it is not built: Scripts/build-consumer")
    output = subprocess.run([program, context.base], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert output.returncode == 0 and "Hello from outside" in output.stdout, output.stdout + output.stderr


def built(name):
    program = newest_build(name)
    if not program:
        raise NotRun(f"{name} is not built: swift build --product {name}")
    return program


class Said:
    """What one user says in a room from now on, one message after the other."""

    def __init__(self, listener, room, user):
        self.listener, self.room, self.user, self.count, self.waiting = listener, room, user, 0, []
        listener.sync()

    def next(self):
        while not self.waiting:
            answer = self.listener.sync_until(lambda answer: timeline(answer, self.room))
            self.waiting += bodies(event for event in timeline(answer, self.room) if event["sender"] == self.user)
        self.count += 1
        return self.waiting.pop(0)


def read_until(reader, text, seconds):
    output, deadline = "", time.monotonic() + seconds
    while text not in output and time.monotonic() < deadline:
        if select.select([reader], [], [], 0.2)[0]:
            try:
                output += os.read(reader, 65536).decode(errors="replace")
            except OSError:
                break
    return output


def public_api():
    """Scripts/public-api as a module."""
    loader = importlib.machinery.SourceFileLoader("public_api", os.path.join(ROOT, "Scripts", "public-api"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def symbol(*path, declaration):
    return {"identifier": {"precise": "s:" + ".".join(path)}, "pathComponents": list(path),
            "declarationFragments": [{"kind": "text", "spelling": declaration}]}


@test("the check of public API names what was removed, changed and added, and says what to do")
def api_check(context):
    script = public_api()
    graph = {
        "symbols": [symbol("Room", declaration="struct Room"), symbol("Room", "_secret", declaration="var _secret: Int"),
                    symbol("Room", "name", declaration="let name:\n  String")],
        "relationships": [{"kind": "conformsTo", "source": "s:Room", "target": "s:s8SendableP", "targetFallback": "Swift.Sendable"},
                          {"kind": "conformsTo", "source": "s:Room", "target": "s:x", "targetFallback": "Swift.Copyable"}],
    }
    lines = script.lines_of(graph)
    assert lines == {"Room: struct Room", "Room.name: let name: String", "Room: is Swift.Sendable"}, lines

    def check(found):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            return script.check(found), said.getvalue()

    with tempfile.TemporaryDirectory() as folder:
        script.LISTS = folder
        with contextlib.redirect_stdout(io.StringIO()):
            script.keep({"Rooms": lines})
        assert check({"Rooms": lines})[0] == 0
        code, said = check({"Rooms": lines - {"Room.name: let name: String"} | {"Room.name: let name: Int"}})
        assert code == 1 and "- Room.name: let name: String" in said and "+ Room.name: let name: Int" in said, said
        assert "1 public declarations were removed or changed" in said and "--keep" in said and "CHANGELOG.md" in said, said
        code, said = check({"Rooms": lines | {"Room.topic: let topic: String"}})
        assert code == 1 and "1 public declarations are new" in said and "--keep" in said, said
        # A module that no list has.
        assert check({"Rooms": lines, "Other": {"Other: enum Other"}})[0] == 1
        with contextlib.redirect_stdout(io.StringIO()):
            script.keep({"Other": set()})
        assert os.listdir(folder) == ["Other.txt"]
