"""What one does in a chat beyond writing: keys, fingers, stickers, drafts on two devices, conversations put away."""
from urllib.parse import quote

from browser import PHONE, in_room, people, send_files
from client import User, room_path
from harness import test
from test_browser import picture, upload
from test_composer import last, two_in

FOCUS = "selector => document.activeElement?.matches(selector)"


def account_data(user, kind, room=None):
    place = f"/rooms/{quote(room, safe='')}" if room else ""
    return f"user/{quote(user.user_id, safe='')}{place}/account_data/{kind}"


@test("by keyboard alone: F6 goes through the parts of the page, a message is answered, set in bold, a room marked as read")
async def _(test):
    room, users = two_in(test, "Orchard")
    users["boris"].send(room, "the plums are ripe")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page, keyboard = alice.page, alice.page.keyboard
        await alice.sees("the plums are ripe")
        await alice.until(FOCUS, ".ma-room-title")
        for selector in (".mg-scroller", ".mg-input", ".ma-entry"):
            await keyboard.press("F6")
            await alice.until(FOCUS, selector)
        for selector in (".mg-input", ".mg-scroller"):
            await keyboard.press("Shift+F6")
            await alice.until(FOCUS, selector)
        await keyboard.press("ArrowUp")
        await alice.until(FOCUS, ".mg-row")
        await keyboard.press("Enter")
        await page.get_by_role("dialog").wait_for()
        await alice.until("() => document.activeElement.textContent === 'Reply'")
        await keyboard.press("Enter")
        await page.locator(".ma-writer-banner", has_text="the plums are ripe").wait_for()
        await alice.until(FOCUS, ".mg-input")
        await keyboard.type("very")
        await keyboard.press("Control+a")
        await keyboard.press("Control+b")
        await alice.until("() => document.querySelector('.mg-input').value === '**very**'")
        await keyboard.press("Control+b")
        await alice.until("() => document.querySelector('.mg-input').value === 'very'")
        await keyboard.press("Control+i")
        await keyboard.press("Enter")
        await page.locator(".mg-row em", has_text="very").wait_for()
        # F6 stays in a dialog, where there is but one part.
        await keyboard.press("Control+/")
        await page.get_by_role("dialog", name="Keyboard shortcuts").get_by_text("F6").wait_for()
        await alice.picture("shortcuts-light")
        await keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
        users["alice"].put(account_data(users["alice"], "m.marked_unread", room), {"unread": True}).ok()
        await page.get_by_role("button", name="Orchard, marked as unread").wait_for()
        await alice.until(FOCUS, ".mg-input")
        await keyboard.press("Escape")
        await page.get_by_role("button", name="Orchard, marked as unread").wait_for(state="detached")
        sent = last(users["boris"], room)
        assert sent["m.relates_to"]["m.in_reply_to"] and sent["formatted_body"] == "<em>very</em>", sent


@test("a conversation is hidden until its next message, found among the hidden ones and shown again; several are chosen at once")
async def _(test):
    room, users = two_in(test, "Attic")
    for name in ("Cellar", "Barn"):
        users["alice"].create_room(name=name)
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(users["alice"])

        async def menu(name, choice):
            await alice.entry(name).click(button="right")
            await page.get_by_role("dialog").get_by_role("button", name=choice).click()

        await menu("Attic", "Hide until the next message")
        await alice.entry("Attic").wait_for(state="detached")
        show = page.get_by_label("Show", exact=True)
        await show.select_option(label="Hidden until the next message")
        await alice.entry("Attic").wait_for()
        await alice.entry("Barn").wait_for(state="detached")
        await menu("Attic", "Show in the list again")
        await alice.entry("Attic").wait_for(state="detached")
        await show.select_option(label="All conversations")
        await alice.entry("Attic").wait_for()

        await menu("Barn", "Choose several conversations")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Attic").check()
        await alice.picture("several-light")
        await dialog.get_by_role("button", name="Hide until the next message").click()
        for name in ("Attic", "Barn"):
            await alice.entry(name).wait_for(state="detached")
        users["boris"].send(room, "somebody left the light on")
        await alice.entry("Attic").wait_for()

        await menu("Cellar", "Choose several conversations")
        await dialog.get_by_label("All conversations").check()
        await dialog.get_by_role("button", name="Leave room").click()
        await page.get_by_role("dialog", name="Leave 2 rooms?").get_by_role("button", name="Leave room").click()
        for name in ("Attic", "Cellar"):
            await alice.entry(name).wait_for(state="detached")
        assert len(users["alice"].get("joined_rooms").ok()["joined_rooms"]) == 1


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
        await self.tell("touchStart", *start)
        for step in range(1, steps + 1):
            await self.tell("touchMove", *(a + (b - a) * step / steps for a, b in zip(start, end)))

    async def lift(self):
        await self.tell("touchEnd")


async def centre(locator):
    box = await locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@test("a message swiped far enough is answered, not far enough is not; to the other side the times come; scrolling stays scrolling")
async def _(test):
    room, users = two_in(test, "Pond")
    for number in range(30):
        users["boris"].send(room, f"frog {number}")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, has_touch=True) as alice:
        page, finger = alice.page, await Finger.of(alice)
        await alice.sees("frog 29")
        row = page.locator(".mg-row", has_text="frog 27")
        x, y = await centre(row)
        await finger.slide((x, y), (x + 30, y + 4))
        await page.locator(".mg-swiped", has_text="frog 27").wait_for()
        await finger.lift()
        await page.locator(".mg-swiped").wait_for(state="detached")
        assert not await page.locator(".ma-writer-banner").is_visible()
        await finger.slide((x, y), (x + 100, y + 4))
        await page.locator(".mg-swipe-ready", has_text="frog 27").wait_for()
        await alice.picture("swipe-phone")
        await finger.lift()
        await page.locator(".ma-writer-banner", has_text="frog 27").wait_for()
        await alice.until("() => document.querySelector('.mg-swiped') === null")

        times = page.locator(".mg-row", has_text="frog 26").locator(".mg-time")
        assert not await times.is_visible()
        x, y = await centre(page.locator(".mg-row", has_text="frog 26"))
        await finger.slide((x, y), (x - 90, y))
        await times.wait_for()
        await alice.picture("times-phone")
        await finger.lift()
        await times.wait_for(state="hidden")

        before = await page.evaluate("document.querySelector('.mg-scroller').scrollTop")
        await finger.slide((x, y), (x + 12, y + 150))
        await finger.lift()
        await alice.until("before => document.querySelector('.mg-scroller').scrollTop < before - 60", before)
        assert await page.locator(".mg-swiped, .mg-times").count() == 0


@test("in Arabic a message is swiped to the left, and without motion nothing slides")
async def _(test):
    room, users = two_in(test, "Well")
    users["boris"].send(room, "deep")
    options = {"viewport": PHONE, "has_touch": True, "locale": "ar", "scheme": "dark"}
    async with people(test, "alice", **options) as alice:
        page, finger = alice.page, await Finger.of(alice)
        await page.emulate_media(reduced_motion="reduce")
        fields = page.locator("input:visible")
        await fields.nth(0).fill(users["alice"].user_id)
        await page.locator("input[type=password]:visible").fill("correct horse battery")
        await page.locator("button[type=submit]:visible").first.click()
        await page.locator(".ma-entry").first.wait_for()
        await alice.open_room(room)
        row = page.locator(".mg-row", has_text="deep")
        x, y = await centre(row)
        await finger.slide((x, y), (x - 100, y))
        await page.locator(".mg-swipe-ready").wait_for()
        assert (await centre(row))[0] == x
        await alice.picture("swipe-arabic-dark")
        await finger.lift()
        await page.locator(".ma-writer-banner", has_text="deep").wait_for()


@test("the microphone is held to record and let go to send; slid away nothing is sent, slid up it goes on")
async def _(test):
    room, users = two_in(test, "Tower")
    options = {"viewport": PHONE, "has_touch": True}
    async with in_room(test, room, {"alice": users["alice"]}, flags=["--use-fake-ui-for-media-stream"], **options) as alice:
        page, finger = alice.page, await Finger.of(alice)
        x, y = await centre(page.get_by_role("button", name="Voice message"))
        bars = "count => document.querySelectorAll('.ma-voice-wave i').length > count"
        await finger.tell("touchStart", x, y)
        await alice.until(bars, 6)
        await page.get_by_text("Slide away to cancel").wait_for()
        await alice.picture("hold-phone")
        await finger.tell("touchMove", x - 120, y)
        await page.locator(".ma-voice").wait_for(state="detached")
        await finger.lift()

        await finger.tell("touchStart", x, y)
        await alice.until(bars, 3)
        await finger.tell("touchMove", x, y - 90)
        await page.locator(".ma-voice").get_by_role("button", name="Stop").wait_for()
        await finger.lift()
        await page.locator(".ma-voice").get_by_role("button", name="Cancel").click()
        await page.locator(".ma-voice").wait_for(state="detached")
        assert await page.locator(".mg-voice").count() == 0

        await finger.tell("touchStart", x, y)
        await alice.until(bars, 8)
        await finger.lift()
        await page.locator(".mg-voice").wait_for()
        await page.locator(".mg-row:not(.mg-pending) .mg-voice").wait_for()
        assert "org.matrix.msc3245.voice" in last(users["boris"], room)


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
        await page.locator(".mg-sticker-box").wait_for()
        await page.locator(".mg-picture").first.click(button="right")
        await dialog.get_by_role("button", name="Add to your stickers").click()
        await page.get_by_text("It is among your stickers now.").wait_for()
        await stickers()
        await dialog.get_by_role("heading", name="Your stickers").wait_for()
        async with page.expect_file_chooser() as chooser:
            await dialog.get_by_role("button", name="Add a picture").click()
        await (await chooser.value).set_files([{"name": f"{name}.png", "mimeType": "image/png", "buffer": picture(120, 90)} for name in ("wren", "jay")])
        await dialog.get_by_role("button", name="jay.png").wait_for()
        await alice.until("() => document.querySelectorAll('.ma-sticker img[data-state=loaded]').length === 4")
        await alice.picture("stickers-light")
        await dialog.get_by_role("button", name="wren.png").click()
        await alice.until("() => document.querySelectorAll('.mg-sticker-box').length === 2")
        own = users["alice"].get(account_data(users["alice"], "im.ponies.user_emotes")).ok()["images"]
        assert sorted(own) == ["hen", "jay", "wren"] and own["hen"]["url"] == owl, own
        await stickers()
        await dialog.get_by_label("Remove with a click").check()
        await dialog.get_by_role("button", name="hen.png").click()
        await dialog.get_by_role("button", name="hen.png").wait_for(state="detached")
        await dialog.get_by_role("button", name="An owl").wait_for()
        boris.sync_until(lambda answer: any(event["type"] == "m.sticker" and event["content"]["body"] == "wren.png"
                         for event in answer.get("rooms", {}).get("join", {}).get(room, {}).get("timeline", {}).get("events", [])))


@test("a hand takes its colour, and keeps it")
async def _(test):
    room, users = two_in(test, "Hall")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        dialog = page.get_by_role("dialog")
        await page.get_by_role("button", name="Emoji").click()
        await dialog.get_by_label("Skin tone").select_option("🏽")
        await dialog.get_by_label("Search emoji").fill("wave")
        await dialog.get_by_role("button", name="👋🏽").or_(dialog.locator(".ma-emoji", has_text="👋🏽")).first.click()
        await alice.until("() => document.querySelector('.mg-input').value === '👋🏽'")
        await page.reload()
        await page.get_by_role("button", name="Emoji").click()
        await dialog.locator(".ma-emoji", has_text="👋🏽").wait_for()


@test("what is written on one device stands in the composer of the other, and is gone there once it is sent")
async def _(test):
    user = User(test.base, "writer")
    room = user.create_room(name="Desk")
    user.send(room, "paper")
    async with people(test, "writer", "writer2") as (one, two):
        for person in (one, two):
            await person.sign_in(user)
            await person.open_room(room)
        await one.page.locator(".mg-input").fill("half a thought")
        await two.until("() => document.querySelector('.mg-input').value === 'half a thought'")
        await two.page.locator(".mg-input").fill("half a thought, and the rest")
        await one.until("() => document.querySelector('.mg-input').value === 'half a thought, and the rest'")
        await one.page.locator(".mg-input").press("Enter")
        await two.sees("half a thought, and the rest")
        await two.until("() => document.querySelector('.mg-input').value === ''")


# A second of a canvas that changes its colour, as a browser records it, dropped on the composer.
FILM = """async () => {
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
  document.querySelector('.mg-composer').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: given }));
}"""


@test("a video goes out with a picture of it, which stands there before it is played")
async def _(test):
    room, users = two_in(test, "Cinema")
    async with in_room(test, room, users) as (alice, boris):
        await alice.page.evaluate(FILM)
        await alice.page.locator(".ma-files-picture").wait_for()
        await send_files(alice)
        await boris.page.locator(".mg-picture-image[data-state=loaded]").wait_for()
        content = last(users["boris"], room)
        assert content["msgtype"] == "m.video" and (content["info"]["w"], content["info"]["h"]) == (320, 200), content
        thumbnail = content["info"]["thumbnail_info"]
        assert (thumbnail["w"], thumbnail["h"], thumbnail["mimetype"]) == (320, 200, "image/jpeg"), thumbnail
        assert content["info"]["thumbnail_url"] != content["url"]


@test("people are offered for a new group by name, chosen, and invited")
async def _(test):
    from client import fresh
    host, guest, other = User(test.base, "host"), User(test.base, "guest"), User(test.base, "other")
    square = host.create_room(name="Square", preset="public_chat")
    names = {}
    for user in (guest, other):
        names[user.user_id] = fresh("Beatrice")
        user.put(f"profile/{quote(user.user_id, safe='')}/displayname", {"displayname": names[user.user_id]}).ok()
        user.join(square)
    async with people(test, "host") as person:
        page = person.page
        await person.sign_in(host)
        await page.get_by_role("button", name="New conversation").first.click()
        await page.get_by_role("tab", name="New room").click()
        dialog = page.get_by_role("dialog")
        field = dialog.get_by_label("Invite (optional)")
        typed = ""
        for user in (guest, other):
            await field.fill(typed + names[user.user_id])
            await page.locator(f"datalist option[value='{typed}{user.user_id}']").wait_for(state="attached")
            typed += user.user_id + " "
        await field.fill(typed)
        await person.picture("guests-light")
        await dialog.get_by_role("textbox", name="Room name").fill("Choir")
        await dialog.get_by_role("button", name="Create room").click()
        await page.locator(".ma-room-name", has_text="Choir").wait_for()
        for user in (guest, other):
            user.sync_until(lambda answer: answer.get("rooms", {}).get("invite"))


@test("who read when, who voted, what was said when, that something is pinned: each is told where one looks for it")
async def _(test):
    room, users = two_in(test, "Archive")
    alice_user, boris_user = users["alice"], users["boris"]
    event = alice_user.send(room, "first words")
    alice_user.put(room_path(room, "send", "m.room.message", "e1"), {
        "msgtype": "m.text", "body": "* second words", "m.new_content": {"msgtype": "m.text", "body": "second words"},
        "m.relates_to": {"rel_type": "m.replace", "event_id": event}}).ok()
    boris_user.post(room_path(room, "receipt", "m.read", event)).ok()
    async with in_room(test, room, {"alice": alice_user}) as alice:
        page = alice.page
        dialog = page.get_by_role("dialog")
        await alice.sees("second words")
        await page.locator(".mg-readers").click()
        await dialog.locator(".ma-member .ma-entry-preview").wait_for()
        assert any(character.isdigit() for character in await dialog.locator(".ma-member .ma-entry-preview").inner_text())
        await page.keyboard.press("Escape")
        await alice.message("second words").click(button="right")
        await dialog.get_by_role("button", name="History of edits").click()
        versions = await dialog.locator(".ma-version").all_inner_texts()
        assert [version.split("\n")[1] for version in versions] == ["first words", "second words"], versions
        await page.keyboard.press("Escape")
        alice_user.state(room, "m.room.pinned_events", {"pinned": [event]}).ok()
        await page.get_by_role("button", name="1 pinned message").click()
        await page.get_by_role("complementary", name="Pinned messages").wait_for()
        await alice.picture("pinned-light")
