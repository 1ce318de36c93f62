"""What one does in a chat beyond writing: keys, fingers, stickers, drafts on two devices, conversations put away."""
import asyncio
import contextlib
import re
from urllib.parse import quote

from browser import PHONE, expect, in_room, people, room_fragment, send_files, still
from client import User, room_path
from harness import test
from test_browser import fits, picture, upload
from test_composer import Recorder, last, sign_in_in_arabic, two_in

NEEDS_BROWSER = True


def replying_to(text):
    """What stands above the composer then."""
    return re.compile(f"Replying to .*{text}")


def account_data(user, kind, room=None):
    place = f"/rooms/{quote(room, safe='')}" if room else ""
    return f"user/{quote(user.user_id, safe='')}{place}/account_data/{kind}"


# Proves B20, P9, P46
@test("by keyboard alone: F6 goes through the parts of the page, a message is answered, set in bold, a room marked as read")
async def _(test):
    room, users = two_in(test, "Orchard")
    users["boris"].send(room, "the plums are ripe")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page, keyboard = alice.page, alice.page.keyboard
        await alice.sees("the plums are ripe")
        await expect(page.get_by_role("heading", name="Orchard")).to_be_focused()
        # Of the list itself nothing would be said.
        newest = alice.message("the plums are ripe")
        for part in (newest, alice.composer, alice.entry("Orchard")):
            await keyboard.press("F6")
            await expect(part).to_be_focused()
        for part in (alice.composer, newest):
            await keyboard.press("Shift+F6")
            await expect(part).to_be_focused()
        await keyboard.press("Enter")
        await expect(alice.line("Reply")).to_be_focused()
        await keyboard.press("Enter")
        await page.get_by_text(replying_to("the plums are ripe")).wait_for()
        await expect(alice.composer).to_be_focused()
        await keyboard.type("very")
        await keyboard.press("Control+a")
        await keyboard.press("Control+b")
        await alice.composed("**very**")
        await keyboard.press("Control+b")
        await alice.composed("very")
        await keyboard.press("Control+i")
        await keyboard.press("Enter")
        await alice.message("very").get_by_role("emphasis").get_by_text("very").wait_for()
        # F6 stays in a dialog, where there is but one part.
        await keyboard.press("Control+/")
        await page.get_by_role("dialog", name="Keyboard shortcuts").get_by_text("F6").wait_for()
        await alice.picture("shortcuts-light")
        await keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
        users["alice"].put(account_data(users["alice"], "m.marked_unread", room), {"unread": True}).ok()
        await page.get_by_role("button", name="Orchard, marked as unread").wait_for()
        await expect(alice.composer).to_be_focused()
        await keyboard.press("Escape")
        await page.get_by_role("button", name="Orchard, marked as unread").wait_for(state="detached")
        sent = last(users["boris"], room)
        assert sent["m.relates_to"]["m.in_reply_to"] and sent["formatted_body"] == "<em>very</em>", sent


class Finger:
    """One on a screen, as the browser's protocol has it."""

    def __init__(self, session):
        self.session = session

    @classmethod
    async def of(cls, person):
        return cls(await person.context.new_cdp_session(person.page))

    async def tell(self, kind, *point):
        points = [{"x": point[0], "y": point[1]}] if point else []
        await self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    async def slide(self, start, end, steps=8):
        """All at once: a finger that the browser waits for rests on the message, which opens its menu."""
        way = [tuple(a + (b - a) * step / steps for a, b in zip(start, end)) for step in range(1, steps + 1)]
        await asyncio.gather(self.tell("touchStart", *start), *(self.tell("touchMove", *point) for point in way))

    async def lift(self):
        await self.tell("touchEnd")

    async def pinch(self, middle, apart, steps=8):
        """Two of them, from one distance to another."""
        for step in range(steps + 1):
            reach = (apart[0] + (apart[1] - apart[0]) * step / steps) / 2
            points = [{"x": middle[0] + side * reach, "y": middle[1], "id": side + 1} for side in (-1, 1)]
            await self.session.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": points})
        await self.lift()


async def centre(locator):
    """Where a finger touches it, once it stands still: a room that opens still moves."""
    box = await still(locator)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def swiped(person, text=None, is_enough=False):
    """The message that a finger has moved, so far that it is answered: where it stands has no role."""
    return person.message(text).and_(person.page.locator('[data-swipe="ready"]' if is_enough else "[data-swipe]"))


@contextlib.asynccontextmanager
async def long_room_on_phone(test, word):
    """(Alice at a phone, her finger, what says more) in a room with thirty messages of Boris's: that word and a number from 0 on."""
    room, users = two_in(test, "Pond")
    for number in range(30):
        users["boris"].send(room, f"{word} {number}")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, has_touch=True) as alice:
        finger = await Finger.of(alice)
        await alice.sees(f"{word} 29")
        yield alice, finger, lambda text: users["boris"].send(room, text)


@test("a finger that rests on a message or a room opens its menu, and presses nothing when it goes up; one that moves opens none")
async def _(test):
    async with long_room_on_phone(test, "newt") as (alice, finger, _):
        page = alice.page
        # Whatever this browser tells of a finger that rests: iOS tells nothing.
        await page.evaluate("addEventListener('contextmenu', e => { if (e.isTrusted) e.stopImmediatePropagation(); }, true)")
        x, y = await centre(alice.message("newt 29"))
        await finger.slide((x, y), (x, y - 60))
        await finger.lift()
        await finger.tell("touchStart", x, y)
        await page.get_by_role("menuitem", name="Reply", exact=True).wait_for()
        await finger.lift()
        await expect(page.get_by_role("menuitem", name="Reply", exact=True)).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("menu").wait_for(state="detached")
        await page.get_by_role("button", name="Back to conversations").locator("visible=true").click()
        x, y = await centre(alice.entry("Pond"))
        await finger.tell("touchStart", x, y)
        await page.get_by_role("menuitem", name="Mute").wait_for()
        await finger.lift()
        await expect(page.get_by_role("menuitem", name="Mute")).to_be_visible()


# Proves P39
@test("a message swiped far enough is answered, not far enough is not; to the other side the times come; scrolling stays scrolling")
async def _(test):
    async with long_room_on_phone(test, "frog") as (alice, finger, say):
        page = alice.page
        x, y = await centre(alice.message("frog 29"))
        await finger.slide((x, y), (x + 30, y + 4))
        await swiped(alice, "frog 29").wait_for()
        await finger.lift()
        await expect(swiped(alice)).to_have_count(0)
        assert not await page.get_by_text("Replying to").is_visible()
        await finger.slide((x, y), (x + 100, y + 4))
        await swiped(alice, "frog 29", is_enough=True).wait_for()
        await alice.picture("swipe-phone")
        # A message that comes meanwhile changes how this one is drawn, not what the finger does.
        say("frog 30")
        await alice.sees("frog 30")
        await swiped(alice, "frog 29", is_enough=True).wait_for()
        await finger.lift()
        await page.get_by_text(replying_to("frog 29")).wait_for()
        await expect(swiped(alice)).to_have_count(0)

        times = alice.message("frog 26").get_by_text(re.compile(r"^\d{1,2}:\d{2}$"))
        assert not await times.is_visible()
        x, y = await centre(alice.message("frog 26"))
        await finger.slide((x, y), (x - 90, y))
        await times.wait_for()
        await alice.picture("times-phone")
        await finger.lift()
        await times.wait_for(state="hidden")

        feed = await alice.feed.element_handle()
        before = await feed.evaluate("feed => feed.scrollTop")
        await finger.slide((x, y), (x + 12, y + 150))
        await finger.lift()
        await alice.until("([feed, before]) => feed.scrollTop < before - 60", [feed, before])
        assert await swiped(alice).count() == 0 and not await times.is_visible()


# Proves T19
@test("pulling the list down leaves the box, so that the keyboard goes; pushing it up does not")
async def _(test):
    async with long_room_on_phone(test, "snail") as (alice, finger, _):
        await alice.composer.tap()
        await expect(alice.composer).to_be_focused()
        x, y = await centre(alice.message("snail 27"))
        feed = await alice.feed.element_handle()
        await feed.evaluate("feed => { feed.scrollTop -= 400; }")
        before = await feed.evaluate("feed => feed.scrollTop")
        await finger.slide((x, y), (x, y - 150))
        await finger.lift()
        await alice.until("([feed, before]) => feed.scrollTop > before + 60", [feed, before])
        await expect(alice.composer).to_be_focused()
        await finger.slide((x, y), (x, y + 150))
        await finger.lift()
        await expect(alice.composer).not_to_be_focused()


# Proves P31
@test("a room's line drawn aside far enough opens its menu, to the other side it is read or unread; not far enough, or along the list, neither")
async def _(test):
    room, users = two_in(test, "Orchard")
    async with people(test, "alice", viewport=PHONE, has_touch=True, is_mobile=True) as alice:
        await alice.sign_in(users["alice"])
        finger, start = await Finger.of(alice), await centre(alice.entry("Orchard"))
        ready = alice.page.locator(".ma-drawn-ready")
        for by in ((30, 0), (0, 80), (40, 60)):
            await finger.slide(start, (start[0] + by[0], start[1] + by[1]))
            await finger.lift()
        await finger.slide(start, (start[0] - 90, start[1] + 4))
        await expect(ready).to_have_count(1)
        await alice.picture("swipe-room-phone")
        assert not await alice.dialog.count()
        await finger.lift()
        await alice.line("Mark as unread").wait_for()
        await expect(ready).to_have_count(0)
        await alice.page.keyboard.press("Escape")
        await expect(alice.dialog).to_have_count(0)
        # What stands below the line says what will be.
        below = "mark => getComputedStyle(mark, '::before').content"
        for words, name in (("Mark as unread", "Orchard, marked as unread"), ("Mark as read", "Orchard")):
            await finger.slide(start, (start[0] + 90, start[1] + 4))
            await expect(ready).to_have_count(1)
            assert await ready.evaluate(below) == f'"{words}"'
            await alice.picture(f"swipe-room-{words.split()[-1]}-phone")
            await finger.lift()
            await alice.rooms.get_by_role("button", name=name, exact=True).wait_for()
            await expect(ready).to_have_count(0)
        assert not await alice.dialog.count()
        # A touch still opens the room.
        await alice.entry("Orchard").tap()
        await expect(alice.page.get_by_role("heading", name="Orchard")).to_be_visible()


# Proves P39
@test("in Arabic a message is swiped to the left, and without motion nothing slides")
async def _(test):
    room, users = two_in(test, "Well")
    users["boris"].send(room, "deep")
    options = {"viewport": PHONE, "has_touch": True, "locale": "ar", "scheme": "dark"}
    async with people(test, "alice", **options) as alice:
        page, finger = alice.page, await Finger.of(alice)
        await page.emulate_media(reduced_motion="reduce")
        await sign_in_in_arabic(alice, users["alice"])
        await alice.open_room(room)
        row = alice.message("deep")
        x, y = await centre(row)
        await finger.slide((x, y), (x - 100, y))
        await swiped(alice, "deep", is_enough=True).wait_for()
        assert (await centre(row))[0] == x
        await alice.picture("swipe-arabic-dark")
        await finger.lift()
        await page.get_by_text(re.compile("الرد على .*deep")).wait_for()

        # A room's line is drawn to the left to be unread there; that is said above it where it stays in its place.
        await page.evaluate("() => { location.hash = ''; }")
        line = page.get_by_role("button", name=re.compile("^Well(, |$)"))
        x, y = await centre(line)
        await finger.slide((x, y), (x - 90, y + 4))
        await page.locator(".ma-drawn-ready").wait_for()
        assert (await centre(line))[0] == x
        await alice.picture("swipe-room-arabic-dark")
        await finger.lift()
        await page.get_by_role("button", name=re.compile("^Well, ")).wait_for()


# Proves P12
@test("the microphone is held to record and let go to send; slid away nothing is sent, slid up it goes on")
async def _(test):
    room, users = two_in(test, "Tower")
    options = {"viewport": PHONE, "has_touch": True}
    async with in_room(test, room, {"alice": users["alice"]}, flags=["--use-fake-ui-for-media-stream"], **options) as alice:
        page, finger = alice.page, await Finger.of(alice)
        x, y = await centre(page.get_by_role("button", name="Voice message"))
        recorder = Recorder(alice)
        await finger.tell("touchStart", x, y)
        await recorder.hears(6)
        await page.get_by_text("Slide away to cancel").wait_for()
        await alice.picture("hold-phone")
        await finger.tell("touchMove", x - 120, y)
        await recorder.group.wait_for(state="detached")
        await finger.lift()

        await finger.tell("touchStart", x, y)
        await recorder.hears(3)
        await finger.tell("touchMove", x, y - 90)
        await recorder.group.get_by_role("button", name="Stop").wait_for()
        await finger.lift()
        await recorder.group.get_by_role("button", name="Cancel").click()
        await recorder.group.wait_for(state="detached")
        assert await alice.message().get_by_role("button", name="Play").count() == 0

        await finger.tell("touchStart", x, y)
        await recorder.hears(8)
        await finger.lift()
        await alice.message(re.compile(", (Sent|Delivered|Read)")).get_by_role("button", name="Play").wait_for()
        assert "org.matrix.msc3245.voice" in last(users["boris"], room)


# Proves C47, P10
@test("stickers: those of the room, one of a file, one of a picture somebody sent; they are sent and taken away")
async def _(test):
    room, users = two_in(test, "Nest")
    boris = users["boris"]
    owl = upload(boris, picture(120, 90), "owl.png", "image/png")
    pack = {"pack": {"display_name": "Birds"}, "images": {"owl": {"url": owl, "body": "An owl", "usage": ["sticker"]}}}
    users["alice"].state(room, "im.ponies.room_emotes", pack, "birds").ok()
    sent = boris.put(room_path(room, "send", "m.room.message", "p1"), {"msgtype": "m.image", "body": "hen.png", "url": owl, "info": {"w": 120, "h": 90}})
    sent.ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        dialog = page.get_by_role("dialog")

        async def stickers():
            await page.get_by_role("button", name="Emoji").click()
            await dialog.get_by_role("tab", name="Stickers").click()

        await stickers()
        await dialog.get_by_role("heading", name="Birds").wait_for()
        await dialog.get_by_role("button", name="An owl").click()
        await alice.message("An owl").get_by_role("img", name="An owl").wait_for()
        await page.get_by_role("button", name="Open image hen.png").click(button="right")
        await alice.choose("Add to your stickers")
        await page.get_by_text("It is among your stickers now.").wait_for()
        await stickers()
        await dialog.get_by_role("heading", name="Your stickers").wait_for()
        async with page.expect_file_chooser() as chooser:
            await dialog.get_by_role("button", name="Add a picture").click()
        await (await chooser.value).set_files([{"name": f"{name}.png", "mimeType": "image/png", "buffer": picture(120, 90)} for name in ("wren", "jay")])
        await dialog.get_by_role("button", name="jay.png").wait_for()
        await expect(alice.loaded(dialog.get_by_role("button").locator("img"))).to_have_count(4)
        await alice.picture("stickers-light")
        await dialog.get_by_role("button", name="wren.png").click()
        await alice.message("wren.png").get_by_role("img", name="wren.png").wait_for()
        await expect(alice.message(re.compile("An owl|wren.png"))).to_have_count(2)
        own = users["alice"].get(account_data(users["alice"], "im.ponies.user_emotes")).ok()["images"]
        assert sorted(own) == ["hen", "jay", "wren"] and own["hen"]["url"] == owl, own
        await stickers()
        await dialog.get_by_label("Remove stickers by clicking them").check()
        await dialog.get_by_role("button", name="hen.png").click()
        await dialog.get_by_role("button", name="hen.png").wait_for(state="detached")
        await dialog.get_by_role("button", name="An owl").wait_for()
        boris.sync_until(lambda answer: any(event["type"] == "m.sticker" and event["content"]["body"] == "wren.png"
                         for event in answer.get("rooms", {}).get("join", {}).get(room, {}).get("timeline", {}).get("events", [])))


# Proves P10
@test("a picture of a pack is chosen behind a colon, stands in the line of a message for all, and by its name where it cannot be had")
async def _(test):
    room, users = two_in(test, "Perch")
    boris = users["boris"]
    owl = upload(boris, picture(120, 90), "owl.png", "image/png")
    pack = {"images": {"barn_owl": {"url": owl}, "gone": {"url": "mxc://test.example/nothing"}, "big": {"url": owl, "usage": ["sticker"]}}}
    users["alice"].state(room, "im.ponies.room_emotes", pack, "birds").ok()
    for viewport in (None, PHONE):
        async with in_room(test, room, {"alice": users["alice"]}, viewport=viewport) as alice:
            await alice.composer.press_sequentially("what an :owl")
            option = alice.page.get_by_role("option", name=":barn_owl:")
            await alice.loaded(option.locator("img")).wait_for()
            await alice.picture("emoticon-choice" + ("-phone" if viewport else "-light"))
            # What came first is chosen still: the emoji or the pictures.
            while await option.get_attribute("aria-selected") != "true":
                await alice.page.keyboard.press("ArrowUp")
            await alice.page.keyboard.press("Enter")
            await alice.composed("what an :barn_owl:")
            await alice.composer.press_sequentially(" **and :gone:** not :big:")
            await alice.page.keyboard.press("Escape")
            await alice.page.keyboard.press("Enter")
            message = alice.message("not :big:").last
            await alice.loaded(message.get_by_role("img", name=":barn_owl:")).wait_for()
            # As high as the line it stands in; what is not there is read.
            await alice.until("""() => {
              const last = name => [...document.querySelectorAll(`[role=feed] img[alt=":${name}:"]`)].at(-1)?.getBoundingClientRect();
              return last('barn_owl')?.height >= 16 && last('barn_owl').height <= 28 && last('gone')?.width > 24;
            }""")
            await fits(alice)
            await alice.picture("emoticon" + ("-phone" if viewport else "-light"))
            # The next visit would go on with a draft of this one.
            while users["alice"].get(account_data(users["alice"], "martlet.draft", room)).json.get("text"):
                await asyncio.sleep(0.05)
    content = boris.get(room_path(room, "messages"), dir="b", limit=5).ok()["chunk"][0]["content"]
    image = f'<img data-mx-emoticon src="{owl}" alt=":barn_owl:" title=":barn_owl:" height="32">'
    assert content["body"] == "what an :barn_owl: **and :gone:** not :big:" and content["formatted_body"].startswith("what an " + image + " <strong>and <img "), content
    assert content["formatted_body"].endswith("</strong> not :big:"), content


# Proves P10
@test("a hand takes its colour, and keeps it")
async def _(test):
    room, users = two_in(test, "Hall")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        dialog = page.get_by_role("dialog")
        await page.get_by_role("button", name="Emoji").click()
        await dialog.get_by_label("Skin tone").select_option("🏽")
        await dialog.get_by_label("Search emoji").fill("wave")
        await dialog.get_by_role("button", name="wav").filter(has_text="👋🏽").click()
        await alice.composed("👋🏽")
        await page.reload()
        await page.get_by_role("button", name="Emoji").click()
        await dialog.get_by_role("button", name="wav").filter(has_text="👋🏽").first.wait_for()


# Proves P10
@test("emoji are called and found by their names in the reader's language, without its accents, and by the English ones")
async def _(test):
    user = User(test.base, "alice")
    room = user.create_room(name="Flur")
    async with people(test, "alice", locale="de-DE", fresh=True) as alice:
        await alice.sign_in(user, room_fragment(room), profile="Dein Profil")
        await alice.page.get_by_role("button", name="Emoji", exact=True).click()
        search = alice.page.get_by_role("dialog").get_by_label("Emoji suchen")
        for words, emoji in (("daumen h", "👍"), ("FREUDENTRANEN", "😂"), ("thumbs up", "👍")):
            await search.fill(words)
            await alice.page.get_by_role("dialog").locator(".ma-emoji").first.filter(has_text=emoji).wait_for()
        await alice.page.get_by_role("button", name="Daumen hoch", exact=True).click()
        await expect(alice.page.get_by_role("textbox", name="Nachricht schreiben", exact=True)).to_have_value("👍")


# Proves P22
@test("what is written on one device stands in the composer of the other, and is gone there once it is sent")
async def _(test):
    user = User(test.base, "writer")
    room = user.create_room(name="Desk")
    user.send(room, "paper")
    async with people(test, "writer", "writer2") as (one, two):
        for person in (one, two):
            await person.sign_in(user)
            await person.open_room(room)
        await one.composer.fill("half a thought")
        await two.composed("half a thought")
        await two.composer.fill("half a thought, and the rest")
        await one.composed("half a thought, and the rest")
        await one.composer.press("Enter")
        await two.sees("half a thought, and the rest")
        await two.composed("")


# A second of a canvas that changes its colour, as a browser records it, dropped on the composer.
FILM = """async composer => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 200 });
  const context = canvas.getContext('2d');
  const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' }), parts = [];
  recorder.ondataavailable = e => parts.push(e.data);
  const over = new Promise(done => { recorder.onstop = done; });
  recorder.start();
  for (let frame = 0; frame < 20; frame++) {
    context.fillStyle = `hsl(${frame * 18} 80% 50%)`;
    context.fillRect(0, 0, 320, 200);
    await new Promise(requestAnimationFrame);
  }
  recorder.stop();
  await over;
  const given = new DataTransfer();
  given.items.add(new File(parts, 'film.webm', { type: 'video/webm' }));
  composer.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: given }));
}"""


# Proves C43
@test("a video goes out with a picture of it, which stands there before it is played")
async def _(test):
    room, users = two_in(test, "Cinema")
    async with in_room(test, room, users) as (alice, boris):
        await alice.composer.evaluate(FILM)
        await alice.dialog.get_by_role("img", name="film.webm").wait_for()
        await send_files(alice)
        await boris.loaded(boris.page.get_by_role("img", name="film.webm")).wait_for()
        content = last(users["boris"], room)
        assert content["msgtype"] == "m.video" and (content["info"]["w"], content["info"]["h"]) == (320, 200), content
        thumbnail = content["info"]["thumbnail_info"]
        assert (thumbnail["w"], thumbnail["h"], thumbnail["mimetype"]) == (320, 200, "image/jpeg"), thumbnail
        assert content["info"]["thumbnail_url"] != content["url"]


# Proves P13
@test("a video is looked at large: it plays by itself, has its name and the browser's controls, and stands among the pictures")
async def _(test):
    room, users = two_in(test, "Screening")
    still = upload(users["boris"], picture(120, 90), "still.png", "image/png")
    users["boris"].put(room_path(room, "send", "m.room.message", "p1"), {"msgtype": "m.image", "body": "still.png", "url": still, "info": {"w": 120, "h": 90}}).ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.composer.evaluate(FILM)
        await alice.dialog.get_by_role("img", name="film.webm").wait_for()
        await send_files(alice)
        # Sent, it is still called what it is.
        await alice.message(re.compile(", (Sent|Delivered|Read).*film.webm")).get_by_role("button", name="Open video film.webm").click()
        viewer = page.get_by_role("dialog", name="film.webm")
        film = viewer.get_by_label("film.webm", exact=True)
        await alice.until("film => film.currentTime > 0 && film.videoWidth === 320 && film.controls", await film.element_handle())
        await alice.picture("viewer-video")
        # A click is for its controls: it makes nothing large, and closes nothing.
        await film.click()
        assert await viewer.is_visible()
        async with page.expect_download() as download:
            await viewer.get_by_role("button", name="Download").click()
        assert (await download.value).suggested_filename == "film.webm"
        await viewer.get_by_role("button", name="Previous").click()
        await alice.loaded(page.get_by_role("dialog", name="still.png").get_by_role("img")).wait_for()
        await page.get_by_role("button", name="Next", exact=True).click()
        await page.get_by_role("dialog", name="film.webm").wait_for()
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")


# Proves P5
@test("a message deleted only for the user stays gone on all their devices; others still see it")
async def _(test):
    room, users = two_in(test, "Kitchen")
    users["boris"].send(room, "the first")
    users["boris"].send(room, "the embarrassing one")
    async with people(test, "alice", "phone", "boris") as (alice, phone, boris):
        for person, user in ((alice, users["alice"]), (phone, users["alice"]), (boris, users["boris"])):
            await person.sign_in(user)
            await person.open_room(room)
            await person.sees("the embarrassing one")
        await alice.message_menu("the embarrassing one", "Delete for me")
        await alice.dialog.get_by_text("Others still see it").wait_for()
        await alice.picture("delete-for-me-light")
        await alice.dialog.get_by_role("button", name="Delete for everyone").wait_for(state="detached")
        await alice.dialog.get_by_role("button", name="Delete for me").click()
        await alice.message("the embarrassing one").wait_for(state="detached")
        await phone.message("the embarrassing one").wait_for(state="detached")
        await expect(alice.entry("Kitchen")).not_to_contain_text("embarrassing")
        await expect(alice.entry("Kitchen")).not_to_contain_text("No messages yet")
        await alice.more("Search in this room")
        await alice.page.get_by_label("Search for").fill("embarrassing")
        await alice.page.get_by_label("Search for").press("Enter")
        await alice.page.get_by_text("Nothing was found.").wait_for()
        await alice.page.keyboard.press("Escape")
        users["boris"].send(room, "did you see it?")
        for person in (alice, phone, boris):
            await person.sees("did you see it?")
        assert await boris.message("the embarrassing one").count() == 1
        await alice.page.reload()
        await alice.sees("did you see it?")
        await alice.sees("the first")
        assert await alice.message("the embarrassing one").count() == 0
