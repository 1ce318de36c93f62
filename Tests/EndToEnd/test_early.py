"""The sign-in form that stands there before the program does."""
import asyncio

from browser import PASSWORD, expect, people
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


@test("before the program is there one writes one's name and password, and sends them: the program goes on with what was written")
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
