"""Several nodes on one database: what clients are told while nodes die, checked against what the server has acknowledged."""
import atexit
import contextlib
import hashlib
import hmac
import http.client
import os
import random
import signal
import threading
import time
from collections import defaultdict
from urllib.parse import quote

import databases
import nodes
from client import PASSWORD, Api, User, fresh, room_path
from fuzz_world import SHARED_SECRET, administrator
from harness import PATIENCE, test
from server import Server
from test_postgresql import database

NODES, WRITERS, READERS, ROOMS = 3, 6, 4, 3
SECONDS = 600 if os.environ.get("MARTLET_LONG") == "1" else 12
KILL_SECONDS = 3


class Cluster:
    """Nodes that share a database and keys. `of_node` gives the settings of a node's number."""

    def __init__(self, url, count, of_node, **settings):
        self.first = Server(database_url=url, **settings, **of_node(1))
        self.first.node = "node1"
        self.servers = [self.first.start()]
        for number in range(2, count + 1):
            server = Server(nodes.folder_of(self.first.folder, number), database_url=url, **settings, **of_node(number))
            server.node, server.first = f"node{number}", self.first
            self.servers.append(server.start())
        self.hosts = [f"127.0.0.1:{server.port}" for server in self.servers]

    def close(self):
        for server in reversed(self.servers):
            server.close()


@contextlib.contextmanager
def cluster(name, count=NODES, of_node=lambda number: {}, **settings):
    with database(name) as url:
        made = Cluster(url, count, of_node, **settings)
        try:
            yield made
        finally:
            made.close()


def collecting(failures):
    """For threads: runs a function, and keeps what it raises."""
    def run(function, *arguments):
        try:
            function(*arguments)
        except BaseException as error:
            failures.append(error)
    return run


_pair = None


def pair():
    """Two nodes that tests of this process share, and leave as they were."""
    global _pair
    if _pair is None:
        lent = contextlib.ExitStack()
        _pair = lent.enter_context(cluster("nodes_pair", 2, registration_shared_secret=SHARED_SECRET))
        owner = os.getpid()
        atexit.register(lambda: lent.close() if os.getpid() == owner else None)
    return _pair


class Anywhere(Api):
    """Asks any node. One that is dead, or says that it cannot now, is left for another; the number of tries is kept."""

    def __init__(self, user, hosts, seed):
        super().__init__(user.base, user.token)
        self.user_id, self.hosts, self.random, self.tries = user.user_id, hosts, random.Random(seed), 0

    def request(self, *arguments, **options):
        end = time.monotonic() + PATIENCE
        while True:
            self.host = self.random.choice(self.hosts)
            self.tries += 1
            try:
                answer = super().request(*arguments, **options)
                if answer.status not in (502, 503):
                    return answer
            except (OSError, http.client.HTTPException):
                pass
            assert time.monotonic() < end, f"no node answers {arguments[:2]}"
            time.sleep(0.02)


class History:
    """What clients asked for and were told, in the order of the clock."""

    def __init__(self):
        self.sent = defaultdict(list)  # by room: (asked, acknowledged, event ID, how to ask again)
        self.faults = []
        self.lock = threading.Lock()

    def check(self, seen):
        """`seen`: event IDs by reader and room, in the order in which they came."""
        for room, sent in self.sent.items():
            acknowledged = [event for _, _, event, _ in sent]
            orders = {reader: timelines[room] for reader, timelines in seen.items()}
            for reader, order in orders.items():
                if len(set(order)) != len(order):
                    self.faults.append(f"{reader} was told something twice in {room}")
                if missing := set(acknowledged) - set(order):
                    self.faults.append(f"{reader} was not told {len(missing)} of {len(acknowledged)} in {room}")
            first = next(iter(orders.values()))
            for reader, order in orders.items():
                if order != first:
                    self.faults.append(f"{reader} was told another order in {room}")
            place = {event: index for index, event in enumerate(first)}
            by_end = sorted((end, event) for _, end, event, _ in sent if event in place)
            for asked, _, event, _ in sent:
                before = [other for end, other in by_end if end < asked]
                if event in place and before and max(place[other] for other in before[-20:]) > place[event]:
                    self.faults.append(f"{event} stands before one that was acknowledged before it was sent")


def write(client, rooms, history, end):
    while time.monotonic() < end:
        room, transaction = client.random.choice(rooms), fresh("t")
        path = room_path(room, "send", "m.room.message", transaction)
        asked = time.monotonic()
        event = client.put(path, {"msgtype": "m.text", "body": transaction}).ok()["event_id"]
        with history.lock:
            history.sent[room].append((asked, time.monotonic(), event, (client, path)))
        if client.random.random() < 0.3 and client.get(room_path(room, "event", event)).status != 200:
            history.faults.append(f"{event} was not there right after it was acknowledged")


FILTER = {"room": {"timeline": {"limit": 200, "types": ["m.room.message"]}}, "presence": {"types": []}}


def read(client, timelines, history, is_over):
    since, quiet = None, 0
    while quiet < 2:
        answer = client.get("sync", since=since, timeout=300, filter=FILTER, set_presence="offline").ok()
        news = 0
        for room, content in answer.get("rooms", {}).get("join", {}).items():
            events = content.get("timeline", {}).get("events", [])
            if since and content["timeline"].get("limited"):
                history.faults.append(f"{client.user_id} got a gap in {room}")
            timelines[room] += [event["event_id"] for event in events]
            news += len(events)
        since = answer["next_batch"]
        quiet = quiet + 1 if is_over.is_set() and not news else 0


def kill(made, end, chooser):
    kills = 0
    while time.monotonic() < end:
        time.sleep(KILL_SECONDS / 2)
        victim = chooser.choice(made.servers)
        victim.kill()
        kills += 1
        time.sleep(KILL_SECONDS / 2)
        victim.start()
    return kills


@test(f"{NODES} nodes of which one is killed every {KILL_SECONDS} seconds lose nothing, double nothing, and tell everybody the same order")
def killed_nodes(context):
    # More than 5 s: each node is to be killed while the others go on, and has to start again.
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    with cluster("nodes_killed") as made:
        owner = User(made.first.base, "owner")
        rooms = [owner.create_room(preset="public_chat") for _ in range(ROOMS)]
        people = [User(made.first.base, "member") for _ in range(WRITERS + READERS)]
        for person in people:
            for room in rooms:
                person.join(room)
        clients = [Anywhere(person, made.hosts, f"{seed}/{number}") for number, person in enumerate(people)]
        history, is_over = History(), threading.Event()
        seen = {client.user_id: defaultdict(list) for client in clients[WRITERS:]}
        end = time.monotonic() + SECONDS
        failures = []
        run = collecting(failures)
        writers = [threading.Thread(target=run, args=(write, client, rooms, history, end)) for client in clients[:WRITERS]]
        readers = [threading.Thread(target=run, args=(read, client, seen[client.user_id], history, is_over)) for client in clients[WRITERS:]]
        for thread in writers + readers:
            thread.start()
        kills = kill(made, end, random.Random(seed))
        for thread in writers:
            thread.join()
        is_over.set()
        for thread in readers:
            thread.join(PATIENCE)
        assert not failures, failures[0]
        history.check(seen)
        sent = [entry for entries in history.sent.values() for entry in entries]
        # The repetition of a request is the same event, whoever is asked.
        for _, _, event, (client, path) in random.Random(seed).sample(sent, min(40, len(sent))):
            again = client.put(path, {"msgtype": "m.text", "body": "again"}).ok()["event_id"]
            if again != event:
                history.faults.append(f"{event} was sent again as {again}")
        tries = sum(client.tries for client in clients)
        print(f"          seed {seed} (MARTLET_SEED): {kills} kills, {len(sent)} messages acknowledged, {tries} requests", flush=True)
        assert len(sent) > 20 * SECONDS / KILL_SECONDS, "hardly anything was sent"
        assert not history.faults, f"{len(history.faults)} faults: " + "; ".join(history.faults[:5])
        answers = [everything(host, owner) for host in made.hosts]
        assert all(answer == answers[0] for answer in answers), "nodes tell different things at rest"


def everything(host, user):
    """All that a node tells in a first sync, but for what passes."""
    api = Api("http://" + host, user.token)
    rooms = api.get("sync", set_presence="offline", filter={"room": {"timeline": {"limit": 50}}}).ok()["rooms"]["join"]
    return {room: ([event["event_id"] for event in content["timeline"]["events"]], content.get("unread_notifications"),
                   sorted(event["event_id"] for event in content["state"]["events"])) for room, content in rooms.items()}


@test("the check of histories finds what is lost, doubled, moved and late")
def broken_histories(context):
    def faults(order, other=None, sent=((1, 2, "a"), (3, 4, "b"), (5, 6, "c"))):
        history = History()
        history.sent["room"] = [(*entry, None) for entry in sent]
        history.check({"ann": {"room": list(order)}, "bob": {"room": list(other or order)}})
        return history.faults

    assert not faults("abc")
    assert any("not told 1 of 3" in fault for fault in faults("abc", "ab"))
    assert any("twice" in fault for fault in faults("abcc"))
    assert any("another order" in fault for fault in faults("abc", "bac", sent=((1, 9, "a"), (1, 9, "b"), (1, 9, "c"))))
    assert any("before one that was acknowledged" in fault for fault in faults("bac"))


@test("what is acknowledged at one node counts at once at every other: messages, state, members, markers, tokens")
def read_your_writes(context):
    made = pair()
    here, there = (f"http://{host}" for host in made.hosts)
    ann, bob = User(here, "ann"), User(there, "bob")
    ann_there, bob_here = Api(there, ann.token), Api(here, bob.token)
    room = ann.create_room(preset="private_chat")
    for number in range(20):
        event = ann.send(room, str(number))
        assert ann_there.get(room_path(room, "event", event)).ok()["content"]["body"] == str(number)
        ann_there.put(room_path(room, "state", "m.room.topic", ""), {"topic": str(number)}).ok()
        assert ann.get(room_path(room, "state", "m.room.topic", "")).ok()["topic"] == str(number)
    assert bob.get(room_path(room, "state", "m.room.topic", "")).status == 403
    ann.post(room_path(room, "invite"), {"user_id": bob.user_id}).ok()
    bob.join(room)
    assert bob_here.get(room_path(room, "joined_members")).ok()["joined"].keys() == {ann.user_id, bob.user_id}
    event = bob_here.get("sync").ok()["rooms"]["join"][room]["timeline"]["events"][-1]["event_id"]
    bob_here.post(room_path(room, "receipt", "m.read", event)).ok()
    counts = bob.get("sync").ok()["rooms"]["join"][room]["unread_notifications"]
    assert counts["notification_count"] == 0, counts
    bob.put(f"user/{bob.user_id}/account_data/org.example", {"a": 1}).ok()
    assert bob_here.get(f"user/{bob.user_id}/account_data/org.example").ok() == {"a": 1}
    bob_here.post("logout").ok()
    assert bob.get("account/whoami").status == 401
    ann.post(room_path(room, "kick"), {"user_id": bob.user_id}).ok()
    assert ann_there.get(room_path(room, "joined_members")).ok()["joined"].keys() == {ann.user_id}


@test("a sync that waits at one node is answered with what is sent at another, and ends when its token does")
def waiting_syncs(context):
    made = pair()
    here, there = (f"http://{host}" for host in made.hosts)
    ann, bob = User(here, "ann"), User(here, "bob")
    room = ann.create_room(preset="public_chat", invite=[])
    bob.join(room)
    waiting = Api(there, bob.token)
    since = waiting.get("sync").ok()["next_batch"]
    late = []
    for number in range(30):
        answers = []
        thread = threading.Thread(target=lambda: answers.append((waiting.get("sync", since=since, timeout=30_000), time.monotonic())))
        thread.start()
        time.sleep(0.02)  # Most are waiting by then; one that is not gets the message all the same.
        ann.send(room, str(number))
        sent = time.monotonic()
        thread.join(PATIENCE)
        answer, came = answers[0]
        late.append(came - sent)
        since = answer.ok()["next_batch"]
        assert [event["content"]["body"] for event in answer.json["rooms"]["join"][room]["timeline"]["events"]] == [str(number)]
    print(f"          told {sorted(late)[len(late) // 2] * 1000:.1f} ms after the acknowledgement (median), {max(late) * 1000:.1f} at most", flush=True)
    ended = []
    thread = threading.Thread(target=lambda: ended.append(waiting.get("sync", since=since, timeout=60_000).status))
    thread.start()
    Api(here, bob.token).post("logout").ok()
    thread.join(PATIENCE)
    assert ended == [401], ended


def heard(api, since, found):
    """Syncs until `found` is true of an answer; that answer, and its token."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = api.get("sync", since=since, timeout=2_000).ok()
        since = answer["next_batch"]
        if found(answer):
            return answer, since
    raise AssertionError("not told in time")


@test("who types and who is online at one node is shown at another, and who leaves with their node is gone from it")
def typing_and_presence(context):
    made = pair()
    here, there = (f"http://{host}" for host in made.hosts)
    ann, bob = User(here, "ann"), User(here, "bob")
    room = ann.create_room(preset="public_chat")
    bob.join(room)
    watching = Api(there, bob.token)
    since = watching.get("sync").ok()["next_batch"]

    def typists(answer):
        events = answer.get("rooms", {}).get("join", {}).get(room, {}).get("ephemeral", {}).get("events", [])
        return next((event["content"]["user_ids"] for event in events if event["type"] == "m.typing"), None)

    def presence(answer):
        events = answer.get("presence", {}).get("events", [])
        return next((event["content"]["presence"] for event in events if event["sender"] == ann.user_id), None)

    ann.put(room_path(room, "typing", ann.user_id), {"typing": True, "timeout": 20_000}).ok()
    _, since = heard(watching, since, lambda answer: typists(answer) == [ann.user_id])
    ann.put(room_path(room, "typing", ann.user_id), {"typing": False}).ok()
    _, since = heard(watching, since, lambda answer: typists(answer) == [])
    ann.put(f"presence/{ann.user_id}/status", {"presence": "online", "status_msg": "at the harbour"}).ok()
    _, since = heard(watching, since, lambda answer: presence(answer) == "online")
    status = watching.get(f"presence/{ann.user_id}/status").ok()
    assert status["presence"] == "online" and status["status_msg"] == "at the harbour", status
    ann.put(f"presence/{ann.user_id}/status", {"presence": "offline"}).ok()
    heard(watching, since, lambda answer: presence(answer) == "offline")


def part(api, media, content, first, last):
    return api.request("PUT", "/_matrix/media/v3/upload/" + media, body=content[first:last],
                       headers={"Content-Range": f"bytes {first}-{last - 1}/{len(content)}"}).ok()


@test("an upload whose parts go to one node and the other is one, and its content is at both")
def parts_anywhere(context):
    made = pair()
    here, there = (f"http://{host}" for host in made.hosts)
    ann = User(here, "ann")
    other = Api(there, ann.token)
    # More than a node hands on at once.
    content = random.Random(1).randbytes(6_000_000)
    media = ann.post("/_matrix/media/v1/create").ok()["content_uri"].removeprefix("mxc://")
    progress = "/_matrix/client/unstable/martlet.resumable/" + media
    assert other.get(progress).ok() == {"offset": 0, "complete": False}
    assert part(ann, media, content, 0, 100_000) == {"offset": 100_000, "complete": False}
    assert other.get(progress).ok() == {"offset": 100_000, "complete": False}
    wrong = other.request("PUT", "/_matrix/media/v3/upload/" + media, body=b"x", headers={"Content-Range": f"bytes 5-5/{len(content)}"})
    wrong.fails(409, "MARTLET_WRONG_OFFSET")
    long = other.request("PUT", "/_matrix/media/v3/upload/" + media, body=content[100_000:200_000],
                         headers={"Content-Range": f"bytes 100000-100009/{len(content)}"})
    long.fails(400, "M_INVALID_PARAM")
    assert part(other, media, content, 100_000, len(content)) == {"offset": len(content), "complete": True}
    for api in (ann, other):
        assert api.get("/_matrix/client/v1/media/download/" + media).body == content
    given_up = ann.post("/_matrix/media/v1/create").ok()["content_uri"].removeprefix("mxc://")
    part(other, given_up, content, 0, 1_000)
    ann.request("DELETE", "/_matrix/client/unstable/martlet.resumable/" + given_up).ok()
    other.get("/_matrix/client/unstable/martlet.resumable/" + given_up).fails(404, "M_NOT_FOUND")


@test("a nonce of one node is good at the other, once")
def nonces_anywhere(context):
    here, there = (Api(f"http://{host}") for host in pair().hosts)
    path, name = "/_synapse/admin/v1/register", fresh("shared")
    nonce = here.get(path).ok()["nonce"]
    mac = hmac.new(SHARED_SECRET.encode(), "\0".join([nonce, name, PASSWORD, "notadmin"]).encode(), hashlib.sha1).hexdigest()
    body = {"nonce": nonce, "username": name, "password": PASSWORD, "mac": mac}
    assert there.post(path, body).ok()["user_id"].startswith("@" + name)
    for api in (here, there):
        assert "nonce" in api.post(path, body).fails(400, "M_UNKNOWN")["error"]


@test("whichever node is asked to leave many rooms or to delete one, one node does it")
def work_anywhere(context):
    made = pair()
    apis = [Api(f"http://{host}") for host in made.hosts]
    admin = administrator(apis[0].base)
    for api in apis:
        ann = User(api.base, "ann")
        rooms = [ann.create_room(preset="public_chat") for _ in range(6)]
        asked = Api(api.base, ann.token)
        left = asked.post("/_matrix/client/unstable/martlet.bulk/leave", {"room_ids": rooms[:5]}).ok()
        assert (left["state"], left["done"], left["errors"]) == ("finished", 5, {}), left
        assert ann.get("joined_rooms").ok()["joined_rooms"] == rooms[5:]
        asked = Api(api.base, admin.token)
        asked.request("DELETE", "/_synapse/admin/v2/rooms/" + quote(rooms[5]), {"purge": True}).ok()
        end = time.monotonic() + PATIENCE
        while asked.get(f"/_synapse/admin/v2/rooms/{quote(rooms[5])}/delete_status").ok()["results"][0]["status"] != "complete":
            assert time.monotonic() < end
            time.sleep(0.02)
        assert ann.get("joined_rooms").ok()["joined_rooms"] == []


def refused(made, node, keys=True, **settings):
    """What a further node says that does not start."""
    folder = nodes.folder_of(made.first.folder, 9)
    if not keys:
        os.remove(os.path.join(folder, "signing.key"))
    server = Server(folder, database_url=made.first.settings["database_url"], **{"registration_shared_secret": SHARED_SECRET, **settings})
    server.node, server.first = node, made.first
    try:
        server.start()
    except SystemExit as error:
        return str(error)
    finally:
        server.close()
    raise AssertionError("a node started that should not")


@test("a node does not start if it differs from one that runs, or has its name; it says in what, and tells no secret")
def refusals(context):
    made = pair()
    shown = refused(made, "node9", max_upload_bytes="12345", registration_shared_secret="some other secret")
    assert "differs from node1" in shown and "in max_upload_bytes, registration_shared_secret;" in shown, shown
    terms = databases.server().run("SELECT terms FROM node", "nodes_pair")
    assert "max_upload_bytes " in terms and SHARED_SECRET not in terms, terms
    assert "in signing.key;" in refused(made, "node9", keys=False)
    assert "another node has the name node2" in refused(made, "node2")
    assert Api(f"http://{made.hosts[1]}").get("/_matrix/client/versions").status == 200


IN_TRANSACTION = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name LIKE '%process {process} %'"


def freeze_in_batch(server, name):
    """Stops a node while it holds the head's row."""
    for _ in range(2_000):
        server.process.send_signal(signal.SIGSTOP)
        if databases.server().run(IN_TRANSACTION.format(process=server.process.pid), name).strip() != "0":
            return
        server.process.send_signal(signal.SIGCONT)
        time.sleep(0.003)
    raise AssertionError("the node was never in a batch")


@test("a node that freezes in a batch holds up the others for two seconds, another takes over its work, and it ends when it wakes")
def frozen_node(context):
    # More than 5 s: a lease lasts 15.
    with cluster("nodes_frozen", 2) as made:
        frozen, (here, there) = made.servers[0], (f"http://{host}" for host in made.hosts)
        ann = User(here, "ann")
        other = Api(there, ann.token)
        room = ann.create_room()
        is_over = threading.Event()

        def send():
            while not is_over.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException):
                    ann.put(room_path(room, "send", "m.room.message", fresh("t")), {"body": "load"}, seconds=1)

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        freeze_in_batch(frozen, "nodes_frozen")
        is_over.set()
        began = time.monotonic()
        while other.put(room_path(room, "send", "m.room.message", "after"), {"body": "after"}).status == 503:
            assert time.monotonic() - began < PATIENCE
        assert time.monotonic() - began < 6, f"held up for {time.monotonic() - began:.1f} s"
        path = room_path(room, "send", "m.room.message", "delayed")
        other.request("PUT", path + "?org.matrix.msc4140.delay=500", {"body": "delayed"}).ok()
        end = time.monotonic() + PATIENCE
        while "delayed" not in bodies(other, room):
            assert time.monotonic() < end, "nobody has taken over the work"
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        frozen.process.send_signal(signal.SIGCONT)
        assert frozen.process.wait(PATIENCE) == 1
        assert "another has taken over its work" in frozen.output(), frozen.output()
        frozen.start()
        for api in (ann, other):
            assert bodies(api, room).count("delayed") == bodies(api, room).count("after") == 1


def bodies(api, room):
    chunk = api.get(room_path(room, "messages"), dir="b", limit=100).ok()["chunk"]
    return [event["content"].get("body") for event in chunk]


@test("a node waits for a database that is away for a second: what is asked meanwhile is answered when it is back")
def patience(context):
    with cluster("nodes_patience", 1) as made:
        ann = User(made.servers[0].base)
        room = ann.create_room()
        own, answers = databases.server(), []
        own.run("ALTER DATABASE nodes_patience ALLOW_CONNECTIONS false")
        own.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'nodes_patience'")
        back = threading.Timer(1, lambda: own.run("ALTER DATABASE nodes_patience ALLOW_CONNECTIONS true"))
        back.start()
        content = {"msgtype": "m.text", "body": "hello"}
        asked = [
            threading.Thread(target=lambda: answers.append(ann.put(room_path(room, "send", "m.room.message", "t1"), content))),
            threading.Thread(target=lambda: answers.append(ann.get(room_path(room, "messages"), dir="b"))),
        ]
        for thread in asked:
            thread.start()
        for thread in [*asked, back]:
            thread.join(PATIENCE)
        assert [answer.status for answer in answers] == [200, 200], answers
