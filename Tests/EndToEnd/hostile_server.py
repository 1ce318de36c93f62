"""A homeserver that lies: a proxy before the real one, which changes its JSON answers as a test says."""
import json
import re

import aiohttp
from aiohttp import web
from yarl import URL

# Headers about one connection (RFC 9110 §7.6.1), and those that aiohttp writes itself.
CONNECTION_HEADERS = {"connection", "keep-alive", "transfer-encoding", "upgrade", "content-length", "content-encoding", "host", "accept-encoding"}


class HostileServer:
    """`base` is where a client connects.

    - lies: pairs of a pattern that a path has to contain and a function, which takes the answer and returns what the client gets.
    - questions: the same of the bodies of requests, before the real server has them.
    - files: pairs of a pattern and the bytes that stand for what the real server has.
    - poured: the number of answers with such bytes that are over, because the client has them or wants no more.
    - heard: the requests so far: method, path, body."""

    def __init__(self, upstream):
        self.upstream, self.lies, self.questions, self.files, self.heard = upstream, [], [], [], []
        self.poured = 0

    def lie(self, pattern, change):
        """Returns the lie, for `believe`."""
        self.lies.append((re.compile(pattern), change))
        return self.lies[-1]

    def believe(self, lie):
        self.lies.remove(lie)

    def give(self, pattern, content):
        """Likewise, with bytes in place of a file."""
        self.files.append((re.compile(pattern), content))

    async def __aenter__(self):
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar())
        application = web.Application(client_max_size=1 << 30)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self.runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        self.base = f"http://127.0.0.1:{self.runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_):
        await self.runner.cleanup()
        await self.session.close()

    async def _handle(self, request):
        body = await request.read()
        self.heard.append((request.method, request.path, body))
        headers = {name: value for name, value in request.headers.items() if name.lower() not in CONNECTION_HEADERS}
        for pattern, content in self.files:
            if pattern.search(request.path):
                return await self._pour(request, content)
        for pattern, change in self.questions:
            if re.search(pattern, request.path):
                body = json.dumps(change(json.loads(body))).encode()
        url = URL(self.upstream + request.raw_path, encoded=True)
        try:
            async with self.session.request(request.method, url, headers=headers, data=body or None, allow_redirects=False) as answer:
                content = await answer.read()
                status, kept = answer.status, {name: value for name, value in answer.headers.items() if name.lower() not in CONNECTION_HEADERS}
        except aiohttp.ClientConnectionError:
            return web.Response(status=502)
        if status == 200 and answer.content_type == "application/json":
            told = json.loads(content)
            for pattern, change in list(self.lies):
                if pattern.search(request.path):
                    told = change(told)
            content = json.dumps(told).encode()
        return web.Response(status=status, body=content, headers=kept)

    async def _pour(self, request, content):
        answer = web.StreamResponse(headers={"Content-Length": str(len(content))})
        try:
            await answer.prepare(request)
            for start in range(0, len(content), 1 << 20):
                await answer.write(content[start:start + (1 << 20)])
        except ConnectionError:
            pass
        finally:
            self.poured += 1
        return answer


def rooms_of(sync):
    """Pairs of a room and its part of an answer, of both kinds of sync."""
    rooms = sync.get("rooms", {})
    return list((rooms["join"] if "join" in rooms else rooms).items()) if isinstance(rooms, dict) else []


def timeline_of(part):
    """The list of events, which can be changed."""
    timeline = part.setdefault("timeline", [])
    return timeline if isinstance(timeline, list) else timeline.setdefault("events", [])


def to_device_of(sync):
    """Likewise, of messages between devices."""
    place = sync.get("extensions", sync)
    return place.setdefault("to_device", {}).setdefault("events", [])
