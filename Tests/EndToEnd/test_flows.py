"""The flows that people go through most, with the actions that each may take: a press, or one thing typed. One more action fails the test."""
import json
import time
from urllib.parse import quote

from browser import expect, people
from client import User, room_path
from harness import test

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
