"""What befalls the clients of an encrypted room in a storm, and how long they cannot read something."""
import asyncio
import random
import tempfile
import time

from client import User, room_path
from forged_keys import ForgedDevice
from harness import PATIENCE
from peer_client import Peer
from server import newest_build

# The mean time between two actions. A long storm is slower: in the end everybody reads the whole room.
PAUSE_SECONDS, LONG_PAUSE_SECONDS, LONG = 0.05, 0.25, 60
# So long an event may be unreadable for a client that runs and has a network: the aim of the design.
UNREADABLE_SECONDS = 60
# Of the whole room, once all have read its end.
WHOLE_SECONDS = 600
SLEEP_SECONDS = 10
KEPT_ROWS = 40
ACTIONS_PER_LOOK = 5
HOUR = 3_600
CLOCK_ERRORS = (0, 0, 90, -90, 2 * HOUR, -2 * HOUR, 8 * 24 * HOUR, -8 * 24 * HOUR)
VERBS = {"send": 40, "edit": 8, "react": 10, "reply": 8, "typing": 8, "restart": 3, "sleep": 3, "clock": 3, "network": 6, "exhaust": 3, "recovery": 2,
         "replace_backup": 1, "delete_backup": 1, "guest": 2, "device": 2}
# What the server and others do to a user.
DEEDS = ("exhaust", "replace_backup", "delete_backup", "guest", "device")
BACKUP = "m.megolm_backup.v1.curve25519-aes-sha2"


class Storm:
    def __init__(self, seed, room, clients, thief):
        self.random, self.room, self.clients, self.thief = random.Random(seed), room, clients, thief
        # Those without a network, and those asleep, with the task that wakes them.
        self.counts, self.offline, self.asleep, self.since, self.sent = {}, set(), {}, None, 0
        # Others' second sessions, and whether the thief is in the room.
        self.second, self.is_guest = {}, False
        # Since when a client could not read an event, and the longest that it took.
        self.unread, self.ever, self.longest = {}, 0, 0.0

    async def run(self, seconds):
        end, number = time.monotonic() + seconds, 0
        pause = 2 * (LONG_PAUSE_SECONDS if seconds > LONG else PAUSE_SECONDS)
        while time.monotonic() < end:
            number += 1
            awake = [client for client in self.clients if client not in self.asleep]
            client = self.random.choice(awake)
            verb = self.random.choices(list(VERBS), list(VERBS.values()))[0]
            self.counts[verb] = self.counts.get(verb, 0) + 1
            await self.act(verb, client, number)
            if number % ACTIONS_PER_LOOK == 0:
                await self.look(self.random.choice([client for client in self.clients if client not in self.asleep]))
            await asyncio.sleep(self.random.random() * pause)

    async def act(self, verb, client, number):
        if verb in ("edit", "react", "reply"):
            await self.answer(verb, client, number)
        elif verb == "send":
            self.sent += 1
            client.tell("send", text=f"{number} by {client.user.user_id[1:6]}")
        elif verb in DEEDS:
            await asyncio.to_thread(getattr(self, verb), client.user)
        elif verb == "recovery":
            client.tell("setUpRecovery", passphrase=None)
        elif verb == "typing":
            client.tell("typing", on=True)
        else:
            await getattr(self, verb)(client)

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

    # The program and its machine

    async def restart(self, client):
        self.forget_times(client)
        await client.restart(kills=self.random.random() < 0.7)
        self.offline.discard(client)

    async def network(self, client):
        is_back = client in self.offline
        (self.offline.discard if is_back else self.offline.add)(client)
        self.forget_times(client)
        client.tell("network", on=is_back)

    async def sleep(self, client):
        """Some of the others stay awake."""
        if len(self.asleep) < len(self.clients) // 2:
            client.sleep()
            self.asleep[client] = asyncio.create_task(self.wake(client, self.random.random() * SLEEP_SECONDS))

    async def wake(self, client, seconds):
        await asyncio.sleep(seconds)
        self.forget_times(client)
        client.wake()
        del self.asleep[client]

    async def clock(self, client):
        client.set_clock(self.random.choice(CLOCK_ERRORS))

    def wake_all(self):
        for client, task in list(self.asleep.items()):
            task.cancel()
            client.wake()
        self.asleep = {}

    # What the server and others do

    def exhaust(self, user):
        """All one-time keys of somebody's devices go; what is left is the fallback key."""
        devices = self.thief.post("keys/query", {"device_keys": {user.user_id: []}}).ok()["device_keys"].get(user.user_id, {})
        for _ in range(60):
            self.thief.post("keys/claim", {"one_time_keys": {user.user_id: {device: "signed_curve25519" for device in devices}}}).ok()

    def replace_backup(self, user):
        """Another device of the user, which nobody knows, makes another backup."""
        user.post("room_keys/version", {"algorithm": BACKUP, "auth_data": {"public_key": "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo", "signatures": {}}}).ok()

    def delete_backup(self, user):
        version = user.get("room_keys/version")
        if version.status == 200:
            user.request("DELETE", f"room_keys/version/{version.json['version']}").ok()

    def guest(self, user):
        """The thief comes, or goes: then everybody needs another key."""
        if self.is_guest:
            self.thief.post(room_path(self.room, "leave")).ok()
        else:
            self.clients[0].user.post(room_path(self.room, "invite"), {"user_id": self.thief.user_id}).ok()
            self.thief.join(self.room)
        self.is_guest = not self.is_guest

    def device(self, user):
        """The user signs in on a device that nobody has verified, or out of it."""
        if session := self.second.pop(user.user_id, None):
            session.post("logout").ok()
            return
        session = self.second[user.user_id] = User(user.base, login_as=user)
        session.post("keys/upload", {"device_keys": ForgedDevice(user.user_id, session.device_id).keys}).ok()

    # What clients see

    def forget_times(self, client):
        """What it cannot read counts from now on: it could not have learned more meanwhile."""
        now = time.monotonic()
        self.unread.update({key: now for key in self.unread if key[0] is client})

    async def look(self, client):
        """Notes what the client cannot read, and since when."""
        report = await client.tell("report", since=self.since, threads=[])
        self.note(client, report.get("timeline", []))

    def note(self, client, rows):
        now, unreadable = time.monotonic(), {}
        for row in rows:
            key = (client, row.get("event"))
            if "reason" in row:
                self.ever += key not in self.unread
                unreadable[row["event"]] = now - self.unread.setdefault(key, now)
            elif key in self.unread:
                self.noted(client, now - self.unread.pop(key))
        late = {event: seconds for event, seconds in unreadable.items() if seconds > UNREADABLE_SECONDS}
        assert not late or client in self.offline, f"{client.user.user_id} cannot read {late}: {[row for row in rows if row.get('event') in late][:3]}"
        if len(rows) > 2 * KEPT_ROWS and not self.offline and not self.asleep and not unreadable:
            self.since = rows[-KEPT_ROWS]["event"]

    def noted(self, client, seconds):
        if client not in self.offline:
            self.longest = max(self.longest, seconds)

    # The end

    async def settle(self):
        """Everybody is there again. The end of the room is read soon, and the whole in time."""
        self.wake_all()
        for client in self.clients:
            self.offline.discard(client)
            self.forget_times(client)
            await client.tell("network", on=True)
        await self.agree(self.clients, self.since, PATIENCE)
        return await self.agree(self.clients)

    async def agree(self, clients, since=None, seconds=WHOLE_SECONDS):
        """The rows from `since` on as all of these see them, once that is the same for each and none is unreadable."""
        end = time.monotonic() + seconds
        while True:
            views = [await self.view(client, since) for client in clients]
            if all(views) and all(view == views[0] for view in views) and not any("reason" in row for row in views[0]):
                return views[0]
            assert time.monotonic() < end, self.differences(clients, views)
            await asyncio.sleep(0.5)

    async def view(self, client, since):
        """None while something is on its way."""
        report = await client.tell("report", since=since, threads=[])
        if "error" in report or report["running"] or report["sending"] or report["failed"]:
            if report.get("failed"):
                client.tell("retry")
            return None
        self.note(client, report["timeline"])
        return [{key: row.get(key) for key in ("event", "sender", "text", "edited", "reactions", "reason") if row.get(key) is not None}
                for row in report["timeline"] if row.get("kind") in ("message", "other")]

    @staticmethod
    def differences(clients, views):
        found = []
        for client, view in zip(clients, views):
            if view is None:
                found.append(f"{client.user.user_id} is not done")
                continue
            unread = [row for row in view if "reason" in row]
            missing = [row for row in views[0] or [] if row not in view]
            found.append(f"{client.user.user_id}: {len(view)} rows, unread {unread[:3]}, not as the first {missing[:2]}")
        return "\n".join(found)


async def everything_in_the_backup(client):
    """The recovery key, once the backup has all keys that the client has."""
    await client.set_clock(0)
    end = time.monotonic() + PATIENCE
    key = (await client.ask("setUpRecovery", passphrase=None))["key"]
    while (await client.ask("encryption")).get("waiting", 1):
        assert time.monotonic() < end, "keys wait for the backup"
        await asyncio.sleep(0.2)
    return key


async def newcomer(stack, context, room, user, key):
    """A new device of the user, which recovers by the key."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    peer = Peer(newest_build("client-peer"), type("Direct", (), {"base": context.base}), user, room, folder, "--sync", "v3")
    await peer.start()
    stack.push_async_callback(peer.end)
    await peer.ask("recover", text=key)
    return peer
