"""A user who has signed out everywhere still receives keys: the dehydrated device of MSC3814, with a real server."""
import asyncio
import contextlib
import time

from client import User, room_path
from harness import PATIENCE, test
from hostile_server import HostileServer
from test_encryption import devices, peers, reads, until_status
from test_nio import ENCRYPTION

# Each message has a session of its own, so that there is a message between devices for each.
ONE_EACH = {**ENCRYPTION, "content": {**ENCRYPTION["content"], "rotation_period_msgs": 1}}
PATH = r"/dehydrated_device$"
COUNT = 130


def dehydrated(user):
    """The user's devices without a client."""
    return {name: keys for name, keys in devices(user).items() if keys.get("dehydrated")}


async def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, what
        await asyncio.sleep(0.1)
    return found


@contextlib.asynccontextmanager
async def left_behind(context, count, encryption=ENCRYPTION):
    """Ann has set up recovery and signed out everywhere; then Bob has written to her. Gives her, the room, the recovery key and Bob."""
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[encryption], invite=[bob.user_id])
    bob.join(room)
    async with peers(context, room, [bob], ["v3"]) as (other,):
        async with peers(context, room, [ann], ["sliding"]) as (desk,):
            key = (await desk.ask("setUpRecovery"))["key"]
            await until_status(desk, lambda status: status["dehydrated"].startswith("ready"))
        ann.post("logout/all").ok()
        await until(lambda: len(devices_of(bob, ann)) == 1, "her devices are not gone")
        for number in range(count):
            await other.ask("send", text=f"while away {number}")
        await until(lambda: len(room_messages(bob, room)) >= count, "the messages are not there")
        yield ann, room, key, other


def devices_of(asking, user):
    return asking.post("keys/query", {"device_keys": {user.user_id: []}}).ok()["device_keys"].get(user.user_id, {})


def room_messages(user, room):
    return [event for event in user.get(room_path(room, "messages"), dir="b", limit=1000).ok()["chunk"] if event["type"] == "m.room.encrypted"]


# 130 messages, so that the device has several pages of them.
# Proves E11
@test("who has signed out everywhere reads after recovery what was written meanwhile; the device that took the keys is signed, and made anew")
async def away(context):
    # More messages between devices than the server gives in a page.
    async with left_behind(context, COUNT, ONE_EACH) as (ann, room, key, other):
        again = User(context.base, login_as=ann)
        (name, keys), = dehydrated(again).items()
        assert name == keys["keys"][f"curve25519:{name}"], "its ID is its identity key"
        assert len(keys["signatures"][ann.user_id]) == 2, "by itself and by the account's self-signing key"
        async with peers(context, room, [again], ["v3"]) as (tablet,):
            assert not any(row.get("text") for row in (await tablet.ask("report", since=None, threads=[]))["timeline"])
            await tablet.ask("recover", text=key)
            status = await until_status(tablet, lambda status: status["dehydrated"].startswith("ready"))
            assert status["dehydrated"] == f"ready(keys: {COUNT})" and "dehydrated_error" not in status, status
            await reads(tablet, *(f"while away {number}" for number in range(COUNT)))
            new, = await until(lambda: [*dehydrated(again)] if [*dehydrated(again)] != [name] else None, "there is no new one")
            assert new != name
            found = again.get("/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device").ok()
            assert found["device_id"] == new and found["device_data"]["algorithm"] == "org.matrix.msc3814.v2", found
            await other.ask("send", text="to both")
            await reads(tablet, *(f"while away {number}" for number in range(COUNT)), "to both")


# Proves E11
@test("a server that puts something else in the place of the dehydrated device is noticed with a reason, and recovery works all the same")
async def lies(context):
    for reason, change in (
            ("malformed", lambda data: {**data, "nonce": "AAAA"}),
            ("wrongKey", lambda data: {**data, "device_pickle": data["device_pickle"][:80] + ("A" if data["device_pickle"][80] != "A" else "B") + data["device_pickle"][81:]}),
            ("unknownFormat", lambda data: {**data, "algorithm": "org.example.newer"})):
        async with left_behind(context, 1) as (ann, room, key, _), HostileServer(context.base) as hostile:
            again = User(context.base, login_as=ann)
            hostile.lie(PATH, lambda answer: {**answer, "device_data": change(answer["device_data"])} if "device_data" in answer else answer)
            async with peers(context, room, [again], ["v3"], [hostile.base]) as (tablet,):
                await tablet.ask("recover", text=key)
                status = await until_status(tablet, lambda status: status["is_verified"] and status["dehydrated"].startswith("ready"))
                assert status["dehydrated_error"] == reason, status
                rows = (await tablet.ask("report", since=None, threads=[]))["timeline"]
                assert not any(row.get("text") for row in rows), rows
