"""A second client library of other people, mautrix with its own encryption machine (libolm), does what a person would do."""
import asyncio
import logging
from collections import deque

from mautrix.client import Client
from mautrix.client.state_store import MemoryStateStore
from mautrix.crypto import OlmMachine
from mautrix.crypto.attachments import decrypt_attachment, encrypt_attachment
from mautrix.crypto.store import MemoryCryptoStore
from mautrix.errors import MForbidden, MNotFound
from mautrix.types import (EventType, MediaMessageEventContent, Membership, MessageType, PaginationDirection, RoomCreatePreset,
                           TextMessageEventContent, TrustState)

from client import PASSWORD, Api, fresh, register
from harness import PATIENCE, test

class Log(logging.Handler):
    """What mautrix writes is read only where something was waited for in vain."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = deque(maxlen=10)

    def emit(self, record):
        self.lines.append(f"{record.name}: {record.getMessage()} {record.exc_info[1] if record.exc_info else ''}")


LOG = Log()
logging.getLogger("mau").setLevel(logging.WARNING)
logging.getLogger("mau").addHandler(LOG)
logging.getLogger("mau").propagate = False
ENCRYPTION = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}


class CryptoState(MemoryStateStore):
    """mautrix asks its state store which rooms it shares with a user."""

    async def find_shared_rooms(self, user_id):
        return [room for room, members in self.members.items() if user_id in members and await self.is_encrypted(room)]


class Person:
    """A user on one device with a syncing mautrix client; `async with` ends the sync. Without a session it is a new user's."""

    def __init__(self, context, name, encrypts=True, session=None):
        self.base, self.encrypts = context.base, encrypts
        session = session or register(Api(context.base), fresh(name)).ok()
        self.id, self.device_id, self.token = session["user_id"], session["device_id"], session["access_token"]
        self.events, self.news = [], asyncio.Event()

    async def __aenter__(self):
        state = CryptoState()
        store = MemoryCryptoStore(self.id, "pickle")
        self.client = Client(mxid=self.id, device_id=self.device_id, base_url=self.base, token=self.token, state_store=state, sync_store=store)
        if self.encrypts:
            self.crypto = OlmMachine(self.client, store, state)
            self.crypto.share_keys_min_trust = TrustState.UNVERIFIED
            self.client.crypto = self.crypto
            await self.crypto.load()
            await self.crypto.share_keys()
        for kind in (EventType.ROOM_MESSAGE, EventType.REACTION, EventType.ROOM_REDACTION, EventType.ROOM_MEMBER, EventType.TYPING, EventType.RECEIPT):
            self.client.add_event_handler(kind, self.heard)
        self.task = self.client.start(None)
        return self

    async def __aexit__(self, *_):
        self.client.stop()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.client.api.session.close()

    async def heard(self, event):
        self.events.append(event)
        self.news.set()

    async def hears(self, condition, seconds=PATIENCE):
        """The first event that fits, of those heard or to be heard."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    self.news.clear()
                    for event in self.events:
                        if condition(event):
                            return event
                    await self.news.wait()
        except TimeoutError:
            heard = [(str(event.type), getattr(event, "sender", None)) for event in self.events]
            raise AssertionError(f"{self.id} waited in vain and heard {heard}; mautrix wrote {list(LOG.lines)}") from None


def says(body):
    return lambda event: event.type == EventType.ROOM_MESSAGE and event.content.body == body


def joins(room, user):
    return lambda event: (event.type == EventType.ROOM_MEMBER and event.room_id == room and event.state_key == user
                          and event.content.membership == Membership.JOIN)


async def encrypted_chat(a, b):
    """A room of both, of which both have heard: mautrix loses a message that comes in one sync with its key and the room's encryption."""
    room = await a.client.create_room(preset=RoomCreatePreset.TRUSTED_PRIVATE, is_direct=True, invitees=[b.id], initial_state=[ENCRYPTION])
    await b.client.join_room(room)
    for person in (a, b):
        await person.hears(joins(room, b.id))
    return room


@test("mautrix: two people talk encrypted in both directions, and the server has only ciphertext")
async def encrypted(context):
    async with Person(context, "mauann") as ann, Person(context, "maubob") as bob:
        room = await encrypted_chat(ann, bob)
        sent = await ann.client.send_text(room, "do you read me?")
        heard = await bob.hears(says("do you read me?"))
        assert heard.event_id == sent and heard["mautrix"]["was_encrypted"]
        await bob.client.send_text(room, "loud and clear")
        await ann.hears(says("loud and clear"))
        raw = Api(context.base, ann.token).get(f"rooms/{room}/event/{sent}").ok()
        assert raw["type"] == "m.room.encrypted" and "do you read me" not in str(raw)


@test("mautrix: a device that logs in later reads what is sent from then on")
async def second_device(context):
    async with Person(context, "mauann") as ann, Person(context, "maubob") as bob:
        room = await encrypted_chat(ann, bob)
        await ann.client.send_text(room, "before")
        await bob.hears(says("before"))
        login = Api(context.base).post("login", {"type": "m.login.password", "password": PASSWORD,
                                                 "identifier": {"type": "m.id.user", "user": bob.id}}).ok()
        async with Person(context, "maubob", session=login) as tablet:
            await tablet.hears(joins(room, bob.id))
            async with asyncio.timeout(PATIENCE):
                while True:
                    devices = await ann.crypto.crypto_store.get_devices(bob.id) or {}
                    if tablet.device_id in devices:
                        break
                    await asyncio.sleep(0.05)
            await ann.client.send_text(room, "after")
            await tablet.hears(says("after"))
            await bob.hears(says("after"))


@test("mautrix: an encrypted file comes back as it was sent")
async def encrypted_file(context):
    async with Person(context, "mauann") as ann, Person(context, "maubob") as bob:
        room = await encrypted_chat(ann, bob)
        data = bytes(range(256)) * 40
        ciphertext, info = encrypt_attachment(data)
        info.url = await ann.client.upload_media(ciphertext, mime_type="application/octet-stream")
        await ann.client.send_message(room, MediaMessageEventContent(msgtype=MessageType.FILE, body="bytes.bin", file=info))
        event = await bob.hears(says("bytes.bin"))
        fetched = await bob.client.download_media(event.content.file.url)
        file = event.content.file
        assert fetched == ciphertext and decrypt_attachment(fetched, file.key.key, file.hashes["sha256"], file.iv) == data


@test("mautrix: reactions, edits, redactions, typing and receipts arrive")
async def small_things(context):
    async with Person(context, "mauann", encrypts=False) as ann, Person(context, "maubob", encrypts=False) as bob:
        room = await ann.client.create_room(invitees=[bob.id])
        await bob.client.join_room(room)
        message = await ann.client.send_text(room, "first")
        await bob.hears(says("first"))
        reaction = await bob.client.react(room, message, "👍")
        seen = await ann.hears(lambda event: event.type == EventType.REACTION)
        assert seen.event_id == reaction and seen.content.relates_to.key == "👍"
        edit = TextMessageEventContent(msgtype=MessageType.TEXT, body="second")
        edit.set_edit(message)
        await ann.client.send_message(room, edit)
        changed = await bob.hears(lambda event: event.type == EventType.ROOM_MESSAGE and event.content.get_edit() == message)
        assert changed.content.body == "second"
        await ann.client.set_typing(room, 20_000)
        await bob.hears(lambda event: event.type == EventType.TYPING and ann.id in event.content.user_ids)
        await bob.client.send_receipt(room, message)
        await ann.hears(lambda event: event.type == EventType.RECEIPT and message in event.content)
        await ann.client.redact(room, message, "slip")
        gone = await bob.hears(lambda event: event.type == EventType.ROOM_REDACTION)
        assert gone.redacts == message


@test("mautrix: rooms, aliases, members, profiles, account data and history by its own methods")
async def everyday(context):
    async with Person(context, "mauann", encrypts=False) as ann, Person(context, "maubob", encrypts=False) as bob:
        alias = fresh("mau")
        room = await ann.client.create_room(alias_localpart=alias, name="Lounge", topic="Nothing much", preset=RoomCreatePreset.PUBLIC)
        name = f"#{alias}:{ann.id.split(':', 1)[1]}"
        assert (await bob.client.resolve_room_alias(name)).room_id == room
        assert await bob.client.join_room(name) == room
        await ann.client.set_displayname("Ann")
        assert (await bob.client.get_profile(ann.id)).displayname == "Ann"
        members = await bob.client.get_joined_members(room)
        assert set(members) == {ann.id, bob.id}
        for number in range(30):
            await ann.client.send_text(room, f"line {number}")
        await bob.hears(says("line 29"))
        page = await bob.client.get_messages(room, PaginationDirection.BACKWARD, from_token=None, limit=20)
        assert [event.content.body for event in page.events] == [f"line {number}" for number in range(29, 9, -1)]
        more = await bob.client.get_messages(room, PaginationDirection.BACKWARD, from_token=page.end, limit=10)
        assert more.events[0].content.body == "line 9"
        around = await bob.client.get_event_context(room, page.events[10].event_id, limit=4)
        assert around.event.event_id == page.events[10].event_id and len(around.events_before) == 2
        await bob.client.set_account_data("org.example.colour", {"colour": "green"})
        assert (await bob.client.get_account_data("org.example.colour"))["colour"] == "green"
        await ann.client.kick_user(room, bob.id, "closing time")
        try:
            await bob.client.send_text(room, "but")
            raise AssertionError("who was kicked still writes")
        except MForbidden:
            pass
        try:
            await bob.client.resolve_room_alias(f"#{fresh('none')}:{ann.id.split(':', 1)[1]}")
            raise AssertionError("an alias that nobody made")
        except MNotFound:
            pass
