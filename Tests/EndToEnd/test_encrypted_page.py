"""Encrypted rooms in the page: two browsers, a client of the SDK and matrix-nio read each other; the server sees ciphertext only."""
import asyncio

import nio

from browser import expect, in_room, people, room_fragment
from client import User, room_path
from harness import PATIENCE, test
from test_encryption import devices, peers, reads
from test_nio import ENCRYPTION, Client, good, sync_until, text

NEEDS_BROWSER = True


async def has_device(user):
    """Until others can write to a device of the user."""
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(devices, user):
            await asyncio.sleep(0.05)


def said(user, room):
    """Types of what was said in the room, the oldest first, as the server has it."""
    events = user.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"]
    return [event["type"] for event in events if event["type"] in ("m.room.message", "m.room.encrypted")]


@test("a page, a client of the SDK and matrix-nio write and read in an encrypted room; after a reload all of it is there")
async def _(test):
    alice, bob = User(test.base, "alice"), User(test.base, "bob")
    async with Client(test, "nia") as nia:
        room = alice.create_room(preset="private_chat", name="Vault", initial_state=[ENCRYPTION], invite=[bob.user_id, nia.user_id])
        bob.join(room)
        good(await nia.join(room), nio.JoinResponse)
        heard = []
        nia.add_event_callback(lambda _, event: heard.append(event.body), nio.RoomMessageText)
        async with peers(test, room, [bob], ["sliding"]) as (peer,), in_room(test, room, {"alice": alice}) as page:
            await has_device(alice)
            await sync_until(nia, lambda: room in nia.rooms and len(nia.rooms[room].users) == 3)
            await peer.ask("send", text="hello from bob")
            await page.sees("hello from bob")
            await page.write("hello from the page")
            await page.sees("hello from the page")
            await reads(peer, "hello from bob", "hello from the page")
            await sync_until(nia, lambda: heard == ["hello from bob", "hello from the page"])
            good(await nia.room_send(room, "m.room.message", text("hello from nia"), ignore_unverified_devices=True), nio.RoomSendResponse)
            await page.sees("hello from nia")
            await page.picture("encrypted-room")
            await page.page.reload()
            for words in ("hello from bob", "hello from the page", "hello from nia"):
                await page.sees(words)
            await page.write("after a reload")
            await reads(peer, "hello from bob", "hello from the page", "hello from nia", "after a reload")
        assert said(alice, room) == ["m.room.encrypted"] * 4
