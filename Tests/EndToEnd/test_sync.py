"""What /sync promises. Spec: Client-Server API, "Syncing", and the modules named at each test."""
from urllib.parse import quote

import nodes
from client import User, bodies, fresh, joined, room_path, timeline, wait_for_event
from harness import test


def shared_room(context, *, members=2, **body):
    """(users, room): the first made it, the others have joined; all have synced past it."""
    users = [User(context.base) for _ in range(members)]
    room = users[0].create_room(preset="public_chat", **body)
    for user in users[1:]:
        user.join(room)
    for user in users:
        user.sync()
    return users, room


def kinds(events):
    return [event["type"] for event in events]


@test("a limited timeline and its prev_batch together lose nothing and repeat nothing")
def limited_timeline(context):
    (a, b), room = shared_room(context)
    sent = [a.send(room, f"m{number}") for number in range(37)]
    answer = joined(b.sync(filter={"room": {"timeline": {"limit": 5}}}), room)["timeline"]
    assert answer["limited"] is True and len(answer["events"]) == 5, answer
    got = [event["event_id"] for event in answer["events"]]
    assert got == sent[-5:]
    position = answer["prev_batch"]
    while len(got) < len(sent):
        page = b.get(room_path(room, "messages"), dir="b", limit=7, **{"from": position}).ok()
        assert page["chunk"], (len(got), page)
        got = [event["event_id"] for event in reversed(page["chunk"])] + got
        position = page["end"]
    assert got[-len(sent):] == sent
    assert len(set(got)) == len(got)


@test("paging forward from a token meets every later event once and ends")
def forward(context):
    (a, b), room = shared_room(context)
    start = b.since
    sent = [a.send(room, f"m{number}") for number in range(11)]
    got, position = [], start
    for _ in range(20):
        page = b.get(room_path(room, "messages"), dir="f", limit=4, **{"from": position}).ok()
        got += [event["event_id"] for event in page["chunk"]]
        if "end" not in page or not page["chunk"]:
            break
        position = page["end"]
    assert got == sent, (got, sent)


@test("paging back ends at the creation of the room, without an end token")
def start_of_room(context):
    user = User(context.base)
    room = user.create_room()
    kinds_seen, position = [], None
    for _ in range(20):
        page = user.get(room_path(room, "messages"), dir="b", limit=3, **{"from": position}).ok()
        kinds_seen += kinds(page["chunk"])
        position = page.get("end")
        if position is None:
            break
    assert kinds_seen[-1] == "m.room.create" and kinds_seen.count("m.room.create") == 1, kinds_seen
    assert position is None


@test("a long poll answers as soon as there is news, and without news when its time is up")
def long_poll(context):
    import threading
    import time
    (a, b), room = shared_room(context)
    # Being seen at work is news too and may come first: who filters it out must not be woken for it.
    waiting = {"filter": {"presence": {"types": []}}}
    parked = {}
    thread = threading.Thread(target=lambda: parked.update(answer=b.sync(timeout=30000, **waiting)))
    thread.start()
    event_id = a.send(room, "wake up")
    thread.join(20)
    assert not thread.is_alive(), "the poll still sleeps"
    assert [event["event_id"] for event in timeline(parked["answer"], room)] == [event_id], parked
    start = time.monotonic()
    answer = b.sync(timeout=300, **waiting)
    took = time.monotonic() - start
    assert took >= 0.25 and "rooms" not in answer, (took, answer)


@test("the same token gives the same news again")
def repeatable(context):
    (a, b), room = shared_room(context)
    a.send(room, "one")
    a.send(room, "two")
    first = wait_for_event(b, room, a.send(room, "three"), since=b.since)
    second = b.sync(since=b.since)
    assert bodies(timeline(first, room)) == bodies(timeline(second, room)) == ["one", "two", "three"]


@test("only the sending device sees its transaction ID")
def transaction_id(context):
    (a, b), room = shared_room(context)
    other = User(context.base, login_as=a)
    event_id = a.send(room, "x", transaction="mine")
    for user, wanted in ((a, "mine"), (b, None), (other, None)):
        answer = wait_for_event(user, room, event_id)
        event = next(event for event in timeline(answer, room) if event["event_id"] == event_id)
        assert event.get("unsigned", {}).get("transaction_id") == wanted, event


@test("between two syncs with a gap, state says what changed in the gap")
def state_of_gap(context):
    (a, b), room = shared_room(context)
    a.state(room, "m.room.topic", {"topic": "new"}).ok()
    for number in range(6):
        a.send(room, str(number))
    answer = joined(b.sync(filter={"room": {"timeline": {"limit": 3}}}), room)
    assert [(event["type"], event["content"].get("topic")) for event in answer["state"]["events"]] == [("m.room.topic", "new")], answer["state"]
    assert bodies(answer["timeline"]["events"]) == ["3", "4", "5"]


@test("full_state brings all state again")
def full_state(context):
    (a, b), room = shared_room(context)
    answer = b.sync(full_state="true")
    all_kinds = set(kinds(joined(answer, room)["state"]["events"] + timeline(answer, room)))
    assert {"m.room.create", "m.room.member", "m.room.power_levels", "m.room.join_rules"} <= all_kinds


@test("lazy loading brings the members who speak, not all")  # "Lazy-loading room members"
def lazy_members(context):
    users, room = shared_room(context, members=6, name="Named")
    c = users[3]
    c.send(room, "hello")
    reader = users[5]
    lazy = {"room": {"timeline": {"limit": 1}, "state": {"lazy_load_members": True}}}
    answer = joined(reader.sync(since=None, filter=lazy), room)
    assert bodies(answer["timeline"]["events"]) == ["hello"]
    members = {event["state_key"] for event in answer["state"]["events"] if event["type"] == "m.room.member"}
    assert c.user_id in members and len(members) < 6 and members <= {c.user_id, reader.user_id}, members
    eager = joined(reader.sync(since=None, filter={"room": {"timeline": {"limit": 1}}}), room)
    assert sum(event["type"] == "m.room.member" for event in eager["state"]["events"]) == 6
    members = reader.get(room_path(room, "members"), membership="join").ok()["chunk"]
    assert len(members) == 6


@test("the summary of a room without a name has the heroes and counts a client names it by")  # "Syncing", summary
def summary(context):
    users, room = shared_room(context, members=6)
    a, reader = users[0], users[5]
    invited = User(context.base)
    a.post(room_path(room, "invite"), {"user_id": invited.user_id}).ok()
    lazy = {"room": {"timeline": {"limit": 1}, "state": {"lazy_load_members": True}}}
    answer = joined(reader.sync(since=None, filter=lazy), room)["summary"]
    assert answer["m.joined_member_count"] == 6 and answer["m.invited_member_count"] == 1, answer
    others = {user.user_id for user in users + [invited]} - {reader.user_id}
    assert len(answer["m.heroes"]) == 5 and set(answer["m.heroes"]) <= others, answer


@test("typing is told while it lasts")  # "Typing Notifications"
def typing(context):
    (a, b), room = shared_room(context)

    def typers(answer):
        for event in joined(answer, room).get("ephemeral", {}).get("events", []):
            if event["type"] == "m.typing":
                return event["content"]["user_ids"]
        return None

    def told(wanted):
        """At once by one server; a node may not have heard yet, and tells what it knows before."""
        told = [typers(b.sync_until(lambda answer: typers(answer) is not None))]
        while nodes.COUNT > 1 and told[-1] != wanted:
            told.append(typers(b.sync_until(lambda answer: typers(answer) is not None)))
        assert told[-1] == wanted and len(told) < 4, told

    a.put(room_path(room, "typing", a.user_id), {"typing": True, "timeout": 30000}).ok()
    told([a.user_id])
    a.put(room_path(room, "typing", a.user_id), {"typing": False}).ok()
    told([])
    a.put(room_path(room, "typing", a.user_id), {"typing": True, "timeout": 1000}).ok()
    told([a.user_id])
    told([])


def receipts(answer, room, kind):
    result = {}
    for event in joined(answer, room).get("ephemeral", {}).get("events", []):
        if event["type"] == "m.receipt":
            for event_id, by_kind in event["content"].items():
                for user_id in by_kind.get(kind, {}):
                    result[user_id] = event_id
    return result


@test("a public receipt is told to all, a private one to its user alone")  # "Receipts"
def receipt(context):
    (a, b), room = shared_room(context)
    first, second = a.send(room, "1"), a.send(room, "2")
    wait_for_event(a, room, second)
    b.post(room_path(room, "receipt", "m.read", first)).ok()
    seen = a.sync_until(lambda answer: receipts(answer, room, "m.read"))
    assert receipts(seen, room, "m.read") == {b.user_id: first}
    b.post(room_path(room, "receipt", "m.read.private", second)).ok()
    own = b.sync_until(lambda answer: receipts(answer, room, "m.read.private"))
    assert receipts(own, room, "m.read.private") == {b.user_id: second}
    marker = a.send(room, "3")
    assert not receipts(wait_for_event(a, room, marker), room, "m.read.private")
    b.post(room_path(room, "read_markers"), {"m.fully_read": marker, "m.read": marker}).ok()
    answer = b.sync_until(lambda answer: joined(answer, room).get("account_data", {}).get("events"))
    event = joined(answer, room)["account_data"]["events"][0]
    assert event["type"] == "m.fully_read" and event["content"]["event_id"] == marker
    b.post(room_path(room, "receipt", "m.nonsense", first)).fails(400, ("M_INVALID_PARAM", "M_UNKNOWN", "M_BAD_JSON"))


@test("unread counts rise with others' messages, not the user's own, and fall with a receipt")  # "Push Notifications"
def unread(context):
    (a, b), room = shared_room(context)

    def counts(answer):
        numbers = joined(answer, room).get("unread_notifications", {})
        return numbers.get("notification_count"), numbers.get("highlight_count")
    a.send(room, "one")
    assert counts(wait_for_event(b, room, a.send(room, "two"))) == (2, 0)
    mention = a.send(room, "look", **{"m.mentions": {"user_ids": [b.user_id]}})
    assert counts(wait_for_event(b, room, mention)) == (3, 1)
    b.post(room_path(room, "receipt", "m.read", mention)).ok()
    assert counts(b.sync_until(lambda answer: joined(answer, room))) == (0, 0)
    own = b.send(room, "own")
    assert counts(wait_for_event(b, room, own)) == (0, 0)
    muted = {"actions": [], "conditions": [{"kind": "event_match", "key": "room_id", "pattern": room}]}
    b.put("pushrules/global/override/" + quote(room, safe=""), muted).ok()
    assert counts(wait_for_event(b, room, a.send(room, "quiet"))) == (0, 0)
