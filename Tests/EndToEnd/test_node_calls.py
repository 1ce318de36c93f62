"""Calls on several nodes: a session lives on one of them, its sockets may be anywhere, and another has it when that node is gone."""
import asyncio
import contextlib
import os
import random
import signal
import time

import aiohttp
import opentok

from call_client import CallSocket, Closed
from call_peers import Peer
from client import Api, User, room_path
from harness import PATIENCE, test
from test_calls import MODERATOR, PUBLISHER, App, closed, in_thread
from test_nodes import cluster
from test_recording import INDIVIDUAL, fetch, folder_of, in_ranges

BACK_SECONDS = 10


class NodeApp(App):
    """An application of a cluster; `join` and `rest` ask the node of their number."""

    def __init__(self, context, made):
        super().__init__(context, made.first)
        self.bases = [f"http://{host}" for host in made.hosts]

    async def join(self, session, number=0, role=PUBLISHER):
        return await CallSocket(self.bases[number]).connect(session.session_id, session.generate_token(role=role))

    def rest(self, number):
        return opentok.Client(self.key, self.secret, api_url=self.bases[number] + "/_martlet/call")


async def resumed(call, base):
    """Comes back at a node, and gives the texts of the signals that were missed."""
    call.url = base.replace("http", "ws", 1) + "/_martlet/call/v1/socket"
    await call.resume()
    return [said["data"] for said in await call.heard() if said["type"] == "signal"]


# Proves Q22
@test("whoever asks another node for a session is carried to the node that has it: sockets, signals, REST, resuming")
async def carried(context):
    with cluster("node_calls_carried", 3) as made:
        app = NodeApp(context, made)
        session = await in_thread(app.session)
        alice = await app.join(session, 0)
        bob = await app.join(session, 1, MODERATOR)
        assert [entry["id"] for entry in bob.greeting["connections"]] == [alice.id], bob.greeting
        await alice.event("connection_created")
        for number in range(50):
            await (alice if number % 2 else bob).ask("signal", kind="n", data=str(number))
        for call in (alice, bob):
            heard = [said["data"] for said in await call.heard() if said["type"] == "signal"]
            assert sorted(heard, key=int) == [str(number) for number in range(50)], heard
        # REST at the third node, which has nobody of the session.
        there = app.rest(2)
        await in_thread(there.signal, session.session_id, {"type": "rest", "data": "from afar"}, bob.id)
        assert (await bob.event("signal"))["data"] == "from afar"
        # A socket that broke goes on at any node, and nothing is lost.
        for base in (app.bases[2], app.bases[0], app.bases[1]):
            await bob.break_off()
            for number in range(5):
                await alice.ask("signal", kind="n", data=str(number), to=bob.id)
            assert await resumed(bob, base) == [str(number) for number in range(5)]
        # So does one whose node dies.
        await bob.break_off()
        await resumed(bob, app.bases[2])
        made.servers[2].kill()
        await alice.ask("signal", kind="n", data="while nobody carries", to=bob.id)
        await bob.session.close()
        assert await resumed(bob, app.bases[1]) == ["while nobody carries"]
        await in_thread(app.rest(1).force_disconnect, session.session_id, bob.id)
        await closed(bob, "forced")
        # Once it is empty, the next node that is asked has it.
        await alice.ask("leave")
        carol = await app.join(session, 1)
        made.servers[0].kill()
        assert (await carol.ask("signal", kind="n", data="still here"))["type"] == "done"
        for call in (alice, bob, carol):
            await call.close()


@test("members that leave a room, and keys that are removed, at one node end what another node has")
async def followed(context):
    with cluster("node_calls_followed", 2) as made:
        app = NodeApp(context, made)
        here, there = app.bases
        ann, bob = User(here, "ann"), User(there, "bob")
        room = ann.create_room(preset="public_chat")
        bob.join(room)
        path = "/_matrix/client/unstable/martlet.call/rooms/" + room_path(room, "token").removeprefix("rooms/")
        given = [await in_thread(user.post, path) for user in (ann, bob)]
        calls = []
        for base, answer in zip((here, there), given):
            answer = answer.ok()
            calls.append(await CallSocket(base).connect(answer["session_id"], answer["token"]))
        assert len(calls[1].greeting["connections"]) == 1
        assert (calls[0].greeting["connection"]["role"], calls[1].greeting["connection"]["role"]) == ("moderator", "publisher")
        levels = ann.get(room_path(room, "state", "m.room.power_levels", "")).ok()
        levels["users"][bob.user_id] = 50
        Api(there, ann.token).put(room_path(room, "state", "m.room.power_levels", ""), levels).ok()
        assert (await calls[1].event("connection_changed"))["role"] == "moderator"
        Api(there, ann.token).post(room_path(room, "kick"), {"user_id": bob.user_id}).ok()
        await closed(calls[1], "unauthorized")
        session = await in_thread(app.session)
        call = await app.join(session, 1)
        app.operate("remove", app.key, "--yes")
        await closed(call, "ended")
        for call in (*calls, call):
            await call.close()


class Returning:
    """A participant that comes back as CallCore does, at any node that is there: by `resume`, after `gone` by `connect`."""

    def __init__(self, app, session, number):
        self.app, self.session, self.number = app, session, number
        self.random = random.Random(number)

    async def connect(self):
        self.call = await self.app.join(self.session, self.number)
        return self.call

    async def come_back(self, number):
        """How it went: the codes of the answers."""
        base, codes, wait, resumes = self.app.bases[number], [], 0.5, True
        while True:
            await asyncio.sleep(wait / 2 + self.random.random() * wait / 2)
            wait = min(2 * wait, 15)
            with contextlib.suppress(Exception):
                await self.call.close()
            try:
                if resumes:
                    self.call.url = base.replace("http", "ws", 1) + "/_martlet/call/v1/socket"
                    await self.call.resume()
                else:
                    self.call = await CallSocket(base).connect(self.session.session_id, self.session.generate_token())
                return codes
            except (aiohttp.ClientError, OSError):
                codes.append("unreachable")
            except Closed as end:
                message = end.args[0]
                codes.append(end.code)
                assert message.get("retry") or end.code == "gone", message
                resumes = False
                if after := message.get("retry_after_ms"):
                    await asyncio.sleep(after / 1000)
                    wait = 0.5


# Proves Q21
@test("after kill -9 of the node that has a call, its peers see pictures again within ten seconds at another node")
async def killed_owner(context):
    # More than 5 s: the lease of the killed node lasts as long.
    with cluster("node_calls_killed", 2) as made:
        app = NodeApp(context, made)
        session = await in_thread(app.session)
        people = [Returning(app, session, 0), Returning(app, session, 1)]
        calls = [await person.connect() for person in people]
        peers = [await meet(calls)]
        made.servers[0].kill()
        began = time.monotonic()
        codes = await asyncio.gather(*(person.come_back(1) for person in people))
        connected = time.monotonic() - began
        peers.append(await meet([person.call for person in people]))
        seconds = time.monotonic() - began
        print(f"          connected after {connected:.1f} s, pictures after {seconds:.1f} s; on the way: {codes}", flush=True)
        assert seconds < BACK_SECONDS, seconds
        for peer in sum(peers, []):
            await peer.close()
        for person in people:
            await person.call.close()


async def meet(calls):
    """The first publishes, the second sees and hears it."""
    peers = [Peer(), Peer()]
    stream = await peers[0].publish(calls[0])
    assert (await calls[1].event("stream_created"))["stream"]["id"] == stream
    await peers[1].subscribe(calls[1], stream)
    await peers[1].until(video=5, audio=5)
    return peers


@test("what one node records is started, stopped, shown, downloaded in ranges and deleted at another, which has no file of it")
async def recorded(context):
    with cluster("node_calls_recorded", 2) as made:
        app = NodeApp(context, made)
        session = await in_thread(app.session)
        calls = [await app.join(session, 0), await app.join(session, 1)]
        there = app.rest(1)
        archive = await in_thread(there.start_archive, session.session_id, output_mode=INDIVIDUAL)
        await calls[1].event("recording_started")
        peers = await meet(calls)
        # A node that starts leaves alone what others record.
        made.servers[1].stop()
        made.servers[1].start()
        assert (await in_thread(there.get_archive, archive.id)).status == "started"
        await in_thread(there.stop_archive, archive.id)
        end = time.monotonic() + PATIENCE
        while (stored := await in_thread(there.get_archive, archive.id)).status != "available":
            assert stored.status == "stopped" and time.monotonic() < end, stored.status
            await asyncio.sleep(0.1)
        urls = [stored.url, stored.url.replace(app.bases[1], app.bases[0])]
        assert urls[0].startswith(app.bases[1]) and len(os.listdir(folder_of(made.servers[0], archive.id))) > 1
        assert not os.path.exists(folder_of(made.servers[1], archive.id))
        content = [await in_thread(fetch, url) for url in urls]
        assert len(content[0]) == stored.size and content[0] == content[1], [len(c) for c in content]
        assert await in_thread(in_ranges, urls[0], stored.size) == content[0]
        await in_thread(fetch, urls[0].replace("signature=", "signature=0"), 403)
        await in_thread(there.delete_archive, archive.id)
        assert not os.path.exists(folder_of(made.servers[0], archive.id))
        for url in urls:
            await in_thread(fetch, url, 404)
        for each in (*peers, *calls):
            await each.close()


@test("a node that stops sends its calls away, and another node has them at once")
async def stopped_owner(context):
    with cluster("node_calls_stopped", 2) as made:
        app = NodeApp(context, made)
        session = await in_thread(app.session)
        calls = [await app.join(session, number) for number in range(2)]
        stopping = asyncio.create_task(in_thread(made.servers[0].stop))
        for call in calls:
            try:
                while True:
                    await call.hear()
            except Closed as end:
                assert end.code == "shutting_down" and end.args[0]["retry"] is True, end
            await call.close()
        began = time.monotonic()
        while True:
            try:
                again = await app.join(session, 1)
                break
            except Closed as end:
                # A socket that is on its way to the node that stops breaks without a word.
                assert end.code in ("gone", "shutting_down", None) and time.monotonic() - began < 2, end
                await asyncio.sleep(0.25)
        assert again.greeting["connections"] == []
        assert await stopping == 0
        await again.close()


@test("a frozen node loses its calls to another after its lease, and ends what it has of them when it wakes")
async def frozen_owner(context):
    # More than 5 s: a lease lasts as long.
    with cluster("node_calls_frozen", 2) as made:
        app = NodeApp(context, made)
        session = await in_thread(app.session)
        alice, bob = await app.join(session, 0), await app.join(session, 1)
        made.servers[0].process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            # The carrier sees that the lease has ended.
            with contextlib.suppress(Closed):
                while True:
                    await bob.hear(PATIENCE)
            await bob.close()
            carol = await Returning(app, session, 1).connect()
            seconds = time.monotonic() - began
            assert seconds < BACK_SECONDS, seconds
            assert carol.greeting["connections"] == []
        finally:
            made.servers[0].process.send_signal(signal.SIGCONT)
        await closed(alice, "shutting_down")
        dave = await app.join(session, 0)
        assert [entry["id"] for entry in dave.greeting["connections"]] == [carol.id]
        for call in (alice, carol, dave):
            await call.close()
