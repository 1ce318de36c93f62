"""<martlet-messenger> straight from the server: the setting `embed_origins`, the widget, and what other pages and windows try with the frame."""
import asyncio
import contextlib
import os
import re

from browser import expect, in_room, people, still
from client import User, fresh
from firefox import firefox
from harness import PATIENCE, Context, test
from server import ROOT, Server
from test_element import Files, hear, message, sign_in
from test_encrypted_page import has_device, said
from test_nio import ENCRYPTION

NEEDS_BROWSER = True

HOSTILE_NAME = '"><img src=x onerror="top.document.title=1"> Bank of Examples, 9 unread'
TRUSTED = "trusted.html"
# Tries to be the page around the frame that stands beside it, until it is told to stop.
SIBLING = """<!doctype html><meta charset="utf-8"><title>sibling</title><script>
  globalThis.heard = [];
  setInterval(() => {
    for (let place = 0; place < parent.frames.length; place++) {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => heard.push(data);
      try { parent.frames[place].postMessage('martlet-messenger', '*', [port2]); } catch { continue; }
      port1.postMessage({ do: 'start', number: 1 });
    }
  }, 5);
</script>"""


def guide_lines():
    """The lines with which the guide begins."""
    with open(os.path.join(ROOT, "Documentation", "Guides", "Embed.md"), encoding="utf-8") as f:
        return re.search(r"```html\n(.*?)```", f.read(), re.S)[1]


def page_of(lines, **attributes):
    tags = " ".join(name if value is True else f'{name}="{value}"' for name, value in attributes.items())
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>{lines.replace("<martlet-messenger", "<martlet-messenger " + tags)}'


class Site:
    """A server that lets one website embed (`theirs`), which has pages with the guide's lines, and one that it does not know (`others`)."""

    def __init__(self):
        self.pages, self.foreign = {}, {}
        self.theirs, self.others = Files([], self.pages), Files([], self.foreign)
        self.server = Server(embed_origins=self.theirs.base, allow_guests="true").start()

    def add(self, name, room, **attributes):
        """A page at both websites; its address at the one that may embed."""
        lines = guide_lines().replace("https://chat.example.org", self.server.base).replace("#garden:chat.example.org", room)
        self.pages[name] = self.foreign[name] = page_of(lines, **attributes)
        return f"{self.theirs.base}/{name}"

    def close(self):
        self.server.stop()
        self.theirs.close()
        self.others.close()


@contextlib.asynccontextmanager
async def embedded(test, name="visitor", **options):
    """(site, person, frame) at a website whose pages may embed."""
    site = Site()
    try:
        async with people(test, name, **options) as person:
            yield site, person, person.page.frame_locator("martlet-messenger iframe")
    finally:
        site.close()


def garden(host, **options):
    """(ID, alias) of a public room whose history everybody may read."""
    alias = fresh("garden")
    readable = {"type": "m.room.history_visibility", "state_key": "", "content": {"history_visibility": "world_readable"}}
    room = host.create_room(preset="public_chat", room_alias_name=alias, initial_state=[readable], **options)
    return room, f"#{alias}:{host.user_id.split(':', 1)[1]}"


@test("the guide's lines show a room in a page of embed_origins; signing in fits into 360×480 pixels, and no ID is a title")
async def _(test):
    async with embedded(test) as (site, person, frame):
        host, guest = User(site.server.base, "host"), User(site.server.base, "guest")
        room, alias = garden(host, topic="Seeds")
        host.send(room, "Tulips are half price")
        page = person.page
        await page.goto(site.add(TRUSTED, alias, style="width: 360px; height: 480px"))
        await frame.get_by_role("heading", name="Sign in to chat").wait_for()
        form = frame.get_by_role("main")
        assert await form.evaluate("form => form.scrollHeight <= form.clientHeight"), "the form scrolls"
        assert (await frame.get_by_role("button", name="Sign in").bounding_box())["height"] >= 32
        # A password goes to a server that the form names.
        await frame.get_by_text(f"Server: {site.server.base.split('//')[1]}").wait_for()
        await person.picture("embedding-sign-in")
        await sign_in(frame, guest)
        # A room without a name is called by the readable part of its address.
        await frame.get_by_role("heading", name=alias[1:].split(":")[0], exact=True).wait_for()
        await frame.get_by_text("1 member · Seeds").wait_for()
        await frame.get_by_text("Tulips are half price").wait_for()
        await person.picture("embedding-outside")
        await frame.get_by_role("button", name="Join").click()
        await message(frame, "Tulips are half price").wait_for()


@test("a visitor without an account joins a public room as a guest if the server allows guests")
async def _(test):
    async with embedded(test) as (site, person, frame):
        host = User(site.server.base, "host")
        room, alias = garden(host, name="Garden")
        host.state(room, "m.room.guest_access", {"guest_access": "can_join"})
        await person.page.goto(site.add(TRUSTED, alias, guest=True))
        await frame.get_by_role("heading", name="Garden", exact=True).wait_for()
        await frame.get_by_role("button", name="Join").click()
        host.send(room, "Welcome, whoever you are")
        await message(frame, "Welcome, whoever you are").wait_for()


@test("a page of another origin is told on the page and in the console what to do, and nobody frames the page that may embed")
async def _(test):
    # The element waits five seconds for a frame that says nothing, here twice.
    async with embedded(test, "stranger") as (site, person, _):
        page, said = person.page, []
        page.on("console", lambda told: said.append(told.text))
        trusted = site.add(TRUSTED, "!a:b")
        await page.goto(f"{site.others.base}/{TRUSTED}")
        advice = f'embed_origins: ["{site.others.base}"]'
        await page.get_by_role("alert").get_by_text(advice).wait_for()
        assert any(advice in text and "martlet-messenger" in text for text in said), said
        # The browser asks for all that are around: a page that may embed is no way in for one that may not.
        site.foreign["around.html"] = f'<!doctype html><title>around</title><iframe src="{trusted}" style="width:600px;height:600px"></iframe>'
        await page.goto(f"{site.others.base}/around.html")
        inner = page.frame_locator("iframe")
        await inner.get_by_role("alert").get_by_text("embed_origins").wait_for()
        assert await inner.frame_locator("martlet-messenger iframe").get_by_role("button").count() == 0
        # Nobody else frames the client.
        site.foreign["client.html"] = f'<!doctype html><title>client</title><iframe src="{site.server.base}/"></iframe>'
        await page.goto(f"{site.others.base}/client.html")
        # Calls have no frame: a token is enough to use them in any page.
        await page.evaluate("address => import(address)", f"{site.server.base}/martlet-call.js")
        assert await page.frame_locator("iframe").get_by_role("main").count() == 0
        person.troubles.clear()


@test("the frame listens to the page around it alone: a frame beside it gets no answer")
async def _(test):
    async with embedded(test, "owner") as (site, person, frame):
        user = User(site.server.base, "owner")
        room = user.create_room(name="Own")
        user.send(room, "for the owner")
        site.foreign["sibling.html"] = SIBLING
        address = site.add(TRUSTED, room)
        site.pages[TRUSTED] += f'<iframe name="sibling" src="{site.others.base}/sibling.html"></iframe>'
        await person.page.goto(address)
        await sign_in(frame, user)
        await message(frame, "for the owner").wait_for()
        sibling = person.page.frame(name="sibling")
        assert await sibling.evaluate("() => heard.length") == 0
        person.troubles.clear()


@test("a page that names another room or server starts without the login; nothing of it goes to that server")
async def _(test):
    async with embedded(test, "kept") as (site, person, frame):
        user = User(site.server.base, "kept")
        room, other = user.create_room(name="First"), user.create_room(name="Second")
        user.send(room, "only here")
        page, stolen = person.page, []
        await page.goto(site.add(TRUSTED, room, keep=True))
        await sign_in(frame, user)
        await message(frame, "only here").wait_for()
        element = page.locator("martlet-messenger")
        await element.evaluate("(element, room) => { element.room = room; }", other)
        await frame.get_by_role("button", name="Sign in").wait_for()
        person.context.on("request", lambda asked: stolen.append(asked.url) if asked.url.startswith(site.others.base) and "authorization" in asked.headers else None)
        await element.evaluate("(element, [server, room]) => { element.homeserver = server; element.room = room; }", [site.others.base, room])
        await frame.get_by_text(f"Server: {site.others.base.split('//')[1]}").wait_for()
        assert stolen == []
        await element.evaluate("(element, server) => { element.homeserver = server; }", site.server.base)
        await message(frame, "only here").wait_for()
        person.troubles.clear()


@test("an encrypted room in an element that keeps its login is read and written there, also after a reload; in one that keeps nothing it says so")
async def _(test):
    async with embedded(test, "visitor") as (site, person, frame):
        desk, visitor = User(site.server.base, "desk"), User(site.server.base, "visitor")
        room = desk.create_room(name="Vault", preset="private_chat", invite=[visitor.user_id], initial_state=[ENCRYPTION])
        visitor.join(room)
        here = Context(site.server.base, site.server.base, site.server, artifacts=test.artifacts)
        async with in_room(here, room, {"desk": desk}) as clerk:
            page = person.page
            await page.goto(site.add(TRUSTED, room, keep=True))
            await sign_in(frame, visitor)
            await asyncio.gather(has_device(desk), has_device(visitor))
            await clerk.write("the safe is open")
            await message(frame, "the safe is open").wait_for()
            box = frame.get_by_role("textbox", name="Write a message")
            await box.fill("thank you")
            await box.press("Enter")
            await clerk.sees("thank you")
            assert said(desk, room) == ["m.room.encrypted"] * 2
            await person.picture("embedding-encrypted")
            await page.reload()
            for words in ("the safe is open", "thank you"):
                await message(frame, words).wait_for()
            await clerk.write("and closed again")
            await message(frame, "and closed again").wait_for()
            # Without `keep` each page would be one more device.
            await page.goto(site.add("other.html", room))
            await sign_in(frame, visitor)
            await frame.get_by_text("This page keeps no keys").wait_for()
            await expect(box).to_have_count(0)
            await person.picture("embedding-encrypted-not-kept")


@test("the widget's bubble opens and closes the chat from the keyboard, counts unread messages, and is named by the page alone")
async def _(test):
    async with embedded(test, "customer") as (site, person, frame):
        desk, user = User(site.server.base, "desk"), User(site.server.base, "customer")
        room = desk.create_room(name=HOSTILE_NAME, preset="public_chat")
        user.join(room)
        page = person.page
        await page.goto(site.add(TRUSTED, room, widget=True, label="Support", keep=True))
        await hear(page)
        bubble = page.get_by_role("button", name="Support", exact=True)
        await expect(bubble).to_have_attribute("aria-expanded", "false")
        assert len(page.frames) == 1, "the chat is loaded before anybody opens it"
        await bubble.focus()
        await page.keyboard.press("Enter")
        await expect(bubble).to_have_attribute("aria-expanded", "true")
        await sign_in(frame, user)
        box = frame.get_by_role("textbox", name="Write a message")
        await box.fill("Hello")
        await box.press("Enter")
        await message(frame, "Hello").wait_for()
        await person.picture("embedding-widget")
        # Escape inside the frame, where the focus is.
        await page.keyboard.press("Escape")
        await expect(bubble).to_have_attribute("aria-expanded", "false")
        await expect(bubble).to_be_focused()
        desk.send(room, "How can we help?")
        unread = page.get_by_role("button", name="Support, 1 unread", exact=True)
        await unread.wait_for()
        await person.picture("embedding-widget-unread")
        assert await page.evaluate("() => document.title") == "A page"
        # A user who stayed signed in has the badge at once after a reload.
        await page.reload()
        await unread.click()
        await message(frame, "How can we help?").wait_for()
        await bubble.wait_for()
        await page.keyboard.press("Escape")
        await expect(bubble).to_be_focused()


@test("the widget stands at the chosen side, fills a phone's screen with a way out, and counts the rows that a page adds")
async def _(test):
    async with embedded(test) as (site, person, frame):
        page = person.page
        await page.goto(site.add(TRUSTED, "!a:b", widget="start"))
        element, bubble = page.locator("martlet-messenger"), page.get_by_role("button", name="Chat", exact=True)
        width = page.viewport_size["width"]
        assert (await bubble.bounding_box())["x"] == 24
        await page.evaluate("() => { document.documentElement.dir = 'rtl'; }")
        box = await bubble.bounding_box()
        assert width - box["x"] - box["width"] == 24, box
        await page.evaluate("() => { document.documentElement.dir = 'ltr'; }")
        # Rows of the page's own, without a server.
        await element.evaluate("element => { element.removeAttribute('homeserver'); element.add({ sender: { id: 'desk', name: 'Desk' }, text: 'Questions?' }); }")
        await page.set_viewport_size({"width": 360, "height": 640})
        await page.get_by_role("button", name="Chat, 1 unread", exact=True).click()
        await message(frame, "Questions?").wait_for()
        panel = page.get_by_role("dialog", name="Chat")
        assert await still(panel) == {"x": 0, "y": 0, "width": 360, "height": 640}
        await person.picture("embedding-widget-phone")
        close = panel.get_by_role("button", name="Close")
        assert (await close.bounding_box())["height"] >= 44
        await close.click()
        await expect(bubble).to_be_focused()
        await element.evaluate("element => { element.open = true; }")
        await panel.wait_for()
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        assert not await element.evaluate("element => element.open")


async def part_of(browser):
    """The context of the frame in Firefox's page, waited for."""
    async with asyncio.timeout(PATIENCE):
        while True:
            tree = await browser.command("browsingContext.getTree", root=browser.context)
            if children := tree["contexts"][0]["children"]:
                return children[0]["context"]
            await asyncio.sleep(0.05)


@test("Firefox: the guide's lines work in a page of embed_origins, and a page of another origin is told what to do")
async def _(test):
    site = Site()
    try:
        _, alias = garden(User(site.server.base, "host"), name="Garden")
        trusted = site.add(TRUSTED, alias)
        async with firefox(test.artifacts) as browser:
            await browser.open(trusted)
            around, browser.context = browser.context, await part_of(browser)
            await browser.find("button", "Sign in")
            browser.context = around
            # WebDriver reports the blocked frame as if the page had been.
            with contextlib.suppress(RuntimeError):
                await browser.open(f"{site.others.base}/{TRUSTED}")
            async with asyncio.timeout(PATIENCE):
                while not await browser.run("""() => document.querySelector('martlet-messenger').shadowRoot
                  ?.querySelector('[role=alert]')?.textContent.includes('embed_origins') ?? false"""):
                    await asyncio.sleep(0.05)
            assert any("embed_origins" in text for text in browser.troubles), browser.troubles
    finally:
        site.close()
