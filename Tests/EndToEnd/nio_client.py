"""matrix-nio as a client with an event store: it syncs on, fills what a sync left out, and knows what nio knows; also in encrypted rooms."""
import asyncio
import contextlib
import io
import itertools
import logging
import os

import aiohttp
import nio

from client import PASSWORD
from room_view import Events, shown_names

logging.getLogger("nio").setLevel(logging.ERROR)
# matrix-nio tries again after a lost connection by itself, but not where it broke amid an answer.
BROKEN = (aiohttp.ClientError, asyncio.TimeoutError, ConnectionError)


class NioClient:
    has_threads_inline = True

    def __init__(self, link, user, room):
        self.link, self.user, self.room = link, user, room
        self.events, self.known, self.running, self.refusals, self.numbers = [], set(), set(), {}, itertools.count(1)
        self.counts = {}

    async def start(self):
        config = nio.AsyncClientConfig(encryption_enabled=False, max_timeout_retry_wait_time=0.5)
        self.nio = nio.AsyncClient(self.link.base, self.user.user_id, config=config)
        answer = await self.nio.login(PASSWORD)
        assert isinstance(answer, nio.LoginResponse), answer
        self.syncing = asyncio.create_task(self._sync())
        return self

    async def end(self):
        tasks = [self.syncing, *self.running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.nio.close()

    # Reading

    async def _sync(self):
        while True:
            with contextlib.suppress(*BROKEN):
                answer = await self.nio.sync(timeout=30_000, full_state=not self.nio.next_batch)
                if isinstance(answer, nio.SyncResponse):
                    await self._take(answer)

    async def _take(self, answer):
        for rooms in (answer.rooms.join, answer.rooms.leave):
            if self.room in rooms:
                timeline = rooms[self.room].timeline
                missing = await self._missing(timeline.prev_batch) if timeline.limited else []
                news = missing + [event.source for event in timeline.events]
                self._add(self._stay(news) if rooms is answer.rooms.leave else news)
        joined = answer.rooms.join.get(self.room)
        if joined and joined.unread_notifications:
            self.counts = joined.unread_notifications

    async def _missing(self, position):
        """What stands before a timeline that is limited, back to what is known."""
        found = []
        while position:
            try:
                page = await self.nio.room_messages(self.room, position, limit=100)
            except BROKEN:
                continue
            assert isinstance(page, nio.RoomMessagesResponse), page
            for event in page.chunk:
                if event.event_id in self.known:
                    return found[::-1]
                found.append(event.source)
            position = page.end
        return found[::-1]

    def _stay(self, news):
        """Without what tells of the own membership after one has gone: what lies between is there for those who come back only."""
        is_in, end = self.is_in, len(news) if self.is_in else 0
        for index, event in enumerate(news):
            if event["type"] == "m.room.member" and event["state_key"] == self.user.user_id:
                before, is_in = is_in, event["content"]["membership"] == "join"
                end = len(news) if is_in else index + 1 if before else end
        return news[:end]

    @property
    def is_in(self):
        own = [event for event in self.events if event["type"] == "m.room.member" and event["state_key"] == self.user.user_id]
        return not own or own[-1]["content"]["membership"] == "join"

    def _add(self, events):
        for event in events:
            if event["event_id"] not in self.known:
                self.known.add(event["event_id"])
                self.events.append(event)

    async def looks(self):
        return f"refused {self.refusals}"

    async def view(self, since, truth):
        if self.syncing.done():
            self.syncing.result()
        room = self.nio.rooms[self.room]
        start = next((index for index, event in enumerate(self.events) if event["event_id"] == since), None)
        if since and start is None:
            return {"trouble": "the start of what is compared is not there"}
        events = self.events_from(start or 0)
        receipts = {user: [receipt.event_id] for user, receipt in room.read_receipts.items()}
        for user, by_thread in room.threaded_read_receipts.items():
            if "main" in by_thread:
                receipts.setdefault(user, []).append(by_thread["main"].event_id)
        members = {user: ("invite" if member.invited else "join", member.display_name) for user, member in room.users.items()}
        present = {user for user, (membership, _) in members.items() if membership == "join"}
        readers = {user: event for user, event in events.readers(receipts, True).items() if user in present}
        return {"timeline": events.timeline(True), "receipts": readers, "members": shown_names(members),
                "unread": room.unread_notifications, "highlights": room.unread_highlights}

    def events_from(self, start):
        return Events(self.events[start:])

    # Writing

    @property
    def is_busy(self):
        return bool(self.running)

    async def recover(self):
        pass

    def tell(self, do, **values):
        task = asyncio.create_task(self._do(getattr(self, do), values))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return task

    async def ask(self, do, **values):
        await self.tell(do, **values)

    async def _do(self, verb, values):
        """Again and again until the server has said something."""
        transaction = f"t{next(self.numbers)}"
        while True:
            try:
                answer = await verb(transaction, **values)
            except BROKEN:
                continue
            if isinstance(answer, nio.ErrorResponse):
                self.refusals[answer.status_code] = self.refusals.get(answer.status_code, 0) + 1
            return

    def _message(self, transaction, content):
        return self._event(transaction, "m.room.message", content)

    def _event(self, transaction, kind, content):
        return self.nio.room_send(self.room, kind, content, tx_id=transaction)

    def send(self, transaction, text):
        return self._message(transaction, {"msgtype": "m.text", "body": text})

    def edit(self, transaction, event, text):
        new = {"msgtype": "m.text", "body": text}
        return self._message(transaction, {"msgtype": "m.text", "body": "* " + text, "m.new_content": new,
                                           "m.relates_to": {"rel_type": "m.replace", "event_id": event}})

    def reply(self, transaction, event, user, text):
        return self._message(transaction, {"msgtype": "m.text", "body": text, "m.mentions": {"user_ids": [user]},
                                           "m.relates_to": {"m.in_reply_to": {"event_id": event}}})

    def thread(self, transaction, event, text):
        relation = {"rel_type": "m.thread", "event_id": event, "is_falling_back": True, "m.in_reply_to": {"event_id": event}}
        return self._message(transaction, {"msgtype": "m.text", "body": text, "m.relates_to": relation})

    def react(self, transaction, event, text):
        content = {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": text}}
        return self._event(transaction, "m.reaction", content)

    def redact(self, transaction, event):
        return self.nio.room_redact(self.room, event, tx_id=transaction)

    def viewed(self, _, event):
        return self.nio.room_read_markers(self.room, event, event)

    def read(self, _, event, root=None):
        return self.nio.update_receipt_marker(self.room, event, thread_id=root or "main")

    def typing(self, _, on):
        return self.nio.room_typing(self.room, on, 4000)

    def name(self, _, text):
        return self.nio.set_displayname(text)

    def join(self, _):
        return self.nio.join(self.room)

    def leave(self, _):
        return self.nio.room_leave(self.room)


class EncryptedNioClient(NioClient):
    """The same with keys of its own. What it cannot read has no text."""

    def __init__(self, link, user, room, folder):
        super().__init__(link, user, room)
        self.folder, self.clear = folder, {}

    async def start(self):
        config = nio.AsyncClientConfig(encryption_enabled=True, store_sync_tokens=False)
        self.nio = nio.AsyncClient(self.link.base, self.user.user_id, store_path=self.folder, config=config)
        answer = await self.nio.login(PASSWORD)
        assert isinstance(answer, nio.LoginResponse), answer
        await self._keep_keys()
        self.syncing = asyncio.create_task(self._sync())
        return self

    async def _take(self, answer):
        await super()._take(answer)
        await self._keep_keys()

    async def _keep_keys(self):
        """What `sync_forever` does beside its syncs."""
        if self.nio.should_upload_keys:
            await self.nio.keys_upload()
        if self.nio.should_query_keys:
            await self.nio.keys_query()
        if self.nio.should_claim_keys:
            await self.nio.keys_claim(self.nio.get_users_for_key_claiming())
        await self.nio.send_to_device_messages()

    def readable(self, event):
        """The event as its sender wrote it: of one that is encrypted and neither deleted nor readable, only what its envelope says."""
        if event["type"] != "m.room.encrypted":
            return event
        known = self.clear.get(event["event_id"])
        if known is None and event["content"].get("ciphertext"):
            with contextlib.suppress(nio.EncryptionError):
                envelope = nio.MegolmEvent.from_dict(event)
                envelope.room_id = self.room
                known = self.clear[event["event_id"]] = self.nio.decrypt_event(envelope).source["content"]
        if known is None:
            known = {"body": None} | {key: value for key, value in event["content"].items() if key == "m.relates_to"}
        # A deleted one has no content, also if it was read before.
        return event | {"type": "m.room.message", "content": known if event["content"] else {}}

    def events_from(self, start):
        return Events([self.readable(event) for event in self.events[start:]])

    async def _do(self, verb, values):
        try:
            await super()._do(verb, values)
        except nio.LocalProtocolError:
            # It is not in the room.
            self.refusals["no room"] = self.refusals.get("no room", 0) + 1

    def _event(self, transaction, kind, content):
        return self.nio.room_send(self.room, kind, content, tx_id=transaction, ignore_unverified_devices=True)

    async def attach(self, transaction, path):
        with open(path, "rb") as file:
            content = file.read()
        answer, keys = await self.nio.upload(io.BytesIO(content), content_type="application/octet-stream", filesize=len(content), encrypt=True)
        if isinstance(answer, nio.UploadError):
            return answer
        return await self._message(transaction, {"msgtype": "m.file", "body": os.path.basename(path), "info": {"size": len(content)},
                                                 "file": {"url": answer.content_uri, **keys}})
