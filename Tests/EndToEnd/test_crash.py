"""kill -9 in the middle of 16 concurrent senders: what was acknowledged is there, once, and a retry changes nothing."""
import http.client
import re
import threading
import time
import urllib.request

import invariants
from client import User, room_path
from harness import test
from server import Server, free_port

SENDERS = 16
ACKNOWLEDGED_BEFORE_KILL = 600


class Sender(threading.Thread):
    """Sends one message after the other until the server is gone."""

    def __init__(self, user, room, number, acknowledged, enough):
        super().__init__()
        self.user, self.room, self.number = user, room, number
        self.acknowledged, self.enough = acknowledged, enough
        self.last = None
        self.failures = []

    def run(self):
        count = 0
        while True:
            transaction = f"crash-{self.number}-{count}"
            self.last = transaction
            try:
                answer = self.user.put(room_path(self.room, "send", "m.room.message", transaction), body(transaction))
                if answer.status != 200:
                    self.failures.append((transaction, answer.status, answer.body))
                    return
                event_id = answer.json["event_id"]
            except (OSError, http.client.HTTPException, ValueError):
                return  # the kill: nobody knows whether this one was stored
            self.acknowledged[transaction] = (event_id, self.number)
            if len(self.acknowledged) >= ACKNOWLEDGED_BEFORE_KILL:
                self.enough.set()
            count += 1


def body(transaction):
    return {"msgtype": "m.text", "body": transaction}


def history(user, room):
    """Every event of the room, newest first."""
    events, position = [], None
    while True:
        page = user.get(room_path(room, "messages"), dir="b", limit=100, **{"from": position}).ok()
        events += page["chunk"]
        position = page.get("end")
        if position is None:
            return events


def crash_and_check(server, rounds=2):
    owner = User(server.base)
    room = owner.create_room(preset="public_chat")
    users = [owner] + [User(server.base) for _ in range(SENDERS - 1)]
    for user in users[1:]:
        user.join(room)
    everything = {}
    for _ in range(rounds):
        acknowledged, enough = {}, threading.Event()
        senders = [Sender(user, room, f"{len(everything)}-{number}", acknowledged, enough) for number, user in enumerate(users)]
        for sender in senders:
            sender.start()
        assert enough.wait(120), f"only {len(acknowledged)} messages were acknowledged"
        server.kill()
        for sender in senders:
            sender.join(90)
        failures = [failure for sender in senders for failure in sender.failures]
        assert not failures, failures[:3]
        server.start()
        by_number = {sender.number: sender for sender in senders}
        everything.update(acknowledged)
        check_history(owner, room, everything)
        for transaction, (event_id, number) in acknowledged.items():
            again = by_number[number].user.put(room_path(room, "send", "m.room.message", transaction), body(transaction)).ok()
            assert again["event_id"] == event_id, (transaction, again, event_id)
        for sender in senders:
            path = room_path(room, "send", "m.room.message", sender.last)
            first = sender.user.put(path, body(sender.last)).ok()["event_id"]
            assert sender.user.put(path, body(sender.last)).ok()["event_id"] == first
            everything[sender.last] = (first, sender.number)
        check_history(owner, room, everything)
    return len(everything)


def check_history(user, room, everything):
    stored = {}
    for event in history(user, room):
        if event["type"] == "m.room.message":
            stored.setdefault(event["content"]["body"], []).append(event["event_id"])
    lost = [transaction for transaction in everything if transaction not in stored]
    assert not lost, f"{len(lost)} acknowledged messages are lost, e.g. {lost[:3]}"
    doubled = [transaction for transaction, events in stored.items() if len(events) != 1]
    assert not doubled, f"{len(doubled)} messages are there more than once, e.g. {doubled[:3]}"
    wrong = [transaction for transaction, (event_id, _) in everything.items() if stored[transaction] != [event_id]]
    assert not wrong, f"{len(wrong)} messages have another event ID than was acknowledged"


@test("kill -9 amid 16 senders, twice: every acknowledged message is there once, retries give the same event, all invariants hold")
def kill(context):
    context.own_server()
    server = Server().start()
    try:
        crash_and_check(server)
        # What the last kill leaves is checked before a start could mend it, and once more after an orderly stop.
        server.kill()
        wrong = invariants.report(server.folder)
        assert not wrong, wrong
        server.start()
        assert server.stop() == 0, server.output()
        wrong = invariants.report(server.folder)
        assert not wrong, wrong
    finally:
        server.close()


@test("an orderly stop answers what is under way and leaves no trace in the next start")
def stop(context):
    context.own_server()
    metrics = f"127.0.0.1:{free_port()}"
    server = Server(metrics_bind=metrics).start()
    try:
        user = User(server.base)
        room = user.create_room()
        sent = [user.send(room, str(number)) for number in range(5)]
        assert server.stop() == 0, server.output()
        server.start()
        assert [event["event_id"] for event in history(user, room)][:5] == sent[::-1]
        assert user.get("account/whoami").ok()["user_id"] == user.user_id
    finally:
        server.close()


@test("a stop answers parked syncs and ends at once, with status 0", one_server="it counts the connections of one process")
def stop_with_parked_syncs(context):
    context.own_server()
    metrics = f"127.0.0.1:{free_port()}"
    server = Server(metrics_bind=metrics).start()
    try:
        users = [User(server.base) for _ in range(5)]
        answers = []
        for user in users:
            user.sync()
        waiting = [threading.Thread(target=lambda user=user: answers.append(parked(user))) for user in users]
        for thread in waiting:
            thread.start()
        while open_connections(metrics) < len(users):
            time.sleep(0.01)
        start = time.monotonic()
        status = server.stop()
        seconds = time.monotonic() - start
        for thread in waiting:
            thread.join(30)
        assert status == 0, f"status {status}: {server.output()}"
        assert seconds < 5, f"it took {seconds:.1f} s"
        assert len(answers) == len(users)
    finally:
        server.close()


def open_connections(metrics):
    page = urllib.request.urlopen(f"http://{metrics}/metrics").read().decode()
    return float(re.search(r"^martlet_http_connections (\S+)$", page, re.MULTILINE)[1])


def parked(user):
    """The status of a long poll, None where the connection ended before its answer."""
    try:
        return user.get("sync", timeout=60000, since=user.since).status
    except (OSError, http.client.HTTPException):
        return None
