"""Exporting a room in the web client: the file that comes out of it, what strangers wrote in it, and what happens if something fails midway."""
import asyncio
import json
import re

from browser import expect, in_room, open_settings, people
from harness import test
from test_browser import post
from test_composer import two_in
from test_flows import Actions

NEEDS_BROWSER = True

# The browser of these tests has no window in which a user could pick a file: what is exported comes as a download.
NO_PICKER = "delete globalThis.showSaveFilePicker"
# The picker gives a file of the page's own, which is written as one on the user's disk is.
OWN_FILE = """globalThis.showSaveFilePicker = async ({ suggestedName }) => {
  const folder = await navigator.storage.getDirectory();
  return folder.getFileHandle(suggestedName, { create: true });
}, 0"""
READ_FILE = "async name => (await (await (await navigator.storage.getDirectory()).getFileHandle(name)).getFile()).text()"
NO_FILE = """globalThis.showSaveFilePicker = async () => {
  throw new DOMException('The user aborted a request.', 'AbortError');
}, 0"""

HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"


async def export(person):
    """Opens the dialog."""
    await person.more("Export chat…")
    await person.dialog.get_by_role("button", name="Export", exact=True).wait_for()


async def saved(download):
    path = await download.value
    with open(await path.path(), encoding="utf-8") as file:
        return path.suggested_filename, file.read()


@test("flows: a chat is exported as a page in three actions; edits, answers and reactions are in it, and nothing in it runs")
async def _(test):
    room, users = two_in(test, "Tea & <cakes>/..")
    boris = users["boris"]
    boris.put(f"profile/{boris.user_id}/displayname", {"displayname": HOSTILE[:60]}).ok()
    first = boris.send(room, "the kettle is on")
    boris.send(room, HOSTILE)
    post(boris, room, {"msgtype": "m.text", "body": "an answer", "m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    post(boris, room, {"m.relates_to": {"rel_type": "m.annotation", "event_id": first, "key": "👍"}}, "m.reaction")
    post(boris, room, {"msgtype": "m.file", "body": "recipe.pdf", "url": "mxc://example.org/recipe", "info": {"size": 2048}})
    # More than a page of the history comes before the edit.
    for number in range(8):
        boris.send(room, f"cup {number}")
    post(boris, room, {"msgtype": "m.text", "body": "* the kettle sings", "m.new_content": {"msgtype": "m.text", "body": "the kettle sings"},
                       "m.relates_to": {"rel_type": "m.replace", "event_id": first}})
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await page.evaluate(NO_PICKER)
        do = Actions(alice)
        await do.press("button", "More about this room")
        await do.press("menuitem", "Export chat…")
        async with page.expect_download() as download:
            await do.press("button", "Export", exact=True)
        name, text = await saved(download)
        await page.get_by_text("Exported").wait_for()
        assert do.count <= 3, do.count
        assert name == "Tea cakes.html", name
        assert "the kettle sings" in text and "the kettle is on" not in text
        assert "👍 1" in text and "cup 7" in text

        # The file as a reader sees it.
        other = await alice.context.new_page()
        asked, troubles = [], []
        other.on("request", lambda request: asked.append(request.url))
        other.on("pageerror", lambda error: troubles.append(str(error)))
        await other.set_content(text)
        assert await other.title() == "Tea & <cakes>/..", await other.title()
        await other.get_by_text("document.title").first.wait_for()
        assert await other.locator("img, script, iframe").count() == 0
        link = other.get_by_role("link", name="recipe.pdf")
        assert (await link.get_attribute("href")).startswith(test.base + "/#room/")
        assert not asked and not troubles, (asked, troubles)
        await other.close()


@test("JSON lines of some days have these events only; a page that fails midway says so, and Try again goes on without a gap")
async def _(test):
    room, users = two_in(test, "Long talk")
    for number in range(30):
        users["boris"].send(room, f"line {number}")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await page.evaluate(NO_PICKER)
        # The network goes behind the first page of ten events.
        fetched = []

        async def answer(route):
            fetched.append(route.request.url)
            if len(fetched) in (2, 3):
                return await route.abort()
            await route.continue_(url=route.request.url.replace("limit=500", "limit=10"))

        await page.route("**/messages?dir=f*", answer)
        await export(alice)
        dialog = page.get_by_role("dialog", name="Export chat")
        await dialog.get_by_label("Format").select_option("JSON Lines, for programs")
        await dialog.get_by_role("button", name="Export", exact=True).click()
        await expect(dialog.get_by_role("alert")).not_to_be_empty()
        await expect(dialog.get_by_role("progressbar")).to_be_visible()
        async with page.expect_download() as download:
            # It fails once more.
            for _ in range(2):
                await dialog.get_by_role("button", name="Try again").click()
            await page.get_by_text("Exported").wait_for()
        name, text = await saved(download)
        assert name == "Long talk.jsonl", name
        bodies = [event["content"].get("body") for event in map(json.loads, text.splitlines()) if event["type"] == "m.room.message"]
        assert bodies == [f"line {number}" for number in range(30)], bodies
        assert len(fetched) >= 6, fetched
        await page.unroute("**/messages?dir=f*", answer)

        # Days: first ones in the wrong order, then days before anything was said.
        await export(alice)
        await dialog.get_by_label("From (optional)").fill("2024-05-02")
        await dialog.get_by_label("Until (optional)").fill("2024-05-01")
        await dialog.get_by_role("button", name="Export", exact=True).click()
        await dialog.get_by_text("The first day is after the last one.").wait_for()
        await dialog.get_by_label("Until (optional)").fill("2024-05-03")
        await dialog.get_by_role("button", name="Export", exact=True).click()
        await page.get_by_text("There is nothing to export on these days.").wait_for()


@test("an export goes straight into the file that the user picks; picking none leaves the dialog, and Cancel ends an export under way")
async def _(test):
    room, users = two_in(test, "Streams")
    users["boris"].send(room, "all rivers run")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        dialog = page.get_by_role("dialog", name="Export chat")
        await page.evaluate(NO_FILE)
        await export(alice)
        button = dialog.get_by_role("button", name="Export", exact=True)
        await button.click()
        await expect(button).to_be_enabled()
        await page.evaluate(OWN_FILE)
        await button.click()
        await page.get_by_text("Exported").wait_for()
        assert "all rivers run" in await page.evaluate(READ_FILE, "Streams.html")

        # The server does not answer: Cancel ends it, and nothing is left in the file.
        waits = asyncio.Event()

        async def never(route):
            waits.set()

        await page.route("**/messages?dir=f*", never)
        await export(alice)
        await dialog.get_by_label("Format").select_option("JSON Lines, for programs")
        await button.click()
        await waits.wait()
        await dialog.get_by_text("so far").wait_for()
        await dialog.get_by_role("button", name="Cancel").click()
        await dialog.wait_for(state="detached")
        assert await page.evaluate(READ_FILE, "Streams.jsonl") == ""


@test("all chats are exported from the account's settings as one file; each line says of which room it is")
async def _(test):
    room, users = two_in(test, "Tea")
    alice = users["alice"]
    other = alice.create_room(name="Cakes")
    alice.send(other, "with plums")
    users["boris"].send(room, "the kettle is on")
    async with people(test, "alice") as person:
        await person.sign_in(alice)
        page = person.page
        await page.evaluate(NO_PICKER)
        await open_settings(page)
        await person.dialog.get_by_role("tab", name="Account").click()
        await person.dialog.get_by_role("button", name="Export all chats").click()
        # The connection breaks: what was fetched is kept, and the button goes on.
        broken = []
        async def break_once(route):
            if broken:
                return await route.continue_()
            broken.append(route)
            await route.abort()
        await page.route(re.compile("/messages"), break_once)
        async with page.expect_download() as download:
            await person.dialog.get_by_role("button", name="Export", exact=True).click()
            await person.dialog.get_by_role("button", name="Try again").click()
        _, text = await saved(download)
        lines = [json.loads(line) for line in text.splitlines()]
        said = {(line["room_id"], line["content"]["body"]) for line in lines if line["type"] == "m.room.message"}
        assert said == {(room, "the kettle is on"), (other, "with plums")}, said
        await page.get_by_text("Exported").wait_for()
