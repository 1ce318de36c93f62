"""Chromium at the media router over bad networks. What a picture shows tells whether it is whole: it has a number in it, four times."""
import asyncio
import contextlib
import os
import random
import tempfile
from random import Random

import av

from bad_path import BadPath
from harness import PATIENCE, test
from router_peers import Page, Router
from test_router import chromium, is_seen

NEEDS_BROWSER = ALONE = True

WIDTH, HEIGHT, ROWS, BITS = 640, 360, 4, 16
# The camera's pictures, which come again after ten seconds.
NUMBERS = 300


def write_camera(path):
    """A camera for Chromium, 30 pictures a second: each has its number in four rows of black and white blocks, and noise between them, so that every layer takes
    what it may."""
    noise = Random(1)
    grains = [b"".join(bytes([noise.randrange(16, 236)]) * 8 for _ in range(WIDTH // 8)) for _ in range(64)]
    half = HEIGHT // ROWS // 2
    with av.open(path, "w", format="mjpeg") as file:
        stream = file.add_stream("mjpeg", rate=30)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuvj420p"
        for number in range(NUMBERS):
            frame = av.VideoFrame(WIDTH, HEIGHT, "yuvj420p")
            blocks = b"".join(bytes([255 if number >> bit & 1 else 0]) * (WIDTH // BITS) for bit in range(BITS))
            lines = [blocks * half + b"".join(grains[(line // 8 + 7 * row + 5 * number) % 64] for line in range(half)) for row in range(ROWS)]
            frame.planes[0].update(b"".join(lines))
            for plane in frame.planes[1:]:
                plane.update(bytes([128]) * plane.buffer_size)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())


# Reads each picture that is shown: how many, those whose rows differ, and those that are older than one before.
READ = """() => {
  const video = document.querySelector('video'), canvas = new OffscreenCanvas(160, 40), paint = canvas.getContext('2d', { willReadFrequently: true });
  const seen = globalThis.seen = { read: 0, torn: 0, backward: 0 };
  // Between two that follow each other within four seconds are fewer than half of all.
  const isBefore = (number, last) => (number - last + NUMBERS) % NUMBERS > NUMBERS / 2;
  let last = -1, at = 0;
  const next = () => {
    video.requestVideoFrameCallback(next);
    paint.drawImage(video, 0, 0, 160, 40);
    const { data } = paint.getImageData(0, 0, 160, 40), numbers = [];
    for (let row = 0; row < 4; row++) {
      let number = 0;
      for (let bit = 0; bit < 16; bit++) if (data[4 * (160 * (10 * row + 2) + 10 * bit + 5)] > 127) number |= 1 << bit;
      numbers.push(number);
    }
    seen.read++;
    if (numbers.some(number => number !== numbers[0])) seen.torn++;
    else {
      if (last >= 0 && performance.now() - at < 4000 && isBefore(numbers[0], last)) seen.backward++;
      [last, at] = [numbers[0], performance.now()];
    }
  };
  video.requestVideoFrameCallback(next);
}""".replace("NUMBERS", str(NUMBERS))


@contextlib.asynccontextmanager
async def network(seed=None):
    """(a router, a browser, a function that makes a bad path to it); what fails says from which seed, and what befell the packets."""
    seed = seed if seed is not None else random.randrange(1 << 32)
    paths = []

    async def path(**conditions):
        paths.append(await BadPath.start(router, seed + 10 * len(paths), **conditions))
        return paths[-1]
    with Router() as router, tempfile.TemporaryDirectory(prefix="martlet-camera-") as folder:
        camera = os.path.join(folder, "camera.mjpeg")
        write_camera(camera)
        async with chromium(f"--use-file-for-fake-video-capture={camera}") as browser:
            try:
                yield router, browser, path
            except Exception as error:
                error.add_note(f"seed {seed}; " + "; ".join(map(str, paths)))
                raise
            finally:
                for each in paths:
                    each.close()


# As our pages send a camera of this size: half and all of the width.
LAYERS = "[{ rid: 'l', scaleResolutionDownBy: 2, maxBitrate: 150000 }, { rid: 'h', maxBitrate: 700000 }]"
PICTURES = 150
# What keeps the publisher from sending more, layer by layer.
LIMITS = """async () => [...(await connection.getStats()).values()].filter(({ type, kind }) => type === 'outbound-rtp' && kind === 'video').map(
  ({ rid, framesSent, framesPerSecond, targetBitrate, qualityLimitationReason }) => ({ rid, framesSent, framesPerSecond, targetBitrate, qualityLimitationReason }))"""


async def publish(browser, path):
    page = await Page.open(browser)
    await page.publish(path, "alice", "VP8", LAYERS)
    return page


async def subscribe(browser, path, name):
    page = await Page.open(browser)
    await page.subscribe(path, name, "alice")
    await page.until(is_seen(30), "30 frames")
    await page.page.evaluate(READ)
    return page


class Watch:
    """What has come to a receiver while the publisher sent so many pictures more, as shares of what there could be."""

    def __init__(self, sent, before, after, seen):
        def more(kind, what):
            return after[kind][what] - before[kind][what]
        self.decoded, self.freezes = more("video", "frames") / sent, more("video", "freezes")
        self.concealed = more("audio", "concealed") / max(1, more("audio", "samples"))
        self.width, self.seen = after["video"]["width"], seen

    @classmethod
    async def over(cls, publisher, *receivers, pictures=PICTURES):
        """One of each receiver."""
        sent, before = await publisher.sent(), [await receiver.received() for receiver in receivers]
        # A viewer that watches longer waits longer: noise in 150 kbit/s is some five pictures a second.
        for _ in range(10 * PATIENCE * pictures // PICTURES):
            if await publisher.sent() - sent >= pictures:
                break
            await asyncio.sleep(0.1)
        sent = await publisher.sent() - sent
        assert sent >= pictures, f"only {sent} pictures were sent: {await publisher.page.evaluate(LIMITS)}"
        found = [cls(sent, old, await receiver.received(), await receiver.page.evaluate("seen")) for receiver, old in zip(receivers, before)]
        for one in found:
            print(f"          {one}", flush=True)
        return found

    def is_whole(self):
        return self.seen["read"] > 0 and self.seen["torn"] == 0 and self.seen["backward"] == 0

    def __str__(self):
        return (f"{self.decoded:.0%} of the pictures decoded, {self.freezes} freezes, {self.concealed:.1%} of the sound made up, "
                f"{self.width} wide, read {self.seen}")


async def beside(browser, router, publisher_path, receiver_path, pictures=PICTURES):
    """What comes over a bad path, and to another receiver of the same publisher whose own path is good: a busy machine freezes both."""
    publisher = await publish(browser, publisher_path)
    return await Watch.over(publisher, await subscribe(browser, receiver_path, "bob"), await subscribe(browser, router, "carol"), pictures=pictures)


# Proves Q6
@test("where 5 % of the packets are lost both ways, at the publisher and at the receiver, Chromium goes on decoding nearly all pictures")
async def five_percent(_):
    async with network() as (router, browser, path):
        watch, good = await beside(browser, router, await path(loss=0.05), await path(loss=0.05))
        assert watch.decoded > 0.7 * good.decoded and watch.concealed < 0.15 and watch.is_whole(), f"{watch}; {good}"


# Proves Q6
@test("where 20 % of the packets are lost, Chromium goes on seeing most pictures and hearing, and no picture is broken")
async def twenty_percent(_):
    async with network() as (router, browser, path):
        # It may rest for some seconds once, until it is known that the loss is not the router's: so it is watched for longer.
        watch, good = await beside(browser, router, router, await path(loss=0.2), pictures=225)
        assert watch.decoded > 0.4 * good.decoded and watch.concealed < 0.3 and watch.is_whole() and good.is_whole(), f"{watch}; {good}"


# Proves Q7
@test("where packets are up to 200 ms late, overtake each other and come twice, Chromium shows every picture whole and in order")
async def jitter(_):
    async with network() as (router, browser, path):
        # A receiver may rest on the low layer for some seconds, which has half the pictures of this noise: so it is watched for longer.
        watch, good = await beside(
            browser, router, await path(jitter=0.02, repetition=0.05), await path(jitter=0.2, repetition=0.05), pictures=300)
        assert watch.decoded > 0.6 * good.decoded and watch.concealed < 0.2 and watch.is_whole() and good.is_whole(), f"{watch}; {good}"


# Proves M12, Q8
@test("a receiver whose path shrinks to 300 kbit/s gets a lower layer and keeps the sound, while another keeps the high layer")
async def narrow(_):
    async with network() as (router, browser, path):
        publisher = await publish(browser, router)
        slow_path = await path()
        slow, fast = await subscribe(browser, slow_path, "slow"), await subscribe(browser, router, "fast")
        for page in (slow, fast):
            await page.until(lambda r: r["video"]["width"] == 640, "the high layer")
        slow_path.back.bits = 300_000
        await slow.until(lambda r: r["video"]["width"] == 320, "the low layer")
        watch, other = await Watch.over(publisher, slow, fast)
        # It may try the high layer again, or go without a picture for a while.
        assert watch.concealed < 0.05 and (watch.width == 320 or watch.decoded < 0.5) and watch.is_whole(), f"{watch}; {other}"
        assert other.width == 640 and other.decoded > 0.7 and other.is_whole(), f"{watch}; {other}"
