#!/usr/bin/env python3
"""How long somebody who comes to the page for the first time waits for its first button, at 1.6 Mbit/s and 150 ms (a slow phone's
network), and for the room when they come back signed in with nothing kept.

Build first: swift build --product martlet; Scripts/build-web. Needs the Python package playwright and a Chromium (MARTLET_CHROMIUM, else
/usr/bin/chromium).
Usage: load.py [--times N]
Exits with 1 where the median is over the budget.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])
sys.path.insert(0, os.path.join(ROOT, "Benchmarks"))

from playwright.sync_api import sync_playwright  # noqa: E402

from servers import Martlet  # noqa: E402

BYTES_PER_SECOND, DELAY_MILLISECONDS = 200_000, 150
FIRST_BUTTON_BUDGET = 4.3
FILES = "performance.getEntriesByType('resource').filter(e => e.responseEnd < %d).map(e => e.encodedBodySize)"


class Server(Martlet):
    program = next(filter(os.path.exists, (os.path.join(ROOT, ".build", kind, "martlet") for kind in ("release", "debug"))), "")


def slow_down(context, page):
    """What the page fetches from now on takes as long as on a slow phone's network; nothing that is kept is used."""
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    devtools.send("Network.setBypassServiceWorker", {"bypass": True})
    devtools.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": DELAY_MILLISECONDS, "downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND})


def first_button(browser, base):
    """(seconds, files, bytes)"""
    context = browser.new_context()
    page = context.new_page()
    slow_down(context, page)
    began = time.monotonic()
    page.goto(base)
    page.get_by_role("button", name="Sign in").first.wait_for()
    seconds = time.monotonic() - began
    sizes = page.evaluate(FILES % (seconds * 1000))
    context.close()
    return seconds, len(sizes), sum(sizes)


def signed_in(browser, base):
    """Seconds until the rooms stand there, and until one can write."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(base)
    page.get_by_role("tab", name="Create account").click()
    page.get_by_label("User name").locator("visible=true").fill(f"reader{time.monotonic_ns()}")
    page.get_by_role("textbox", name="Password").locator("visible=true").fill("correct horse battery")
    page.get_by_role("button", name="Create account").locator("visible=true").last.click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("button", name="New conversation").first.wait_for()
    slow_down(context, page)
    began = time.monotonic()
    page.reload()
    page.get_by_role("button", name="New conversation").first.wait_for()
    listed = time.monotonic() - began
    page.locator(".ma-welcome").wait_for()
    whole = time.monotonic() - began
    context.close()
    return listed, whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory(prefix="martlet-load-") as folder, sync_playwright() as playwright:
        server = Server(folder)
        server.start()
        browser = playwright.chromium.launch(executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        try:
            firsts = [first_button(browser, server.base) for _ in range(times)]
            seconds = statistics.median(first[0] for first in firsts)
            print(f"first button      {seconds:.2f} s   {firsts[0][1]} files, {firsts[0][2]:,} bytes   (budget {FIRST_BUTTON_BUDGET} s)", flush=True)
            again = [signed_in(browser, server.base) for _ in range(times)]
            print(f"list of rooms     {statistics.median(each[0] for each in again):.2f} s   signed in, nothing kept")
            print(f"place of the room {statistics.median(each[1] for each in again):.2f} s")
        finally:
            browser.close()
            server.stop()
    return seconds > FIRST_BUTTON_BUDGET


if __name__ == "__main__":
    sys.exit(main())
