"""A server that lies about keys: of devices and identities, one-time keys, the backup and secret storage. ThreatModel.md has the table of attacks."""
import asyncio
import contextlib
import json
import time
from unittest.mock import patch
from urllib.parse import quote

import nio

from client import User
from forged_keys import ForgedDevice, ForgedIdentity, false_lists, hide_identity, object_of_device, signed, signer
from harness import PATIENCE, test
from hostile_server import HostileServer, rooms_of, timeline_of, to_device_of
from test_encryption import devices, history, peers, reads, second_device, until_status
from test_hostile_server import reasons, rows, talking
from test_nio import ENCRYPTION, Client, collect, good, say, sync_until

# Each message has a session of its own, so each is shared with those who are to read it.
ONE_EACH = {**ENCRYPTION, "content": {**ENCRYPTION["content"], "rotation_period_msgs": 1}}


def only_device(user):
    (device,) = [device for device, keys in devices(user).items() if not keys.get("dehydrated")]
    return device


def has_trust(text, trust):
    return lambda rows: any(row.get("text") == text and row.get("trust") == trust for row in rows)


async def pinned(client, other):
    """The other signs its device, and the client has seen that."""
    await other.ask("setUpRecovery")
    await rows(client, has_trust("from bob", "pinned"))


@test("hostile keys: a device whose keys change keeps those that it had, and nothing is encrypted for the others")
async def keys_of_a_device(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        spy = ForgedDevice(bob.user_id, only_device(bob))
        hostile.lie(r"/keys/claim$", spy.claimed)
        async with false_lists(hostile, one, ann, [bob.user_id], spy.put):
            await one.ask("send", text="for the first keys")
            await reads(other, "for the first keys")
            await other.ask("send", text="with the first keys")
            await reads(one, "with the first keys")
        assert not spy.has_something(hostile)


# Proves E7
@test("hostile keys: an identity that changes holds messages back until it is the known one again, or the user accepts it")
async def keys_of_an_identity(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        await pinned(one, other)
        identity = ForgedIdentity(bob.user_id)
        spy = ForgedDevice(bob.user_id, "SPY", identity)
        hostile.lie(r"/keys/claim$", spy.claimed)
        async with false_lists(hostile, one, ann, [bob.user_id], identity.put, spy.put):
            assert (await one.ask("encryption"))["changed"] == [bob.user_id]
            await one.ask("send", text="is that you?")
            await failed(one)
            await other.ask("send", text="who writes?")
            await rows(one, has_trust("who writes?", "changed"))
            assert not spy.has_something(hostile)
        assert (await one.ask("encryption"))["changed"] == []
        await one.ask("retry")
        await reads(other, "is that you?")
        async with false_lists(hostile, one, ann, [bob.user_id], identity.put, spy.put):
            await one.ask("accept", user=bob.user_id)
            await one.ask("send", text="as the user wishes")
            await rows(one, lambda rows: any(row.get("text") == "as the user wishes" for row in rows))
            assert spy.has_something(hostile), "the attack does nothing"


async def failed(client):
    """A message cannot be sent."""
    end = time.monotonic() + PATIENCE
    while not (report := await client.ask("report", since=None, threads=[]))["failed"]:
        assert time.monotonic() < end, report
        await asyncio.sleep(0.05)


@test("hostile keys: signatures and devices that the server hides, or lists of before, make nobody trusted, and the own device says so")
async def lists_of_before(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        before = {user.user_id: devices(user) for user in (ann, bob)}

        def replay(user):
            def change(answer):
                hide_identity(answer, user.user_id)
                answer["device_keys"][user.user_id] = before[user.user_id]
            return change
        await one.ask("setUpRecovery")
        assert (await until_status(one, lambda status: status["is_verified"]))["has_identity"]
        for change in (replay(ann), lambda answer: answer["device_keys"].pop(ann.user_id)):
            async with false_lists(hostile, one, ann, [ann.user_id], change):
                status = await one.ask("encryption")
                assert status["has_identity"] and not status["is_verified"], status
            assert (await one.ask("encryption"))["is_verified"]
        # An identity that was seen is not forgotten: nobody gets a key without its signature.
        await pinned(one, other)
        spy = ForgedDevice(bob.user_id, "SPY")
        hostile.lie(r"/keys/claim$", spy.claimed)
        async with false_lists(hostile, one, ann, [bob.user_id], replay(bob), spy.put):
            await one.ask("send", text="for signed devices")
            await rows(other, lambda rows: reasons(rows) == ["m.unverified"])
        await one.ask("send", text="for bob again")
        await reads(other, "for bob again")
        assert not spy.has_something(hostile)


@test("hostile keys: a key of a room that another person gives opens nothing of its owner, and makes nobody the writer of another's words")
async def keys_of_another_person(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    async with HostileServer(context.base) as hostile, Client(context, "eve") as eve:
        room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id, eve.user_id])
        bob.join(room)
        good(await eve.join(room), nio.JoinResponse)
        kept, taken = [], []

        def hold(sync):
            events = to_device_of(sync)
            kept.extend(event for event in events if event["sender"] == bob.user_id)
            events[:] = [event for event in events if event["sender"] != bob.user_id]
            return sync
        lie = hostile.lie(r"/sync$", hold)
        async with peers(context, room, [ann, bob], ["v3", "v3"], [hostile.base, context.base]) as (one, other):
            with patch.object(eve.olm, "create_group_session", side_effect=eve.olm.create_group_session) as heard:
                await sync_until(eve, lambda: room in eve.rooms and len(eve.rooms[room].users) == 3)
                await other.ask("send", text="by bob")
                await sync_until(eve, lambda: heard.call_args)
                taken.extend(heard.call_args.args)
            await give(eve, room, ann, taken)

            def as_bob(sync):
                for _, part in rooms_of(sync):
                    for event in timeline_of(part):
                        if event["type"] == "m.room.encrypted" and event["sender"] == eve.user_id:
                            event["sender"] = bob.user_id
                return sync
            forged = hostile.lie(r"/sync$", as_bob)
            # Its key is here when it comes, and so is the one before.
            await say(eve, room, "bob never wrote this")
            assert reasons(await rows(one, lambda rows: len(reasons(rows)) == 2)) == ["waiting", "waiting"]
            hostile.believe(forged)
            await say(eve, room, "by eve")
            await reads(one, "by eve")
            hostile.believe(lie)

            def give_back(sync):
                to_device_of(sync).extend(kept)
                kept.clear()
                return sync
            hostile.lie(r"/sync$", give_back)
            await other.ask("send", text="by bob, too")
            timeline = (await reads(one, "by bob", "by eve", "by bob, too"))["timeline"]
            assert reasons(timeline) == ["waiting"] and not any(row.get("text") == "bob never wrote this" for row in timeline), timeline


async def give(client, room, user, session):
    """A device of matrix-nio gives a session that it has got as its own one."""
    device = only_device(user)
    good(await client.keys_claim({user.user_id: [device]}), nio.KeysClaimResponse)
    known = client.device_store[user.user_id][device]
    *_, session_id, session_key = session
    content = {"algorithm": "m.megolm.v1.aes-sha2", "room_id": room, "session_id": session_id, "session_key": session_key}
    message = client.olm._olm_encrypt(client.olm.session_store.get(known.curve25519), known, "m.room_key", content)
    good(await client.to_device(nio.ToDeviceMessage("m.room.encrypted", user.user_id, device, message)), nio.ToDeviceResponse)


@test("hostile keys: two who are given the same one-time key of a device are both read there")
async def one_time_keys_twice(context):
    ann, bob, carol = (User(context.base, name) for name in ("ann", "bob", "carol"))
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id, carol.user_id])
    bob.join(room)
    carol.join(room)
    async with HostileServer(context.base) as hostile:
        given = []

        def repeat(answer):
            keys = answer.get("one_time_keys", {}).get(ann.user_id, {})
            for device in keys:
                given.append(keys[device])
                keys[device] = given[0]
            return answer
        hostile.lie(r"/keys/claim$", repeat)
        async with peers(context, room, [ann, bob, carol], ["v3"] * 3, [context.base, hostile.base, hostile.base]) as (one, other, third):
            await asyncio.gather(other.ask("send", text="from bob"), third.ask("send", text="from carol"))
            await rows(one, lambda rows: {row.get("text") for row in rows} >= {"from bob", "from carol"})
            assert len(given) == 2 and (await one.ask("encryption"))["repaired"] == 1, given
            await third.ask("send", text="from carol again")
            await reads(one, "from carol again")


# Proves E5
@test("hostile keys: a device with the name of a key makes its user unverified, and gets nothing")
async def device_named_as_a_key(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        await asyncio.gather(one.ask("setUpRecovery"), pinned(one, other))
        ends = await asyncio.gather(one.ask("verify", user=bob.user_id), other.ask("takePart"))
        assert [end["end"] for end in ends] == ["done", "done"], ends
        assert (await one.ask("devices", user=bob.user_id))["is_verified"]
        (name,) = bob.post("keys/query", {"device_keys": {bob.user_id: []}}).ok()["master_keys"][bob.user_id]["keys"].values()
        spy = ForgedDevice(bob.user_id, name)
        hostile.lie(r"/keys/claim$", spy.claimed)
        async with false_lists(hostile, one, ann, [bob.user_id], spy.put):
            assert not (await one.ask("devices", user=bob.user_id))["is_verified"]
            await one.ask("send", text="for bob's real device")
            await reads(other, "for bob's real device")
        assert (await one.ask("devices", user=bob.user_id))["is_verified"] and not spy.has_something(hostile)


@test("hostile keys: a second device with the keys of the first is refused, also if its owner has signed it")
async def device_with_the_same_keys(context):
    ann = User(context.base, "ann")
    async with HostileServer(context.base) as hostile, Client(context, "eve") as eve:
        room = ann.create_room(preset="private_chat", initial_state=[ONE_EACH], invite=[eve.user_id])
        good(await eve.join(room), nio.JoinResponse)
        keys, twin = eve.olm.account.identity_keys, "ZZTWIN"
        listed = signed(object_of_device(eve.user_id, twin, keys["curve25519"], keys["ed25519"]), eve.user_id, f"ed25519:{twin}", eve.olm.account.sign)
        heard = collect(eve, nio.RoomMessageText)
        async with peers(context, room, [ann], ["v3"], [hostile.base]) as (one,):
            await one.ask("send", text="once for eve")
            await sync_until(eve, lambda: len(heard) == 1)
            async with false_lists(hostile, one, ann, [eve.user_id], lambda answer: answer["device_keys"][eve.user_id].update({twin: listed})):
                known = await one.ask("devices", user=eve.user_id)
                assert known["others"] == [eve.device_id] and not known["verified"], known
                await one.ask("send", text="still once")
                await sync_until(eve, lambda: len(heard) == 2)
                assert [event.body for event in heard] == ["once for eve", "still once"], heard
        assert not any(twin.encode() in body for _, path, body in hostile.heard if "/sendToDevice/" in path)


# Proves E7
@test("hostile keys: an own device that the user has not signed gets neither keys nor secrets, and what it writes is marked for everybody")
async def own_device_without_signature(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        await one.ask("setUpRecovery")
        await until_status(one, lambda status: status["is_verified"])
        async with second_device(context, ann) as spy:
            curve = spy.olm.account.identity_keys["curve25519"]
            await sync_until(spy, lambda: room in spy.rooms and len(spy.rooms[room].users) == 2)
            ask = {"action": "request", "requesting_device_id": spy.device_id}
            for name in ("m.cross_signing.master", "m.cross_signing.self_signing", "m.megolm_backup.v1"):
                message = nio.ToDeviceMessage("m.secret.request", ann.user_id, only_other(ann, spy), {**ask, "name": name, "request_id": name})
                good(await spy.to_device(message), nio.ToDeviceResponse)
            await say(spy, room, "by the spy")
            for client in (one, other):
                await rows(client, has_trust("by the spy", "unsigned"))
            await one.ask("send", text="not for the spy")
            await reads(other, "not for the spy")
            await spy.sync(timeout=0)
            assert await history(spy, room) == ["by the spy"]
        assert not any(curve.encode() in body for _, path, body in hostile.heard if "/sendToDevice/m.room.encrypted/" in path)


def only_other(user, client):
    (device,) = (device for device, keys in devices(user).items() if device != client.device_id and not keys.get("dehydrated"))
    return device


@contextlib.asynccontextmanager
async def forged_members(hostile, room, *users):
    """In the room as a client of the server sees it."""
    def event(user):
        return {"type": "m.room.member", "state_key": user, "sender": user, "event_id": "$" + user.encode().hex(), "origin_server_ts": int(time.time() * 1000),
                "content": {"membership": "join"}}

    def sync_with(sync):
        for name, part in rooms_of(sync):
            if name == room:
                timeline_of(part).extend(map(event, users))
                hostile.believe(lie)
        return sync
    lie = hostile.lie(r"/sync$", sync_with)
    members = hostile.lie(r"/members$", lambda answer: {**answer, "chunk": answer["chunk"] + list(map(event, users))})
    yield
    hostile.believe(members)


@test("hostile keys: a user whose ID looks like that of another is somebody else: IDs are bytes")
async def letters_that_look_alike(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        server = ann.user_id.split(":", 1)[1]
        composed, decomposed = f"@zo\u00eb:{server}", f"@zoe\u0308:{server}"
        real, false = ForgedDevice(composed, "ZOE"), ForgedDevice(composed, "ZOE")
        hostile.lie(r"/keys/claim$", real.claimed)

        def list_both(answer):
            real.put(answer)
            # What it says of the one, under the name of the other, signed for both.
            answer["device_keys"][decomposed] = {"ZOE": signed(false.keys, decomposed, "ed25519:ZOE", signer(false.account))}
            return answer

        def ask_for_neither(asked):
            asked["device_keys"] = {user: value for user, value in asked["device_keys"].items() if user.isascii()}
            return asked
        hostile.lie(r"/keys/query$", list_both)
        hostile.questions.append((r"/keys/query$", ask_for_neither))
        async with forged_members(hostile, room, composed, decomposed):
            await other.ask("send", text="to wake ann")
            await reads(one, "to wake ann")
            known = [await one.ask("devices", user=user) for user in (composed, decomposed)]
            assert [answer["others"] for answer in known] == [["ZOE"], []], known
            await one.ask("send", text="for one zoë")
            await reads(other, "for one zoë")
        assert real.has_something(hostile) and not false.has_something(hostile)
        sent = [json.loads(body)["messages"] for _, path, body in hostile.heard if "/sendToDevice/m.room.encrypted/" in path]
        assert any(composed in users for users in sent) and not any(decomposed in users for users in sent), sent


# Proves E8
@test("hostile keys: what a backup has lost goes there again; one that is deleted is said to be gone")
async def backup_is_lost(context):
    async with talking(context, ONE_EACH) as (one, hostile, other, room, (ann, bob)):
        await one.ask("setUpRecovery")
        await until_status(one, lambda status: status.get("waiting") == 0)
        version = ann.get("room_keys/version").ok()
        assert version["count"] == 2, version
        ann.request("DELETE", "room_keys/keys", version=version["version"]).ok()
        await new_key(one, other, "after the loss")
        end = time.monotonic() + PATIENCE
        while (count := ann.get("room_keys/version").ok()["count"]) < 3:
            assert time.monotonic() < end, count
            await asyncio.sleep(0.1)
        assert (await until_status(one, lambda status: status.get("waiting") == 0))["backup"] == "on"
        ann.request("DELETE", "room_keys/version/" + version["version"]).ok()
        await new_key(one, other, "after the end")
        await until_status(one, lambda status: status["backup"] == "deleted")
        # A new one has all of it.
        await one.ask("setUpRecovery")
        await until_status(one, lambda status: status.get("waiting") == 0)
        assert ann.get("room_keys/version").ok()["count"] == 4


async def new_key(client, other, text):
    """A session that the backup does not have, and its ten seconds are over."""
    await other.ask("send", text=text)
    await reads(client, text)
    client.clock_error += 60_000
    await client.ask("clock", error=client.clock_error)
    # It looks at its clock.
    await client.ask("devices", user=other.user.user_id)


# Proves E9
@test("hostile keys: secret storage under another key is told from the familiar one, and gets no secret")
async def storage_is_swapped(context):
    async with talking(context) as (one, hostile, other, room, (ann, bob)):
        key = (await one.ask("setUpRecovery"))["key"]
        assert (await one.ask("encryption"))["recovery"] == "enabled"
        data = f"user/{ann.user_id}/account_data/"
        mine = ann.get(data + "m.secret_storage.default_key").ok()
        written = len([path for method, path, _ in hostile.heard if method == "PUT" and "/account_data/" in path])
        # A passphrase under it would be worth having.
        weak = {"algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "A" * 22, "mac": "B" * 42 + "A",
                "passphrase": {"algorithm": "m.pbkdf2", "salt": "salt", "iterations": 100_000}}
        ann.put(data + "m.secret_storage.key.WEAK", weak).ok()
        ann.put(data + "m.secret_storage.default_key", {"key": "WEAK"}).ok()
        status = await one.ask("encryption")
        assert status["recovery"] == "changed" and status["is_verified"], status
        for text in (key, "tea for two"):
            refused = await one.tell("recover", text=text)
            assert "wrongRecoveryKey" in refused["error"], refused
        # The familiar one with another check.
        place = data + quote("m.secret_storage.key." + mine["key"], safe="")
        described = ann.get(place).ok()
        ann.put(place, {**described, "mac": weak["mac"]}).ok()
        ann.put(data + "m.secret_storage.default_key", mine).ok()
        assert (await one.ask("encryption"))["recovery"] == "changed"
        assert "wrongRecoveryKey" in (await one.tell("recover", text=key))["error"]
        ann.put(place, described).ok()
        assert (await one.ask("encryption"))["recovery"] == "enabled"
        assert written == len([path for method, path, _ in hostile.heard if method == "PUT" and "/account_data/" in path]), "it wrote by itself"
