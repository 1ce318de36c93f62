#!/usr/bin/env python3
"""How long one waits for the page at 1.6 Mbit/s and 150 ms (a slow phone's network), in four profiles: somebody who comes for the first
time, and somebody who is signed in, with nothing kept by the browser's cache, each on this processor and on one four times slower; and
somebody signed in whose browser has kept the page.

Build first: swift build --product martlet; Scripts/build-web. Needs the Python package playwright and a Chromium (MARTLET_CHROMIUM, else
/usr/bin/chromium).
Usage: load.py [--times N]
Exits with 1 where a median is over its budget.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])
sys.path.insert(0, os.path.join(ROOT, "Benchmarks"))

from playwright.sync_api import sync_playwright  # noqa: E402

from servers import Martlet  # noqa: E402

BYTES_PER_SECOND, DELAY_MILLISECONDS = 200_000, 150
ROOMS = 12
PASSWORD = "correct horse battery"
# Seconds: what people are to wait at most.
BUDGETS = {"sign-in": 1.5, "list": 3.0, "sign-in, slow processor": 3.0, "list, slow processor": 5.0, "list, page kept": 0.5}
FILES = "performance.getEntriesByType('resource').filter(e => e.responseEnd < %d).map(e => e.encodedBodySize)"


class Server(Martlet):
    program = next(filter(os.path.exists, (os.path.join(ROOT, ".build", kind, "martlet") for kind in ("release", "debug"))), "")


def slow_down(context, page, processor=1, keeps=False):
    """What the page fetches from now on takes as long as on a slow phone's network; unless it `keeps`, nothing that is kept is used."""
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    if not keeps:
        devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        devtools.send("Network.setBypassServiceWorker", {"bypass": True})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": processor})
    devtools.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": DELAY_MILLISECONDS, "downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND})


def sign_in_form(browser, base, processor=1):
    """Seconds until somebody new can write in the form; what was fetched until then as (files, bytes)."""
    context = browser.new_context()
    page = context.new_page()
    slow_down(context, page, processor)
    began = time.monotonic()
    page.goto(base, wait_until="commit")
    page.get_by_role("button", name="Sign in").first.wait_for()
    seconds = time.monotonic() - began
    sizes = page.evaluate(FILES % (seconds * 1000))
    context.close()
    return seconds, (len(sizes), sum(sizes))


def post(server, path, body, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"{server.base}/_matrix/client/v3/{path}", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request, timeout=30))


def reader(server):
    """Somebody with rooms."""
    name = f"reader{time.monotonic_ns()}"
    account = post(server, "register", {"username": name, "password": PASSWORD, "auth": {"type": "m.login.dummy"}})
    for index in range(ROOMS):
        post(server, "createRoom", {"name": f"Room {index}"}, account["access_token"])
    return name


def list_of(browser, server, processor=1, keeps=False):
    """Seconds until somebody who was here before sees rooms to choose from, until the program has its own list, and until one can write."""
    name = reader(server)
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.base)
    page.get_by_label("User name").locator("visible=true").fill(name)
    page.get_by_role("textbox", name="Password").locator("visible=true").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").locator("visible=true").last.click()
    page.locator("#app .ma-entry").nth(ROOMS - 1).wait_for()
    if keeps:
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.reload()
        page.wait_for_function("navigator.serviceWorker.controller && caches.match('app.wasm').then(answer => answer !== undefined)")
    page.goto("about:blank")
    slow_down(context, page, processor, keeps)
    began = time.monotonic()
    page.goto(server.base, wait_until="commit")
    page.locator(".ma-entry").first.wait_for()
    seen = time.monotonic() - began
    page.locator("#app .ma-entry").first.wait_for()
    listed = time.monotonic() - began
    page.locator(".ma-welcome").wait_for()
    whole = time.monotonic() - began
    context.close()
    return seen, listed, whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    missed = False

    def say(name, seconds, more=""):
        nonlocal missed
        missed = missed or seconds > BUDGETS[name]
        print(f"{name:24} {seconds:5.2f} s   (asked {BUDGETS[name]} s)   {more}", flush=True)

    with tempfile.TemporaryDirectory(prefix="martlet-load-") as folder, sync_playwright() as playwright:
        server = Server(folder)
        server.start()
        browser = playwright.chromium.launch(executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        try:
            for words, processor in (("", 1), (", slow processor", 4)):
                forms = [sign_in_form(browser, server.base, processor) for _ in range(times)]
                say("sign-in" + words, statistics.median(form[0] for form in forms), "{} files, {:,} bytes".format(*forms[0][1]))
                lists = [list_of(browser, server, processor) for _ in range(times)]
                say("list" + words, *told(lists))
            say("list, page kept", *told([list_of(browser, server, keeps=True) for _ in range(times)]))
        finally:
            browser.close()
            server.stop()
    return missed


def told(lists):
    seen, listed, whole = (statistics.median(each[index] for each in lists) for index in range(3))
    return seen, f"the program's own after {listed:.2f} s, a room can be opened after {whole:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
