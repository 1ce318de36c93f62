"""What lies over the page: where it opens, and on a phone that the system's Back closes one layer at a time."""
import contextlib

from browser import PHONE, in_room, people
from client import User
from harness import test
from test_composer import two_in
from test_invites import token
from test_nio import ENCRYPTION

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


# ---- What the history has of it

# Over the place that one is at lie as many entries as layers, and no others. `names`: of the dialogs, from the bottom to the top.
AGREES = """([base, names]) => {
  const shown = [...document.querySelectorAll('.ma-overlay:not([data-gone])')].map(overlay => overlay.querySelector('.ma-dialog-title').textContent);
  const at = navigation.currentEntry.index - base, layer = history.state?.layer ?? 0;
  globalThis.layersSeen = JSON.stringify({ shown, at, layer });
  return JSON.stringify(shown) === JSON.stringify(names) && at === names.length && layer === names.length;
}"""
# As quickly as nobody can: all of it in one task.
TOGETHER = """steps => {
  for (const step of steps) {
    const named = name => [...document.querySelectorAll('.ma-overlay:not([data-gone]), .ma-app')].at(name === undefined ? 0 : -1)
      && [...document.querySelectorAll('button, [role=menuitem]')].findLast(button => button.checkVisibility() && (button.ariaLabel ?? button.textContent.trim()) === name);
    if (step === 'back') history.back();
    else if (step === 'escape') document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    else named(step).click();
  }
}"""
# Whether the composer can get the focus.
TAKES_FOCUS = """() => {
  const field = document.querySelector('.ma-column .ma-rich, .ma-column .mg-input'), had = document.activeElement;
  field.focus();
  const takes = document.activeElement === field;
  had.focus();
  return takes;
}"""
SMALL = {"width": 390, "height": 844}


class Layers:
    """What lies over the room that is open, on a phone."""

    def __init__(self, person):
        self.person, self.page, self.base = person, person.page, None

    async def begin(self):
        self.base = await self.page.evaluate("navigation.currentEntry.index - (history.state?.layer ?? 0)")

    async def are(self, *names):
        # What comes late would show: no step takes longer than this to be carried out.
        for _ in range(2):
            try:
                await self.person.until(AGREES, [self.base, names], 10)
            except Exception:
                raise AssertionError(f"{names} are to be open: {await self.page.evaluate('layersSeen')}") from None
            await self.page.evaluate("new Promise(done => setTimeout(done, 60))")
        if names:
            await self.person.until(f"() => !({TAKES_FOCUS})()")

    async def together(self, *steps):
        await self.page.evaluate(TOGETHER, steps)

    async def tap(self, words):
        await self.page.get_by_role("button", name=words, exact=True).or_(self.page.get_by_role("menuitem", name=words)).or_(
            self.page.get_by_role("tab", name=words)).locator("visible=true").last.tap()


@contextlib.asynccontextmanager
async def invited_on_a_phone(test):
    """Somebody who came by an invite link, and is in the room."""
    boris, alice = User(test.base, "boris"), User(test.base, "alice")
    room = boris.create_room(name="Layers", initial_state=[ENCRYPTION])
    async with people(test, "alice", viewport=SMALL, has_touch=True, is_mobile=True, device_scale_factor=2) as person:
        await person.sign_in(alice, f"#/join/{token(boris, room)}")
        await person.dialog.get_by_role("button", name="Join").tap()
        await person.composer.wait_for()
        layers = Layers(person)
        await person.until("() => !history.state?.layer")
        await layers.begin()
        yield person, layers


# 12 s: each step is waited for, and it is seen that nothing comes after it.
@test("dialogs that are opened, replaced, stacked and closed on a phone leave as many entries in the history as there are layers, however quickly")
async def _(test):
    async with invited_on_a_phone(test) as (alice, layers):
        page, export = alice.page, "Export keys…"
        for round in range(2):
            await layers.are()
            await layers.tap("More about this room")
            menu = await page.locator(".ma-dialog-title").inner_text()
            await layers.are(menu)
            await page.keyboard.press("Escape")
            await layers.are()
            # A dialog in the place of a menu; then one above it.
            await page.get_by_role("button", name="Back to conversations").tap()
            await page.get_by_role("button", name="Your profile").tap()
            await layers.begin()
            profile = await page.locator(".ma-dialog-title").inner_text()
            await layers.are(profile)
            await layers.tap("Settings")
            await layers.are("Settings")
            await layers.tap("Encryption")
            for close in ("Cancel", "Escape", "back", "Close") if round == 0 else ("Cancel",):
                await layers.tap("Export keys…")
                await layers.are("Settings", export)
                if close == "back":
                    await page.evaluate("history.back()")
                elif close == "Escape":
                    await page.keyboard.press("Escape")
                else:
                    await layers.tap(close)
                await layers.are("Settings")
            # All at once.
            await layers.together("Export keys…", "Cancel")
            await layers.are("Settings")
            await layers.together("Export keys…", "Cancel", "Export keys…")
            await layers.are("Settings", export)
            await layers.together("Cancel", "Export keys…")
            await layers.are("Settings", export)
            await layers.together("escape", "Export keys…", "escape", "Export keys…")
            await layers.are("Settings", export)
            await layers.together("Cancel", "back")
            await layers.are()
            # With time for the browser to begin what it was asked for, and not to end it.
            await page.get_by_role("button", name="Your profile").tap()
            await layers.tap("Settings")
            await layers.tap("Encryption")
            for pause in range(0, 40, 10) if round == 0 else ():
                await layers.together("Export keys…")
                await layers.are("Settings", export)
                await layers.together("Cancel")
                await page.evaluate("pause => new Promise(done => setTimeout(done, pause))", pause)
                await layers.together("Export keys…")
                await layers.are("Settings", export)
                await layers.together("Cancel")
            await layers.are("Settings")
            await layers.together("Export keys…")
            await layers.are("Settings", export)
            await page.evaluate("history.go(-2)")
            await layers.are()
            # The browser keeps the entries over a reload, and there are no layers any more.
            await page.get_by_role("button", name="Your profile").tap()
            await layers.tap("Settings")
            await layers.tap("Encryption")
            await layers.tap("Export keys…")
            await layers.are("Settings", export)
            await page.reload()
            await page.get_by_role("button", name="Your profile").wait_for()
            await layers.are()
            await alice.entry("Layers").tap()
            await alice.composer.wait_for()
            await layers.begin()


@test("what is typed for a dialog that has closed, or beside the details on a phone, is never written in the room's box")
async def _(test):
    async with invited_on_a_phone(test) as (alice, layers):
        page = alice.page
        await layers.are()
        await layers.tap("More about this room")
        await page.keyboard.press("Escape")
        await layers.are()
        await page.keyboard.type("after-a-menu")
        await page.get_by_role("button", name="Members and settings").click()
        await alice.details.wait_for()
        await alice.until(f"() => !({TAKES_FOCUS})()")
        await page.keyboard.type("beside-the-details")
        await alice.details.get_by_role("button", name="Invite").tap()
        await alice.dialog.wait_for()
        await page.keyboard.type("for-a-dial")
        # It closes under the hands.
        await page.evaluate("document.querySelector('.ma-overlay .ma-dialog-header button').click()")
        await alice.dialog.wait_for(state="detached")
        await page.keyboard.type("og-that-closes")
        await alice.details.get_by_role("button", name="Close").tap()
        await page.keyboard.type("after-all-of-it")
        assert await alice.composer.inner_text() == ""


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
