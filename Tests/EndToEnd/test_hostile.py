"""What others can set in the web client: it never runs, stays in its box, and does not break the page. And what the page does when it breaks."""
import asyncio
import re
import struct
import zlib

from browser import PASSWORD, PHONE, expect, in_room, people, send_files
from client import User, fresh, room_path
from harness import PATIENCE, test
from test_browser import fits, html, picture, post, upload
from test_composer import two_in

NEEDS_BROWSER = True

RUN = "window.hacked = (window.hacked ?? 0) + 1"
MARKUP = f'<img src=x onerror="{RUN}"><script>{RUN}</script>'
RIGHT_TO_LEFT = "\u202egnp.exe\u2066"
ZALGO = "Z" + "\u0335\u0322\u031b\u0348\u0353" * 60 + "algo"
LONG = "W" * 200
# Ten times ten times ten ...: a browser that draws it does nothing else any more.
ENDLESS = ('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><defs><rect id="a" width="9" height="9" opacity=".5"/>'
           + "".join(f'<g id="{name}">' + f'<use href="#{before}"/>' * 10 + "</g>" for before, name in zip("abcd", "bcde"))
           + '</defs><use href="#e"/></svg>')
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60" onload="{RUN}"><script>{RUN}</script><rect width="80" height="60"/></svg>'
STYLED = ("<style>* { display: none }</style><div style='position:fixed;inset:0;z-index:999;background:red'>over all</div>"
          f"<a href='javascript:{RUN}'>press me</a><a href='JaVaScRiPt:{RUN}'>or me</a><a href='data:text/html,<script>{RUN}</script>'>or this</a>"
          f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe><form action='javascript:{RUN}'><button>go</button></form>"
          f"<svg onload='{RUN}'><animate onbegin='{RUN}'/></svg><math><mi//xlink:href='javascript:{RUN}'>x</math><object data='javascript:{RUN}'></object>"
          f"<details open ontoggle='{RUN}'>open</details><span data-mx-color='red;position:fixed' onmouseover='{RUN}'>hover</span><p class='ma-overlay' id='app'>still here</p>")


async def harmless(person):
    """Nothing of others has run, nothing stands outside the page, and one can go on."""
    assert await person.page.evaluate("window.hacked") is None
    await fits(person)
    assert await person.composer.evaluate("""field => {
      const box = field.getBoundingClientRect();
      return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === field;
    }"""), "something lies over the composer"


def hostile_names(user):
    user.put(f"profile/{user.user_id}/displayname", {"displayname": (MARKUP + RIGHT_TO_LEFT + ZALGO).encode()[:250].decode(errors="ignore")}).ok()


# Proves C71, C72, C73
@test("markup, text that turns around and letters that pile up, wherever others may put them, stay letters in their place")
async def _(test):
    room, users = two_in(test, "Garden")
    boris = users["boris"]
    hostile_names(boris)
    users["alice"].state(room, "m.room.power_levels", {**users["alice"].get(room_path(room, "state", "m.room.power_levels")).ok(), "state_default": 0, "events": {}}).ok()
    boris.state(room, "m.room.name", {"name": MARKUP + RIGHT_TO_LEFT}).ok()
    boris.state(room, "m.room.topic", {"topic": MARKUP + LONG + ZALGO}).ok()
    boris.send(room, MARKUP + RIGHT_TO_LEFT)
    boris.send(room, ZALGO * 20)
    boris.send(room, LONG * 10)
    post(boris, room, html("styled", STYLED))
    file = upload(boris, b"nothing", "a.txt", "text/plain")
    bird = upload(boris, dot(), "bird.png", "image/png")
    pictures = "".join(f'<img data-mx-emoticon src="{source}" alt=":bird:" title="{RIGHT_TO_LEFT}" height="99999" width="99999" style="position:fixed;inset:0" onload="{RUN}" onerror="{RUN}">'
                       for source in (bird, "https://example.org/x.png", "//example.org/x.png", f"javascript:{RUN}", f"data:image/svg+xml,{MARKUP}", "mxc://test.example/../x"))
    post(boris, room, html("birds", pictures + f'<img data-mx-emoticon src="{bird}">' * 500))
    post(boris, room, {"msgtype": "m.text", "body": "quiet https://example.org", "martlet.no_preview": [MARKUP] * 200 + [{}, 7, None]})
    users["alice"].state(room, "im.ponies.room_emotes", {"images": {MARKUP: {"url": bird}, 'bird"onload=x': {"url": f"javascript:{RUN}"}, "b" * 5000: {"url": bird}, "bird": {"url": bird, "body": MARKUP, "usage": MARKUP}}}, MARKUP[:100]).ok()
    for name in (MARKUP, "../../etc/passwd", RIGHT_TO_LEFT, LONG + ".pdf", ZALGO):
        post(boris, room, {"msgtype": "m.file", "body": name, "filename": name, "url": file, "info": {"mimetype": MARKUP, "size": 7}})
    drawing = upload(boris, SVG.encode(), "drawing.svg", "image/svg+xml")
    for size in ({"w": 80, "h": 60}, {"w": 10**15, "h": 1}, {"w": -5, "h": "x"}):
        post(boris, room, {"msgtype": "m.image", "body": "drawing.svg", "url": drawing, "info": {"mimetype": "image/svg+xml", **size}})
    post(boris, room, {"m.relates_to": {"rel_type": "m.annotation", "event_id": boris.send(room, "react to this"), "key": (MARKUP + ZALGO)[:200]}}, "m.reaction")
    poll = {"question": {"m.text": MARKUP}, "answers": [{"id": MARKUP, "m.text": MARKUP}, {"id": "b", "m.text": ZALGO}], "max_selections": 10**9}
    post(boris, room, {"m.text": MARKUP, "org.matrix.msc3381.poll.start": poll}, "org.matrix.msc3381.poll.start")
    post(boris, room, {"msgtype": "m.location", "body": MARKUP, "geo_uri": f"geo:1,1;u={MARKUP}"})
    boris.send(room, "the end of it")
    for viewport in (None, PHONE):
        async with in_room(test, room, {"alice": users["alice"]}, viewport=viewport) as alice:
            page = alice.page
            await alice.sees("the end of it")
            await harmless(alice)
            rows, sizes = alice.message(), []
            for _ in range(12):
                await alice.feed.evaluate("feed => { feed.scrollTop -= 500; }")
                await page.evaluate("() => new Promise(requestAnimationFrame)")
                await harmless(alice)
                sizes += await rows.locator("img[alt=':bird:']").evaluate_all("images => images.map(image => [image.getBoundingClientRect().height, image.attributes.onload, image.attributes.style])")
            assert sizes and all(height < 40 and not handler and not style for height, handler, style in sizes), sizes
            tall = await rows.evaluate_all("rows => Math.max(...rows.map(row => row.getBoundingClientRect().height))")
            assert tall < 6000, tall
            for link in await rows.get_by_role("link").evaluate_all("links => links.map(link => link.protocol)"):
                assert link in ("http:", "https:", "mailto:", "matrix:"), link
            await alice.composer.fill("a :bir")
            await page.get_by_role("option", name=":bird:").wait_for()
            await harmless(alice)
            await alice.composer.fill("")
            assert await rows.locator(":is(script, iframe, object, form, style, svg[onload])").count() == 0
            await alice.picture("hostile" + ("-phone" if viewport else ""))
            await page.get_by_role("button", name="Members and settings").click()
            await page.get_by_text("2 members", exact=True).last.wait_for()
            assert await page.evaluate("window.hacked") is None
            await fits(alice)
            await alice.picture("hostile-details" + ("-phone" if viewport else ""))


# Proves C73
@test("nobody looks like somebody else by name or former name, a link says where it leads, and a file how it ends")
async def _(test):
    room, users = two_in(test, "Garden")
    alice_user, boris = users["alice"], users["boris"]
    profile = f"profile/{boris.user_id}/displayname"
    pretended = f"Alice ({alice_user.user_id})"
    for name in ("Mallory", pretended):
        boris.put(profile, {"displayname": name}).ok()
    boris.send(room, "it is me")
    post(boris, room, html("a link", "<a href='https://evil.example/x'>https://bank.example/login</a>"))
    file = upload(boris, b"nothing", "a.txt", "text/plain")
    post(boris, room, {"msgtype": "m.file", "body": RIGHT_TO_LEFT, "url": file})
    async with in_room(test, room, {"alice": alice_user}) as alice:
        row = alice.message("it is me")
        await expect(row).to_contain_text(f"{pretended} ({boris.user_id})")
        await expect(alice.message().get_by_role("link", name="https://evil.example/x", exact=True)).to_be_visible()
        await expect(alice.message("gnp.exe")).not_to_contain_text(re.compile("[\u202a-\u202e\u2066-\u2069]"))
        boris.put(profile, {"displayname": "Mallory"}).ok()
        await alice.told(f"{pretended} ({boris.user_id}) is now called Mallory")


def failed(person, name):
    """Pictures that did not come. They have no role of their own for that."""
    return person.page.get_by_role("img", name=name).and_(person.page.locator("[data-state=failed]"))


@test("an SVG that would hang the browser is not drawn, whatever type it claims, and sent as a file")
async def _(test):
    room, users = two_in(test, "Gallery")
    boris, endless = users["boris"], ENDLESS.encode()
    for name, kind, said in (("drawing.svg", "image/svg+xml", "image/svg+xml"), ("photo.png", "image/svg+xml", "image/png"), ("odd.png", "Image/SVG+xml;a=b", "image/png")):
        post(boris, room, {"msgtype": "m.image", "body": name, "url": upload(boris, endless, name, kind), "info": {"w": 80, "h": 60, "mimetype": said, "size": len(endless)}})
    good = upload(boris, dot(), "dot.png", "image/png")
    post(boris, room, {"msgtype": "m.image", "body": "dot.png", "url": good, "info": {"w": 80, "h": 60, "mimetype": "image/png", "size": len(dot())}})
    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        page = alice.page
        fetched = []
        page.on("request", lambda request: fetched.append(request.url) if "/media/" in request.url else None)
        await page.reload()
        await alice.open_room(room)
        await alice.loaded(page.get_by_role("img", name="dot.png")).first.wait_for()
        for name in ("drawing.svg", "photo.png", "odd.png"):
            await failed(alice, name).wait_for()
        # What says itself that it is a drawing is not even fetched as it is.
        drawings = [event["content"]["url"].rpartition("/")[2] for event in boris.get(room_path(room, "messages"), dir="b", limit=9).ok()["chunk"]
                    if event["content"].get("body") == "drawing.svg"]
        assert not any("/download/" in url and drawings[0] in url for url in fetched), fetched
        for name in ("drawing.svg", "photo.png"):
            await page.get_by_role("button", name=f"Open image {name}").click()
            await failed(alice, f"Image {name}").wait_for()
            await page.keyboard.press("Escape")
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "own.svg", "mimeType": "image/svg+xml", "buffer": endless})
        # It goes as a file.
        await alice.dialog.get_by_text("own.svg").wait_for()
        await send_files(alice)
        await alice.feed.get_by_role("button", name=re.compile("own.svg")).wait_for()
        await harmless(alice)
        types = await page.evaluate("""async () => {
          const { asShown } = await import('./media.js');
          return ['image/png', 'IMAGE/JPEG', 'audio/ogg; codecs=opus', 'video/quicktime', 'image/svg+xml', 'text/html', 'video/x+xml', 'application/pdf', '']
            .map(type => asShown(new Blob(['a'], { type })).type);
        }""")
        assert types == ["image/png", "image/jpeg", "audio/ogg", "video/quicktime"] + ["application/octet-stream"] * 5, types


@test("a picture that is larger than it says is not fetched to its end unasked; who opens it sees it")
async def _(test):
    room, users = two_in(test, "Quarry")
    boris, rock = users["boris"], picture(900, 600)
    # What stands behind a picture's end is nothing to it.
    rock += bytes(3_000_000)
    for name, size in (("rock.png", 1000), ("pebble.png", len(dot()))):
        file = upload(boris, rock if size == 1000 else dot(), name, "image/png")
        post(boris, room, {"msgtype": "m.image", "body": name, "url": file, "info": {"w": 900, "h": 600, "mimetype": "image/png", "size": size}})
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.loaded(alice.page.get_by_role("img", name="pebble.png")).wait_for()
        await failed(alice, "rock.png").wait_for()
        await alice.page.get_by_role("button", name="Open image rock.png").click()
        await alice.loaded(alice.dialog.get_by_role("img", name="Image rock.png")).wait_for()


TERMS = {"session": "s", "flows": [{"stages": ["m.login.terms"]}],
         "params": {"m.login.terms": {"policies": {"rules": {"version": "1", "en": {"name": "Our rules", "url": "https://["}}}}}}


@test("an invalid address from a homeserver opens nothing, and the page goes on")
async def _(test):
    async with people(test, "alice", service_workers="block", fresh=True) as alice:
        page = alice.page
        await page.route("**/_matrix/client/v3/register*", lambda route: route.fulfill(status=401, json=TERMS))
        await page.get_by_role("tab", name="Create account").click()
        await page.get_by_label("User name", exact=True).locator("visible=true").fill("alice")
        await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await page.get_by_role("link", name="Our rules").click()
        agrees = alice.dialog.get_by_role("checkbox")
        await agrees.check()
        await expect(agrees).to_be_checked()
        await expect(page.get_by_role("alert")).to_have_count(0)


# Proves C74
@test("sixty kilobytes of text and thousands of reactions under one message: the page stays quick and in shape")
async def _(test):
    alice_user, boris = User(test.direct, "alice"), User(test.direct, "boris")
    room = alice_user.create_room(name="Too much", invite=[boris.user_id])
    boris.join(room)
    boris.send(room, "word " * 12_000)
    loved = boris.send(room, "everybody loves this")
    # Of more the page would ask whether it shall go on looking for older messages: it goes through 550 events five times by itself.
    for number in range(2_000):
        boris.put(room_path(room, "send", "m.reaction", fresh("r")),
                  {"m.relates_to": {"rel_type": "m.annotation", "event_id": loved, "key": f"k{number}"}}).ok()
    boris.send(room, "the end of it")
    async with in_room(test, room, {"alice": alice_user}) as alice:
        await alice.sees("the end of it")
        await alice.sees("everybody loves this")
        chips = alice.message("everybody loves this").get_by_role("button", name=re.compile(r"^(k[0-9]|\+[0-9])"))
        await chips.first.wait_for()
        assert await chips.count() <= 24, await chips.count()
        await harmless(alice)
        slowest = await alice.page.evaluate("""async () => {
          const scroller = document.querySelector('[role=feed]'), input = document.querySelector('main textarea');
          let slowest = 0;
          for (let step = 0; step < 20; step++) {
            const start = performance.now();
            scroller.scrollTop -= 700;
            input.value += 'a';
            input.dispatchEvent(new Event('input', { bubbles: true }));
            await new Promise(requestAnimationFrame);
            await new Promise(requestAnimationFrame);
            slowest = Math.max(slowest, performance.now() - start);
          }
          return slowest;
        }""")
        assert slowest < 1000, slowest
        await alice.picture("too-much")


# Breaks the program's memory, so that what it does next traps.
BREAKABLE = """
const stream = WebAssembly.instantiateStreaming;
WebAssembly.instantiateStreaming = async (...given) => {
  const made = await stream(...given);
  const { memory } = made.instance.exports;
  // Parts of the program have none of their own.
  if (memory) globalThis.breakProgram = () => new Uint8Array(memory.buffer).fill(255, 1024);
  return made;
};"""


# Proves C75
@test("where the program breaks the page says so; loaded again it has what was written and what was to be sent")
async def _(test):
    room, users = two_in(test, "Fragile")
    async with in_room(test, room, {"alice": users["alice"]}, whole=True) as alice:
        page = alice.page
        await page.add_init_script(BREAKABLE)
        await page.reload()
        await alice.message().first.wait_for()
        await alice.go_offline()
        await page.get_by_text("You are offline").wait_for()
        await alice.write("not sent yet")
        await alice.message("Waiting to send").wait_for()
        await alice.composer.fill("half a thought")
        # What is written is kept some time after the last key.
        await stored(page, "martlet", "entries", lambda records: any("half a thought" in record for record in records))
        await page.evaluate("breakProgram()")
        await alice.context.set_offline(False)
        await page.get_by_role("alert").get_by_role("button", name="Reload").wait_for()
        await alice.picture("trap")
        alice.troubles.clear()
        await page.get_by_role("alert").get_by_role("button", name="Reload").click()
        await alice.sees("not sent yet")
        users["boris"].sync_until(lambda answer: "not sent yet" in str(answer))
        await alice.composed("half a thought")


# Proves B5, P23
@test("a picture that could not be sent yet outlives the page")
async def _(test):
    room, users = two_in(test, "Tunnel")
    async with in_room(test, room, {"alice": users["alice"]}, whole=True) as alice:
        page = alice.page
        # What is fetched behind the first screen.
        await alice.until("async () => Boolean(await caches.match('/file-service.js'))")
        await alice.go_offline()
        await page.get_by_text("You are offline").wait_for()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "dot.png", "mimeType": "image/png", "buffer": dot()})
        await send_files(alice)
        await alice.message("Waiting to send").wait_for()
        await stored(page, "martlet files", "files", lambda records: records == ["dot.png"])
        await page.reload()
        await alice.message("Waiting to send").wait_for()
        await alice.context.set_offline(False)
        answer = await asyncio.to_thread(users["boris"].sync_until, lambda answer: "dot.png" in str(answer))
        event = next(event for event in answer["rooms"]["join"][room]["timeline"]["events"] if event["content"].get("msgtype") == "m.image")
        server, media = event["content"]["url"].removeprefix("mxc://").split("/")
        got = users["boris"].request("GET", f"/_matrix/client/v1/media/download/{server}/{media}")
        assert got.body == dot(), len(got.body)
        await stored(page, "martlet files", "files", lambda records: not records)


async def stored(page, database, store, condition):
    """Until what IndexedDB has, as texts, is so."""
    for _ in range(10 * PATIENCE):
        records = await page.evaluate("""([database, store]) => new Promise(done => {
          const opening = indexedDB.open(database);
          opening.onsuccess = () => {
            const entries = opening.result.transaction(store).objectStore(store), keys = entries.getAllKeys(), values = entries.getAll();
            values.onsuccess = async () => {
              opening.result.close();
              const key = await seal.keyOf(database);
              done(await Promise.all(values.result.map(async (one, k) =>
                one instanceof Blob ? one.name : new TextDecoder().decode(await seal.open(key, keys.result[k], one)))));
            };
          };
        })""", [database, store])
        if condition(records):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{database} has {len(records)} records")


def dot():
    """A PNG of one pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
