"""Clients of the SDK write, edit, answer and react in an encrypted room while they are killed and lose the network, their one-time keys are used up and
their backups change: in the end all of them read everything, and agree.

`MARTLET_LONG=1` for fifty minutes with 20 clients, `MARTLET_STORM_SECONDS` for another time. The seed is printed; `MARTLET_SEED` repeats what each action
is, not when the server sees it.
"""
import asyncio
import os
import random
import time

from client import User
from harness import test
from test_encryption import peers
from test_nio import ENCRYPTION

IS_LONG = os.environ.get("MARTLET_LONG") == "1"
SECONDS = int(os.environ.get("MARTLET_STORM_SECONDS") or (3_000 if IS_LONG else 12))
CLIENTS = 20 if IS_LONG or SECONDS > 60 else 5
PAUSE_SECONDS = 0.1
# Then everything has to be readable: the aim of the design.
PATIENCE_SECONDS = 60
KEPT_ROWS = 40
VERBS = {"send": 40, "edit": 8, "react": 10, "reply": 8, "typing": 8, "restart": 3, "network": 6, "exhaust": 3, "recovery": 2}


class Storm:
    def __init__(self, seed, room, clients, thief):
        self.random, self.room, self.clients, self.thief = random.Random(seed), room, clients, thief
        self.counts, self.offline, self.since, self.sent = {}, set(), None, 0
        # Since when a client could not read an event; the longest that it took.
        self.unread, self.ever, self.longest = {}, 0, 0.0

    async def run(self, seconds):
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number += 1
            client = self.random.choice(self.clients)
            verb = self.random.choices(list(VERBS), list(VERBS.values()))[0]
            self.counts[verb] = self.counts.get(verb, 0) + 1
            await self.act(verb, client, number)
            if number % 20 == 0:
                await self.look(self.random.choice(self.clients))
            await asyncio.sleep(self.random.random() * PAUSE_SECONDS)

    async def act(self, verb, client, number):
        if verb == "restart":
            await client.restart(kills=self.random.random() < 0.7)
            self.offline.discard(client)
        elif verb == "network":
            is_back = client in self.offline
            (self.offline.discard if is_back else self.offline.add)(client)
            client.tell("network", on=is_back)
        elif verb == "exhaust":
            await asyncio.to_thread(self.exhaust, client.user)
        elif verb == "recovery":
            client.tell("setUpRecovery", passphrase=None)
        elif verb == "typing":
            client.tell("typing", on=True)
        elif verb == "send":
            self.sent += 1
            client.tell("send", text=f"{number} by {client.user.user_id[1:6]}")
        else:
            await self.answer(verb, client, number)

    async def answer(self, verb, client, number):
        """Something about a message that the client can read."""
        report = await client.tell("report", since=self.since, threads=[])
        own = client.user.user_id
        rows = [row for row in report.get("timeline", []) if row.get("text") and (verb != "edit" or row["sender"] == own)]
        if not rows:
            return
        row = self.random.choice(rows)
        values = {"edit": {"text": f"{number} edited"}, "react": {"text": self.random.choice("👍❤😀")}, "reply": {"user": row["sender"], "text": f"{number} answers"}}
        client.tell(verb, event=row["event"], **values[verb])

    def exhaust(self, user):
        """All one-time keys of somebody's devices go; what is left is the fallback key."""
        devices = self.thief.post("keys/query", {"device_keys": {user.user_id: []}}).ok()["device_keys"].get(user.user_id, {})
        for _ in range(60):
            self.thief.post("keys/claim", {"one_time_keys": {user.user_id: {device: "signed_curve25519" for device in devices}}}).ok()

    async def look(self, client):
        """Notes what the client cannot read, and since when."""
        report = await client.tell("report", since=self.since, threads=[])
        rows, now = report.get("timeline", []), time.monotonic()
        for row in rows:
            key = (client, row.get("event"))
            if "reason" in row:
                self.ever += key not in self.unread
                self.unread.setdefault(key, now)
            elif key in self.unread:
                self.longest = max(self.longest, now - self.unread.pop(key))
        if len(rows) > 2 * KEPT_ROWS and not self.offline:
            self.since = rows[-KEPT_ROWS]["event"]

    # The end

    async def settle(self):
        for client in self.clients:
            await client.tell("network", on=True)
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            views = await asyncio.gather(*(self.view(client) for client in self.clients))
            if all(views) and all(view == views[0] for view in views) and not any("reason" in row for row in views[0]):
                return views[0]
            assert time.monotonic() < end, self.differences(views)
            await asyncio.sleep(0.5)

    async def view(self, client):
        """None while something is on its way."""
        report = await client.tell("report", since=None, threads=[])
        if "error" in report or report["running"] or report["sending"] or report["failed"]:
            if report.get("failed"):
                client.tell("retry")
            return None
        await self.look(client)
        return [{key: row.get(key) for key in ("event", "sender", "text", "edited", "reactions", "reason") if row.get(key) is not None}
                for row in report["timeline"] if row.get("kind") in ("message", "other")]

    def differences(self, views):
        found = []
        for client, view in zip(self.clients, views):
            if view is None:
                found.append(f"{client.user.user_id} is not done")
                continue
            unread = [row for row in view if "reason" in row]
            missing = [row for row in views[0] or [] if row not in view]
            found.append(f"{client.user.user_id}: {len(view)} rows, unread {unread[:3]}, not as the first {missing[:2]}")
        return "\n".join(found)


@test(f"a storm of {SECONDS} s in an encrypted room: {CLIENTS} clients that are killed, cut off and robbed of keys read everything and agree")
def storm(context):
    asyncio.run(_storm(context))


async def _storm(context):
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    users = [User(context.base, f"storm{number}") for number in range(CLIENTS)]
    thief = User(context.base, "thief")
    room = users[0].create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[user.user_id for user in users[1:]])
    for user in users[1:]:
        user.join(room)
    ways = [("v3", "sliding")[number % 2] for number in range(CLIENTS)]
    async with peers(context, room, users, ways) as clients:
        playing = Storm(seed, room, clients, thief)
        await playing.run(SECONDS)
        rows = await playing.settle()
    assert len(rows) > playing.sent / 2, (len(rows), playing.sent)
    print(f"          seed {seed}: {playing.counts}; {len(rows)} rows; unreadable at some time {playing.ever}, the longest for {playing.longest:.1f} s")
