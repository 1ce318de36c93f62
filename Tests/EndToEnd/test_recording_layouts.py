"""How composed recordings are laid out: OpenTok's SDK asks for it, peers show one colour each, the pixels of the file tell where they stand."""
import asyncio
import json
import os
import subprocess
import tempfile

from opentok.exceptions import ArchiveError, RequestError

from call_peers import Peer, Plain
from harness import test
from test_calls import MODERATOR, PUBLISHER, App, in_thread
from test_recording import archive_json, fetch, folder_of, pixels_at, until_available

# Colours as YUV of video's range.
RED, GREEN, BLUE = (81, 90, 240), (145, 54, 34), (41, 240, 110)
# Seconds of each layout in the file.
PART_SECONDS = 2.5


def colour(pixel):
    """The name of a pixel that is nearly red, green, blue or black."""
    lit = [name for name, value in zip(("red", "green", "blue"), pixel) if value > 120]
    return lit[0] if len(lit) == 1 else "black" if max(pixel) < 40 else str(pixel)


async def refused(error, function, *arguments, **members):
    try:
        await in_thread(function, *arguments, **members)
    except error:
        return
    raise AssertionError(f"{arguments} was done")


# Proves A28, M29, Q12
@test("OpenTok's SDK lays out a composed recording: each layout, and classes that tokens and servers give, are there in the pixels")
async def layouts(context):
    app = App(context)
    session = app.session()
    # The token's class is for what its owner publishes.
    alice = await app.join(session, MODERATOR, initial_layout_class_list=["full"])
    others = [await app.join(session, PUBLISHER) for _ in range(2)]
    peers, streams = [], []
    for call, picture in zip((alice, *others), (RED, GREEN, BLUE)):
        peers.append(Peer())
        streams.append(await peers[-1].publish(call, picture=Plain(picture)))
    while (await in_thread(app.sdk.list_streams, session.session_id)).count < 3:
        await asyncio.sleep(0.1)
    assert (await in_thread(app.sdk.get_stream, session.session_id, streams[0])).layoutClassList == ["full"]

    for wrong in ({"type": "custom", "stylesheet": "stream {}"}, {"type": "mosaic"}, {}, {"type": "pip", "screenshareType": "pip"}):
        await refused(RequestError, app.sdk.start_archive, session.session_id, layout=wrong)
    archive = await in_thread(app.sdk.start_archive, session.session_id, layout={"type": "pip"})
    await asyncio.sleep(PART_SECONDS)
    await refused(ArchiveError, app.sdk.set_archive_layout, archive.id, "custom", "stream {}")
    await in_thread(app.sdk.set_stream_class_lists, session.session_id, [{"id": streams[0], "layoutClassList": []}, {"id": streams[1], "layoutClassList": ["focus"]}])
    for kind in ("verticalPresentation", "horizontalPresentation", "bestFit"):
        await in_thread(app.sdk.set_archive_layout, archive.id, kind)
        await asyncio.sleep(PART_SECONDS)
    await in_thread(app.sdk.stop_archive, archive.id)
    await refused(RequestError, app.sdk.set_archive_layout, archive.id, "pip")

    found = await until_available(app, archive.id)
    assert (found["status"], found["reason"]) == ("available", ""), found
    changes = json.loads(fetch(found["url"].split("?")[0].rsplit("/", 1)[0] + "/manifest.json", **app.sdk.get_headers()))["changes"]
    begins = {change["layout"]["type"]: change["at_ms"] / 1000 for change in changes if "layout" in change}
    assert [*begins] == ["pip", "verticalPresentation", "horizontalPresentation", "bestFit"], changes
    content = fetch(found["url"])

    def seen(kind, *places):
        """The colours at these places in the middle of the part with this layout."""
        pixel = pixels_at(content, begins[kind] + PART_SECONDS / 2)
        return [colour(pixel(x, y)) for x, y in places]
    *whole, corner = seen("pip", (5, 5), (5, 474), (634, 5), (320, 240), (544, 404))
    assert whole == 4 * ["red"] and corner in ("green", "blue"), (whole, corner)
    *large, first, second, beside = seen("verticalPresentation", (180, 240), (620, 240), (400, 100), (80, 120), (80, 360), (400, 20))
    assert (large, sorted([first, second]), beside) == (3 * ["green"], ["blue", "red"], "black"), (large, first, second, beside)
    *large, first, second, beside = seen("horizontalPresentation", (320, 10), (320, 350), (120, 180), (160, 420), (480, 420), (40, 180))
    assert (large, sorted([first, second]), beside) == (3 * ["green"], ["blue", "red"], "black"), (large, first, second, beside)
    *each, none = seen("bestFit", (160, 120), (480, 120), (160, 360), (480, 360))
    assert (sorted(each), none) == (["blue", "green", "red"], "black"), (each, none)

    await in_thread(app.sdk.delete_archive, archive.id)
    for end in (*peers, alice, *others):
        await end.close()


@test("a screen has the large place of a composed recording while it is shared, where that was asked for")
async def screens(context):
    app = App(context)
    async with app.call(MODERATOR, PUBLISHER) as (session, alice, bob):
        camera, screen = Peer(), Peer()
        await camera.publish(alice, picture=Plain(RED))
        await bob.event("stream_created")
        layout = {"type": "bestFit", "screenshareType": "horizontalPresentation"}
        archive = await in_thread(app.sdk.start_archive, session.session_id, layout=layout)
        await asyncio.sleep(PART_SECONDS)
        await screen.publish(bob, picture=Plain(BLUE), video_type="screen")
        await alice.event("stream_created")
        await asyncio.sleep(PART_SECONDS)
        await in_thread(app.sdk.stop_archive, archive.id)
        found = await until_available(app, archive.id)
        assert (found["status"], found["reason"]) == ("available", ""), found
        content = fetch(found["url"])
        begins = {file["video_type"]: file["start_ms"] / 1000 for file in found["files"]}
        before, during = pixels_at(content, begins["screen"] - 1), pixels_at(content, begins["screen"] + 1)
        assert [colour(before(x, y)) for x, y in ((5, 5), (320, 420))] == ["red", "red"]
        assert [colour(during(x, y)) for x, y in ((320, 180), (320, 420), (5, 420))] == ["blue", "red", "black"]
        assert not [name for name in os.listdir(folder_of(app.server, archive.id)) if name.endswith((".txt", ".new"))]
        for peer in (camera, screen):
            await peer.close()


# So large that it takes FFmpeg a while on any machine.
WIDTH, HEIGHT = 1920, 1080


def white(pixel):
    """The letters below on the left: which places are white, by every second pixel."""
    return {(x, y) for y in range(HEIGHT - 100, HEIGHT, 2) for x in range(0, WIDTH, 2) if min(pixel(x, y)) > 150}


def written(name):
    """The same of a name that FFmpeg writes on black, as large as a tile that has the whole picture has it."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(name)
        file.flush()
        text = f"drawtext=textfile={file.name}:expansion=none:fontcolor=white:fontsize={HEIGHT // 16}:x=8:y={HEIGHT}-10-th"
        picture = f"color=c=black:s={WIDTH}x{HEIGHT}"
        made = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-vf", text, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
                              capture_output=True, check=True, timeout=60)
    return white(lambda x, y: tuple(made.stdout[3 * (y * WIDTH + x):][:3]))


def likeness(one, other):
    return len(one & other) / len(one | other)


# Proves M46
@test("a composed recording has the name of who is seen, to be read, and tells how far it is made")
async def names(context):
    app = App(context)
    async with app.call(MODERATOR) as (session, alice):
        peer, name = Peer(), "Ana: 100% 'Bärg' \\ %{pts}"
        await peer.publish(alice, picture=Plain(RED), name=name)
        archive = await in_thread(app.sdk.start_archive, session.session_id, resolution=f"{WIDTH}x{HEIGHT}")
        await asyncio.sleep(3 * PART_SECONDS)
        await in_thread(app.sdk.stop_archive, archive.id)
        await peer.close()
        told, found = [], {"status": "stopped"}
        while found["status"] == "stopped":
            found = await in_thread(archive_json, app, archive.id)
            told += [found["progress"]] if "progress" in found else []
        assert (found["status"], found["reason"]) == ("available", "") and "progress" not in found, found
        assert told == sorted(told) and any(0 < percent < 100 for percent in told), told
        letters = white(pixels_at(fetch(found["url"]), PART_SECONDS))
        read = {other: likeness(letters, written(other)) for other in (name, name.replace("ä", "o"), name.replace("100", "10"), "Ana", "Bob")}
        assert max(read, key=read.get) == name and read[name] > 0.7, read
        print("          likeness of what is written to names: " + ", ".join(f"{ratio:.2f}" for ratio in read.values()))
