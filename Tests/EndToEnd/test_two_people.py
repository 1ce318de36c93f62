"""What a chat of two people is called and has, whose words were forwarded, what became of a call, and what fits a phone."""
import asyncio
import re
from urllib.parse import quote

from accessibility import check
from browser import expect, in_room, open_settings, people, room_fragment
from client import User, fresh, room_path
from harness import PATIENCE, test
from test_composer import two_in
from test_nio import ENCRYPTION

NEEDS_BROWSER = True
SMALL = {"width": 390, "height": 844}


def newest(user, room):
    return user.get(room_path(room, "messages"), dir="b").ok()["chunk"]


def chat_of(one, other, **content):
    room = one.create_room(preset="trusted_private_chat", is_direct=True, invite=[other.user_id], **content)
    one.put(f"user/{one.user_id}/account_data/m.direct", {other.user_id: [room]}).ok()
    return room


def send_event(user, room, kind, content):
    user.put(room_path(room, "send", kind, fresh("t")), content).ok()


@test("a chat of two has no roles, guests or rules of joining, and is left as a chat; the header of a room counts who is invited")
async def _(test):
    alice, boris, carol = (User(test.base, name) for name in ("alice", "boris", "carol"))
    chat = chat_of(alice, boris)
    boris.join(chat)
    room = alice.create_room(name="Plans", invite=[boris.user_id, carol.user_id])
    async with in_room(test, room, {"alice": alice}) as one:
        await one.heading("Plans").wait_for()
        await one.page.locator(".ma-room-line", has_text="1 member, 2 invited").wait_for()
        await one.open_room(chat)
        await one.page.get_by_role("button", name="Members and settings").click()
        await one.details.get_by_role("button", name="Chat settings").click()
        tabs = one.dialog.get_by_role("tab")
        assert await tabs.all_inner_texts() == ["Notifications", "Encryption", "Advanced"], await tabs.all_inner_texts()
        for tab in ("Encryption", "Advanced"):
            await one.dialog.get_by_role("tab", name=tab).click()
            await check(one, f"{tab} of a chat")
        await one.picture("chat-settings")
        await one.page.keyboard.press("Escape")
        await one.details.get_by_role("button", name="Report this chat").wait_for()
        await one.picture("chat-details")
        await one.details.get_by_role("button", name="Leave chat").click()
        await one.dialog.get_by_text("Leave this chat?").wait_for()
        await one.dialog.get_by_role("button", name="Leave chat").click()
        await expect(one.dialog).to_have_count(0)


@test("a forwarded message says whose it is, also forwarded once more; the dialog has each person once, however their chat is called")
async def _(test):
    room, users = two_in(test, "Source")
    alice, boris = users["alice"], users["boris"]
    boris.put(f"profile/{boris.user_id}/displayname", {"displayname": "Boris Blau"}).ok()
    chat, third = chat_of(alice, boris, name="Work with B"), alice.create_room(name="Third")
    boris.join(chat)
    boris.send(room, "the words of Boris")
    async with in_room(test, room, {"alice": alice}) as one:
        await one.sees("the words of Boris")
        await one.message_menu("the words of Boris", "Forward…")
        await one.dialog.get_by_placeholder("Room or person").fill(boris.user_id[1:].split(":")[0])
        targets = one.dialog.get_by_role("checkbox")
        await expect(targets.first).to_be_visible()
        # The server's answer comes later than what the page knows.
        await one.page.wait_for_timeout(600)
        assert await targets.count() == 1, await one.dialog.inner_text()
        await one.picture("forward-once")
        await targets.first.check()
        await one.dialog.get_by_role("button", name="Forward", exact=True).click()
        await one.open_room(chat)
        row = one.message("the words of Boris")
        await row.get_by_text("Forwarded from Boris Blau").wait_for()
        assert "Forwarded from Boris Blau" in await row.get_attribute("aria-label")
        await one.picture("forwarded")
        await check(one, "a forwarded message")
        await one.message_menu("the words of Boris", "Forward…")
        await one.dialog.get_by_placeholder("Room or person").fill("Third")
        await targets.first.check()
        await one.dialog.get_by_role("button", name="Forward", exact=True).click()
        await one.open_room(third)
        await one.message("the words of Boris").get_by_text("Forwarded from Boris Blau").wait_for()
        # The page shows it before the server has it.
        async with asyncio.timeout(PATIENCE):
            while not (sent := [event["content"] for event in newest(alice, third) if event["type"] == "m.room.message"]):
                await asyncio.sleep(0.05)
        forwarded = sent[0]
        assert forwarded["body"] == "the words of Boris" and forwarded["martlet.forwarded"]["sender"] == boris.user_id, forwarded


@test("a call that nobody answered is ‘No answer’ for who called and ‘Missed call’ for who was called")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = chat_of(alice, boris)
    boris.join(room)
    call = {"call_id": "1", "party_id": alice.device_id, "version": "1"}
    send_event(alice, room, "m.call.invite", {**call, "lifetime": 1, "offer": {"type": "offer", "sdp": "v=0"}})
    send_event(alice, room, "m.call.hangup", {**call, "reason": "invite_timeout"})
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await one.message("No answer").wait_for()
        await other.message("Missed call").wait_for()


@test("on a phone the button that makes a new room is in view, and ‘Show all’ stays in one line")
async def _(test):
    room, users = two_in(test, "Folded changes of a room with a long name")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=SMALL, has_touch=True, is_mobile=True, device_scale_factor=2) as one:
        fold = one.feed.get_by_role("button", name="Show all")
        box = await fold.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= SMALL["width"], box
        # The words of a range have a box for each line.
        lines = await fold.evaluate("button => { const range = document.createRange(); range.selectNodeContents(button); return range.getClientRects().length; }")
        assert lines == 1, lines
        await one.page.get_by_role("button", name="Back to conversations").tap()
        await one.page.get_by_role("button", name="New conversation").tap()
        await one.dialog.get_by_role("tab", name="New room").tap()
        create = one.dialog.get_by_role("button", name="Create room")
        await one.rest()
        box = await create.bounding_box()
        assert box["y"] + box["height"] <= SMALL["height"], box
        hit = await one.page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('button')?.textContent", [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        assert hit and "Create" in hit, hit
        await one.picture("phone-new-room")
        await check(one, "a new room on a phone")


@test("who joins by a link and cannot read what was said before sees one line in its place")
async def _(test):
    boris, alice = User(test.base, "boris"), User(test.base, "alice")
    room = boris.create_room(name="Since", preset="public_chat", initial_state=[ENCRYPTION])
    for number in range(4):
        send_event(boris, room, "m.room.encrypted", {
            "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "A" * 40, "session_id": f"s{number}", "sender_key": "k", "device_id": "D"})
    alice.join(room)
    async with people(test, "alice") as one:
        await one.sign_in(alice, room_fragment(room))
        await one.page.get_by_text("You can read messages from here on.").first.wait_for()
        await expect(one.page.get_by_text(re.compile("before you joined|Waiting for the key"))).to_have_count(0)
        await one.picture("read-from-here")
        await check(one, "where one can read from")
        await one.feed.get_by_role("button", name="Show all").first.click()
        await one.page.get_by_text("This was sent before you joined.").first.wait_for()


@test("each device says when it signed in, so that two of one name are told apart")
async def _(test):
    alice = User(test.base, "alice")
    async with people(test, "alice") as one:
        await one.sign_in(alice)
        await open_settings(one.page)
        await one.dialog.get_by_role("tab", name="Devices").click()
        devices = one.dialog.get_by_role("list", name="Devices").get_by_role("listitem")
        await expect(devices).to_have_count(2)
        for device in await devices.all():
            await device.get_by_text(re.compile("^Signed in .*Last seen")).wait_for()
        await one.picture("devices-signed-in")


# What stands in the feed, where, after each of many frames.
PLACES = """() => new Promise(done => {
  const seen = new Set();
  let frames = 0;
  const look = () => {
    seen.add([...document.querySelectorAll('[role=feed] article')].map(row => Math.round(row.getBoundingClientRect().top * 4)).join());
    if (++frames < 90) requestAnimationFrame(look); else done(seen.size);
  };
  look();
})"""


# Proves C61. 5 s: a browser profile of its own.
@test("with text of 200 % on a phone, lines of changes come to rest and keep their button whole")
async def _(test):
    room, users = two_in(test, "Folded changes of a room with a long name")
    for number in range(12):
        users["boris"].send(room, f"message {number} of a room whose lines wrap on a phone")
    async with people(test, "alice", fresh=True, viewport={"width": 360, "height": 740}) as one:
        await one.page.add_init_script("addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '32px'; })")
        await one.sign_in(users["alice"], room_fragment(room))
        await one.sees("message 11")
        await one.rest()
        await one.page.evaluate("document.querySelector('[role=feed]').scrollTop = 0")
        fold = one.feed.get_by_role("button", name="Show all")
        await fold.wait_for()
        await one.page.evaluate(PLACES)
        assert await one.page.evaluate(PLACES) == 1, "messages move though nobody does anything"
        box, row = await fold.bounding_box(), await one.feed.get_by_role("article").first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360, box
        assert row["height"] < 400, row


@test("a chat says who started it")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    alice.put(f"profile/{alice.user_id}/displayname", {"displayname": "Alice"}).ok()
    chat = chat_of(alice, boris)
    boris.join(chat)
    boris.put(f"user/{boris.user_id}/account_data/m.direct", {alice.user_id: [chat]}).ok()
    async with in_room(test, chat, {"alice": alice, "boris": boris}) as (one, other):
        await one.told(re.compile("You started this chat"))
        await other.told(re.compile("Alice started this chat"))
        assert not await one.message(re.compile("created the room")).count()


@test("a contact is chosen by name, arrives as a card that leads to the person, and mentions nobody")
async def _(test):
    room, users = two_in(test, "Garden")
    carol = User(test.base, "carol")
    carol.put(f"profile/{carol.user_id}/displayname", {"displayname": "Carol <b>Curie</b>"}).ok()
    carol.join(users["alice"].create_room(name="Other", preset="public_chat"))
    async with in_room(test, room, users) as (one, other):
        await one.page.get_by_role("button", name="Send something else").click()
        await one.choose("Contact")
        await one.dialog.get_by_role("combobox", name="Name, ID or link").fill("curie")
        await one.dialog.get_by_role("option", name="Carol").click()
        for person in (one, other):
            card = person.page.get_by_role("group", name="Carol <b>Curie</b>")
            await card.get_by_text(carol.user_id).wait_for()
        await check(other, "a contact")
        await other.picture("contact-shared")
        await card.get_by_role("link", name=carol.user_id).click()
        await other.dialog.get_by_role("button", name="Message", exact=True).wait_for()
    sent = next(event for event in users["boris"].get(room_path(room, "messages"), dir="b", limit=5).ok()["chunk"] if event["type"] == "m.room.message")
    assert sent["content"]["m.mentions"] == {} and quote(carol.user_id, safe="") in sent["content"]["body"], sent


# Proves C64
@test("letters answer, edit and forward the message that has the focus; its menu shows them")
async def _(test):
    room, users = two_in(test, "Letters")
    users["boris"].send(room, "the plums are ripe")
    users["alice"].send(room, "mine, too")
    async with in_room(test, room, {"alice": users["alice"]}) as one:
        page = one.page
        async def walk(*keys, to):
            await one.feed.focus()
            for key in keys:
                await page.keyboard.press(key)
            await expect(one.message(to).first).to_be_focused()
        await walk("ArrowUp", to="mine, too")
        await walk("ArrowUp", to="the plums are ripe")
        await page.keyboard.press("r")
        await page.get_by_text(re.compile("Replying to .*the plums are ripe")).wait_for()
        await page.keyboard.press("Escape")
        await walk("ArrowDown", to="mine, too")
        await page.keyboard.press("E")
        await one.composed("mine, too")
        await page.keyboard.press("Escape")
        await one.composed("")
        await walk("ArrowUp", "ArrowDown", to="mine, too")
        await page.keyboard.press("Enter")
        await expect(one.line("Reply")).to_have_attribute("aria-keyshortcuts", "R")
        await check(one, "a menu with keys")
        await one.picture("menu-with-keys")
        await page.keyboard.press("Escape")
        await page.keyboard.press("f")
        await one.dialog.get_by_role("heading", name="Forward to").wait_for()
        # In a field they are letters.
        await page.keyboard.type("ref")
        await expect(one.dialog.get_by_placeholder("Room or person")).to_have_value("ref")
        await page.keyboard.press("Escape")
        # Whoever has clicked a message and types wants to write.
        await one.words("the plums are ripe").click()
        await page.keyboard.type("red ones")
        await one.composed("red ones")
