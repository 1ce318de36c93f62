"""The files of the page: lists that are kept by hand say what the scripts import, and the page has a policy of its own, whoever serves it."""
import os
import re

from browser import people
from harness import test
from server import ROOT

NEEDS_BROWSER = True

AT_ONCE = r"^import (?:[^'\n]* from )?'\./([\w.-]+)';"
LATER = r"\bimport\('\./([\w.-]+)'\)"
BUILT = ["app.wasm", "./"]


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def imported(scripts, *ways):
    """These scripts and all that they import in these ways, one by another."""
    found, waiting = set(), list(scripts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [other for way in ways for other in re.findall(way, text("Web", name), re.MULTILINE)]
    return found


@test("the page loads beforehand what its scripts import, and the service worker keeps all of its files", browser=False)
def _(test):
    page, worker = text("Web", "index.html"), text("Web", "sw.js")
    scripts = re.findall(r'<script type="module" src="([^"]+)"', page)
    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]+)"', page)
    at_once = imported(scripts, AT_ONCE) - set(scripts)
    assert len(at_once) > 10 and sorted(preloaded) == sorted(at_once), set(preloaded) ^ at_once
    kept = re.findall(r"'([^']+)'", re.search(r"^const files = \[(.*?)\];", worker, re.MULTILINE | re.DOTALL).group(1))
    kept_scripts = [name for name in kept if name.endswith(".js")]
    # What is imported later is wanted without a network, too.
    wanted = imported(scripts, AT_ONCE, LATER)
    assert sorted(kept_scripts) == sorted(wanted), set(kept_scripts) ^ wanted
    linked = set(re.findall(r'<link rel="(?:icon|manifest|preload|stylesheet)" href="([^"]+)"', page))
    assert linked <= set(kept), linked - set(kept)
    assert all(name in BUILT or os.path.exists(os.path.join(ROOT, "Web", name)) for name in kept), kept


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
