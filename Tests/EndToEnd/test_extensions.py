"""What the web client makes of what our server has beyond the specification: Documentation/Extensions.md."""
import asyncio
import http.server
import json
import re
import threading
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from browser import PHONE, expect, in_room, people
from client import User, fresh, room_path
from harness import test
from server import Server
from test_browser import picture, upload
from test_chatting import account_data
from test_composer import Recorder, choose, last, two_in
from test_settings import details, more_settings, no_dialog, settings

NEEDS_BROWSER = True


@test("many conversations are left with one request; how far it is is told, and what could not be left is named")
async def _(test):
    user = User(test.base, "alice")
    rooms = {f"Stall {number}": user.create_room(name=f"Stall {number}") for number in range(25)}
    async with people(test, "alice", service_workers="block") as alice:
        page, asked, may_go = alice.page, [], asyncio.Event()
        page.on("request", lambda request: asked.append(request.url) if "/leave" in request.url else None)

        async def hold(route):
            await may_go.wait()
            answer = await route.fetch()
            job = await answer.json()
            if job["state"] == "finished":
                job["errors"] = {rooms["Stall 7"]: {"errcode": "M_FORBIDDEN", "error": "no"}}
            await route.fulfill(response=answer, json=job)

        await page.route(re.compile(r"martlet\.bulk/(?!leave)"), hold)
        await alice.sign_in(user)
        await expect(alice.rooms.get_by_role("listitem")).to_have_count(25)
        await alice.entry("Stall 3").click(button="right")
        await alice.choose("Choose several conversations")
        await alice.dialog.get_by_label("All conversations").check()
        await alice.dialog.get_by_role("button", name="Leave room").click()
        await page.get_by_role("dialog", name="Leave 25 rooms?").get_by_role("button", name="Leave room").click()
        leaving = page.get_by_role("dialog", name="Leaving…")
        await leaving.get_by_role("status").get_by_text(re.compile("^[0-9]+ of 25$")).wait_for()
        bar = leaving.get_by_role("progressbar", name="Leaving…")
        assert await bar.get_attribute("max") == "25" and float(await bar.get_attribute("value")) <= 25
        await alice.picture("leaving-light")
        await page.set_viewport_size(PHONE)
        await alice.picture("leaving-phone")
        may_go.set()
        await leaving.get_by_role("alert").get_by_text("Stall 7 was not left: ").wait_for()
        await expect(leaving.get_by_role("alert").get_by_text("was not left")).to_have_count(1)
        await expect(bar).to_be_hidden()
        await leaving.get_by_role("button", name="Close").click()
        await page.get_by_role("heading", name="No conversations yet").wait_for()
        assert not user.get("joined_rooms").ok()["joined_rooms"]
        assert len(asked) == 1 and "martlet.bulk/leave" in asked[0], asked


@test("a slow room says how often one may write; what comes too early waits and goes out by itself; who may end it is free of it")
async def _(test):
    owner, member = User(test.base, "alice"), User(test.base, "boris")
    room = owner.create_room(name="Snails", preset="public_chat")
    member.join(room)
    slow = lambda: owner.get(room_path(room, "state", "martlet.slow_mode")).ok()
    async with people(test, "alice", "boris") as (alice, boris):
        for person, user in ((alice, owner), (boris, member)):
            await person.sign_in(user)
            await details(person, room)
        dialog = await more_settings(alice, "Advanced")
        choice = dialog.get_by_label("Time between two messages of a member")
        await choice.select_option("30 s")
        note = boris.page.get_by_role("status").get_by_text("One message every 30 s", exact=True)
        await note.wait_for()
        assert slow() == {"interval_ms": 30_000}
        await alice.picture("slow-mode-settings-light")
        await boris.picture("slow-mode-composer-light")
        seen = await more_settings(boris, "Advanced")
        await seen.get_by_text("30 s", exact=True).wait_for()
        assert await seen.get_by_label("Time between two messages of a member").count() == 0
        await no_dialog(boris)

        # Another time than those that are offered: long enough for the second message to be too early.
        owner.state(room, "martlet.slow_mode", {"interval_ms": 5000}).ok()
        await boris.page.get_by_text("One message every 5 s", exact=True).wait_for()
        await expect(choice).to_have_value("5000")
        await boris.page.set_viewport_size(PHONE)
        await boris.open_room(room)
        await boris.picture("slow-mode-phone")
        await boris.write("step one")
        await boris.write("step two")
        held = boris.message("step two").get_by_text(re.compile(r"This one goes out at \d"))
        await held.wait_for()
        await boris.picture("slow-mode-held-phone")
        owner.sync_until(lambda answer: "step two" in str(answer))
        await expect(held).to_have_count(0)

        await no_dialog(alice)
        for text in ("hare one", "hare two"):
            await alice.write(text)
        for text in ("hare one", "hare two"):
            await alice.message(re.compile(f"(Sent|Delivered|Read).*{text}")).wait_for()
        await expect(alice.page.get_by_text("One message every")).to_have_count(0)
        dialog = await more_settings(alice, "Advanced")
        await choice.select_option("None")
        await expect(boris.page.get_by_text("One message every")).to_have_count(0)


@test("who takes no invitations from whom a room bans gets none of them, and gets them again afterwards")
async def _(test):
    keeper, friend, spammer, user = (User(test.base, name) for name in ("keeper", "friend", "spammer", "alice"))
    bans = keeper.create_room(name="Bans", preset="public_chat")
    rule = {"entity": spammer.user_id, "recommendation": "m.ban", "reason": "slugs"}
    keeper.state(bans, "m.policy.rule.user", rule, key="rule").ok()
    user.join(bans)
    lists = lambda: user.get(account_data(user, "martlet.policy_lists")).ok()
    invite = lambda who, name: who.post(room_path(who.create_room(name=name), "invite"), {"user_id": user.user_id})
    async with people(test, "alice") as alice:
        await alice.sign_in(user)
        await details(alice, bans)
        dialog = await more_settings(alice, "Advanced")
        choice = dialog.get_by_label("A policy list: no invitations from those whom its rules ban")
        saved = lambda: alice.page.expect_response(lambda answer: "martlet.policy_lists" in answer.url and answer.request.method == "PUT")
        async with saved():
            await choice.select_option("Yes")
        assert lists() == {"rooms": [bans]}
        await alice.picture("policy-list-light")
        await no_dialog(alice)
        assert invite(spammer, "Cheap slugs").status == 403
        invite(friend, "Tea").ok()
        await alice.entry("Tea").wait_for()
        await expect(alice.entry("Cheap slugs")).to_have_count(0)

        # The dialog asks anew what holds.
        dialog = await more_settings(alice, "Advanced")
        await expect(choice.locator("option:checked")).to_have_text("Yes")
        async with saved():
            await choice.select_option("No")
        assert lists() == {"rooms": []}
        await no_dialog(alice)
        invite(spammer, "Cheaper slugs").ok()
        await alice.entry("Cheaper slugs").wait_for()


@test("all people of a server stand there before a name is written, page by page as one scrolls or asks; a click starts a chat")
async def _(test):
    test.own_server()
    server = Server().start()
    try:
        users = [User(server.base, f"u{number:02}") for number in range(46)]
        known = sorted(user.user_id for user in users[1:])
        async with people(SimpleNamespace(base=server.base, artifacts=test.artifacts), "alice", service_workers="block") as alice:
            page = alice.page
            # A server of some hundred people is one of some dozen with shorter pages.
            shorten = lambda route: route.continue_(url=route.request.url.replace("limit=50", "limit=20"))
            await page.route("**/martlet.paging/users*", shorten)
            await alice.sign_in(users[0])
            await alice.rooms.get_by_role("button", name="New conversation").first.click()
            dialog = alice.dialog
            lines = dialog.get_by_role("list", name="People").get_by_role("button")
            more = dialog.get_by_role("button", name="Show more")
            await more.wait_for()
            first = await lines.count()
            assert 19 <= first <= 20, first
            await alice.picture("all-people-light")
            for count in (first + 20, 45):
                await lines.last.scroll_into_view_if_needed()
                await expect(lines).to_have_count(count)
            await expect(more).to_be_hidden()
            # Each once, and not oneself.
            texts = sorted(await lines.all_text_contents())
            assert [text[text.index("@"):] for text in texts] == known, texts
            await dialog.get_by_label("User ID").fill("@u")
            await expect(lines.first).to_be_hidden()
            await dialog.get_by_label("User ID").fill("")
            await page.set_viewport_size(PHONE)
            assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            await alice.picture("all-people-phone")
            await lines.filter(has_text=users[7].user_id).click()
            await alice.composer.wait_for()
            assert users[7].user_id in str(users[0].get(account_data(users[0], "m.direct")).ok())
    finally:
        server.close()


@test("a member is muted by their role, sees that they may not write, and speaks again when that is over")
async def _(test):
    room, users = two_in(test, "Library")
    async with in_room(test, room, users) as (alice, boris):
        await boris.write("loud words")
        await alice.sees("loud words")
        await details(alice, room)
        await alice.members.filter(has_text=users["boris"].user_id).click()
        role = alice.dialog.get_by_label("Role")
        await role.select_option("Muted")
        await boris.page.get_by_text("You may not write in this room.").wait_for()
        await expect(boris.composer).to_be_hidden()
        assert users["alice"].get(room_path(room, "state", "m.room.power_levels", "")).ok()["users"][users["boris"].user_id] == -1
        users["boris"].put(room_path(room, "send", "m.room.message", fresh("t")), {"msgtype": "m.text", "body": "x"}).fails(403, "M_FORBIDDEN")
        await no_dialog(alice)
        await expect(alice.members.filter(has_text=users["boris"].user_id)).to_contain_text("Muted")
        await alice.members.filter(has_text=users["boris"].user_id).click()
        await alice.picture("muted-member-light")
        await role.select_option("Member")
        await boris.write("thank you")
        await no_dialog(alice)
        await expect(alice.members.filter(has_text=users["boris"].user_id)).not_to_contain_text("Muted")
        await alice.open_room(room)
        await alice.sees("thank you")


@test("files and voice messages go out without a notification where that is chosen; a message's information says so")
async def _(test):
    room, users = two_in(test, "Reading room")
    async with in_room(test, room, users, service_workers="block", whole=True) as (alice, boris):
        dialog = alice.dialog
        for words, is_silent in (("a quiet owl", True), ("a loud owl", False)):
            async with alice.page.expect_file_chooser() as chooser:
                await alice.page.get_by_role("button", name="Attach a file").click()
            await (await chooser.value).set_files({"name": "owl.png", "mimeType": "image/png", "buffer": picture(60, 40)})
            await dialog.get_by_label("Caption").fill(words)
            if is_silent:
                await dialog.get_by_label("Send without a notification").check()
                await alice.picture("silent-files-light")
            await dialog.get_by_role("button", name="Send").click()
            await boris.sees(words)
            assert last(users["boris"], room).get("martlet.silent", False) == is_silent
            await boris.message_menu(words, "Message info")
            await boris.dialog.get_by_text("Event ID").wait_for()
            await expect(boris.dialog.get_by_text("Sent without a notification")).to_have_count(int(is_silent))
            await no_dialog(boris)
        # One of several can be left out.
        async with alice.page.expect_file_chooser() as chooser:
            await alice.page.get_by_role("button", name="Attach a file").click()
        files = [{"name": f"{name}.txt", "mimeType": "text/plain", "buffer": name.encode()} for name in ("list", "secret")]
        await (await chooser.value).set_files([*files, {"name": "cat.png", "mimeType": "image/png", "buffer": picture(60, 40)}])
        await alice.picture("files-to-send-light")
        await dialog.get_by_role("button", name="Remove cat.png").click()
        await dialog.get_by_role("button", name="Remove secret.txt").click()
        await expect(dialog.get_by_role("button", name="Remove")).to_have_count(0)
        await expect(dialog.get_by_label("Caption")).to_be_focused()
        await dialog.get_by_role("button", name="Send").click()
        await boris.page.get_by_role("article").filter(has_text="list.txt").wait_for()
        assert last(users["boris"], room)["msgtype"] == "m.file"
        await alice.context.grant_permissions(["microphone"])
        await alice.page.get_by_role("button", name="Voice message").click()
        recorder = Recorder(alice)
        await recorder.hears(5)
        await recorder.group.get_by_role("button", name="Stop").click()
        await recorder.group.get_by_role("button", name="Send").click(button="right")
        await alice.choose("Send without a notification")
        await boris.page.get_by_role("button", name="Play").wait_for()
        content = last(users["boris"], room)
        assert content["martlet.silent"] is True and "org.matrix.msc3245.voice" in content, content


@test("polls, places and stickers go out without a notification where that is ticked")
async def _(test):
    room, users = two_in(test, "Nursery")
    owl = upload(users["boris"], picture(120, 90), "owl.png", "image/png")
    pack = {"pack": {"display_name": "Birds"}, "images": {"owl": {"url": owl, "body": "An owl", "usage": ["sticker"]}}}
    users["alice"].state(room, "im.ponies.room_emotes", pack, "birds").ok()
    silent = "Send without a notification"
    async with in_room(test, room, users) as (alice, boris):
        dialog = alice.dialog
        await choose(alice, "Poll")
        await dialog.get_by_label("Question").fill("What shall we sow?")
        await dialog.get_by_label("Answer 1").fill("Beans")
        await dialog.get_by_label("Answer 2").fill("Peas")
        await dialog.get_by_label(silent).check()
        await dialog.get_by_role("button", name="Send").click()
        await boris.page.get_by_role("group", name="What shall we sow?").wait_for()
        assert last(users["boris"], room, "org.matrix.msc3381.poll.start")["martlet.silent"] is True
        await alice.context.grant_permissions(["geolocation"])
        await alice.context.set_geolocation({"latitude": 52.5163, "longitude": 13.3777, "accuracy": 20})
        await choose(alice, "Where I am")
        await dialog.get_by_text("52.51630").wait_for()
        await dialog.get_by_label(silent).check()
        await dialog.get_by_role("button", name="Send").click()
        await boris.message("I am here").get_by_role("button", name="I am here").wait_for()
        assert last(users["boris"], room)["martlet.silent"] is True
        for is_silent in (True, False):
            await alice.page.get_by_role("button", name="Emoji").click()
            await dialog.get_by_role("tab", name="Stickers").click()
            await dialog.get_by_role("heading", name="Birds").wait_for()
            if is_silent:
                await dialog.get_by_label(silent).check()
                await alice.picture("silent-stickers-light")
            await dialog.get_by_role("button", name="An owl").click()
            await expect(boris.page.get_by_role("img", name="An owl")).to_have_count(1 if is_silent else 2)
            assert last(users["boris"], room, "m.sticker").get("martlet.silent", False) == is_silent


@test("of what is deleted for everyone a line stays, or none where one wants none, at once and after a restart")
async def _(test):
    room, users = two_in(test, "Archive")
    async with people(test, "alice") as alice:
        await alice.sign_in(users["alice"])
        sent = [users["boris"].send(room, f"page {number}") for number in range(4)]
        await alice.open_room(room)
        await alice.sees("page 3")
        users["boris"].put(room_path(room, "redact", sent[1], fresh("t")), {}).ok()
        line = alice.message("Message deleted")
        await expect(line).to_have_count(1)
        await settings(alice, "Appearance")
        box = alice.dialog.get_by_label("Show deleted messages")
        await expect(box).to_be_checked()
        await box.uncheck()
        await expect(line).to_have_count(0)
        await alice.picture("settings-appearance-light")
        await no_dialog(alice)
        users["boris"].put(room_path(room, "redact", sent[3], fresh("t")), {}).ok()
        await expect(alice.message("page 3")).to_have_count(0)
        await alice.page.reload()
        await alice.sees("page 2")
        assert await line.count() == 0
        await settings(alice, "Appearance")
        await box.check()
        await expect(line).to_have_count(2)


@test("the details of a room say how much was said since one joined it")
async def _(test):
    room, users = two_in(test, "Tavern")
    for number in range(3):
        users["alice"].send(room, f"tale {number}")
    carla = User(test.base, "carla")
    users["alice"].post(room_path(room, "invite"), {"user_id": carla.user_id}).ok()
    carla.join(room)
    users["alice"].send(room, "one more")
    async with people(test, "alice", "carla") as everybody:
        for person, user, words in zip(everybody, (users["alice"], carla), ("4 messages since you joined", "1 message since you joined")):
            await person.sign_in(user)
            await person.entry("Tavern").wait_for()
            await details(person, room)
            await person.details.get_by_text(words, exact=True).wait_for()
        await everybody[0].picture("since-joined-light")


@test("a room names groups of its members; their name behind @ mentions those who are there; who may not change them sees who is in them")
async def _(test):
    room, users = two_in(test, "Workshop")
    carol, gone = User(test.base, "carol"), User(test.base, "gone")
    for user in (carol, gone):
        users["alice"].post(room_path(room, "invite"), {"user_id": user.user_id}).ok()
        user.join(room)
    named = lambda: users["alice"].get(room_path(room, "state", "martlet.mention_groups")).ok()["groups"]
    async with people(test, "alice", "boris") as (alice, boris):
        for person in (alice, boris):
            await person.sign_in(users[person.name])
            await details(person, room)
        page = alice.page
        dialog = await more_settings(alice, "Groups")
        await dialog.get_by_role("button", name="New group").click()
        editor = page.get_by_role("dialog", name="New group")
        await editor.get_by_label("Name of the group").fill("here")
        chosen = editor.get_by_role("group", name="People").get_by_role("button")
        for count, user in enumerate((users["boris"], gone), 1):
            await editor.get_by_label("Add a member").fill(user.user_id)
            await expect(chosen).to_have_count(count)
        await editor.get_by_role("button", name="Save").click()
        await editor.get_by_text("Use one short word").wait_for()
        await editor.get_by_label("Name of the group").fill("design")
        await alice.picture("group-editor-light")
        await editor.get_by_role("button", name="Save").click()
        group = dialog.get_by_role("listitem").filter(has_text="@design")
        await group.wait_for()
        assert named() == {"design": [users["boris"].user_id, gone.user_id]}, named()
        await group.get_by_role("button", name="Edit: @design").click()
        editor = page.get_by_role("dialog", name="Groups")
        await editor.get_by_label("Add a member").fill(carol.user_id)
        await expect(editor.get_by_role("group", name="People").get_by_role("button")).to_have_count(3)
        await editor.get_by_role("button", name="Save").click()
        await expect(group).to_contain_text("carol")
        await alice.picture("groups-light")
        seen = await more_settings(boris, "Groups")
        await expect(seen.get_by_role("listitem")).to_contain_text("@design")
        await expect(seen.get_by_role("button", name=re.compile("group|@design", re.IGNORECASE))).to_have_count(0)
        gone.post(room_path(room, "leave"), {}).ok()
        await no_dialog(alice)
        await alice.open_room(room)
        await alice.composer.press_sequentially("look, @des")
        await page.get_by_role("option", name="@design").wait_for()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        users["boris"].sync_until(lambda answer: "look, @design" in str(answer))
        assert sorted(last(users["boris"], room)["m.mentions"]["user_ids"]) == sorted([users["boris"].user_id, carol.user_id])
        await details(alice, room)
        dialog = await more_settings(alice, "Groups")
        await dialog.get_by_role("button", name="Remove @design").click()
        await expect(dialog.get_by_role("listitem")).to_have_count(0)
        assert named() == {}, named()


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


@test("GIFs are looked for through the server, page by page, and sent with a click; whoever has them learns nothing of who looks")
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


@test("a picture of a pack is picked among the emoji, found by its name, and stands in the text where the caret was")
async def _(test):
    room, users = two_in(test, "Perch")
    owl = upload(users["boris"], picture(120, 90), "owl.png", "image/png")
    pack = {"pack": {"display_name": "Birds"}, "images": {"barn_owl": {"url": owl}, "wren": {"url": owl}, "big": {"url": owl, "usage": ["sticker"]}}}
    users["alice"].state(room, "im.ponies.room_emotes", pack, "birds").ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        dialog = alice.dialog
        await alice.composer.fill("what an !")
        await alice.composer.press("ArrowLeft")
        await alice.page.get_by_role("button", name="Emoji").click()
        owl_button = dialog.get_by_role("button", name=re.compile("barn_owl"))
        await alice.loaded(owl_button.locator("img")).wait_for()
        await expect(dialog.get_by_role("button", name=re.compile("^:?big"))).to_have_count(0)
        await alice.picture("emoji-of-packs-light")
        await dialog.get_by_label("Search").fill("owl")
        await expect(dialog.get_by_role("button", name=re.compile("wren"))).to_have_count(0)
        await owl_button.click()
        await expect(alice.composer).to_have_value("what an :barn_owl:!")
        await alice.page.keyboard.press("Enter")
        await alice.loaded(alice.page.get_by_role("article").get_by_role("img", name=re.compile("barn_owl"))).wait_for()
        users["boris"].sync_until(lambda answer: "data-mx-emoticon" in str(answer))
        assert "data-mx-emoticon" in last(users["boris"], room)["formatted_body"]
        # Right behind a word it would be none.
        await alice.composer.fill("hello")
        await alice.page.get_by_role("button", name="Emoji").click()
        await owl_button.click()
        await expect(alice.composer).to_have_value("hello :barn_owl:")
