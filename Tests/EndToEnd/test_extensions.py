"""What the web client makes of what our server has beyond the specification: Documentation/Extensions.md."""
import asyncio
import re
from types import SimpleNamespace

from browser import PHONE, expect, people
from client import User, room_path
from harness import test
from server import Server
from test_chatting import account_data
from test_settings import details, more_settings, no_dialog


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
