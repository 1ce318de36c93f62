"""The schema check itself: it passes everything through unchanged, and it does find what is wrong."""
import asyncio
import json
import os
import sys
import tempfile

import aiohttp
from aiohttp import web

from harness import test

PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema_proxy.py")
ANSWER = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
SPECIFICATION = {"openapi": "3.1.0", "paths": {
    "/thing/{id}": {"get": {"responses": {"200": {"content": {"application/json": {"schema": ANSWER}}}}}},
    "/thing/special": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}}}},
}}


class Upstream:
    """A server that answers /thing/ID with the JSON it was given for that ID, and /echo with what it is sent."""

    def __init__(self, things):
        self.things = things
        self.released = asyncio.Event()

    async def thing(self, request):
        status, body, kind = self.things[request.match_info["id"]]
        return web.Response(status=status, body=body, content_type=kind, headers={"X-Mine": "kept"})

    async def echo(self, request):
        return web.Response(body=await request.read(), content_type="application/octet-stream")

    async def drip(self, request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first")
        await self.released.wait()
        await response.write(b"second")
        return response

    async def start(self):
        application = web.Application(client_max_size=1 << 30)
        application.router.add_get("/thing/{id}", self.thing)
        application.router.add_post("/echo", self.echo)
        application.router.add_get("/drip", self.drip)
        self.runner = web.AppRunner(application, access_log=None)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{self.runner.addresses[0][1]}"


async def with_proxy(things, talk):
    """(exit code, report, summary) of a proxy through which `talk(session, base, upstream)` has gone."""
    upstream = Upstream(things)
    with tempfile.TemporaryDirectory() as folder:
        spec, report = os.path.join(folder, "spec.json"), os.path.join(folder, "report.json")
        with open(spec, "w") as f:
            json.dump(SPECIFICATION, f)
        address = await upstream.start()
        proxy = await asyncio.create_subprocess_exec(
            sys.executable, PROXY, "--upstream", address, "--spec", spec, "--report", report, stdout=asyncio.subprocess.PIPE)
        try:
            base = (await proxy.stdout.readline()).decode().strip()
            async with aiohttp.ClientSession() as session:
                await talk(session, base, upstream)
        finally:
            proxy.terminate()
            summary = (await proxy.communicate())[0].decode()
            await upstream.runner.cleanup()
        with open(report) as f:
            return proxy.returncode, json.load(f), summary


@test("the schema check accepts what fits and ignores paths the specification does not know")
async def fitting(context):
    things = {"good": (200, b'{"name":"x","more":1}', "application/json"), "special": (200, b"{}", "application/json")}

    async def talk(session, base, upstream):
        for name in things:
            async with session.get(f"{base}/thing/{name}?q=1") as answer:
                assert answer.status == 200 and await answer.read() == things[name][1] and answer.headers["X-Mine"] == "kept"
        async with session.post(base + "/echo", data=b"x") as answer:
            assert answer.status == 200
    code, report, summary = await with_proxy(things, talk)
    assert code == 0 and report["mismatches"] == {}, summary
    assert report["answers"] == {"GET /thing/{id} 200": 1, "GET /thing/special 200": 1}, report


@test("the schema check finds wrong types, missing members, wrong content types, errors without errcode and server errors")
async def unfitting(context):
    things = {"a": (200, b'{"name":1}', "application/json"), "b": (200, b"{}", "application/json"), "c": (200, b'{"name":"x"}', "text/plain"),
              "d": (404, b"{}", "application/json"), "e": (500, b'{"errcode":"M_UNKNOWN"}', "application/json"), "f": (200, b"{", "application/json"),
              "g": (202, b"{}", "application/json"), "h": (404, b'{"errcode":"M_NOT_FOUND"}', "application/json")}

    async def talk(session, base, upstream):
        for name in things:
            async with session.get(f"{base}/thing/{name}") as answer:
                assert answer.status == things[name][0] and await answer.read() == things[name][1]
    code, report, summary = await with_proxy(things, talk)
    found = sorted(entry["path"][-1] for entry in report["mismatches"].values())
    assert code == 1 and found == ["a", "b", "c", "d", "e", "f", "g"], summary


@test("the schema check passes large bodies and slow answers on as they come")
async def passing(context):
    body = os.urandom(9 << 20)

    async def talk(session, base, upstream):
        async with session.post(base + "/echo", data=body) as answer:
            assert await answer.read() == body
        async with session.get(base + "/drip") as answer:
            assert await answer.content.readexactly(5) == b"first"
            upstream.released.set()
            assert await answer.content.read() == b"second"
    code, _, summary = await with_proxy({}, talk)
    assert code == 0, summary
