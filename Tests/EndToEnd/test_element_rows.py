"""<martlet-messenger> with rows of a page: what is fetched, scrolled and written there, how it looks and how it moves."""
import contextlib

from browser import expect
from harness import test
from test_element import CORNERS, bubble_style, visitor

NEEDS_BROWSER = True

# A page with nothing but the element, which it fills from outside.
BARE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>bare</title><link rel="stylesheet" href="style.css">
<martlet-messenger label="Bare" {}></martlet-messenger><script type="module" src="martlet-messenger.js"></script>"""
# What the element tells, from the first on, and rows to give it.
LISTEN = """
  globalThis.heard = { needolder: 0, visible: {} };
  addEventListener('needolder', () => { heard.needolder++; }, true);
  addEventListener('visible', ({ detail }) => { heard.visible = detail; }, true);
  globalThis.rows = (from, to) => Array.from({ length: to - from }, (_, k) => ({ sender: { id: 'ann', name: 'Ann' }, text: `row ${from + k}.` }));"""


@contextlib.asynccontextmanager
async def bare(test, attributes=""):
    """(page, frame) with an element that has these attributes and no rows."""
    async with visitor(test, pages={"bare.html": BARE.format(attributes)}) as (person, frame, address):
        await person.page.add_init_script(LISTEN)
        await person.page.goto(address("bare.html"))
        await person.page.evaluate("() => { globalThis.chat = document.querySelector('martlet-messenger'); }")
        yield person.page, frame


# Proves C4, C6
@test("a page is asked for what is older, as often as it says that there is more; it scrolls, and hears what is in view")
async def _(test):
    async with bare(test, "fetches-older") as (page, frame):
        row = lambda number: frame.get_by_role("article", name=f"row {number}.")
        # With nothing there as well.
        await page.wait_for_function("() => heard.needolder === 1")
        await page.evaluate("async () => { globalThis.ids = await chat.addAll(rows(100, 160)); }")
        await expect(row(159)).to_be_in_viewport()
        await page.wait_for_function("() => heard.visible.atEnd")
        await page.evaluate("() => chat.scrollToRow(ids[0], { place: 'top' })")
        await expect(row(100)).to_be_in_viewport()
        await page.wait_for_function("() => heard.needolder === 1 && heard.visible.atEnd === false && heard.visible.first === ids[0]")
        await expect(frame.get_by_role("feed", name="Messages")).to_have_attribute("aria-busy", "true")
        await page.evaluate("() => chat.endOlder([], 'failed')")
        await frame.get_by_text("Could not load messages.").wait_for()
        await frame.get_by_role("button", name="Try again").click()
        await page.wait_for_function("() => heard.needolder === 2")
        await page.evaluate("async () => { globalThis.ids = await chat.endOlder(rows(40, 100), 'more'); }")
        await expect(row(100)).to_be_in_viewport()
        await page.evaluate("() => chat.scrollToRow(ids[0], { place: 'top' })")
        await page.wait_for_function("() => heard.needolder === 3")
        await page.evaluate("() => chat.endOlder(rows(38, 40), 'end')")
        await frame.get_by_text("This is the beginning of the conversation.").wait_for(state="attached")
        await page.evaluate("() => chat.scrollToEnd()")
        await expect(row(159)).to_be_in_viewport()
        await page.wait_for_function("() => heard.visible.atEnd")
        assert await page.evaluate("heard.needolder") == 3


# Proves C4, C6
@test("a page says who writes, and how much may be written, or that nothing may and why")
async def _(test):
    async with bare(test, 'maxlength="20"') as (page, frame):
        await page.evaluate("async () => { globalThis.writers = [await chat.addTyping({ id: 'ann', name: 'Ann' }), await chat.addTyping({ id: 'bob', name: 'Bob' })]; }")
        for name in ("Ann", "Bob"):
            await frame.get_by_text(f"{name} is typing").wait_for()
        await page.evaluate("() => chat.removeTyping(writers[0])")
        await frame.get_by_text("Ann is typing").wait_for(state="detached")
        await frame.get_by_text("Bob is typing").wait_for()

        box, send = frame.get_by_role("textbox"), frame.get_by_role("button", name="Send")
        await box.fill("x" * 21)
        await expect(frame.get_by_role("status").get_by_text("1 over the limit")).to_be_visible()
        await expect(send).to_be_disabled()
        await box.fill("x" * 20)
        await expect(send).to_be_enabled()
        await page.evaluate("() => chat.setAttribute('disabled', 'We are closed')")
        closed = frame.get_by_role("textbox", name="We are closed")
        await expect(closed).to_be_disabled()
        await expect(closed).to_have_attribute("placeholder", "We are closed")
        await expect(send).to_be_disabled()
        await page.evaluate("() => chat.removeAttribute('disabled')")
        await expect(frame.get_by_role("textbox", name="Write a message")).to_be_enabled()
        await expect(send).to_be_enabled()


# Proves N8
@test("bubbles look as their configuration says: corners and colours of the first and the others, a picture cut in nine, a line, what is masked")
async def _(test):
    async with bare(test) as (page, frame):
        await page.evaluate("""() => chat.addAll([
          { sender: { id: 'ann', name: 'Ann' }, text: 'first', time: 1000 }, { sender: { id: 'ann', name: 'Ann' }, text: 'second', time: 2000 },
          { sender: { id: 'me', name: 'Me', own: true }, text: 'third', time: 3000 }, { sender: { id: 'me', name: 'Me', own: true }, text: 'fourth', time: 4000 },
          { sender: { id: 'bob', name: 'Bob' }, parts: [{ text: 'fifth' }, { file: { name: 'prices.pdf' } }], time: 5000 }])""")

        async def looks(name):
            *corners, ground, letters = await bubble_style(frame.get_by_role("article", name=name), *CORNERS, "backgroundColor", "color")
            return [float(corner.removesuffix("px")) for corner in corners] + [ground, letters]

        grey, dark = "rgb(243, 247, 249)", "rgb(51, 51, 51)"
        await page.evaluate("() => chat.setBubbles('standard')")
        blue, white = "rgb(74, 144, 226)", "rgb(255, 255, 255)"
        assert await looks("first") == [16, 16, 16, 0, grey, dark], "a tail below on the sender's side"
        assert await looks("second") == [0, 16, 16, 0, grey, dark], "stacked: the outer corners are round"
        assert await looks("third") == [16, 16, 0, 16, blue, white]
        assert await looks("fourth") == [16, 0, 0, 16, blue, white]
        await page.evaluate("() => chat.setBubbles('simple')")
        assert await looks("first") == [0, 0, 0, 0, grey, dark]
        assert await looks("fourth") == [0, 0, 0, 0, "rgb(144, 164, 174)", "rgb(20, 20, 20)"]
        await page.evaluate("() => chat.setBubbles('house')")
        house = [await looks(name) for name in ("first", "second", "third", "fourth")]
        assert [look[:4] for look in house] == [[4, 18, 18, 4], [4, 18, 18, 18], [18, 18, 4, 18], [18, 4, 4, 18]], house
        assert house[0][4] != grey and house[2][4] != blue, house

        # What Swift alone can ask for is classes and properties of the list (`BubbleTests`): here, what the style sheet makes of them.
        timeline = frame.locator(".mg-timeline")
        await timeline.evaluate("""timeline => {
          timeline.classList.add('mg-primary-image', 'mg-secondary-image', 'mg-unmasked', 'mg-bordered');
          for (const side of ['own', 'other']) timeline.style.setProperty(`--mg-patch-${side}`, `url("icon.svg?${side}") 29 32 25 43 fill`);
          timeline.style.setProperty('--mg-border-width', '2px');
          timeline.style.setProperty('--mg-border-colour', 'red');
        }""")
        for name, side in (("first", "other"), ("second", "other"), ("third", "own"), ("fourth", "own")):
            article = frame.get_by_role("article", name=name)
            mask, line = await bubble_style(article, "webkitMaskBoxImage", "boxShadow")
            assert f"icon.svg?{side}" in mask and "29 32 25 43 fill" in mask, mask
            assert "rgb(255, 0, 0) 0px 0px 0px 2px inset" in line, line
        assert await bubble_style(frame.get_by_role("article", name="fifth"), "overflow") == ["visible"]
        await timeline.evaluate("timeline => timeline.classList.remove('mg-unmasked')")
        assert await bubble_style(frame.get_by_role("article", name="fifth"), "overflow") == ["hidden"]


# Keeps each motion that begins, with its time in seconds. What makes room has two names, so that one motion can follow the other.
MOTIONS = """() => {
  globalThis.motions = {};
  document.addEventListener('animationstart', ({ animationName, target, pseudoElement }) => {
    const style = getComputedStyle(target, pseudoElement || null), at = style.animationName.split(', ').indexOf(animationName);
    (motions[animationName.replace('-again', '')] ??= []).push(parseFloat(style.animationDuration.split(', ')[at]));
  });
}"""


# Proves C12, N6
@test("rows animate when they come, go, make room and type; with reduced motion nothing moves")
async def _(test):
    async with bare(test) as (page, frame):
        inside = next(part for part in page.frames if part != page.main_frame)
        await page.evaluate("async () => { globalThis.ids = await chat.addAll(rows(0, 4), { still: true }); }")
        await inside.evaluate(MOTIONS)

        async def moves(change, **wanted):
            """What a change makes move, and how long."""
            await inside.evaluate("() => { motions = {}; }")
            await page.evaluate(change)
            for name, seconds in wanted.items():
                await inside.wait_for_function("name => motions[name]", arg="mg-" + name)
                assert set((await inside.evaluate("motions"))["mg-" + name]) == {seconds}, (change, await inside.evaluate("motions"))

        ann, own = "{ id: 'ann', name: 'Ann' }", "{ id: 'me', name: 'Me', own: true }"
        await moves(f"async () => {{ ids.push(await chat.add({{ sender: {own}, text: 'from the side' }})); }}", slide=0.3, shift=0.3)
        await moves("async () => { ids.push(await chat.add({ line: 'Ann left' })); }", fade=0.3)
        await moves(f"async () => {{ ids[1] = await chat.replace(ids[1], {{ sender: {ann}, text: 'in its place' }}); }}", fade=0.3)
        await moves("() => chat.remove(ids[2])", go=0.3)
        await moves(f"async () => {{ globalThis.typing = await chat.addTyping({ann}); }}", rise=0.2, dot=1.2)
        await moves("() => chat.removeTyping(typing)", go=0.2)
        await frame.get_by_text("Ann is typing").wait_for(state="detached")
        await page.emulate_media(reduced_motion="reduce")
        still = 0.00001
        await moves(f"async () => {{ await chat.add({{ sender: {own}, text: 'at once' }}); }}", slide=still)
        await moves("() => chat.remove(ids[0])", go=still)
        await moves(f"async () => {{ globalThis.typing = await chat.addTyping({ann}); }}", rise=still, dot=still)
