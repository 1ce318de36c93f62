"""Chromium, as Playwright drives it. A browser outlives the test that started it, and so do its profiles: an emptied one still has the page's
files and their compiled program, which is most of what a new one costs."""
import asyncio
import contextlib
import os
from urllib.parse import urlsplit

from harness import NotRun, Runner, needs_browser

HERE = os.path.dirname(os.path.abspath(__file__))
CHROMIUM = os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium")
# The same engine without a browser around it takes half the processor time. It lacks what a user of a browser is asked for, such as permissions for
# camera and microphone, and what stays when pages close. Tests of these ask for the whole browser. If the shell is not installed, all do.
SHELL = os.environ.get("MARTLET_CHROMIUM_SHELL", "/usr/bin/chromium-headless-shell")
# A made-up camera has 20 pictures a second. Half of them are enough to see that it moves, and a fifth less for the processor in a call of three.
FLAGS = ["--no-sandbox", "--use-fake-device-for-media-stream=fps=10"]
# What would differ between machines. MARTLET_FONTS=system shows pages in the fonts of this one.
ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LANGUAGE": "en", "TZ": "UTC"}
if os.environ.get("MARTLET_FONTS") != "system":
    ENVIRONMENT["FONTCONFIG_FILE"] = os.path.join(HERE, "fonts.conf")
DESKTOP = {"width": 1280, "height": 800}
PROFILE = {"viewport": DESKTOP, "color_scheme": "light", "reduced_motion": "no-preference", "locale": "en-GB"}
# So many browsers of different kinds are kept, and so many emptied profiles in them.
BROWSERS_LIMIT, PROFILES_LIMIT = 3, 6
# What a visit leaves behind, but for the page's own files in the service worker's cache.
LEFT_BEHIND = "cookies,indexeddb,local_storage,file_systems"
# Seconds after which a page is taken for stuck.
EMPTYING_SECONDS = 20


class Profile:
    """A profile of a browser with one page, and what its visitor does that the next one must not find."""

    def __init__(self, context, key, permissions, home):
        self.context, self.key, self.permissions, self.home = context, key, permissions, home
        self.page = None
        self._origins, self._listeners, self._is_altered = set(), [], False
        context.on("page", lambda page: page.on("framenavigated", self._been_to))
        self._note_alterations(context, "new_cdp_session")

    def _been_to(self, frame):
        address = urlsplit(frame.url)
        if address.scheme in ("http", "https"):
            self._origins.add(f"{address.scheme}://{address.netloc}")

    async def open(self):
        """Its page, which shows nothing of the program."""
        if self.page is None:
            self.page = await self.context.new_page()
            self._note_alterations(self.page, "add_init_script", "expose_function", "expose_binding", "emulate_media")
            self._note_listeners(self.page)
        self._is_altered = False
        return self.page

    def _note_alterations(self, target, *names):
        """Of these Playwright does not take back what they do to a page."""
        def noted(name):
            original = getattr(target, name)

            def altering(*arguments, **options):
                self._is_altered = True
                return original(*arguments, **options)
            setattr(target, name, altering)
        for name in names:
            noted(name)

    def _note_listeners(self, page):
        listen = page.on

        def on(event, listener):
            self._listeners.append((event, listener))
            return listen(event, listener)
        page.on = on

    async def show(self, viewport, scheme):
        if self.page.viewport_size != viewport:
            await self.page.set_viewport_size(viewport)
        await type(self.page).emulate_media(self.page, color_scheme=scheme)

    async def empty(self):
        """The next visitor finds nothing of this one: no other pages, no data, no history, nothing under the pointer."""
        if self.page.is_closed():
            self.page = None
            self._listeners.clear()
        context, page = self.context, self.page or await self.open()
        for other in context.pages:
            if other != page:
                await other.close()
        for event, listener in self._listeners:
            page.remove_listener(event, listener)
        self._listeners.clear()
        await context.unroute_all()
        await page.unroute_all()
        await context.set_offline(False)
        await context.set_geolocation(None)
        await context.clear_permissions()
        if self.permissions:
            await context.grant_permissions(self.permissions)
        # A file that runs nothing.
        await page.goto(self.home + "/icon.svg")
        # One that stays would keep pages from hearing that they are offline.
        devtools = await type(context).new_cdp_session(context, page)
        for origin in self._origins | {self.home}:
            await devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": LEFT_BEHIND})
        if self._is_altered or self._origins - {self.home}:
            await page.close()
            self.page = None
        else:
            await page.mouse.move(-1, -1)
            await page.evaluate("sessionStorage.clear()")
            await devtools.send("Page.resetNavigationHistory")
            await devtools.detach()
        self._origins.clear()


class Browsers:
    """The browsers of one event loop, by their flags and whether they are whole. `home`: the address of the page that most visitors open."""

    def __init__(self):
        self.home = None
        self._manager = self._playwright = None
        # The one used last stands last.
        self._browsers, self._idle = {}, []

    async def browser(self, flags, is_whole=False):
        from playwright.async_api import async_playwright
        if self._playwright is None:
            self._manager = async_playwright()
            self._playwright = await self._manager.start()
        kind, program = (flags, is_whole), SHELL if os.path.exists(SHELL) and not is_whole else CHROMIUM
        found = self._browsers.pop(kind, None)
        if found is None or not found.is_connected():
            self._forget(kind)
            while len(self._browsers) >= BROWSERS_LIMIT:
                oldest = next(iter(self._browsers))
                self._forget(oldest)
                await self._browsers.pop(oldest).close()
            found = await self._playwright.chromium.launch(
                executable_path=program, args=[*FLAGS, *flags], env={**os.environ, **ENVIRONMENT})
        self._browsers[kind] = found
        return found

    def _forget(self, kind):
        self._idle = [profile for profile in self._idle if profile.key[:2] != kind]

    async def profile(self, flags, is_whole, is_new, options):
        """An emptied profile with these options of Playwright's `new_context`, else a new one."""
        key = flags, is_whole, repr(sorted(options.items()))
        browser = await self.browser(flags, is_whole)
        for profile in [] if is_new else self._idle[::-1]:
            if profile.key == key:
                self._idle.remove(profile)
                return profile
        context = await browser.new_context(**{**PROFILE, **options})
        return Profile(context, None if is_new or self.home is None else key, options.get("permissions"), self.home)

    async def give_back(self, profile):
        # Tests crash pages, too: such a profile is not kept.
        with contextlib.suppress(Exception):
            if profile.key is not None:
                await asyncio.wait_for(profile.empty(), EMPTYING_SECONDS)
                self._idle.append(profile)
                if len(self._idle) <= PROFILES_LIMIT:
                    return
                profile = self._idle.pop(0)
        with contextlib.suppress(Exception):
            await profile.context.close()

    async def close(self):
        for browser in self._browsers.values():
            with contextlib.suppress(Exception):
                await browser.close()
        if self._playwright is not None:
            await self._playwright.stop()
        self._browsers, self._idle, self._playwright = {}, [], None


_kept = Browsers()


@contextlib.asynccontextmanager
async def browsers():
    """Those that stay for the next test; of another event loop than the tests', some that go."""
    needs_browser()
    try:
        import playwright.async_api  # noqa: F401
    except ImportError as error:
        raise NotRun("playwright is not installed (Scripts/install-dependencies --test)") from error
    if not os.path.exists(CHROMIUM):
        raise NotRun(f"no Chromium at {CHROMIUM}")
    if Runner.current is not None and Runner.current.is_here():
        Runner.current.at_end(_kept.close)
        _kept.home = Runner.current.context.base
        yield _kept
        return
    own = Browsers()
    try:
        yield own
    finally:
        await own.close()


@contextlib.asynccontextmanager
async def chromium(*flags):
    """A browser with these flags, for tests that make their profiles themselves. Those are gone at the end."""
    async with browsers() as found:
        browser = await found.browser(tuple(flags))
        before = set(browser.contexts)
        try:
            yield browser
        finally:
            for context in set(browser.contexts) - before:
                with contextlib.suppress(Exception):
                    await context.close()
