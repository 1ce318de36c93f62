"""Two clients of the SDK (v3 and sliding sync), matrix-nio and our page in Chromium do anything in one room and lose their connections: in
the end, and again and again before it, all of them and the server's own answers agree on timeline, members, unread counts and receipts.

`MARTLET_LONG=1` for 10,000 actions, `MARTLET_ACTIONS` for another number. The seed is printed; `MARTLET_SEED` repeats what each action
is, not when the server sees it. Edits and what was said in threads are not redacted: a redacted event says of neither that it was one, so that clients that came
before and after differ by what Matrix is.
"""
import asyncio
import json
import os
import random
import tempfile
import time

from client import User
from harness import NotRun, test
from lossy_link import LossyLink
from nio_client import NioClient
from page_client import PageClient
from peer_client import Peer
from room_view import difference
from server import Server, newest_build
from shared_room import SharedRoom

NEEDS_BROWSER = True

ACTIONS = int(os.environ.get("MARTLET_ACTIONS", 0)) or (10_000 if os.environ.get("MARTLET_LONG") == "1" else 400)
CHECKED_EVERY = 250 if ACTIONS > 1000 else 100
# A busy machine needs most of it.
AGREEMENT_SECONDS = 60
# After the last action the whole room is read, by the page in sights of it.
WHOLE_SECONDS = 900 if ACTIONS > 1000 else AGREEMENT_SECONDS
# Between two actions at most: without a pause everything would happen behind one loss.
PAUSE_SECONDS = 0.06
LOSS_SHARE = 0.08
KEYS = ("👍", "❤️", "🎉", "no")
NAMES = ("Ann", "Bob", "Ann B.", "")
VERBS = {"send": 30, "edit": 10, "react": 14, "reply": 8, "thread": 7, "redact": 4, "viewed": 9, "read": 4, "readAll": 2, "typing": 4,
         "name": 2, "leave": 2, "moderate": 3, "restart": 1, "rest": 1, "away": 3}
# The page has a person's hands: what it is asked to do takes longest.
SHARES = (2, 2, 2, 1)
PAGE_VERBS = ("send", "redact", "typing", "name", "leave", "join", "away", "restart")


class Play:
    verbs, page_verbs, shares, checked_every = VERBS, PAGE_VERBS, SHARES, CHECKED_EVERY

    def __init__(self, seed, room, clients, artifacts):
        self.seed, self.room, self.clients, self.artifacts = seed, room, clients, artifacts
        self.counts, self.healing, self.since, self.start = {}, {}, None, time.monotonic()
        self.page = clients[-1]

    # Actions

    async def run(self, actions):
        for number in range(1, actions + 1):
            choices = random.Random(f"{self.seed}/{number}")
            await self.lose(number, choices)
            await self.act(number, choices)
            await asyncio.sleep(choices.random() * PAUSE_SECONDS)
            if number % self.checked_every == 0 or number == actions:
                await self.check(number, is_last=number == actions)
                print(f"          {number} actions after {time.monotonic() - self.start:.0f} s", flush=True)

    async def lose(self, number, choices):
        for client in [client for client, end in self.healing.items() if end <= number]:
            await self.heal(client, choices.random() < 0.7)
        if choices.random() < LOSS_SHARE:
            client = choices.choice(self.clients)
            if client not in self.healing:
                kind = choices.choice(LossyLink.KINDS)
                client.link.lose(kind, choices)
                if client.link.kind:
                    self.healing[client] = number + choices.randrange(5, 40)

    async def heal(self, client, is_told):
        self.healing.pop(client, None)
        client.link.heal()
        if is_told:
            await client.recover()

    async def act(self, number, choices):
        client = choices.choices(self.clients, self.shares)[0]
        verbs = {verb: weight for verb, weight in self.verbs.items() if self.can(client, verb)}
        verb = choices.choices(list(verbs), list(verbs.values()))[0]
        membership = self.room.membership.get(client.user.user_id)
        if membership != "join" and choices.random() < 0.6:
            verb = "join"
        self.counts[verb] = self.counts.get(verb, 0) + 1
        if verb == "restart":
            await client.restart(choices.random() < 0.7)
        elif verb == "moderate":
            await self.moderate(client, choices)
        elif verb == "join" and membership == "ban":
            await self.room.unban(client.user.user_id)
        else:
            values = self.values(verb, number, client, choices)
            if values is not None:
                client.tell(verb, **values)

    def can(self, client, verb):
        if verb == "moderate":
            return client is self.clients[0]
        if isinstance(client, PageClient):
            return verb in self.page_verbs
        return verb not in ("restart", "rest", "readAll", "away") or (isinstance(client, Peer) and verb != "away")

    def values(self, verb, number, client, choices):
        """None where there is nothing it could be done to."""
        own = client.user.user_id
        text = f"{number} by {own[1:4]}"
        if verb in ("send", "leave", "join", "readAll", "away"):
            return {"text": text} if verb == "send" else {}
        if verb in ("typing", "rest"):
            return {"on": choices.random() < 0.5}
        if verb == "name":
            return {"text": choices.choice(NAMES)}
        target = self.room.pick(choices, own if verb in ("edit", "redact") else None, verb in ("redact", "thread"))
        if not target:
            return None
        values = {"event": target["event"]}
        if verb in ("edit", "thread"):
            return values | {"text": text}
        if verb == "reply":
            return values | {"user": target["sender"], "text": text} if not target["root"] else None
        if verb == "react":
            return values | {"text": choices.choice(KEYS)}
        if verb == "read" and target["root"]:
            return values | {"root": target["root"]}
        return values

    async def moderate(self, client, choices):
        other = choices.choice(self.clients[1:]).user.user_id
        membership = self.room.membership.get(other)
        if membership == "join":
            client.tell(choices.choice(("kick", "ban")), user=other)
        else:
            client.tell("unban" if membership == "ban" else "invite", user=other)

    # Checks

    async def check(self, number, is_last):
        for client in self.clients:
            await self.heal(client, True)
        await self.until("everything is answered", lambda: not any(client.is_busy for client in self.clients))
        for client in self.clients:
            await self.bring_back(client)
        end = await self.room.mark(f"checked at {number}")
        await self.agree(None if is_last else self.since, number)
        if self.page.is_away:
            await self.page.show()
            await self.agree(None if is_last else self.since, number)
        self.since = end

    async def bring_back(self, client):
        """Also where a request to leave that nobody waits for any more arrives late."""
        user = client.user.user_id
        deadline = time.monotonic() + AGREEMENT_SECONDS
        while self.room.membership.get(user) != "join":
            if time.monotonic() > deadline:
                raise AssertionError(f"{user} does not come back (seed {self.seed}): {self.room.membership[user]}, {await client.looks()}")
            if self.room.membership.get(user) == "ban":
                await self.room.unban(user)
            await client.tell("join")
            await asyncio.sleep(0.05)

    async def agree(self, since, number):
        """Until all views are the server's. What is still on its way is not there yet."""
        deadline = time.monotonic() + (AGREEMENT_SECONDS if since else WHOLE_SECONDS)
        while True:
            for client in self.clients:
                await self.bring_back(client)
            truth = await self.room.truth(since)
            views = await asyncio.gather(*(client.view(since, truth) for client in self.clients))
            found = [self.compare(truth, client, view) for client, view in zip(self.clients, views)]
            if not any(found):
                return
            if time.monotonic() > deadline:
                self.keep(truth, views)
                raise AssertionError(f"after {number} actions of seed {self.seed}:\n" + "\n".join(filter(None, found)))
            await asyncio.sleep(0.1)

    def compare(self, truth, client, view):
        if "trouble" in view:
            return f"{client.user.user_id}: {view['trouble']}"
        found = difference(self.wanted(truth, client), view)
        return f"{client.user.user_id}: {found}" if found else None

    def wanted(self, truth, client):
        if client is self.page:
            return truth.page_view(client.user.user_id)
        return truth.view(client.user.user_id, client.has_threads_inline)

    def keep(self, truth, views):
        with open(os.path.join(self.artifacts, "agreement.json"), "w", encoding="utf-8") as f:
            known = {client.user.user_id: [self.wanted(truth, client), view] for client, view in zip(self.clients, views)}
            json.dump({"events": truth.events.events, "receipts": truth.receipts, "views": known}, f, indent=1, ensure_ascii=False)

    async def until(self, what, condition):
        deadline = time.monotonic() + AGREEMENT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain (seed {self.seed}): {what}"
            await asyncio.sleep(0.02)


async def play(base, seed, actions, artifacts, folder):
    program = newest_build("client-peer")
    if not program:
        raise NotRun("client-peer is not built: swift build --product client-peer")
    users = [User(base, name) for name in ("ann", "bob", "nio", "page")]
    room = SharedRoom(base, users, moderator=users[0])
    links = [await LossyLink(base).start() for _ in users]
    clients = [Peer(program, links[0], users[0], room.id, folder, "--sync", "v3"),
               Peer(program, links[1], users[1], room.id, folder, "--sync", "sliding", "--threads-inline"),
               NioClient(links[2], users[2], room.id),
               PageClient(links[3], users[3], room.id, artifacts)]
    watching = asyncio.create_task(room.watch())
    playing = Play(seed, room, clients, artifacts)
    started = []
    try:
        # The page first: where there is no browser nothing else is begun.
        for client in clients[::-1]:
            await client.start()
            started.append(client)
        await playing.run(actions)
    finally:
        watching.cancel()
        for client in started:
            client.link.heal()
            await client.end()
        for link in links:
            await link.close()
    return playing


@test(f"{ACTIONS} random actions with lost connections: the clients agree with the server and so with each other")
async def agreement(context):
    context.own_server()
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    start = time.monotonic()
    print(f"          seed {seed} (MARTLET_SEED)", flush=True)
    server = Server().start()
    try:
        with tempfile.TemporaryDirectory(prefix="martlet-agreement-") as folder:
            playing = await play(server.base, seed, ACTIONS, context.artifacts, folder)
    finally:
        server.close()
    losses = {kind: sum(client.link.losses.get(kind, 0) for client in playing.clients) for kind in LossyLink.KINDS}
    print(f"          {ACTIONS} actions in {time.monotonic() - start:.0f} s: {dict(sorted(playing.counts.items()))}; losses {losses}; "
          f"refused {[client.refusals for client in playing.clients]}", flush=True)
    assert sum(losses.values()) > ACTIONS * LOSS_SHARE / 4, "hardly any connection was lost"
