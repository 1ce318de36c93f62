"""The files of the page as browsers get them: it has a policy of its own, whoever serves it, and the service worker keeps to its own caches."""
import base64
import os
import re

from browser import people
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
        await page.route("**/*", without_headers)
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
# A part of it, as wasm-split makes them: its function, which logs "part", becomes the first of that table.
PART = """AGFzbQEAAAABCQJgAn9/AGAAAAIwAwRob3N0A2xvZwAAB3ByaW1hcnkGbWVtb3J5AgABB3ByaW1hcnkFdGFibGUBcAABAwIBAQkHAQBBAAsBAQoLAQkAQYAQQQQQAAsLCwEAQYAQCwRwYXJ0"""


@test("several programs run in one page; a part is added to one of them; one that stops or cannot be had is told of")
async def _(test):
    async with people(test, "alice", service_workers="block") as alice:
        await alice.open()
        programs = {"tiny.wasm": TINY, "part.wasm": PART}

        async def give(route):
            body = base64.b64decode(programs[route.request.url.rpartition("/")[2]])
            await route.fulfill(body=body, content_type="application/wasm")
        for name in programs:
            await alice.page.route("**/" + name, give)
        await alice.page.route("**/none.wasm", lambda route: route.fulfill(status=404))
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
          await one.add('part.wasm');
          told.push(one.dispatch(2), one.dispatch(3, 0, 0, 0, 'a.ogg'));
          await import('./sound.js');
          told.push(other.dispatch(2), other.dispatch(1, 0, 0, 0, 'late'), one.dispatch(1, 0, 0, 0, 'on'));
          told.push(await one.beside('none.wasm', document.createElement('div')).run());
          console.log = log;
          return told;
        }""")
        assert told == ["started", "started", True, True, "grüße", "hi", 5, 5, "part", 5, 5, "crashed", "on", 0, 0, 5, "unreachable", False], told
        alice.troubles.clear()
