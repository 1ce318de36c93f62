"""Reading in the web client: what has arrived and been read, threads, what is unread, looking things up, pictures one after the other."""
import asyncio
import os
import re
from datetime import datetime, timedelta
from urllib.parse import quote

from browser import PHONE, expect, in_room, open_settings, people, send_files
from client import User, room_path
from harness import test
from test_browser import fill, picture, post, upload
from test_chatting import Finger, centre
from server import ROOT
from test_composer import two_in

NEEDS_BROWSER = True


# Proves C50, P21
@test("a message is sent, has reached the other's device, is read: each step shows")
async def _(test):
    room, users = two_in(test, "Steps")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        async with people(test, "boris") as boris:
            # Whose phone is off.
            await alice.write("are you there?")
            await alice.page.get_by_role("article", name=re.compile("Sent: are you there")).wait_for()
            await boris.sign_in(users["boris"])
            await boris.entry("Steps").wait_for()
            await alice.write("are you there now?")
            await alice.page.get_by_role("article", name=re.compile("Delivered: are you there now")).wait_for()
            # The page that is loaded anew knows it still.
            await alice.page.reload()
            await alice.page.get_by_role("article", name=re.compile("Delivered: are you there now")).wait_for()
            await boris.open_room(room)
            await alice.page.get_by_role("article", name=re.compile("Read: are you there now")).wait_for()


# Proves P24
@test("who keeps receipts private tells nobody what has reached them")
async def _(test):
    room, users = two_in(test, "Private")
    async with people(test, "boris") as boris:
        await boris.sign_in(users["boris"])
        await open_settings(boris.page)
        await boris.page.get_by_role("tab", name="Privacy and security").click()
        await boris.page.get_by_label("Do not show others how far I have read").check()
        await boris.page.keyboard.press("Escape")
        users["alice"].send(room, "secretly read")
        await boris.page.get_by_role("button", name="Private, 1 unread message").wait_for()
        await boris.page.reload()
        last = users["alice"].send(room, "once more")
        await boris.page.get_by_role("button", name="Private, 2 unread messages").wait_for()
        users["alice"].post(room_path(room, "receipt", "m.read", last), {}).ok()
        receipts = users["alice"].sync()["rooms"]["join"][room]["ephemeral"]["events"][0]["content"]
        assert list(receipts[last]) == ["m.read"] and list(receipts[last]["m.read"]) == [users["alice"].user_id], receipts
        await boris.open_room(room)
        await boris.page.get_by_role("button", name="Private", exact=True).wait_for()
        users["boris"].sync_until(lambda answer: "m.read.private" in str(answer))
        receipts = users["alice"].sync(since=None)["rooms"]["join"][room]["ephemeral"]["events"][0]["content"]
        assert users["boris"].user_id not in str(receipts.get(last)), receipts


# Proves P20, W14
@test("a room marked as unread from a message on has the divider there on all devices")
async def _(test):
    room, users = two_in(test, "Shelf")
    for words in ("one book", "two books", "three books"):
        users["boris"].send(room, words)
    divider = lambda person: person.message("two books").get_by_text("New messages", exact=True)
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.message_menu("two books", "Mark as unread from here")
        await alice.page.get_by_role("button", name="Shelf, marked as unread").wait_for()
        await expect(alice.heading("Shelf")).to_be_hidden()
        async with people(test, "alice") as other:
            await other.sign_in(users["alice"])
            await other.page.get_by_role("button", name="Shelf, marked as unread").click()
            await divider(other).wait_for()
            # Seen there: it is read.
            await alice.page.get_by_role("button", name="Shelf, marked as unread").wait_for(state="detached")
        await alice.entry("Shelf").click()
        await alice.sees("three books")
        await expect(divider(alice)).to_have_count(0)
        await alice.message_menu("two books", "Mark as unread from here")
        await alice.page.get_by_role("button", name="Shelf, marked as unread").click()
        await divider(alice).wait_for()
        await alice.picture("unread-from-here")


# Keeps what is asked of the icon, as an installed page has one.
BADGES = """
  window.badges = [];
  Object.defineProperties(navigator, {
    setAppBadge: { value: async count => { badges.push(count); } }, clearAppBadge: { value: async () => { badges.push(0); } } });"""


# Proves B4
@test("the badge on the icon is the number in the title: it comes, grows and goes as it does")
async def _(test):
    room, users = two_in(test, "Icon")
    other = users["boris"].create_room(name="Mark", invite=[users["alice"].user_id])
    users["alice"].join(other)
    async with people(test, "alice") as alice:
        page = alice.page
        await page.add_init_script(BADGES)
        await page.reload()
        await alice.sign_in(users["alice"])

        async def shows(count):
            await alice.until("count => badges.at(-1) === count", count)
            await alice.until("count => (document.title.match(/^\\(([0-9]+)\\) /)?.[1] ?? '0') === String(count)", count)

        users["boris"].send(room, "one")
        await shows(1)
        users["boris"].send(other, "two")
        users["boris"].send(other, "three")
        await shows(3)
        await alice.entry("Mark").click()
        await alice.sees("three")
        await shows(1)
        await alice.entry("Icon").click()
        await shows(0)
        assert len(await page.evaluate("badges")) <= 6, await page.evaluate("badges")


# Proves C43, P13
@test("pictures of a room are looked at one after the other, by buttons and arrow keys, and enlarged by a click")
async def _(test):
    room, users = two_in(test, "Album")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        for name, width in (("one.png", 2400), ("two.png", 300), ("three.png", 300)):
            async with page.expect_file_chooser() as chooser:
                await page.get_by_role("button", name="Attach a file").click()
            await (await chooser.value).set_files({"name": name, "mimeType": "image/png", "buffer": picture(width, width // 2)})
            await send_files(alice)
            await alice.loaded(page.get_by_role("img", name=name)).wait_for()
            await page.get_by_role("article", name=name).wait_for()
        await page.get_by_role("button", name="one.png").click()
        dialog = page.get_by_role("dialog", name="one.png")
        large = alice.loaded(dialog.get_by_role("img"))
        await large.wait_for()
        before = (await large.bounding_box())["width"]
        await large.click()
        assert (await large.bounding_box())["width"] == 2400 > before
        await page.keyboard.press("ArrowRight")
        await page.get_by_role("dialog", name="two.png").wait_for()
        await page.get_by_role("button", name="Next").click()
        await alice.loaded(page.get_by_role("dialog", name="three.png").get_by_role("img")).wait_for()
        await alice.picture("viewer-several")
        await page.keyboard.press("ArrowRight")
        await page.get_by_role("dialog", name="one.png").wait_for()
        await page.keyboard.press("ArrowLeft")
        await page.get_by_role("dialog", name="three.png").wait_for()
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")


@test("the page shows a picture of a phone that the browser cannot read")
async def _(test):
    room, users = two_in(test, "Phones")
    with open(os.path.join(ROOT, "Tests", "ThumbnailTests", "Pictures", "blue-left-red-right.heic"), "rb") as file:
        photo = file.read()
    address = upload(users["boris"], photo, "hut.heic", "image/heic")
    info = {"w": 64, "h": 32, "mimetype": "image/heic", "size": len(photo)}
    post(users["boris"], room, {"msgtype": "m.image", "body": "hut.heic", "url": address, "info": info})
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.loaded(page.get_by_role("img", name="hut.heic")).wait_for()
        await page.get_by_role("button", name="hut.heic").click()
        await alice.loaded(page.get_by_role("dialog", name="hut.heic").get_by_role("img")).wait_for()
        await page.keyboard.press("Escape")
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "own.heic", "mimeType": "image/heic", "buffer": photo})
        await send_files(alice)
        await alice.loaded(page.get_by_role("img", name="own.heic")).wait_for()


# Proves P13
@test("a picture that is shown large is given to another program where the browser can")
async def _(test):
    room, users = two_in(test, "Postcards")
    file = picture(300, 200)
    address = upload(users["boris"], file, "sea.png", "image/png")
    post(users["boris"], room, {"msgtype": "m.image", "body": "sea.png", "url": address, "info": {"w": 300, "h": 200, "mimetype": "image/png"}})
    async with people(test, "alice") as alice:
        page, dialog = alice.page, alice.page.get_by_role("dialog", name="sea.png")

        async def look():
            await alice.open_room(room)
            await page.get_by_role("button", name="sea.png").click()
            await dialog.get_by_role("button", name="Download").wait_for()

        # Chromium of Linux has no such thing.
        await alice.sign_in(users["alice"])
        await look()
        await expect(dialog.get_by_role("button", name="Share")).to_have_count(0)
        await page.add_init_script("""
          navigator.canShare = () => true;
          navigator.share = async ({ files: [file] }) => {
            window.shared = [file.name, file.type, file.size];
            throw new DOMException('', 'AbortError');
          };""")
        await page.reload()
        await look()
        await dialog.get_by_role("button", name="Share").click()
        await alice.until("size => JSON.stringify(window.shared) === JSON.stringify(['sea.png', 'image/png', size])", len(file))
        await expect(page.get_by_text("could not be downloaded")).to_have_count(0)
        await alice.picture("viewer-share")


@test("a line break in a file's name makes no other thing of its download")
async def _(test):
    room, users = two_in(test, "Lines")
    address = upload(users["boris"], b"tea", "a.txt", "text/plain")
    post(users["boris"], room, {"msgtype": "m.file", "body": "list\n1", "url": address, "info": {"size": 3, "mimetype": "text/plain"}})
    async with people(test, "alice") as alice:
        await alice.page.add_init_script("navigator.canShare = () => true; navigator.share = async () => { window.isShared = true; };")
        await alice.page.reload()
        await alice.sign_in(users["alice"])
        await alice.open_room(room)
        async with alice.page.expect_download() as download:
            await alice.page.get_by_role("button", name="list").click()
        assert (await download.value).suggested_filename.startswith("list")
        assert await alice.page.evaluate("window.isShared") is None


# Proves P13
@test("pictures are swiped through, pinched large, moved and touched back by fingers; a swipe too short leads nowhere")
async def _(test):
    room, users = two_in(test, "Folder")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, has_touch=True) as alice:
        page, finger = alice.page, await Finger.of(alice)
        for name in ("one.png", "two.png"):
            await page.get_by_role("button", name="Send something else").click()
            async with page.expect_file_chooser() as chooser:
                await alice.choose("Attach a file")
            await (await chooser.value).set_files({"name": name, "mimeType": "image/png", "buffer": picture(600, 400)})
            await send_files(alice)
            await page.get_by_role("article", name=name).wait_for()

        def large(name):
            return alice.loaded(page.get_by_role("dialog", name=name).get_by_role("img"))

        await page.get_by_role("button", name="one.png").click()
        await large("one.png").wait_for()
        x, y = await centre(large("one.png"))
        await finger.slide((x, y), (x - 40, y))
        await finger.lift()
        await finger.slide((x, y), (x - 40, y - 150))
        await finger.lift()
        await finger.slide((x, y), (x - 100, y + 10))
        await finger.lift()
        await large("two.png").wait_for()
        await finger.slide((x, y), (x + 100, y + 10))
        await finger.lift()
        await large("one.png").wait_for()

        small = await large("one.png").bounding_box()
        await finger.pinch((x, y), (80, 240))
        await alice.rest()
        pinched = await large("one.png").bounding_box()
        assert abs(pinched["width"] - 3 * small["width"]) < 2 and abs(pinched["x"] + pinched["width"] / 2 - x) < 2, (small, pinched)
        # What is large is moved, at most to its edge, and is no swipe.
        await finger.slide((x, y), (x - 120, y))
        await finger.lift()
        await alice.rest()
        assert abs((await large("one.png").bounding_box())["x"] - pinched["x"] + 120) < 2
        image = await large("one.png").element_handle()
        await page.touchscreen.tap(x, y)
        await alice.until("image => image.style.transform === ''", image)
        await alice.rest()
        assert await large("one.png").bounding_box() == small


# Proves P45
@test("while what is far back is fetched one sees where messages will stand, and hears that the room opens")
async def _(test):
    room, users = two_in(test, "Cellar")
    first = users["boris"].send(room, "the first bottle")
    fill(users["boris"], room, 200)
    for scheme in ("light", "dark"):
        async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, scheme=scheme, service_workers="block") as alice:
            # Past a worker of the page the request would not be held, and the veil be gone before it was looked at.
            page, may_go = alice.page, asyncio.Event()

            async def hold(route):
                await may_go.wait()
                await route.continue_()

            await page.route("**/context/*", hold)
            await page.evaluate("part => { location.hash = part; }", f"room/{quote(room, safe='')}/{quote(first, safe='')}")
            veil = page.get_by_role("status").filter(has_text="Opening the room")
            await veil.wait_for()
            await alice.until(IS_DRAWN, await veil.element_handle())
            may_go.set()
            await alice.sees("the first bottle")
            await veil.wait_for(state="hidden")


@test("who has read far back and comes to the end again stays there, and finds all of it once more")
async def _(test):
    room, users = two_in(test, "Chronicle")
    for number in range(3_100):
        users["boris"].send(room, f"day {number}")
    start = "This is the beginning of the conversation."
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.sees("day 3099")

        async def read_back():
            while not await alice.message("day 0").count():
                await alice.feed.evaluate("feed => { feed.scrollTop = 0; }")
                await alice.page.evaluate("new Promise(requestAnimationFrame)")

        await read_back()
        # A reload keeps the user's place. A jump to the end drops the pages around it.
        await alice.page.reload()
        await alice.sees("day 0")
        await alice.page.get_by_role("button", name=re.compile("latest", re.I)).click()
        await alice.sees("day 3099")
        users["boris"].send(room, "and today")
        await alice.sees("and today")
        # The rest has left the memory: the beginning is not there at once.
        await alice.feed.evaluate("feed => { feed.scrollTop = 0; }")
        await alice.until("start => !document.querySelector('.mg-scroller').textContent.includes(start)", start)
        await read_back()
        assert await alice.message("day 0").count() == 1


# Proves P45
@test("while the first sync of a new session runs one sees where conversations will stand, and hears that they come")
async def _(test):
    _, users = two_in(test, "Larder")
    for scheme, motion in (("light", "no-preference"), ("dark", "reduce")):
        async with people(test, "alice", viewport=PHONE, scheme=scheme, service_workers="block") as alice:
            page, may_go = alice.page, asyncio.Event()
            await page.emulate_media(reduced_motion=motion)

            async def hold(route):
                await may_go.wait()
                await route.continue_()

            await page.route(re.compile("/sync[?]"), hold)
            await alice.sign_in(users["alice"])
            coming = alice.rooms.get_by_role("status").get_by_text("Getting your conversations…")
            await coming.wait_for()
            place = await alice.page.locator(".ma-coming").element_handle()
            await alice.until(IS_DRAWN, place)
            await expect(alice.rooms.get_by_role("heading", name="No conversations yet")).to_have_count(0)
            # Nothing pulses for who wants no motion.
            repeated = await place.evaluate("node => getComputedStyle(node, '::before').animationIterationCount")
            assert ("infinite" in repeated) == (motion != "reduce"), repeated
            await alice.page.screenshot(path=f"{alice.artifacts}/rooms-coming-{scheme}.png")
            may_go.set()
            await alice.entry("Larder").wait_for()
            await expect(coming).to_have_count(0)


# Whether its picture of what is to come covers it and is seen.
IS_DRAWN = """veil => {
  const drawn = getComputedStyle(veil, '::before');
  return drawn.maskImage.startsWith('url("data:image/svg') && parseFloat(drawn.height) === veil.clientHeight && drawn.opacity > 0.4;
}"""


# Proves P26
@test("in quiet hours, over midnight too, nobody is told of anything")
async def _(test):
    room, users = two_in(test, "Night")
    users["alice"].create_room(name="Elsewhere")
    async with people(test, "alice", permissions=["notifications"]) as alice:
        page = alice.page
        await page.add_init_script("""
          window.told = [];
          window.Notification = class { constructor(title, options) { window.told.push(options.body); } close() {}
            static permission = 'granted'; static requestPermission() { return Promise.resolve('granted'); } };
          Object.defineProperty(document, 'hasFocus', { value: () => false });""")
        await page.reload()
        await alice.sign_in(users["alice"])
        await open_settings(page)
        await page.get_by_role("tab", name="Notifications").click()
        await page.get_by_label("Show notifications of this browser").check()
        now = datetime.now()
        await page.get_by_label("Quiet from").fill((now - timedelta(hours=12)).strftime("%H:%M"))
        await page.get_by_label("Quiet until").fill((now + timedelta(hours=11)).strftime("%H:%M"))
        await alice.picture("quiet-hours-light")
        await page.keyboard.press("Escape")
        users["boris"].send(room, "are you asleep?")
        await page.get_by_role("button", name="Night, 1 unread message").wait_for()
        await open_settings(page)
        await page.get_by_role("tab", name="Notifications").click()
        await page.get_by_label("Quiet until").fill((now - timedelta(hours=1)).strftime("%H:%M"))
        await page.keyboard.press("Escape")
        users["boris"].send(room, "good morning")
        await alice.until("() => window.told.length > 0")
        assert [words.split(": ")[1] for words in await page.evaluate("window.told")] == ["good morning"], await page.evaluate("window.told")


async def told_away(alice, user):
    """Signed in, with notifications (kept in `told` of the page) and looking elsewhere."""
    await alice.page.add_init_script("""
      window.told = [];
      window.Notification = class { constructor(title, options) { window.told.push([title, options.body, options.icon]); } close() {}
        static permission = 'granted'; static requestPermission() { return Promise.resolve('granted'); } };
      Object.defineProperty(document, 'hasFocus', { value: () => !window.isAway });""")
    await alice.page.reload()
    await alice.sign_in(user)
    await open_settings(alice.page)
    await alice.page.get_by_role("tab", name="Notifications").click()
    await alice.page.get_by_label("Show notifications of this browser").check()
    await alice.page.keyboard.press("Escape")
    await alice.page.evaluate("window.isAway = true; dispatchEvent(new Event('blur'))")


# Proves P26
@test("what is sent without a notification, by the send button's menu or /silent, is told of by nobody and is unread all the same")
async def _(test):
    room, users = two_in(test, "Library")
    users["alice"].create_room(name="Elsewhere")
    async with people(test, "alice", "boris", permissions=["notifications"]) as (alice, boris):
        await told_away(alice, users["alice"])
        await boris.sign_in(users["boris"])
        await boris.open_room(room)
        await boris.composer.fill("hush")
        await boris.page.get_by_role("button", name="Send", exact=True).click(button="right")
        await boris.picture("send-menu-light")
        await boris.choose("Send without a notification")
        await boris.sees("hush")
        await boris.composed("")
        await boris.write("/silent /me *tiptoes*")
        await boris.sees("tiptoes")
        # By keyboard as well.
        await boris.composer.fill("on tiptoe")
        await boris.page.get_by_role("button", name="Send", exact=True).focus()
        await boris.page.keyboard.press("Shift+F10")
        await boris.page.keyboard.press("Enter")
        await boris.sees("on tiptoe")
        await alice.page.get_by_role("button", name="Library, 3 unread messages").wait_for()
        await boris.write("aloud")
        await alice.until("() => window.told.length > 0")
        told = await alice.page.evaluate("window.told")
        assert [words.split(": ")[1] for _, words, _ in told] == ["aloud"], told
        await alice.page.get_by_role("button", name="Library, 4 unread messages").wait_for()


# Proves P26
@test("if turned on, the page notifies of reactions to the user's own messages and of no others")
async def _(test):
    room, users = two_in(test, "Cheers")
    users["alice"].create_room(name="Elsewhere")
    own, others = users["alice"].send(room, "it works"), users["boris"].send(room, "does it?")

    def react(event, key):
        users["boris"].put(room_path(room, "send", "m.reaction", key), {
            "m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": key}}).ok()

    async with people(test, "alice", permissions=["notifications"]) as alice:
        await told_away(alice, users["alice"])
        react(own, "🙈")
        await open_settings(alice.page)
        await alice.page.get_by_role("tab", name="Notifications").click()
        async with alice.page.expect_response(lambda answer: "martlet.reaction_notifications" in answer.url):
            await alice.page.get_by_label("Reactions to my messages").check()
        await alice.picture("settings-notifications-light")
        await alice.page.set_viewport_size(PHONE)
        await alice.picture("settings-notifications-phone")
        await alice.page.keyboard.press("Escape")
        react(others, "🎈")
        react(own, "👍")
        await alice.until("() => window.told.length > 0")
        told = await alice.page.evaluate("window.told")
        name = users["boris"].user_id.split(":")[0][1:]
        assert [told[0][0], told[0][1]] == ["Cheers", f"{name} reacted 👍 to: it works"] and len(told) == 1, told


# Proves P26
@test("quiet hours belong to the account: another browser gets them, and signing out removes them")
async def _(test):
    user = User(test.base, "alice")
    user.create_room(name="Elsewhere")
    path = f"user/{quote(user.user_id)}/account_data/martlet.quiet_hours"
    async with people(test, "alice", "boris") as (alice, other):
        await alice.sign_in(user)
        await open_settings(alice.page)
        await alice.page.get_by_role("tab", name="Notifications").click()
        async with alice.page.expect_response(lambda answer: "martlet.quiet_hours" in answer.url):
            await alice.page.get_by_label("Quiet from").fill("22:30")
        async with alice.page.expect_response(lambda answer: "martlet.quiet_hours" in answer.url):
            await alice.page.get_by_label("Quiet until").fill("07:05")
        offset = int(datetime.now().astimezone().utcoffset().total_seconds() / 60)
        assert user.get(path).ok() == {"from": 22 * 60 + 30, "to": 7 * 60 + 5, "utc_offset": offset}
        await other.sign_in(user)
        await other.until("() => localStorage['quiet-from'] === '22:30' && localStorage['quiet-until'] === '07:05'")
        # Changed elsewhere, by another clock: the next device corrects it.
        user.put(path, {"from": 60, "to": 0, "utc_offset": offset + 60}).ok()
        await other.until("() => localStorage['quiet-from'] === '01:00' && localStorage['quiet-until'] === '00:00'")
        async with other.page.expect_response(lambda answer: "martlet.quiet_hours" in answer.url):
            await other.page.reload()
        assert user.get(path).ok() == {"from": 60, "to": 0, "utc_offset": offset}
        user.put(path, {}).ok()
        await other.until("() => localStorage['quiet-from'] === undefined && localStorage['quiet-until'] === undefined")
        # Who comes next has others.
        user.put(path, {"from": 90, "to": 0, "utc_offset": offset}).ok()
        await alice.until("() => localStorage['quiet-from'] === '01:30'")
        await alice.page.get_by_role("tab", name="Profile").click()
        await alice.page.get_by_role("button", name="Sign out").click()
        await alice.dialog.get_by_role("button", name="Sign out").click()
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await alice.until("() => localStorage['quiet-from'] === undefined && localStorage['quiet-until'] === undefined")


@test("what is said in a message, with a NUL in it too, makes nobody's browser fetch anything")
async def _(test):
    room, users = two_in(test, "Traps")
    async with people(test, "alice", permissions=["notifications"], service_workers="block") as alice:
        asked = []
        alice.page.on("request", lambda request: asked.append(request.url))
        await told_away(alice, users["alice"])
        address = test.base + "/elsewhere.png"
        users["boris"].send(room, f"hi\0{address}")
        await alice.until("() => window.told.length > 0")
        told = await alice.page.evaluate("window.told")
        assert len(told) == 1 and told[0][0] == "Traps" and told[0][1].endswith(f": hi{address}") and told[0][2] == "icon-192.png", told
        assert address not in asked, asked


@test("a notification's picture is fetched where it is the account's, and left out where it is large or late: told is the newest by then")
async def _(test):
    users = {"alice": User(test.base, "alice")}
    async with people(test, "alice", permissions=["notifications"], service_workers="block") as alice:
        await told_away(alice, users["alice"])
        media, fetched = test.base + "/_matrix/client/v1/media/picture/", []

        async def fetch(route):
            name = route.request.url.rsplit("/", 1)[1]
            fetched.append(name)
            if name != "never":
                await route.fulfill(body=bytes((1 << 20) + (name == "large")), content_type="image/png")

        await alice.page.route("**/picture/*", fetch)
        told = await alice.page.evaluate("""async ([stranger, media]) => {
          const { showNotification } = await import('./attention.js');
          const show = (source, tag, body) => showNotification(() => {}, source, tag, tag, body);
          await show(stranger, 'stranger', '');
          await show(media + 'large', 'large', '');
          // On a busy machine it is late, too, and rightly left out.
          do {
            window.told = window.told.filter(([tag]) => tag !== 'right');
            await show(media + 'right', 'right', '');
          } while (!window.told.at(-1)[2].startsWith('data:'));
          await Promise.all([show(media + 'never', 'late', 'one'), show(media + 'never', 'late', 'two')]);
          return window.told.map(([tag, body, icon]) => [tag, body, icon.slice(0, 22)]);
        }""", [test.base + "/picture/stranger", media])
        assert told == [["stranger", "", "icon-192.png"], ["large", "", "icon-192.png"], ["right", "", "data:image/png;base64,"],
                        ["late", "two", "icon-192.png"]], told
        assert fetched == ["large"] + ["right"] * fetched.count("right") + ["never", "never"], fetched


@test("a sender's picture that does not come keeps nobody from being told, however fast more is said")
async def _(test):
    room, users = two_in(test, "Slow")
    boris = users["boris"]
    avatar = upload(boris, picture(300, 200), "me.png", "image/png")
    boris.put(f"profile/{quote(boris.user_id)}/avatar_url", {"avatar_url": avatar}).ok()
    async with people(test, "alice", permissions=["notifications"], service_workers="block") as alice:
        held, told = [], []
        await alice.page.route("**/media/thumbnail/**", lambda route: held.append(route))
        await told_away(alice, users["alice"])
        for number in range(400):
            boris.send(room, f"message {number}")
            told = await alice.page.evaluate("window.told")
            if told:
                break
        assert held and told and told[0][2] == "icon-192.png", (len(held), told)


# Proves C33
@test("the sound alone can be had, at once")
async def _(test):
    room, users = two_in(test, "Bells")
    async with people(test, "alice") as alice:
        await alice.page.add_init_script("""
          window.sounds = 0;
          const start = OscillatorNode.prototype.start;
          OscillatorNode.prototype.start = function (...given) { window.sounds++; return start.apply(this, given); };
          Object.defineProperty(document, 'hasFocus', { value: () => !window.isAway });""")
        await alice.page.reload()
        await alice.sign_in(users["alice"])
        await open_settings(alice.page)
        await alice.page.get_by_role("tab", name="Notifications").click()
        await alice.page.get_by_label("Play a sound").check()
        assert await alice.page.evaluate("window.sounds") == 1
        await alice.page.keyboard.press("Escape")
        await alice.page.evaluate("window.isAway = true; dispatchEvent(new Event('blur'))")
        users["boris"].send(room, "ding")
        await alice.until("() => window.sounds === 2")


# Proves C33
@test("where only a service worker may show notifications, a click on one leads to its room")
async def _(test):
    room, users = two_in(test, "Harbour")
    async with people(test, "alice", permissions=["notifications"], fresh=True, whole=True) as alice:
        await alice.page.add_init_script("""
          const granted = { permission: 'granted', requestPermission: async () => 'granted' };
          window.Notification = Object.assign(function () { throw new TypeError('Illegal constructor'); }, granted);
          window.shown = 0;
          const show = ServiceWorkerRegistration.prototype.showNotification;
          ServiceWorkerRegistration.prototype.showNotification = async function (...given) { await show.apply(this, given); window.shown++; };
          Object.defineProperty(document, 'hasFocus', { value: () => !window.isAway });""")
        await alice.page.reload()
        await alice.sign_in(users["alice"])
        await open_settings(alice.page)
        await alice.page.get_by_role("tab", name="Notifications").click()
        await alice.page.get_by_label("Show notifications of this browser").check()
        await alice.page.keyboard.press("Escape")
        await alice.page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        await alice.page.evaluate("window.isAway = true; dispatchEvent(new Event('blur'))")
        users["boris"].send(room, "a ship!")
        # Chromium forgets a notification that is asked for before it is displayed: it is not looked for until it was shown, and not at once.
        await alice.until("() => window.shown === 1")
        await alice.context.service_workers[0].evaluate("""async () => {
          let notification;
          for (const end = Date.now() + 10_000; !notification && Date.now() < end;) {
            await new Promise(done => setTimeout(done, 500));
            [notification] = await registration.getNotifications();
          }
          dispatchEvent(new NotificationEvent('notificationclick', { notification }));
        }""")
        await alice.heading("Harbour").wait_for()


# Proves C61, P45
@test("with letters twice as large everything is still there, on a phone too")
async def _(test):
    room, users = two_in(test, "Large print")
    for number in range(12):
        users["boris"].send(room, f"line {number} of a conversation that goes on for a while")
    for viewport in (None, PHONE):
        async with in_room(test, room, {"alice": users["alice"]}, viewport=viewport) as alice:
            small = await alice.words("line 11").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
            await alice.page.evaluate("document.documentElement.style.fontSize = '200%'")
            large = await alice.words("line 11").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
            assert large == 2 * small, (small, large)
            assert await alice.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            await alice.write("can be written")
            await alice.sees("can be written")
            for name in ("Send something else", "Emoji", "More about this room"):
                box = await alice.page.get_by_role("button", name=name, exact=True).bounding_box()
                size = alice.page.viewport_size
                assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"] + 0.5 and box["y"] + box["height"] <= size["height"] + 0.5, (name, box)
            await alice.picture("large-print" + ("-phone" if viewport else ""))
