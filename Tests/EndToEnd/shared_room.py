"""One room of several clients, and the server's own answers about it."""
import asyncio

from client import User, joined, room_path, timeline
from room_view import Events, is_edit, line, receipts_of, shown_names, thread_root

TIMELINE = {"room": {"timeline": {"limit": 1000}}, "presence": {"types": []}}
COUNTS = {"room": {"timeline": {"limit": 1}}, "presence": {"types": []}}
# Targets are mostly new, as with people.
RECENT = 30


class SharedRoom:
    """Its maker watches it: what can be edited, answered, redacted, and who is in it."""

    initial_state = ()

    def __init__(self, base, users, moderator):
        self.maker = User(base, "maker")
        # A second device of everybody knows what the server counts for them.
        self.seconds = {user.user_id: User(base, login_as=user) for user in users}
        levels = {"users": {moderator.user_id: 50}}
        self.id = self.maker.create_room(name="Agreement", preset="public_chat", initial_state=list(self.initial_state), power_level_content_override=levels)
        # Who has gone has read nothing and stands in no list.
        self.guest = User(base, "guest")
        for user in (self.guest, *users):
            user.join(self.id)
        self.guest.send(self.id, "here for a moment")
        self.guest.post(room_path(self.id, "leave")).ok()
        self.messages, self.redacted, self.membership, self.names = [], set(), {}, {}
        self._take(self.maker.sync(filter=TIMELINE))

    def _take(self, answer):
        for event in map(self.readable, timeline(answer, self.id)):
            if event["type"] == "m.room.member":
                self.membership[event["state_key"]] = event["content"]["membership"]
                if event["content"]["membership"] == "join":
                    self.names[event["state_key"]] = event["content"].get("displayname")
            elif event["type"] == "m.room.redaction":
                self.redacted.add(event["content"].get("redacts") or event.get("redacts"))
            elif event["type"] == "m.room.message" and not is_edit(event) and event["content"]:
                self.messages.append({"event": event["event_id"], "sender": event["sender"], "root": thread_root(event)})

    def readable(self, event):
        """The event as its sender wrote it."""
        return event

    async def watch(self):
        while True:
            self._take(await asyncio.to_thread(self.maker.sync, 1000, filter=TIMELINE))

    def pick(self, random, sender=None, is_main=False):
        """A message that is not redacted; None if there is no such message."""
        found = [message for message in (self.messages if random.random() < 0.05 else self.messages[-RECENT:])
                 if message["event"] not in self.redacted and sender in (None, message["sender"]) and not (is_main and message["root"])]
        return random.choice(found) if found else None

    def last(self):
        return self.messages[-1] if self.messages else None

    async def mark(self, text):
        return await asyncio.to_thread(self.maker.send, self.id, text)

    async def unban(self, user):
        await asyncio.to_thread(self.maker.post, room_path(self.id, "unban"), {"user_id": user})

    async def invite(self, user):
        await asyncio.to_thread(self.maker.post, room_path(self.id, "invite"), {"user_id": user})

    # The server's own answers

    async def truth(self, since):
        events, *others = await asyncio.gather(
            asyncio.to_thread(self._events, since), asyncio.to_thread(self._members), asyncio.to_thread(self._receipts),
            *(asyncio.to_thread(self._counts, user) for user in self.seconds.values()))
        return Truth(since is not None, self.names, [self.readable(event) for event in events], *others)

    def _events(self, since):
        events, position = [], None
        while True:
            page = self.maker.get(room_path(self.id, "messages"), dir="b", limit=1000, **{"from": position}).ok()
            for event in page["chunk"]:
                events.append(event)
                if event["event_id"] == since:
                    return events[::-1]
            position = page.get("end")
            if not position:
                assert since is None, f"{since} is gone"
                return events[::-1]

    def _members(self):
        chunk = self.maker.get(room_path(self.id, "members")).ok()["chunk"]
        return {event["state_key"]: (event["content"]["membership"], event["content"].get("displayname")) for event in chunk}

    def _receipts(self):
        receipts = {}
        for event in joined(self.maker.sync(since=None, filter=COUNTS), self.id)["ephemeral"]["events"]:
            if event["type"] == "m.receipt":
                receipts_of(event["content"], receipts)
        return {user: list(events.values()) for user, events in receipts.items()}

    def _counts(self, user):
        counts = joined(user.sync(since=None, filter=COUNTS), self.id).get("unread_notifications", {})
        return user.user_id, counts.get("notification_count"), counts.get("highlight_count")


class Truth:
    """`is_part`: it does not begin with the room. `names`: the last ones that members had, for those who are gone."""

    def __init__(self, is_part, names, events, members, receipts, *counts):
        self.is_part, self.names = is_part, names
        self.events, self.members, self.receipts = Events(events), members, receipts
        self.counts = {user: (notifications, highlights) for user, notifications, highlights in counts}
        # Those that are there as a whole.
        known = {event["event_id"] for event in events}
        self.roots = [root for root in self.events.replies if root in known]
        self.rows = {has_threads: self.events.timeline(has_threads) for has_threads in (False, True)}

    def view(self, user, has_threads):
        unread, highlights = self.counts[user]
        return {"timeline": self.rows[has_threads], "threads": {root: self.events.thread(root) for root in self.roots},
                "members": shown_names(self.members), "receipts": self.readers(has_threads), "unread": unread, "highlights": highlights}

    def page_view(self, user):
        unread = self.counts[user][0]
        # By name: two who share one have their IDs beside it.
        members = sorted(shown for shown in shown_names(self.members).values() if shown[0] != "ban")
        return {"timeline": self.page_rows(), "members": members, "unread": "99+" if unread > 99 else str(unread)}

    def page_rows(self):
        """As the page shows them: in words."""
        names = shown_names(self.members)
        events = {event["event_id"]: event for event in self.events.events}
        present_names = {name for membership, name in self.members.values() if membership in ("join", "invite")}

        def name(user):
            if user in names and names[user][1]:
                return names[user][1]
            last = self.names.get(user)
            # Who is gone is not taken for a member who has the name now.
            return f"{last} ({user})" if last and last in present_names else last or user

        rows = []
        for row in self.rows[False]:
            if row["kind"] == "state":
                rows.append({"kind": "state", "text": line(events[row["event"]], name)})
                continue
            rows.append({"kind": "message", "text": row.get("text", "Message deleted"), "name": name(row["sender"]), "edited": row["edited"],
                         "replies": row.get("replies", 0), "reactions": {key: len(senders) for key, senders in row["reactions"].items()}})
        return rows

    def readers(self, has_threads):
        """Of those who are in the room."""
        present = {user for user, (membership, _) in self.members.items() if membership == "join"}
        found = self.events.readers(self.receipts, has_threads)
        return {user: event for user, event in found.items() if user in present}
