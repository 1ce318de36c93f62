"""What stands there before the program does: the sign-in form, or the rooms as they were."""
import asyncio

from browser import PASSWORD, expect, open_settings, people
from client import User
from harness import test

NEEDS_BROWSER = True


async def without_program(person):
    """Opens the page; its program comes when the event that is returned beside the form is set."""
    may_come = asyncio.Event()

    async def hold(route):
        await may_come.wait()
        await route.continue_()

    await person.page.route("**/app.wasm", hold)
    await person.page.goto(person.base + "/", wait_until="commit")
    return person.page.locator("#early"), may_come


@test("a login typed and sent before the program is loaded is continued by the program")
async def _(test):
    user = User(test.base, "early")
    async with people(test, "alice", service_workers="block") as alice:
        page, (early, may_come) = alice.page, await without_program(alice)
        await expect(early.get_by_label("User name").locator("visible=true")).to_be_focused()
        # The other tab and back: each has its own fields.
        await early.get_by_role("tab", name="Create account").click()
        await early.get_by_text("At least 8 characters").wait_for()
        await early.get_by_role("tab", name="Sign in").click()
        await early.get_by_role("button", name="Sign in").click()
        await expect(early.get_by_label("User name").locator("visible=true")).to_be_focused()
        await page.keyboard.type(user.user_id)
        await page.keyboard.press("Tab")
        await page.keyboard.type(PASSWORD[:4])

        # What is typed while the forms change places is one word.
        may_come.set()
        await page.locator("#app .ma-signin").wait_for()
        await expect(early).to_have_count(0)
        await page.keyboard.type(PASSWORD[4:])
        await page.keyboard.press("Enter")
        await alice.signed_in()

        # Who comes back sees no form.
        await page.reload(wait_until="commit")
        await page.get_by_role("button", name="Your profile").wait_for()
        await expect(early).to_have_count(0)


@test("what is sent before the program is there is sent as soon as it is")
async def _(test):
    user = User(test.base, "early")
    async with people(test, "alice", service_workers="block") as alice:
        page, (early, may_come) = alice.page, await without_program(alice)
        await early.get_by_label("User name").locator("visible=true").fill(user.user_id)
        await early.get_by_label("Password").locator("visible=true").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await early.get_by_text("Signing in…").wait_for()
        may_come.set()
        await alice.signed_in()


@test("who is signed in sees the rooms as they were before the program is there, and opens one; signed out, nothing of them is kept")
async def _(test):
    user, friend = User(test.base, "early"), User(test.base, "friend")
    rooms = {name: user.create_room(name=name, preset="public_chat") for name in ("Garden", "<b>Hall</b>", "Kitchen")}
    friend.join(rooms["Garden"])
    friend.send(rooms["Garden"], "the plums <i>are</i> ripe")
    async with people(test, "alice", service_workers="block") as alice:
        page = alice.page
        await alice.sign_in(user)
        await alice.entry("Garden").get_by_text("the plums <i>are</i> ripe").wait_for()
        # On the way out of the page.
        await page.goto("about:blank")
        early, may_come = await without_program(alice)
        lines = early.get_by_role("button", name="Options").locator("xpath=preceding-sibling::*")
        await expect(lines).to_have_count(3)
        await early.get_by_text("<b>Hall</b>").wait_for()
        await early.get_by_text("the plums <i>are</i> ripe").wait_for()
        await alice.picture("rooms-as-they-were")
        await early.get_by_text("Garden", exact=True).click()
        may_come.set()
        await alice.heading("Garden").wait_for()
        await expect(early).to_have_count(0)
        assert await page.evaluate("() => localStorage.getItem('kept-list') !== null")

        await open_settings(page)
        await page.get_by_role("button", name="Sign out").click()
        await alice.dialog.get_by_role("button", name="Sign out").click()
        await page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        assert await page.evaluate("() => Object.values(localStorage).every(kept => !kept.includes('plums'))")
        await page.goto("about:blank")
        await page.goto(alice.base + "/")
        await page.get_by_role("heading", name="Welcome to Martlet").first.wait_for()
        await expect(page.get_by_text("Garden")).to_have_count(0)
