"""The web client for hands that have only a keyboard and for ears: all that one does is done by keys alone, and what a screen reader says of
each kind of message is kept in `spoken.json`.

MARTLET_ACCEPT_SPOKEN=1 keeps what is said as what shall be said."""
import asyncio
import json
import os
import re

from browser import PASSWORD, expect, in_room, people
from client import User, room_path
from harness import PATIENCE, test
from test_browser import POLL, html, picture, post, tone, upload
from test_calling import PLAYS, direct_chat
from test_composer import two_in
from test_group_calls import garden, sees

NEEDS_BROWSER = True

SPOKEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spoken.json")
# Steps of the Tab key from one end of the page to the other, and more.
TABS = 80


class Hands:
    """Keys alone: nothing is clicked, and the focus goes only where keys lead it."""

    def __init__(self, person):
        self.person, self.page, self.keyboard = person, person.page, person.page.keyboard

    async def no_pointer(self):
        """A pointer that does something all the same is a fault of the test."""
        await self.page.add_init_script("""
          for (const type of ['pointerdown', 'mousedown', 'touchstart'])
            addEventListener(type, event => { event.preventDefault(); event.stopImmediatePropagation(); console.error('a pointer was used'); }, true);""")
        await self.page.reload()

    async def tab_to(self, target, key="Tab"):
        """Until that has the focus."""
        await target.wait_for()
        for _ in range(TABS):
            if await target.evaluate("element => element === document.activeElement"):
                return
            await self.keyboard.press(key)
        raise AssertionError(f"{TABS} times {key} do not come to {target}")

    async def press(self, role, name, within=None, key="Enter"):
        """What has that role and name, once the Tab key has come to it."""
        await self.tab_to((within or self.page).get_by_role(role, name=name, exact=True).first)
        await self.keyboard.press(key)

    async def fill(self, label, text, within=None):
        await self.tab_to((within or self.page).get_by_label(label, exact=True).locator("visible=true"))
        await self.keyboard.type(text)

    async def choose(self, words):
        """In the menu that is open, by its first letters and arrows, or a button of the dialog."""
        line = self.person.line(words)
        if await line.get_attribute("role") is None:
            await self.press("button", words, self.person.dialog)
            return
        for _ in range(30):
            if await line.evaluate("line => line === document.activeElement"):
                break
            await self.keyboard.press("ArrowDown")
        await self.keyboard.press("Enter")

    async def part(self, place):
        """Goes on to a part of the page with F6: once around, and around again while a dialog that was answered is still going away."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while asyncio.get_running_loop().time() < end:
            for _ in range(10):
                if await place.evaluate("part => part.contains(document.activeElement) || part === document.activeElement"):
                    return
                await self.keyboard.press("F6")
            await self.page.evaluate("() => new Promise(requestAnimationFrame)")
        raise AssertionError(f"F6 does not lead to {place}")

    async def write(self, text):
        await self.part(self.person.composer)
        await self.keyboard.type(text)
        await self.keyboard.press("Enter")

    async def message(self, text):
        """Walks up the messages until that one has the focus."""
        await self.part(self.person.feed)
        wanted = self.person.message(text).first
        await self.keyboard.press("End")
        for _ in range(20):
            if await wanted.evaluate("row => row === document.activeElement"):
                return
            await self.keyboard.press("ArrowUp")
        raise AssertionError(f"the arrows do not lead to {text}")

    async def of_message(self, text, words):
        """What the menu of a message offers."""
        await self.message(text)
        await self.keyboard.press("Enter")
        await self.choose(words)


# Proves B20
@test("without a pointer: sign-in, a room, writing, answering, reacting, editing, deleting, a thread, a search, a setting, leaving")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    async with people(test, "alice", fresh=True) as alice:
        page, hands = alice.page, Hands(alice)
        await hands.no_pointer()
        await hands.fill("User name", alice_user.user_id)
        await hands.fill("Password", PASSWORD)
        await hands.keyboard.press("Enter")
        await alice.signed_in()

        await hands.press("button", "New conversation")
        await hands.tab_to(alice.dialog.get_by_role("tab", selected=True))
        await hands.keyboard.press("ArrowRight")
        await expect(alice.dialog.get_by_role("tab", name="New room")).to_be_focused()
        await hands.fill("Room name", "Orchard", alice.dialog)
        await hands.fill("Invite (optional)", boris_user.user_id, alice.dialog)
        await hands.press("button", "Create room", alice.dialog)
        await alice.heading("Orchard").wait_for()
        room = next(iter(boris_user.sync_until(lambda answer: answer.get("rooms", {}).get("invite"))["rooms"]["invite"]))
        boris_user.join(room)
        boris_user.send(room, "the plums are ripe")
        await alice.sees("the plums are ripe")

        await hands.write("at last")
        await alice.sees("at last")
        await hands.of_message("the plums are ripe", "Reply")
        await page.get_by_text(re.compile("Replying to .*the plums are ripe")).wait_for()
        await expect(alice.composer).to_be_focused()
        await hands.keyboard.type("how many?")
        await hands.keyboard.press("Enter")
        await alice.message(re.compile("In reply to .*: how many")).wait_for()

        await hands.of_message("the plums are ripe", "React")
        await expect(alice.dialog.get_by_label("Search emoji")).to_be_focused()
        await hands.keyboard.type("tada")
        await alice.dialog.get_by_role("button", name="tada").wait_for()
        await hands.keyboard.press("Enter")
        await alice.message("the plums are ripe, 🎉 1").wait_for()
        # Taken back on the chip below the message, given again.
        await hands.message("the plums are ripe")
        chip = alice.message("the plums are ripe").get_by_role("button", name="🎉 1")
        await hands.tab_to(chip)
        await hands.keyboard.press("Enter")
        await chip.wait_for(state="detached")

        await hands.part(alice.composer)
        await hands.keyboard.press("ArrowUp")
        await page.get_by_text("Editing a message").wait_for()
        await hands.keyboard.press("Control+a")
        await hands.keyboard.type("how many are there?")
        await hands.keyboard.press("Enter")
        await alice.message(re.compile("edited.*: how many are there")).wait_for()

        await hands.of_message("at last", "Delete for everyone")
        await hands.press("button", "Delete for everyone", alice.dialog)
        await alice.message("Message deleted").wait_for()

        await hands.of_message("the plums are ripe", "Reply in thread")
        side = page.get_by_role("complementary", name="Thread")
        await expect(side.get_by_role("textbox", name="Write a message")).to_be_focused()
        await hands.keyboard.type("shall I bring a basket?")
        await hands.keyboard.press("Enter")
        await side.get_by_role("article", name="shall I bring a basket?").wait_for()
        await hands.keyboard.press("Escape")
        await side.wait_for(state="hidden")
        await alice.message("the plums are ripe, 1 reply").wait_for()

        await hands.press("button", "Search in this room")
        await expect(page.get_by_label("Search for")).to_be_focused()
        await hands.keyboard.type("plums")
        await hands.keyboard.press("Enter")
        found = page.get_by_role("complementary", name="Search in this room").get_by_role("button", name="the plums are ripe")
        await hands.tab_to(found)
        await hands.keyboard.press("Enter")
        await alice.highlighted("the plums are ripe").wait_for()
        await hands.press("button", "Close", page.get_by_role("complementary", name="Search in this room"))

        await hands.press("button", "Your profile")
        await hands.keyboard.press("ArrowUp")
        await hands.keyboard.press("ArrowUp")
        await hands.keyboard.press("Enter")
        await hands.tab_to(alice.dialog.get_by_role("tab", selected=True))
        while not await alice.dialog.get_by_role("tab", name="Appearance", selected=True).count():
            await hands.keyboard.press("ArrowRight")
        await hands.tab_to(alice.dialog.get_by_label("Colours"))
        await hands.keyboard.type("Dark")
        await alice.until("() => document.documentElement.dataset.theme === 'dark'")
        await hands.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")

        await hands.press("button", "Members and settings")
        await hands.press("button", "Leave room", alice.details)
        await hands.press("button", "Leave room", alice.dialog)
        await alice.entry("Orchard").wait_for(state="detached")
    answer = boris_user.get(room_path(room, "messages"), dir="b", limit=100).ok()["chunk"]
    kinds = [event["type"] for event in answer if event["sender"] == alice_user.user_id]
    assert kinds.count("m.reaction") == 1 and "m.room.redaction" in kinds and kinds[0] == "m.room.member", kinds


# Proves B20
@test("without a pointer: one calls, the other answers; a microphone and a camera go off, a device is looked for, and one hangs up")
async def _(test):
    async with direct_chat(test) as (alice, boris, _, _):
        hands, others = Hands(alice), Hands(boris)
        for each in (hands, others):
            await each.no_pointer()
            await each.person.composer.wait_for()
        await hands.press("button", "Video call")
        # The button that begins the call has the focus.
        await expect(alice.preview.get_by_role("button", name="Start call")).to_be_focused()
        await hands.keyboard.press("Enter")
        await boris.page.get_by_text(f"{alice.name} is calling with camera.").wait_for()
        await others.press("button", "Answer with camera")
        for person, other in ((alice, boris), (boris, alice)):
            await person.until(PLAYS, f"{other.name}’s picture")
        await hands.press("button", "Mute")
        await boris.page.get_by_text(f"{alice.name} has turned the microphone off.").wait_for()
        # The button has another name now, and the focus still.
        await expect(alice.page.get_by_role("button", name="Unmute")).to_be_focused()
        await hands.keyboard.press("Enter")
        await others.press("button", "Stop video")
        await alice.page.get_by_label(f"{boris.name}’s picture").wait_for(state="hidden")
        await hands.press("button", "Devices")
        await hands.tab_to(alice.page.get_by_role("combobox", name="Camera"))
        await hands.press("button", "Devices")
        await alice.page.get_by_role("combobox", name="Camera").wait_for(state="detached")
        await hands.tab_to(alice.composer)
        await hands.keyboard.type("Can you see this?")
        await hands.keyboard.press("Enter")
        await boris.sees("Can you see this?")
        await others.press("button", "Hang up")
        for person in (alice, boris):
            await person.page.get_by_role("region", name="Call with ").wait_for(state="detached")


# Proves B20
@test("without a pointer: the user joins a call, enlarges the speaker, mutes, shares and leaves")
async def _(test):
    async with garden(test, "alice", "boris") as (_, _, alice, boris):
        hands, others = Hands(alice), Hands(boris)
        for each in (hands, others):
            await each.no_pointer()
            await each.person.composer.wait_for()
        await hands.press("button", "Call")
        await hands.press("switch", "Microphone", alice.preview, key="Space")
        await expect(alice.preview.get_by_role("switch", name="Microphone")).not_to_be_checked()
        await hands.keyboard.press("Space")
        await hands.press("button", "Start call", alice.preview)
        await boris.page.get_by_text(re.compile("is calling in|Call in progress")).wait_for()
        await others.press("button", "Join")
        await others.press("button", "Join", boris.preview)
        await sees(alice, 1)
        await hands.press("button", "Speaker")
        await hands.press("button", "Grid")
        await hands.press("button", f"Mute {boris.name} for me")
        await hands.press("button", f"Unmute {boris.name} for me")
        await others.press("button", "Share screen")
        await alice.page.get_by_role("group", name=f"{boris.name}’s screen").wait_for()
        await others.press("button", "Stop sharing")
        await hands.press("button", f"Mute {boris.name} for everybody")
        await boris.page.get_by_text("A moderator has muted you.").wait_for()
        await others.press("button", "Unmute")
        for each in (hands, others):
            await each.press("button", "Hang up")
        await alice.page.get_by_text("Call in progress").wait_for(state="hidden")


# Proves B20
@test("without a pointer: files are described and sent, opened and saved, and the arrows lead on from a button in a message")
async def _(test):
    room, users = two_in(test, "Dunes")
    async with in_room(test, room, users) as (alice, boris):
        hands = Hands(alice)
        await hands.no_pointer()
        await alice.composer.wait_for()
        async with alice.page.expect_file_chooser() as chooser:
            await hands.press("button", "Attach a file")
        await (await chooser.value).set_files([
            {"name": "dunes.png", "mimeType": "image/png", "buffer": picture(90, 60)}, {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"dig"}])
        await expect(alice.dialog.get_by_label("Caption")).to_be_focused()
        await hands.keyboard.type("the dunes")
        await hands.keyboard.press("Enter")
        await boris.message("the dunes").wait_for()
        await boris.message("plan.txt").wait_for()
        # Its row is what it stays.
        await alice.message("the dunes").get_by_role("button", name="Read by 1").wait_for()
        await hands.message("the dunes")
        await hands.press("button", "Open image dunes.png")
        viewer = alice.page.get_by_role("dialog", name="dunes.png")
        async with alice.page.expect_download() as download:
            await hands.press("button", "Download", viewer)
        assert (await download.value).suggested_filename == "dunes.png"
        await hands.keyboard.press("Escape")
        await viewer.wait_for(state="detached")
        # The arrows lead on from there.
        await expect(alice.message("the dunes").get_by_role("button", name="Open image dunes.png")).to_be_focused()
        await hands.message("plan.txt")
        async with alice.page.expect_download() as download:
            await hands.tab_to(alice.message("plan.txt").get_by_role("button", name="plan.txt"))
            await hands.keyboard.press("Enter")
        assert (await download.value).suggested_filename == "plan.txt"


# Proves B20
@test("without a pointer: a room's further settings: the topic, who may join and read, a role, somebody removed")
async def _(test):
    room, users = two_in(test, "Heath")
    async with in_room(test, room, users) as (alice, boris):
        hands, page = Hands(alice), alice.page
        await hands.no_pointer()
        await alice.composer.wait_for()
        await hands.press("button", "Members and settings")
        await hands.press("button", "Room settings", alice.details)
        await hands.press("button", "Edit: Topic", alice.dialog)
        await hands.tab_to(alice.dialog.get_by_role("textbox"))
        await hands.keyboard.type("What grows on sand")
        await hands.press("button", "Save", alice.dialog)
        await boris.page.get_by_text("What grows on sand").first.wait_for()
        await hands.tab_to(alice.dialog.get_by_role("tab", selected=True))
        await hands.keyboard.press("ArrowDown")
        await hands.tab_to(alice.dialog.get_by_label("Who can join"))
        await hands.keyboard.type("People who are let in")
        await boris.told("lets people ask to join")
        await hands.tab_to(alice.dialog.get_by_label("Who can read earlier messages"))
        await hands.keyboard.type("Members, since they joined")
        await boris.told("since they joined")
        boris_user = users["boris"]
        # Letters come by other options on their way: none of them was ever so.
        told = boris_user.get(room_path(room, "messages"), dir="b", limit=50).ok()["chunk"]
        kept = [event["content"] for event in told if event["type"] in ("m.room.history_visibility", "m.room.join_rules")]
        assert [list(content.values())[0] for content in kept[:2]] == ["joined", "knock"] and len(kept) == 4, kept
        await hands.keyboard.press("Escape")
        await hands.tab_to(alice.details.get_by_role("button", name=boris_user.user_id[1:].split(":")[0]))
        await hands.keyboard.press("Enter")
        await hands.tab_to(alice.dialog.get_by_label("Role"))
        await hands.keyboard.type("Moderator")
        await boris.page.get_by_role("button", name="Members and settings").click()
        await boris.room_settings("General")
        await boris.page.get_by_role("button", name="Edit: Topic").wait_for()
        await hands.press("button", "Remove from the room", alice.dialog)
        await hands.tab_to(alice.dialog.last.get_by_label("Reason (optional)"))
        await hands.keyboard.type("winter")
        await hands.press("button", "Remove from the room", alice.dialog.last)
        await alice.details.get_by_text("1 member", exact=True).wait_for()


def every_kind(room, alice, boris):
    """One message of each kind, those of a group set apart by who wrote them."""
    first = boris.send(room, "good morning")
    post(alice, room, {"msgtype": "m.text", "body": "and to you", "m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    wrong = boris.send(room, "teh kettle is on")
    post(boris, room, {"msgtype": "m.text", "body": "* the kettle is on", "m.new_content": {"msgtype": "m.text", "body": "the kettle is on"},
                       "m.relates_to": {"rel_type": "m.replace", "event_id": wrong}})
    post(alice, room, {"msgtype": "m.emote", "body": "pours a cup"})
    post(boris, room, {"msgtype": "m.notice", "body": "The pump runs."})
    post(alice, room, html("a plan", "<p>A <b>plan</b>:</p><ol><li>water</li><li>weed</li></ol><blockquote>as said</blockquote><pre><code>dig()</code></pre>"))
    gone = boris.send(room, "never mind")
    boris.put(room_path(room, "redact", gone, "r1"), {}).ok()
    small = upload(boris, picture(90, 60), "dunes.png", "image/png")
    info = {"w": 90, "h": 60, "mimetype": "image/png", "size": 20_000}
    post(boris, room, {"msgtype": "m.image", "body": "dunes.png", "url": small, "info": info})
    post(alice, room, {"msgtype": "m.image", "body": "The last one", "filename": "dunes.png", "url": small, "info": info})
    post(boris, room, {"msgtype": "m.video", "body": "sea.webm", "url": small, "info": {"w": 90, "h": 60, "duration": 61_000, "thumbnail_url": small}})
    post(alice, room, {"msgtype": "dm.filament.gallery", "body": "two pages", "itemtypes": [
        {"itemtype": "m.image", "body": f"page {number}.png", "url": small, "info": info} for number in range(2)]})
    boris.put(room_path(room, "send", "m.sticker", "s1"), {"body": "An owl", "url": small, "info": info}).ok()
    sound = upload(boris, tone(), "note.wav", "audio/wav")
    voice = {"msgtype": "m.audio", "body": "note.wav", "url": sound, "info": {"duration": 2000, "mimetype": "audio/wav"}}
    post(boris, room, voice)
    post(alice, room, voice | {"body": "Voice message", "org.matrix.msc3245.voice": {}, "org.matrix.msc1767.audio": {"duration": 2000, "waveform": [10, 900] * 12}})
    post(boris, room, {"msgtype": "m.file", "body": "plan of the beds.pdf", "url": sound, "info": {"mimetype": "application/pdf", "size": 48_213}})
    post(alice, room, {"msgtype": "m.location", "body": "The gate", "geo_uri": "geo:52.5163,13.3777"})
    post(boris, room, POLL, "org.matrix.msc3381.poll.start")
    post(boris, room, {"msgtype": "org.example.dance", "body": "a dance"})
    asked = boris.send(room, "who comes?")
    for user, key in ((alice, "👍"), (boris, "👍"), (boris, "🎉")):
        post(user, room, {"m.relates_to": {"rel_type": "m.annotation", "event_id": asked, "key": key}}, "m.reaction")
    alice.send(room, "I do", **{"m.relates_to": {"rel_type": "m.thread", "event_id": asked}})
    alice.state(room, "m.room.topic", {"topic": "What grows where"}).ok()
    alice.send(room, "the end of it")


async def heard(person):
    """What stands in the accessibility tree for the messages, from the top: (its sentence, roles and names of what is in it)."""
    devtools = await person.context.new_cdp_session(person.page)
    nodes = (await devtools.send("Accessibility.getFullAXTree"))["nodes"]
    await devtools.detach()
    by_id = {node["nodeId"]: node for node in nodes}

    def within(node):
        for child in (by_id[each] for each in node.get("childIds", []) if each in by_id):
            role = child.get("role", {}).get("value", "")
            if not child.get("ignored") and role not in ("generic", "StaticText", "InlineTextBox", "paragraph", "none", "LineBreak"):
                yield f"{role}: {without_time(child.get('name', {}).get('value', ''))}"
            yield from within(child)

    articles = [node for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") == "article"]
    return [[without_time(node["name"]["value"]), *within(node)] for node in articles]


def without_time(words):
    return re.sub(r"\s+", " ", re.sub(r"\d{1,2}:\d{2}(?=[,:])", "TIME", words, count=1)).strip()


# What a screen reader knows of the focus: who has it, what is said beside its name, and whether the page behind a dialog is out of reach.
FOCUS = """() => {
  const one = document.activeElement, said = one.getAttribute('aria-describedby'), active = one.getAttribute('aria-activedescendant');
  return { tag: one.tagName, described: said && document.getElementById(said)?.textContent, active: active && document.getElementById(active)?.textContent, name: active };
}"""


# Proves B20
@test("for ears: the focus is never lost, hints and what is answered are read, dialogs leave once it is back, and arrows go through menus and emoji")
async def _(test):
    room, users = two_in(test, "Orchard")
    users["boris"].send(room, "the plums are ripe")
    async with people(test, "alice", fresh=True) as alice:
        page, keyboard = alice.page, alice.page.keyboard
        focus = lambda: page.evaluate(FOCUS)
        # The sign-in's own field has its hint; the page that comes after it names the present place.
        name = page.get_by_label("User name", exact=True).locator("visible=true")
        await page.get_by_role("button", name="Sign in", exact=True).locator("visible=true").click()
        await expect(name).to_be_focused()
        assert (await focus())["described"] == "Write your user name.", await focus()
        await alice.sign_in_by_typing(users["alice"])
        await expect(page.get_by_role("heading", name="Conversations", level=1)).to_be_focused()
        await alice.open_room(room)
        await expect(page.get_by_role("heading", name="Orchard", level=2)).to_be_focused()
        # A panel beside the room gives the focus back to what opened it.
        details = page.get_by_role("button", name="Members and settings")
        await details.focus()
        await keyboard.press("Enter")
        # Settings that are made anew, as somebody else changes the room, leave the focus where it is: what is typed presses nothing.
        await alice.room_settings("Access")
        choice = alice.dialog.get_by_label("Who can read earlier messages")
        await choice.evaluate("field => { field.focus(); field.dataset.before = ''; }")
        await keyboard.press("M")
        users["alice"].put(room_path(room, "state", "m.room.join_rules"), {"join_rule": "knock"}).ok()
        await page.wait_for_function("() => !document.querySelector('[data-before]')")
        await expect(choice).to_be_focused()
        await keyboard.press("Escape")
        await alice.details.get_by_role("button", name="Close").focus()
        await keyboard.press("Enter")
        await expect(details).to_be_focused()
        # A menu by arrows, around its ends; behind it the page goes out of reach, and is back before the menu is gone.
        message = alice.message("the plums are ripe")
        await message.focus()
        await keyboard.press("Enter")
        # Without the key that does the same.
        words_there = "(document.activeElement.querySelector('.ma-menu-words') ?? document.activeElement).textContent"
        lines = page.get_by_role("menuitem")
        await expect(alice.line("Reply")).to_be_focused()
        await page.wait_for_function("() => document.querySelector('main').closest('[inert]') !== null")
        await keyboard.press("ArrowDown")
        second = await page.evaluate(words_there)
        await keyboard.press("Home")
        await keyboard.press("ArrowUp")
        last = await page.evaluate(words_there)
        assert len({"Reply", second, last}) == 3 and last == await lines.last.locator(".ma-menu-words").text_content(), (second, last)
        for key, words in (("Home", "👍"), ("ArrowRight", "❤️"), ("c", "Copy text"), ("c", "Copy link"), ("c", "Copy text"), ("End", last)):
            await keyboard.press(key)
            assert await page.evaluate(words_there) == words, (key, words)
        # It is one stop: Tab closes it.
        await keyboard.press("Tab")
        await expect(message).to_be_focused()
        await expect(page.get_by_role("menu")).to_have_count(0)
        await keyboard.press("Enter")
        await expect(alice.line("Reply")).to_be_focused()
        # Where a reader's place stands on mere words nothing has the focus: Escape closes all the same.
        await page.evaluate("document.activeElement.blur()")
        await keyboard.press("Escape")
        await expect(message).to_be_focused()
        await expect(page.get_by_role("menu")).to_have_count(0)
        assert await page.evaluate("document.querySelector('[inert]') === null")
        # What is answered is said with the field.
        await keyboard.press("Enter")
        await alice.choose("Reply")
        await expect(alice.composer).to_be_focused()
        assert "the plums are ripe" in (await focus())["described"], await focus()
        # The option that is chosen has another name whenever the list is made anew, so that a browser tells of it.
        names = set()
        for letters in ("@", "b", "o"):
            await keyboard.type(letters)
            await page.wait_for_function("before => { const at = document.activeElement.getAttribute('aria-activedescendant');"
                                         " return at && !before.includes(at) && document.getElementById(at); }", arg=list(names))
            names.add((await focus())["name"])
        assert "boris" in (await focus())["active"].lower(), await focus()
        await alice.composer.fill("")
        # The box gets the focus without an option, so that its own name is said; then the one that Enter would take is.
        await page.evaluate("""() => addEventListener('focusin', e => {
          if (e.target.role === 'combobox') globalThis.unnamed = !e.target.hasAttribute('aria-activedescendant'); })""")
        await keyboard.press("Control+k")
        await expect(alice.search_box).to_be_focused()
        assert await page.evaluate("unnamed")
        await keyboard.type("orch")
        await page.wait_for_function("() => document.activeElement.hasAttribute('aria-activedescendant')")
        assert "Orchard" in (await focus())["active"]
        await keyboard.press("Escape")
        await expect(alice.search_box).to_have_value("")
        await keyboard.press("Escape")
        await expect(alice.composer).to_be_focused()
        # Of all emoji Tab finds one; arrows go through their lines.
        await page.get_by_role("button", name="Emoji", exact=True).click()
        search = alice.dialog.get_by_label("Search emoji")
        await expect(search).to_be_focused()
        await alice.dialog.get_by_role("button", name=re.compile("grinning")).first.wait_for()
        # Places are compared, and a dialog rises while it comes.
        await alice.rest()
        await keyboard.press("ArrowDown")
        first = await page.evaluate("document.activeElement.title")
        places = []
        for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
            await keyboard.press(key)
            places.append(await page.evaluate("() => { const { x, y } = document.activeElement.getBoundingClientRect(); return [x, y, document.activeElement.title]; }"))
        right, down, up, left = places
        assert right[0] == down[0] and down[1] > right[1] and up == right and left[2] == first, (first, places)
        await keyboard.press("Tab")
        assert not await page.evaluate("document.activeElement.matches('.ma-emoji')")
        await keyboard.press("Shift+Tab")
        assert await page.evaluate("document.activeElement.title") == first
        await keyboard.press("ArrowRight")
        await keyboard.press("Tab")
        await keyboard.press("Shift+Tab")
        assert await page.evaluate("document.activeElement.title") == right[2]
        await keyboard.press("Escape")
        # What was said is not said again when the page comes back from behind a dialog.
        users["boris"].send(room, "the pears as well")
        announcer = page.locator(".mg-announcer").first
        await expect(announcer).to_contain_text("the pears as well")
        await expect(announcer).to_be_empty()


# Proves B20
@test("what is said of each kind of message, and of what is in it, is what is kept as said")
async def _(test):
    room, users = two_in(test, "Aloud")
    for name, words in (("alice", "Alice Ashby"), ("boris", "Boris Brandt")):
        users[name].put(f"profile/{users[name].user_id}/displayname", {"displayname": words}).ok()
    every_kind(room, users["alice"], users["boris"])
    users["boris"].post(room_path(room, "receipt", "m.read", last_event(users["boris"], room))).ok()
    users["alice"].send(room, "not read yet")
    # High enough for all of them: rows out of sight are not on the page.
    async with in_room(test, room, {"alice": users["alice"]}, viewport={"width": 1280, "height": 4000}) as alice:
        await alice.message(re.compile("Boris Brandt.*: good morning$")).wait_for()
        await alice.message(re.compile("Read: the end of it")).wait_for()
        await alice.message("not read yet").get_by_text("Sent", exact=True).wait_for()
        await alice.message("who comes?, 👍 2, 🎉 1, 1 reply").wait_for()
        await alice.message("Poll: Tea or coffee?").wait_for()
        await alice.page.mouse.move(0, 0)
        said = await heard(alice)
    begin = next((place for place, (sentence, *_) in enumerate(said) if sentence.endswith(": good morning")), None)
    assert begin is not None, said
    said = said[begin:]
    if os.environ.get("MARTLET_ACCEPT_SPOKEN") == "1":
        with open(SPOKEN, "w", encoding="utf-8") as f:
            json.dump(said, f, indent=1, ensure_ascii=False)
            f.write("\n")
    with open(SPOKEN, encoding="utf-8") as f:
        kept = json.load(f)
    for ours, theirs in zip(said, kept):
        assert ours == theirs, f"said is {ours}, kept is {theirs}; if that shall be said, MARTLET_ACCEPT_SPOKEN=1"
    assert len(said) == len(kept), (len(said), len(kept))


def last_event(user, room):
    return user.get(room_path(room, "messages"), dir="b", limit=1).ok()["chunk"][0]["event_id"]
