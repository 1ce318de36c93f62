"""Large files on their way up and down in real browsers, over a connection that is lost: they go on where they stopped."""
import asyncio
import contextlib
import os
import re
import tempfile
from types import SimpleNamespace

from browser import expect, in_room, send_files
from client import room_path
from harness import test
from lossy_link import LossyLink
from server import Server
from test_browser import picture, post, tone, upload
from test_composer import two_in
from test_web_push_page import Worker, eventually

NEEDS_BROWSER = True

FILE_BYTES = 24_000_000
# What is on its way when a connection is lost: in the browser, in the sockets, in the link.
LOST_BYTES = 2_000_000
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

# Keeps what the bar of an upload says after every frame, where it is something new.
PARTS = """() => {
  globalThis.parts = [];
  const look = () => {
    const bar = document.querySelector('[role=progressbar][aria-label=Uploading]'), part = Number(bar?.getAttribute('aria-valuenow'));
    if (bar && part !== parts.at(-1)) parts.push(part);
    requestAnimationFrame(look);
  };
  look();
}"""


# The files that wait in the page, with its connection to them; the names of the databases. While one is being made Chromium does not always tell
# of it, and what keeps the files is fetched behind the first screen.
THROW_AWAY = """async () => {
  let names = [];
  while (names.length === 0) {
    await new Promise(resolve => setTimeout(resolve, 50));
    names = (await indexedDB.databases()).map(({ name }) => name).filter(name => name.endsWith(' files'));
  }
  for (const name of names) {
    await new Promise((gone, failed) => Object.assign(indexedDB.deleteDatabase(name), { onsuccess: () => gone(), onerror: failed }));
  }
  return names;
}"""

@contextlib.asynccontextmanager
async def sent_to(test, name, **options):
    """(a server, a link to it, the accounts, their room, and Alice's browser behind the link)."""
    server = Server().start()
    try:
        link = await LossyLink(server.base).start()
        try:
            room, users = two_in(SimpleNamespace(base=server.base), name)
            way = SimpleNamespace(base=link.base, artifacts=test.artifacts)
            async with in_room(way, room, {"alice": users["alice"]}, **options) as alice:
                yield server, link, users, room, alice
        finally:
            await link.close()
    finally:
        server.close()


async def limit(person, **speeds):
    devtools = await person.context.new_cdp_session(person.page)
    await devtools.send("Network.enable")
    await devtools.send("Network.emulateNetworkConditions", {**SLOW, **speeds})


@contextlib.asynccontextmanager
async def attach(person, body, name):
    """Sends a file, which is there until the end: the browser reads it while it goes up."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(body)
        async with person.page.expect_file_chooser() as chooser:
            await person.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files(path)
        await send_files(person)
        await expect(person.page.get_by_role("progressbar", name="Uploading")).to_be_attached()
        yield


async def comes(is_there):
    while not is_there():
        await asyncio.sleep(0.05)


async def arrives(user, room, name, body):
    """The message with the file, which is what was sent."""
    def content():
        chunk = user.get(room_path(room, "messages"), dir="b", limit=5).ok()["chunk"]
        return next((event["content"] for event in chunk if event["content"].get("body") == name), None)
    await comes(content)
    got = user.request("GET", "/_matrix/client/v1/media/download/" + content()["url"][len("mxc://"):])
    assert got.status == 200 and got.body == body, (got.status, len(got.body))


def partials(server):
    return os.listdir(os.path.join(server.folder, "media", "partial"))


async def reaches(person, percent):
    await person.until("percent => globalThis.parts?.at(-1) >= percent", percent)


# Proves P15
@test("a large file goes up in parts and goes on after a lost connection, a restart of the server, and in a page loaded anew; hardly a byte goes twice")
async def _(test):
    async with sent_to(test, "Harbour") as (server, link, users, room, alice):
        body = os.urandom(FILE_BYTES)
        await limit(alice, uploadThroughput=4_000_000)
        await alice.page.evaluate(f"({PARTS})()")
        before = link.sent
        given_up = []
        alice.page.on("request", lambda request: given_up.append(request.url) if request.method == "DELETE" else None)
        async with attach(alice, body, "freight.bin"):
            await reaches(alice, 20)
            link.lose("cut", None)
            await reaches(alice, 40)
            server.kill()
            server.start()
            await reaches(alice, 60)
            parts = await alice.page.evaluate("parts")
            assert parts == sorted(parts), parts
            await alice.page.add_init_script(f"({PARTS})()")
            await alice.page.reload()
            await arrives(users["boris"], room, "freight.bin", body)
            again = [part for part in await alice.page.evaluate("parts") if part > 0]
            assert again == sorted(again) and again[0] > 30, again
        sent = link.sent - before
        assert FILE_BYTES <= sent <= FILE_BYTES + 3 * LOST_BYTES, sent
        assert partials(server) == [] and given_up == [], given_up


# Proves P15
@test("the rest of a large file goes up after the page was closed")
async def _(test):
    async with sent_to(test, "Ferry", permissions=["background-sync"], whole=True) as (server, link, users, room, alice):
        worker = await Worker(alice.context, link.base).open()
        await alice.page.bring_to_front()
        body = os.urandom(FILE_BYTES)
        await limit(alice, uploadThroughput=4_000_000)
        await alice.page.evaluate(f"({PARTS})()")
        before = link.sent
        async with attach(alice, body, "ferry.bin"):
            await reaches(alice, 50)
            await alice.go_offline()
            await eventually(alice.page, "async () => (await (await caches.open('martlet-errands')).match('page')) !== undefined")
            await alice.page.close()
            await worker.alone()
            await alice.context.set_offline(False)
            await worker.sync()
            await arrives(users["boris"], room, "ferry.bin", body)
        assert link.sent - before <= FILE_BYTES + 2 * LOST_BYTES, link.sent - before


# Proves P15
@test("a large file goes up as a whole where the server takes no parts")
async def _(test):
    async with sent_to(test, "Ford", service_workers="block") as (server, link, users, room, alice):
        async def other(route):
            await route.fulfill(json={"capabilities": {}})
        await alice.page.route("**/client/v3/capabilities", other)
        uploads = []
        alice.page.on("request", lambda request: uploads.append(request.method) if "/media/" in request.url and request.method != "GET" else None)
        body = os.urandom(9_000_000)
        async with attach(alice, body, "log.bin"):
            await arrives(users["boris"], room, "log.bin", body)
        assert uploads == ["POST"], uploads


@test("a server that takes a part and has no more of the file than before is asked, after a pause, how much it has, and not sent the same for ever")
async def _(test):
    async with sent_to(test, "Sandbank", service_workers="block") as (server, link, users, room, alice):
        asked, odd = [], [{"offset": 0, "complete": False}, {"offset": 9_000_001}, {"offset": "5"}, {}]

        async def answer(route):
            asked.append(route.request.method)
            if route.request.method == "PUT" and odd:
                await route.fulfill(json=odd.pop(0))
            else:
                await route.continue_()
        await alice.page.route(re.compile("/_matrix/media/v3/upload/|/martlet.resumable/"), answer)
        body = os.urandom(9_000_000)
        async with attach(alice, body, "barge.bin"):
            await arrives(users["boris"], room, "barge.bin", body)
        assert odd == [] and asked == ["PUT", "GET"] * 4 + ["PUT"] * 2, asked


# Proves P15
@test("of an upload that is given up the server keeps nothing")
async def _(test):
    async with sent_to(test, "Pier") as (server, link, users, room, alice):
        await limit(alice, uploadThroughput=2_000_000)
        await alice.page.evaluate(f"({PARTS})()")
        async with attach(alice, os.urandom(FILE_BYTES), "ballast.bin"):
            await reaches(alice, 10)
            assert len(partials(server)) == 1
            await alice.message_menu("ballast.bin", "Cancel sending")
            await comes(lambda: not partials(server))


# Proves P15
@test("of an upload that is given up before it went on in a page loaded anew the server keeps nothing")
async def _(test):
    async with sent_to(test, "Jetty", service_workers="block") as (server, link, users, room, alice):
        await limit(alice, uploadThroughput=2_000_000)
        await alice.page.evaluate(f"({PARTS})()")
        async with attach(alice, os.urandom(FILE_BYTES), "anchor.bin"):
            await reaches(alice, 10)
            # Before that is answered no upload begins.
            await alice.page.route("**/client/v1/media/config", lambda route: None)
            await alice.page.reload()
            await alice.message("anchor.bin").wait_for()
            assert len(partials(server)) == 1
            await alice.message_menu("anchor.bin", "Cancel sending")
            await comes(lambda: not partials(server))


# Proves P15
@test("a large file goes up where the browser has thrown away what the page keeps")
async def _(test):
    async with sent_to(test, "Wreck", service_workers="block") as (server, link, users, room, alice):
        thrown = await alice.page.evaluate(THROW_AWAY)
        assert len(thrown) == 1, thrown
        body = os.urandom(9_000_000)
        async with attach(alice, body, "flotsam.bin"):
            await arrives(users["boris"], room, "flotsam.bin", body)


# Proves P15
@test("a file that is fetched goes on where its connection was lost")
async def _(test):
    async with sent_to(test, "Quay") as (server, link, users, room, alice):
        body = os.urandom(FILE_BYTES)
        file = upload(users["boris"], body, "cargo.bin", "application/octet-stream")
        post(users["boris"], room, {"msgtype": "m.file", "body": "cargo.bin", "url": file, "info": {"size": len(body)}})
        button = alice.feed.get_by_role("button", name=re.compile("cargo.bin.*MB"))
        await button.wait_for()
        before = link.received
        for at in (7_000_000, 15_000_000):
            link.cut_received.append(before + at)
        async with alice.page.expect_download() as download:
            await button.click()
        with open(await (await download.value).path(), "rb") as got:
            assert got.read() == body
        assert not link.cut_received
        received = link.received - before
        assert FILE_BYTES <= received <= FILE_BYTES + 2 * LOST_BYTES, received


# Proves P15
@test("a large picture that is opened shows how far it is, and a sound that is played")
async def _(test):
    async with sent_to(test, "Beacon") as (server, link, users, room, alice):
        # What stands behind a picture's end is nothing to it.
        body = picture(900, 600) + os.urandom(3_000_000)
        file = upload(users["boris"], body, "sea.png", "image/png")
        post(users["boris"], room, {"msgtype": "m.image", "body": "sea.png", "url": file, "info": {"w": 900, "h": 600, "size": len(body)}})
        opens = alice.page.get_by_role("button", name="Open image sea.png")
        await opens.wait_for()
        await limit(alice, downloadThroughput=600_000)
        await opens.click()
        await alice.until("() => /^[1-9][0-9]?%$/.test(document.querySelector('[role=dialog] [data-part]')?.dataset.part)")
        await alice.picture("picture-under-way")
        await limit(alice)
        await alice.loaded(alice.dialog.get_by_role("img", name="Image sea.png")).wait_for()
        await alice.page.keyboard.press("Escape")
        body = tone(200)
        file = upload(users["boris"], body, "surf.wav", "audio/wav")
        post(users["boris"], room, {"msgtype": "m.audio", "body": "surf.wav", "url": file, "info": {"duration": 200_000, "size": len(body)}})
        sound = alice.message("surf.wav")
        await sound.wait_for()
        await limit(alice, downloadThroughput=600_000)
        await sound.get_by_role("button", name="Play").click()
        await sound.get_by_text(re.compile("^[1-9][0-9]? %$")).wait_for()
        await alice.picture("sound-under-way")
        await limit(alice)
        await sound.get_by_text(re.compile("^0:0[1-9] / 3:20$")).wait_for()
