"""The way between one client and the server, which is cut, held up or refused as a test says."""
import asyncio
from urllib.parse import urlsplit

PIECE_BYTES = 16 << 10


class LossyLink:
    """`base` is where the client connects. `losses` counts by kind what befell it; `sent` and `received` the bytes that passed, and at each of
    `cut_received` all connections are cut. A connection that asks for one of the paths `refused` is cut, too; `were_refused` are those."""

    KINDS = ("cut", "midway", "refuse", "stall", "late", "slow")

    def __init__(self, base):
        upstream = urlsplit(base)
        self.upstream = (upstream.hostname, upstream.port)
        self.kind, self.losses = None, {}
        self.open, self.tasks, self.moving = set(), set(), asyncio.Event()
        self.moving.set()
        self.bytes_left, self.pause_seconds = None, 0
        self.sent, self.received, self.cut_received = 0, 0, []
        self.refused, self.were_refused = set(), set()

    async def start(self):
        self.server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def close(self):
        self.server.close()
        self.moving.set()
        self._abort()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    # What befalls it

    def lose(self, kind, random):
        """`cut` and `midway` (after some bytes of the next answers) pass by themselves, the others last until `heal`."""
        self.losses[kind] = self.losses.get(kind, 0) + 1
        if kind == "cut":
            self._abort()
        elif kind == "midway":
            self.bytes_left = random.randrange(600)
        else:
            self.kind = kind
            if kind == "refuse":
                self._abort()
            elif kind == "slow":
                self.pause_seconds = random.uniform(0.02, 0.2)
            else:
                self.moving.clear()

    def heal(self):
        """What was stalled is gone, what was late arrives."""
        if self.kind == "stall":
            self._abort()
        self.kind, self.pause_seconds, self.bytes_left = None, 0, None
        self.moving.set()

    # What passes

    def _connected(self, reader, writer):
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _carry(self, reader, writer):
        if self.kind == "refuse":
            return writer.transport.abort()
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.upstream)
        except OSError:
            return writer.transport.abort()
        ends = (writer.transport, far_writer.transport)
        self.open.add(ends)
        try:
            await asyncio.gather(self._pass(reader, far_writer, ends, False), self._pass(far_reader, writer, ends, True))
        finally:
            self.open.discard(ends)
            for end in ends:
                end.abort()

    async def _pass(self, reader, writer, ends, is_answer):
        try:
            while data := await reader.read(PIECE_BYTES):
                await self.moving.wait()
                if self.pause_seconds:
                    await asyncio.sleep(self.pause_seconds)
                refused = {path for path in self.refused if not is_answer and data.startswith(f"GET {path} ".encode())}
                if refused:
                    self.were_refused |= refused
                    break
                if is_answer and self.bytes_left is not None:
                    data, left = data[:self.bytes_left], self.bytes_left - len(data)
                    self.bytes_left = left if left > 0 else None
                    if left <= 0:
                        writer.write(data)
                        await writer.drain()
                        break
                writer.write(data)
                await writer.drain()
                if is_answer:
                    self.received += len(data)
                else:
                    self.sent += len(data)
                if self.cut_received and self.received >= self.cut_received[0]:
                    self.cut_received.pop(0)
                    self._abort()
        except OSError:
            pass
        # Half a connection is useless.
        for end in ends:
            if is_answer:
                end.close()
            else:
                end.abort()

    def _abort(self):
        for ends in list(self.open):
            for end in ends:
                end.abort()
