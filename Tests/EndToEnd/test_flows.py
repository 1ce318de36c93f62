"""The flows that people go through most, with the actions that each may take: a press, or one thing typed. One more action fails the test."""
import json
import time
from types import SimpleNamespace
from urllib.parse import quote

from accessibility import check
from browser import PASSWORD, expect, open_settings, people
from client import User, fresh, room_path
from harness import test
from server import Server

NEEDS_BROWSER = True


class Actions:
    """Does and counts what a person does."""

    def __init__(self, person):
        self.person, self.count = person, 0

    async def press(self, role, name, exact=False):
        self.count += 1
        await self.person.page.get_by_role(role, name=name, exact=exact).locator("visible=true").first.click()

    async def type(self, text):
        """Where the focus is."""
        self.count += 1
        await self.person.page.keyboard.type(text)

    async def key(self, name):
        self.count += 1
        await self.person.page.keyboard.press(name)


@test("flows: a chat with somebody by two letters of a name, a room with three people, and someone invited by a link")
async def _(test):
    users = {name: User(test.base, name) for name in ("alice", "zoe", "yann", "xavier")}
    for name, user in users.items():
        user.put(f"profile/{user.user_id}/displayname", {"displayname": f"{name.capitalize()} Zz{user.user_id[1:]}"}).ok()
    alice_user = users["alice"]
    hall = alice_user.create_room(name="Hall", preset="public_chat")
    for name in ("zoe", "yann", "xavier"):
        users[name].join(hall)
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(alice_user)
        await alice.entry("Hall").wait_for()

        # A direct chat: two letters, Enter; the dialog has the focus in its field.
        do = Actions(alice)
        await page.get_by_role("button", name="New conversation").first.click()
        field = page.get_by_role("combobox", name="Name, ID or link")
        await expect(field).to_be_focused()
        await do.type("zo")
        await page.get_by_role("option", name="Zoe").first.wait_for()
        await do.key("Enter")
        await alice.heading(f"Zoe Zz{users['zoe'].user_id[1:]}").wait_for()
        assert do.count <= 2, do.count
        # The same person again is the same chat.
        first = page.url
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type("zo")
        await page.get_by_role("option", name="Zoe").first.wait_for()
        await page.keyboard.press("Enter")
        await alice.heading(f"Zoe Zz{users['zoe'].user_id[1:]}").wait_for()
        assert page.url == first, (page.url, first)

        # A new room with three people: one dialog.
        do = Actions(alice)
        await do.press("button", "New conversation")
        await do.press("tab", "New room")
        await page.get_by_role("textbox", name="Room name").fill("Trio")
        invited = page.get_by_role("combobox", name="Invite (optional)")
        await invited.focus()
        for letters in ("Zoe", "Yan", "Xav"):
            await do.type(letters)
            await page.get_by_role("option", name=letters).first.wait_for()
            await do.key("Enter")
        await do.press("button", "Create room")
        await alice.heading("Trio").wait_for()
        assert do.count <= 9, do.count
        room = await page.evaluate("() => decodeURIComponent(location.hash.split('/')[1])")
        members = alice_user.get(room_path(room, "members")).ok()["chunk"]
        assert sorted(event["state_key"] for event in members) == sorted(user.user_id for user in users.values()), members

        # Nobody is found: it says so, and what to do.
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type("qqqqqqqq")
        await page.get_by_text("Nobody found for").wait_for()
        await page.keyboard.press("Escape")


@test("flows: one is away, not to be disturbed for an hour, or says what one is doing, by one's own picture")
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
        assert do.count <= 2 and status()["presence"] == "unavailable", (do.count, status())
        await page.get_by_role("button", name="Your profile").click()
        await expect(page.get_by_role("menuitemcheckbox", name="Away")).to_be_checked()
        await page.keyboard.press("Escape")

        do = Actions(alice)
        await do.press("button", "Your profile")
        await do.press("menuitem", "Set a status…")
        await do.press("button", "At lunch")
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await do.press("button", "Save")
        assert do.count <= 4 and status()["status_msg"] == "🍽️ At lunch", (do.count, status())
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

        do = Actions(alice)
        await do.press("button", "Your profile")
        await do.press("menuitem", "Do not disturb")
        async with page.expect_response(lambda answer: answer.url.endswith("/martlet.snooze")):
            await do.press("menuitem", "For an hour")
        until = user.get(f"user/{quote(user.user_id)}/account_data/martlet.snooze").ok()["until"] / 1000 - time.time()
        assert do.count <= 3 and 3500 < until < 3700, (do.count, until)
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
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
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
