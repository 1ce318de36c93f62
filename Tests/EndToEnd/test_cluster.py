"""One server on PostgreSQL whose database, or the way to it, breaks at the worst moment: nothing that was acknowledged is lost, and nothing is
there twice."""
import json
import os
import re
import signal
import threading
import time
import urllib.error
import urllib.request

import databases
from client import User, room_path
from harness import PATIENCE, test
from relay import Relay
from server import ROOT, Server, free_port
from test_crash import body, history
from test_postgresql import database

CUTS = 50
SENDERS = 4


class Sender(threading.Thread):
    """Sends one message after the other, each until it is acknowledged, and remembers which of them were."""

    def __init__(self, user, room, number, ends):
        super().__init__(daemon=True)
        self.user, self.room, self.number, self.ends = user, room, number, ends
        self.acknowledged = {}
        self.refusals = 0
        self.failures = []

    def run(self):
        count = 0
        while not self.ends.is_set():
            transaction = f"t{self.number}-{count}"
            if not self.send(transaction):
                return
            count += 1

    def send(self, transaction):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.user.put(room_path(self.room, "send", "m.room.message", transaction), body(transaction))
            if answer.status == 200:
                self.acknowledged[transaction] = answer.json["event_id"]
                return True
            if answer.status != 503 or "Retry-After" not in answer.headers:
                self.failures.append((transaction, answer.status, answer.body))
                return False
            self.refusals += 1
            time.sleep(0.02)
        self.failures.append((transaction, "never acknowledged"))
        return False


def start_senders(server, ends):
    owner = User(server.base)
    room = owner.create_room(preset="public_chat")
    users = [owner] + [User(server.base) for _ in range(SENDERS - 1)]
    for user in users[1:]:
        user.join(room)
    senders = [Sender(user, room, number, ends) for number, user in enumerate(users)]
    for sender in senders:
        sender.start()
    return owner, room, senders


def check(owner, room, senders):
    assert not [sender.failures for sender in senders if sender.failures], [sender.failures for sender in senders]
    stored = {}
    for event in history(owner, room):
        if event["type"] == "m.room.message":
            stored.setdefault(event["content"]["body"], []).append(event["event_id"])
    for sender in senders:
        for transaction, event in sender.acknowledged.items():
            assert stored.get(transaction) == [event], (transaction, event, stored.get(transaction))
    assert all(len(events) == 1 for events in stored.values()), "a message is there twice"
    # Nobody gave up: what is stored was acknowledged in the end.
    assert len(stored) == sum(len(sender.acknowledged) for sender in senders)


def metric(port, name):
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return next(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name + " "))


@test("a connection that is cut before or behind the COMMIT, 50 times: what is acknowledged is there once, what is refused is sent again")
def cut(context):
    with database("cuts") as url:
        relay = Relay(databases.server().folder + "/.s.PGSQL.5432")
        metrics = free_port()
        server = Server(database_url=relay.url("cuts"), metrics_bind=f"127.0.0.1:{metrics}").start()
        ends = threading.Event()
        try:
            owner, room, senders = start_senders(server, ends)
            for number in range(CUTS):
                relay.next_cut = ("before", "behind")[number % 2]
                end = time.monotonic() + PATIENCE
                while sum(relay.cuts.values()) <= number:
                    assert time.monotonic() < end, server.output()
                    time.sleep(0.005)
            ends.set()
            for sender in senders:
                sender.join(PATIENCE)
            check(owner, room, senders)
            kept, undone = (metric(metrics, f"martlet_database_unanswered_commits_{how}_total") for how in ("kept", "undone"))
            assert (kept, undone) == (CUTS / 2, CUTS / 2), (kept, undone)
            # Callers of a durable commit have their answers: only those of the others were refused.
            assert sum(sender.refusals for sender in senders) >= CUTS / 2
        finally:
            ends.set()
            server.close()
            relay.close()


def ready(server):
    try:
        with urllib.request.urlopen(server.base + "/ready", timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@test("PostgreSQL killed by -9 three times while clients send: they wait or are refused, and nothing acknowledged is lost or doubled")
def killed(context):
    with database("killed") as url:
        server = Server(database_url=url).start()
        ends = threading.Event()
        try:
            owner, room, senders = start_senders(server, ends)
            assert ready(server) == (200, {"status": "ready"})
            for _ in range(3):
                before = sum(len(sender.acknowledged) for sender in senders)
                with open(os.path.join(databases.server().folder, "data", "postmaster.pid")) as f:
                    os.kill(int(f.readline()), signal.SIGKILL)
                end = time.monotonic() + PATIENCE
                # It is started again by who started it.
                while sum(len(sender.acknowledged) for sender in senders) < before + 40:
                    assert time.monotonic() < end, server.output()
                    time.sleep(0.02)
            ends.set()
            for sender in senders:
                sender.join(PATIENCE)
            check(owner, room, senders)
            assert ready(server)[0] == 200
        finally:
            ends.set()
            server.close()


@test("a server is alive but not ready while its database is away, and ready again when it is back")
def readiness(context):
    with database("unready") as url:
        server = Server(database_url=url).start()
        try:
            assert ready(server)[0] == 200
            databases.server().run("ALTER DATABASE unready ALLOW_CONNECTIONS false")
            databases.server().run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'unready'")
            assert ready(server) == (503, {"status": "failing", "reason": "the database does not answer"})
            assert urllib.request.urlopen(server.base + "/health").status == 200
            databases.server().run("ALTER DATABASE unready ALLOW_CONNECTIONS true")
            end = time.monotonic() + PATIENCE
            while ready(server)[0] != 200:
                assert time.monotonic() < end, server.output()
        finally:
            server.close()


@test("a database that went back to an earlier state is noticed, said, and gives out no position twice: clients sync on")
def went_back(context):
    with database("back") as url:
        own = databases.server()
        server = Server(database_url=url).start()
        try:
            ann = User(server.base)
            room = ann.create_room()
            ann.send(room, "kept")
            own.run("CREATE TABLE earlier AS SELECT * FROM event; CREATE TABLE head AS SELECT * FROM stream_head;"
                    "CREATE TABLE sent AS SELECT * FROM sent_transaction", "back")
            lost = ann.send(room, "lost")
            since = ann.sync()["next_batch"]
            # As a backup that was restored, or a standby that lacked a commit.
            own.run("DELETE FROM event WHERE position NOT IN (SELECT position FROM earlier);"
                    "DELETE FROM sent_transaction WHERE event_id NOT IN (SELECT event_id FROM sent);"
                    "UPDATE stream_head SET position = (SELECT position FROM head), batch = (SELECT batch FROM head)", "back")
            after = ann.send(room, "after")
            answer = ann.sync(since=since)
            events = answer["rooms"]["join"][room]["timeline"]["events"]
            assert [event["event_id"] for event in events] == [after], events
            assert [event["content"]["body"] for event in history(ann, room) if event["type"] == "m.room.message"] == ["after", "kept"]
            assert ann.get(room_path(room, "event", lost)).status == 404
            assert "went back to an earlier state" in server.output(), server.output()
            assert own.run("SELECT epoch FROM stream_head", "back").strip() == "1"
        finally:
            server.close()


@test("a backup that was restored while the server was stopped: after the step of the guide clients sync on and miss nothing")
def restored(context):
    with open(os.path.join(ROOT, "Documentation", "Cluster.md"), encoding="utf-8") as guide:
        step = re.search(r'"(UPDATE stream_head SET [^"]*)"', guide.read())[1]
    with database("restored") as url:
        own = databases.server()
        server = Server(database_url=url).start()
        try:
            ann = User(server.base)
            room = ann.create_room()
            kept = ann.send(room, "kept")
            server.stop()
            own.make("restored_backup", "restored")
            server.start()
            for number in range(10):
                ann.send(room, f"lost {number}")
            since = ann.sync()["next_batch"]
            server.stop()
            own.run("DROP DATABASE restored")
            own.make("restored", "restored_backup")
            own.run(step, "restored")
            server.start()
            sent = [ann.send(room, f"after {number}") for number in range(5)]
            events = ann.sync(since=since)["rooms"]["join"][room]["timeline"]["events"]
            assert [event["event_id"] for event in events][-5:] == sent, events
            assert ann.get(room_path(room, "event", kept)).ok()
        finally:
            server.close()
            own.drop("restored_backup")
