"""The web client's composer beyond text, and what the timeline does with what comes of it, in real browsers."""
import asyncio
import http.server
import os
import re
import threading

from browser import ARE_CLOSED, CAPTURES, PHONE, expect, in_room, people, send_files
from client import User, room_path
from harness import Context, test
from server import Server
from test_browser import fits, picture, post, tone, upload

NEEDS_BROWSER = True


def last(user, room, kind="m.room.message"):
    """Content of the newest event of that kind."""
    chunk = user.get(room_path(room, "messages"), dir="b", limit=20).ok()["chunk"]
    return next(event["content"] for event in chunk if event["type"] == kind)


def two_in(test, name):
    """A room of that name, and the accounts of the two in it."""
    users = {"alice": User(test.base, "alice"), "boris": User(test.base, "boris")}
    room = users["alice"].create_room(name=name, invite=[users["boris"].user_id])
    users["boris"].join(room)
    return room, users


async def choose(person, words):
    await person.page.get_by_role("button", name="Send something else").click()
    await person.choose(words)


class Recorder:
    """What stands where the composer does while one speaks."""

    def __init__(self, person):
        self.person, self.group = person, person.page.get_by_role("group", name="Voice message")

    async def hears(self, more_than):
        """More than so many moments, each a bar of the wave, which is for eyes alone."""
        await expect(self.group.locator(".ma-voice-wave i").nth(more_than)).to_be_attached()


def bubble(person, words):
    """What a message's words stand on: how it looks is all there is to it."""
    return person.words(words).locator("xpath=ancestor-or-self::*[contains(@class, 'mg-bubble')]")


async def sign_in_in_arabic(person, user):
    await person.sign_in(user, profile="ملفك الشخصي")


# Proves C45
@test("sharing a location previews it, can send it silently, and says why if permission is refused")
async def _(test):
    room, users = two_in(test, "Gate")
    async with in_room(test, room, users, whole=True) as (alice, boris):
        await choose(alice, "Share location")
        await alice.page.get_by_text("does not tell this page where you are").wait_for()
        await alice.page.keyboard.press("Escape")
        await alice.context.grant_permissions(["geolocation"])
        await alice.context.set_geolocation({"latitude": 52.5163, "longitude": 13.3777, "accuracy": 20})
        await choose(alice, "Share location")
        dialog = alice.page.get_by_role("dialog")
        await dialog.get_by_text("52.51630,13.37770 (± 20 m)").wait_for()
        await dialog.get_by_label("Send without a notification").check()
        await dialog.get_by_role("button", name="Send").click()
        await boris.message("I am here").get_by_role("button", name="I am here").wait_for()
        sent = last(users["boris"], room)
        assert sent["geo_uri"] == "geo:52.51630,13.37770;u=20" and sent["martlet.silent"] is True, sent


# Proves C42, P12
@test("a voice message is recorded, heard, sent and played; a refused microphone is explained, a recording can be given up; it goes without a notification where that is chosen")
async def _(test):
    room, users = two_in(test, "Choir")
    async with in_room(test, room, users, scheme="dark", whole=True) as (alice, boris):
        record = alice.page.get_by_role("button", name="Voice message")
        await record.click()
        await alice.page.get_by_text("does not let this page hear you").wait_for()
        await alice.context.grant_permissions(["microphone"])
        await record.click()
        recorder = Recorder(alice)
        await recorder.hears(3)
        await recorder.group.get_by_role("button", name="Cancel").click()
        await recorder.group.wait_for(state="detached")
        await record.click()
        await recorder.hears(15)
        await alice.picture("voice-recording-dark")
        await alice.page.get_by_role("button", name="Stop").click()
        await recorder.group.get_by_role("button", name="Play").click()
        await expect(recorder.group.get_by_role("timer")).to_have_text("0:01")
        await alice.picture("voice-preview-dark")
        # As a click sends it, but for the notification.
        await recorder.group.get_by_role("button", name="Send").click(button="right")
        await alice.choose("Send without a notification")
        await boris.page.get_by_role("button", name="Play").click()
        await boris.page.get_by_role("button", name="Pause").wait_for()
        await boris.picture("voice-played-dark")
        sent = last(users["boris"], room)
        assert sent["msgtype"] == "m.audio" and "org.matrix.msc3245.voice" in sent and sent["martlet.silent"] is True, sent
        waveform = sent["org.matrix.msc1767.audio"]["waveform"]
        assert 10 < len(waveform) <= 100 and max(waveform) > 50, waveform
        assert 1000 < sent["info"]["duration"] < 20_000, sent["info"]


# Proves N13, P16
@test("a picture is taken: a refused camera is explained, a missing one too; again, then it goes out with its caption")
async def _(test):
    room, users = two_in(test, "Darkroom")
    async with in_room(test, room, users, whole=True) as (alice, boris):
        page, dialog = alice.page, alice.page.get_by_role("dialog", name="Take a picture")
        button = lambda name: dialog.get_by_role("button", name=name, exact=True)
        await choose(alice, "Take a picture")
        await dialog.get_by_text("does not let this page see you").wait_for()
        await page.keyboard.press("Escape")
        await alice.context.grant_permissions(["camera"])
        await page.evaluate(CAPTURES)
        await choose(alice, "Take a picture")
        await button("Take a picture").click()
        await expect(button("Use")).to_be_focused()
        await alice.picture("camera-light")
        await button("Again").click()
        await expect(button("Take a picture")).to_be_focused()
        await page.keyboard.press("Enter")
        await button("Use").click()
        files = page.get_by_role("dialog", name="Send files")
        await files.get_by_role("img", name="picture.jpg").wait_for()
        await page.wait_for_function(ARE_CLOSED)
        await files.get_by_label("Caption").fill("It is me")
        await files.get_by_role("button", name="Send").click()
        await expect(boris.loaded(boris.message("It is me").get_by_role("img"))).to_have_count(1)
        sent = last(users["boris"], room)
        assert sent["msgtype"] == "m.image" and sent["info"]["mimetype"] == "image/jpeg" and sent["info"]["w"] >= 640, sent
        await page.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('none', 'NotFoundError'); }; }")
        await choose(alice, "Take a picture")
        await dialog.get_by_text("No camera was found.").wait_for()
        await expect(button("Take a picture")).to_be_disabled()


# Keeps what is played: sounds stand nowhere in the page.
PLAYED = """
  window.played = [];
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = function () { if (!played.includes(this)) played.push(this); return play.call(this); };"""


# Proves P12
@test("in a voice message one goes to another place, by pointer and by key, and has it said faster")
async def _(test):
    room, users = two_in(test, "Tape")
    sound = upload(users["boris"], tone(seconds=40), "note.wav", "audio/wav")
    post(users["boris"], room, {"msgtype": "m.audio", "body": "note.wav", "url": sound, "org.matrix.msc3245.voice": {},
                                "org.matrix.msc1767.audio": {"duration": 40_000, "waveform": [100, 900, 300] * 10},
                                "info": {"duration": 40_000, "mimetype": "audio/wav"}})
    async with people(test, "alice") as alice:
        page = alice.page
        await page.add_init_script(PLAYED)
        await page.reload()
        await alice.sign_in(users["alice"])
        await alice.open_room(room)
        note = alice.message("0:40")
        await note.get_by_role("button", name="Play").click()
        await note.get_by_role("button", name="Pause").wait_for()
        place, rate = note.get_by_role("slider", name="Position"), note.get_by_role("button", name="Speed")
        box = await place.bounding_box()
        await place.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
        await alice.until("() => played[0].currentTime > 18 && played[0].currentTime < 26")
        await note.get_by_text(re.compile("^0:(19|2[0-9]) / 0:40$")).wait_for()
        await place.press("Home")
        await alice.until("() => played[0].currentTime < 8")
        await expect(rate).to_have_text("1×")
        for words, speed in (("1.5×", 1.5), ("2×", 2), ("1×", 1)):
            await rate.click()
            await expect(rate).to_have_text(words)
            assert await page.evaluate("played[0].playbackRate") == speed
        await note.get_by_role("button", name="Pause").click()
        await note.get_by_role("button", name="Play").wait_for()
        assert await page.evaluate("played.length === 1 && played[0].paused")


# Proves W25
@test("a sent picture leaves memory when the user leaves the room, and is shown again on return")
async def _(test):
    room, users = two_in(test, "Dunes")
    other = users["alice"].create_room(name="Sea")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        async with alice.page.expect_file_chooser() as chooser:
            await alice.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "dune.png", "mimeType": "image/png", "buffer": picture(300, 200)})
        await alice.dialog.get_by_role("button", name="Send").click()
        sent = alice.loaded(alice.message(re.compile("(Sent|Delivered|Read)")).get_by_role("img", name="dune.png"))
        source = await sent.get_attribute("src")
        shows = """source => new Promise(done => {
          const image = new Image();
          image.onload = () => done(true);
          image.onerror = () => done(false);
          image.src = source;
        })"""
        assert source.startswith("blob:") and await alice.page.evaluate(shows, source)
        await alice.open_room(other)
        await alice.page.get_by_role("heading", name="Sea").wait_for()
        assert not await alice.page.evaluate(shows, source)
        alice.troubles = [trouble for trouble in alice.troubles if "blob:" not in trouble]
        await alice.open_room(room)
        await alice.loaded(alice.page.get_by_role("article").get_by_role("img", name="dune.png")).wait_for()


# Proves B21, C62, C68
@test("in a language from right to left the bubbles' corners and the arrow that sends look the other way")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room = alice_user.create_room(name="Souk", invite=[boris_user.user_id])
    boris_user.join(room)
    alice_user.send(room, "مرحبا")
    boris_user.send(room, "أهلا")
    async with people(test, "alice", locale="ar") as alice:
        await sign_in_in_arabic(alice, alice_user)
        await alice.open_room(room)
        await alice.sees("أهلا")
        corner = "node => { const style = getComputedStyle(node); return [style.borderTopLeftRadius, style.borderTopRightRadius]; }"
        own, other = [await bubble(alice, words).evaluate(corner) for words in ("مرحبا", "أهلا")]
        assert own != other and own == ["18px", "18px"] and other == ["18px", "4px"], (own, other)
        assert await alice.page.get_by_role("button", name="إرسال", exact=True).locator("svg").evaluate("node => getComputedStyle(node).scale") == "-1 1"
        await alice.picture("right-to-left-light")


# Proves C38, C49, C53, P8, P25
@test("sound and video play, a date is gone to, links have previews where the server makes them, a message is reported, changes unfold")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room = alice_user.create_room(name="Archive", invite=[boris_user.user_id])
    boris_user.join(room)
    for topic in ("one", "two", "three"):
        alice_user.put(room_path(room, "state", "m.room.topic"), {"topic": topic}).ok()
    sound = upload(boris_user, tone(), "note.wav", "audio/wav")
    post(boris_user, room, {"msgtype": "m.audio", "body": "note.wav", "url": sound, "info": {"duration": 2000, "mimetype": "audio/wav"}})
    post(boris_user, room, {"msgtype": "m.text", "body": "Look: https://example.org/beans"})
    post(boris_user, room, {"msgtype": "m.text", "body": "this is rude"})
    async with people(test, "alice", scheme="dark", service_workers="block") as alice:
        page = alice.page
        await page.route("**/preview_url?*", lambda route: route.fulfill(json={
            "og:title": "How to grow beans", "og:description": "From seed to plate.", "og:site_name": "Garden"}))
        await alice.sign_in(alice_user)
        await alice.open_room(room)
        await page.get_by_text("How to grow beans").wait_for()
        await alice.picture("preview-dark")
        note = alice.message("note.wav")
        await note.get_by_role("button", name="Play").click()
        await note.get_by_role("button", name="Pause").wait_for()
        await expect(note.get_by_role("slider", name="Position")).not_to_have_value("0")
        await alice.picture("audio-playing-dark")
        await note.get_by_role("button", name="Play").wait_for()
        await page.get_by_role("button", name="Show all").first.click()
        await page.get_by_text("three").first.wait_for()
        await alice.picture("unfolded-dark")
        await alice.message("this is rude").click(button="right")
        await alice.choose("Report")
        await alice.dialog.get_by_label("Reason").fill("rude")
        await alice.dialog.get_by_role("button", name="Report").click()
        await page.get_by_role("dialog").wait_for(state="detached")
        await alice.more("Jump to a date")
        await alice.dialog.get_by_label("Date").fill("2020-01-01")
        await alice.dialog.get_by_role("button", name="Jump").click()
        await page.get_by_role("dialog").wait_for(state="detached")
        await alice.message().first.wait_for()


# Proves P8
@test("a link's preview is shown while the user types, after a pause; not if previews are off")
async def _(test):
    room, users = two_in(test, "Links")
    asked = []

    async def preview(route):
        asked.append(route.request.url)
        await route.fulfill(json={"og:title": "How to grow beans", "og:site_name": "Garden"})

    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        await alice.page.route("**/preview_url?*", preview)
        shown = alice.page.get_by_role("status").get_by_text("Garden · How to grow beans")
        await alice.composer.press_sequentially("read https://example.org/beans")
        await shown.wait_for()
        assert len(asked) == 1 and asked[0].endswith("beans"), asked
        await alice.picture("preview-writing-light")
        await alice.composer.press("Control+a")
        await alice.composer.press("Delete")
        await expect(shown).to_be_hidden()
        await alice.more("Link previews")
        await alice.write("https://example.org/peas")
        await alice.sees("https://example.org/peas")
        await expect(shown).to_be_hidden()
        assert len(asked) == 1, asked


@test("the server is asked for links that were written just now alone, and not once previews are off or it has refused")
async def _(test):
    room, users = two_in(test, "Secrets")
    status = [200]
    async with people(test, "alice", service_workers="block") as alice:
        # The pause ends when the test says so.
        await alice.page.add_init_script("""
          window.pauses = [];
          window.asked = [];
          const [later, get] = [window.setTimeout, window.fetch];
          window.setTimeout = (run, milliseconds, ...given) => milliseconds === 700 ? pauses.push(run) : later(run, milliseconds, ...given);
          window.fetch = (url, ...given) => { if (String(url).includes('/preview_url?')) asked.push(url.split('%2F').pop()); return get(url, ...given); };""")
        await alice.page.route("**/preview_url?*", lambda route: route.fulfill(status=status[0], json={"og:title": "A page"}))
        await alice.page.reload()
        await alice.sign_in(users["alice"])
        await alice.open_room(room)
        shown = alice.page.get_by_role("status").get_by_text("A page")

        async def asked():
            return await alice.page.evaluate("() => { for (const run of pauses.splice(0)) run(); return asked.splice(0); }")

        await alice.composer.fill("https://example.org/first https://example.org/second")
        assert await asked() == ["first", "second"]
        await expect(shown).to_have_count(2)
        # Loaded anew it is a draft: neither its first address nor what comes first after it was written now.
        await alice.page.reload()
        await expect(alice.composer).to_have_value("https://example.org/first https://example.org/second")
        assert await asked() == []
        await alice.composer.press_sequentially(" more")
        assert await asked() == []
        await alice.composer.fill("https://example.org/second https://example.org/third")
        assert await asked() == ["third"]
        await shown.wait_for()
        # Written anew from nothing it is no draft any more.
        await alice.composer.fill("")
        await alice.composer.fill("https://example.org/first")
        assert await asked() == ["first"]
        # Previews are turned off while one pauses.
        await alice.composer.fill("https://example.org/fourth")
        await alice.more("Link previews")
        assert await asked() == []
        await alice.more("Link previews")
        status[0] = 404
        await alice.composer.fill("https://example.org/fifth")
        async with alice.page.expect_response("**/preview_url?*"):
            assert await asked() == ["fifth"]
        await alice.composer.fill("https://example.org/sixth")
        assert await asked() == []


class Pages(http.server.BaseHTTPRequestHandler):
    """A page for each path, which says how it is called."""
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        name = self.path.strip("/")
        body = f"<title>Page {name}</title><meta property='og:title' content='All about {name}'><meta property='og:site_name' content='Herbarium'>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass


# Proves P8
@test("three links of a message have previews that the server makes; one that its writer takes away is shown to nobody, and comes back with an edit")
async def _(test):
    server = Server(outbound_allowed_networks="127.0.0.1").start()
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{pages.server_port}/"
    try:
        here = Context(server.base, server.base, server, artifacts=test.artifacts)
        room, users = two_in(here, "Herbs")
        async with in_room(here, room, users) as (alice, boris):
            await alice.composer.press_sequentially(f"{url}sage {url}mint {url}dill ")
            writing = alice.page.get_by_role("status")
            for name in ("sage", "mint", "dill"):
                await writing.get_by_text(f"Herbarium · All about {name}").wait_for()
            await alice.picture("previews-writing-light")
            await alice.page.get_by_role("button", name="Remove the preview of Herbarium · All about mint").click()
            await expect(writing.get_by_text("All about mint")).to_have_count(0)
            await expect(alice.composer).to_be_focused()
            await alice.composer.press_sequentially(f"{url}basil")
            await writing.get_by_text("All about basil").wait_for()
            await alice.page.keyboard.press("Enter")
            for person in (alice, boris):
                for name in ("sage", "dill", "basil"):
                    await person.message("sage").get_by_role("link", name=f"All about {name}").wait_for()
                await expect(person.message("sage").get_by_role("link", name="All about mint")).to_have_count(0)
            await boris.picture("previews-light")
            assert last(users["boris"], room)["martlet.no_preview"] == [url + "mint"]
            # What another writes of the same page has its preview: the veto is the message's.
            users["boris"].send(room, f"but {url}mint")
            await alice.message("but http").get_by_role("link", name="All about mint").wait_for()
            await alice.message_menu("sage", "Edit")
            await alice.composer.press("End")
            await alice.composer.press_sequentially(" again")
            await alice.page.keyboard.press("Enter")
            await boris.message("sage").get_by_text("again", exact=True).wait_for()
            await boris.message("sage").get_by_role("link", name="All about basil").wait_for()
            await expect(boris.message("sage").get_by_role("link", name="All about mint")).to_have_count(0)
            assert Pages.asked.count("/sage") == 1, Pages.asked
    finally:
        pages.shutdown()
        server.close()


# Proves P14
@test("pictures, a sound and a file go out as one message; the sound plays, the file is saved")
async def _(test):
    room, users = two_in(test, "Attic")
    files = [{"name": "dune0.png", "mimeType": "image/png", "buffer": picture(300, 200)}, {"name": "note.wav", "mimeType": "audio/wav", "buffer": tone()},
             {"name": "dune1.png", "mimeType": "image/png", "buffer": picture(300, 200)}, {"name": "list.txt", "mimeType": "text/plain", "buffer": b"beans"}]
    async with in_room(test, room, users) as (alice, boris):
        async with alice.page.expect_file_chooser() as chooser:
            await alice.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files(files)
        await alice.dialog.get_by_label("Caption").fill("All of it")
        await expect(alice.dialog.get_by_label("As one message")).to_be_checked()
        await send_files(alice)
        message = boris.message("All of it")
        await expect(boris.loaded(message.get_by_role("group").get_by_role("button", name="Open image dune").get_by_role("img"))).to_have_count(2)
        await message.get_by_role("button", name="Play").click()
        await message.get_by_role("button", name="Pause").wait_for()
        async with boris.page.expect_download() as saved:
            await message.get_by_role("button", name="list.txt").click()
        with open(await (await saved.value).path(), "rb") as got:
            assert got.read() == b"beans"
        await boris.picture("mixed-light")
        content = last(users["boris"], room)
        assert [(entry["itemtype"], entry["filename"]) for entry in content["itemtypes"]] == [
            ("m.image", "dune0.png"), ("m.audio", "note.wav"), ("m.image", "dune1.png"), ("m.file", "list.txt")], content


# Proves P15
@test("of a large file that is fetched one sees how far it is, and gives it up with another click")
async def _(test):
    room, users = two_in(test, "Depot")
    body = os.urandom(3_000_000)
    file = upload(users["boris"], body, "plan.pdf", "application/pdf")
    post(users["boris"], room, {"msgtype": "m.file", "body": "plan.pdf", "url": file, "info": {"size": len(body)}})
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, service_workers="block") as alice:
        saved = []
        alice.page.on("download", lambda download: saved.append(download))
        devtools = await alice.context.new_cdp_session(alice.page)
        slow = {"offline": False, "latency": 0, "downloadThroughput": 400_000, "uploadThroughput": -1}
        await devtools.send("Network.enable")
        await devtools.send("Network.emulateNetworkConditions", slow)

        def button(says):
            return alice.feed.get_by_role("button", name=re.compile("plan.pdf.*" + says))

        await button("MB").focus()
        await alice.page.keyboard.press("Enter")
        under_way = button("[1-9][0-9]? % – press to stop")
        await under_way.wait_for()
        await alice.picture("fetching-phone")
        await expect(under_way).to_be_focused()
        await alice.page.keyboard.press("Enter")
        await button("MB").wait_for()
        await devtools.send("Network.emulateNetworkConditions", {**slow, "downloadThroughput": -1})
        async with alice.page.expect_download() as download:
            await button("MB").click()
        with open(await (await download.value).path(), "rb") as got:
            assert got.read() == body
        await button("MB").wait_for()
        assert len(saved) == 1, saved


@test("a picture that is fetched is still handed over where its window was closed meanwhile, and nothing else happens")
async def _(test):
    room, users = two_in(test, "Attic")
    file = upload(users["boris"], picture(90, 60), "roof.png", "image/png")
    post(users["boris"], room, {"msgtype": "m.image", "body": "roof.png", "url": file, "info": {"w": 90, "h": 60}})
    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        await alice.page.get_by_role("button", name="Open image roof.png").click()
        await alice.loaded(alice.dialog.get_by_role("img", name="roof.png")).wait_for()
        held, going = asyncio.Event(), asyncio.Event()

        async def hold(route):
            held.set()
            await going.wait()
            await route.continue_()

        await alice.page.route("**/media/download/**", hold)
        async with alice.page.expect_download() as download:
            await alice.dialog.get_by_role("button", name="Download").click()
            await held.wait()
            # It takes long, which is told where the picture was.
            await alice.page.keyboard.press("Escape")
            await alice.page.get_by_role("dialog").wait_for(state="detached")
            await alice.write("closed")
            await alice.sees("closed")
            await alice.page.wait_for_function("() => performance.now() - (globalThis.closedAt ??= performance.now()) > 700")
            going.set()
        assert (await download.value).suggested_filename == "roof.png"
        await alice.write("and goes on")
        await alice.sees("and goes on")


# Proves P9
@test("what is written is given marks by buttons: they come where text is chosen, or stay; each takes its mark back")
async def _(test):
    room, users = two_in(test, "Meadow")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page, bar = alice.page, alice.page.get_by_role("toolbar", name="Formatting")

        async def press(name):
            await bar.get_by_role("button", name=name, exact=True).click()

        await alice.composer.fill("hay")
        await expect(bar).to_be_hidden()
        await alice.composer.select_text()
        await bar.get_by_title("Strike-through · Ctrl ⇧ X").wait_for()
        await alice.picture("marks-chosen-light")
        for name, text in (("Bold", "**hay**"), ("Bold", "hay"), ("Italic", "*hay*"), ("Italic", "hay"), ("Strike-through", "~~hay~~"),
                           ("Strike-through", "hay"), ("Code", "`hay`"), ("Code", "hay"), ("Quote", "> hay"), ("Quote", "hay"), ("List", "- hay"), ("List", "hay")):
            await press(name)
            await alice.composed(text)
            await expect(alice.composer).to_be_focused()
        await page.keyboard.press("End")
        await expect(bar).to_be_hidden()
        button = page.get_by_role("button", name="Formatting", exact=True)
        await button.click()
        await expect(button).to_have_attribute("aria-pressed", "true")
        await alice.composer.fill("hay\nstraw")
        await page.keyboard.press("Control+a")
        await page.keyboard.press("Control+Shift+8")
        await alice.composed("- hay\n- straw")
        await page.keyboard.press("Control+z")
        await alice.composed("hay\nstraw")
        await alice.composer.select_text()
        await press("Code")
        await alice.composed("```\nhay\nstraw\n```")
        await press("Code")
        await alice.composed("hay\nstraw")
        await alice.composer.fill("here")
        await alice.composer.select_text()
        await press("Link")
        await page.keyboard.type("https://example.org")
        await alice.composed("[here](https://example.org)")
        await alice.picture("marks-light")
        await alice.composer.press("Enter")
        await alice.message("here").get_by_role("link", name="here").wait_for()
        await button.click()
        await expect(bar).to_be_hidden()
        await alice.composer.fill("dry")
        await alice.composer.select_text()
        await page.keyboard.press("Control+Shift+x")
        await alice.composer.press("Enter")
        await alice.message(re.compile("(Sent|Delivered|Read): .*dry")).wait_for()
        assert last(users["boris"], room)["formatted_body"] == "<del>dry</del>", last(users["boris"], room)


@test("on a phone, in the dark, from right to left: marks over what is chosen, a picture that is taken, what is known of a message")
async def _(test):
    room, users = two_in(test, "واحة")
    users["boris"].send(room, "النخيل هنا")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, scheme="dark", permissions=["camera"], whole=True) as alice:
        page = alice.page
        await page.evaluate("localStorage.setItem('language', 'ar')")
        await page.reload()
        field = page.get_by_role("textbox", name="اكتب رسالة", exact=True)
        await field.fill("ماء بارد")
        await field.select_text()
        bar = page.get_by_role("toolbar", name="التنسيق")
        await bar.get_by_role("button", name="قائمة").wait_for()
        await fits(alice)
        inside = await bar.bounding_box()
        assert inside["x"] >= 0 and inside["x"] + inside["width"] <= PHONE["width"], inside
        await alice.picture("marks-phone-arabic")
        await bar.get_by_role("button", name="غامق").click()
        await expect(field).to_have_value("**ماء بارد**")
        await page.get_by_role("button", name="إرسال شيء آخر").click()
        await alice.choose("التقاط صورة")
        await alice.choose("التقاط صورة")
        await alice.dialog.get_by_role("button", name="استخدام").wait_for()
        await fits(alice)
        await alice.picture("camera-phone-arabic")
        await page.keyboard.press("Escape")
        await alice.message_menu("النخيل هنا", "معلومات الرسالة")
        await alice.dialog.get_by_text("أُرسلت").first.wait_for()
        await fits(alice)
        await alice.picture("message-info-phone-arabic")
