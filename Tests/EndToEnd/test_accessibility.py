"""Each screen of the web client by the rules of accessibility, in each of its looks; and that the check finds what breaks them.

`MARTLET_LONG=1` goes over all looks, sizes and some languages."""
import base64
import itertools
import os

import looks
from accessibility import CUTS, TARGETS, check, check_contrast, faults
from browser import people
from client import User
from harness import test
from server import ROOT
from test_browser import furnish, html, picture, post, POLL, upload

NEEDS_BROWSER = True

# MARTLET_LONG=1: in languages of other letters, of long words and from right to left, on the smallest phone, a tablet and a wide screen, too.
# MARTLET_LANGUAGES chooses some of them.
LANGUAGES = os.environ.get("MARTLET_LANGUAGES", "en de ja ar" if os.environ.get("MARTLET_LONG") == "1" else "").split()
SIZES = {"phone": {"width": 320, "height": 568}, "tablet": {"width": 820, "height": 1180}, "desktop": None, "4K": {"width": 3840, "height": 2160}}
# What the system asks for, and the theme that was chosen.
LOOKS = {"light": ("light", ""), "dark": ("dark", ""), "high contrast": ("light", "contrast")}


class Texts:
    """The page's words in a language, by those that it has in English."""

    def __init__(self, language):
        english, self.words = self.read("en"), self.read(language)
        self.names = {words: name for name, words in reversed(english.items())}

    @staticmethod
    def read(language):
        with open(os.path.join(ROOT, "Web", f"texts.{language}.txt"), encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(" = ", 1) for line in file if " = " in line and not line.startswith("#"))

    def __getitem__(self, english):
        return self.words[self.names[english]]


async def screens(person, room, say):
    """Goes from screen to screen; gives the name of each while it is shown."""
    page = person.page
    button = lambda words: page.get_by_role("button", name=say[words], exact=True)
    beside = page.get_by_role("complementary")

    async def more(words):
        await button("More about this room").click()
        await person.choose(say[words])

    yield "a conversation"
    await page.evaluate("() => { location.hash = ''; }")
    await button("Your profile").wait_for()
    yield "rooms"
    await button("Your profile").click()
    await page.get_by_role("menuitem").first.wait_for()
    yield "own menu"
    for words in ("Set a status…", "Do not disturb"):
        await person.choose(say[words])
        yield words
        await page.keyboard.press("Escape")
        await button("Your profile").click()
    await page.keyboard.press("Escape")
    for words, name in (("Your profile", "settings"), ("New conversation", "new conversation")):
        await button(words).first.click()
        if name == "settings":
            await person.choose(say["Settings"])
        await page.get_by_role("dialog").wait_for()
        yield name
        if name == "settings":
            async for chapter in chapters(page.get_by_role("dialog"), say):
                yield "settings, " + chapter
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
    await page.get_by_role("combobox", name=say["Search rooms, people and messages"]).fill("a")
    await page.get_by_role("navigation", name=say["Conversations"]).get_by_role("option").first.wait_for()
    yield "search box"
    # What is found is more than there is room for.
    size = page.viewport_size
    await page.set_viewport_size({**size, "height": 240})
    yield "search box of a low window"
    await page.set_viewport_size(size)
    await page.keyboard.press("Escape")
    await person.open_room(room)
    await button("Members and settings").click()
    await beside.get_by_role("list", name=say["People"]).get_by_role("button").nth(1).wait_for()
    yield "details"
    await beside.get_by_role("button", name=say["Close"]).click()
    await button("More about this room").click()
    yield "menu of the room"
    await person.choose(say["Search in this room"])
    await page.get_by_label(say["Search for"], exact=True).fill("ladder")
    await page.get_by_text(say["Narrow the search"]).click()
    await page.get_by_label(say["Only"], exact=True).select_option(say["Pictures and videos"])
    await page.get_by_text(say["Nothing was found."]).wait_for()
    yield "search"
    await beside.get_by_role("button", name=say["Close"]).click()
    await more("Pictures, files and links")
    await beside.get_by_role("button", name="dunes.png").first.wait_for()
    yield "what was shared"
    await beside.get_by_role("tab", name=say["Links"]).click()
    await beside.get_by_role("link", name="https://example.org/dunes").wait_for()
    yield "links that were shared"
    await beside.get_by_role("button", name=say["Close"]).click()
    await person.message("first of all").click(button="right")
    yield "menu of a message"
    await person.choose(say["React"])
    await page.get_by_role("dialog").get_by_text("👍").first.wait_for()
    yield "emoji"
    await page.keyboard.press("Escape")
    async for name in room_dialogs(person, say):
        yield name


async def room_dialogs(person, say):
    """What opens over a room: from a message, from the composer, from the menu and the details of the room."""
    page, dialog = person.page, person.page.get_by_role("dialog")
    button = lambda words: page.get_by_role("button", name=say[words], exact=True)
    beside = page.get_by_role("complementary")

    async def opened(*ways):
        """By these menu items or buttons, one after another."""
        for words in ways:
            await person.choose(say[words])
        await dialog.get_by_role("heading").first.wait_for()

    async def close():
        await page.keyboard.press("Escape")
        await dialog.wait_for(state="detached")

    for words in ("Forward…", "Message info", "Report", "Delete for everyone"):
        await person.message("an answer" if words == "Delete for everyone" else "first of all").click(button="right")
        await opened(words)
        yield words
        await close()
    for words in ("Poll", "Share location"):
        await button("Send something else").click()
        if words == "Poll":
            yield "menu of the composer"
        await opened(words)
        yield words
        await close()
    for words in ("Saved messages", "Export chat…", "Jump to a date", "Keyboard shortcuts"):
        await button("More about this room").click()
        await opened(words)
        yield words
        await close()
    for words in ("Threads", "Pinned messages"):
        await button("More about this room").click()
        await person.choose(say[words])
        if words == "Threads":
            await beside.get_by_role("button", name=say["Close"]).wait_for()
            yield "threads"
            await beside.get_by_role("button", name=say["Close"]).click()
    await button("Members and settings").click()
    await beside.get_by_role("list", name=say["People"]).get_by_role("button").nth(1).click()
    await dialog.get_by_role("heading").first.wait_for()
    yield "a member's card"
    await close()
    for words in ("Invite", "Room settings"):
        await beside.get_by_role("button", name=say[words], exact=True).click()
        await dialog.get_by_role("heading").first.wait_for()
        yield words
        async for chapter in chapters(dialog, say):
            yield f"{words}, {chapter}"
        await close()
    await beside.get_by_role("button", name=say["Close"]).click()


async def chapters(dialog, say):
    """The name of each, while it is shown. On a phone they are a list, to which a button leads back."""
    for tab in await dialog.get_by_role("tab").all():
        name = await tab.inner_text()
        await tab.click()
        yield name
        back = dialog.get_by_role("button", name=say["All settings"])
        if await back.is_visible():
            await back.click()


def everything(alice, boris):
    _, crew, _ = furnish(alice, boris)
    post(boris, crew, {"msgtype": "m.image", "body": "dunes.png", "url": upload(boris, picture(90, 60), "dunes.png", "image/png")})
    boris.send(crew, "more of them: https://example.org/dunes")
    first = post(boris, crew, html("first of all", "<p>first of all</p><blockquote>quoted</blockquote><pre><code>code</code></pre>"))
    post(boris, crew, POLL, "org.matrix.msc3381.poll.start")
    post(boris, crew, {"msgtype": "m.location", "body": "The gate", "geo_uri": "geo:52.5163,13.3777"})
    post(alice, crew, {"msgtype": "m.text", "body": "an answer", "m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    for user in (alice, boris):
        post(user, crew, {"m.relates_to": {"rel_type": "m.annotation", "event_id": first, "key": "👍"}}, "m.reaction")
    return crew


async def put_on(person, look):
    """What is open stays open, as when the system turns dark or the user chooses a theme."""
    scheme, theme = LOOKS[look]
    await person.page.emulate_media(color_scheme=scheme)
    await person.page.evaluate("async theme => { localStorage.setItem('theme', theme); (await import('./look.js')).applyLook(); }", theme)


async def check_looks(person, where):
    """Checks what is open in each look, and leaves it in the first."""
    for look in LOOKS:
        await put_on(person, look)
        await (check if look == "light" or LANGUAGES else check_contrast)(person, f"{where}, {look}")
        wide = await person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{where}, {look}: {wide} pixels are beyond the edge"
    await put_on(person, "light")


async def look_at_all(test, alice_user, room, language="en", size=None, where=""):
    say = Texts(language)
    async with people(test, "alice", fresh=True, viewport=size, locale=language) as alice:
        await alice.page.get_by_role("heading", name=say["Welcome to Martlet"]).wait_for()
        await check_looks(alice, "sign-in" + where)
        await alice.sign_in(alice_user, profile=say["Your profile"])
        await alice.open_room(room)
        await alice.sees("an answer")
        async for name in screens(alice, room, say):
            await check_looks(alice, name + where)


# Proves C66. Up to 40 s: some sixty screens in three looks.
@test("each screen has names for all there is to do, sound references, and letters that can be read, in light and dark and high contrast")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    await look_at_all(test, alice_user, everything(alice_user, boris_user))


@test("on a phone each thing to touch is as large as a finger")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room, say = everything(alice_user, boris_user), Texts("en")
    found = {}
    async with people(test, "alice", fresh=True, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as alice:
        await alice.page.get_by_role("heading", name=say["Welcome to Martlet"]).wait_for()
        await alice.sign_in(alice_user)
        await alice.open_room(room)
        await alice.sees("an answer")
        async for name in screens(alice, room, say):
            await alice.rest()
            for fault in await alice.page.evaluate(TARGETS):
                found.setdefault(fault, name)
    assert not found, "\n".join(f"{name}: {fault}" for fault, name in found.items())


# As a browser whose user has set text to 200 %.
LARGE_TEXT = "addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '32px'; })"


for width, height in ((1280, 800), (360, 740)):
    @test(f"with text of 200 % no screen of {width} pixels loses a button, cuts words or scrolls sideways")
    async def _(test, width=width, height=height):
        alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
        room, say, found = everything(alice_user, boris_user), Texts("en"), {}
        async with people(test, "alice", fresh=True, viewport={"width": width, "height": height}) as alice:
            async def look(name):
                await alice.rest()
                for fault in await alice.page.evaluate(CUTS):
                    found.setdefault(fault, name)
            await alice.page.add_init_script(LARGE_TEXT)
            await alice.page.reload()
            await alice.page.get_by_role("heading", name=say["Welcome to Martlet"]).wait_for()
            await look("sign-in")
            await alice.sign_in(alice_user)
            await alice.open_room(room)
            await alice.sees("an answer")
            async for name in screens(alice, room, say):
                await look(name)
                if name in ("a conversation", "rooms", "details", "menu of the room"):
                    await alice.picture(f"large-text-{width}-{name.replace(' ', '-')}")
            # What the check finds: the words of a button that keeps its size.
            await alice.page.keyboard.press("Escape")
            await alice.page.evaluate("""() => { const button = document.createElement('button');
              Object.assign(button, { textContent: 'Forward', style: 'position: fixed; inset: 0 auto auto 0; width: 20px; height: 20px; z-index: 99' });
              document.body.append(button); }""")
            assert any("Forward" in fault for fault in await alice.page.evaluate(CUTS))
        assert not found, "\n".join(f"{name}: {fault}" for fault, name in found.items())


for language, size in itertools.product(LANGUAGES, SIZES):
    @test(f"each screen is whole in all looks in {language} on: {size}")
    async def _(test, language=language, size=size):
        alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
        await look_at_all(test, alice_user, everything(alice_user, boris_user), language, SIZES[size], f", {size}, {language}")


# Proves C66
@test("the check finds what has no name, what refers to nothing, and letters that cannot be read")
async def _(test):
    async with people(test, "alice", fresh=True) as alice:
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        assert not await faults(alice)
        await alice.page.evaluate("""() => { document.body.insertAdjacentHTML('beforeend',
          '<button></button><p role="buton"></p><p id="same"></p><p id="same" aria-labelledby="nobody"></p><p>faint words</p>');
          Object.assign(document.body.lastChild.style, { color: '#ccc', background: '#fff' });
        }""")
        found = "; ".join(await faults(alice))
        for what in ("button without a name", "ID same stands 2 times", "names nobody", "faint words", "axe aria-roles"):
            assert what in found, found


# Proves C68
@test("a screen that lost a part, or has the colours of another look, is told from one whose words are others")
async def _(test):
    async with people(test, "alice", fresh=True) as alice:
        async def means():
            return await alice.page.evaluate(looks.MEANS, [base64.b64encode(await alice.page.screenshot()).decode(), *looks.FIELDS])
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await alice.rest()
        before = await means()
        await alice.page.get_by_label("User name", exact=True).locator("visible=true").fill("@somebody:else.example")
        assert looks.share(before, await means()) <= looks.SHARE
        await alice.page.emulate_media(color_scheme="dark")
        assert looks.share(before, await means()) > 0.5
        await alice.page.emulate_media(color_scheme="light")
        await alice.page.get_by_role("heading", name="Welcome to Martlet").evaluate("heading => heading.parentElement.remove()")
        assert looks.share(before, await means()) > looks.SHARE
