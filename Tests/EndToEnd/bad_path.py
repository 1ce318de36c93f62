"""A bad network between one peer and the router, from a seed: what is lost, late, out of order, twice, or too much for it."""
import asyncio
from random import Random

# Of IP and UDP, which a link carries too.
HEADER_BYTES = 28


class Link:
    """One direction. Each chance is of one packet; times are in seconds.

    jitter: each packet is up to so late, whatever the others are, so that they overtake each other. repetition: it comes twice, so far apart at most.
    bits: a second, behind a queue that holds `queue` of them and loses what is too much."""

    def __init__(self, random):
        self.random = random
        self.loss = self.jitter = self.repetition = 0.0
        self.bits, self.queue = None, 0.3
        self.free = 0.0
        self.counts = {"passed": 0, "lost": 0, "twice": 0, "overflowed": 0}

    def carry(self, size, now):
        """When a packet of so many bytes arrives: once, twice or never."""
        if self.random.random() < self.loss:
            self.counts["lost"] += 1
            return []
        if self.bits:
            begin = max(now, self.free)
            if begin - now > self.queue:
                self.counts["overflowed"] += 1
                return []
            self.free = now = begin + 8 * (size + HEADER_BYTES) / self.bits
        copies = 2 if self.random.random() < self.repetition else 1
        self.counts["passed"] += 1
        self.counts["twice"] += copies - 1
        return [now + self.random.uniform(0, self.jitter) for _ in range(copies)]


class BadPath:
    """Stands for the router towards one peer: `answer` is the router's with this path as its only address."""

    @classmethod
    async def start(cls, router, seed, **conditions):
        self = cls()
        self.router, self.peer = router, None
        self.there, self.back = Link(Random(seed)), Link(Random(seed + 1))
        self.change(**conditions)
        self.port = int(router.ask("port"))
        self.inside = await self._open(self._from_peer)
        self.outside = await self._open(self._from_router)
        return self

    def change(self, **conditions):
        """Both directions, from now on."""
        for name, value in conditions.items():
            for link in (self.there, self.back):
                assert hasattr(link, name), name
                setattr(link, name, value)

    def close(self):
        self.inside.close()
        self.outside.close()

    def answer(self, *words):
        lines = self.router.answer(*words).split("\r\n")
        here = self.inside.get_extra_info("sockname")[1]
        lines = [line for line in lines if not (line.startswith("a=candidate") and " tcp " in line)]
        return "\r\n".join(line.replace(f" {self.port} typ", f" {here} typ") for line in lines)

    def __str__(self):
        return f"to the router {self.there.counts}, from it {self.back.counts}"

    async def _open(self, receive):
        class Receiver(asyncio.DatagramProtocol):
            def datagram_received(self, data, address):
                receive(data, address)
        endpoint, _ = await asyncio.get_running_loop().create_datagram_endpoint(Receiver, local_addr=("127.0.0.1", 0))
        return endpoint

    def _from_peer(self, data, address):
        self.peer = address
        self._pass(self.there, data, self.outside, ("127.0.0.1", self.port))

    def _from_router(self, data, _):
        if self.peer:
            self._pass(self.back, data, self.inside, self.peer)

    def _pass(self, link, data, endpoint, address):
        def send():
            if not endpoint.is_closing():
                endpoint.sendto(data, address)
        loop = asyncio.get_running_loop()
        for time in link.carry(len(data), loop.time()):
            if time > loop.time():
                loop.call_at(time, send)
            else:
                send()
