"""The README's sample program, as it is built, against the real server."""
import os
import pty
import select
import subprocess
import time

from client import Api, User, register
from harness import NotRun, test
from server import newest_build


@test("the README's sample logs in, says hello, and hears the answer")
def sample(context):
    hello = newest_build("Hello")
    if not hello:
        raise NotRun("Hello is not built: swift build --product Hello")
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


def read_until(reader, text, seconds):
    output, deadline = "", time.monotonic() + seconds
    while text not in output and time.monotonic() < deadline:
        if select.select([reader], [], [], 0.2)[0]:
            try:
                output += os.read(reader, 65536).decode(errors="replace")
            except OSError:
                break
    return output
