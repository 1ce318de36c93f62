#!/usr/bin/env python3
"""A reverse proxy that checks every JSON answer of a homeserver against the specification's OpenAPI description.

    schema_proxy.py --upstream http://127.0.0.1:8008 --spec openapi-client-server.json [--port 0] [--report FILE]

Prints the address it listens on. Bodies of any kind are passed through as they come, in both directions; JSON answers are kept as
well and checked when they are complete. On SIGTERM it writes the report (JSON: how many answers of each operation, every kind of
mismatch with one example) and prints a summary; it exits 1 when there was a mismatch. WebSocket upgrades are not passed through.
"""
import argparse
import asyncio
import json
import re
import signal
import sys

import aiohttp
import jsonschema
from aiohttp import web
from yarl import URL

CHECKED_BYTES_LIMIT = 64 << 20
PIECE_BYTES = 64 << 10
# Headers about one connection, not about the message (RFC 9110 §7.6.1), and those that aiohttp writes itself.
CONNECTION_HEADERS = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Specification:
    """The operations of the description, found by method and path."""

    def __init__(self, document):
        self.operations = []
        for template, item in document["paths"].items():
            pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
            self.operations.append((template.count("{"), template, re.compile(pattern), item))
        self.operations.sort(key=lambda operation: (operation[0], operation[1]))
        self.validators = {}

    def find(self, method, path):
        """The template of the path and the operation, or None twice; the one with the fewest placeholders goes first."""
        for _, template, pattern, item in self.operations:
            if method in item and pattern.fullmatch(path):
                return template, item[method]
        return None, None

    def validator(self, template, method, status, operation):
        """None: the status has no JSON schema."""
        key = (template, method, status)
        if key not in self.validators:
            response = operation.get("responses", {}).get(str(status), {})
            schema = response.get("content", {}).get("application/json", {}).get("schema")
            self.validators[key] = jsonschema.Draft202012Validator(schema) if schema is not None else None
        return self.validators[key]


class Checker:
    """What was seen, and what was wrong with it."""

    def __init__(self, specification):
        self.specification = specification
        self.answers = {}
        self.mismatches = {}

    def check(self, method, path, status, content_type, body):
        template, operation = self.specification.find(method.lower(), path)
        if operation is None:
            return
        name = f"{method} {template} {status}"
        self.answers[name] = self.answers.get(name, 0) + 1
        for what, detail in self.faults(method.lower(), template, status, operation, content_type, body):
            entry = self.mismatches.setdefault(f"{name}: {what}", {"times": 0, "path": path, "detail": detail[:500], "body": body[:800].decode("utf-8", "replace")})
            entry["times"] += 1

    def faults(self, method, template, status, operation, content_type, body):
        if status >= 500:
            yield "a server error", ""
        declares_json = "application/json" in operation.get("responses", {}).get(str(status), {}).get("content", {})
        if status < 400 and not declares_json:
            if str(status) not in operation.get("responses", {}) and status not in (206, 304):
                yield "the specification has no such status here", ""
            return
        if content_type != "application/json":
            yield "the content type is not application/json", content_type
            return
        try:
            value = json.loads(body)
        except ValueError as error:
            yield "the body is not JSON", str(error)
            return
        if status >= 400 and not (isinstance(value, dict) and isinstance(value.get("errcode"), str)) and not (status == 401 and "flows" in value):
            yield "an error without errcode", ""
        validator = self.specification.validator(template, method, status, operation)
        for error in validator.iter_errors(value) if validator else ():
            place = "/".join("*" if isinstance(part, int) or str(part)[:1] in "!$@#%" else str(part) for part in error.absolute_path)
            yield f"{error.validator} at {place or 'the top'}", error.message

    def report(self):
        return {"answers": self.answers, "mismatches": self.mismatches}

    def summary(self):
        operations = {" ".join(name.split(" ")[:2]) for name in self.answers}
        lines = [f"schema check: {sum(self.answers.values())} answers of {len(operations)} operations, {len(self.mismatches)} kinds of mismatch"]
        lines += [f"  {entry['times']} x {name} ({entry['detail'][:160]})" for name, entry in sorted(self.mismatches.items())]
        return "\n".join(lines)


class Proxy:
    def __init__(self, upstream, checker):
        self.upstream, self.checker = upstream.rstrip("/"), checker
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"), cookie_jar=aiohttp.DummyCookieJar())

    async def handle(self, request):
        url = URL(self.upstream + request.raw_path, encoded=True)
        headers = [(name, value) for name, value in request.headers.items()
                   if name.lower() not in CONNECTION_HEADERS | {"host", "expect", "accept-encoding", "content-length"}]
        if request.content_length is not None:
            headers.append(("Content-Length", str(request.content_length)))
        body = request.content.iter_chunked(PIECE_BYTES) if request.body_exists else None
        try:
            async with self.session.request(request.method, url, headers=headers, data=body, allow_redirects=False) as answer:
                return await self.pass_on(request, answer)
        except aiohttp.ClientConnectionError as error:
            return web.json_response({"errcode": "M_UNKNOWN", "error": f"schema proxy: {error}"}, status=502)

    async def pass_on(self, request, answer):
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
            self.checker.check(request.method, URL(request.raw_path, encoded=True).raw_path, answer.status, answer.content_type, bytes(kept))
        return response


async def serve(options):
    with open(options.spec, encoding="utf-8") as f:
        checker = Checker(Specification(json.load(f)))
    proxy = Proxy(options.upstream, checker)
    application = web.Application(client_max_size=1 << 40)
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
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--spec", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--report")
    sys.exit(asyncio.run(serve(parser.parse_args())))


if __name__ == "__main__":
    main()
