"""A server that lies to a client of the SDK: what it does is noticed, and nothing that is secret reaches it. ThreatModel.md has the table of attacks;
`test_hostile_keys.py` has those on keys."""
import asyncio
import contextlib
import copy
import io
import json
import re
import time

import nio

from client import User, fresh, room_path
from forged_keys import ForgedDevice, ForgedIdentity, false_lists
from harness import PATIENCE, test
from hostile_server import HostileServer, rooms_of, timeline_of, to_device_of
from test_encryption import devices, history, peers, reads, second_device
from test_nio import ENCRYPTION, Client, good, say, sync_until

SYNC = r"/sync$"


@contextlib.asynccontextmanager
async def talking(context, encryption=ENCRYPTION):
    """Ann behind a server that can lie, and Bob behind an honest one, in an encrypted room in which both have spoken: Ann's client, the server, Bob's
    client, the room and both users."""
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[encryption], invite=[bob.user_id])
    bob.join(room)
    async with HostileServer(context.base) as hostile:
        async with peers(context, room, [ann, bob], ["v3", "v3"], [hostile.base, context.base]) as (one, other):
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


@test("hostile server: an edit in clear text changes no encrypted message, alone or with the message")
async def clear_text_edits(context):
    async with talking(context) as (one, hostile, other, _, (_, bob)):
        def edit(sync):
            for _, part in rooms_of(sync):
                events = timeline_of(part)
                for event in [event for event in events if event["type"] == "m.room.encrypted" and event["sender"] == bob.user_id]:
                    new, target = {"msgtype": "m.text", "body": "forged"}, {"rel_type": "m.replace", "event_id": event["event_id"]}
                    forged = {"type": "m.room.message", "sender": bob.user_id, "origin_server_ts": event["origin_server_ts"] + 1,
                              "content": new | {"m.new_content": new, "m.relates_to": target}}
                    event.setdefault("unsigned", {})["m.relations"] = {"m.replace": forged | {"event_id": "$" + fresh("bundled")}}
                    events.append(forged | {"event_id": "$" + fresh("edit")})
            return sync
        hostile.lie(SYNC, edit)
        await other.ask("send", text="as bob wrote it")
        await reads(one, "as bob wrote it")
        await other.ask("send", text="and this")
        await reads(one, "as bob wrote it", "and this")
        await one.restart(kills=True)
        timeline = await rows(one, lambda rows: any(row.get("text") == "and this" for row in rows))
        assert [row["text"] for row in timeline if row.get("sender") == bob.user_id and "text" in row][-2:] == ["as bob wrote it", "and this"], timeline


@test("hostile server: a message that is moved to another room of the same people is not read there, and is read in its own")
async def events_change_rooms(context):
    ann = User(context.base, "ann")
    async with HostileServer(context.base) as hostile, Client(context, "bob") as bob:
        here, there = (ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id]) for _ in range(2))
        for room in (here, there):
            good(await bob.join(room), nio.JoinResponse)
        async with peers(context, here, [ann], ["v3"], [hostile.base]) as (one,):
            await sync_until(bob, lambda: len(bob.rooms) == 2 and all(len(room.users) == 2 for room in bob.rooms.values()))
            await say(bob, here, "in this room")
            await reads(one, "in this room")
            moved = []

            def move(sync):
                rooms = dict(rooms_of(sync))
                for event in timeline_of(rooms.get(there, {})):
                    if event["type"] == "m.room.encrypted":
                        moved.append({**event, "event_id": "$" + fresh("moved")})
                if moved and here in rooms:
                    timeline_of(rooms[here]).extend(moved)
                    moved.clear()
                return sync
            lie = hostile.lie(SYNC, move)
            await say(bob, there, "in the other room")
            # The key is here when this is.
            await say(bob, here, "again in this room")
            await reads(one, "in this room", "again in this room")
            timeline = await rows(one, lambda rows: reasons(rows))
            assert reasons(timeline) == ["waiting"] and not any(row.get("text") == "in the other room" for row in timeline), timeline
            hostile.believe(lie)
            one.room = there
            await one.restart(kills=True)
            await reads(one, "in the other room")


@test("hostile server: the ciphertext of a message under another event is not read again")
async def ciphertexts_are_exchanged(context):
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


@test("hostile server: requests to verify, forged by the hundred, are a few for the user and hold nothing up")
async def requests_to_verify(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        await asyncio.gather(one.ask("setUpRecovery"), other.ask("setUpRecovery"))
        await rows(one, lambda rows: any(row.get("trust") == "pinned" for row in rows))
        ((real,), (own,)) = ([device for device, keys in devices(user).items() if not keys.get("dehydrated")] for user in (bob, ann))
        body = {"methods": ["m.sas.v1", "m.reciprocate.v1"]}
        # The server makes up devices, too, and somebody who shares no room.
        stranger = "@nobody:evil.example"
        identity = ForgedIdentity(stranger)
        spies = [ForgedDevice(bob.user_id, f"SPY{number}") for number in range(20)] + [ForgedDevice(stranger, "EVIL", identity)]

        def content(number, device):
            return {**body, "from_device": device, "timestamp": int(time.time() * 1000), "transaction_id": fresh(f"t{number}")}

        def to_device(sync):
            to_device_of(sync).extend({"type": "m.key.verification.request", "sender": sender, "content": content(number, device)} for number in range(100)
                                      for sender, device in ((bob.user_id, real), (stranger, "EVIL"), (ann.user_id, f"NONE{number}")))
            return sync
        lie = hostile.lie(SYNC, to_device)
        async with false_lists(hostile, one, ann, [bob.user_id], *(spy.put for spy in spies), identity.put):
            await other.ask("send", text="through the requests")
            await reads(one, "through the requests")
            assert (await one.ask("encryption"))["verifications"] == []
            hostile.believe(lie)

            def in_room(sync):
                for name, part in rooms_of(sync):
                    if name == room:
                        timeline_of(part).extend(
                            {"type": "m.room.message", "sender": spy.user, "event_id": "$" + fresh("ask"), "origin_server_ts": int(time.time() * 1000),
                             "content": {**content(number, spy.device), "msgtype": "m.key.verification.request", "to": ann.user_id, "body": "verify"}}
                            for number, spy in enumerate(spies * 5))
                return sync
            lie = hostile.lie(SYNC, in_room)
            await other.ask("send", text="through more of them")
            await reads(one, "through more of them")
            shown = (await one.ask("encryption"))["verifications"]
            assert 0 < len(shown) <= 16 and len([line for line in shown if line.startswith(bob.user_id) and line.endswith("requested")]) <= 3, shown
            hostile.believe(lie)
        said = [path for method, path, _ in hostile.heard if method == "PUT" and "m.key.verification" in path]
        assert len(said) < 50, len(said)
        assert len([path for _, path, _ in hostile.heard if path.endswith("/keys/query")]) < 50
        await one.ask("send", text="and back")
        await reads(other, "and back")


# Proves E13
@test("hostile server: a file larger than the client takes, or another than was encrypted, is refused with its reason")
async def files_are_exchanged(context):
    ann = User(context.base, "ann")
    async with HostileServer(context.base) as hostile, Client(context, "bob") as bob:
        room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
        good(await bob.join(room), nio.JoinResponse)
        async with peers(context, room, [ann], ["v3"], [hostile.base]) as (one,):
            await sync_until(bob, lambda: room in bob.rooms and len(bob.rooms[room].users) == 2)
            size = 10_000
            up, keys = await bob.upload(io.BytesIO(bytes(size)), content_type="application/octet-stream", filesize=size, encrypt=True)
            content = {"msgtype": "m.file", "body": "plan.bin", "info": {"size": size}, "file": {"url": good(up, nio.UploadResponse).content_uri, **keys}}
            event = good(await bob.room_send(room, "m.room.message", content, ignore_unverified_devices=True), nio.RoomSendResponse).event_id
            await rows(one, lambda rows: any(row.get("event") == event and row.get("text") == "plan.bin" for row in rows))
            # A client without a folder for files takes 2 MiB.
            for content, reason in ((bytes(3 << 20), "tooLarge"), (bytes(size), "damagedAttachment"), (bytes(size - 1), "damagedAttachment")):
                hostile.files = [(re.compile("/media/download/"), content)]
                refused = await one.tell("file", event=event)
                assert reason in refused.get("error", ""), (len(content), refused)
            hostile.files = []
            await one.restart(kills=True)
            await rows(one, lambda rows: any(row.get("event") == event for row in rows))
            assert (await one.ask("file", event=event))["bytes"] == size


@test("hostile server: a history larger than 50 MB, or another than was given, is not read, and is not asked for again")
async def histories_are_exchanged(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with HostileServer(context.base) as hostile:
        async with peers(context, room, [ann, bob], ["v3", "v3"], [context.base, hostile.base]) as (one, other):
            await asyncio.gather(one.ask("setUpRecovery"), other.ask("setUpRecovery"))
            # Ann gives a history to devices only that she knows as signed.
            await other.ask("send", text="from bob")
            await rows(one, lambda rows: any(row.get("text") == "from bob" and row.get("trust") == "pinned" for row in rows))
            await other.ask("leave")
            await membership(one, bob, lambda now: now != "join")
            hostile.give("/media/download/", bytes((50 << 20) + 1))
            await one.ask("send", text="while bob was away")
            await one.ask("invite", user=bob.user_id)
            await membership(other, bob, lambda now: now == "invite")
            await other.ask("join")

            def asked():
                return len([path for _, path, _ in hostile.heard if "/media/download/" in path])
            end = time.monotonic() + PATIENCE
            before, number = 0, 0
            while asked() > before or not before:
                # A client that is killed before it has stored that it refuses the history asks once more.
                while not (hostile.poured == asked() > 0):
                    assert time.monotonic() < end, f"asked for {asked()} times, {hostile.poured} are over"
                    await asyncio.sleep(0.05)
                before = asked()
                for restarts in (False, True):
                    if restarts:
                        await other.restart(kills=True)
                    await one.ask("send", text=f"bob is back {(number := number + 1)}")
                    report = await reads(other, f"bob is back {number}")
            assert not any(row.get("text") == "while bob was away" for row in report["timeline"]) and len(reasons(report["timeline"])) == 1, report


async def membership(client, user, condition):
    end = time.monotonic() + PATIENCE
    while not condition((await client.ask("report", since=None, threads=[]))["members"].get(user.user_id, [""])[0]):
        assert time.monotonic() < end, "it does not come"
        await asyncio.sleep(0.05)
