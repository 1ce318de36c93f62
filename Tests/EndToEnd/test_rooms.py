"""Membership, filters, account data, redactions, to-device messages and device lists, as /sync and its neighbours tell them."""
from urllib.parse import quote

from client import User, bodies, fresh, joined, room_path, timeline, wait_for_event
from harness import test
from test_sync import kinds, shared_room


@test("an invited user gets stripped state, and joins or rejects")  # "Stripped state", "Room membership"
def invites(context):
    a, b = User(context.base), User(context.base)
    b.sync()
    room = a.create_room(preset="private_chat", name="Tea", invite=[b.user_id], is_direct=True)
    answer = b.sync_until(lambda answer: room in answer.get("rooms", {}).get("invite", {}))
    state = {(event["type"], event["state_key"]): event for event in answer["rooms"]["invite"][room]["invite_state"]["events"]}
    assert state[("m.room.name", "")]["content"]["name"] == "Tea"
    invitation = state[("m.room.member", b.user_id)]
    assert invitation["sender"] == a.user_id and invitation["content"]["membership"] == "invite"
    assert invitation["content"].get("is_direct") is True
    b.post(room_path(room, "leave")).ok()
    answer = b.sync_until(lambda answer: room in answer.get("rooms", {}).get("leave", {}))
    b.post("join/" + quote(room, safe="")).fails(403, ("M_FORBIDDEN", "M_BAD_STATE"))
    a.post(room_path(room, "invite"), {"user_id": b.user_id}).ok()
    b.join(room)
    answer = b.sync_until(lambda answer: joined(answer, room))
    assert "m.room.create" in kinds(joined(answer, room)["state"]["events"] + timeline(answer, room))
    assert room in b.get("joined_rooms").ok()["joined_rooms"]


@test("a left room is told once, shows nothing that came later, and can be forgotten")
def left_rooms(context):
    (a, b), room = shared_room(context)
    a.send(room, "before")
    b.post(room_path(room, "leave")).ok()
    a.send(room, "after")
    answer = b.sync_until(lambda answer: room in answer.get("rooms", {}).get("leave", {}))
    left = answer["rooms"]["leave"][room]["timeline"]["events"]
    assert "after" not in bodies(left) and left[-1]["content"]["membership"] == "leave", left
    assert room not in b.sync(since=None).get("rooms", {}).get("leave", {})
    with_left = b.sync(since=None, filter={"room": {"include_leave": True}})
    assert room in with_left["rooms"]["leave"]
    assert "after" not in bodies(b.get(room_path(room, "messages"), dir="b", limit=50).ok()["chunk"])
    b.put(room_path(room, "send", "m.room.message", fresh("t")), {"body": "x"}).fails(403, "M_FORBIDDEN")
    b.post(room_path(room, "forget")).ok()
    b.get(room_path(room, "messages"), dir="b").fails(403, "M_FORBIDDEN")
    again = {"room": {"include_leave": True, "timeline": {"limit": 7}}}
    assert room not in b.sync(since=None, filter=again).get("rooms", {}).get("leave", {})


@test("a kick puts out, a ban keeps out, an unban lets in again")
def kick_and_ban(context):
    (a, b), room = shared_room(context)
    a.post(room_path(room, "kick"), {"user_id": b.user_id, "reason": "tea time"}).ok()
    answer = b.sync_until(lambda answer: room in answer.get("rooms", {}).get("leave", {}))
    last = answer["rooms"]["leave"][room]["timeline"]["events"][-1]
    assert (last["sender"], last["content"]["membership"], last["content"]["reason"]) == (a.user_id, "leave", "tea time")
    b.join(room)
    a.post(room_path(room, "ban"), {"user_id": b.user_id}).ok()
    b.post("join/" + quote(room, safe="")).fails(403, ("M_FORBIDDEN", "M_BAD_STATE"))
    a.post(room_path(room, "invite"), {"user_id": b.user_id}).fails(403, ("M_FORBIDDEN", "M_BAD_STATE"))
    a.post(room_path(room, "unban"), {"user_id": b.user_id}).ok()
    b.join(room)


@test("a filter, inline or by its ID, picks types, senders and rooms")  # "Filtering"
def filters(context):
    (a, b), room = shared_room(context)
    a.state(room, "m.room.topic", {"topic": "t"}).ok()
    a.send(room, "text")
    last = a.put(room_path(room, "send", "org.example.kind", fresh("t")), {"x": 1}).ok()["event_id"]

    def types(definition):
        return kinds(timeline(b.sync(since=b.since, filter=definition), room))
    wait_for_event(b, room, last, since=b.since)
    only = {"room": {"timeline": {"types": ["m.room.message"]}}}
    assert types(only) == ["m.room.message"]
    filter_id = b.post(f"user/{quote(b.user_id)}/filter", only).ok()["filter_id"]
    assert types(filter_id) == ["m.room.message"]
    assert b.get(f"user/{quote(b.user_id)}/filter/{filter_id}").ok()["room"]["timeline"]["types"] == ["m.room.message"]
    assert types({"room": {"timeline": {"types": ["org.example.*"]}}}) == ["org.example.kind"]
    assert types({"room": {"timeline": {"not_types": ["m.room.*"]}}}) == ["org.example.kind"]
    assert types({"room": {"timeline": {"senders": [b.user_id]}}}) == []
    assert types({"room": {"timeline": {"not_senders": [a.user_id]}}}) == []
    assert types({"room": {"rooms": []}}) == []
    assert types({"room": {"not_rooms": [room]}}) == []
    assert "m.room.topic" in types({"room": {"rooms": [room]}})
    b.get("sync", filter="999999").fails((400, 404), ("M_INVALID_PARAM", "M_NOT_FOUND", "M_UNKNOWN", "M_BAD_JSON"))
    b.get(f"user/{quote(a.user_id)}/filter/0").fails(403, "M_FORBIDDEN")


@test("account data and tags come with the next sync of every device")  # "Client Config", "Room Tagging"
def account_data(context):
    a = User(context.base)
    room = a.create_room()
    other = User(context.base, login_as=a)
    a.sync()
    other.sync()
    home = f"user/{quote(a.user_id)}"
    a.put(home + "/account_data/m.direct", {"@x:y": [room]}).ok()
    a.put(home + f"/rooms/{quote(room)}/account_data/org.example", {"v": 1}).ok()
    a.put(home + f"/rooms/{quote(room)}/tags/u.work", {"order": 0.25}).ok()
    seen = {}
    for _ in range(3):
        answer = other.sync(timeout=500)
        for event in answer.get("account_data", {}).get("events", []) + joined(answer, room).get("account_data", {}).get("events", []):
            seen[event["type"]] = event["content"]
        if {"m.direct", "org.example", "m.tag"} <= set(seen):
            break
    assert seen["m.direct"] == {"@x:y": [room]} and seen["org.example"] == {"v": 1}
    assert seen["m.tag"] == {"tags": {"u.work": {"order": 0.25}}}
    assert a.get(home + "/account_data/m.direct").ok() == {"@x:y": [room]}
    a.put(home + "/account_data/m.fully_read", {}).fails((400, 405), ("M_BAD_JSON", "M_UNRECOGNIZED"))
    stranger = User(context.base)
    stranger.put(home + "/account_data/m.direct", {}).fails(403, "M_FORBIDDEN")


@test("a redaction takes the content away and tells everyone")  # "Redactions"
def redaction(context):
    (a, b), room = shared_room(context)
    event_id = a.send(room, "regret")
    wait_for_event(b, room, event_id)
    b.put(room_path(room, "redact", event_id, fresh("t")), {}).fails(403, "M_FORBIDDEN")
    redaction_id = a.put(room_path(room, "redact", event_id, fresh("t")), {"reason": "oops"}).ok()["event_id"]
    answer = wait_for_event(b, room, redaction_id)
    event = next(event for event in timeline(answer, room) if event["event_id"] == redaction_id)
    assert event["type"] == "m.room.redaction" and (event.get("redacts") or event["content"].get("redacts")) == event_id
    redacted = b.get(room_path(room, "event", event_id)).ok()
    assert redacted["content"] == {} and redacted["unsigned"]["redacted_because"]["event_id"] == redaction_id, redacted


@test("state is read by key, listed whole, and replaced, not merged")
def state(context):
    (a, b), room = shared_room(context)
    a.state(room, "org.example", {"a": 1}, "k").ok()
    second = a.state(room, "org.example", {"b": 2}, "k").ok()["event_id"]
    assert b.get(room_path(room, "state", "org.example", "k")).ok() == {"b": 2}
    listed = [event for event in b.get(room_path(room, "state")).ok() if event["type"] == "org.example"]
    assert [event["event_id"] for event in listed] == [second] and listed[0]["state_key"] == "k"
    answer = wait_for_event(b, room, second)
    event = next(event for event in timeline(answer, room) if event["event_id"] == second)
    assert event["unsigned"]["prev_content"] == {"a": 1}, event
    context_answer = b.get(room_path(room, "context", second), limit=4).ok()
    assert context_answer["event"]["event_id"] == second and context_answer["events_before"] and "state" in context_answer


@test("a room made with everything at once has it all, in the default version")  # "Creation"
def creation(context):
    a, b = User(context.base), User(context.base)
    alias = fresh("alias")
    room = a.create_room(
        preset="trusted_private_chat", name="N", topic="T", room_alias_name=alias, invite=[b.user_id], is_direct=True,
        initial_state=[{"type": "org.example", "state_key": "", "content": {"x": 1}}, {"type": "m.room.guest_access", "content": {"guest_access": "forbidden"}}],
        power_level_content_override={"events_default": 10}, creation_content={"m.federate": False})
    state = {event["type"]: event["content"] for event in a.get(room_path(room, "state")).ok() if event["state_key"] == ""}
    assert state["m.room.name"] == {"name": "N"} and state["m.room.topic"]["topic"] == "T" and state["org.example"] == {"x": 1}
    assert state["m.room.create"]["m.federate"] is False and state["m.room.guest_access"] == {"guest_access": "forbidden"}
    assert state["m.room.power_levels"]["events_default"] == 10
    full_alias = state["m.room.canonical_alias"]["alias"]
    assert full_alias.startswith(f"#{alias}:")
    assert a.get("directory/room/" + quote(full_alias, safe="")).ok()["room_id"] == room
    default = a.get("capabilities").ok()["capabilities"]["m.room_versions"]["default"]
    assert state["m.room.create"]["room_version"] == default
    b.post("join/" + quote(full_alias, safe="")).ok()
    a.post("createRoom", {"room_alias_name": alias}).fails(400, "M_ROOM_IN_USE")
    a.post("createRoom", {"room_version": "nonsense"}).fails(400, "M_UNSUPPORTED_ROOM_VERSION")
    for version in ("10", "11", "12"):
        room = a.create_room(room_version=version)
        assert a.get(room_path(room, "state", "m.room.create", "")).ok()["room_version"] == version
        assert (":" in room) == (version != "12"), room
        assert a.send(room, "works")


@test("a to-device message arrives once, again for the same token, and is gone after the next")  # "Send-to-Device messaging"
def to_device(context):
    a, b = User(context.base), User(context.base)
    b.sync()
    path = "sendToDevice/org.example/" + fresh("t")
    body = {"messages": {b.user_id: {b.device_id: {"n": 1}, "NOSUCH": {"n": 2}}}}
    a.put(path, body).ok()
    a.put(path, body).ok()
    before = b.since
    answer = b.sync_until(lambda answer: answer.get("to_device", {}).get("events"))
    wanted = [{"type": "org.example", "sender": a.user_id, "content": {"n": 1}}]
    assert answer["to_device"]["events"] == wanted, answer["to_device"]
    again = b.sync(since=before)
    assert again.get("to_device", {}).get("events") == wanted
    assert not b.sync().get("to_device", {}).get("events")
    a.put("sendToDevice/org.example/" + fresh("t"), {"messages": {b.user_id: {"*": {"n": 3}}}}).ok()
    answer = b.sync_until(lambda answer: answer.get("to_device", {}).get("events"))
    assert [event["content"] for event in answer["to_device"]["events"]] == [{"n": 3}]


@test("new device keys are told to those who share a room; one-time keys are claimed once")  # "End-to-End Encryption"
def device_lists(context):
    (a, b), room = shared_room(context)
    keys = {"user_id": a.user_id, "device_id": a.device_id, "algorithms": ["m.olm.v1.curve25519-aes-sha2"],
            "keys": {f"curve25519:{a.device_id}": "AAAA", f"ed25519:{a.device_id}": "BBBB"},
            "signatures": {a.user_id: {f"ed25519:{a.device_id}": "CCCC"}}}
    one_time = {"signed_curve25519:" + name: {"key": name, "signatures": {a.user_id: {f"ed25519:{a.device_id}": "S"}}} for name in ("AAAAAQ", "AAAAAg")}
    counts = a.post("keys/upload", {"device_keys": keys, "one_time_keys": one_time}).ok()["one_time_key_counts"]
    assert counts["signed_curve25519"] == 2
    b.sync_until(lambda answer: a.user_id in answer.get("device_lists", {}).get("changed", []))
    found = b.post("keys/query", {"device_keys": {a.user_id: []}}).ok()["device_keys"][a.user_id][a.device_id]
    assert found["keys"] == keys["keys"] and found["algorithms"] == keys["algorithms"]
    claim = {"one_time_keys": {a.user_id: {a.device_id: "signed_curve25519"}}}
    claimed = [b.post("keys/claim", claim).ok()["one_time_keys"].get(a.user_id, {}).get(a.device_id, {}) for _ in range(3)]
    assert {name for answer in claimed for name in answer} == set(one_time) and claimed[2] == {}, claimed
    assert a.sync()["device_one_time_keys_count"].get("signed_curve25519", 0) == 0
