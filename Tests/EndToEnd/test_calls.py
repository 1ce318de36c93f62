"""Calls: the socket raw, OpenTok's server SDK, tokens of rooms, and media between real peers."""
import asyncio
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from random import Random

import jwt
import opentok
from opentok.exceptions import AuthError, ForceDisconnectError, OpenTokException, RequestError

from call_client import CallSocket, Closed, Refused
from call_peers import Page, Peer
from client import User, fresh, room_path
from harness import PATIENCE, test
from load_peers import PICTURE, SOUND, Peers, build
from load_peers import sections as media_sections
from server import Server, free_port, program
from test_router import chromium, is_seen

NOBODY = "00000000-0000-4000-8000-000000000000"


class App:
    """An application with an API key, made as its operator does."""

    def __init__(self, context, server=None):
        context.own_server()
        self.base, self.server = (server.base, server) if server else (context.direct, context.server)
        answer = self.operate("add", fresh("app"), "--json")
        self.key, self.secret = answer["key"], answer["secret"]
        self.sdk = opentok.Client(self.key, self.secret, api_url=self.base + "/_martlet/call")

    def operate(self, *words):
        done = subprocess.run([program(), "call", "key", *words, "--data-dir", self.server.folder, "--server-name", "test.example"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    def session(self, mode=opentok.MediaModes.routed):
        return self.sdk.create_session(media_mode=mode)

    async def join(self, session, role=opentok.Roles.publisher, **members):
        token = session.generate_token(role=role, **members)
        return await CallSocket(self.base).connect(session.session_id, token)

    @contextlib.asynccontextmanager
    async def call(self, *roles, session=None):
        session = session or self.session()
        sockets = [await self.join(session, role) for role in roles]
        try:
            yield session, *sockets
        finally:
            for socket in sockets:
                await socket.close()


async def refused(request, code):
    try:
        await request
    except Refused as refusal:
        assert refusal.code == code, refusal
        return
    raise AssertionError("it was done")


async def closed(socket, code):
    """Reads to the end, which has this code."""
    try:
        while True:
            await socket.hear()
    except Closed as end:
        assert end.code == code, end


# Where the answer says that media goes.
PORT = "() => /^m=\\w+ (\\d+)/m.exec(connection.remoteDescription.sdp.replace(/^m=\\w+ [09] .*$/gm, ''))[1]"
PUBLISHER, MODERATOR, SUBSCRIBER = opentok.Roles.publisher, opentok.Roles.moderator, opentok.Roles.subscriber


async def in_thread(function, *arguments, **members):
    """The SDK waits for its answers."""
    return await asyncio.to_thread(function, *arguments, **members)


# Proves A23, L19, Q14, T12
@test("a signal to one connection reaches exactly that one, a signal to all everyone")
async def signals(context):
    app = App(context)
    async with app.call(PUBLISHER, PUBLISHER, SUBSCRIBER) as (_, alice, bob, carol):
        await alice.ask("signal", kind="chat", data="for Bob", to=bob.id)
        heard = [e for e in await bob.heard() if e["type"] == "signal"]
        assert [(e["kind"], e["data"], e["from"]) for e in heard] == [("chat", "for Bob", alice.id)], heard
        for other in (alice, carol):
            assert not [e for e in await other.heard() if e["type"] == "signal"]
        await carol.ask("signal", data="for all")
        for each in (alice, bob, carol):
            assert [e["data"] for e in await each.heard() if e["type"] == "signal"] == ["for all"]


# Proves M27
@test("a connection that breaks comes back with everything it missed, once")
async def resuming(context):
    app = App(context)
    async with app.call(PUBLISHER, PUBLISHER) as (_, alice, bob):
        for number in range(5):
            await bob.break_off()
            for part in "ab":
                await alice.ask("signal", data=f"{number}{part}")
            assert await bob.resume() == 0
            assert [(await bob.event("signal"))["data"] for _ in range(2)] == [f"{number}a", f"{number}b"]
            await bob.say(type="ack", seq=bob.seq)
        assert not [e for e in await alice.heard() if e["type"] == "connection_destroyed"]
        stranger = CallSocket(context.direct)
        stranger.greeting = {**bob.greeting, "key": alice.greeting["key"]}
        try:
            await stranger.resume()
            raise AssertionError("a stranger came in")
        except Closed as closed:
            assert closed.code == "gone"
        await stranger.close()


# Proves A20, Q13
@test("a token that is expired, foreign, forged or for something else lets nobody in")
async def tokens(context):
    app, other = App(context), App(context)
    session, second = app.session(), app.session()
    now = int(time.time())
    claims = {"iss": app.key, "ist": "project", "iat": now, "exp": now + 600, "nonce": 1, "scope": "session.connect",
              "session_id": session.session_id, "role": "publisher"}

    def sign(secret=app.secret, algorithm="HS256", **changed):
        return jwt.encode({name: value for name, value in {**claims, **changed}.items() if value is not None}, secret, algorithm=algorithm)

    bad = {"expired": sign(exp=now - 100), "without end": sign(exp=None), "too long": sign(exp=now + 31 * 86400), "future": sign(iat=now + 600),
           "other secret": sign(other.secret), "other project": sign(other.secret, iss=other.key), "none": sign("", "none"),
           "other algorithm": sign(algorithm="HS512"), "other session": sign(session_id=second.session_id), "scope": sign(scope=None),
           "role": sign(role="admin"), "REST's": app.sdk.get_headers()["X-OPENTOK-AUTH"], "empty": "", "noise": "a.b.c", "old noise": "T1==AAAA"}
    for what, token in bad.items():
        socket = await CallSocket(context.direct).open()
        await socket.say(type="connect", session=session.session_id, token=token)
        try:
            raise AssertionError(f"{what}: {await socket.hear()}")
        except Closed as closed:
            assert closed.code == "unauthorized", (what, closed)
        await socket.close()
    async with app.call(session=session):
        for token in (sign(), session.generate_token(use_jwt=False), session.generate_token(use_jwt=False, role=MODERATOR, data="a=1&b=ü")):
            socket = await CallSocket(context.direct).connect(session.session_id, token)
            assert socket.greeting["mode"] == "routed" and socket.greeting["resume_seconds"] == 30
            await socket.close()


# Proves M33
@test("what is no first message closes the socket; a role may not do more than its own")
async def protocol(context):
    for text in ("", "[]", '{"type":"signal","id":1}', "{" * 1000):
        socket = await CallSocket(context.direct).open()
        await socket.socket.send_str(text)
        try:
            raise AssertionError(await socket.hear())
        except Closed as closed:
            assert closed.code == "invalid", closed
        await socket.close()
    app = App(context)
    async with app.call(SUBSCRIBER, PUBLISHER) as (_, subscriber, publisher):
        for who, kind, members in ((subscriber, "publish", {"stream": {}}), (publisher, "disconnect", {"connection": subscriber.id}),
                                   (publisher, "mute", {"all": True})):
            try:
                await who.ask(kind, **members)
                raise AssertionError(kind)
            except Refused as refused:
                assert refused.code == "forbidden"


# Proves A19, A25, A28, L12, M28, Q12
@test("OpenTok's SDK for Python does all we serve, by its API address alone")
async def sdk(context):
    app = App(context)
    async with app.call(PUBLISHER, MODERATOR, SUBSCRIBER) as (session, alice, bob, carol):
        streams = await in_thread(app.sdk.list_streams, session.session_id)
        assert streams.count == 0
        alice_peer = Peer()
        stream = await alice_peer.publish(alice, name="Alice's", video_type="screen")
        await bob.event("stream_created")
        streams = await in_thread(app.sdk.list_streams, session.session_id)
        assert [(s.id, s.name, s.videoType, s.layoutClassList) for s in streams] == [(stream, "Alice's", "screen", [])]
        await in_thread(app.sdk.set_stream_class_lists, session.session_id, [{"id": stream, "layoutClassList": ["focus", "full"]}])
        assert (await in_thread(app.sdk.get_stream, session.session_id, stream)).layoutClassList == ["focus", "full"]

        await in_thread(app.sdk.signal, session.session_id, {"type": "news", "data": "for all"})
        await in_thread(app.sdk.send_signal, session.session_id, {"type": "news", "data": "for Carol"}, carol.id)
        assert [(e["kind"], e["data"], e.get("from")) for e in await bob.heard() if e["type"] == "signal"] == [("news", "for all", None)]
        assert [e["data"] for e in await carol.heard() if e["type"] == "signal"] == ["for all", "for Carol"]

        await in_thread(app.sdk.mute_stream, session.session_id, stream)
        assert (await alice.event("muted"))["stream"] == stream
        changed = await bob.event("stream_changed")
        assert changed["muted"] is True and changed["has_audio"] is False, changed
        await alice.ask("update", stream=stream, has_audio=True)
        assert (await bob.event("stream_changed"))["muted"] is False
        await in_thread(app.sdk.mute_all, session.session_id, [stream])
        assert (await alice.event("muted"))["active"] is True
        await in_thread(app.sdk.disable_force_mute, session.session_id)
        assert (await alice.event("muted"))["active"] is False

        await in_thread(app.sdk.force_disconnect, session.session_id, carol.id)
        assert (await bob.event("connection_destroyed"))["reason"] == "forced"
        try:
            while True:
                await carol.hear()
        except Closed as closed:
            assert closed.code == "forced"
        await alice_peer.close()


# Proves A19
@test("OpenTok's SDK raises what it should for a wrong secret, another's session and what is not there")
async def sdk_errors(context):
    app, other = App(context), App(context)
    async with app.call(PUBLISHER) as (session, alice):
        def raises(kind, function, *arguments):
            try:
                function(*arguments)
            except kind:
                return
            raise AssertionError(function)

        wrong = opentok.Client(app.key, "x" * 64, api_url=context.direct + "/_martlet/call")
        raises(OpenTokException, wrong.create_session)
        raises(AuthError, wrong.list_streams, session.session_id)
        raises(AuthError, wrong.force_disconnect, session.session_id, alice.id)
        assert other.sdk.list_streams(session.session_id).count == 0, "another's session is not there"
        raises(ForceDisconnectError, other.sdk.force_disconnect, session.session_id, alice.id)
        raises(ForceDisconnectError, app.sdk.force_disconnect, session.session_id, NOBODY)
        raises(RequestError, app.sdk.get_stream, session.session_id, NOBODY)
        raises(RequestError, app.sdk.send_signal, session.session_id, {"type": "a b", "data": ""})
        raises(RequestError, app.sdk.send_signal, session.session_id, {"type": "a", "data": "d" * 8193})
        await alice.ask("signal")


# Proves A28, M33
@test("old SDKs get XML, and every refusal of REST is JSON that says why")
def rest(context):
    app = App(context)

    def ask(method, path, body=b"", **headers):
        headers.setdefault("X-OPENTOK-AUTH", app.sdk.get_headers()["X-OPENTOK-AUTH"])
        request = urllib.request.Request(context.direct + "/_martlet/call" + path, body or None, {k: v for k, v in headers.items() if v}, method=method)
        try:
            answer = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, answer.headers["Content-Type"], answer.read()

    status, kind, body = ask("POST", "/session/create", b"p2p.preference=enabled")
    assert status == 200 and kind == "application/xml" and b"<session_id>1_" in body, body
    session = json.loads(ask("POST", "/session/create", b"p2p.preference=enabled", Accept="application/json")[2])[0]["session_id"]
    path = f"/v2/project/{app.key}/session/{session}"
    for method, path, body, wanted in (
            ("POST", "/session/create", b"p2p.preference=maybe", 400), ("POST", "/session/create", b"archiveMode=sometimes", 400),
            ("POST", "/session/create", b"p2p.preference=enabled&archiveMode=always", 400),
            ("POST", "/session/create", b"p2p.preference=%ff", 400), ("GET", f"/v2/project/4711/session/{session}/stream", b"", 403),
            ("GET", f"/v2/project/{app.key}/session/1_made-up/stream", b"", 404), ("POST", path + "/signal", b"{}", 404),
            ("POST", path + "/signal", b"nonsense", 400), ("POST", path + "/mute", b"{}", 400), ("DELETE", path + "/connection/x", b"", 404),
            ("DELETE", path + f"/connection/{NOBODY}", b"", 404), ("PUT", path + "/stream", b'{"items":[{}]}', 400)):
        status, kind, answer = ask(method, path, body)
        assert status == wanted and json.loads(answer)["code"] == wanted and json.loads(answer)["message"], (method, path, status, answer)
    for token in ("", "nonsense", opentok.Client(app.key, "x" * 64)._create_jwt_auth_header()):
        status, _, answer = ask("GET", path + "/stream", **{"X-OPENTOK-AUTH": token})
        assert status == 403 and json.loads(answer)["code"] == 403
    long = opentok.Client(app.key, app.secret)
    long.jwt_livetime = 60
    assert ask("GET", path + "/stream", **{"X-OPENTOK-AUTH": long._create_jwt_auth_header()})[0] == 403


async def leave(socket):
    socket.requests += 1
    await socket.say(type="leave", id=socket.requests)


async def met(condition):
    for _ in range(50 * PATIENCE):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it does not come to that")


@contextlib.contextmanager
def application():
    """An application's server: (its address, what it was told with the signatures)."""
    told = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            told.append((self.headers["Martlet-Signature"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", told
    finally:
        server.shutdown()
        server.server_close()


# Proves M30
@test("an application's server is told who comes and goes, signed with the key's secret; without an address nobody is")
async def callbacks(context):
    app = App(context)
    with application() as (address, told):
        assert address in await in_thread(app.operate, "callback", app.key, address)
        async with app.call(PUBLISHER) as (session, alice):
            await met(lambda: told)
            await leave(alice)
            await met(lambda: len(told) == 2)
        events = [json.loads(body) for _, body in told]
        assert [event["event"] for event in events] == ["connectionCreated", "connectionDestroyed"], events
        assert all(event["sessionId"] == session.session_id and event["projectId"] == app.key for event in events), events
        for signature, body in told:
            seconds, digest = (part.split("=")[1] for part in signature.split(","))
            assert digest == hmac.new(app.secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
        await in_thread(app.operate, "callback", app.key, "none")
        async with app.call(PUBLISHER) as (_, silent):
            await leave(silent)
            await closed(silent, None)
        await in_thread(app.operate, "callback", app.key, address)
        async with app.call(PUBLISHER) as (session, alice):
            await met(lambda: len(told) == 3)
            assert json.loads(told[2][1])["sessionId"] == session.session_id, told[2]


# Proves L12, M31
@test("a key that is taken away ends its sessions; the others go on")
async def keys(context):
    app, other = App(context), App(context)
    assert app.key in app.operate("list") and app.secret not in app.operate("list")
    async with app.call(PUBLISHER) as (session, alice), other.call(PUBLISHER) as (_, bob):
        await in_thread(app.operate, "remove", app.key, "--yes")
        try:
            while True:
                await alice.hear()
        except Closed as closed:
            assert closed.code == "ended"
        try:
            await app.join(session)
            raise AssertionError("the session goes on")
        except (Closed, AssertionError) as error:
            assert getattr(error, "code", None) == "unauthorized", error
        await bob.ask("signal")


# Proves A17, L1, M41
@test("members of a room get into its call, who may remove others as moderators; nobody else does")
async def rooms(context):
    alice, bob, eve = (User(context.base, name) for name in ("alice", "bob", "eve"))
    room = alice.create_room(invite=[bob.user_id])
    path = "/_matrix/client/unstable/martlet.call/rooms/" + room_path(room, "token").removeprefix("rooms/")
    eve.post(path, {}).fails(403, "M_FORBIDDEN")
    bob.post(path, {}).fails(403, "M_FORBIDDEN")
    bob.join(room)
    assert alice.get("capabilities").ok()["capabilities"]["martlet.call"] == {"enabled": True}
    sockets = []
    for user, role in ((alice, "moderator"), (bob, "publisher")):
        ticket = user.post(path, {}).ok()
        assert ticket["url"].startswith("ws://") and ticket["url"].endswith("/_martlet/call/v1/socket"), ticket
        socket = await CallSocket(context.direct).connect(ticket["session_id"], ticket["token"])
        assert socket.greeting["connection"]["role"] == role
        assert json.loads(socket.greeting["connection"]["data"]) == {"user_id": user.user_id, "device_id": user.device_id}
        sockets.append(socket)
    assert len(sockets[1].greeting["connections"]) == 1
    alice.post(room_path(room, "kick"), {"user_id": bob.user_id}).ok()
    try:
        while True:
            await sockets[1].hear()
    except Closed as closed:
        assert closed.code == "unauthorized"
    await sockets[1].close()
    try:
        await CallSocket(context.direct).connect(ticket["session_id"], ticket["token"])
        raise AssertionError("a token outlives the membership")
    except Closed as closed:
        assert closed.code == "unauthorized"
    assert [e["reason"] for e in await sockets[0].heard() if e["type"] == "connection_destroyed"] == ["forced"]
    await sockets[0].close()


# Proves M41
@test("a call in a room follows it: power makes a moderator; a ban, a logout and a suspension end the connection, and the token with it")
async def rooms_change(context):
    context.own_server()
    alice = User(context.base, "alice")
    others = {name: User(context.base, name) for name in ("power", "banned", "out", "suspended")}
    room = alice.create_room(invite=[user.user_id for user in others.values()])
    path = "/_matrix/client/unstable/martlet.call/rooms/" + room_path(room, "token").removeprefix("rooms/")
    tickets, sockets = {}, {}
    for name, user in others.items():
        user.join(room)
        tickets[name] = user.post(path, {}).ok()
        sockets[name] = await CallSocket(context.direct).connect(tickets[name]["session_id"], tickets[name]["token"])
    levels = alice.get(room_path(room, "state", "m.room.power_levels")).ok()
    levels["users"][others["power"].user_id] = 50
    alice.put(room_path(room, "state", "m.room.power_levels"), levels).ok()
    changed = await sockets["power"].event("connection_changed")
    assert (changed["connection"], changed["role"]) == (sockets["power"].id, "moderator"), changed
    await sockets["power"].ask("mute", all=True)
    levels["users"][others["power"].user_id] = 0
    alice.put(room_path(room, "state", "m.room.power_levels"), levels).ok()
    assert (await sockets["power"].event("connection_changed"))["role"] == "publisher"
    await refused(sockets["power"].ask("mute", all=True), "forbidden")

    alice.post(room_path(room, "ban"), {"user_id": others["banned"].user_id}).ok()
    others["out"].post("logout").ok()
    done = subprocess.run([program(), "user", "suspend", others["suspended"].user_id, "--data-dir", context.server.folder,
                           "--server-name", "test.example"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for name in ("banned", "out", "suspended"):
        await closed(sockets[name], "unauthorized")
        await sockets[name].close()
        try:
            await CallSocket(context.direct).connect(tickets[name]["session_id"], tickets[name]["token"])
            raise AssertionError(f"{name} came back")
        except Closed as end:
            assert end.code == "unauthorized", (name, end)
    # Who was made one and is one no more comes as what they are, whatever the token says.
    again = await CallSocket(context.direct).connect(tickets["power"]["session_id"], tickets["power"]["token"])
    assert again.greeting["connection"]["role"] == "publisher"
    for each in (again, sockets["power"]):
        await each.close()


@test("who says nothing at first is let go after ten seconds")
async def silence(context):
    socket = await CallSocket(context.direct).open()
    started = time.monotonic()
    try:
        raise AssertionError(await socket.hear(20))
    except Closed as closed:
        assert closed.code == "invalid" and time.monotonic() - started > 9
    await socket.close()


class Crowd:
    """People who come into sessions with sound and picture, and go, with or without a word."""

    SLOTS, SESSIONS = 24, 8

    def __init__(self, app, folder):
        self.app, self.random = app, Random(1)
        self.peers = Peers(build(folder), "127.0.0.1", self.SLOTS, 300)
        self.free, self.here = list(range(self.SLOTS)), []

    async def open(self):
        self.sessions = [self.app.session() for _ in range(self.SESSIONS)]
        self.watchers = [await self.app.join(session, MODERATOR) for session in self.sessions]
        return self

    def figure(self, name):
        text = urllib.request.urlopen(f"http://{self.app.server.settings['metrics_bind']}/metrics", timeout=10).read().decode()
        return next(int(float(line.split()[1])) for line in text.splitlines() if line.startswith(f"martlet_call_{name} "))

    async def come(self, number):
        slot, room = self.free.pop(), number % self.SESSIONS
        call = await self.app.join(self.sessions[room], PUBLISHER)
        others = [stream["id"] for stream in call.greeting["streams"]]
        stream = (await call.ask("publish", stream={"name": "x", "has_audio": True, "has_video": True}))["stream"]["id"]
        described, uses = media_sections("01", "sendonly", (1000 + 2 * slot, 1001 + 2 * slot)), {"0": {"publish": stream}, "1": {"publish": stream}}
        if others:
            described, uses = described + media_sections("23", "recvonly"), uses | {mid: {"subscribe": others[0]} for mid in "23"}
        answer = await call.ask("offer", sdp=self.peers.description(slot, described), sections=uses)
        self.peers.connect(slot, answer["sdp"], is_controlling=True)
        self.peers.say("send", slot, SOUND, PICTURE, 1000 + 2 * slot, 1001 + 2 * slot)
        self.here.append((slot, room, call))
        if number % 10 == 0:
            # It is really sent: of what has not arrived nobody is told.
            while (await self.watchers[room].event("stream_created"))["stream"]["id"] != stream:
                pass

    async def go(self):
        slot, room, call = self.here.pop(self.random.randrange(len(self.here)))
        match self.random.randrange(4):
            case 0: await call.ask("leave")
            case 1: await call.break_off()
            case 2: await self.watchers[room].ask("disconnect", connection=call.id)
            case 3: self.peers.say("crash", slot)
        await call.close()
        self.peers.say("crash", slot)
        self.free.append(slot)

    async def listen(self):
        for watcher in self.watchers:
            await watcher.heard()
            await watcher.say(type="ack", seq=watcher.seq)

    async def play(self, comings):
        """So many come, and all go; what they leave behind once those who may come back have had their time."""
        for number in range(comings):
            await self.come(number)
            while len(self.here) > self.random.randrange(self.SLOTS) or self.here and number == comings - 1:
                await self.go()
            if number % 10 == 0:
                await self.listen()
        end = time.monotonic() + self.watchers[0].greeting["resume_seconds"] + 30
        while left := {name: self.figure(name) for name in ("transports", "tracks", "subscriptions") if self.figure(name) > 0}:
            assert time.monotonic() < end, left
            await asyncio.sleep(1)
            await self.listen()
        while self.figure("sockets") > self.SESSIONS:
            assert time.monotonic() < end, self.figure("sockets")
            await asyncio.sleep(0.1)
        return self.open_files(), self.kilobytes()

    def open_files(self):
        return len(os.listdir(f"/proc/{self.app.server.process.pid}/fd"))

    def kilobytes(self):
        with open(f"/proc/{self.app.server.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    async def close(self):
        for watcher in self.watchers:
            await watcher.close()
        self.peers.end()


# Proves Q16
@test("after 1,000 comings with sound and picture, crashes and goings, the server holds nothing of them, and no more memory")
async def orphans(context):
    server = Server(metrics_bind=f"127.0.0.1:{free_port()}").start()
    with tempfile.TemporaryDirectory(prefix="martlet-crowd-") as folder:
        crowd = await Crowd(App(context, server), folder).open()
        try:
            files, kilobytes = await crowd.play(400)
            files_after, kilobytes_after = await crowd.play(600)
            print(f"          {kilobytes} KB after 400, {kilobytes_after} KB after 1,000; {files_after} open files", flush=True)
            assert files_after <= files + 2, (files, files_after)
            assert kilobytes_after <= 1.05 * kilobytes, (kilobytes, kilobytes_after)
            for session, watcher in zip(crowd.sessions, crowd.watchers):
                probe = await crowd.app.join(session)
                assert [connection["id"] for connection in probe.greeting["connections"]] == [watcher.id]
                await probe.close()
        finally:
            await crowd.close()
            server.close()


@test("aiortc publishes and subscribes through the socket, and goes")
async def aiortc(context):
    app = App(context)
    async with app.call(PUBLISHER, SUBSCRIBER, PUBLISHER) as (_, alice, bob, carol):
        peers = [Peer() for _ in range(3)]
        stream = await peers[0].publish(alice)
        for call, peer in ((bob, peers[1]), (carol, peers[2])):
            assert (await call.event("stream_created"))["stream"]["id"] == stream
            await peer.subscribe(call, stream)
        for peer in peers[1:]:
            await peer.until(video=30, audio=50)
        await alice.ask("unpublish", stream=stream)
        assert (await bob.event("stream_destroyed"))["reason"] == "unpublished"
        await carol.ask("leave")
        assert (await bob.event("connection_destroyed"))["reason"] == "left"
        for peer in peers:
            await peer.close()


# Proves M24
@test("Chromium sees and hears Chromium through the socket, also after both sockets broke; a later one sees what is there")
async def pages(context):
    app = App(context)
    session = app.session()
    async with app.call(PUBLISHER, SUBSCRIBER, session=session) as (_, alice, bob), chromium() as browser:
        publisher, page, late = [await Page.open(browser) for _ in range(3)]
        stream = await publisher.publish(alice, width=1280, height=720)
        assert (await bob.event("stream_created"))["stream"]["id"] == stream
        await page.subscribe(bob, stream)
        await page.until(is_seen(30), "30 frames")
        for call in (alice, bob):
            await call.break_off()
        for call in (alice, bob):
            await call.resume()
        seen = (await page.received())["video"]["frames"]
        await page.until(is_seen(seen + 30), "30 more frames")
        carol = await app.join(session, SUBSCRIBER)
        assert [s["id"] for s in carol.greeting["streams"]] == [stream]
        await late.subscribe(carol, stream)
        await late.until(is_seen(30), "30 frames")
        await carol.close()


# Proves Q2
@test("Chromium sees aiortc and aiortc Chromium in one session, each publishing on one connection and subscribing on another")
async def mixed(context):
    app = App(context)
    session = app.session()
    async with app.call(PUBLISHER, PUBLISHER, SUBSCRIBER, SUBSCRIBER, session=session) as (_, alice, bob, alices, bobs), chromium() as browser:
        sender, watcher = [await Page.open(browser) for _ in range(2)]
        peer, viewer = Peer(), Peer()
        one, other = await sender.publish(alice), await peer.publish(bob)
        for call in (alices, bobs):
            assert {(await call.event("stream_created"))["stream"]["id"] for _ in range(2)} == {one, other}
        await watcher.subscribe(alices, other)
        await viewer.subscribe(bobs, one)
        await watcher.until(is_seen(30), "30 frames")
        await viewer.until(video=30, audio=50)
        await peer.close()
        await viewer.close()


# Proves A12
@test("two pages publish and get each other on one peer connection each, and go on after ICE restarts")
async def both_ways(context):
    app = App(context)
    async with app.call(PUBLISHER, PUBLISHER) as (_, alice, bob), chromium() as browser:
        pages = [(await Page.open(browser), alice), (await Page.open(browser), bob)]
        own = [await page.publish(call) for page, call in pages]
        for call, other in zip((alice, bob), reversed(own)):
            assert (await call.event("stream_created"))["stream"]["id"] == other
        for (page, call), mine, other in zip(pages, own, reversed(own)):
            await page.offer_again(call, mine, other, more=True)
        for page, _ in pages:
            await page.until(is_seen(30), "30 frames")
        for (page, call), mine, other in zip(pages, own, reversed(own)):
            await page.offer_again(call, mine, other)
        for page, _ in pages:
            seen = (await page.received())["video"]["frames"]
            await page.until(is_seen(seen + 60), "60 more frames after an ICE restart")
        await alice.ask("prefer", stream=own[1], video=False)
        # A busy machine may have taken the picture away for a moment before.
        while (await alice.event("video_disabled"))["reason"] != "subscriber":
            pass


# Proves M17
@test("people of one session at two workers see and hear each other both ways, and go on after ICE restarts and a mute")
async def workers(context):
    metrics = free_port()
    # Each worker any free port; one transport fills the home worker.
    server = Server(calls_bind="127.0.0.1:0", calls_workers="2", calls_home_transports="1", metrics_bind=f"127.0.0.1:{metrics}").start()
    try:
        app = App(context, server)
        async with app.call(PUBLISHER, PUBLISHER, SUBSCRIBER, PUBLISHER) as (session, alice, bob, carol, dave), chromium() as browser:
            pages = [(await Page.open(browser), alice), (await Page.open(browser), bob)]
            own = [await page.publish(call) for page, call in pages]
            ports = [await page.page.evaluate(PORT) for page, _ in pages]
            assert len(set(ports)) == 2, ports
            for (page, call), mine, other in zip(pages, own, reversed(own)):
                while (await call.event("stream_created"))["stream"]["id"] != other:
                    pass
                await page.offer_again(call, mine, other, more=True)
            for page, _ in pages:
                await page.until(is_seen(30), "30 frames")
            for (page, call), mine, other in zip(pages, own, reversed(own)):
                await page.offer_again(call, mine, other)
            assert [await page.page.evaluate(PORT) for page, _ in pages] == ports
            await alice.ask("update", stream=own[0], has_audio=False)
            await alice.ask("update", stream=own[0], has_audio=True)
            for page, _ in pages:
                seen = await page.received()
                await page.until(lambda now: all(now[kind]["packets"] > seen[kind]["packets"] + 60 for kind in ("audio", "video")), "60 more packets")
            # Another implementation, at the worker that has least to do.
            viewer, peer = Peer(), Peer()
            await viewer.subscribe(carol, own[0])
            await viewer.until(video=30, audio=50)
            stream = await peer.publish(dave)
            while (await alice.event("stream_created"))["stream"]["id"] != stream:
                pass
            late = await Page.open(browser)
            erin = await app.join(session, SUBSCRIBER)
            await late.subscribe(erin, stream)
            await late.until(is_seen(30), "30 frames")
            figures = urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics").read().decode()
            found = dict(line.split(" ") for line in figures.splitlines() if line.startswith("martlet_call_"))
            assert float(found["martlet_call_tracks"]) == 6 and float(found["martlet_call_transports"]) == 5, found
            assert float(found["martlet_call_dropped_packets_total"]) == 0, found
            for each in (viewer, peer, erin):
                await each.close()
    finally:
        server.close()


@test("a server that stops tells its clients to come back")
async def stopping(_):
    from server import Server
    server = Server().start()
    try:
        class Context:
            direct = server.base
            own_server = staticmethod(lambda: None)
        Context.server = server
        app = App(Context)
        async with app.call(PUBLISHER) as (_, alice):
            await in_thread(server.stop)
            try:
                while True:
                    await alice.hear()
            except Closed as closed:
                assert closed.code == "shutting_down" and closed.args[0]["retry"] is True, closed
    finally:
        server.close()
