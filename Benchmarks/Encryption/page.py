#!/usr/bin/env python3
"""What end-to-end encryption costs in the page: its program's bytes, its Worker's start, messages that come in pages of a room's history, and
what the main thread has of it; many keys of a backup, and the start with them and many rooms.

Build first: Scripts/build-web WebApp EncryptionWorker; swift build --product martlet; swift build -c release --product client-peer.
Usage: page.py [--messages N] [--keys N] [--rooms N]
"""
import argparse
import asyncio
import base64
import json
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))

import vodozemac  # noqa: E402
from playwright.async_api import async_playwright  # noqa: E402

from browser import Person, room_fragment  # noqa: E402
from client import User, room_path  # noqa: E402
from peer_client import Peer  # noqa: E402
from server import Server, newest_build  # noqa: E402
from test_encrypted_page import open_encryption  # noqa: E402
from test_encryption import Direct, devices, is_there  # noqa: E402
from test_nio import ENCRYPTION  # noqa: E402

STARTS = 5
# From the Worker's making to its first word, which asks for records of the store, and to the first moment at which it has had nothing to say for a
# second; what the main thread does with its words, each until it gives way.
WATCH = """
const Plain = Worker;
globalThis.Worker = class extends Plain {
  constructor(url, options) {
    super(url, options);
    this.isEncryption = String(url).includes('encryption-worker');
    if (!this.isEncryption) return;
    this.made = performance.now();
    globalThis.mainThread = { spent: 0, pieces: [] };
  }
  set onmessage(take) {
    if (!this.isEncryption) { super.onmessage = take; return; }
    super.onmessage = event => {
      const start = performance.now();
      globalThis.encryptionStart ??= start - this.made;
      take(event);
      const end = performance.now();
      globalThis.encryptionLast = end;
      globalThis.encryptionLasted = end - this.made;
      mainThread.spent += end - start;
      mainThread.pieces.push(end - start);
    };
  }
};
"""
IS_QUIET = "() => globalThis.encryptionLast !== undefined && performance.now() - encryptionLast > 1000"
MAIN_THREAD = "() => { const { spent, pieces } = mainThread; globalThis.mainThread = { spent: 0, pieces: [] }; return [spent, Math.max(0, ...pieces), pieces.filter(piece => piece > 4).length, pieces.length]; }"
CLIMB = """() => {
  const feed = document.querySelector('.mg-scroller'), gap = [...feed.querySelectorAll('.mg-gap')].at(-1);
  if (gap) gap.scrollIntoView({ block: 'center' }); else feed.scrollTop = Math.max(1, feed.scrollTop - feed.clientHeight * 0.8);
}"""
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
        await worker.evaluate(COUNT)
        for turn in ("first", "next"):
            await page.context.set_offline(True)
            for number in range(messages):
                await peer.ask("send", text=text_of(turn, number))
            await until(lambda: said(reader, room, (1 if turn == "first" else 2) * messages))
            await worker.evaluate("busy = longest = 0")
            await page.evaluate(MAIN_THREAD)
            script = await read_all(person, turn, messages)
            busy, longest = await worker.evaluate("[busy, longest]")
            row(f"the {turn} {messages:,} messages of a gap, the Worker's part", f"{busy:.0f} ms, {busy * 1_000 / messages:.0f} µs each")
            row("… the longest piece of it", f"{longest:.0f} ms")
            await main_thread(page, messages)
        await peer.end()
    plain = reader.create_room(preset="private_chat", name="Square", invite=[writer.user_id])
    writer.join(plain)
    await person.entry("Square").click()
    await person.composer.wait_for()
    await page.context.set_offline(True)
    for number in range(messages):
        writer.send(plain, text_of("clear", number))
    clear = await read_all(person, "clear", messages)
    row("… all scripts of the main thread, and where the same is said in the clear", f"{script * 100 / messages:.1f} and {clear * 100 / messages:.1f} ms for each hundred")


def text_of(turn, number):
    return f"{turn} message {number} of many, as long as people's messages are in the mean"


async def read_all(person, turn, messages):
    """Comes back after the messages and looks at all of them. Returns the milliseconds of the main thread's scripts."""
    page = person.page
    metrics = await page.context.new_cdp_session(page)
    await metrics.send("Performance.enable")
    before = await script_milliseconds(metrics)
    await page.context.set_offline(False)
    await person.sees(text_of(turn, messages - 1))
    # Up to where the gap began: the page fills what of it comes into view. No step is longer than the screen, so that it passes no gap.
    oldest = page.get_by_text(text_of(turn, 0), exact=True)
    while not await oldest.count():
        await page.evaluate(CLIMB)
        await asyncio.sleep(0.05)
    await page.wait_for_function(IS_QUIET)
    return await script_milliseconds(metrics) - before


async def script_milliseconds(metrics):
    values = (await metrics.send("Performance.getMetrics"))["metrics"]
    return 1_000 * next(value["value"] for value in values if value["name"] == "ScriptDuration")


async def main_thread(page, messages=None):
    spent, longest, long, pieces = await page.evaluate(MAIN_THREAD)
    each = f", {spent * 100 / messages:.1f} ms for each hundred" if messages else ""
    row("… the main thread with the Worker's answers", f"{spent:.0f} ms{each}; longest piece {longest:.1f} ms, {long} of {pieces:,} above 4 ms")


async def recover(server, browser, keys, rooms):
    """A new browser takes keys of many rooms from the backup, and starts with them."""
    owner = User(server.base, "owner")
    names = [owner.create_room(preset="private_chat", name=f"Room {number}", initial_state=[ENCRYPTION]) for number in range(rooms)]
    first = await person_of(server, browser, owner, names[0])
    await until(lambda: devices(owner))
    await open_encryption(first)
    await first.dialog.get_by_role("button", name="Set up recovery").click()
    await first.dialog.get_by_text("Write it down").wait_for()
    key = await first.dialog.locator(".ma-recovery-key").inner_text()
    await until(lambda: owner.get("room_keys/version").status == 200)
    await first.page.context.close()
    fill(owner, names, keys)

    other = await person_of(server, browser, owner, names[0])
    await open_encryption(other)
    worker = await worker_of(other.page)
    await worker.evaluate(COUNT)
    await other.page.evaluate(MAIN_THREAD)
    await other.dialog.get_by_label("Recovery key or passphrase").fill(key)
    start = time.monotonic()
    await other.dialog.get_by_role("button", name="Verify with recovery key").click()
    await other.dialog.get_by_text("This browser is verified.").wait_for()
    await other.page.wait_for_function(IS_QUIET, timeout=120_000)
    lasted = time.monotonic() - start - 1
    busy, longest = await worker.evaluate("[busy, longest]")
    row(f"{keys:,} keys from the backup, in {rooms} rooms", f"{lasted:.1f} s; the Worker {busy / 1_000:.1f} s, its longest piece {longest:.0f} ms")
    await main_thread(other.page)
    starts = []
    for _ in range(STARTS):
        await other.page.reload()
        await other.page.wait_for_function(IS_QUIET, timeout=120_000)
        starts.append(await other.page.evaluate("[encryptionStart, encryptionLasted]"))
    word, last = (statistics.median(column) for column in zip(*starts))
    row(f"start with these: from making the Worker to its first and last word, median of {STARTS}", f"{word:.0f} ms, {last:.0f} ms")
    await main_thread(other.page)


async def person_of(server, browser, user, room):
    page = await (await browser.new_context()).new_page()
    await page.add_init_script(WATCH)
    person = Person(page.context, server.base, page, user.user_id)
    await person.sign_in(user, room_fragment(room))
    return person


def fill(owner, rooms, keys):
    """Puts keys of made-up sessions into the backup."""
    version = owner.get("room_keys/version").ok()
    public = vodozemac.Curve25519PublicKey.from_base64(version["auth_data"]["public_key"])
    sealing = vodozemac.PkEncryption.from_key(public)
    device, batch = vodozemac.Account(), {}
    for number in range(keys):
        session = vodozemac.InboundGroupSession(vodozemac.GroupSession().session_key)
        message = sealing.encrypt(json.dumps({
            "algorithm": "m.megolm.v1.aes-sha2", "forwarding_curve25519_key_chain": [], "sender_key": device.curve25519_key.to_base64(),
            "sender_claimed_keys": {"ed25519": device.ed25519_key.to_base64()}, "session_key": session.export_at(0).to_base64()}).encode())
        data = {"ephemeral": message.ephemeral_key, "ciphertext": message.ciphertext, "mac": message.mac}
        batch.setdefault(rooms[number % len(rooms)], {"sessions": {}})["sessions"][session.session_id] = {
            "first_message_index": 0, "forwarded_count": 0, "is_verified": False,
            "session_data": {name: base64.b64encode(value).decode().rstrip("=") for name, value in data.items()}}
        if number % 500 == 499 or number == keys - 1:
            owner.put("room_keys/keys", {"rooms": batch}, version=version["version"]).ok()
            batch = {}


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
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rooms", type=int, default=500)
    options = parser.parse_args()
    print("| in the page | |\n|---|--:|")
    program = os.path.join(ROOT, ".build", "web", "EncryptionWorker.wasm")
    row("the encryption's program, as it is loaded", f"{os.path.getsize(program + '.br') / 1e3:.0f} KB, {os.path.getsize(program) / 1e3:.0f} KB unpacked")
    server = Server().start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=os.environ.get("MARTLET_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
            await measure(server, browser, options.messages)
            await recover(server, browser, options.keys, options.rooms)
            await browser.close()
    finally:
        server.close()


if __name__ == "__main__":
    asyncio.run(main())
