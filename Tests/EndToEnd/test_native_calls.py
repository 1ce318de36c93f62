"""`CallClient`, calls from Swift: programs of GStreamer (`Tests/CallPeer`, `Examples/NativeCall`) with each other and with pages of Chromium."""
import asyncio
import contextlib
import json
import os
import subprocess
import tempfile
import wave
from array import array

from aiohttp import web

from harness import PATIENCE, NotRun, test
from lossy_link import LossyLink
from server import newest_build
from test_calls import App, MODERATOR, PUBLISHER, SUBSCRIBER, in_thread
from test_calls_page import button, heard, sees, stage

# RFC 7675 §5.1, and what it takes to notice.
CONSENT_SECONDS = 33
# Answers to commands; all else that a peer says are events.
ANSWERS = ("done", "refused", "gauge")
# Luma, blue and red chroma of the test pattern's bars, and of `Colour`.
BARS = [[180, 128, 128], [162, 44, 142], [131, 156, 44], [112, 72, 58], [84, 184, 198], [65, 100, 212], [35, 212, 114], [16, 128, 128]]
COLOUR = [90, 200, 60]
# Red, green and blue in the middle of each eighth of a picture, near its lower edge.
PIXELS = """selector => {
  const video = document.querySelector(selector), canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const paint = canvas.getContext('2d', { willReadFrequently: true });
  paint.drawImage(video, 0, 0);
  return [0, 1, 2, 3, 4, 5, 6, 7].map(i => [...paint.getImageData((2 * i + 1) * canvas.width / 16, canvas.height * 31 / 32, 1, 1).data].slice(0, 3));
}"""
# The pitch in which a stream is loudest, and how loud that is, in Hz and dB.
PITCH = """async selector => {
  const context = new AudioContext(), listener = context.createAnalyser();
  await context.resume();
  listener.fftSize = 8192;
  context.createMediaStreamSource(document.querySelector(selector).srcObject).connect(listener);
  globalThis.pitch = () => {
    const levels = new Float32Array(listener.frequencyBinCount);
    listener.getFloatFrequencyData(levels);
    const best = levels.reduce((best, level, i) => level > levels[best] ? i : best, 0);
    return [best * context.sampleRate / listener.fftSize, levels[best]];
  };
}"""


class Native:
    """A `call-peer`: commands go in, answers and events come out."""

    def __init__(self, process):
        self.process, self.events, self.answers = process, [], asyncio.Queue()
        self.changed = asyncio.Condition()
        self.connected = asyncio.get_running_loop().create_future()
        self.reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, url, session, token):
        program = newest_build("call-peer")
        if not program:
            raise NotRun("not built: swift build --product call-peer")
        return cls(await asyncio.create_subprocess_exec(program, url, session, token, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    async def _read(self):
        async for line in self.process.stdout:
            said = json.loads(line)
            async with self.changed:
                if not self.connected.done() and said["is"] in ("connected", "refused"):
                    self.connected.set_result(said)
                elif said["is"] in ANSWERS:
                    self.answers.put_nowait(said)
                else:
                    self.events.append(said)
                self.changed.notify_all()
        async with self.changed:
            self.events.append({"is": "end"})
            self.changed.notify_all()

    async def ask(self, *words, may_fail=False):
        self.process.stdin.write((" ".join(words) + "\n").encode())
        answer = await asyncio.wait_for(self.answers.get(), PATIENCE)
        assert may_fail or answer["is"] != "refused", (words, answer)
        return answer

    async def event(self, kind, **members):
        """Waits for one like that, and takes it and what came before away."""
        def place():
            return next((i for i, e in enumerate(self.events) if e["is"] == kind and all(e[n] == v for n, v in members.items())), None)
        async with self.changed:
            try:
                await asyncio.wait_for(self.changed.wait_for(lambda: place() is not None), PATIENCE)
            except asyncio.TimeoutError:
                raise AssertionError(f"no {kind} {members} in {self.events}") from None
            i = place()
            found, self.events = self.events[i], self.events[i + 1:]
            return found

    async def gauge(self, name, what, seconds=PATIENCE):
        """Reads until it is as it should be."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            reading = await self.ask("gauge", name)
            if what(reading):
                return reading
            assert asyncio.get_running_loop().time() < end, reading
            await asyncio.sleep(0.1)

    async def more(self, name, **counts):
        """So many more frames or instants than by now."""
        before = await self.ask("gauge", name)
        return await self.gauge(name, lambda now: all(now[key] >= before[key] + count for key, count in counts.items()))

    async def rests(self, name, key):
        """Nothing more of it comes: what was under way is through when it stands still for a second."""
        last = [-1]

        async def stands():
            for _ in range(4):
                count = (await self.ask("gauge", name))[key]
                if count != last[0]:
                    last[0] = count
                    return False
                await asyncio.sleep(0.25)
            return True
        async with asyncio.timeout(PATIENCE):
            while not await stands():
                pass

    async def leave(self):
        if self.process.returncode is None:
            self.process.stdin.write(b"leave\n")
            await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self.reading
        return self.process.returncode


@contextlib.asynccontextmanager
async def natives(app, session, *roles, base=None):
    """Peers in a session, which leave at the end without a fault."""
    there = []
    try:
        for role in roles:
            there.append(await Native.start(base or app.base, session.session_id, session.generate_token(role=role, data="swift")))
            said = await asyncio.wait_for(there[-1].connected, PATIENCE)
            assert said["is"] == "connected", said
            there[-1].id = said["id"]
        yield there if len(roles) > 1 else there[0]
        for native in there:
            assert await native.leave() == 0
    finally:
        for native in there:
            if native.process.returncode is None:
                native.process.kill()
                await native.process.wait()


def is_like(got, wanted, by=12):
    """Codecs change a colour a little."""
    return all(abs(g - w) <= by for g, w in zip(got, wanted, strict=True))


def rgb(y, u, v):
    """ITU-R BT.601, which Chromium takes pictures of this size for."""
    y, u, v = 1.164 * (y - 16), u - 128, v - 128
    return [min(255, max(0, round(c))) for c in (y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u)]


# Proves A29, L11, L15, Q3
@test("a program in Swift and a page see and hear each other: the bars, the tone, the camera, what goes into a file")
async def _(test):
    with tempfile.TemporaryDirectory() as folder:
        async with stage(test, "alice") as (here, alice):
            await here.join(alice)
            async with natives(here.app, here.session, PUBLISHER) as native:
                await native.event("streamCreated", name="alice")
                await native.ask("publish", "bars", "test")
                await sees(alice)
                # Now and then the white band is before the bars.
                async with asyncio.timeout(PATIENCE):
                    while not all(is_like(got, rgb(*bar), 24) for got, bar in zip(await alice.page.evaluate(PIXELS, "#other video"), BARS)):
                        await asyncio.sleep(0.1)
                await alice.page.evaluate(PITCH, "#other video")
                await alice.until("() => { const [hertz, level] = pitch(); return level > -50 && Math.abs(hertz - 440) < 8; }")
                await native.ask("subscribe", "alice", os.path.join(folder, "tap.wav"))
                reading = await native.gauge("alice", lambda now: now["moves"] >= 30 and now["instants"] >= 96_000 and now["loudness"] > 0.001)
                assert reading["width"] >= 160 and reading["disorders"] == 0, reading
                assert any(not is_like(bar[1:], [128, 128], 3) for bar in reading["bars"]), "Chromium's made-up camera has colours"
                await native.ask("close")
                with wave.open(os.path.join(folder, "tap.wav")) as tap:
                    assert (tap.getframerate(), tap.getnchannels(), tap.getsampwidth()) == (48_000, 2, 2)
                    assert tap.getnframes() >= 96_000
                    assert max(array("h", tap.readframes(tap.getnframes()))) > 500
            await alice.until("() => call.connections.length === 0 && call.streams.length === 0")


# Proves A29, L15, L17
@test("two programs in Swift: colours of an own source arrive, streams come and go on one connection, a file plays to its end")
async def _(test):
    with tempfile.TemporaryDirectory() as folder:
        film = os.path.join(folder, "film.webm")
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=c=red:size=160x120:rate=25:duration=12", "-f", "lavfi", "-i",
                        "sine=frequency=440:duration=12", "-c:v", "libvpx", "-c:a", "libopus", film], check=True, stdin=subprocess.DEVNULL)
        app = App(test)
        session = app.session()
        async with natives(app, session, PUBLISHER, PUBLISHER) as (one, two):
            began = asyncio.get_running_loop().time()
            await one.ask("publish", "own", "colour")
            await two.ask("publish", "bars", "test")
            await two.event("streamCreated", name="own", type="custom")
            await one.event("streamCreated", name="bars")
            await two.ask("subscribe", "own")
            reading = await two.more("own", frames=20, moves=15)
            assert (reading["width"], reading["height"]) == (320, 240) and reading["instants"] == 0, reading
            assert all(is_like(bar, COLOUR, 6) for bar in reading["bars"]), reading
            for _ in range(3):
                await one.ask("subscribe", "bars")
                reading = await one.gauge("bars", lambda now: now["frames"] >= 10 and now["tone"] > 0.9)
                assert all(is_like(got[1:], bar[1:], 6) for got, bar in zip(reading["bars"], BARS)), reading
                await one.ask("unsubscribe", "bars")
                await one.rests("bars", "frames")
            # Longer than a router waits for a sign of life.
            while asyncio.get_running_loop().time() < began + CONSENT_SECONDS:
                await two.more("own", frames=10)
            assert not [e for e in two.events if e["is"] == "streamDestroyed"], two.events
            await one.ask("unpublish", "own")
            await two.event("streamDestroyed", name="own")
            await one.ask("publish", "film", "file", film)
            await two.event("streamCreated", name="film")
            await two.ask("subscribe", "film")
            reading = await two.gauge("film", lambda now: now["frames"] >= 10 and now["tone"] > 0.9)
            assert all(is_like(bar, [81, 90, 240], 6) for bar in reading["bars"]), reading
            await two.event("streamDestroyed", name="film")
            assert (await one.ask("publish", "none", "camera", "/dev/none", may_fail=True))["code"] == "media_failed"


@test("a program in Swift is muted, mutes, stops hearing and seeing; a moderator's mute reaches it")
async def _(test):
    async with stage(test, "alice") as (here, alice):
        await here.join(alice, MODERATOR)
        async with natives(here.app, here.session, PUBLISHER) as native:
            await native.event("streamCreated", name="alice")
            await native.ask("publish", "bars", "test")
            await native.ask("subscribe", "alice")
            await sees(alice)
            await native.more("alice", frames=5, instants=24_000)
            await button(alice, "Mute").click()
            await native.event("streamChanged", name="alice", audio=False)
            await native.rests("alice", "instants")
            await button(alice, "Unmute").click()
            await native.event("streamChanged", name="alice", audio=True)
            await native.more("alice", instants=24_000)
            for word, key in (("hear", "instants"), ("see", "frames")):
                await native.ask(word, "alice", "off")
                await native.rests("alice", key)
                await native.ask(word, "alice", "on")
                await native.more("alice", **{key: 5})
            await native.ask("audio", "bars", "off")
            await alice.until("() => call.streams[0].hasAudio === false && !call.streams[0].muted")
            await native.ask("audio", "bars", "on")
            await alice.until("() => call.streams[0].hasAudio")
            await native.ask("video", "bars", "off")
            await alice.until("() => call.streams[0].hasVideo === false")
            await native.ask("video", "bars", "on")
            await sees(alice)
            native.events.clear()
            await alice.page.evaluate("call.forceMute(call.streams[0])")
            await native.event("publication", muted=True, audio=False)
            await alice.until("() => call.streams[0].muted")


# Proves L19
@test("signals of a program in Swift reach one or all, and its leaving leaves nothing behind")
async def _(test):
    app = App(test)
    session = app.session()
    async with app.call(SUBSCRIBER, session=session) as (_, watcher):
        async with natives(app, session, MODERATOR, PUBLISHER) as (one, two):
            # Until the other has heard of it.
            while (await one.ask("signal", "chat", "for-two", two.id, may_fail=True)).get("code") == "not_found":
                await asyncio.sleep(0.05)
            assert (await one.ask("signal", "chat", "for-nobody", "nobody", may_fail=True))["code"] == "not_found"
            await one.ask("signal", "chat", "ünd-<all>")
            assert (await two.event("signal"))["data"] == "for-two"
            for each in (one, two):
                told = await each.event("signal")
                assert (told["kind"], told["data"], told["from"]) == ("chat", "ünd-<all>", one.id), told
            assert [e["data"] for e in await watcher.heard() if e["type"] == "signal"] == ["ünd-<all>"]
            assert (await two.ask("mute", "nobody", may_fail=True))["code"] == "not_found"
            assert (await two.ask("signal", "a.b", "data", may_fail=True))["code"] == "invalid"
            assert (await two.ask("signal", "a", "d" * 8193, may_fail=True))["code"] == "too_large"
            await two.ask("publish", "bars", "test")
            await one.event("streamCreated", name="bars")
            assert (await two.ask("mute", "bars", may_fail=True))["code"] == "not_found"
            await one.ask("subscribe", "bars")
            await one.more("bars", frames=5)
            assert (await in_thread(app.sdk.list_streams, session.session_id)).count == 1
        gone = [await watcher.event("connection_destroyed") for _ in range(2)]
        assert {(e["connection"], e["reason"]) for e in gone} == {(one.id, "left"), (two.id, "left")}, gone
        assert (await in_thread(app.sdk.list_streams, session.session_id)).count == 0
        newcomer = await app.join(session)
        assert [c["id"] for c in newcomer.greeting["connections"]] == [watcher.id] and newcomer.greeting["streams"] == []
        await newcomer.close()


@test("a token that lets nobody in, and an address of no server, are said in words; a role that may not publish says so")
async def _(test):
    app = App(test)
    session = app.session()
    for url, token, code in ((app.base, "x" + session.generate_token(), "unauthorized"), ("ftp://nowhere.example", "t", "invalid"),
                             (app.base, app.session().generate_token(), "unauthorized")):
        native = await Native.start(url, session.session_id, token)
        said = await asyncio.wait_for(native.connected, PATIENCE)
        assert said["is"] == "refused" and said["code"] == code and len(said["text"]) > 20, said
        assert await native.leave() == 0
    async with natives(app, session, SUBSCRIBER) as native:
        assert (await native.ask("publish", "bars", "test", may_fail=True))["code"] == "forbidden"


@test("a line that is cut again and again loses no signal of a program in Swift, and what it publishes goes on")
async def _(test):
    app = App(test)
    session = app.session()
    link = await LossyLink(test.direct).start()
    try:
        async with natives(app, session, PUBLISHER) as watcher, natives(app, session, PUBLISHER, base=link.base) as native:
            await native.ask("publish", "bars", "test")
            await watcher.event("streamCreated", name="bars")
            await watcher.ask("subscribe", "bars")
            await watcher.more("bars", frames=5)
            for cut in range(3):
                link.lose("cut", None)
                await watcher.ask("signal", "w", f"w{cut}")
                await native.ask("signal", "n", f"n{cut}")
                await native.event("reconnected")
                for each in (watcher, native):
                    assert sorted([(await each.event("signal"))["data"] for _ in range(2)]) == [f"n{cut}", f"w{cut}"]
                await watcher.more("bars", frames=5)
            assert not [e for e in watcher.events if e["is"] == "streamDestroyed"], watcher.events
    finally:
        await link.close()


GREETING = {"type": "connected", "connection": {"id": "me", "data": "", "role": "moderator"}, "key": "k", "session": "s", "mode": "routed", "connections": [],
            "streams": [{"id": "s1", "connection": "a", "name": "cam", "has_audio": True, "has_video": True}]}
# What a hostile server says once somebody is in.
NONSENSE = ["", "{", "[]", "null", '{"type":7}', '{"type":"done"}', '{"seq":-1,"type":"done","id":1}', '{"seq":9223372036854775807,"type":"signal"}',
            '{"seq":1e400,"type":"signal","data":"x"}', '{"seq":1,"type":"stream_created","stream":{"id":"x","connection":"a","width":-9223372036854775808}}',
            '{"seq":1,"type":"' + "x" * 70_000 + '"}', '{"seq":1,"type":"transport","state":"ended"}', '{"seq":1,"type":"muted","stream":"none"}', "[" * 60_000,
            '{"seq":1,"type":"relay","from":"a","data":"{}"}', '{"type":"resumed","handled":-1}', '{"type":"connected"}', '{"type":"closed"}']
SDPS = ["", "x", "v=0\r\n", "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n", "\x00", "m=" * 20_000,
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE audio0 audio0\r\n" + "m=audio 0 UDP/TLS/RTP/SAVPF 111\r\na=mid:audio0\r\n" * 40]


async def welcomed(url):
    """A program that has been let in: what comes before that could refuse it."""
    native = await Native.start(url, "s", "t")
    said = await asyncio.wait_for(native.connected, PATIENCE)
    assert said["is"] == "connected", said
    return native


@test("nothing that a hostile server says brings a program in Swift down")
async def _(test):
    sdps, sockets = iter([]), []

    async def serve(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        sockets.append(socket)
        seq = 0
        async for message in socket:
            asked = json.loads(message.data)
            if asked["type"] in ("connect", "resume"):
                await socket.send_str(json.dumps(GREETING))
            elif "id" in asked:
                seq += 1
                answer = {"seq": seq, "type": "done", "id": asked["id"], "sdp": next(sdps, "x"), "stream": {"id": "own", "connection": "me"}}
                await socket.send_str(json.dumps(answer))
        return socket

    runner = web.AppRunner(app := web.Application())
    app.router.add_get("/_martlet/call/v1/socket", serve)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    try:
        for nonsense in [*NONSENSE, b"\xff"]:
            native = await welcomed(url)
            await (sockets[-1].send_bytes(nonsense) if isinstance(nonsense, bytes) else sockets[-1].send_str(nonsense))
            assert await native.leave() == 0, nonsense
        for sdp in SDPS:
            sdps = iter([sdp])
            native = await welcomed(url)
            await native.ask("publish", "bars", "test", may_fail=True)
            await native.ask("subscribe", "cam", may_fail=True)
            # After three descriptions that make no sense the call ends by itself.
            assert (await native.event("closed"))["code"] == "media_failed", sdp
            assert await native.leave() == 0, sdp
    finally:
        await runner.cleanup()


# Proves A29, B11, L16, L17
@test("the example sends noise, and sees everyone in grey")
async def _(test):
    program = newest_build("NativeCall")
    if not program:
        raise NotRun("not built: swift build --product NativeCall")
    async with stage(test, "alice") as (here, alice):
        with tempfile.TemporaryDirectory() as folder:
            await here.join(alice)
            token = here.session.generate_token(role=PUBLISHER, data="swift")
            tape = os.path.join(folder, "tape.wav")
            example = await asyncio.create_subprocess_exec(program, here.app.base, here.session.session_id, token, tape, stdout=subprocess.PIPE)
            try:
                await sees(alice)
                pixels = await alice.page.evaluate(PIXELS, "#other video")
                assert all(max(pixel) - min(pixel) <= 12 for pixel in pixels), pixels
                # 60 pictures of the colourful camera, each without a colour, at times that grow.
                lines = [(await asyncio.wait_for(example.stdout.readline(), PATIENCE)).decode() for _ in range(2)]
                assert all(line.startswith("alice: ") and "chroma [128]" in line for line in lines), lines
                times = [int(line.split(" at ")[1].split()[0]) for line in lines]
                assert 300_000 < times[1] - times[0] < 20_000_000, times
                assert os.path.getsize(tape) > 10_000
                await alice.page.evaluate("call.signal({ kind: 'chat', data: 'Hello Swift' })")
                while b"chat: Hello Swift" not in (line := await asyncio.wait_for(example.stdout.readline(), PATIENCE)):
                    assert line
            finally:
                example.kill()
                await example.wait()
