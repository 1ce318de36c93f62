"""Two clients of the SDK (v3 and sliding sync), another device of one of them that recovers by the key, matrix-nio and our page in Chromium do anything in one encrypted
room and lose their connections. Again and again, and in the end, each of them shows the conversation that a second matrix-nio, which loses nothing, has read: the same words,
files, edits, reactions and redactions in the server's order. Nobody reads what was sent after all knew that they had left.

`MARTLET_LONG=1` for 2,000 actions, `MARTLET_ACTIONS` for another number. The seed is printed; `MARTLET_SEED` repeats what each action is, not when the server sees it.
"""
import asyncio
import contextlib
import os
import random
import tempfile
import time

from clear_text import ALWAYS_SEALED, found_in_folder, specific
from client import PASSWORD, User
from encrypted_room import MUST, NEVER, EncryptedRoom, Witness
from harness import PATIENCE, NotRun, test
from lossy_link import LossyLink
from nio_client import EncryptedNioClient
from page_client import PageClient
from peer_client import Peer
from room_view import difference
from server import Server, newest_build
from test_agreement import AGREEMENT_SECONDS, VERBS, Play
from test_encryption import devices, plain_on_disk

NEEDS_BROWSER = True

IS_LONG = os.environ.get("MARTLET_LONG") == "1"
ACTIONS = int(os.environ.get("MARTLET_ACTIONS", 0)) or (2_000 if IS_LONG else 150)
CHECKED_EVERY = 200 if ACTIONS > 1000 else 50
# The action with which another device comes.
DEVICE_AT = ACTIONS // 3
# No word of it may stand in clear text anywhere, so none may stand there by chance.
SUFFIX = ", for nobody but those in this room"


class EncryptedPlay(Play):
    verbs = VERBS | {"attach": 6, "leave": 1, "moderate": 1}
    page_verbs = ("send", "redact", "typing", "name", "away", "restart")
    checked_every = CHECKED_EVERY

    def __init__(self, seed, room, clients, artifacts, folder, stack, key):
        super().__init__(seed, room, clients, artifacts)
        self.folder, self.stack, self.key = folder, stack, key
        self.gone, self.gone_until = None, 0
        self.said, self.sizes = set(), {}

    @property
    def shares(self):
        """The page has a person's hands: what it is asked to do takes longest. Who has gone only looks on for a while."""
        return [0 if client.user.user_id == self.gone else 1 if client is self.page else 2 for client in self.clients]

    # Actions

    async def act(self, number, choices):
        if number == DEVICE_AT:
            await self.add_device()
        if number >= self.gone_until:
            self.gone = None
        await super().act(number, choices)

    def can(self, client, verb):
        if verb == "attach" and client is self.page:
            return False
        return super().can(client, verb)

    def values(self, verb, number, client, choices):
        if verb == "attach":
            name = f"{number} by {client.user.user_id[1:4]}{SUFFIX}.bin"
            path, self.sizes[name] = os.path.join(self.folder, name), 1_000 + 7 * number
            with open(path, "wb") as file:
                file.write(choices.randbytes(self.sizes[name]))
            self.said.add(name)
            return {"path": path}
        values = super().values(verb, number, client, choices)
        if values and verb == "edit" and not self.room.is_text(values["event"]):
            return None
        if values and verb in ("send", "edit", "reply", "thread"):
            values["text"] += SUFFIX
            self.said.add(values["text"])
        return values

    async def moderate(self, client, choices):
        """Nobody is invited: with the invitation they would get the history."""
        other = choices.choice(self.others()).user.user_id
        membership = self.room.membership.get(other)
        if other != self.gone and membership in ("join", "ban"):
            client.tell(choices.choice(("kick", "ban")) if membership == "join" else "unban", user=other)

    def others(self):
        """Those that leave now and then: neither the moderator, who has two devices, nor the page."""
        return [client for client in self.clients[1:] if client is not self.page and client.user is not self.clients[0].user]

    async def add_device(self):
        """Another device of the first user, which gets older keys by the recovery key only."""
        first = self.clients[0]
        await self.heal(first, True)
        await self.bring_back(first)
        link = await LossyLink(self.room.maker.base).start()
        self.stack.push_async_callback(link.close)
        folder = os.path.join(self.folder, "tablet")
        os.mkdir(folder)
        tablet = Peer(first.program, link, first.user, self.room.id, folder, "--sync", "sliding")
        self.stack.push_async_callback(tablet.end)
        await tablet.start()
        await tablet.ask("recover", text=self.key)
        self.clients.insert(-1, tablet)

    # Checks

    async def check(self, number, is_last):
        self.gone = None
        await super().check(number, is_last)
        if is_last:
            return await self.check_files()
        await self.settle(number)
        await self.depart(random.Random(f"{self.seed}/{number}/gone").choice(self.others()))
        self.gone_until = number + self.checked_every // 2

    async def settle(self, number):
        self.room.settled.add(await self.room.mark(f"everybody is here at {number}"))

    async def depart(self, client):
        """It leaves, and from a mark on all others know it."""
        user = client.user.user_id
        await client.tell("leave")
        deadline = time.monotonic() + AGREEMENT_SECONDS
        while True:
            truth = await self.room.truth(self.since)
            others = [other for other in self.clients if other is not client]
            views = await asyncio.gather(*(other.view(self.since, truth) for other in others))
            found = [view.get("trouble") or difference({"members": self.wanted(truth, other)["members"]}, view) for other, view in zip(others, views)]
            if self.room.membership.get(user) == "leave" and not any(found):
                break
            assert time.monotonic() < deadline, f"not all know that {user} has gone (seed {self.seed}): {found}"
            await asyncio.sleep(0.1)
        self.room.departed[await self.room.mark(f"{user} has gone")] = user
        self.gone = user

    async def run(self, actions):
        await self.settle(0)
        await super().run(actions)

    def wanted(self, truth, client):
        """Without counts: the server cannot know what encrypted messages say."""
        return {key: value for key, value in super().wanted(truth, client).items() if key not in ("unread", "highlights")}

    def compare(self, truth, client, view):
        if "trouble" in view or client is self.page:
            return super().compare(truth, client, view)
        rights = self.room.rights(truth.events.events, client.user.user_id)
        wanted = self.wanted(truth, client)
        for rows in (view["timeline"], *view.get("threads", {}).values()):
            for row in rows:
                if words := self.misread(truth, rights, row):
                    return f"{client.user.user_id} {words}: {row}"
        found = difference(self.softened(truth, rights, wanted), self.softened(truth, rights, view))
        return f"{client.user.user_id}: {found}" if found else None

    def misread(self, truth, rights, row):
        """Something that the user must not read, or that nobody has written; None if there is nothing of it."""
        if not row.get("text") or row.get("event") not in rights:
            return None
        edits = [edit["event_id"] for edit in truth.events.edits.get(row["event"], [])]
        if all(rights.get(event) == NEVER for event in (row["event"], *edits)):
            return "reads what is not for them"
        written = [event["content"].get("body") for event in truth.events.events if event["event_id"] in (row["event"], *edits)]
        return None if any(words and words.removeprefix("* ") == row["text"] for words in written) else "reads what nobody has written"

    def softened(self, truth, rights, view):
        """The rows without whether their senders are certain; of what the user may read or not, only that it is there."""
        def soften(rows):
            return [{key: value for key, value in row.items() if key != "trust" and (self.must(truth, rights, row) or key in ("event", "sender"))} for row in rows]

        softened = dict(view, timeline=soften(view["timeline"]))
        if "threads" in view:
            softened["threads"] = {root: soften(rows) for root, rows in view["threads"].items()}
        return softened

    @staticmethod
    def must(truth, rights, row):
        edits = [edit["event_id"] for edit in truth.events.edits.get(row.get("event"), [])]
        return all(rights.get(event, MUST) == MUST for event in (row.get("event"), *edits)) or row.get("kind") == "state"

    def keep(self, truth, views):
        """Without keys of files: those may stand nowhere."""
        for event in truth.events.events:
            event["content"] = {key: value for key, value in event["content"].items() if key != "file"}
        super().keep(truth, views)

    async def check_files(self):
        """Each file is whole for each client of the SDK that must have it."""
        truth = await self.room.truth(None)
        self.files = 0
        for client in self.clients:
            rights = self.room.rights(truth.events.events, client.user.user_id)
            for row in truth.rows[False] if isinstance(client, Peer) else ():
                size = self.sizes.get(row.get("text"))
                if size and rights[row["event"]] == MUST:
                    assert (await client.ask("file", event=row["event"]))["bytes"] == size, row
                    self.files += 1


async def play(server, seed, actions, artifacts, folder):
    program = newest_build("client-peer")
    if not program:
        raise NotRun("client-peer is not built: swift build --product client-peer")
    users = [User(server.base, name) for name in ("ann", "bob", "nio", "page")]
    room = EncryptedRoom(server.base, users, moderator=users[0])
    room.of_others = {users[2].user_id, room.maker.user_id}
    async with contextlib.AsyncExitStack() as stack:
        links = []
        for _ in (*users, room.maker):
            links.append(await LossyLink(server.base).start())
            stack.push_async_callback(links[-1].close)
        keys = [os.path.join(folder, name) for name in ("nio", "witness")]
        for path in keys:
            os.mkdir(path)
        clients = [Peer(program, links[0], users[0], room.id, folder, "--sync", "v3"),
                   Peer(program, links[1], users[1], room.id, folder, "--sync", "sliding", "--threads-inline"),
                   EncryptedNioClient(links[2], users[2], room.id, keys[0]),
                   PageClient(links[3], users[3], room.id, artifacts)]
        witness = Witness(links[4], room.maker, room.id, keys[1])
        # The page first: where there is no browser nothing else is begun.
        for client in (*clients[::-1], witness):
            await client.start()
            stack.push_async_callback(client.end)
        room.witness = witness
        watching = asyncio.create_task(room.watch())
        stack.callback(watching.cancel)
        await all_have_devices([*users, room.maker])
        # Their devices are signed from now on, and their keys go to the backup.
        key = (await clients[0].ask("setUpRecovery", passphrase=None))["key"]
        await clients[1].ask("setUpRecovery", passphrase=None)
        playing = EncryptedPlay(seed, room, clients, artifacts, folder, stack, key)
        try:
            await playing.run(actions)
        finally:
            for client in clients:
                client.link.heal()
        for client in clients:
            await client.end()
            if isinstance(client, Peer):
                assert not plain_on_disk(client.store, *ALWAYS_SEALED, PASSWORD, *specific(playing.said)), "a store is not sealed"
        assert not found_in_folder(server.folder, *specific(playing.said)), "the server has clear text"
    return playing


async def all_have_devices(users):
    async with asyncio.timeout(PATIENCE):
        for user in users:
            while not await asyncio.to_thread(devices, user):
                await asyncio.sleep(0.05)


# Five clients, one of them a browser, that all read the whole room in the end: 25 s.
# Proves E1, E8
@test("random actions in an encrypted room with lost connections: all who may read it show the same conversation, and nobody else reads it")
async def agreement(context):
    context.own_server()
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    start = time.monotonic()
    print(f"          seed {seed} (MARTLET_SEED)", flush=True)
    server = Server().start()
    try:
        with tempfile.TemporaryDirectory(prefix="martlet-agreement-") as folder:
            playing = await play(server, seed, ACTIONS, context.artifacts, folder)
    finally:
        server.close()
    losses = sum(sum(client.link.losses.values()) for client in playing.clients)
    print(f"          {ACTIONS} actions in {time.monotonic() - start:.0f} s: {dict(sorted(playing.counts.items()))}; {losses} losses; "
          f"{playing.files} files read; refused {[client.refusals for client in playing.clients]}", flush=True)
    assert losses, "no connection was lost"
