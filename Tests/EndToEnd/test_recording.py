"""Recordings of sessions: OpenTok's SDK starts and stops them, real peers publish, FFmpeg's libraries read what came of it."""
import asyncio
import contextlib
import io
import json
import os
import time
import urllib.error
import urllib.request

import av
import opentok
from opentok.exceptions import ArchiveError, AuthError, NotFoundError, RequestError

from call_client import Refused
from call_peers import Page, Peer
from harness import PATIENCE, test
from server import Server
from test_calls import MODERATOR, PUBLISHER, SUBSCRIBER, App, in_thread
from test_router import chromium

INDIVIDUAL = opentok.OutputModes.individual


def fetch(url, status=200, **headers):
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == status, answer.status
            return answer.read()
    except urllib.error.HTTPError as error:
        assert error.code == status, (url, error.code, error.read())
        return b""


def in_ranges(url, size):
    """The file in pieces, as a player gets it."""
    step = max(1, size // 3)
    pieces = [fetch(url, 206, Range=f"bytes={start}-{min(start + step, size) - 1}") for start in range(0, size, step)]
    return b"".join(pieces)


def decoded(content):
    """Of each kind: frames, the time of the last, sizes of pictures; and what the file says it lasts."""
    found = {}
    with av.open(io.BytesIO(content)) as file:
        duration = file.duration / 1e6 if file.duration else None
        for frame in file.decode(*[s.index for s in file.streams]):
            kind = "video" if isinstance(frame, av.VideoFrame) else "audio"
            one = found.setdefault(kind, {"frames": 0, "end": 0.0, "sizes": set()})
            one["frames"] += 1
            one["end"] = max(one["end"], frame.time)
            if kind == "video":
                one["sizes"].add((frame.width, frame.height))
    return found, duration


def about(actual, wanted, tolerance):
    assert actual is not None and abs(actual - wanted) <= tolerance, (actual, wanted)


async def until_available(app, archive, seconds=PATIENCE):
    """The archive's JSON once its files are there."""
    for _ in range(10 * seconds):
        found = await in_thread(archive_json, app, archive)
        if found["status"] in ("available", "failed"):
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(found)


def archive_json(app, archive):
    url = f"{app.base}/_martlet/call/v2/project/{app.key}/archive/{archive}"
    return json.loads(fetch(url, **app.sdk.get_headers()))


def folder_of(server, archive):
    return os.path.join(server.folder, "recordings", archive)


def open_recordings(server):
    """Descriptors of recorded files that the server holds."""
    base = f"/proc/{server.process.pid}/fd"
    links = [os.path.join(base, name) for name in os.listdir(base)]
    return [os.readlink(link) for link in links if os.path.exists(link) and "/recordings/" in os.readlink(link)]


# Proves A26, A28, L14, M28, M49, Q12
@test("OpenTok's SDK records a session: start, get, list, stop, download in ranges, delete")
async def lifetime(context):
    app = App(context)
    async with app.call(MODERATOR, SUBSCRIBER) as (session, alice, bob):
        peer = Peer()
        stream = await peer.publish(alice, name="Alice's")
        await bob.event("stream_created")
        archive = await in_thread(app.sdk.start_archive, session.session_id, name="a talk", output_mode=INDIVIDUAL)
        assert (archive.status, archive.name, archive.session_id) == ("started", "a talk", session.session_id), archive
        for call in (alice, bob):
            said = await call.event("recording_started")
            assert (said["archive"], said["name"]) == (archive.id, "a talk"), said
        late = await app.join(session)
        assert late.greeting["recording"] == archive.id
        await late.close()
        for wrong, error in ((lambda: app.sdk.start_archive(session.session_id), ArchiveError), (lambda: app.sdk.delete_archive(archive.id), RequestError)):
            try:
                await in_thread(wrong)
                raise AssertionError("was done")
            except error:
                pass
        assert (await in_thread(app.sdk.get_archive, archive.id)).url is None
        await asyncio.sleep(5)
        stopped = await in_thread(app.sdk.stop_archive, archive.id)
        assert stopped.status == "stopped", stopped.status
        for call in (alice, bob):
            assert (await call.event("recording_stopped"))["archive"] == archive.id
        found = await until_available(app, archive.id)
        assert found["status"] == "available" and not open_recordings(app.server), found
        assert await in_thread(refused_stop, app, archive.id) == "Archive is not in started state"
        listed = await in_thread(app.sdk.get_archives)
        assert [(a.id, a.status, a.size) for a in listed] == [(archive.id, "available", found["size"])] and listed.count == 1
        assert not (await in_thread(app.sdk.get_archives, session_id=app.session().session_id)).items
        assert not (await in_thread(app.sdk.get_archives, 1)).items

        file, = found["files"]
        assert (file["stream"], file["stream_name"], file["audio"], file["video"]) == (stream, "Alice's", "opus", "vp8"), file
        assert found["url"].startswith(app.base) and app.secret not in found["url"]
        content = in_ranges(found["url"], file["size"])
        assert len(content) == file["size"] and content == fetch(file["url"])
        assert content == fetch(f"{app.base}/_martlet/call/v2/project/{app.key}/archive/{archive.id}/file/{file['name']}", **app.sdk.get_headers())
        kinds, duration = decoded(content)
        about(duration, 5, 1)
        about(file["duration_ms"] / 1000, duration, 0.05)
        about(found["duration"], 5, 1)
        about(kinds["audio"]["frames"], 50 * duration, 15)
        # aiortc's picture is 30 times a second.
        about(kinds["video"]["frames"], 30 * duration, 20)
        about(kinds["video"]["end"], kinds["audio"]["end"], 0.2)
        assert kinds["video"]["sizes"] == {(640, 480)}, kinds

        signed = found["url"]
        for bad in (signed[:-1], signed + "0", signed.replace("expires=", "expires=1"), signed.split("?")[0], signed.replace("-1.webm", "-2.webm")):
            fetch(bad, 403)
        fetch(signed.split("?")[0].rsplit("/", 1)[0] + "/..%2Fmartlet.db", 404, **app.sdk.get_headers())
        await in_thread(app.sdk.delete_archive, archive.id)
        fetch(signed, 404)
        assert not os.path.exists(folder_of(app.server, archive.id)) and not open_recordings(app.server)
        for gone in (app.sdk.get_archive, app.sdk.stop_archive, app.sdk.delete_archive):
            try:
                await in_thread(gone, archive.id)
                raise AssertionError("was there")
            except NotFoundError:
                pass
        await peer.close()


def refused_stop(app, archive):
    try:
        app.sdk.stop_archive(archive)
    except ArchiveError as error:
        return str(error)


# Proves A26
@test("what cannot be recorded is refused as OpenTok does, and another key sees nothing")
async def refusals(context):
    app, other = App(context), App(context)
    relayed = app.session(opentok.MediaModes.relayed)
    empty = app.session()
    start = f"{app.base}/_martlet/call/v2/project/{app.key}/archive"

    def post(status, **body):
        request = urllib.request.Request(start, json.dumps(body).encode(), app.sdk.get_headers() | {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=10)
            raise AssertionError("was done")
        except urllib.error.HTTPError as error:
            assert (error.code, json.loads(error.read())["code"]) == (status, status), (body, error.code)

    async with app.call(MODERATOR, PUBLISHER, session=empty) as (_, moderator, publisher):
        valid = {"sessionId": empty.session_id}
        for status, body in ((400, {}), (404, {"sessionId": other.session().session_id}), (400, {**valid, "outputMode": "both"}),
                             (400, {**valid, "hasAudio": False, "hasVideo": False}), (400, {**valid, "resolution": "1x1"}),
                             (400, {**valid, "outputMode": "individual", "resolution": "640x480"}), (400, {**valid, "name": "x" * 1001}),
                             (409, {"sessionId": relayed.session_id}), (400, {"sessionId": app.session().session_id})):
            await in_thread(post, status, **body)
        try:
            await publisher.ask("record", action="start")
            raise AssertionError("was done")
        except Refused as refused:
            assert refused.code == "forbidden"
        archive = (await moderator.ask("record", action="start"))["archive"]
        for seen in (other.sdk.get_archive, other.sdk.stop_archive, other.sdk.delete_archive):
            try:
                await in_thread(seen, archive)
                raise AssertionError("was there")
            except NotFoundError:
                pass
        assert not (await in_thread(other.sdk.get_archives)).items
        try:
            await in_thread(opentok.Client(app.key, other.secret, api_url=app.base + "/_martlet/call").get_archive, archive)
            raise AssertionError("was there")
        except AuthError:
            pass
        assert (await moderator.ask("record", action="stop"))["archive"] == archive
        # Nobody published.
        found = await until_available(app, archive)
        assert (found["status"], found["reason"], found["url"]) == ("failed", "Nothing was published.", None), found
        await in_thread(app.sdk.delete_archive, archive)


@contextlib.contextmanager
def own_server(context, name, **settings):
    """(an application with a key there, its server): one that nobody else talks to."""
    app = App(context)
    server = Server(rate_limits="false", **settings).start()
    try:
        app.base, app.server = server.base, server
        answer = app.operate("add", name, "--json")
        app.key, app.secret = answer["key"], answer["secret"]
        app.sdk = opentok.Client(app.key, app.secret, api_url=app.base + "/_martlet/call")
        yield app, server
    finally:
        server.close()


# Proves M45
@test("a server that is killed leaves files that play, and finishes the recording when it comes back")
async def killed(context):
    with own_server(context, "killed") as (app, server):
        session = app.session()
        alice = await app.join(session, MODERATOR)
        peer = Peer()
        await peer.publish(alice)
        archive = (await alice.ask("record", action="start"))["archive"]
        began = time.monotonic()
        await asyncio.sleep(6)
        lasted = time.monotonic() - began
        server.kill()
        await peer.close()
        await alice.close()
        name, = [n for n in os.listdir(folder_of(server, archive)) if n.endswith(".webm")]
        with open(os.path.join(folder_of(server, archive), name), "rb") as file:
            left, _ = decoded(file.read())
        assert lasted - 3.5 < left["video"]["end"] < lasted and lasted - 3.5 < left["audio"]["end"] < lasted, (lasted, left)
        server.start()
        found = await until_available(app, archive)
        assert (found["status"], found["reason"]) == ("available", "The server was interrupted."), found
        whole, duration = decoded(in_ranges(found["url"], found["files"][0]["size"]))
        # On a busy machine one of the two is ahead.
        end = max(track["end"] for track in left.values())
        assert whole["video"]["frames"] == left["video"]["frames"] and abs(duration - end) < 0.5, (whole, left, duration)


# Proves M32, M50
@test("a recording ends at the quota, whose rest is kept, and none begins beyond it")
async def quota(context):
    with own_server(context, "quota", calls_recordings_quota_bytes="15000") as (app, _):
        session = app.session()
        alice = await app.join(session, MODERATOR)
        peer = Peer()
        await peer.publish(alice)
        archive = (await alice.ask("record", action="start"))["archive"]
        assert (await alice.event("recording_stopped"))["archive"] == archive
        found = await until_available(app, archive)
        assert (found["status"], found["reason"]) == ("available", "The quota of recordings is used up."), found
        assert 3_000 < found["size"] <= 25_000, found
        decoded(fetch(found["url"]))
        second = (await alice.ask("record", action="start"))["archive"] if found["size"] < 15_000 else None
        if second:
            await until_available(app, second)
            await in_thread(app.sdk.delete_archive, second)
        await in_thread(app.sdk.delete_archive, archive)
        again = (await alice.ask("record", action="start"))["archive"]
        await alice.ask("record", action="stop")
        await until_available(app, again)
        await peer.close()
        await alice.close()


# Proves M44
@test("Chromium is recorded in VP8, VP9 and H.264, the highest layer of a simulcast, with sound and picture together")
async def codecs(context):
    app = App(context)
    layers = "[{ rid: 'l', scaleResolutionDownBy: 8, maxBitrate: 50000 }, { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 200000 }]"
    async with app.call(MODERATOR, PUBLISHER, PUBLISHER) as (session, alice, bob, carol), chromium() as browser:
        streams = {}
        for call, codec, shape in ((alice, "VP8", layers), (bob, "VP9", "[{}]"), (carol, "H264", "[{}]")):
            page = await Page.open(browser)
            streams[await page.publish(call, codec, shape, name=codec)] = codec.lower()
        while (await in_thread(app.sdk.list_streams, session.session_id)).count < 3:
            await asyncio.sleep(0.1)
        archive = await in_thread(app.sdk.start_archive, session.session_id, output_mode=INDIVIDUAL)
        began = time.monotonic()
        await asyncio.sleep(8)
        await in_thread(app.sdk.stop_archive, archive.id)
        lasted = time.monotonic() - began
        found = await until_available(app, archive.id)
        assert {f["stream"]: f["video"] for f in found["files"]} == streams and len(found["files"]) == 3, found
        manifest = json.loads(fetch(found["url"]))
        assert [f["name"] for f in manifest["files"]] == [f["name"] for f in found["files"]]
        for file in found["files"]:
            kinds, duration = decoded(fetch(file["url"]))
            about(file["start_ms"] / 1000 + duration, lasted, 1.5)
            about(kinds["audio"]["frames"], 50 * duration, 60)
            assert kinds["video"]["frames"] > 5 * duration, (file, kinds)
            about(kinds["video"]["end"], duration, 1)
            # Of the simulcast, the layers are 160 and 640 wide.
            assert max(kinds["video"]["sizes"]) > (160, 90), (file, kinds)


@test("a session that is always recorded is, and its recording ends with the last one who leaves")
async def always(context):
    app = App(context)
    session = await in_thread(lambda: app.sdk.create_session(media_mode=opentok.MediaModes.routed, archive_mode=opentok.ArchiveModes.always))
    alice = await app.join(session)
    peer = Peer()
    await peer.publish(alice)
    archive = (await alice.event("recording_started"))["archive"]
    await asyncio.sleep(2)
    await alice.ask("leave")
    found = await until_available(app, archive)
    assert (found["status"], found["reason"], found["sessionId"]) == ("available", "Everybody has left.", session.session_id), found
    kinds, _ = decoded(fetch(found["files"][0]["url"]))
    assert kinds["video"]["frames"] > 20, kinds
    app.operate("remove", app.key, "--yes")
    assert not os.path.exists(folder_of(app.server, archive))
    await peer.close()
    await alice.close()


# Proves M46
@test("a composed recording has everyone's picture, the first one whole until the second comes, and sound, in one MP4")
async def composed(context):
    app = App(context)
    async with app.call(MODERATOR, PUBLISHER) as (session, alice, bob), chromium() as browser:
        pages = [await Page.open(browser) for _ in range(2)]
        await pages[0].publish(alice, name="Alice: 100% 'here' \\ ünd")
        archive = await in_thread(app.sdk.start_archive, session.session_id, name="grid", resolution="1280x720")
        assert (archive.output_mode, archive.resolution) == (opentok.OutputModes.composed, "1280x720")
        await asyncio.sleep(3)
        # The second comes later: until then the first has the picture for itself.
        await pages[1].publish(bob, name="Bob")
        await asyncio.sleep(6)
        await in_thread(app.sdk.stop_archive, archive.id)
        found = await until_available(app, archive.id, 120)
        assert (found["status"], found["reason"], len(found["files"])) == ("available", "", 2), found
        assert found["url"].split("?")[0].endswith("/composed.mp4"), found["url"]
        assert found["size"] > sum(file["size"] for file in found["files"])
        content = in_ranges(found["url"], found["size"] - sum(file["size"] for file in found["files"]))
        kinds, duration = decoded(content)
        about(duration, found["duration"], 0.6)
        about(duration, 9, 2)
        assert kinds["video"]["sizes"] == {(1280, 720)}, kinds
        about(kinds["video"]["frames"], 25 * duration, 10)
        about(kinds["audio"]["end"], duration, 1)
        about(kinds["audio"]["frames"], 48000 / 1024 * duration, 10)
        # Chromium's made-up camera is green, and wider than half of the picture, above and below which it is black.
        (early, edges), (late, late_edges) = green_at(content, 1.5), green_at(content, duration - 1)
        assert min(early) > 0.3 and edges > 0.3, (early, edges)
        assert min(late) > 0.15 and late_edges == 0, (late, late_edges)
        left = os.listdir(folder_of(app.server, archive.id))
        assert sorted(left) == sorted(["manifest.json", "composed.mp4", *[file["name"] for file in found["files"]]]), left
        await in_thread(app.sdk.delete_archive, archive.id)
        assert not os.path.exists(folder_of(app.server, archive.id))


def green_at(content, seconds):
    """How much of the left and of the right half is green, by every 16th pixel both ways, and how much of a band above."""
    pixel = pixels_at(content, seconds)

    def green(columns, lines):
        points = [pixel(x, y) for y in lines for x in columns]
        return sum(g > 90 and g > r + 40 and g > b + 40 for r, g, b in points) / len(points)
    halves = [green(range(0, 640, 16), range(0, 720, 16)), green(range(640, 1280, 16), range(0, 720, 16))]
    return halves, green(range(0, 1280, 16), range(0, 160, 16))


def pixels_at(content, seconds):
    """What tells (red, green, blue) of a place in the picture of that time."""
    with av.open(io.BytesIO(content)) as file:
        for frame in file.decode(video=0):
            if frame.time >= seconds:
                plane = frame.reformat(format="rgb24").planes[0]
                pixels, line = bytes(plane), plane.line_size
                return lambda x, y: tuple(pixels[y * line + 3 * x:][:3])
    raise AssertionError("too short")


@test("without FFmpeg a composed recording names the package to install, and the streams' files are there")
async def without_ffmpeg(context):
    app = App(context)
    path, os.environ["PATH"] = os.environ["PATH"], "/nonexistent"
    try:
        server = Server(rate_limits="false").start()
    finally:
        os.environ["PATH"] = path
    app.base, app.server = server.base, server
    answer = app.operate("add", "without", "--json")
    app.key, app.secret = answer["key"], answer["secret"]
    app.sdk = opentok.Client(app.key, app.secret, api_url=app.base + "/_martlet/call")
    try:
        session = app.session()
        alice = await app.join(session)
        peer = Peer()
        await peer.publish(alice)
        archive = await in_thread(app.sdk.start_archive, session.session_id)
        await asyncio.sleep(2)
        await in_thread(app.sdk.stop_archive, archive.id)
        found = await until_available(app, archive.id)
        assert found["status"] == "available" and "Debian's package ffmpeg" in found["reason"], found
        decoded(fetch(found["files"][0]["url"]))
        await peer.close()
        await alice.close()
    finally:
        server.close()
