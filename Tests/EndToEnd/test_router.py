"""The media router between real peers: Chromium and aiortc, each publishing to the other and to its own kind."""
import asyncio
import contextlib
import os
import subprocess
import tempfile

import chromium as browsers
from harness import NotRun, test
from load_peers import Peers, build
from load_peers import sections as media_sections
from router_peers import FLAGS, LAYERS, Page, Peer, Router
from server import newest_build

ALONE = True

# Of the pair that is in use.
PROTOCOL = """async () => {
  const reports = await connection.getStats();
  for (const report of reports.values()) if (report.type === 'transport') {
    return reports.get(reports.get(report.selectedCandidatePairId).remoteCandidateId).protocol;
  }
}"""


def chromium(*flags):
    return browsers.chromium(*FLAGS, *flags)


def is_seen(frames):
    return lambda received: received.get("video", {}).get("frames", 0) >= frames and received.get("audio", {}).get("packets", 0) >= 50


def assert_nothing_lost(received):
    assert all(stream["lost"] == 0 for stream in received.values()), received


# Proves Q1, Q4
@test("Chromium sees and hears Chromium in VP8, two at a time")
async def chromium_vp8(_):
    with Router() as router:
        async with chromium() as browser:
            await (await Page.open(browser)).publish(router, "alice", "VP8")
            pages = [await Page.open(browser) for _ in range(2)]
            for i, page in enumerate(pages):
                await page.subscribe(router, f"bob{i}", "alice")
            for page in pages:
                assert_nothing_lost(await page.until(is_seen(60), "60 frames"))


# Proves M6, Q4
@test("Chromium sees Chromium in H.264")
async def chromium_h264(_):
    with Router() as router:
        async with chromium() as browser:
            await (await Page.open(browser)).publish(router, "alice", "H264")
            page = await Page.open(browser)
            await page.subscribe(router, "bob", "alice")
            assert_nothing_lost(await page.until(is_seen(60), "60 frames"))


async def change_layers(codec, layers):
    """(freezes, packets lost) in each round of changes, until one is without."""
    with Router() as router:
        async with chromium() as browser:
            await (await Page.open(browser)).publish(router, "alice", codec, layers)
            page = await Page.open(browser)
            await page.subscribe(router, "bob", "alice")
            # A busy machine may stall the browser's encoder once; a seam in what the router sends is there in each round.
            rounds, last = [], {"freezes": 0, "lost": 0}
            while len(rounds) < 3 and (0, 0) not in rounds:
                for layer, width in ((0, 320), (1, 640), (2, 1280), (0, 320), (2, 1280)):
                    router.ask("layer", "bob", str(layer), "7")
                    received = await page.until(lambda r: r.get("video", {}).get("width") == width, f"a width of {width}")
                video = received["video"]
                rounds.append((video["freezes"] - last["freezes"], video["lost"] - last["lost"]))
                last = video
            return rounds


# Proves M6, Q5
@test("the layers of a simulcast are changed without a freeze or a lost packet")
async def simulcast(_):
    rounds = await change_layers("VP8", LAYERS)
    assert (0, 0) in rounds, rounds


# Proves M6
@test("the layers of a simulcast in H.264 are changed without a lost packet")
async def simulcast_h264(_):
    # Three encoders of it are too slow for a steady picture where a machine is busy.
    rounds = await change_layers("H264", LAYERS)
    assert any(lost == 0 for _, lost in rounds), rounds


# Proves M7
@test("the spatial layers of VP9 in one stream are changed without a freeze or a lost packet")
async def scalable_vp9(_):
    rounds = await change_layers("VP9", "[{ scalabilityMode: 'L3T3', maxBitrate: 1500000 }]")
    assert (0, 0) in rounds, rounds


# Proves M7
@test("the spatial layers of AV1 in one stream are changed without a lost packet")
async def scalable_av1(_):
    # Its encoder is too slow here for a steady picture.
    rounds = await change_layers("AV1", "[{ scalabilityMode: 'L3T3_KEY', maxBitrate: 1500000 }]")
    assert any(lost == 0 for _, lost in rounds), rounds


# Proves M18
@test("Chromium sees and hears Chromium by TCP, where the answers name no other way")
async def by_tcp(_):
    with Router() as router:
        def answer(*words, ask=router.answer):
            """As a network that blocks UDP has it."""
            lines = ask(*words).split("\r\n")
            assert any(line.startswith("a=candidate") and " tcp " in line for line in lines), lines
            return "\r\n".join(line for line in lines if not (line.startswith("a=candidate") and " udp " in line))
        router.answer = answer
        async with chromium() as browser:
            alice = await Page.open(browser)
            await alice.publish(router, "alice", "VP8")
            page = await Page.open(browser)
            await page.subscribe(router, "bob", "alice")
            assert_nothing_lost(await page.until(is_seen(60), "60 frames"))
            for each in (alice, page):
                assert await each.page.evaluate(PROTOCOL) == "tcp"


class Translator(asyncio.DatagramProtocol):
    """An address translation between a peer and the router, which may forget: from then on the router sees another address."""

    @classmethod
    async def start(cls, port):
        self = cls()
        self.router, self.peer, self.outside = ("127.0.0.1", port), None, None
        loop = asyncio.get_running_loop()
        self.inside, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        await self.forget()
        return self

    async def forget(self):
        translator = self

        class Outside(asyncio.DatagramProtocol):
            def datagram_received(self, data, _):
                if translator.peer:
                    translator.inside.sendto(data, translator.peer)
        if self.outside:
            self.outside.close()
        self.outside, _ = await asyncio.get_running_loop().create_datagram_endpoint(Outside, local_addr=("127.0.0.1", 0))

    def datagram_received(self, data, address):
        self.peer = address
        self.outside.sendto(data, self.router)

    @property
    def port(self):
        return self.inside.get_extra_info("sockname")[1]


@test("Chromium goes on where an address translation forgets it: it answers from the new address, and the flow follows")
async def rebinding(_):
    with Router() as router:
        async with chromium() as browser:
            await (await Page.open(browser)).publish(router, "alice", "VP8")
            port = int(router.ask("port"))
            translator = await Translator.start(port)

            def answer(*words, ask=router.answer):
                lines = ask(*words).split("\r\n")
                lines = [line for line in lines if not (line.startswith("a=candidate") and " tcp " in line)]
                return "\r\n".join(line.replace(f" {port} typ", f" {translator.port} typ") for line in lines)
            router.answer = answer
            page = await Page.open(browser)
            await page.subscribe(router, "bob", "alice")
            for _ in range(3):
                seen = (await page.received()).get("video", {}).get("frames", 0)
                await page.until(is_seen(seen + 60), "60 more frames")
                await translator.forget()


@test("aiortc sees and hears aiortc, and the router hears it leave")
async def aiortc(_):
    with Router() as router:
        alice, bobs = Peer(), [Peer(), Peer()]
        await alice.publish(router, "alice", "VP8")
        for i, bob in enumerate(bobs):
            await bob.subscribe(router, f"bob{i}", "alice", "VP8")
        for bob in bobs:
            await bob.until(video=60, audio=50)
        router.ask("events")
        for peer in (*bobs, alice):
            await peer.close()
        told = ""
        while told.count("goodbye") < 3:
            told += router.ask("events")


# Proves Q2
@test("Chromium sees aiortc, and aiortc Chromium")
async def both(_):
    with Router() as router:
        async with chromium() as browser:
            alice, bob = Peer(), Peer()
            await alice.publish(router, "alice", "VP8")
            page = await Page.open(browser)
            await page.subscribe(router, "carol", "alice")
            await page.until(is_seen(60), "60 frames of aiortc")
            await (await Page.open(browser)).publish(router, "dave", "VP8")
            await bob.subscribe(router, "bob", "dave", "VP8")
            await bob.until(video=60, audio=50)
            await alice.close()
            await bob.close()


@contextlib.contextmanager
def counting_allocations(folder):
    """A router whose threads' allocations are counted; the environment that names the count, and how many there are so far."""
    library, environment = os.path.join(folder, "allocations.so"), {"ALLOCATIONS": os.path.join(folder, "count")}
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocations.c")
    subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", library, source], check=True)

    def made():
        with open(environment["ALLOCATIONS"], "rb") as counted:
            return int.from_bytes(counted.read(), "little")

    with Router({**environment, "LD_PRELOAD": library}) as router:
        yield router, environment, made


async def forward(kilobits, subscribers=20):
    """(packets that arrived, allocations meanwhile) of five seconds in which somebody sends so much to others."""
    with tempfile.TemporaryDirectory(prefix="martlet-allocations-") as folder, counting_allocations(folder) as (router, environment, made):
        peers = Peers(build(folder), "127.0.0.1", 1 + subscribers, kilobits, environment)
        try:
            peers.connect(0, router.answer("publish", "alice", peers.description(0, media_sections("01", "sendonly", (1000, 1001)))), True)
            peers.send(0, 1000, 1001)
            for number in range(1, 1 + subscribers):
                offer = peers.description(number, media_sections("01", "recvonly"))
                peers.connect(number, router.answer("subscribe", f"bob{number}", "alice", offer), True)
            figures = await asyncio.to_thread(peers.measure, router.process.pid, 3, 5)
        finally:
            peers.end()
        print(f"          {kilobits} kbit/s: {figures['received']} packets, {figures['allocations']} allocations; {made()} with all beginnings", flush=True)
        assert figures["starved"] == 0, figures
        # It does count: each handshake alone makes hundreds.
        assert made() - figures["allocations"] > 100 * subscribers, made()
        return figures["received"], figures["allocations"]


# Proves M16
@test("packets are forwarded without an allocation of memory for each: four times as many cost no more")
async def allocations(_):
    # Without optimisation Swift allocates for what is on the stack otherwise.
    if os.path.basename(os.path.dirname(newest_build("router-peer") or "")) != "release":
        raise NotRun("the newest build is not optimised: swift build -c release --product router-peer")
    # What is done at its times, reports and choosing layers, costs the same in both.
    few, many = await forward(300), await forward(3000)
    packets, made = many[0] - few[0], many[1] - few[1]
    assert packets > 20_000, (few, many)
    assert made < packets / 20, (few, many)
