"""People at browsers: Playwright drives Debian's Chromium, every step goes through what a person sees."""
import contextlib
import os
import time
from urllib.parse import quote

import looks
from harness import PATIENCE, NotRun

CHROMIUM = os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium")
PASSWORD = "correct horse battery"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 320, "height": 640}
# Cameras and microphones that nobody has to allow, and calls between pages of one machine.
MEDIA_FLAGS = ["--use-fake-ui-for-media-stream", "--disable-features=WebRtcHideLocalIpsWithMdns",
               "--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required",
               "--auto-select-desktop-capture-source=Entire screen"]

# Keeps what the browser gives of camera and microphone.
CAPTURES = """() => {
  const devices = navigator.mediaDevices, open = devices.getUserMedia.bind(devices);
  globalThis.captured = [];
  devices.getUserMedia = async wanted => { const taken = await open(wanted); captured.push(...taken.getTracks()); return taken; };
}"""
ARE_CLOSED = "() => captured.length > 0 && captured.every(track => track.readyState === 'ended')"

# The first row whose top is in view, and where it stands: what must not move.
ANCHOR = """() => {
  const scroller = document.querySelector('.mg-scroller'), top = scroller.getBoundingClientRect().top;
  const row = [...document.querySelectorAll('.mg-row')].find(row => row.getBoundingClientRect().top >= top);
  return row && { text: row.querySelector('.mg-text')?.textContent ?? '', y: row.getBoundingClientRect().top - top };
}"""

# Looks at the scroller after every frame: a text that is in view before and after must have moved as far as the reader scrolled. The text
# and not its row, whose top goes up and down with the date above it.
WATCH = """() => {
  const scroller = document.querySelector('.mg-scroller');
  const isSeen = ({ top, bottom }) => bottom > box.top && top < box.bottom;
  const rows = () => new Map([...document.querySelectorAll('.mg-row')].filter(row => isSeen(row.getBoundingClientRect()))
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
GIVE = """([type, selector, image, name]) => {
  const given = new DataTransfer();
  given.items.add(new File([Uint8Array.from(atob(image), character => character.charCodeAt(0))], name, { type: 'image/png' }));
  const options = { bubbles: true, cancelable: true };
  document.querySelector(selector).dispatchEvent(type === 'paste'
    ? new ClipboardEvent(type, { ...options, clipboardData: given }) : new DragEvent(type, { ...options, dataTransfer: given }));
}"""


class Person:
    """One profile of a browser, at one page."""

    def __init__(self, context, base, page, name):
        self.context, self.base, self.page, self.name = context, base, page, name
        self.troubles = []
        self.user_id = None
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("console", lambda message: self.troubles.append(message.text) if self._is_trouble(message) else None)

    @staticmethod
    def _is_trouble(message):
        # The browser itself writes a line for every answer that is no success; the page says what matters in words. Playwright warns of
        # the service workers that a test asked it to keep away.
        by_others = ("Failed to load resource", "net::ERR", "blocked by Playwright")
        return message.type in ("error", "warning") and not any(words in message.text for words in by_others)

    async def go_on_in_another_tab(self):
        """The page there, which syncs from now on; this one has let go."""
        other = await self.context.new_page()
        await other.goto(self.base)
        await other.get_by_role("button", name="Use it in this tab").click()
        await other.get_by_role("button", name="Your profile").wait_for()
        await self.page.get_by_text("You went on in another tab.").wait_for()
        return other

    async def open(self, fragment=""):
        await self.page.goto(self.base + "/" + fragment)

    async def register(self):
        page = self.page
        await page.get_by_role("tab", name="Create account").click()
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(self.name)
        await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await self.signed_in()

    async def sign_in(self, user):
        """As a `client.User` that the API has made."""
        page = self.page
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(user.user_id)
        await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await self.signed_in()

    async def signed_in(self):
        await self.page.get_by_role("button", name="Your profile").wait_for()

    async def own_id(self):
        if not self.user_id:
            await self.page.get_by_role("button", name="Your profile").click()
            self.user_id = await self.page.locator(".ma-dialog .ma-copy-text").first.inner_text()
            await self.page.keyboard.press("Escape")
            await self.page.locator(".ma-dialog").wait_for(state="detached")
        return self.user_id

    def entry(self, name):
        return self.page.locator(".ma-entry", has=self.page.locator(".ma-entry-name", has_text=name))

    async def open_room(self, room):
        await self.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", room)
        await self.page.locator(".mg-row").first.wait_for()

    async def write(self, text):
        field = self.page.locator(".mg-input")
        await field.fill(text)
        await field.press("Enter")

    def message(self, text):
        return self.page.locator(".mg-text", has_text=text)

    async def sees(self, text):
        await self.message(text).first.wait_for()

    async def told(self, text):
        """Waits for a change of the room in words; several in a row are folded."""
        await self.until("""text => {
          for (const button of document.querySelectorAll('.mg-line button')) if (button.textContent === 'Show all') button.click();
          return [...document.querySelectorAll('.mg-line')].some(line => line.textContent.includes(text));
        }""", text)

    async def messages(self):
        return await self.page.locator(".mg-message .mg-text").all_inner_texts()

    async def until(self, expression, argument=None, seconds=PATIENCE):
        await self.page.wait_for_function(expression, arg=argument, timeout=seconds * 1000)

    async def go_offline(self):
        """The service worker is there by then: without a network it would never be."""
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
async def people(test, *names, viewport=None, scheme="light", locale="en-GB", flags=(), **options):
    """Browsers for these people, each with the page open. At the end nothing may have gone wrong unseen."""
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        raise NotRun("playwright is not installed (Scripts/install-dependencies --test)") from error
    if not os.path.exists(CHROMIUM):
        raise NotRun(f"no Chromium at {CHROMIUM}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--use-fake-device-for-media-stream", *flags])
        everybody = []
        try:
            for name in names:
                context = await browser.new_context(
                    viewport=viewport or DESKTOP, color_scheme=scheme, reduced_motion="no-preference", locale=locale, **options)
                person = Person(context, test.base, await context.new_page(), name)
                person.artifacts = test.artifacts
                everybody.append(person)
                await person.open()
            yield everybody[0] if len(everybody) == 1 else everybody
            troubles = [trouble for person in everybody for trouble in person.troubles]
            assert not troubles, troubles
        except Exception:
            for person in everybody:
                with contextlib.suppress(Exception):
                    await person.picture(f"browser-failed-{person.name}")
                if person.troubles:
                    print("          console:", person.troubles[:5])
            raise
        finally:
            await browser.close()


@contextlib.asynccontextmanager
async def in_room(test, room, users, **options):
    """Browsers for these accounts, by name, each signed in and with the room open."""
    async with people(test, *users, **options) as everybody:
        for person, user in zip(everybody if len(users) > 1 else [everybody], users.values()):
            await person.sign_in(user)
            await person.open_room(room)
        yield everybody


async def send_files(person):
    """Sends the files in the dialog, without words."""
    await person.page.locator(".ma-dialog").get_by_role("button", name="Send").click()


class Watch:
    """Milliseconds since it was made."""

    def __init__(self):
        self.start = time.monotonic()

    def read(self):
        return (time.monotonic() - self.start) * 1000


def room_fragment(room):
    return "#room/" + quote(room, safe="")
