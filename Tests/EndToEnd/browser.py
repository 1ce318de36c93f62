"""People at browsers: Playwright drives Debian's Chromium, every step goes through what a person perceives, by role and name."""
import asyncio
import contextlib
import json
import os
import re
import time
from urllib.parse import quote

import leaks
import looks
from chromium import DESKTOP, browsers
from clear_text import ALWAYS_SEALED, specific
from client import PASSWORD, Api
from harness import PATIENCE, Runner

PROFILE = "Your profile"
PHONE = {"width": 320, "height": 640}
# Cameras and microphones that nobody has to allow, and calls between pages of one machine.
MEDIA_FLAGS = ["--use-fake-ui-for-media-stream", "--disable-features=WebRtcHideLocalIpsWithMdns",
               "--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required",
               "--auto-select-desktop-capture-source=Entire screen"]
# Profiles whose pages may use both: the browser says so when the page asks for it.
MAY_CALL = {"flags": MEDIA_FLAGS, "permissions": ["camera", "microphone"]}


async def open_settings(page):
    """Opens the settings from the user's own picture."""
    await page.get_by_role("button", name=PROFILE).click()
    await page.get_by_role("menuitem", name="Settings").click()


# Keeps what the browser gives of camera and microphone.
CAPTURES = """() => {
  const devices = navigator.mediaDevices, open = devices.getUserMedia.bind(devices);
  globalThis.captured = [];
  devices.getUserMedia = async wanted => { const taken = await open(wanted); captured.push(...taken.getTracks()); return taken; };
}"""
ARE_CLOSED = "() => captured.length > 0 && captured.every(track => track.readyState === 'ended')"

# The first row whose top is in view, and where it stands: what must not move.
ANCHOR = """() => {
  const feed = document.querySelector('[role=feed]'), top = feed.getBoundingClientRect().top;
  const row = [...feed.querySelectorAll('article')].find(row => row.getBoundingClientRect().top >= top);
  return row && { text: row.ariaLabel.replace(/^.*?: /, ''), y: row.getBoundingClientRect().top - top };
}"""

# Looks at the feed after every frame: a text that is in view before and after must have moved as far as the reader scrolled. The text
# and not its row, whose top goes up and down with the date above it; the place of a text has no role.
WATCH = """() => {
  const scroller = document.querySelector('[role=feed]');
  const isSeen = ({ top, bottom }) => bottom > box.top && top < box.bottom;
  const rows = () => new Map([...scroller.querySelectorAll('article')].filter(row => isSeen(row.getBoundingClientRect()))
    .map(row => row.querySelector('.mg-text') ?? row).map(text => [text.textContent, text.getBoundingClientRect().top]));
  window.jump = 0; window.frames = 0; window.blank = 0;
  let wanted = null;
  window.scrollStep = pixels => { wanted = pixels; };
  const box = scroller.getBoundingClientRect();
  const frame = () => {
    const before = rows();
    let moved = 0;
    if (wanted !== null) { const at = scroller.scrollTop; scroller.scrollTop += wanted; moved = scroller.scrollTop - at; wanted = null; }
    requestAnimationFrame(() => {
      const after = rows();
      for (const [text, y] of before) if (text && /^message \\d+$/.test(text) && after.has(text)) window.jump = Math.max(window.jump, Math.abs(after.get(text) - y + moved));
      window.frames++;
      if (after.size === 0) window.blank++;
      requestAnimationFrame(frame);
    });
  };
  requestAnimationFrame(frame);
}"""

# An image comes by paste or drag, as the browser would tell of it.
GIVE = """(node, [type, image, name]) => {
  const given = new DataTransfer();
  given.items.add(new File([Uint8Array.from(atob(image), character => character.charCodeAt(0))], name, { type: 'image/png' }));
  const options = { bubbles: true, cancelable: true };
  node.dispatchEvent(type === 'paste'
    ? new ClipboardEvent(type, { ...options, clipboardData: given }) : new DragEvent(type, { ...options, dataTransfer: given }));
}"""

# The box of what has stood still for twelve frames; null where it was taken away.
STILL = """node => new Promise(done => {
  let before = {}, frames = 0;
  const look = () => {
    if (!node.isConnected) { done(null); return; }
    const { x, y, width, height } = node.getBoundingClientRect();
    frames = x === before.x && y === before.y && width === before.width && height === before.height ? frames + 1 : 0;
    before = { x, y, width, height };
    if (frames === 12) done(before); else requestAnimationFrame(look);
  };
  look();
})"""


async def still(locator):
    """Where it stands, once it moves no more. Whatever is pointed at by its place is looked for with this."""
    while not (box := await locator.evaluate(STILL)):
        pass
    return box


# Keeps a login where the page's program looks for it at its start: Sources/Portable/ClientCore/Store/StoreKey.swift, Web/store.js.
KEEP_SESSION = """session => new Promise((kept, failed) => {
  const opening = indexedDB.open('martlet', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('entries');
  opening.onsuccess = () => {
    const writing = opening.result.transaction('entries', 'readwrite');
    writing.objectStore('entries').clear();
    writing.objectStore('entries').put(new TextEncoder().encode(session), 'a/session');
    writing.oncomplete = () => { opening.result.close(); kept(); };
    writing.onabort = () => failed(writing.error);
  };
  opening.onerror = () => failed(opening.error);
})"""


def log_in(base, user_id):
    """The login as the page keeps it, of a new device as the page names it."""
    login = Api(base).post("login", {
        "type": "m.login.password", "identifier": {"type": "m.id.user", "user": user_id}, "password": PASSWORD,
        "refresh_token": True, "initial_device_display_name": "Chrome on Linux, 30 November"}).ok()
    session = {name: login[name] for name in ("user_id", "device_id", "access_token", "refresh_token") if name in login}
    if "expires_in_ms" in login:
        session["expires_at"] = int(time.time() * 1000) + login["expires_in_ms"]
    return json.dumps(session)


# After each test of these, every browser's store is searched for what was written and for tokens.
ENCRYPTED_MODULES = ("encrypted_page", "trust_page", "verification_page")

# Everything that the origin keeps in the browser, as text.
KEPT = """async () => {
  const texts = Object.entries(localStorage).map(entry => entry.join(' '));
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((then, failed) => Object.assign(indexedDB.open(name), { onsuccess: e => then(e.target.result), onerror: failed }));
    for (const table of database.objectStoreNames) {
      const all = database.transaction(table).objectStore(table).getAll();
      await new Promise(then => { all.onsuccess = then; });
      texts.push(...all.result.map(value => value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)));
    }
    database.close();
  }
  return texts.join('\\n');
}"""


class Person:
    """One profile of a browser, at one page."""

    def __init__(self, context, base, page, name):
        self.context, self.base, self.page, self.name = context, base, page, name
        self.troubles = []
        self.user_id = None
        # What may not be found in the browser as it is.
        self.secrets = set()
        page.set_default_timeout(PATIENCE * 1000)
        self.console = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("console", lambda message: self.troubles.append(message.text) if self._is_trouble(message) else None)

    @staticmethod
    def _is_trouble(message):
        # The browser itself writes a line for every answer that is no success; the page says what matters in words. Playwright warns of
        # the service workers that a test asked it to keep away.
        by_others = ("Failed to load resource", "net::ERR", "error occurred when fetching the script", "blocked by Playwright")
        return message.type in ("error", "warning") and not any(words in message.text for words in by_others)

    async def go_on_in_another_tab(self):
        """The page there, which syncs from now on; this one has let go."""
        other = await self.context.new_page()
        await other.goto(self.base)
        await other.get_by_role("button", name="Use it in this tab").click()
        await other.get_by_role("button", name=PROFILE).wait_for()
        await self.page.get_by_text("You went on in another tab.").wait_for()
        return other

    async def open(self, fragment=""):
        """Until the program has drawn: the form that stands there before it is gone."""
        await self.page.goto(self.base + "/" + fragment)
        await self.page.locator("#app > *").first.wait_for(state="attached")

    async def register(self):
        page = self.page
        await page.get_by_role("tab", name="Create account").click()
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(self.name)
        await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await self.skip_first_step()
        await self.signed_in()

    async def skip_first_step(self):
        """The question that comes after creating an account."""
        step = self.page.get_by_role("dialog", name="Your name and picture")
        await step.get_by_role("button", name="Skip").click()
        await step.wait_for(state="detached")

    async def sign_in(self, user, at="", profile=PROFILE):
        """As a `client.User` that the API has made, with a login that the page finds in its store. `at`: the fragment to open. `profile`: the name
        that the button of that name has in the page's language."""
        session = await asyncio.to_thread(log_in, self.base, user.user_id)
        # A file of the page's origin that runs nothing.
        nothing = self.base + "/icon.svg"
        if self.page.url != nothing:
            await self.page.goto(nothing)
        tokens = [value for name, value in json.loads(session).items() if name.endswith("_token")]
        self.secrets.update(tokens)
        for token in tokens:
            leaks.keep_secret(token, "a token of a page")
        await self.page.evaluate(KEEP_SESSION, session)
        await self.open(at)
        # On a phone there is no more than the room.
        if not at:
            await self.signed_in(profile)

    async def sign_in_by_typing(self, user):
        """At the page's sign-in."""
        page = self.page
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(user.user_id)
        await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await self.signed_in()

    async def signed_in(self, profile=PROFILE):
        await self.page.get_by_role("button", name=profile).wait_for()

    async def readable(self, *words):
        """Which of these, of what was written here, and of the login, stand in the browser's store as they are."""
        if self.page.is_closed() or not self.page.url.startswith(self.base):
            return []
        kept = await self.page.evaluate(KEPT)
        return [word for word in (*ALWAYS_SEALED, *self.secrets, *words) if word in kept]

    async def own_id(self):
        if not self.user_id:
            await open_settings(self.page)
            dialog = self.page.get_by_role("dialog")
            self.user_id = await dialog.get_by_text(re.compile("^@.+:")).first.inner_text()
            await self.page.keyboard.press("Escape")
            await dialog.wait_for(state="detached")
        return self.user_id

    # The present place

    @property
    def rooms(self):
        """The list of them."""
        return self.page.get_by_role("navigation", name="Conversations")

    def entry(self, name):
        """Of a room in the list, whatever is unread in it."""
        return self.rooms.get_by_role("button", name=re.compile(f"^{re.escape(name)}(, |$)"))

    @property
    def search_box(self):
        """Above the list of rooms."""
        return self.page.get_by_role("combobox", name="Search rooms, people and messages")

    def found(self, group):
        """What the box has found, of that group."""
        return self.rooms.get_by_role("listbox", name=group, exact=True).get_by_role("option")

    def heading(self, name):
        """Of the room that is open."""
        return self.page.get_by_role("main").get_by_role("heading", name=name, level=2)

    async def open_room(self, room):
        # On a phone a layer that closed is a step back in the history (Web/layers.js).
        await self.until("() => !history.state?.layer")
        await self.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", room)
        await self.page.get_by_role("article").first.wait_for()

    @property
    def details(self):
        return self.page.get_by_role("complementary", name="Members and settings")

    async def room_settings(self, chapter):
        """Of the room whose details are open."""
        await self.details.get_by_role("button", name=re.compile("^(Room|Space) settings$")).click()
        await self.page.get_by_role("tab", name=chapter).click()

    @property
    def members(self):
        return self.details.get_by_role("list", name="People").get_by_role("button")

    @property
    def dialog(self):
        """That, or the menu, which is open on top of all."""
        return self.page.get_by_role("dialog").or_(self.page.get_by_role("menu")).last

    def line(self, words, exact=True):
        """Of the menu that is open, or a button of the dialog."""
        roles = [self.dialog.get_by_role(role, name=words, exact=exact) for role in ("menuitem", "menuitemcheckbox", "button")]
        return roles[0].or_(roles[1]).or_(roles[2])

    async def choose(self, words, exact=True):
        await self.line(words, exact).click()

    async def more(self, words):
        """In the menu of the room."""
        await self.page.get_by_role("button", name="More about this room").click()
        await self.choose(words)

    # Writing

    @property
    def composer(self):
        """Of the room; that of a thread beside it stands behind."""
        return self.page.get_by_role("textbox", name="Write a message", exact=True).first

    async def write(self, text):
        self.secrets.update(specific([text]))
        field = self.composer
        await field.fill(text)
        await field.press("Enter")

    async def composed(self, text):
        """Waits until this stands in the composer."""
        await expect(self.composer).to_have_value(text)

    # Calling

    @property
    def preview(self):
        """What stands before a call."""
        return self.page.get_by_role("dialog", name=re.compile("^Call (with|in) "))

    async def begin_call(self, name="Call"):
        """By that button of the room's header, or Join; and then by that of the preview."""
        await self.page.get_by_role("button", name=name, exact=True).click()
        await self.preview.get_by_role("button", name=re.compile("^(Start call|Join)$")).click()

    # Reading

    @property
    def feed(self):
        """The messages of the room; those of a thread beside it stand behind."""
        return self.page.get_by_role("feed").first

    def message(self, text=None):
        """By what is said of it aloud: who, when, what, and what became of it. Changes of the room stand among them."""
        return self.page.get_by_role("article", name=text)

    def words(self, text):
        """Where a message has these words."""
        return self.message(text).get_by_text(text).first

    async def sees(self, text):
        await self.message(text).first.wait_for()

    async def spoken(self):
        """The sentences of all messages that stand there, from the top."""
        return [await article.get_attribute("aria-label") for article in await self.feed.get_by_role("article").all()]

    async def told(self, text):
        """Waits for a change of the room in words; several in a row are folded."""
        change, folded = self.message(text), self.feed.get_by_role("button", name="Show all")
        await change.or_(folded).first.wait_for()
        while not await change.count():
            await folded.first.click()
            await change.or_(folded).first.wait_for()
        await change.first.wait_for()

    async def message_menu(self, text, words):
        await self.message(text).first.click(button="right")
        await self.choose(words)

    def highlighted(self, text=None):
        """The message that a link or search led to. It is coloured for a moment, which has no role."""
        return self.message(text).and_(self.page.locator(".mg-highlighted"))

    def addressed(self, text):
        """Where a message names the reader: in a colour of its own."""
        return self.message(text).locator(".mg-pill-reader")

    def loaded(self, pictures):
        """Those of which the picture itself has come: that is seen, and the host leaves a mark."""
        return pictures.and_(self.page.locator("[data-state=loaded]"))

    async def until(self, expression, argument=None, seconds=PATIENCE):
        await self.page.wait_for_function(expression, arg=argument, timeout=seconds * 1000)

    async def go_offline(self):
        """In the whole browser. The service worker is there by then: without a network it would never be."""
        await self.page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        await self.context.set_offline(True)

    async def picture(self, name):
        await self.rest()
        image = await self.page.screenshot(path=os.path.join(self.artifacts, name + ".png"))
        await looks.compare(self.page, name, image)

    async def rest(self):
        """What moves has arrived, what turns for ever turns on."""
        await self.page.evaluate("""() => Promise.all(document.getAnimations()
          .filter(animation => animation.effect.getComputedTiming().endTime !== Infinity).map(animation => animation.finished.catch(() => {})))""")


@contextlib.asynccontextmanager
async def people(test, *names, fresh=False, whole=False, viewport=None, scheme="light", flags=(), **options):
    """People at a browser, each with an empty page: `sign_in` or `open` goes on from there. `fresh`: each in a new profile, with the page open as
    at the first visit. `whole`: in the whole browser, see `chromium.SHELL`. At the end nothing may have gone wrong unseen."""
    if options.get("is_mobile"):
        options["viewport"] = viewport or DESKTOP
    async with browsers() as found:
        everybody, profiles, is_good = [], [], False
        try:
            for name in names:
                profile = await found.profile(tuple(flags), whole, fresh, options)
                profiles.append(profile)
                person = Person(profile.context, test.base, await profile.open(), name)
                person.artifacts = test.artifacts
                everybody.append(person)
                await profile.show(viewport or DESKTOP, scheme)
                if fresh:
                    await person.open()
            yield everybody[0] if len(everybody) == 1 else everybody
            troubles = [trouble for person in everybody for trouble in person.troubles]
            assert not troubles, troubles
            for person in everybody:
                leaked = leaks.leaks("\n".join(person.console))
                assert not leaked, f"{leaked} in the console of {person.name}"
            for person in everybody if Runner.current and Runner.current.module in ENCRYPTED_MODULES else []:
                readable = await person.readable()
                assert not readable, f"{readable} can be read in the browser of {person.name}"
            is_good = True
        except Exception:
            for person in everybody:
                with contextlib.suppress(Exception):
                    await person.picture(f"failed-{Runner.current.module if Runner.current else 'test'}-{person.name}")
                if person.troubles:
                    print("          console:", person.troubles[:5])
            raise
        finally:
            for profile in profiles:
                # After a failure nobody knows what state it is in.
                if not is_good:
                    profile.key = None
                await found.give_back(profile)


@contextlib.asynccontextmanager
async def in_room(test, room, users, **options):
    """Browsers for these accounts, by name, each signed in and with the room open."""
    async with people(test, *users, **options) as everybody:
        for person, user in zip(everybody if len(users) > 1 else [everybody], users.values()):
            await person.sign_in(user, room_fragment(room))
            await person.page.get_by_role("article").first.wait_for()
        yield everybody


async def send_files(person):
    """Sends the files in the dialog, without words."""
    await person.dialog.get_by_role("button", name="Send").click()


def expect(locator):
    """What will be so of what is found there, waited for as patiently as all that is sure to come."""
    from playwright.async_api import expect
    expect.set_options(timeout=PATIENCE * 1000)
    return expect(locator)


class Watch:
    """Milliseconds since it was made."""

    def __init__(self):
        self.start = time.monotonic()

    def read(self):
        return (time.monotonic() - self.start) * 1000


def room_fragment(room):
    return "#room/" + quote(room, safe="")
