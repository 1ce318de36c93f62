#!/usr/bin/env python3
"""How long it takes to come into a call that goes on, until the first picture of another is decoded: in the web client's call of a room, and in a page with
`MartletCall`. Two Chromiums and the server on one machine; the other one sends a made-up camera of 1,280 by 720 in three layers.

Build first: swift build -c release --product martlet; Scripts/build-web; Scripts/build-web RoomCalls; Scripts/build-web MartletCall. Needs the tests' Python
environment and a Chromium (MARTLET_CHROMIUM, else /usr/bin/chromium).
Usage: join.py [--rounds N]
Exits with 1 where something is missed.
"""
import argparse
import asyncio
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))

from harness import Context  # noqa: E402
from server import Server  # noqa: E402
from test_calls import SUBSCRIBER  # noqa: E402
from test_calls_page import FEW_LINES, sees, stage  # noqa: E402
from test_element import Files  # noqa: E402
from test_group_calls import button, garden  # noqa: E402

LIMIT_MILLISECONDS = 500

# From the click until a picture of somebody else has been decoded.
JOIN = """async () => {
  const begin = performance.now();
  [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Join').click();
  for (;;) {
    const videos = [...document.querySelectorAll('.gc-tile:not(.gc-own) video')];
    if (videos.some(video => video.getVideoPlaybackQuality().totalVideoFrames > 0)) return performance.now() - begin;
    await new Promise(done => setTimeout(done, 1));
  }
}"""


async def room_call(context, rounds):
    async with garden(context, "alice", "boris") as (_, _, alice, boris):
        await button(alice, "Call").click()
        times = []
        # The first one loads things that stay.
        for _ in range(rounds + 1):
            await boris.page.get_by_text("A call is going on: 1 person").wait_for()
            times.append(await boris.page.evaluate(JOIN))
            await button(boris, "Hang up").click()
        return times


async def own_page(context, rounds):
    async with stage(context, "alice", "boris") as (here, alice, boris):
        await here.join(alice)
        await sees(alice, "#own video")
        stranger = Files([], {"there.html": FEW_LINES % here.files.base})
        address, times = here.address("there.html", SUBSCRIBER, "boris").replace(here.files.base, stranger.base), []
        try:
            for _ in range(rounds + 1):
                await boris.page.goto(address)
                await boris.until("() => globalThis.joinedAfter !== undefined")
                times.append(await boris.page.evaluate("joinedAfter"))
                await boris.page.goto("about:blank")
        finally:
            stranger.close()
        return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    server = Server(rate_limits="false").start()
    missed = 0
    try:
        context = Context(server.base, server.base, server)
        print("| | asked | median | the first | the slowest after it |\n|---|--:|--:|--:|--:|")
        for what, measure in (("a call of a room, from Join to the first picture", room_call), ("MartletCall, from connect() to the first picture", own_page)):
            first, *times = asyncio.run(measure(context, options.rounds))
            median = statistics.median(times)
            missed += median > LIMIT_MILLISECONDS
            print(f"| {what} | {LIMIT_MILLISECONDS} ms | {median:.0f} ms | {first:.0f} ms | {max(times):.0f} ms |", flush=True)
    finally:
        server.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
