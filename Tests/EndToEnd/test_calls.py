"""Calls: the socket raw, OpenTok's server SDK, tokens of rooms, and media between real peers."""
import asyncio
import contextlib
import json
import subprocess
import time
import urllib.request

import jwt
import opentok
from opentok.exceptions import AuthError, ForceDisconnectError, OpenTokException, RequestError

from call_client import CallSocket, Closed, Refused
from call_peers import Page, Peer
from client import User, fresh, room_path
from harness import test
from server import program
from test_router import chromium, is_seen

NOBODY = "00000000-0000-4000-8000-000000000000"


class App:
    """An application with an API key, made as its operator does."""

    def __init__(self, context):
        context.own_server()
        self.base, self.server = context.direct, context.server
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


PUBLISHER, MODERATOR, SUBSCRIBER = opentok.Roles.publisher, opentok.Roles.moderator, opentok.Roles.subscriber


async def in_thread(function, *arguments, **members):
    """The SDK waits for its answers."""
    return await asyncio.to_thread(function, *arguments, **members)


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


@test("OpenTok's SDK for Python does all we serve, by its API address alone")
async def sdk(context):
    app = App(context)
    async with app.call(PUBLISHER, MODERATOR, SUBSCRIBER) as (session, alice, bob, carol):
        streams = await in_thread(app.sdk.list_streams, session.session_id)
        assert streams.count == 0
        alice_peer = Peer()
        stream = await alice_peer.publish(alice, name="Alice's", video_type="screen")
        await bob.event("stream_created", 20)
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
        raises(OpenTokException, lambda: app.sdk.create_session(media_mode=opentok.MediaModes.routed, archive_mode=opentok.ArchiveModes.always))
        await alice.ask("signal")


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
            ("POST", "/session/create", b"p2p.preference=maybe", 400), ("POST", "/session/create", b"archiveMode=always", 400),
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
    for socket in sockets:
        await socket.close()


@test("aiortc publishes and subscribes through the socket, and goes")
async def aiortc(context):
    app = App(context)
    async with app.call(PUBLISHER, SUBSCRIBER, PUBLISHER) as (_, alice, bob, carol):
        peers = [Peer() for _ in range(3)]
        stream = await peers[0].publish(alice)
        for call, peer in ((bob, peers[1]), (carol, peers[2])):
            assert (await call.event("stream_created", 20))["stream"]["id"] == stream
            await peer.subscribe(call, stream)
        for peer in peers[1:]:
            await peer.until(video=30, audio=50)
        await alice.ask("unpublish", stream=stream)
        assert (await bob.event("stream_destroyed"))["reason"] == "unpublished"
        await carol.ask("leave")
        assert (await bob.event("connection_destroyed"))["reason"] == "left"
        for peer in peers:
            await peer.close()


@test("Chromium sees and hears Chromium through the socket, also after both sockets broke; a later one sees what is there")
async def pages(context):
    app = App(context)
    session = app.session()
    async with app.call(PUBLISHER, SUBSCRIBER, session=session) as (_, alice, bob), chromium() as browser:
        publisher, page, late = [await Page.open(browser) for _ in range(3)]
        stream = await publisher.publish(alice, width=1280, height=720)
        assert (await bob.event("stream_created", 20))["stream"]["id"] == stream
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


@test("Chromium sees aiortc and aiortc Chromium in one session, each publishing on one connection and subscribing on another")
async def mixed(context):
    app = App(context)
    session = app.session()
    async with app.call(PUBLISHER, PUBLISHER, SUBSCRIBER, SUBSCRIBER, session=session) as (_, alice, bob, alices, bobs), chromium() as browser:
        sender, watcher = [await Page.open(browser) for _ in range(2)]
        peer, viewer = Peer(), Peer()
        one, other = await sender.publish(alice), await peer.publish(bob)
        for call in (alices, bobs):
            assert {(await call.event("stream_created", 20))["stream"]["id"] for _ in range(2)} == {one, other}
        await watcher.subscribe(alices, other)
        await viewer.subscribe(bobs, one)
        await watcher.until(is_seen(30), "30 frames")
        await viewer.until(video=30, audio=50)
        await peer.close()
        await viewer.close()


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
