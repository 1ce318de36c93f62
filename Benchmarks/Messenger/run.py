#!/usr/bin/env python3
"""What the messenger owes a reader, measured in Chromium: a table of what is asked and what was found (scrolling.py); exits with 1 when
something jumps, is blank or too much. Times are for a calm machine and fail only with --strict.

Build first: Scripts/build-web MessengerBenchmark. Needs the Python package playwright and a Chromium (MARTLET_CHROMIUM,
else /usr/bin/chromium).
Usage: run.py [--messages N] [--many N] [--step PIXELS] [--touch FRAMES] [--mutations N] [--strict] | --services | --screenshots FOLDER
"""
import argparse
import base64
import http.server
import os
import pathlib
import sys
import threading
import time

from playwright.sync_api import sync_playwright

import scrolling

here = pathlib.Path(__file__).resolve().parent
repository = here.parent.parent
folders = [here, repository / "Web", repository / ".build" / "web", repository / "Examples" / "Element"]
types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/slow" or self.path.startswith("/media/"):
            return self.serve_media()
        name = self.path.split("?")[0].lstrip("/") or "index.html"
        if name == "element":
            return self.answer(200, (repository / "Examples" / "Element" / "rows.html").read_bytes(), "text/html")
        found = [folder / name for folder in folders if "/" not in name and (folder / name).is_file()]
        body = found[0].read_bytes() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", types.get(pathlib.Path(name).suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        # Isolation gives the page a clock of 5 microseconds.
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/count":
            self.answer(200, str(len(body)).encode())
        else:
            self.answer(429, f"{self.command} {self.headers.get('X-Test')} ".encode() + body, retry_after="7")

    do_POST = do_PUT

    def serve_media(self):
        if self.path == "/slow":
            time.sleep(1)
            self.answer(200, b"late")
        elif self.path == "/media/good" and self.headers.get("Authorization") == "Bearer secret":
            self.answer(200, PIXEL, "image/png")
        else:
            self.answer(403, b"")

    def answer(self, status, body, kind="text/plain", retry_after=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            pass  # The page gave the request up, as it should.

    def log_message(self, *_):
        pass


# Notes how long the program stays in a call at most, and lets the script call its exports.
TIMING = """
const real = WebAssembly.instantiateStreaming;
globalThis.begun = { longest: 0 };
WebAssembly.instantiateStreaming = async (...a) => {
  const { instance, module } = await real(...a);
  const exports = { ...instance.exports };
  exports.dispatch = (...b) => {
    const from = performance.now();
    const reply = instance.exports.dispatch(...b);
    begun.longest = Math.max(begun.longest, performance.now() - from);
    return reply;
  };
  globalThis.program = exports;
  return { module, instance: { exports } };
};
"""

def open_page(browser, address, width, height, ready=".mg-scroller", expects_errors=False, **options):
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.on("pageerror", lambda error: print("page:", error, file=sys.stderr))
    page.on("console", lambda line: line.type == "error" and not expects_errors and print("console:", line.text, file=sys.stderr))
    page.add_init_script(TIMING)
    page.goto(address)
    page.wait_for_function("ready => globalThis.program && document.querySelector(ready)?.clientHeight > 0", arg=ready)
    return page


def screenshots(browser, address, folder):
    for scheme in ("light", "dark"):
        for width, height in ((320, 640), (1200, 800)):
            page = open_page(browser, address + "?demo", width, height, color_scheme=scheme)
            page.wait_for_timeout(600)
            name = f"messenger-{scheme}-{width}"
            page.screenshot(path=str(folder / f"{name}-end.png"))
            for part, top in (("middle", 0.55), ("start", 0)):
                page.evaluate("part => { const s = document.querySelector('.mg-scroller'); s.scrollTop = s.scrollHeight * part; }", top)
                page.wait_for_timeout(300)
                page.screenshot(path=str(folder / f"{name}-{part}.png"))
            page.context.close()


EXPECTED = {
    "fetch": "429 7 PUT yes bödy", "refused": "0", "timeout": "0", "timer": "later", "store": "a/1:uno a/2:two a/ä:",
    "empty": "0", "setting": "value ä gone", "channel": "hello", "lock": "first|released|second", "random": "random",
    "clock": "12:00 AM", "day": "Today, Yesterday", "size": "1.4 MB", "local": "20453 20454", "extreme": "true", "fragment": "/room/!a:b.c",
    "picked": "p.png image/png 70 1x1", "blob": "blob", "upload": "200 1.0 70", "page": "en-US Chromium on Linux",
    "change": "2 /room/!a:b.c",
}
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def services(browser, address):
    """Every service of the host in a real browser, the composer under a real keyboard, and the page after a trap."""
    failures = []
    expect = lambda name, found, wanted: found == wanted or failures.append(f"{name}: {found!r}, not {wanted!r}")
    page = open_page(browser, address + "?services", 400, 600, locale="en-US", timezone_id="UTC", ready="pre.checks", expects_errors=True)
    with page.expect_file_chooser() as chooser:
        page.click("button.pick")
    chooser.value.set_files({"name": "p.png", "mimeType": "image/png", "buffer": PIXEL})
    page.evaluate("history.pushState(null, '', '#elsewhere'); history.back()")
    page.wait_for_timeout(1500)
    found = {}
    for line in page.inner_text("pre.checks").splitlines():
        name, _, value = line.partition("=")
        found[name] = found[name] + "|" + value if name in found else value
    found["store"] = found.get("store", "").rstrip()
    # The language data decides which kind of space stands before AM.
    found["clock"] = found.get("clock", "").replace("\u202f", " ")
    for name, wanted in EXPECTED.items():
        expect(name, found.pop(name, None), wanted)
    found and failures.append(f"unexpected: {found}")
    expect("title", page.title(), "checked")
    expect("good image", page.get_attribute("img.good", "data-state"), "loaded")
    expect("bad image", page.get_attribute("img.bad", "data-state"), "failed")
    page.click("button.trap")
    expect("notice after a trap", page.locator(".mg-notice button").inner_text(), "Reload")
    page.click("button.pick")
    page.wait_for_timeout(100)
    page.context.close()

    page = open_page(browser, address + "?demo", 600, 700)
    last = lambda: page.evaluate("[...document.querySelectorAll('.mg-row')].at(-1).querySelector('.mg-text').textContent")
    height = lambda: page.evaluate("document.querySelector('.mg-input').offsetHeight")
    small = height()
    page.click(".mg-input")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect("the box grows by a line", height() - small, 22)
    page.evaluate("document.querySelector('.mg-input').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))")
    expect("an input method's Enter", page.input_value(".mg-input"), "one\ntwo")
    page.keyboard.press("Enter")
    expect("sent", last(), "one\ntwo")
    expect("emptied", (page.input_value(".mg-input"), height()), ("", small))
    page.evaluate("""async () => {
      const data = new DataTransfer();
      const canvas = new OffscreenCanvas(300, 200);
      canvas.getContext('2d').fillRect(0, 0, 300, 200);
      data.items.add(new File([await canvas.convertToBlob()], 'pasted.png', { type: 'image/png' }));
      document.querySelector('.mg-input').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }""")
    page.wait_for_selector("img[alt='pasted.png'][data-state=loaded]")
    box = page.evaluate("(b => [b.offsetWidth, b.offsetHeight])(document.querySelector(\"img[alt='pasted.png']\"))")
    expect("pasted image", box, [300, 200])
    page.evaluate("document.querySelector('.mg-scroller').scrollTop -= 600")
    page.wait_for_timeout(100)
    tops = lambda: page.evaluate("[...document.querySelectorAll('.mg-row')].map(e => e.getBoundingClientRect().top).filter(y => y > 0 && y < 600)")
    before = tops()
    for display in ("none", ""):
        page.evaluate("display => { document.querySelector('.demo-timeline').style.display = display; }", display)
        page.wait_for_timeout(100)
    expect("hidden and shown again", tops(), before)
    page.evaluate("document.querySelector('.mg-failed:not([hidden]) button:last-child').click()")
    expect("jump button", page.is_visible(".mg-jump"), True)
    page.click(".mg-jump")
    page.wait_for_timeout(100)
    end = page.evaluate("(s => s.scrollHeight - s.clientHeight - s.scrollTop)(document.querySelector('.mg-scroller'))")
    expect("end", abs(end) <= 1, True)
    page.context.close()
    chat(browser, address, expect)
    element(browser, address, expect)
    for failure in failures:
        print("services:", failure)
    print(f"{len(EXPECTED) + 30 - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


def chat(browser, address, expect):
    """The text chat: side, refusal, counter, motion that ends where it should, for people with and without a wish for motion."""
    for motion in ("no-preference", "reduce"):
        page = open_page(browser, address + "?chat", 500, 600, reduced_motion=motion)
        texts = lambda: page.locator(".mg-window .mg-text").all_inner_texts()
        page.click(".mg-input")
        page.keyboard.type("hello")
        page.keyboard.press("Enter")
        page.locator(".mg-text", has_text="echo: hello").wait_for()
        expect("chat", texts()[-2:], ["hello", "echo: hello"])
        expect("own side", page.locator(".mg-own").count(), 1)
        page.keyboard.type("/undo")
        page.keyboard.press("Enter")
        expect("ghost", page.locator(".mg-ghost").count(), 1)
        page.locator(".mg-ghost").wait_for(state="detached")
        expect("removed", texts()[-1], "hello")
        expect("refused text stays", page.input_value(".mg-input"), "/undo")
        moving = page.evaluate("document.getAnimations().filter(a => a.playState === 'running' && a.effect.getTiming().iterations === 1).length")
        expect("motion has ended", moving, 0)
        page.context.close()


def element(browser, address, expect):
    """The example page with <martlet-messenger>."""
    if not (repository / ".build" / "web" / "MessengerElement.wasm").exists():
        return print("element: not built (Scripts/build-web MessengerElement)")
    page = browser.new_context(viewport={"width": 700, "height": 600}).new_page()
    page.on("pageerror", lambda error: expect("error", str(error), ""))
    page.goto(address + "element")
    frame = page.frame_locator("martlet-messenger iframe")
    frame.get_by_role("article", name="What can we do for you?").wait_for()
    expect("colour of the page", frame.locator("html").evaluate("e => e.style.getPropertyValue('--mg-own')").strip(), "#0b7a4b")
    frame.get_by_role("button", name="👋 1").click()
    frame.get_by_role("button", name="👋 2").wait_for()
    box = frame.get_by_role("textbox")
    box.fill("this is secret")
    box.press("Enter")
    page.wait_for_timeout(200)
    expect("prevented", box.input_value(), "this is secret")
    box.fill("where are you?")
    box.press("Enter")
    frame.get_by_text("You wrote: where are you?", exact=True).wait_for()
    expect("taken", box.input_value(), "")
    frame.locator(".mg-own.mg-read").wait_for()
    expect("a handle nobody knows", page.evaluate("document.querySelector('martlet-messenger').update(99, { line: 'x' }).then(() => 'done')"), "done")
    page.evaluate("document.querySelector('martlet-messenger').clear()")
    expect("cleared", frame.locator(".mg-row").count(), 0)
    page.context.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--step", type=int, default=5000, help="pixels per frame, as the scrollbar is thrown")
    parser.add_argument("--touch", type=int, default=3000, help="frames of a finger's fling")
    parser.add_argument("--mutations", type=int, default=10_000, help="random changes while reading in the middle")
    parser.add_argument("--many", type=int, default=1_000_000, help="rows of a list that is only jumped through")
    parser.add_argument("--strict", action="store_true", help="fail where a time is longer than asked, too")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--services", action="store_true", help="check the host's services and the composer instead")
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        if arguments.services:
            return services(browser, address)
        if arguments.screenshots:
            arguments.screenshots.mkdir(parents=True, exist_ok=True)
            screenshots(browser, address, arguments.screenshots)
            return 0
        return scrolling.figures(lambda width=720: open_page(browser, address, width, 900), arguments)


if __name__ == "__main__":
    sys.exit(main())
