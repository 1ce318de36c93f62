"""What a hostile user tries, and does not get."""
import json
import time
from urllib.parse import quote

from client import User, fresh, room_path
from harness import test

ENCRYPTED = [{"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}]


def nested(depth):
    """An object with `depth` objects inside each other, the outermost counted."""
    return ('{"a":' * depth + "1" + "}" * depth).encode()


@test("nobody vouches for themselves at the door of a restricted room")  # room version 8, "Restricted rooms"
def forged_voucher(context):
    a, b = User(context.base), User(context.base)
    gate = a.create_room(preset="public_chat")
    rule = {"join_rule": "restricted", "allow": [{"type": "m.room_membership", "room_id": gate}]}
    for version in ("10", "11", "12"):
        room = a.create_room(room_version=version, initial_state=[{"type": "m.room.join_rules", "state_key": "", "content": rule}])
        forged = {"membership": "join", "join_authorised_via_users_server": a.user_id}
        b.state(room, "m.room.member", forged, b.user_id).fails(403, "M_FORBIDDEN")
        b.get(room_path(room, "state")).fails(403, "M_FORBIDDEN")
    b.join(gate)
    lie = {"membership": "join", "join_authorised_via_users_server": b.user_id}
    b.state(room, "m.room.member", lie, b.user_id).ok()
    assert b.get(room_path(room, "state", "m.room.member", b.user_id)).ok()["join_authorised_via_users_server"] == a.user_id


@test("an invitation written as state is for users there are, as any other", differs_on_synapse="it federates and invites anyone")
def invited_ghosts(context):
    a = User(context.base)
    room = a.create_room()
    server = a.user_id.split(":", 1)[1]
    a.state(room, "m.room.member", {"membership": "invite"}, f"@{fresh('ghost')}:{server}").fails(404, "M_NOT_FOUND")
    a.state(room, "m.room.member", {"membership": "invite"}, "@someone:other.example").fails(403, "M_FORBIDDEN")
    ghost = {"type": "m.room.member", "state_key": f"@{fresh('ghost')}:{server}", "content": {"membership": "invite"}}
    assert a.post("createRoom", {"initial_state": [ghost]}).status in (400, 404)


@test("who left learns nothing newer by a ban, or by a knock taken back")  # "Room History Visibility"
def state_after_leaving(context):
    a, b, c = User(context.base), User(context.base), User(context.base)
    room = a.create_room(preset="public_chat", name="before")
    for user in (b, c):
        user.join(room)
        user.sync()
        user.post(room_path(room, "leave")).ok()
        user.sync()
    a.state(room, "m.room.join_rules", {"join_rule": "knock"}).ok()
    a.state(room, "m.room.name", {"name": "secret"}).ok()
    a.post(room_path(room, "ban"), {"user_id": b.user_id}).ok()
    c.state(room, "m.room.member", {"membership": "knock"}, c.user_id).ok()
    c.post(room_path(room, "leave")).ok()
    for user in (b, c):
        assert user.get(room_path(room, "state", "m.room.name")).ok() == {"name": "before"}
        for answer in (user.get(room_path(room, "state")).ok(), user.sync(), user.sync(since=None, filter={"room": {"include_leave": True}})):
            assert "secret" not in json.dumps(answer), answer
        assert "secret" not in user.get(room_path(room, "messages"), dir="b", limit=100).body.decode()


@test("who declines an invitation is not told who is in the room, by no list of devices")  # "Tracking the device list for a user"
def members_by_device_lists(context):
    a, b = User(context.base), User(context.base)
    first = b.sync()["next_batch"]
    room = a.create_room(invite=[b.user_id], initial_state=ENCRYPTED)
    invited = b.sync()["next_batch"]
    changes = b.get("keys/changes", **{"from": first, "to": invited}).ok()
    assert changes == {"changed": [], "left": []}, changes
    b.post(room_path(room, "leave")).ok()
    answer = b.sync()
    assert room in answer["rooms"]["leave"] and not answer.get("device_lists", {}).get("left"), answer
    changes = b.get("keys/changes", **{"from": first, "to": b.since}).ok()
    assert changes == {"changed": [], "left": []}, changes
    a.post(room_path(room, "invite"), {"user_id": b.user_id}).ok()
    b.join(room)
    joined = b.sync()["next_batch"]
    b.post(room_path(room, "leave")).ok()
    assert b.sync()["device_lists"]["left"] == [a.user_id]
    assert b.get("keys/changes", **{"from": joined, "to": b.since}).ok()["left"] == [a.user_id]
