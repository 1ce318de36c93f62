#!/usr/bin/env python3
"""What end-to-end encryption costs in the page: its program's bytes, its Worker's start, and messages that come in pages of a room's history.

Build first: Scripts/build-web WebApp EncryptionWorker; swift build --product martlet; swift build -c release --product client-peer.
Usage: page.py [--messages N]
"""
import argparse
import asyncio
import os
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))

from playwright.async_api import async_playwright  # noqa: E402

from browser import Person, room_fragment  # noqa: E402
from client import User, room_path  # noqa: E402
from peer_client import Peer  # noqa: E402
from server import Server, newest_build  # noqa: E402
from test_encryption import Direct, devices, is_there  # noqa: E402
from test_nio import ENCRYPTION  # noqa: E402

STARTS = 5
# From the Worker's making to its first word, which asks for records of the store.
WATCH = """
const Plain = Worker;
globalThis.Worker = class extends Plain {
  constructor(url, options) {
    super(url, options);
    if (!String(url).includes('encryption-worker')) return;
    const made = performance.now();
    this.addEventListener('message', () => { globalThis.encryptionStart ??= performance.now() - made; });
  }
};
"""
# Of the Worker: the milliseconds that it was at work, and the longest piece.
COUNT = """() => {
  const take = onmessage;
  globalThis.busy = 0;
  globalThis.longest = 0;
  onmessage = event => { const start = performance.now(); take(event); const spent = performance.now() - start; busy += spent; longest = Math.max(longest, spent); };
}"""


def row(what, value):
    print(f"| {what} | {value} |", flush=True)


async def until(condition):
    while not await asyncio.to_thread(condition):
        await asyncio.sleep(0.1)


async def worker_of(page):
    while not (found := [worker for worker in page.workers if "encryption-worker" in worker.url]):
        await asyncio.sleep(0.05)
    return found[0]


async def measure(server, browser, messages):
    reader, writer = User(server.base, "reader"), User(server.base, "writer")
    room = reader.create_room(preset="private_chat", name="Vault", initial_state=[ENCRYPTION], invite=[writer.user_id])
    writer.join(room)
    page = await (await browser.new_context()).new_page()
    await page.add_init_script(WATCH)
    person = Person(page.context, server.base, page, "reader")
    await person.sign_in(reader, room_fragment(room))
    await until(lambda: devices(reader))
    starts = []
    for _ in range(STARTS):
        await page.reload()
        await person.composer.wait_for()
        starts.append(await (await page.wait_for_function("() => globalThis.encryptionStart")).json_value())
    row(f"from making the Worker to its first word, median of {STARTS}", f"{statistics.median(starts):.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        peer = await Peer(newest_build("client-peer"), Direct(server.base), writer, room, folder, "--sync", "v3").start()
        await is_there(peer, writer)
        await peer.ask("send", text="the first of all")
        await person.sees("the first of all")
        worker = await worker_of(page)
        await page.context.set_offline(True)
        for number in range(messages):
            await peer.ask("send", text=f"message {number} of many, as long as people's messages are in the mean")
        await until(lambda: said(reader, room, messages))
        await worker.evaluate(COUNT)
        await page.context.set_offline(False)
        await person.sees(f"message {messages - 1} of many, as long as people's messages are in the mean")
        while not await page.get_by_text("the first of all", exact=True).count():
            await page.evaluate("document.querySelector('.mg-scroller').scrollTop = 0")
            await asyncio.sleep(0.05)
        busy, longest = await worker.evaluate("[busy, longest]")
        row(f"{messages:,} messages of a gap, the Worker's part", f"{busy:.0f} ms, {busy * 1_000 / messages:.0f} µs each")
        row("… the longest piece of it", f"{longest:.0f} ms")
        await peer.end()


def said(reader, room, wanted):
    events, position = 0, None
    while True:
        found = reader.get(room_path(room, "messages"), dir="b", limit=100, **{"from": position}).ok()
        events += sum(event["type"] == "m.room.encrypted" for event in found["chunk"])
        position = found.get("end")
        if position is None:
            return events > wanted


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000)
    options = parser.parse_args()
    print("| in the page | |\n|---|--:|")
    program = os.path.join(ROOT, ".build", "web", "EncryptionWorker.wasm")
    row("the encryption's program, as it is loaded", f"{os.path.getsize(program + '.br') / 1e3:.0f} KB, {os.path.getsize(program) / 1e3:.0f} KB unpacked")
    server = Server().start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
            await measure(server, browser, options.messages)
            await browser.close()
    finally:
        server.close()


if __name__ == "__main__":
    asyncio.run(main())
