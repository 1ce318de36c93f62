"""A client library of other people, matrix-nio with end-to-end encryption on, does what a person would do."""
import io
import os
import tempfile

import nio

from client import PASSWORD, fresh
from harness import test
from png import png

ENCRYPTION = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}


def good(answer, kind):
    assert isinstance(answer, kind), f"wanted {kind.__name__}, got {answer}"
    return answer


class Client:
    """A registered nio client with a store; `async with` closes it."""

    def __init__(self, context, name):
        self.base, self.name = context.base, fresh(name)

    async def __aenter__(self):
        self.folder = tempfile.TemporaryDirectory()
        config = nio.AsyncClientConfig(store_sync_tokens=True, encryption_enabled=True)
        self.nio = nio.AsyncClient(self.base, self.name, store_path=self.folder.name, config=config)
        good(await self.nio.register(self.name, PASSWORD), nio.RegisterResponse)
        good(await self.nio.sync(timeout=0, full_state=True), nio.SyncResponse)
        if self.nio.should_upload_keys:
            good(await self.nio.keys_upload(), nio.KeysUploadResponse)
        return self.nio

    async def __aexit__(self, *_):
        await self.nio.close()
        self.folder.cleanup()


async def sync_until(client, condition, attempts=15):
    for _ in range(attempts):
        good(await client.sync(timeout=1000), nio.SyncResponse)
        if client.should_upload_keys:
            good(await client.keys_upload(), nio.KeysUploadResponse)
        if client.should_query_keys:
            good(await client.keys_query(), nio.KeysQueryResponse)
        if condition():
            return
    raise AssertionError("it did not come with sync")


async def chat(a, b, *, encrypted):
    """A direct chat of both; gives its room ID."""
    state = [ENCRYPTION] if encrypted else []
    room = good(await a.room_create(is_direct=True, preset=nio.RoomPreset.trusted_private_chat, invite=[b.user_id], initial_state=state), nio.RoomCreateResponse).room_id
    await sync_until(b, lambda: room in b.invited_rooms)
    assert b.invited_rooms[room].inviter == a.user_id
    good(await b.join(room), nio.JoinResponse)
    await sync_until(b, lambda: room in b.rooms and a.user_id in b.rooms[room].users)
    await sync_until(a, lambda: room in a.rooms and b.user_id in a.rooms[room].users and not a.rooms[room].users[b.user_id].invited)
    return room


def text(body):
    return {"msgtype": "m.text", "body": body}


async def say(client, room, body):
    answer = await client.room_send(room, "m.room.message", text(body), ignore_unverified_devices=True)
    return good(answer, nio.RoomSendResponse).event_id


def collect(client, *kinds):
    events = []
    client.add_event_callback(lambda _, event: events.append(event), kinds)
    return events


@test("nio: an encrypted direct chat is read by the other, both ways, and survives new sessions")
async def encrypted(context):
    async with Client(context, "ann") as a, Client(context, "bob") as b:
        room = await chat(a, b, encrypted=True)
        assert a.rooms[room].encrypted and b.rooms[room].encrypted
        heard_by_a, heard_by_b = collect(a, nio.RoomMessageText), collect(b, nio.RoomMessageText)
        await say(a, room, "secret of Ann")
        await sync_until(b, lambda: any(event.body == "secret of Ann" and event.decrypted for event in heard_by_b))
        await say(b, room, "secret of Bob")
        await sync_until(a, lambda: any(event.body == "secret of Bob" and event.decrypted for event in heard_by_a))
        a.invalidate_outbound_session(room)
        await say(a, room, "new session")
        await sync_until(b, lambda: any(event.body == "new session" and event.decrypted for event in heard_by_b))


@test("nio: messages, typing, receipts, names, state and redaction in an open chat")
async def conversation(context):
    async with Client(context, "ann") as a, Client(context, "bob") as b:
        room = await chat(a, b, encrypted=False)
        heard = collect(b, nio.RoomMessageText)
        event_id = await say(a, room, "hello")
        await sync_until(b, lambda: [event.event_id for event in heard] == [event_id])
        good(await b.room_typing(room, True, 5000), nio.RoomTypingResponse)
        await sync_until(a, lambda: a.rooms[room].typing_users == [b.user_id])
        good(await b.room_read_markers(room, event_id, event_id), nio.RoomReadMarkersResponse)
        await sync_until(a, lambda: a.rooms[room].read_receipts.get(b.user_id) and a.rooms[room].read_receipts[b.user_id].event_id == event_id)
        await sync_until(b, lambda: b.rooms[room].fully_read_marker == event_id)
        good(await a.set_displayname("Ann A."), nio.ProfileSetDisplayNameResponse)
        assert good(await b.get_displayname(a.user_id), nio.ProfileGetDisplayNameResponse).displayname == "Ann A."
        await sync_until(b, lambda: b.rooms[room].user_name(a.user_id) == "Ann A.")
        good(await a.room_put_state(room, "m.room.name", {"name": "Den"}), nio.RoomPutStateResponse)
        await sync_until(b, lambda: b.rooms[room].name == "Den")
        assert good(await b.room_get_state_event(room, "m.room.name"), nio.RoomGetStateEventResponse).content == {"name": "Den"}
        good(await b.room_get_state(room), nio.RoomGetStateResponse)
        gone = collect(b, nio.RedactionEvent)
        good(await a.room_redact(room, event_id, "oops"), nio.RoomRedactResponse)
        await sync_until(b, lambda: [event.redacts for event in gone] == [event_id])
        assert isinstance(good(await b.room_get_event(room, event_id), nio.RoomGetEventResponse).event, nio.RedactedEvent)
        assert {member.user_id for member in good(await b.joined_members(room), nio.JoinedMembersResponse).members} == {a.user_id, b.user_id}


@test("nio: history pages back to its beginning without loss")
async def history(context):
    async with Client(context, "ann") as a, Client(context, "bob") as b:
        room = await chat(a, b, encrypted=False)
        sent = [await say(a, room, f"message {number}") for number in range(45)]
        good(await b.sync(timeout=0), nio.SyncResponse)
        got, position = [], None
        for _ in range(30):
            page = good(await b.room_messages(room, start=position or b.next_batch, limit=10), nio.RoomMessagesResponse)
            got += [event.event_id for event in page.chunk if isinstance(event, nio.RoomMessageText)]
            position = page.end
            if not position:
                break
        assert got[::-1] == sent
        around = good(await b.room_context(room, sent[20], limit=6), nio.RoomContextResponse)
        assert around.event.event_id == sent[20] and around.events_before[0].event_id == sent[19] and around.events_after[0].event_id == sent[21]


@test("nio: files go up, come down and have thumbnails; encrypted files too")
async def media(context):
    async with Client(context, "ann") as a, Client(context, "bob") as b:
        image = png(400, 200)
        up, _ = await a.upload(io.BytesIO(image), content_type="image/png", filename="i.png", filesize=len(image))
        uri = good(up, nio.UploadResponse).content_uri
        down = good(await b.download(uri), nio.DownloadResponse)
        assert down.body == image and down.content_type == "image/png"
        server, name = uri.removeprefix("mxc://").split("/")
        thumbnail = good(await b.thumbnail(server, name, width=100, height=100, method=nio.ResizingMethod.scale), nio.ThumbnailResponse)
        assert len(thumbnail.body) > 0
        secret = os.urandom(100_000)
        up, keys = await a.upload(io.BytesIO(secret), content_type="application/octet-stream", filesize=len(secret), encrypt=True)
        sealed = good(await b.download(good(up, nio.UploadResponse).content_uri), nio.DownloadResponse).body
        assert sealed != secret
        assert nio.crypto.decrypt_attachment(sealed, keys["key"]["k"], keys["hashes"]["sha256"], keys["iv"]) == secret


@test("nio: devices are listed, a second login comes and goes, logging out ends it")
async def devices(context):
    async with Client(context, "ann") as a:
        second = nio.AsyncClient(context.base, a.user_id)
        good(await second.login(PASSWORD, device_name="second"), nio.LoginResponse)
        names = {device.id: device.display_name for device in good(await a.devices(), nio.DevicesResponse).devices}
        assert set(names) == {a.device_id, second.device_id} and names[second.device_id] == "second"
        good(await second.logout(), nio.LogoutResponse)
        assert len(good(await a.devices(), nio.DevicesResponse).devices) == 1
        await second.close()
        wrong = nio.AsyncClient(context.base, a.user_id)
        assert good(await wrong.login("wrong"), nio.LoginError).status_code == "M_FORBIDDEN"
        await wrong.close()


@test("nio: rooms are made, left and forgotten; members are kicked, banned and let in again")
async def membership(context):
    async with Client(context, "ann") as a, Client(context, "bob") as b:
        name = fresh("room")
        room = good(await a.room_create(name="Open", alias=name, preset=nio.RoomPreset.public_chat), nio.RoomCreateResponse).room_id
        server = a.user_id.split(":", 1)[1]
        assert good(await b.room_resolve_alias(f"#{name}:{server}"), nio.RoomResolveAliasResponse).room_id == room
        good(await b.join(f"#{name}:{server}"), nio.JoinResponse)
        assert room in good(await b.joined_rooms(), nio.JoinedRoomsResponse).rooms
        good(await a.room_kick(room, b.user_id, "out"), nio.RoomKickResponse)
        good(await b.join(room), nio.JoinResponse)
        good(await a.room_ban(room, b.user_id), nio.RoomBanResponse)
        assert isinstance(await b.join(room), nio.JoinError)
        good(await a.room_unban(room, b.user_id), nio.RoomUnbanResponse)
        good(await b.join(room), nio.JoinResponse)
        good(await b.sync(timeout=0), nio.SyncResponse)
        good(await b.room_leave(room), nio.RoomLeaveResponse)
        good(await b.sync(timeout=0), nio.SyncResponse)
        good(await b.room_forget(room), nio.RoomForgetResponse)
        filter_id = good(await a.upload_filter(room={"timeline": {"limit": 5}}), nio.UploadFilterResponse).filter_id
        good(await a.sync(timeout=0, sync_filter=filter_id), nio.SyncResponse)
