"""What the web client makes of what our server has beyond the specification: Documentation/Extensions.md."""
import http.server
import json
import threading
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from browser import expect, in_room
from client import User
from harness import test
from server import Server
from test_composer import last

NEEDS_BROWSER = True


# A GIF of one pixel.
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"


class Provider:
    """Has GIFs as GIPHY does: two pages of dancing cats, nothing of anything else, and for "late" no answer but an error."""

    def __init__(self):
        self.asked = []
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.asked.append((self.path, self.client_address[0], self.headers.get("User-Agent", "")))
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                if url.path.endswith(".gif"):
                    return self.answer(200, GIF, "image/gif")
                if query.get("q") == "late":
                    return self.answer(503, b"{}")
                if url.path == "/v1/search" and query["q"] != "cat":
                    return self.answer(200, json.dumps({"data": [], "pagination": {"total_count": 0, "count": 0, "offset": 0}}).encode())
                if url.path in ("/v1/search", "/v1/trending"):
                    start = int(query.get("offset", 0))
                    found = [provider.gif(number) for number in range(start, min(start + 24, 30))]
                    return self.answer(200, json.dumps(
                        {"data": found, "pagination": {"total_count": 30, "count": len(found), "offset": start}}).encode())
                return self.answer(200, json.dumps({"data": provider.gif(int(url.path.rsplit("cat", 1)[1]))}).encode())

            def answer(self, status, body, kind="application/json"):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def gif(self, number):
        def rendition(width, height):
            return {"url": f"{self.base}/cat{number}-{width}.gif", "width": str(width), "height": str(height), "size": str(len(GIF))}

        return {"type": "gif", "id": f"cat{number}", "title": f"Cat {number} dances",
                "images": {"original": rendition(480, 320), "fixed_width_small": rendition(100, 67)}}


@test("GIF search goes through the server, page by page, and tells the provider nothing of the user")
async def _(test):
    test.own_server()
    provider = Provider()
    server = Server(gifs_url=f"{provider.base}/v1", gifs_key="key-of-the-server", gifs_provider="Catalogue",
                    outbound_allowed_networks="127.0.0.0/8").start()
    try:
        alice_user, boris = User(server.base, "alice"), User(server.base, "boris")
        room = alice_user.create_room(name="Cats", preset="private_chat", invite=[boris.user_id])
        boris.join(room)
        there = SimpleNamespace(base=server.base, artifacts=test.artifacts)
        async with in_room(there, room, {"alice": alice_user}, service_workers="block") as alice:
            dialog, asked = alice.dialog, []
            alice.page.on("request", lambda request: asked.append(request.url))
            await alice.page.get_by_role("button", name="Emoji").click()
            await dialog.get_by_role("tab", name="GIFs").click()
            # What many like, before anything is looked for.
            await dialog.get_by_role("button", name="Cat 23 dances").wait_for()
            await dialog.get_by_text("From Catalogue").wait_for()
            # As many as were there before: what was asked for has come, and then it is drawn.
            async with alice.page.expect_response(lambda answer: "martlet.gifs/search" in answer.url and "q=cat" in answer.url):
                await dialog.get_by_label("Search GIFs").fill("cat")
            await expect(dialog.get_by_role("button", name="dances")).to_have_count(24)
            await alice.loaded(dialog.get_by_role("button", name="Cat 0 dances").locator("img")).wait_for()
            await alice.picture("gifs-light")
            await dialog.get_by_role("button", name="Show more").click()
            await expect(dialog.get_by_role("button", name="dances")).to_have_count(30)
            await expect(dialog.get_by_role("button", name="Cat 24 dances")).to_be_focused()
            await dialog.get_by_label("Search GIFs").fill("walrus")
            await dialog.get_by_text("Nothing was found.").wait_for()
            await dialog.get_by_label("Search GIFs").fill("late")
            await dialog.get_by_role("button", name="Try again").wait_for()
            await dialog.get_by_label("Search GIFs").fill("cat")
            await dialog.get_by_role("button", name="Cat 7 dances").click()
            await alice.loaded(alice.page.get_by_role("article").get_by_role("img", name="Cat 7 dances")).wait_for()
            boris.sync_until(lambda answer: "m.image" in str(answer))
            content = last(boris, room)
            assert content["msgtype"] == "m.image" and content["info"]["mimetype"] == "image/gif", content
            assert not any(provider.base in url for url in asked), asked
            assert not any("alice" in " ".join(seen) for seen in provider.asked), provider.asked
    finally:
        server.stop()
