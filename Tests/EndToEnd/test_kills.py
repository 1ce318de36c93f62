"""kill -9 of a client that syncs into a file, while others talk: no message is lost, none is shown twice.

`MARTLET_LONG=1` kills it 1,000 times, `MARTLET_SEED` at other moments, `MARTLET_CLIENT` is another build of client-live."""
import http.client
import os
import random
import subprocess
import tempfile
import threading

from client import PASSWORD, User, fresh, room_path
from harness import NotRun, test
from server import Server, newest_build
from test_crash import history

KILLS = 1000 if os.environ.get("MARTLET_LONG") == "1" else 30
# What is compared in between.
ROUNDS = KILLS // 100 or 3
SEED = int(os.environ.get("MARTLET_SEED") or random.randrange(1 << 30))
# More than sliding sync tells first; people talk in the first few.
ROOMS, TALKED_IN, TALKERS = 24, 4, 3
LIFE_SECONDS = 0.6
SETTLE_SECONDS = 180


class Talker(threading.Thread):
    """Sends one message after the other, sometimes many at once, until `stopped`; what the server may have missed is sent again."""

    def __init__(self, user, rooms, number, stopped, server_is_there):
        super().__init__(daemon=True)
        self.user, self.rooms, self.stopped, self.server_is_there = user, rooms, stopped, server_is_there
        self.random, self.number, self.failures = random.Random(SEED * 10 + number), number, []

    def run(self):
        while not self.stopped.is_set():
            room = self.random.choice(self.rooms)
            for _ in range(30 if self.random.random() < 0.02 else 1):
                self.send(room)
            self.stopped.wait(self.random.uniform(0, 0.1))

    def send(self, room):
        transaction = fresh(f"talk{self.number}x")
        while True:
            self.server_is_there.wait()
            try:
                answer = self.user.put(room_path(room, "send", "m.room.message", transaction), {"msgtype": "m.text", "body": transaction})
            except (OSError, http.client.HTTPException):
                continue
            if answer.status != 200:
                self.failures.append((answer.status, answer.body))
            return


class Follower:
    """The client that is killed, always on the same file."""

    def __init__(self, program, server, user, folder):
        self.command = [program, "--follow", os.path.join(folder, "store"), "--homeserver", server.base, "--user", user.user_id,
                        "--password", PASSWORD]

    def live(self, seconds, way):
        """Whether it synced before it was killed."""
        process = subprocess.Popen([*self.command, "--sync", way], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        output, errors = process.communicate()
        assert process.returncode == -9, (process.returncode, output[-500:], errors[-2000:])
        return b"up" in output

    def settled(self, last, *options):
        """The messages of every room as it shows them."""
        output = subprocess.run([*self.command, "--settle", last, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=SETTLE_SECONDS)
        assert output.returncode == 0, output.stdout[-500:] + output.stderr[-2000:]
        rooms = {}
        for line in output.stdout.splitlines():
            room, _, event = line.partition(" ")
            if event:
                rooms.setdefault(room, []).append(event)
        return rooms


@test(f"{KILLS} kills of a client that syncs: every message is there once, in its order, in each way of syncing")
def kills(context):
    context.own_server()
    program = os.environ.get("MARTLET_CLIENT") or newest_build("client-live")
    if not program:
        raise NotRun("client-live is not built: swift build --product client-live")
    server = Server().start()
    try:
        with tempfile.TemporaryDirectory(prefix="martlet-kills-") as folder:
            kill_and_compare(program, server, folder)
    finally:
        server.close()


def kill_and_compare(program, server, folder):
    users = [User(server.base) for _ in range(TALKERS)]
    victim = User(server.base)
    rooms = []
    for number in range(ROOMS):
        rooms.append(users[0].create_room(preset="public_chat", name=f"Room {number}"))
        for user in users[1:] + [victim]:
            user.join(rooms[-1])
    follower, chance, ways = Follower(program, server, victim, folder), random.Random(SEED), ["automatic"]
    synced = 0
    for number in range(ROUNDS):
        synced += round_of_kills(server, users, rooms, follower, chance, ways, number)
        last = fresh("settled")
        for room in rooms:
            users[0].send(room, last)
        shown = follower.settled(last, "--sync", ways[0])
        truth = {room: messages(users[0], room) for room in rooms}
        compare(shown, truth)
        # What was filled and paged is in the file.
        compare(follower.settled(last, "--offline"), truth)
    events = sum(len(events) for events in truth.values())
    print(f"          seed {SEED}: {ROUNDS * (KILLS // ROUNDS)} kills, {synced} after a sync, {events} messages; lost 0, shown twice 0", flush=True)


def round_of_kills(server, users, rooms, follower, chance, ways, number):
    stopped, server_is_there = threading.Event(), threading.Event()
    server_is_there.set()
    talkers = [Talker(user, rooms[:TALKED_IN], number * TALKERS + i, stopped, server_is_there) for i, user in enumerate(users)]
    for talker in talkers:
        talker.start()
    synced = 0
    try:
        for kill in range(KILLS // ROUNDS):
            if chance.random() < 0.15:
                ways[0] = chance.choice(["automatic", "v3", "sliding"])
            if kill == KILLS // ROUNDS // 2:
                # It forgets the connections of sliding sync.
                server_is_there.clear()
                server.stop()
                server.start()
                server_is_there.set()
            synced += follower.live(chance.uniform(0, LIFE_SECONDS), ways[0])
    finally:
        stopped.set()
        server_is_there.set()
        for talker in talkers:
            talker.join(60)
    failures = [failure for talker in talkers for failure in talker.failures]
    assert not failures, failures[:3]
    return synced


def messages(user, room):
    return [event["event_id"] for event in reversed(history(user, room)) if event["type"] == "m.room.message"]


def compare(shown, truth):
    for room, events in truth.items():
        seen = shown.get(room, [])
        lost = [event for event in events if event not in set(seen)]
        doubled = len(seen) - len(set(seen))
        assert seen == events, f"seed {SEED}, {room}: of {len(events)} messages {len(lost)} are lost, {doubled} are shown twice, or the order is another"
