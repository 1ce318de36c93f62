"""The files of the page as browsers get them: it has its own policy on any server, and the service worker keeps to its own caches."""
import asyncio
import base64
import os
import re

from browser import PROFILE, open_settings, people
from client import User
from harness import test
from server import ROOT

NEEDS_BROWSER = True


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


@test("a page that comes without our server's headers lets no foreign script in: none inline, none of a document that somebody opens from memory")
async def _(test):
    server = text("Sources", "Server", "HomeserverAPI", "Web", "StaticSite.swift")
    for name in ("index.html", "messenger.html"):
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text("Web", name)).group(1)
        # Stricter than the header it would be another page elsewhere.
        assert "object-src 'none'" in policy and all(f'"{part}"' in server for part in policy.split("; ")), policy
    async with people(test, "alice", service_workers="block") as alice:
        page = alice.page

        async def without_headers(route):
            answer = await route.fetch()
            await route.fulfill(response=answer, headers={name: value for name, value in answer.headers.items() if name != "content-security-policy"})
        # A policy is the document's; its files may still be on the way when it is loaded anew.
        await page.route(test.base + "/", without_headers)
        await alice.open()
        await page.reload()
        await page.get_by_role("button", name="Sign in").wait_for()
        assert alice.troubles == [], alice.troubles
        async with page.expect_popup() as opened:
            await page.evaluate("""() => {
              const run = 'globalThis.hacked = 1; opener.hacked = 1';
              document.body.append(Object.assign(document.createElement('script'), { text: 'globalThis.hacked = 1' }));
              open(URL.createObjectURL(new Blob([`<p>here</p><script>${run}<` + '/script>'], { type: 'text/html' })));
            }""")
        other = await opened.value
        await other.get_by_text("here").wait_for()
        await other.wait_for_load_state()
        assert await page.evaluate("globalThis.hacked") is None and await other.evaluate("globalThis.hacked") is None
        # The browser says that it has refused them.
        alice.troubles.clear()


@test("of the caches of its origin the service worker throws away its own old ones, and nobody else's")
async def _(test):
    async with people(test, "alice", fresh=True) as alice:
        await alice.page.evaluate("""async () => {
          const registration = await navigator.serviceWorker.ready;
          for (const name of ['martlet-old', 'of another program']) await caches.open(name);
          await registration.unregister();
        }""")
        await alice.page.reload()
        await alice.until("async () => !(await caches.keys()).includes('martlet-old')")
        kept = await alice.page.evaluate("caches.keys()")
        assert {"of another program", "martlet-shell"} <= set(kept), kept


# A program that calls back by number: 1 logs what it is given, 2 calls the first function of its table, 3 plays a sound and releases it at once.
TINY = """AGFzbQEAAAABIgZgAABgAX8AYAJ/fwBgA39/fwBgAX8Bf2AGf398fH9/AX8CJwMEaG9zdANsb2cAAgRob3N0BHBsYXkAAwRob3N0B3JlbGVhc2UAAQMGBQAABAEFBAQBcAABBQMBAAEHSwcG
bWVtb3J5AgAFdGFibGUBABFfX3dhc21fY2FsbF9jdG9ycwADBXN0YXJ0AAQFYWxsb2MABQdkZWFsbG9jAAYIZGlzcGF0Y2gABwwBAQpVBQMAAQsIAEEQQQcQAAsFAEGACAsDAAELPAAgAEEBRgRA
IAQgBRAACyAAQQJGBEBBABEAAAsgAEEDRgRAQQcgBCAFEAFBBxACCyAAQQRGBEAAC0EFCwsNAQBBEAsHc3RhcnRlZA=="""


@test("several programs run in one page; one that stops or cannot be had is told of")
async def _(test):
    async with people(test, "alice", service_workers="block") as alice:
        await alice.page.route("**/tiny.wasm", lambda route: route.fulfill(body=base64.b64decode(TINY), content_type="application/wasm"))
        # What a program asks of a script that is fetched later waits for it. The page itself fetches it behind its first screen.
        may_come = asyncio.Event()

        async def late(route):
            await may_come.wait()
            await route.continue_()
        await alice.page.route("**/sound.js", late)
        await alice.page.expose_function("soundMayCome", may_come.set)
        await alice.page.route("**/none.wasm", lambda route: route.fulfill(status=404))
        await alice.open()
        told = await alice.page.evaluate("""async () => {
          const { Program } = await import('./program.js');
          const told = [], log = console.log;
          globalThis.Audio = class { constructor() { told.push('audio'); } };
          console.log = line => told.push(line);
          console.error = () => {};
          const one = new Program('tiny.wasm', document.createElement('div'), [], kind => told.push(kind));
          const other = one.beside('tiny.wasm', document.createElement('div'));
          told.push(await one.run(), await other.run());
          told.push(one.dispatch(1, 0, 0, 0, 'grüße'), other.dispatch(1, 0, 0, 0, new Uint8Array([104, 105])));
          told.push(one.dispatch(3, 0, 0, 0, 'a.ogg'));
          await soundMayCome();
          await import('./sound.js');
          told.push(other.dispatch(2), other.dispatch(1, 0, 0, 0, 'late'), one.dispatch(1, 0, 0, 0, 'on'));
          told.push(await one.beside('none.wasm', document.createElement('div'), () => told.push('none')).run());
          console.log = log;
          return told;
        }""")
        assert told == ["started", "started", True, True, "grüße", "hi", 5, 5, 5, "crashed", "on", 0, 0, 5, "none", False], told
        alice.troubles.clear()


@test("the list stands there before the part of the program for an open room; a part of another version is refused, and the page offers to reload")
async def _(test):
    async with people(test, "alice", service_workers="block") as alice:
        page, may_come = alice.page, asyncio.Event()

        async def late(route):
            await may_come.wait()
            await route.continue_()

        async def other_version(route):
            answer = await route.fetch()
            await route.fulfill(response=answer, body=re.sub(rb"app\.wasm#.", b"app.wasm#!", await answer.body()))

        await page.route("**/app.room.wasm", late)
        await page.route("**/app.more.wasm", other_version)
        # With a room, for an empty client needs the refused part at once.
        user = User(test.base, "alice")
        user.create_room(name="Hall")
        await alice.sign_in(user)
        await page.get_by_text("Loading messages…").wait_for()
        may_come.set()
        await page.get_by_role("heading", name="Pick a conversation").wait_for()
        await page.get_by_role("button", name=PROFILE).click()
        await page.get_by_role("alert").filter(has_text="new version of Martlet").wait_for()
        await page.unroute("**/app.more.wasm")
        await page.get_by_role("button", name="Reload").click()
        await open_settings(page)
        await alice.dialog.get_by_role("heading", name="Settings").wait_for()
        # The browser says what it refused.
        alice.troubles.clear()
