"""NATS between nodes: what it carries is heard at once, and whatever it loses is found without it."""
import asyncio
import contextlib
import random
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from client import Api, User, room_path
from harness import PATIENCE, test
from lossy_link import LossyLink
from server import free_port
from test_nodes import FILTER, bodies, cluster, heard

# A node looks at the database by itself so often.
LOOK_SECONDS = 1


class Nats:
    """A `nats-server` on a port of its own."""

    def __init__(self):
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        program = shutil.which("nats-server", path="/usr/sbin:/usr/bin:/usr/local/bin")
        assert program, "nats-server is not installed: Scripts/install-dependencies --test"
        self.process = subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(self.port)], stderr=subprocess.DEVNULL, start_new_session=True)
        until(self.answers, "nats-server does not start")

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def bus_cluster(name, nats, second=None):
    """Two nodes with NATS; the second reaches it by another address if there is one."""
    ports = {number: free_port() for number in (1, 2)}

    def settings(number):
        return {"bus_url": second if second and number == 2 else nats.url, "metrics_bind": f"127.0.0.1:{ports[number]}"}

    with cluster(name, 2, of_node=settings) as made:
        made.metrics = [f"http://127.0.0.1:{ports[number]}/metrics" for number in (1, 2)]
        yield made


def connected(made):
    """Of each node, whether it has NATS."""
    pages = [urllib.request.urlopen(url, timeout=PATIENCE).read().decode() for url in made.metrics]
    return [re.search(r"^martlet_bus_connected (\S+)$", page, re.M)[1] == "1" for page in pages]


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Watcher:
    """Bob, who waits at the second node for what Ann does at the first."""

    def __init__(self, made):
        here, there = (f"http://{host}" for host in made.hosts)
        self.ann, bob = User(here, "ann"), User(here, "bob")
        self.room = self.ann.create_room(preset="public_chat")
        bob.join(self.room)
        self.bob = Api(there, bob.token)
        self.since = self.bob.get("sync").ok()["next_batch"]
        self.sent = []

    def send(self):
        self.sent.append(f"message {len(self.sent)}")
        self.ann.send(self.room, self.sent[-1])
        return time.monotonic()

    def told(self):
        """What comes of the next sync."""
        answer = self.bob.get("sync", since=self.since, timeout=30_000, filter=FILTER).ok()
        self.since = answer["next_batch"]
        events = answer.get("rooms", {}).get("join", {}).get(self.room, {}).get("timeline", {}).get("events", [])
        return [event["content"]["body"] for event in events]

    def late(self):
        """How long after its acknowledgement a message is told, in seconds."""
        came = []
        thread = threading.Thread(target=lambda: came.append((self.told(), time.monotonic())))
        thread.start()
        time.sleep(0.02)  # Most are waiting by then; one that is not gets the message all the same.
        sent = self.send()
        thread.join(PATIENCE)
        assert came and came[0][0] == self.sent[-1:], (came, self.sent[-1:])
        return came[0][1] - sent

    def sees_typing(self):
        """Whether it is told at the second node who types at the first."""
        def typists(answer):
            events = answer.get("rooms", {}).get("join", {}).get(self.room, {}).get("ephemeral", {}).get("events", [])
            return next((event["content"]["user_ids"] for event in events if event["type"] == "m.typing"), None)

        self.ann.put(room_path(self.room, "typing", self.ann.user_id), {"typing": True, "timeout": 20_000}).ok()
        _, self.since = heard(self.bob, self.since, lambda answer: typists(answer) == [self.ann.user_id])
        self.ann.put(room_path(self.room, "typing", self.ann.user_id), {"typing": False}).ok()
        _, self.since = heard(self.bob, self.since, lambda answer: typists(answer) == [])


@test("with NATS a node hears at once what another does; without it soon, and is ready; it connects again by itself")
def killed(context):
    nats = Nats()
    try:
        with bus_cluster("bus_killed", nats) as made:
            until(lambda: connected(made) == [True, True], "NATS is not connected")
            watcher = Watcher(made)
            late = sorted(watcher.late() for _ in range(20))
            print(f"          by NATS: {late[10] * 1000:.1f} ms after the acknowledgement (median), {late[-1] * 1000:.1f} at most", flush=True)
            # The database notifies nobody here, and looks alone take half a second.
            assert late[10] < LOOK_SECONDS / 4, late
            watcher.sees_typing()
            nats.kill()
            until(lambda: connected(made) == [False, False], "that NATS is gone is not noticed")
            for host in made.hosts:
                assert urllib.request.urlopen(f"http://{host}/ready", timeout=PATIENCE).status == 200
            late = sorted(watcher.late() for _ in range(10))
            print(f"          without: {late[5] * 1000:.1f} ms, {late[-1] * 1000:.1f} at most", flush=True)
            assert late[-1] < 2 * LOOK_SECONDS, late
            nats.start()
            until(lambda: connected(made) == [True, True], "NATS is not connected again")
            watcher.sees_typing()
            assert [body for body in reversed(bodies(watcher.bob, watcher.room)) if body] == watcher.sent
    finally:
        nats.kill()


@test("what a bad way to NATS cuts or holds back is told all the same, once and in order")
async def bad_way(context):
    nats = Nats()
    link = await LossyLink(nats.url).start()
    chooser = random.Random(26)

    def write(made, watcher, end):
        while time.monotonic() < end:
            watcher.send()
            time.sleep(0.01)

    async def trouble(end):
        while time.monotonic() < end:
            link.lose(chooser.choice(("cut", "stall", "late")), chooser)
            await asyncio.sleep(0.3)
            link.heal()
            await asyncio.sleep(0.1)

    try:
        with bus_cluster("bus_bad_way", nats, link.base.replace("http", "nats")) as made:
            await asyncio.to_thread(until, lambda: connected(made) == [True, True], "NATS is not connected")
            watcher = await asyncio.to_thread(Watcher, made)
            end = time.monotonic() + 3
            told = []

            def read():
                while time.monotonic() < end or told != watcher.sent:
                    assert time.monotonic() < end + PATIENCE, (len(told), len(watcher.sent))
                    told.extend(watcher.told())

            await asyncio.gather(asyncio.to_thread(write, made, watcher, end), asyncio.to_thread(read), trouble(end))
            print(f"          {len(told)} messages, {link.losses}", flush=True)
            assert sum(link.losses.values()) > 3, link.losses
            await asyncio.to_thread(until, lambda: connected(made) == [True, True], "NATS is not connected again")
    finally:
        await link.close()
        nats.kill()
