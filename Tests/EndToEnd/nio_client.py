"""matrix-nio as a client with an event store: it syncs on, fills what a sync left out, and knows what nio knows."""
import asyncio
import contextlib
import itertools
import logging

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
                self._add(missing + [event.source for event in timeline.events])
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
        events = Events(self.events[start or 0:])
        receipts = {user: [receipt.event_id] for user, receipt in room.read_receipts.items()}
        for user, by_thread in room.threaded_read_receipts.items():
            if "main" in by_thread:
                receipts.setdefault(user, []).append(by_thread["main"].event_id)
        members = {user: ("invite" if member.invited else "join", member.display_name) for user, member in room.users.items()}
        present = {user for user, (membership, _) in members.items() if membership == "join"}
        readers = {user: event for user, event in events.readers(receipts, True).items() if user in present}
        return {"timeline": events.timeline(True), "receipts": readers, "members": shown_names(members),
                "unread": room.unread_notifications, "highlights": room.unread_highlights}

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
        return self.nio.room_send(self.room, "m.room.message", content, tx_id=transaction)

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
        return self.nio.room_send(self.room, "m.reaction", content, tx_id=transaction)

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
