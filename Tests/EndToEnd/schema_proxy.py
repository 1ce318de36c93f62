#!/usr/bin/env python3
"""A reverse proxy that checks every JSON answer of a homeserver against the specification's OpenAPI description.

    schema_proxy.py --upstream http://127.0.0.1:8008… --spec openapi-client-server.json [--port 0] [--report FILE]

Prints the address it listens on. Bodies of any kind are passed through as they come, in both directions; JSON answers are kept as
well and checked when they are complete. On SIGTERM it writes the report (JSON: how many answers of each operation, every kind of
mismatch with one example) and prints a summary; it exits 1 when there was a mismatch. WebSocket upgrades are not passed through.
Of several upstreams, which are nodes of one homeserver, each request goes to the next.
`PUT /.schema-check/test` with a sentence says which test is running; the report names the tests of each operation.
"""
import argparse
import asyncio
import itertools
import json
import signal
import sys

import aiohttp
from aiohttp import web
from yarl import URL

from schema_check import Checker, Specification

CHECKED_BYTES_LIMIT = 64 << 20
PIECE_BYTES = 64 << 10
# Headers about one connection, not about the message (RFC 9110 §7.6.1), and those that aiohttp writes itself.
CONNECTION_HEADERS = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Proxy:
    def __init__(self, upstreams, checker):
        self.upstreams, self.checker, self.test = itertools.cycle(upstream.rstrip("/") for upstream in upstreams), checker, None
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"), cookie_jar=aiohttp.DummyCookieJar())

    async def name_test(self, request):
        self.test = await request.text()
        return web.json_response({})

    async def handle(self, request):
        test = self.test
        url = URL(next(self.upstreams) + request.raw_path, encoded=True)
        headers = [(name, value) for name, value in request.headers.items()
                   if name.lower() not in CONNECTION_HEADERS | {"host", "expect", "accept-encoding", "content-length"}]
        if request.content_length is not None:
            headers.append(("Content-Length", str(request.content_length)))
        body = request.content.iter_chunked(PIECE_BYTES) if request.body_exists else None
        try:
            async with self.session.request(request.method, url, headers=headers, data=body, allow_redirects=False) as answer:
                return await self.pass_on(request, answer, test)
        except aiohttp.ClientConnectionError as error:
            return web.json_response({"errcode": "M_UNKNOWN", "error": f"schema proxy: {error}"}, status=502)

    async def pass_on(self, request, answer, test):
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        response.headers.popall("Content-Type", None)
        for name, value in answer.headers.items():
            if name.lower() not in CONNECTION_HEADERS:
                response.headers.add(name, value)
        await response.prepare(request)
        is_json = answer.content_type == "application/json"
        kept = bytearray()
        async for piece in answer.content.iter_chunked(PIECE_BYTES):
            if is_json and len(kept) <= CHECKED_BYTES_LIMIT:
                kept += piece
            await response.write(piece)
        await response.write_eof()
        if request.method not in ("HEAD", "OPTIONS") and len(kept) <= CHECKED_BYTES_LIMIT:
            path = URL(request.raw_path, encoded=True).raw_path
            self.checker.check(request.method, path, answer.status, answer.content_type, bytes(kept), test)
        return response


async def serve(options):
    with open(options.spec, encoding="utf-8") as f:
        checker = Checker(Specification(json.load(f)))
    proxy = Proxy(options.upstream, checker)
    application = web.Application(client_max_size=1 << 40)
    application.router.add_put("/.schema-check/test", proxy.name_test)
    application.router.add_route("*", "/{path:.*}", proxy.handle)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port)
    await site.start()
    print(f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}", flush=True)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    await proxy.session.close()
    await runner.cleanup()
    if options.report:
        with open(options.report, "w", encoding="utf-8") as f:
            json.dump(checker.report(), f, indent=1, ensure_ascii=False)
    print(checker.summary(), flush=True)
    return 1 if checker.mismatches else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", required=True, nargs="+")
    parser.add_argument("--spec", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--report")
    sys.exit(asyncio.run(serve(parser.parse_args())))


if __name__ == "__main__":
    main()
