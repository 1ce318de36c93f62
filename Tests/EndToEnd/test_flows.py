"""The tasks that people do most, with the actions that each takes: a press, one thing typed, or a key. One more or one less fails the test,
and so does another number in Documentation/Usability.md, whose table says the same."""
import json
import os
import re
import time
from types import SimpleNamespace
from urllib.parse import quote

from accessibility import check
from browser import MAY_CALL, PASSWORD, Watch, expect, open_settings, people, room_fragment
from client import User, fresh, room_path
from harness import test
from png import png
from server import ROOT, Server
from test_calling import just_the_two
from test_chatting import Finger, centre

NEEDS_BROWSER = True

# A phone of 360 pixels, for the tasks that go another way there.
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
ROSE = {"name": "rose.png", "mimeType": "image/png", "buffer": png(400, 300)}


def documented():
    """What Documentation/Usability.md says of each task: (actions at a desk, actions on a phone)."""
    with open(os.path.join(ROOT, "Documentation", "Usability.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| \d+ \| ([^|]+) \| (\d+) \| (\d+) \|", f.read(), re.M)
    return {task: (int(desk), int(phone)) for task, desk, phone in rows}


class Actions:
    """Does and counts what a person does. Where the pointer rests is no action of its own: it has to go there to press."""

    def __init__(self, person, on_phone=False):
        self.person, self.count, self.on_phone, self.watch = person, 0, on_phone, None

    def _count(self):
        self.watch = self.watch or Watch()
        self.count += 1

    async def press(self, role, name, exact=False):
        await self.at(self.person.page.get_by_role(role, name=name, exact=exact).locator("visible=true").first)

    async def at(self, place, **options):
        self._count()
        await place.click(**options)

    async def type(self, text):
        """Where the focus is."""
        self._count()
        await self.person.page.keyboard.type(text)

    async def key(self, name):
        self._count()
        await self.person.page.keyboard.press(name)

    async def choose(self, place, option):
        """Opens a list of choices and presses one of them."""
        self._count()
        self._count()
        await place.select_option(option)

    async def open_menu(self, place):
        """With the other button of the mouse. A finger is held there: the browser tells the page the same."""
        await self.at(place, button="right")

    async def swipe(self, place):
        self._count()
        finger, (x, y) = await Finger.of(self.person), await centre(place)
        await finger.slide((x, y), (x + 100, y + 4))
        await finger.lift()

    async def take_file(self, press):
        """Presses, and chooses a picture in the system's own dialog."""
        async with self.person.page.expect_file_chooser() as chooser:
            await press
        self._count()
        await (await chooser.value).set_files(ROSE)

    def done(self, task, actions):
        """At the task's end state, which the caller has seen."""
        where = "phone" if self.on_phone else "desk"
        print(f"          {task}, {where}: {self.count} actions, {self.watch.read() / 1000:.1f} s of a program's hands")
        said = documented()[task][self.on_phone]
        assert self.count == actions == said, f"{task}, {where}: {self.count} actions, {actions} here, {said} in Documentation/Usability.md"


# The tasks. Each starts where Documentation/Usability.md says and ends when what was wanted is seen.

async def write_to_somebody(do):
    person = do.person
    await do.press("button", "New conversation")
    await expect(person.page.get_by_role("combobox", name="Name, ID or link")).to_be_focused()
    await do.type("zo")
    await person.page.get_by_role("option", name="Zoe").first.wait_for()
    await do.key("Enter")
    await expect(person.page.get_by_role("heading", name="Zoe")).to_be_focused()
    await do.type("hello")
    await do.key("Enter")
    await person.sees("hello")
    do.done("Write to somebody by name", 5)


async def make_room(do):
    page = do.person.page
    await do.press("button", "New conversation")
    await do.press("tab", "New room")
    await expect(page.get_by_role("textbox", name="Room name")).to_be_focused()
    await do.type("Trio")
    for name in ("Zoe", "Yan", "Xav"):
        await do.press("option", name)
    await do.press("button", "Create room")
    await do.person.heading("Trio").wait_for()
    do.done("Make a room with three people", 7)


async def invite_by_link(do):
    await do.press("button", "Members and settings")
    await do.at(do.person.details.get_by_role("button", name="Invite", exact=True))
    await do.press("button", "Copy link", exact=True)
    await do.person.page.get_by_text("Link copied").wait_for()
    do.done("Invite somebody without an account", 3)


async def create_account(do):
    person = do.person
    await do.press("tab", "Create account")
    await expect(person.page.get_by_label("User name", exact=True).locator("visible=true")).to_be_focused()
    await do.type(fresh("erika"))
    await do.key("Tab")
    await do.type(PASSWORD)
    await do.key("Enter")
    await do.press("button", "Skip")
    await do.press("button", "Start a chat")
    await do.type("host qq")
    await person.page.get_by_role("option", name="Host Qq").first.wait_for()
    await do.key("Enter")
    await person.composer.wait_for()
    await do.type("hello")
    await do.key("Enter")
    await person.sees("hello")
    do.done("Create an account and send the first message", 11)


async def answer_and_react(do):
    person, asked = do.person, do.person.message("could somebody water")
    if do.on_phone:
        await do.swipe(asked)
        await person.page.get_by_text("Replying to").wait_for()
    else:
        await asked.hover()
        await do.press("button", "Reply", exact=True)
    await do.type("gladly")
    await do.key("Enter")
    await person.sees("gladly")
    if do.on_phone:
        await do.open_menu(asked.first)
        await do.at(person.line("React"))
    else:
        await asked.hover()
        await do.press("button", "Add a reaction")
    await do.at(person.dialog.get_by_role("button", name=re.compile("thumbs ?up", re.I)).first)
    await asked.get_by_role("button", name="👍 1").wait_for()
    do.done("Answer a message and react to it", 6 if do.on_phone else 5)


async def send_picture(do):
    person = do.person
    if do.on_phone:
        await do.press("button", "Send something else")
        await do.take_file(do.at(person.line("Photo or video")))
    else:
        await do.take_file(do.press("button", "Attach a file"))
    await expect(person.page.get_by_label("Caption")).to_be_focused()
    await do.type("in bloom")
    await do.key("Enter")
    await person.sees("in bloom")
    do.done("Send a picture with words", 5 if do.on_phone else 4)


async def forward_to_two(do):
    await do.open_menu(do.person.message("could somebody water").first)
    await do.press("menuitem", "Forward…")
    for name in ("Boris", "Kitchen"):
        await do.press("checkbox", name)
    await do.press("button", "Forward", exact=True)
    await do.person.page.get_by_text("Forwarded", exact=True).wait_for()
    do.done("Forward a message to two chats", 5)


async def find_what_was_said(do):
    person = do.person
    if do.on_phone:
        await do.press("button", "More about this room")
        await do.at(person.line("Search in this room"))
    else:
        await do.press("button", "Search in this room")
    await do.type("hose")
    await do.key("Enter")
    found = person.page.get_by_role("complementary", name="Search in this room")
    await do.at(found.get_by_role("button", name=re.compile("hose")).first)
    await person.highlighted("the hose hangs").wait_for()
    await person.sees("the hose hangs")
    do.done("Find a message said last week", 5 if do.on_phone else 4)


async def make_moderator(do):
    person = do.person
    await do.press("button", "Members and settings")
    await do.at(person.members.filter(has_text="Boris").first)
    async with person.page.expect_response(lambda answer: "m.room.power_levels" in answer.url and answer.request.method == "PUT") as saving:
        await do.choose(person.dialog.get_by_label("Role"), "Moderator")
    assert 50 in json.loads((await saving.value).request.post_data)["users"].values()
    do.done("Make somebody a moderator", 4)


async def mute(do):
    await do.open_menu(do.person.entry("Kitchen"))
    async with do.person.page.expect_response(lambda answer: "/pushrules/" in answer.url and answer.request.method == "PUT"):
        await do.at(do.person.line("Mute"))
    await do.person.entry("Kitchen").locator(".ma-entry-sign:not([hidden])").wait_for()
    do.done("Mute a room", 2)


async def be_quiet(do):
    await do.press("button", "Your profile")
    await do.press("menuitem", "Do not disturb")
    async with do.person.page.expect_response(lambda answer: answer.url.endswith("/martlet.snooze")):
        await do.press("menuitem", "For an hour")
    do.done("Turn on do not disturb for an hour", 3)


async def call_with_video(do):
    if do.on_phone:
        await do.press("button", "More about this room")
        await do.at(do.person.line("Video call"))
    else:
        await do.press("button", "Video call", exact=True)
    # The preview comes first.
    await do.at(do.person.preview.get_by_role("button", name="Start call"))
    await do.person.page.get_by_text("Ringing…").wait_for()
    do.done("Call somebody with video", 3 if do.on_phone else 2)


def named(test, **names):
    """Accounts with these display names."""
    users = {name: User(test.base, name) for name in names}
    for name, user in users.items():
        user.put(f"profile/{user.user_id}/displayname", {"displayname": names[name]}).ok()
    return users


def garden(test):
    """A room of three in which a few things are said, an empty one, a direct chat, and the accounts: (room, chat, users)."""
    users = named(test, alice="Alice", boris="Boris", clara="Clara")
    room = users["alice"].create_room(name="Garden", preset="public_chat")
    for name in ("boris", "clara"):
        users[name].join(room)
    users["boris"].send(room, "could somebody water the beans?")
    users["clara"].send(room, "the hose hangs in the shed")
    users["alice"].create_room(name="Kitchen")
    return room, just_the_two(users["alice"], users["boris"]), users


@test("flows: a chat with somebody by two letters of a name, a room with three people, and someone invited by a link")
async def _(test):
    users = {name: User(test.base, name) for name in ("alice", "zoe", "yann", "xavier")}
    for name, user in users.items():
        user.put(f"profile/{user.user_id}/displayname", {"displayname": f"{name.capitalize()} Zz{user.user_id[1:]}"}).ok()
    alice_user = users["alice"]
    hall = alice_user.create_room(name="Hall", preset="public_chat")
    for name in ("zoe", "yann", "xavier"):
        users[name].join(hall)
    async with people(test, "alice", permissions=["clipboard-read", "clipboard-write"]) as alice:
        page = alice.page
        await alice.sign_in(alice_user)
        await alice.entry("Hall").wait_for()

        await write_to_somebody(Actions(alice))
        # The same person again is the same chat.
        first = page.url
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type("zo")
        await page.get_by_role("option", name="Zoe").first.wait_for()
        await page.keyboard.press("Enter")
        await alice.heading(f"Zoe Zz{users['zoe'].user_id[1:]}").wait_for()
        assert page.url == first, (page.url, first)

        await make_room(Actions(alice))
        room = await page.evaluate("() => decodeURIComponent(location.hash.split('/')[1])")
        members = alice_user.get(room_path(room, "members")).ok()["chunk"]
        assert sorted(event["state_key"] for event in members) == sorted(user.user_id for user in users.values()), members

        await invite_by_link(Actions(alice))
        await page.keyboard.press("Escape")

        # Nobody is found: it says so, and what to do.
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type("qqqqqqqq")
        await page.get_by_text("Nobody found for").wait_for()
        await page.keyboard.press("Escape")


@test("flows: from their picture the user sets away, do not disturb for an hour, or a status")
async def _(test):
    user, friend = User(test.base, "alice"), User(test.base, "friend")
    friend.join(user.create_room(name="Hall", preset="public_chat"))
    status = lambda: friend.get(f"presence/{quote(user.user_id)}/status").ok()
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        await alice.entry("Hall").wait_for()

        do = Actions(alice)
        await do.press("button", "Your profile")
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await do.press("menuitemcheckbox", "Away")
        assert do.count == 2 and status()["presence"] == "unavailable", (do.count, status())
        await page.get_by_role("button", name="Your profile").click()
        await expect(page.get_by_role("menuitemcheckbox", name="Away")).to_be_checked()
        await page.keyboard.press("Escape")

        do = Actions(alice)
        await do.press("button", "Your profile")
        await do.press("menuitem", "Set a status…")
        await do.press("button", "At lunch")
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await do.press("button", "Save")
        assert do.count == 4 and status()["status_msg"] == "🍽️ At lunch", (do.count, status())
        await page.get_by_role("button", name="Your profile").click()
        await alice.dialog.get_by_text("🍽️ At lunch").wait_for()
        await alice.choose("Change status…")
        await page.get_by_label("Clear after").select_option("One hour")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_role("button", name="Your profile").click()
        await alice.dialog.get_by_text("🍽️ At lunch until").wait_for()
        # The hour is over two seconds from now.
        await page.evaluate("() => localStorage.setItem('status-until', Date.now() + 2000)")
        taken_back = lambda answer: answer.url.endswith("/status") and json.loads(answer.request.post_data or "{}").get("status_msg") == ""
        async with page.expect_response(taken_back):
            await page.reload()
        assert status().get("status_msg", "") == "", status()

        await be_quiet(Actions(alice))
        until = user.get(f"user/{quote(user.user_id)}/account_data/martlet.snooze").ok()["until"] / 1000 - time.time()
        assert 3500 < until < 3700, until
        # The next sync says so.
        await alice.until("() => localStorage.getItem('snoozed-until') !== null")
        await page.get_by_role("button", name="Your profile").click()
        await page.get_by_role("menuitemcheckbox", name="Do not disturb").click()
        await alice.dialog.get_by_text("On until").wait_for()
        await alice.choose("Turn off")
        await alice.until("() => localStorage.getItem('snoozed-until') === null")


def visible(page, label):
    return page.get_by_label(label, exact=True).locator("visible=true")


# 6 s: an account is made, and five screens are looked through by axe.
@test("flows: a new account has a name and a room after five actions; cards, room and chat begin with what can be done")
async def _(test):
    other = User(test.base, "other")
    other.create_room(name="Town hall", preset="public_chat", visibility="public")
    async with people(test, "newcomer", fresh=True) as newcomer:
        page, errors = newcomer.page, []
        # Also what the browser itself writes for an answer that is no success.
        page.on("console", lambda message: errors.append((message.text, message.location["url"])) if message.type == "error" else None)
        await page.get_by_role("tab", name="Create account").click()
        await visible(page, "User name").fill(fresh("newcomer"))
        await visible(page, "Password").fill(PASSWORD)
        await page.keyboard.press("Enter")

        do = Actions(newcomer)
        step = page.get_by_role("dialog", name="Your name and picture")
        await expect(step.get_by_label("Your name")).to_be_focused()
        await check(newcomer, "name and picture")
        await do.type("Nora New")
        await do.key("Enter")
        await page.get_by_role("heading", name="Welcome, Nora New").wait_for()
        for card in ("Start a chat", "Create a room", "Invite people", "Find public rooms"):
            await page.get_by_role("button", name=card).wait_for()
        await check(newcomer, "an empty client")
        await do.press("button", "Create a room")
        await expect(page.get_by_role("tab", name="New room")).to_have_attribute("aria-selected", "true")
        await page.get_by_role("textbox", name="Room name").focus()
        await do.type("Den")
        await do.key("Enter")
        await newcomer.heading("Den").wait_for()
        assert do.count <= 5, do.count

        # The room says what it is and what to do; its history is one folded line below.
        main = page.get_by_role("main")
        await main.get_by_text("This room is new.").wait_for()
        await main.get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        await main.get_by_role("button", name="Invite").wait_for()
        await check(newcomer, "a new room")
        await main.get_by_role("button", name="Add a topic").click()
        await newcomer.dialog.get_by_label("Topic").fill("What we do here")
        await page.keyboard.press("Enter")
        await expect(main.get_by_role("button", name="Add a topic")).to_have_count(0)
        await newcomer.write("First! http://127.0.0.1:1/nothing")
        await newcomer.sees("First!")
        await expect(main.get_by_text("This room is new.")).to_be_hidden()

        # A chat is the person, and one press says hello.
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type(other.user_id)
        await page.keyboard.press("Enter")
        await main.get_by_text("This is the beginning of your chat.").wait_for()
        await check(newcomer, "a new chat")
        await main.get_by_role("button", name="Say hello").click()
        await newcomer.sees("👋")

        # Everything else that asks the server for something.
        await open_settings(page)
        for tab in await page.get_by_role("dialog").get_by_role("tab").all():
            await tab.click()
        await page.keyboard.press("Escape")
        await newcomer.entry("Den").click()
        await page.get_by_role("button", name="Members and settings").click()
        await newcomer.room_settings("Advanced")
        await page.get_by_text("Room version").wait_for()
        await page.keyboard.press("Escape")
        await page.reload()
        await newcomer.signed_in()
        # Whether there is a recovery key only the server can say, once the settings ask. What it takes to register it says
        # in a 401, which may come after this test has begun to listen.
        answers = ("/account_data/m.secret_storage.default_key", "/v3/register")
        # People and rooms that other tests have left on this server have pictures that are none.
        errors = [error for error in errors if not error[1].endswith(answers) and "/media/thumbnail/" not in error[1]]
        assert not errors, errors


@test("flows: what others can read is said in the header, and in whole behind one press; the settings say it, too")
async def _(test):
    user = User(test.base, "reader")
    room = user.create_room(name="Open")
    user.send(room, "hello")
    secret = user.create_room(name="Secret")
    user.state(secret, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    async with people(test, "reader") as reader:
        page = reader.page
        await reader.sign_in(user)
        await reader.entry("Open").click()
        main = page.get_by_role("main")
        await main.get_by_text("Not encrypted", exact=True).wait_for()
        do = Actions(reader)
        await do.press("button", "Members and settings")
        await reader.details.get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        assert do.count <= 1, do.count
        await reader.room_settings("Access")
        await page.get_by_role("dialog").get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        await page.keyboard.press("Escape")
        await reader.entry("Secret").click()
        await main.get_by_text("End-to-end encrypted", exact=True).wait_for()
        await expect(main.get_by_text("Not encrypted", exact=True)).to_have_count(0)


@test("flows: the sign-in page of a server without mail names its support contact, and so does About")
async def _(test):
    test.own_server()
    server = Server(support_contacts="m.role.admin=help@test.example", support_page="https://test.example/help").start()
    try:
        user = User(server.base, "forgetful")
        there = SimpleNamespace(base=server.base, artifacts=test.artifacts)
        async with people(there, "forgetful", fresh=True) as person:
            page = person.page
            await page.get_by_text("Forgot your password? Ask the person who runs this server.").wait_for()
            mail = page.get_by_role("link", name="help@test.example")
            await expect(mail).to_have_attribute("href", "mailto:help@test.example")
            await expect(page.get_by_role("link", name="Help page")).to_have_attribute("href", "https://test.example/help")
            await check(person, "support contact")
            await person.sign_in_by_typing(user)
            await open_settings(page)
            await page.get_by_role("tab", name="About").click()
            await page.get_by_role("link", name="help@test.example").wait_for()
    finally:
        server.close()


# 6 s: seven tasks one after the other, in one room and with one page.
@test("flows: in a room one answers and reacts, sends a picture with words, forwards to two chats, finds what was said, makes a moderator; "
      "from the list one mutes; in a chat one calls with video")
async def _(test):
    await seven_tasks(test, on_phone=False)


# 7 s: as above.
@test("flows: on a phone, the same in a room, from the list and in a chat")
async def _(test):
    await seven_tasks(test, on_phone=True, **PHONE)


async def seven_tasks(test, on_phone, **options):
    room, chat, users = garden(test)
    async with people(test, "alice", **MAY_CALL, **options) as alice:
        do = lambda: Actions(alice, on_phone)
        await alice.sign_in(users["alice"])
        await mute(do())
        await alice.open_room(room)
        await answer_and_react(do())
        await send_picture(do())
        await forward_to_two(do())
        await find_what_was_said(do())
        await make_moderator(do())
        levels = users["alice"].get(room_path(room, "state", "m.room.power_levels")).ok()["users"]
        assert levels[users["boris"].user_id] == 50, levels
        await alice.page.goto(test.base + "/" + room_fragment(chat))
        await alice.page.reload()
        await alice.composer.wait_for()
        await call_with_video(do())
        await alice.page.get_by_role("button", name="Hang up").click()


@test("flows: a new user creates an account and writes to somebody, on a desktop and on a phone")
async def _(test):
    named(test, host="Host Qq")
    for on_phone in (False, True):
        async with people(test, "erika", fresh=True, **(PHONE if on_phone else {})) as erika:
            await create_account(Actions(erika, on_phone))


@test("flows: on a phone, a chat with somebody, a room with three people, someone invited by a link, and an hour without being disturbed")
async def _(test):
    users = named(test, alice="Alice", zoe="Zoe Zz", yann="Yann Zz", xavier="Xavier Zz")
    hall = users["alice"].create_room(name="Hall", preset="public_chat")
    for name in ("zoe", "yann", "xavier"):
        users[name].join(hall)
    async with people(test, "alice", permissions=["clipboard-read", "clipboard-write"], **PHONE) as alice:
        do = lambda: Actions(alice, on_phone=True)
        await alice.sign_in(users["alice"])
        await alice.entry("Hall").wait_for()
        await be_quiet(do())
        for task in (write_to_somebody, make_room):
            await task(do())
            await alice.page.get_by_role("button", name="Back to conversations").click()
        await alice.open_room(hall)
        await invite_by_link(do())
