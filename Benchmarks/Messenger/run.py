"""Scrolls through 100,000 messages in Chromium and prints one line of figures; exits with 1 when something jumps or is blank.

Build first: Scripts/build-web MessengerBenchmark. Needs the Python package playwright and a Chromium (MARTLET_CHROMIUM,
else /usr/bin/chromium).
Usage: run.py [--messages N] [--step PIXELS] [--screenshots FOLDER]
"""
import argparse
import http.server
import os
import pathlib
import sys
import threading

from playwright.sync_api import sync_playwright

here = pathlib.Path(__file__).resolve().parent
repository = here.parent.parent
folders = [here, repository / "Web", repository / ".build" / "web"]
types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.split("?")[0].lstrip("/") or "index.html"
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

    def log_message(self, *_):
        pass


# Times each entry into the program, and lets the script call its exports.
TIMING = """
const real = WebAssembly.instantiateStreaming;
globalThis.busy = [];
WebAssembly.instantiateStreaming = async (...a) => {
  const { instance, module } = await real(...a);
  const exports = { ...instance.exports };
  exports.dispatch = (...b) => { const t = performance.now(); try { return instance.exports.dispatch(...b); } finally { busy.push(performance.now() - t); } };
  globalThis.program = exports;
  return { module, instance: { exports } };
};
"""

MEASURE = """
async ({ messages, step }) => {
  const frame = () => new Promise(requestAnimationFrame);
  const settle = async () => { await frame(); await frame(); };
  const out = {};
  program.benchmark_prepare(messages);
  let t = performance.now();
  program.benchmark_load();
  out.load = performance.now() - t;
  await settle();
  const scroller = document.querySelector('.mg-scroller'), rows = document.querySelector('.mg-window');
  const end = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
  out.endDistance = Math.abs(end());
  const isBlank = () => {
    const area = scroller.getBoundingClientRect(), first = rows.firstElementChild, last = rows.lastElementChild;
    if (!first) return true;
    const head = scroller.scrollTop < 1, foot = end() < 40;
    return (!head && first.getBoundingClientRect().top > area.top + 1) || (!foot && last.getBoundingClientRect().bottom < area.bottom - 1);
  };
  // Everything, from the end to the beginning; every frame replaces all rows.
  const times = [];
  busy.length = 0;
  out.blank = 0;
  let last = await frame();
  while (scroller.scrollTop > 0) {
    scroller.scrollTop -= step;
    const now = await frame();
    times.push(now - last);
    last = now;
    if (isBlank()) out.blank++;
  }
  const sorted = [...busy].sort((a, b) => a - b), at = p => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
  Object.assign(out, { frames: times.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), worst: at(1) });
  out.dropped = times.slice(1).reduce((sum, d) => sum + Math.max(0, Math.round(d * 60 / 1000) - 1), 0);
  // The head of the list, its middle and its very start: what is in view stays where it is.
  const seen = () => [...rows.children].map(e => [e.querySelector('.mg-text, .mg-picture').textContent, e.getAttribute('aria-label'), e.querySelector('.mg-bubble').getBoundingClientRect().bottom]).filter(x => x[2] > 0 && x[2] < scroller.clientHeight);
  out.jump = 0;
  out.compared = 0;
  const prepends = [];
  for (const top of [0, 30, 1200, 40000, 2000000]) {
    scroller.scrollTop = top;
    await settle();
    const before = seen();
    t = performance.now();
    program.benchmark_prepend(100);
    prepends.push(performance.now() - t);
    await settle();
    const after = seen();
    for (const [text, label, y] of before) {
      const same = after.filter(x => x[0] === text && x[1] === label);
      if (same.length !== 1 || before.filter(x => x[0] === text && x[1] === label).length !== 1) continue;
      out.compared++;
      out.jump = Math.max(out.jump, Math.abs(same[0][2] - y));
    }
  }
  for (let k = 0; k < 20; k++) { t = performance.now(); program.benchmark_prepend(100); prepends.push(performance.now() - t); await frame(); }
  out.prepend = prepends.sort((a, b) => a - b)[prepends.length >> 1];
  // Small steps through rows that were never measured: they move by what was scrolled.
  scroller.scrollTop = scroller.scrollHeight * 0.37;
  await settle();
  out.drift = 0;
  for (let k = 0; k < 150; k++) {
    const before = seen();
    scroller.scrollTop -= 97;
    await settle();
    const after = new Map(seen().map(x => [x[0] + x[1], x[2]]));
    for (const [text, label, y] of before) {
      const now = after.get(text + label);
      if (now !== undefined && text !== '') out.drift = Math.max(out.drift, Math.abs(now - y - 97));
    }
    if (isBlank()) out.blank++;
  }
  for (let k = 0; k < 60; k++) {
    scroller.scrollTop = Math.random() * scroller.scrollHeight;
    await settle();
    if (isBlank()) out.blank++;
  }
  scroller.scrollTop = scroller.scrollHeight;
  await settle();
  const appends = [];
  for (let k = 0; k < 40; k++) { t = performance.now(); program.benchmark_append(); appends.push(performance.now() - t); await frame(); }
  out.append = appends.sort((a, b) => a - b)[20];
  out.endAfterAppend = Math.abs(end());
  out.elements = rows.children.length;
  out.memory = program.memory.buffer.byteLength / 1048576;
  return out;
}
"""


def open_page(browser, address, width, height, **options):
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.on("pageerror", lambda error: print("page:", error, file=sys.stderr))
    page.on("console", lambda line: line.type == "error" and print("console:", line.text, file=sys.stderr))
    page.add_init_script(TIMING)
    page.goto(address)
    page.wait_for_function("globalThis.program && document.querySelector('.mg-scroller')?.clientHeight > 0")
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--step", type=int, default=5000, help="pixels per frame")
    parser.add_argument("--screenshots", type=pathlib.Path)
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        if arguments.screenshots:
            arguments.screenshots.mkdir(parents=True, exist_ok=True)
            screenshots(browser, address, arguments.screenshots)
            return 0
        page = open_page(browser, address, 720, 900)
        r = page.evaluate(MEASURE, {"messages": arguments.messages, "step": arguments.step})
        browser.close()
    print(
        f"messenger: {arguments.messages} messages, {r['frames']} frames, handler ms p50 {r['p50']:.2f} p95 {r['p95']:.2f} "
        f"p99 {r['p99']:.2f} max {r['worst']:.2f}, dropped {r['dropped']}, load {r['load']:.1f} ms, prepend 100 {r['prepend']:.2f} ms, "
        f"append {r['append']:.2f} ms, jump {r['jump']:g} px ({r['compared']} rows), drift {r['drift']:g} px, blank {r['blank']}, "
        f"rows in page {r['elements']}, wasm memory {r['memory']:.0f} MB")
    wrong = r["jump"] > 0 or r["drift"] > 0 or r["blank"] or r["endDistance"] > 1 or r["endAfterAppend"] > 1 or r["compared"] < 20
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
