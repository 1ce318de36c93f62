"""The page for administrators in the web client: each of its sections, what others than administrators see, and everything by keyboard."""
import asyncio
import re
from urllib.parse import quote

from accessibility import check
from browser import PASSWORD, expect, open_settings, people
from client import Api, User, fresh, room_path
from harness import test
from shell import Operator

NEEDS_BROWSER = True
SECTIONS = {"overview": "Overview", "users": "Users", "registration": "Registration", "rooms": "Rooms", "reports": "Reports", "media": "Media",
            "notices": "Notices", "audit": "Audit log"}
# Notices want a server that has a user for them; the others are asked for nothing.
LOOKS = {"light": {}, "dark": {"scheme": "dark"}, "phone": {"viewport": {"width": 360, "height": 740}}}


def administrator(test, prefix="root"):
    user = User(test.base, prefix)
    Operator(test.server).run("user", "admin", user.user_id)
    return user


def called(user):
    """What an account is called that has no other name."""
    return user.user_id[1:].split(":")[0]


async def go(person, *place):
    """To a section, or to a thing in it, and until its heading is there."""
    await person.page.evaluate("place => { location.hash = place; }", "/admin/" + "/".join(quote(part, safe="") for part in place))


def heading(person, name):
    return person.page.get_by_role("main").get_by_role("heading", name=name, level=1)


def table(person, name):
    return person.page.get_by_role("table", name=name)


def row(person, words):
    return person.page.get_by_role("row").filter(has_text=words)


async def press(person, name, within=None):
    await (within or person.page.get_by_role("main")).get_by_role("button", name=name, exact=True).first.click()


async def agree(person, name):
    """In the dialog, which has no fault for axe and goes away when it is done."""
    await check(person, name)
    await person.dialog.get_by_role("button", name=name, exact=True).click()
    await person.page.get_by_role("dialog").wait_for(state="detached")


async def search(person, label, words):
    await person.page.get_by_label(label, exact=True).locator("visible=true").fill(words)


@test("who administers nothing has no way to the page, and sees at its address only that it is not for them")
async def _(test):
    test.own_server()
    other = User(test.base, "other")
    async with people(test, "other") as person:
        await person.sign_in(other, "#/admin/users")
        await person.page.get_by_text("Only administrators of this server can see this page.").wait_for()
        assert not await person.page.get_by_role("link").count() and not await person.page.get_by_role("table").count()
        await check(person, "not for them")
        await person.page.get_by_role("button", name="Back to chats").click()
        await open_settings(person.page)
        await person.page.get_by_role("dialog").get_by_text(other.user_id).wait_for()
        assert not await person.page.get_by_role("button", name="Administration").count()


@test("an administrator makes an account, finds it, locks it, gives it another password, ends its devices, and closes it")
async def _(test):
    test.own_server()
    root, name = administrator(test), fresh("newcomer")
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root)
        await open_settings(page)
        await person.dialog.get_by_role("button", name="Administration").click()
        await heading(person, "Overview").wait_for()
        await page.get_by_role("link", name="Users").click()
        await heading(person, "Users").wait_for()
        await press(person, "Create user")
        # Letters of a phone's keyboard are made small.
        await person.dialog.get_by_label("User name").fill(name.capitalize())
        await person.dialog.get_by_label("Password", exact=True).fill("short")
        await person.dialog.get_by_role("button", name="Create", exact=True).click()
        await person.dialog.get_by_text("8 characters").first.wait_for()
        await person.dialog.get_by_label("Password", exact=True).fill(PASSWORD)
        await agree(person, "Create")
        user = f"@{name}:test.example"
        await heading(person, name).wait_for()

        def log_in(password):
            return Api(test.base).post("login", {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": user}, "password": password})

        (await asyncio.to_thread(log_in, PASSWORD)).ok()
        # The address is the user's: a reload comes back to it, and Back to the list.
        await page.reload()
        await heading(person, name).wait_for()
        devices = table(person, "Devices")
        await expect(devices.get_by_role("row")).to_have_count(2)
        await devices.get_by_role("button", name=re.compile("^Sign out")).click()
        await person.dialog.get_by_text(f"of {name}?").first.wait_for()
        await agree(person, "Sign out")
        await page.get_by_text("This account is signed in nowhere.").wait_for()

        await press(person, "Lock")
        assert name in await person.dialog.get_by_role("heading").inner_text()
        await agree(person, "Lock")
        await press(person, "Unlock")
        await page.get_by_role("button", name="Lock", exact=True).wait_for()
        await press(person, "Reset password")
        await person.dialog.get_by_label("New password").fill("another long password")
        await agree(person, "Reset password")
        (await asyncio.to_thread(log_in, "another long password")).ok()
        await press(person, "Make administrator")
        await agree(person, "Make administrator")
        await page.get_by_text("Administrator", exact=True).wait_for()

        await press(person, "Deactivate")
        await agree(person, "Deactivate")
        await page.get_by_text("Deactivated", exact=True).wait_for()
        assert not await page.get_by_role("button", name="Deactivate", exact=True).count()
        await page.go_back()
        await heading(person, "Users").wait_for()
        await search(person, "Search by name or ID", name)
        await expect(row(person, user)).to_have_count(1)
        await expect(page.get_by_text("1 of 1")).to_be_visible()
        await page.get_by_role("combobox", name="Show", exact=True).select_option("Locked")
        await page.get_by_text("Nothing was found.").wait_for()
        assert (await asyncio.to_thread(log_in, "another long password")).status == 403


@test("an administrator finds a room, blocks it, and deletes it with everybody in it")
async def _(test):
    test.own_server()
    root, boris, clara = administrator(test), User(test.base, "boris"), User(test.base, "clara")
    name = fresh("Orchard ")
    room = boris.create_room(name=name, preset="public_chat", topic="Apples")
    clara.join(room)
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin/rooms")
        await heading(person, "Rooms").wait_for()
        await search(person, "Search by name or address", name)
        await page.get_by_text("1 of 1").wait_for()
        await page.get_by_role("link", name=name).click()
        await heading(person, name).wait_for()
        await page.get_by_role("link", name=clara.user_id).wait_for()
        await press(person, "Block")
        await agree(person, "Block")
        await page.get_by_text("Blocked", exact=True).wait_for()
        late = User(test.base, "late")
        late.post("join/" + quote(room, safe="")).fails(403, "M_FORBIDDEN")
        await press(person, "Delete old messages")
        await person.dialog.get_by_role("button", name="Delete old messages").click()
        await person.dialog.get_by_text("Choose a day.").wait_for()
        await person.dialog.get_by_label("Before this day").fill("2020-01-01")
        await agree(person, "Delete old messages")
        await page.get_by_role("status").get_by_text("The old messages are deleted.").first.wait_for()
        await press(person, "Delete room")
        await person.dialog.get_by_text("Everybody is taken out").wait_for()
        await agree(person, "Delete room")
        await heading(person, "Rooms").wait_for()
        await search(person, "Search by name or address", name)
        await page.get_by_text("Nothing was found.").wait_for()
        assert not clara.get("joined_rooms").ok()["joined_rooms"]


@test("a report shows its message among its neighbours; the message is removed, the person is near, the report is dismissed")
async def _(test):
    test.own_server()
    root, boris, clara = administrator(test), User(test.base, "boris"), User(test.base, "clara")
    room = boris.create_room(name="Garden", preset="public_chat")
    clara.join(room)
    boris.send(room, "who waters them?")
    bad, reason = clara.send(room, "nobody, <b>you</b> pigs"), fresh("rude ")
    boris.send(room, "that was unkind")
    boris.post(room_path(room, "report", bad), {"reason": reason}).ok()
    for number in range(3):
        boris.post(room_path(room, "report"), {"reason": f"{reason} {number}"}).ok()
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin/reports")
        # Several that lead nowhere are dismissed at once.
        for number in range(2):
            await row(person, f"{reason} {number}").get_by_role("checkbox").check()
        await press(person, "Dismiss what is chosen")
        await person.dialog.get_by_text("Dismiss 2 reports?").first.wait_for()
        await agree(person, "Dismiss")
        await expect(row(person, reason)).to_have_count(2)
        await row(person, reason).get_by_role("link", name="Message").click()
        messages = page.get_by_role("list", name="The message and those around it").get_by_role("listitem")
        await expect(messages).to_have_count(3)
        # What it says is shown as it was written, and never runs.
        await messages.nth(1).get_by_text("nobody, <b>you</b> pigs").wait_for()
        await check(person, "a report")
        await press(person, "Delete the message")
        assert clara.user_id in await person.dialog.get_by_role("heading").inner_text()
        await agree(person, "Delete the message")
        await messages.nth(1).get_by_text("nobody").wait_for(state="detached")
        await press(person, "Open the person")
        await heading(person, called(clara)).wait_for()
        await page.go_back()
        await press(person, "Dismiss")
        await agree(person, "Dismiss")
        await heading(person, "Reports").wait_for()
        await expect(row(person, reason)).to_have_count(1)
    assert "redacted_because" in boris.get(room_path(room, "event", bad)).ok()["unsigned"]


@test("tokens are made and revoked, files are kept away and deleted, everybody gets a notice, and the log tells all of it")
async def _(test):
    test.own_server()
    root, boris = administrator(test), User(test.base, "boris")
    boris.request("POST", "/_matrix/media/v3/upload", body=b"x" * 2_000, headers={"Content-Type": "text/plain"}, filename="leaf.txt").ok()
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin/registration")
        await press(person, "Create token")
        token = fresh("come-in-")
        await person.dialog.get_by_label("Registration token").fill(token)
        await person.dialog.get_by_label("For how many accounts").fill("0")
        await person.dialog.get_by_role("button", name="Create", exact=True).click()
        await person.dialog.get_by_text("Write a whole number above zero").wait_for()
        await person.dialog.get_by_label("For how many accounts").fill("3")
        await agree(person, "Create")
        await row(person, token).get_by_text("0 of 3").wait_for()
        await row(person, token).get_by_role("button", name="Revoke").click()
        await agree(person, "Revoke")
        await expect(row(person, token)).to_have_count(0)

        hall = fresh("Hall-")
        link = boris.request("POST", "/_matrix/client/unstable/martlet.invite_links",
                             {"room_id": boris.create_room(name=hall, preset="private_chat"), "uses": 2}).ok()
        await page.reload()
        await row(person, hall).get_by_text("0 of 2").wait_for()
        await row(person, hall).get_by_role("button", name=f"Revoke: {hall}, {boris.user_id}").click()
        await agree(person, "Revoke")
        await expect(row(person, hall)).to_have_count(0)
        assert Api(test.base).request("POST", "/_matrix/client/unstable/martlet.invite_links/describe", {"token": link["token"]}).status == 404

        await go(person, "media")
        await search(person, "Search by name or ID", boris.user_id)
        await page.get_by_role("link", name=called(boris)).click()
        await press(person, "Quarantine: leaf.txt")
        await row(person, "leaf.txt").get_by_text("In quarantine").wait_for()
        await press(person, "Release: leaf.txt")
        await press(person, "Delete: leaf.txt")
        await agree(person, "Delete")
        await page.get_by_text("Nothing has been uploaded.").wait_for()

        await press(person, "Send a notice")
        await person.dialog.get_by_label("Text").fill("Hello you")
        await agree(person, "Send")
        await go(person, "notices")
        await press(person, "Send to everybody")
        await person.dialog.get_by_label("Text").fill("Hello all")
        await agree(person, "Send to everybody")
        await page.get_by_role("progressbar").first.wait_for()
        await page.get_by_text(re.compile(r"^Reached (\d+) of \1$")).first.wait_for()

        await go(person, "audit")
        await page.get_by_label("Action", exact=True).select_option("Media")
        await expect(row(person, "media.delete").first).to_be_visible()
        await expect(row(person, "token.create")).to_have_count(0)
        await page.get_by_label("Action", exact=True).select_option("Everything")
        await search(person, "Search by who did it", root.user_id)
        for action in ("notice.broadcast", "notice.send", "token.delete"):
            await row(person, action).filter(has_text=root.user_id).first.wait_for()


@test("the overview has its figures as graphs and as tables, and tells how the server is")
async def _(test):
    test.own_server()
    root = administrator(test)
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin")
        await heading(person, "Overview").wait_for()
        await page.get_by_text("Active today").wait_for()
        await page.get_by_text("As a table").first.click()
        days = table(person, "Active users by day")
        await expect(days.get_by_role("row")).to_have_count(2)
        assert int(await days.get_by_role("cell").first.inner_text()) >= 1
        for words in ("Running since", "Database", "Time per request", "Disk"):
            await page.get_by_text(words, exact=True).wait_for()
        await page.get_by_label("Period").select_option("Last 7 days")
        await expect(page.get_by_role("figure")).to_have_count(5)


@test("an administrator who loses the right sees words, and a server that does not answer is told of and asked again")
async def _(test):
    test.own_server()
    root, boris = administrator(test), User(test.base, "boris")
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin/users")
        # Other tests leave more accounts than the first page of the list has.
        await page.get_by_label("Search by name or ID").fill(called(root))
        await page.get_by_role("link", name=called(root)).first.wait_for()
        await person.go_offline()
        await page.get_by_role("link", name="Rooms").click()
        await page.get_by_role("main").get_by_text("The server does not answer").first.wait_for()
        await person.context.set_offline(False)
        await press(person, "Try again")
        await table(person, "Rooms").or_(page.get_by_text("Nothing was found.")).first.wait_for()
        await asyncio.to_thread(Operator(test.server).run, "user", "admin", root.user_id, "--remove")
        await go(person, "users", boris.user_id)
        await page.get_by_text("Only administrators of this server can see this page.").wait_for()


@test("the page is used by keys alone: sections, rows, a question and its answer")
async def _(test):
    test.own_server()
    root, boris = administrator(test), User(test.base, "boris")
    async with people(test, "root") as person:
        page = person.page
        await person.sign_in(root, "#/admin/overview")
        await expect(heading(person, "Overview")).to_be_focused()
        await page.keyboard.press("Shift+F6")
        for _ in range(12):
            if await page.evaluate("document.activeElement.textContent") == "Users":
                break
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(heading(person, "Users")).to_be_focused()
        await page.keyboard.press("Tab")
        await page.keyboard.type(boris.user_id[1:])
        await page.get_by_text("1 of 1").wait_for()
        for _ in range(12):
            if await page.evaluate("document.activeElement.textContent") == called(boris):
                break
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(heading(person, called(boris))).to_be_focused()
        await page.get_by_role("button", name="Suspend").focus()
        await page.keyboard.press("Enter")
        # The harmless answer has the focus.
        await expect(person.dialog.get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Suspend")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.get_by_text("Suspended", exact=True).wait_for()


@test("each section has names for all there is to do and letters that can be read, in light, dark and on a phone")
async def _(test):
    test.own_server()
    root, boris = administrator(test), User(test.base, "boris")
    room = boris.create_room(name="Garden", preset="public_chat")
    boris.post(room_path(room, "report"), {"reason": "weeds"}).ok()
    for look, options in LOOKS.items():
        async with people(test, "root", **options) as person:
            await person.sign_in(root, "#/admin/overview")
            for section, name in SECTIONS.items():
                await go(person, section)
                await heading(person, name).wait_for()
                await person.page.get_by_text("Loading").first.wait_for(state="detached")
                await check(person, f"{name}, {look}")
                wide = await person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{name}, {look}: {wide} pixels are beyond the edge"
            for place, name in ((("users", boris.user_id), called(boris)), (("rooms", room), "Garden")):
                await go(person, *place)
                await heading(person, name).wait_for()
                await person.page.get_by_text("Loading").first.wait_for(state="detached")
                await check(person, f"{name}, {look}")
