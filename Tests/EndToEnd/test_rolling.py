"""Nodes behind a load balancer that are restarted one after the other: nobody notices."""
import http.client
import random
import threading
import time
from collections import defaultdict

import proxies
from client import Api, User
from harness import PATIENCE, test
from test_nodes import History, cluster, collecting, read, write

WRITERS, READERS, ROOMS = 4, 4, 2
# More than haproxy needs to notice: two checks of a second each.
DRAIN_SECONDS = 3


class Through(Api):
    """Asks the load balancer, once: what is not answered, or is answered with a failure of the server, is a fault."""

    def __init__(self, user, host, seed, faults):
        super().__init__("http://" + host, user.token)
        self.user_id, self.random, self.faults, self.count = user.user_id, random.Random(seed), faults, 0

    def request(self, method, path, *arguments, **options):
        self.count += 1
        try:
            answer = super().request(method, path, *arguments, **options)
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(f"{method} {path}: {error!r}")
            raise
        if answer.status != 200:
            self.faults.append(f"{method} {path}: {answer.status} {answer.body[:100]}")
        return answer


def make_rooms(client, end):
    """POST requests, which no load balancer may repeat."""
    while time.monotonic() < end():
        client.post("createRoom", {"preset": "private_chat"}).ok()
        client.get(f"profile/{client.user_id}")
        time.sleep(0.05)


def wait_for_news(client, is_over, answers):
    """Syncs that wait, of a user who has no news until all is over."""
    since = client.get("sync").ok()["next_batch"]
    while not is_over.is_set():
        since = client.get("sync", since=since, timeout=30_000, set_presence="offline").ok()["next_batch"]
        answers.append(since)


def under_load(made, host, body):
    """What clients that go by the load balancer find wrong while `body` runs."""
    owner = User("http://" + host, "owner")
    rooms = [owner.create_room(preset="public_chat") for _ in range(ROOMS)]
    people = [User("http://" + host, "member") for _ in range(WRITERS + READERS + 1)]
    for person in people:
        for room in rooms:
            person.join(room)
    history, is_over, ends = History(), threading.Event(), [time.monotonic() + PATIENCE]
    clients = [Through(person, host, number, history.faults) for number, person in enumerate(people)]
    seen = {client.user_id: defaultdict(list) for client in clients[WRITERS:-1]}
    lonely, answers = User("http://" + host, "lonely"), []
    own = lonely.create_room()
    failures = []
    run = collecting(failures)

    class End:
        """A time that is moved."""
        def __gt__(self, other):
            return ends[0] > other

    threads = [threading.Thread(target=run, args=(write, client, rooms, history, End())) for client in clients[:WRITERS]]
    waiting = threading.Thread(target=run, args=(wait_for_news, Through(lonely, host, "w", history.faults), is_over, answers))
    threads += [threading.Thread(target=run, args=(make_rooms, clients[-1], lambda: ends[0]))]
    readers = [threading.Thread(target=run, args=(read, client, seen[client.user_id], history, is_over)) for client in clients[WRITERS:-1]]
    for thread in [*threads, *readers, waiting]:
        thread.start()
    try:
        body()
        answered = len(answers)
    finally:
        ends[0] = 0
        for thread in threads:
            thread.join(PATIENCE)
        is_over.set()
        lonely.send(own, "It is over.")
        for thread in [*readers, waiting]:
            thread.join(PATIENCE)
    if not history.faults:
        history.check(seen)
    sent = sum(len(entries) for entries in history.sent.values())
    print(f"          {sum(client.count for client in clients)} requests, {sent} messages, {len(history.faults)} faults", flush=True)
    assert not history.faults, f"{len(history.faults)} faults: " + "; ".join(history.faults[:5])
    assert not failures, failures[0]
    assert sent > 50, "hardly anything was sent"
    return answered


def restart(server):
    assert server.stop() == 0, server.output()
    server.start()


@test("three nodes behind haproxy, and then nginx, are restarted one after the other under load, and no request fails")
def rolling(context):
    # More than 5 s: each node goes on for three seconds, so that haproxy notices.
    with cluster("nodes_rolling", 3, shutdown_drain_seconds=str(DRAIN_SECONDS)) as made:
        with proxies.haproxy(made.hosts) as host:
            answered = under_load(made, host, lambda: [restart(server) for server in made.servers])
            assert answered, "no sync waited at a node that stopped"
        with proxies.nginx(made.hosts) as host:
            under_load(made, host, lambda: restart(made.servers[1]))
