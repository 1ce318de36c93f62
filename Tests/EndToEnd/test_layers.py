"""On a phone the system's Back closes one layer at a time."""
from browser import PHONE, in_room
from harness import test
from test_composer import two_in

NEEDS_BROWSER = True


@test("on a phone Back closes a menu, a dialog, a panel, the details and the room, one at a time; a layer that was closed leaves nothing behind")
async def _(test):
    room, users = two_in(test, "Layers")
    users["boris"].send(room, "one at a time")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, has_touch=True, is_mobile=True) as alice:
        page = alice.page
        await page.get_by_role("button", name="Back to conversations").click()
        await alice.entry("Layers").click()
        await alice.sees("one at a time")
        entries = await page.evaluate("history.length")
        back = lambda: page.evaluate("history.back()")
        dialogs = page.get_by_role("dialog").or_(page.get_by_role("menu"))

        # A menu; then one whose command opens a panel, and a dialog over that.
        await page.get_by_role("button", name="More about this room").click()
        await dialogs.wait_for()
        await back()
        await dialogs.wait_for(state="detached")
        await alice.more("Search in this room")
        search = page.get_by_role("complementary", name="Search in this room")
        await search.wait_for()
        await page.wait_for_function("() => history.state?.layer === 1")
        await back()
        await search.wait_for(state="hidden")
        await alice.sees("one at a time")

        # What closes by itself leaves no entry: the next Back is the details', the one after it the room's.
        await page.get_by_role("button", name="Members and settings").click()
        await alice.details.get_by_role("button", name="Room settings").click()
        await dialogs.wait_for()
        await page.wait_for_function("() => history.state?.layer === 1")
        await alice.dialog.get_by_role("button", name="Close").click()
        await dialogs.wait_for(state="detached")
        await page.wait_for_function("() => !history.state?.layer")
        await alice.details.wait_for()
        await back()
        await alice.details.wait_for(state="hidden")
        await alice.sees("one at a time")
        await back()
        await alice.entry("Layers").wait_for()
        assert await page.evaluate("history.length") <= entries + 3, "closed layers stay in the history"
