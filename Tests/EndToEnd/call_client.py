"""The socket of calls, written out: what a client says and hears. Documentation/Decisions/0014-call-sessions.md."""
import asyncio
import json

import aiohttp

from harness import PATIENCE

PATH = "/_martlet/call/v1/socket"


class Refused(Exception):
    """A request was refused; `code` says why."""

    def __init__(self, answer):
        super().__init__(answer)
        self.code = answer["code"]


class Closed(Exception):
    """The server's last word on a socket."""

    def __init__(self, message):
        super().__init__(message)
        self.code = message.get("code")


class CallSocket:
    """A connection of a session. Events wait in `events` until they are asked for."""

    def __init__(self, base):
        self.url = base.replace("http", "ws", 1) + PATH
        self.session = self.socket = None
        self.seq = self.requests = 0
        self.events = []
        self.greeting = None

    @property
    def id(self):
        return self.greeting["connection"]["id"]

    async def open(self):
        self.session = aiohttp.ClientSession()
        self.socket = await self.session.ws_connect(self.url, origin="https://elsewhere.example")
        return self

    async def connect(self, session, token, **members):
        await self.open()
        await self.say(type="connect", session=session, token=token, **members)
        try:
            self.greeting = await self.hear()
        except Closed:
            await self.close()
            raise
        assert self.greeting["type"] == "connected", self.greeting
        return self

    async def resume(self):
        """What the server has repeated since `seq` comes as events."""
        await self.open()
        await self.say(type="resume", connection=self.id, key=self.greeting["key"], seq=self.seq)
        answer = await self.hear()
        assert answer["type"] == "resumed", answer
        return answer["handled"]

    async def say(self, **message):
        await self.socket.send_str(json.dumps(message))

    async def hear(self, seconds=PATIENCE):
        """The next message, its number checked. Raises `Closed`."""
        message = await asyncio.wait_for(self.socket.receive(), seconds)
        if message.type != aiohttp.WSMsgType.TEXT:
            raise Closed({"type": message.type})
        said = json.loads(message.data)
        if said["type"] == "closed":
            raise Closed(said)
        if "seq" in said:
            assert said["seq"] == self.seq + 1, (self.seq, said)
            self.seq += 1
        return said

    async def ask(self, kind, /, **members):
        self.requests += 1
        await self.say(type=kind, id=self.requests, **members)
        while True:
            said = await self.hear()
            if said.get("id") == self.requests:
                if said["type"] == "refused":
                    raise Refused(said)
                return said
            self.events.append(said)

    async def event(self, kind, seconds=PATIENCE):
        """The next event of a kind; those before it are dropped."""
        while True:
            said = self.events.pop(0) if self.events else await self.hear(seconds)
            if said["type"] == kind:
                return said

    async def heard(self):
        """All there is to hear by now: what came before the answer to a request."""
        self.requests += 1
        await self.say(type="nothing", id=self.requests)
        while True:
            said = await self.hear()
            if said.get("id") == self.requests:
                break
            self.events.append(said)
        events, self.events = self.events, []
        return events

    async def break_off(self):
        """As a network does: without a word."""
        self.socket._response.connection.transport.abort()
        await self.session.close()

    async def close(self):
        await self.session.close()
