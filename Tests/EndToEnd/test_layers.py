"""What lies over the page: where it opens, and on a phone that the system's Back closes one layer at a time."""
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


BOX = "node => { const { left, top, right, bottom } = node.getBoundingClientRect(); return [left, top, right, bottom]; }"
# The box of the popover, the size of the window, and what is drawn over the page behind it.
OPENED = f"overlay => [({BOX})(overlay.firstElementChild), innerWidth, innerHeight, getComputedStyle(overlay).backgroundColor]"
# A popover stands so many pixels from what opened it; so many are between it and the window's edge.
GAP, MARGIN = 4, 8


def opens_at(name, pressed, opened):
    (left, top, right, bottom), width, height, behind = opened
    assert left >= MARGIN - 1 and top >= MARGIN - 1 and right <= width - MARGIN + 1 and bottom <= height - MARGIN + 1, (name, opened)
    # Beside, above or below it and no further: neither the page's middle nor another corner.
    apart = (max(left - pressed[2], pressed[0] - right, 0), max(top - pressed[3], pressed[1] - bottom, 0))
    assert max(apart) <= GAP + 1, (name, apart, pressed, opened)
    assert behind == "rgba(0, 0, 0, 0)", (name, behind)


# Proves U4, U5, U6: over a lit page, where the hand is. 10 s: nine of them in windows of two widths.
@test("menus, pickers and cards open at what was pressed, are whole, and the page behind them stays lit")
async def _(test):
    room, users = two_in(test, "Places")
    for number in range(12):
        users["boris"].send(room, f"number {number}")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.sees("number 11")
        row = alice.message("number 9")

        async def look(name, pressed, press):
            box = await pressed.evaluate(BOX)
            await press()
            popover = page.locator("[data-popover]")
            await popover.wait_for()
            # It moves while its pictures and lists arrive.
            await alice.rest()
            opens_at(name, box, await popover.evaluate(OPENED))
            await page.keyboard.press("Escape")
            await page.locator("[data-popover]").wait_for(state="detached")

        for width in (1280, 820):
            await page.set_viewport_size({"width": width, "height": 800})
            await alice.rest()
            for words in ("More about this room", "Send something else", "Emoji", "Your profile"):
                button = page.get_by_role("button", name=words, exact=True).locator("visible=true")
                await look(words, button, button.click)
            for words in ("Add a reaction", "More actions"):
                await row.hover()
                button = page.get_by_role("toolbar").get_by_role("button", name=words, exact=True).locator("visible=true")
                await look(words, button, button.click)
            await look("a message's menu", row.locator(".mg-bubble"), lambda: row.locator(".mg-bubble").click(button="right"))
            entry = alice.entry("Places")
            await look("a room's menu", entry, lambda: entry.click(button="right"))
            await page.get_by_role("button", name="Members and settings").click()
            await look("a member's card", alice.members.first, alice.members.first.click)
            await alice.details.get_by_role("button", name="Close").click()


# The bar at the row under the pointer: how far it is from the bubble, and whose words it covers.
BAR = """row => {
  const bar = row.querySelector('.mg-tools-bar').getBoundingClientRect(), bubble = row.querySelector('.mg-bubble').getBoundingClientRect();
  const meets = box => box.right > bar.left + 1 && box.left < bar.right - 1 && box.bottom > bar.top + 1 && box.top < bar.bottom - 1;
  const covered = [...document.querySelectorAll('[role=feed] .mg-bubble')].filter(other => !row.contains(other) && meets(other.getBoundingClientRect()));
  return { apart: Math.max(bar.left - bubble.right, bubble.left - bar.right, 0), above: bubble.top - bar.top, tall: bar.height,
           isWhole: bar.left >= 0 && bar.right <= innerWidth, covered: covered.map(other => other.textContent) };
}"""


# Proves U4.
@test("the bar of a message stands at its bubble's upper corner and covers no other message")
async def _(test):
    room, users = two_in(test, "Bars")
    rows = []
    for number in range(3):
        for name in ("boris", "alice"):
            for words in (f"{name} {number}", f"{name} {number} has " + "much more to tell than fits into one line of a room, and goes on " * 2):
                users[name].send(room, words)
                rows.append(words)
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.sees(rows[-1])
        for width in (1280, 820):
            await alice.page.set_viewport_size({"width": width, "height": 800})
            await alice.rest()
            for words in rows:
                row = alice.page.get_by_role("article").filter(has=alice.page.get_by_text(words.strip(), exact=True))
                await row.hover()
                await row.get_by_role("toolbar").wait_for()
                bar = await row.evaluate(BAR)
                # The time may stand between them.
                assert bar["apart"] <= 48 and -8 <= bar["above"] <= bar["tall"] and bar["isWhole"] and not bar["covered"], (width, words, bar)
