"""A server that lies to a client of the SDK: what it does is noticed, and nothing that is secret reaches it. Decision 0023 has the table of attacks."""
import asyncio
import contextlib
import copy
import json
import time

from client import User, fresh, room_path
from harness import PATIENCE, test
from hostile_server import HostileServer, rooms_of, timeline_of, to_device_of
from test_encryption import peers, reads, second_device, history
from test_nio import ENCRYPTION

SYNC = r"/sync$"


@contextlib.asynccontextmanager
async def talking(context, way="v3"):
    """Ann behind a server that can lie, and Bob behind an honest one, in an encrypted room in which both have spoken: Ann's client, the server, Bob's
    client, the room and both users."""
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with HostileServer(context.base) as hostile:
        async with peers(context, room, [ann, bob], [way, "v3"], [hostile.base, context.base]) as (one, other):
            await other.ask("send", text="from bob")
            await reads(one, "from bob")
            await one.ask("send", text="from ann")
            await reads(other, "from bob", "from ann")
            yield one, hostile, other, room, (ann, bob)


async def rows(peer, condition):
    """The timeline, once it is so."""
    end = time.monotonic() + PATIENCE
    while not condition(timeline := (await peer.ask("report", since=None, threads=[]))["timeline"]):
        assert time.monotonic() < end, timeline
        await asyncio.sleep(0.05)
    return timeline


def reasons(timeline):
    return [row["reason"] for row in timeline if "reason" in row]


def sent(hostile, part):
    """The bodies of requests whose path has this part, that were sent into rooms."""
    return [json.loads(body) for method, path, body in hostile.heard if method == "PUT" and part in path]


@test("hostile server: a room whose encryption the server takes back, empties or replaces is written to as before")
async def encryption_is_taken_back(context):
    async with talking(context) as (one, hostile, other, room, _):
        for content in ({}, {"algorithm": "m.none"}, {"algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 10**9}, None):
            def change(sync):
                for name, part in rooms_of(sync):
                    lists = [part.get("state", {}).get("events", []), timeline_of(part)]
                    for events in lists:
                        events[:] = [event for event in events if event["type"] != "m.room.encryption"]
                    if name == room and content is not None:
                        timeline_of(part).append({"type": "m.room.encryption", "state_key": "", "event_id": "$" + fresh("lie"), "sender": one.user.user_id,
                                                  "origin_server_ts": int(time.time() * 1000), "content": content})
                return sync
            lie = hostile.lie(SYNC, change)
            state = hostile.lie(r"/state", lambda answer: content or {})
            await other.ask("send", text=f"after {content}")
            await reads(one, f"after {content}")
            await one.restart(kills=True)
            await one.ask("send", text=f"still secret {content}")
            await reads(other, f"still secret {content}")
            hostile.believe(lie)
            hostile.believe(state)
        assert not sent(hostile, "/send/m.room.message/") and len(sent(hostile, "/send/m.room.encrypted/")) == 5


@test("hostile server: a message under another sender, in another room, at another time or a second time is not shown as that")
async def events_are_moved(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        lies = {"sender": lambda event: event | {"sender": ann.user_id},
                "time": lambda event: event,
                "id": lambda event: event}
        for name, change in lies.items():
            def repeat(sync):
                for _, part in rooms_of(sync):
                    events = timeline_of(part)
                    for event in [event for event in events if event["type"] == "m.room.encrypted" and event["sender"] == bob.user_id]:
                        forged = change(copy.deepcopy(event)) | {"event_id": "$" + fresh("moved")}
                        forged["unsigned"] = {}
                        if name == "time":
                            forged["origin_server_ts"] -= 86_400_000
                        events.append(forged)
                return sync
            lie = hostile.lie(SYNC, repeat)
            await other.ask("send", text=f"once, not by another {name}")
            timeline = await rows(one, lambda rows: any(row.get("text") == f"once, not by another {name}" for row in rows))
            shown = [row["sender"] for row in timeline if row.get("text") == f"once, not by another {name}"]
            assert shown == [bob.user_id], (name, timeline)
            hostile.believe(lie)
        timeline = await rows(one, lambda rows: len(reasons(rows)) == 3)
        assert sorted(reasons(timeline)) == ["replayed", "replayed", "waiting"], reasons(timeline)


@test("hostile server: a message that is shown in another room of the same people is damaged there")
async def events_change_rooms(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        stolen = [event for event in bob.get(room_path(room, "messages"), dir="b", limit=20).ok()["chunk"] if event["type"] == "m.room.encrypted"]

        def move(sync):
            for name, part in rooms_of(sync):
                for event in timeline_of(part):
                    if event["type"] == "m.room.encrypted":
                        # The ciphertext of the first, with its session, as if it had been written now.
                        event["content"] = {**stolen[0]["content"], "session_id": event["content"]["session_id"]}
            return sync
        lie = hostile.lie(SYNC, move)
        await other.ask("send", text="replaced")
        timeline = await rows(one, lambda rows: reasons(rows))
        assert reasons(timeline)[0] in ("replayed", "damaged") and not any(row.get("text") == "replaced" for row in timeline), timeline
        hostile.believe(lie)


# Proves E4
@test("hostile server: keys that are held back are waited for, and what they open is read when they come")
async def keys_are_held_back(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        kept = []

        def hold(sync):
            events = to_device_of(sync)
            kept.extend(event for event in events if event["type"] == "m.room.encrypted")
            events[:] = [event for event in events if event["type"] != "m.room.encrypted"]
            return sync
        lie = hostile.lie(SYNC, hold)
        # Who leaves takes the session along.
        eve = User(context.base, "eve")
        bob.post(room_path(room, "invite"), {"user_id": eve.user_id}).ok()
        eve.join(room)
        await asyncio.to_thread(eve.post, room_path(room, "leave"), {})
        end = time.monotonic() + PATIENCE
        while eve.user_id in (await other.ask("report", since=None, threads=[]))["members"]:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        await other.ask("send", text="with a new key")
        assert reasons(await rows(one, lambda rows: reasons(rows))) == ["waiting"]
        hostile.believe(lie)
        assert kept, "nothing was held back"

        def give(sync):
            to_device_of(sync).extend(kept)
            kept.clear()
            return sync
        hostile.lie(SYNC, give)
        bob.send(room, "something new, so that there is a sync")
        await reads(one, "with a new key")


@test("hostile server: a flood of messages between devices, malformed, forged and large ones, holds nothing up")
async def a_flood_of_messages(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        garbage = [{"type": "m.room.encrypted", "sender": bob.user_id, "content": {"algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": "A" * 43,
                    "ciphertext": {"A" * 43: {"type": 0, "body": "A" * 400}}}},
                   {"type": "m.room.encrypted", "sender": "@nobody:evil.example", "content": {"sender_key": 7}},
                   {"type": "m.room_key.withheld", "sender": "@nobody:evil.example", "content": {"code": "m.no_olm", "sender_key": "B" * 43}},
                   {"type": "m.room_key_request", "sender": ann.user_id, "content": {"action": "request", "request_id": "1", "requesting_device_id": "NONE"}},
                   {}, 7]
        large = {"type": "m.room.encrypted", "sender": bob.user_id, "content": {"sender_key": "C" * 100_000}}
        hostile.lie(SYNC, lambda sync: (to_device_of(sync).extend(garbage * 150 + [large] * 5), sync)[1])
        for number in range(3):
            await other.ask("send", text=f"through the flood {number}")
            await reads(one, f"through the flood {number}")
        await one.ask("send", text="and back")
        await reads(other, "and back")


@test("hostile server: a one-time key that is forged, or of another device, begins no session, and the message goes to the others")
async def one_time_keys_are_forged(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with HostileServer(context.base) as hostile:
        def forge(answer):
            for user in answer.get("one_time_keys", {}).values():
                for device in user.values():
                    for key in device.values():
                        key["key"] = "A" * 42 + "E"
            return answer
        lie = hostile.lie(r"/keys/claim$", forge)
        async with peers(context, room, [ann, bob], ["v3", "v3"], [hostile.base, context.base]) as (one, other):
            await one.ask("send", text="not for bob")
            await rows(other, lambda rows: reasons(rows) == ["m.no_olm"])
            hostile.believe(lie)
            # Bob's client begins a session by itself; the next message is for him.
            end = time.monotonic() + PATIENCE
            number = 0
            while not any(row.get("text", "").startswith("for bob") for row in (await other.ask("report", since=None, threads=[]))["timeline"]):
                assert time.monotonic() < end, "there is no session"
                await one.ask("send", text=f"for bob {(number := number + 1)}")
                await asyncio.sleep(0.2)


# Proves E7
@test("hostile server: a device that the server adds to a user gets no key of the room")
async def a_device_is_added(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        async with second_device(context, bob) as spy:
            await one.ask("send", text="not for the spy")
            await reads(other, "not for the spy")
            await spy.sync(timeout=0)
            assert await history(spy, room) == []


@test("hostile server: clear text in an encrypted room is shown with a red mark, also if it claims to be older or to be encrypted")
async def clear_text(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        def insert(sync):
            for name, part in rooms_of(sync):
                for event in timeline_of(part):
                    if event["type"] == "m.room.message":
                        event["origin_server_ts"] = 1_000
                        event["martlet.decrypted"] = {"trust": "verified", "proven": True, "sender_key": "A" * 43}
            return sync
        hostile.lie(SYNC, insert)
        await other.ask("setUpRecovery")
        bob.send(room, "by the server")
        await rows(one, lambda rows: any(row.get("text") == "by the server" for row in rows))
        # Bob's device is signed only now.
        timeline = await rows(one, lambda rows: [row.get("trust") for row in rows if row.get("text") == "from bob"] == ["pinned"])
        trust = {row["text"]: row.get("trust") for row in timeline if "text" in row}
        assert trust == {"from bob": "pinned", "from ann": "verified", "by the server": "unencrypted"}, trust
        await one.restart(kills=True)
        timeline = await rows(one, lambda rows: any(row.get("text") == "by the server" for row in rows))
        assert [row.get("trust") for row in timeline if row.get("text") == "by the server"] == ["unencrypted"], timeline
