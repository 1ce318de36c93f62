"""The network is gone in the middle of what people do: the page says so in a sentence, keeps what was typed, and does it when asked again."""
import asyncio
import copy
import re
from types import SimpleNamespace

from accessibility import check
from browser import MAY_CALL, expect, in_room, open_settings, people
from client import PASSWORD, User, fresh
from harness import test
from lossy_link import LossyLink
from test_composer import two_in
from test_invites import LINKS

NEEDS_BROWSER = True
SILENT = "The server does not answer."
# Takes the program of calls out of what the service worker keeps; whether its files were there.
TAKE_CALLS = """async () => {
  const cache = await caches.open('martlet-shell');
  return Promise.all(['RoomCalls.wasm', 'RoomCalls.css'].map(file => cache.delete(file)));
}"""


async def fill_in(person, name):
    """The form of the sign-in page that is shown."""
    await person.page.get_by_label("User name", exact=True).locator("visible=true").fill(name)
    await person.page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)


@test("signing in without a network says so, keeps what was typed, and works when pressed again")
async def _(test):
    user = User(test.base, "alice")
    async with people(test, "alice", fresh=True) as alice:
        page = alice.page
        await page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await fill_in(alice, user.user_id)
        await alice.go_offline()
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_text(SILENT).wait_for()
        await alice.picture("sign-in-offline")
        await expect(page.get_by_label("User name", exact=True).locator("visible=true")).to_have_value(user.user_id)
        await alice.context.set_offline(False)
        await page.get_by_role("button", name="Sign in").click()
        await alice.signed_in()


@test("creating an account without a network says so, keeps what was typed, and works when pressed again")
async def _(test):
    name = fresh("nora")
    async with people(test, "nora", fresh=True) as nora:
        page = nora.page
        await page.get_by_role("tab", name="Create account").click()
        await fill_in(nora, name)
        await nora.go_offline()
        await page.get_by_role("button", name="Create account").click()
        await page.get_by_text(SILENT).wait_for()
        await expect(page.get_by_label("User name", exact=True).locator("visible=true")).to_have_value(name)
        await nora.context.set_offline(False)
        await page.get_by_role("button", name="Create account").click()
        await nora.skip_first_step()
        await nora.signed_in()


@test("what could not be fetched behind the first screen is fetched later: gestures, and the service worker with its copy of the page")
async def _(test):
    link = await LossyLink(test.base).start()
    try:
        # The icon is fetched by the service worker alone.
        for path in ("/gestures.js", "/sw.js", "/icon-192.png"):
            link.refused.add(path)
        async with people(SimpleNamespace(base=link.base, artifacts=test.artifacts), "alice", fresh=True) as alice:
            while link.refused:
                await asyncio.sleep(0.05)
                link.refused -= link.were_refused
            await alice.page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
            assert await alice.page.evaluate("caches.match('icon-192.png').then(found => found !== undefined)")
    finally:
        await link.close()


@test("a link to an address of a room stays without a network: it is followed once that is back, or when tried again")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    names = [fresh("orchard"), fresh("meadow")]
    aliases = [f"#{name}:{boris.user_id.split(':', 1)[1]}" for name in names]
    for name in names:
        boris.create_room(name=name, preset="public_chat", room_alias_name=name)
    async with people(test, "alice") as one:
        await one.sign_in(alice)
        go = "alias => { location.hash = 'room/' + encodeURIComponent(alias); }"
        await one.go_offline()
        await one.page.evaluate(go, aliases[0])
        await one.dialog.get_by_text(SILENT).wait_for()
        await one.picture("address-offline")
        await check(one, "an address without a network")
        await one.context.set_offline(False)
        await one.page.get_by_role("main").get_by_role("button", name="Join", exact=True).wait_for()
        await expect(one.dialog).to_have_count(0)

        await one.page.route("**/directory/room/**", lambda route: route.abort())
        await one.page.evaluate(go, aliases[1])
        await one.dialog.get_by_text(SILENT).wait_for()
        await one.dialog.get_by_role("button", name="Try again").click()
        await one.dialog.get_by_text(SILENT).wait_for()
        await one.page.unroute_all()
        await one.dialog.get_by_role("button", name="Try again").click()
        await one.heading(names[1]).wait_for()
        await expect(one.dialog).to_have_count(0)


@test("an invitation without a network says so, keeps who was chosen, and goes out when pressed again")
async def _(test):
    room, users = two_in(test, "Ferry")
    nora = User(test.base, "nora")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await page.get_by_role("button", name="Members and settings").click()
        await alice.members.first.wait_for()
        await alice.details.get_by_role("button", name="Invite").click()
        chosen = alice.dialog.get_by_role("group", name="People").get_by_role("button")
        await alice.dialog.get_by_label("Name, ID or link").press_sequentially(nora.user_id + " ")
        await expect(chosen).to_have_count(1)
        await alice.go_offline()
        await alice.dialog.get_by_role("button", name="Invite", exact=True).click()
        await alice.dialog.get_by_text(SILENT).first.wait_for()
        await alice.picture("invite-offline")
        await expect(chosen).to_have_count(1)
        await alice.context.set_offline(False)
        await alice.dialog.get_by_role("button", name="Invite", exact=True).click()
        await alice.dialog.wait_for(state="detached")
        assert room in nora.sync()["rooms"]["invite"]


@test("an invite link without a network says so before and after signing in, and leads there when asked again")
async def _(test):
    inviter, nora = User(test.base, "boris"), User(test.base, "nora")
    room = inviter.create_room(name="Orchard", preset="private_chat")
    link = inviter.request("POST", LINKS, {"room_id": room}).ok()["token"]
    async with people(test, "nora", fresh=True) as nora_here:
        page = nora_here.page
        await page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await nora_here.go_offline()
        await page.evaluate("token => { location.hash = '/join/' + token; }", link)
        again = page.get_by_role("button", name="Try again")
        await again.wait_for()
        await page.get_by_text(SILENT).wait_for()
        await nora_here.picture("link-offline")
        await nora_here.context.set_offline(False)
        await again.click()
        await page.get_by_role("heading", name="Orchard").wait_for()

        # The link was read; the network goes before it leads there.
        await page.route("**/martlet.invite_links/**", lambda route: route.abort())
        await page.get_by_role("tab", name="Sign in").click()
        await nora_here.sign_in_by_typing(nora)
        await nora_here.dialog.get_by_text(SILENT).wait_for()
        await nora_here.picture("link-offline-signed-in")
        await page.unroute_all()
        await nora_here.dialog.get_by_role("button", name="Try again").click()
        await nora_here.dialog.get_by_role("button", name="Join", exact=True).click()
        await nora_here.heading("Orchard").wait_for()
        assert room in nora.sync()["rooms"]["join"]


@test("a setting without a network says so, and a name that was typed is kept until it is saved")
async def _(test):
    user = User(test.base, "alice")
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        await open_settings(page)
        name = alice.dialog.get_by_label("Display name")
        await name.fill("Alice Ashby")
        await alice.go_offline()
        await alice.dialog.get_by_role("button", name="Save").first.click()
        await page.get_by_text(SILENT).first.wait_for()
        await alice.picture("settings-offline")
        await expect(name).to_have_value("Alice Ashby")
        await alice.dialog.get_by_role("tab", name="Devices").click()
        again = alice.dialog.get_by_role("button", name="Try again").locator("visible=true")
        await again.wait_for()
        await expect(alice.dialog.get_by_text(SILENT).locator("visible=true")).to_have_count(1)
        await alice.picture("devices-offline")
        await alice.context.set_offline(False)
        await again.click()
        await alice.dialog.get_by_role("list", name="Devices").get_by_role("listitem").first.wait_for()
        await expect(again).to_have_count(0)
        await alice.dialog.get_by_role("tab", name="Profile").click()
        await alice.dialog.get_by_role("button", name="Save").first.click()
        # The button is free again once the server has answered.
        await expect(alice.dialog.get_by_role("button", name="Save").first).to_be_enabled()
        await expect(page.get_by_text(SILENT).locator("visible=true")).to_have_count(0)
        assert user.get(f"profile/{user.user_id}/displayname").ok()["displayname"] == "Alice Ashby"


@test("a search in a room without a network says so, keeps its words, and finds when asked again")
async def _(test):
    room, users = two_in(test, "Attic")
    word = fresh("lantern")
    users["boris"].send(room, f"the {word} is here")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.more("Search in this room")
        field = page.get_by_label("Search for")
        await field.fill(word)
        await alice.go_offline()
        await field.press("Enter")
        beside = page.get_by_role("complementary")
        await beside.get_by_text(SILENT).wait_for()
        await alice.picture("room-search-offline")
        await expect(field).to_have_value(word)
        await alice.context.set_offline(False)
        await beside.get_by_role("button", name="Try again").click()
        await beside.get_by_role("button", name=re.compile(word)).first.wait_for()


@test("an export without a network says so, and goes on when asked again")
async def _(test):
    room, users = two_in(test, "Ledger")
    users["boris"].send(room, "paid in full")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.page.evaluate("delete globalThis.showSaveFilePicker")
        await alice.more("Export chat…")
        await alice.dialog.get_by_role("button", name="Export", exact=True).wait_for()
        await alice.go_offline()
        await alice.dialog.get_by_role("button", name="Export", exact=True).click()
        await alice.dialog.get_by_text(SILENT).wait_for()
        await alice.picture("export-offline")
        await alice.context.set_offline(False)
        async with alice.page.expect_download() as download:
            await alice.dialog.get_by_role("button", name="Try again").click()
        assert (await download.value).suggested_filename.endswith(".html")


@test("the program of calls is kept for the time without a network, and one that cannot be loaded says so and is loaded when a call is begun again")
async def _(test):
    # The check of answers lets no sockets through.
    test = copy.copy(test)
    test.base = test.direct
    room, users = two_in(test, "Bell")
    async with in_room(test, room, {"alice": users["alice"]}, whole=True, **MAY_CALL) as alice:
        page = alice.page
        await page.get_by_role("button", name="Call", exact=True).click()
        begin = alice.preview.get_by_role("button", name=re.compile("^(Start call|Join)$"))
        await begin.wait_for()
        await alice.go_offline()
        kept = await page.evaluate(TAKE_CALLS)
        assert kept == [True, True], kept
        await begin.click()
        await page.get_by_text(SILENT).wait_for()
        await alice.picture("call-offline")
        # The program writes a line about the file.
        alice.troubles.clear()
        await alice.context.set_offline(False)
        await alice.begin_call()
        await page.get_by_role("button", name="Hang up").wait_for()
        # The call server has listed who is there.
        await page.get_by_text("1 person ·").wait_for()
        await page.get_by_role("button", name="Hang up").click()

        # It is kept again, and is there in a page that has never had it.
        await alice.until("async () => (await caches.match('RoomCalls.wasm')) && (await caches.match('RoomCalls.css'))")
        await page.reload()
        await page.get_by_role("button", name="Call", exact=True).click()
        await begin.wait_for()
        await alice.go_offline()
        await begin.click()
        await page.get_by_text(SILENT).wait_for()
        await alice.until("() => document.getElementById('RoomCalls').childElementCount > 0")
        await alice.context.set_offline(False)
        await alice.begin_call()
        await page.get_by_role("button", name="Hang up").wait_for()


@test("a chat and a room that are begun without a network say so and keep what was typed; a forwarded message waits and then arrives")
async def _(test):
    room, users = two_in(test, "Harbour")
    quay, nora = users["alice"].create_room(name="Quay"), User(test.base, "nora")
    users["boris"].send(room, "the tide is high")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.entry("Quay").wait_for()
        # The parts of the program that dialogs need are there by then.
        await page.get_by_role("button", name="New conversation").first.click()
        await alice.dialog.get_by_role("combobox", name="Name, ID or link").wait_for()
        await page.keyboard.press("Escape")
        await alice.go_offline()
        await alice.message_menu("the tide is high", "Forward…")
        await alice.dialog.get_by_label("Quay").check()
        await alice.dialog.get_by_role("button", name="Forward", exact=True).click()
        await alice.dialog.wait_for(state="detached")

        await page.get_by_role("button", name="New conversation").first.click()
        person = alice.dialog.get_by_role("combobox", name="Name, ID or link")
        await person.fill(nora.user_id)
        await alice.dialog.get_by_role("button", name="Start chat").click()
        await alice.dialog.get_by_text(SILENT).first.wait_for()
        await expect(person).to_have_value(nora.user_id)
        await alice.dialog.get_by_role("tab", name="New room").click()
        name = alice.dialog.get_by_label("Room name")
        await name.fill("Lighthouse")
        await alice.dialog.get_by_role("button", name="Create room").click()
        await alice.dialog.get_by_text(SILENT).first.wait_for()
        await alice.context.set_offline(False)
        await expect(name).to_have_value("Lighthouse")
        await alice.dialog.get_by_role("button", name="Create room").click()
        await alice.heading("Lighthouse").wait_for()
        await alice.open_room(quay)
        await alice.sees("the tide is high")
        await page.get_by_role("button", name="New conversation").first.click()
        await alice.dialog.get_by_role("combobox", name="Name, ID or link").fill(nora.user_id)
        await alice.dialog.get_by_role("button", name="Start chat").click()
        await alice.dialog.wait_for(state="detached")
        assert nora.sync()["rooms"]["invite"]
