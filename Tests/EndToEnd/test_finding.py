"""Ways to rooms, messages and people in the web client: addresses, links, directories, presence, rooms that the user has left."""
import re
from urllib.parse import quote

from browser import PHONE, expect, in_room, people
from client import User, fresh
from harness import test
from test_browser import SHIFTS, fill, fits, picture, post, upload
from test_composer import two_in

NEEDS_BROWSER = True


def encoded(text):
    return quote(text, safe="")


# Proves C55
@test("an address leads to its message: through the login, through a join where need be; links inside do the same")
async def _(test):
    host, guest = User(test.base, "host"), User(test.base, "guest")
    alias, server = fresh("garden"), host.user_id.split(":", 1)[1]
    garden = host.create_room(name="Garden", preset="public_chat", room_alias_name=alias)
    first = host.send(garden, "the very first bean")
    for number in range(80):
        host.send(garden, f"message {number}")
    yard = guest.create_room(name="Yard")
    guest.send(yard, f"look: https://matrix.to/#/{encoded(garden)}/{encoded(first)}?via={server}")
    async with people(test, "guest") as person:
        await person.page.goto(f"{test.base}/#/room/{encoded(f'#{alias}:{server}')}/{encoded(first)}?via={server}")
        await person.sign_in_by_typing(guest)
        await person.page.get_by_text("You are not in this room.").wait_for()
        await person.page.get_by_role("button", name="Join").click()
        await person.highlighted("the very first bean").wait_for()
        await person.picture("permalink")

        await person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await person.message("the very first bean").click(button="right")
        await person.choose("Copy link")
        link = f"https://matrix.to/#/{encoded(garden)}/{encoded(first)}?via={encoded(server)}"
        await person.until("async link => await navigator.clipboard.readText() === link", link)

        await person.open_room(yard)
        await person.message("look:").get_by_role("link").click()
        await person.heading("Garden").wait_for()
        await person.highlighted("the very first bean").wait_for()


# Proves C30, C58, J8, J49, J51, P24
@test("people are offered as one types, and one sees who is there and what they say of it")
async def _(test):
    host, guest = User(test.base, "host"), User(test.base, "guest")
    name = fresh("Beatrice")
    guest.put(f"profile/{encoded(guest.user_id)}/displayname", {"displayname": name}).ok()
    # Known are those one shares a room with, and those in public rooms.
    guest.join(host.create_room(name="Square", preset="public_chat"))
    room = host.create_room(name="Garden")
    async with people(test, "host") as person:
        await person.sign_in(host)
        await person.page.evaluate("part => { location.hash = part; }", f"room/{encoded(room)}/details")
        await person.details.get_by_role("button", name="Invite").click()
        field = person.dialog.get_by_role("combobox", name="Name, ID or link")
        await field.press_sequentially(name[:8].lower())
        await person.dialog.get_by_role("option", name=name).wait_for()
        await field.press("Enter")
        await person.dialog.get_by_role("button", name=f"Remove {name}").wait_for()
        # A pasted list: IDs become chips, and the last takes itself away with Backspace.
        await field.fill("@x:example.org, ")
        await person.dialog.get_by_role("button", name="Remove @x:example.org").wait_for()
        await field.press("Backspace")
        await person.dialog.get_by_role("button", name="Remove @x:example.org").wait_for(state="detached")
        await person.dialog.get_by_role("button", name="Invite").click()
        guest.sync_until(lambda answer: room in answer.get("rooms", {}).get("invite", {}))
        guest.join(room)
        guest.put(f"presence/{encoded(guest.user_id)}/status", {"presence": "online", "status_msg": "in the shed"}).ok()
        line = person.members.filter(has_text=name)
        await line.get_by_text("Here now · in the shed").wait_for()
        await line.click()
        await person.page.get_by_role("dialog").get_by_text("in the shed").wait_for()


# Proves J9
@test("rooms one left are there to be entered again or forgotten; other servers are not offered where they cannot be reached")
async def _(test):
    user = User(test.base, "wanderer")
    for name in ("Attic", "Cellar"):
        user.create_room(name=name)
    async with people(test, "wanderer") as person:
        page = person.page
        await person.sign_in(user)
        await person.entry("Attic").click(button="right")
        await person.choose("Leave room")
        await page.get_by_role("dialog").get_by_role("button", name="Leave room").click()
        await person.entry("Attic").wait_for(state="detached")
        await page.get_by_role("button", name="Show", exact=True).click()
        await person.choose("Rooms you left")
        await person.entry("Attic").click(button="right")
        await person.choose("Remove from this device")
        await person.entry("Attic").wait_for(state="detached")
        assert not user.get("joined_rooms").ok()["joined_rooms"] == []

        await page.get_by_role("button", name="New conversation").first.click()
        await page.get_by_role("tab", name="Join a room").click()
        await page.get_by_label("Search public rooms").wait_for()
        await expect(page.get_by_label("Server address").locator("visible=true")).to_have_count(0)


# Proves J42
@test("of many conversations a page is listed, the next where its end is scrolled to or come to by keys; all are found and can be chosen")
async def _(test):
    user = User(test.base, "host")
    for number in range(130):
        user.create_room(name=f"Room {number:03}")
    async with people(test, "host", viewport=PHONE) as person:
        await person.sign_in(user)
        lines = person.rooms.get_by_role("listitem")
        more = person.rooms.get_by_role("button", name="Show more: Rooms")
        for count in (60, 120):
            await expect(lines).to_have_count(count)
            await expect(more).to_be_visible()
            await lines.last.scroll_into_view_if_needed()
        await expect(lines).to_have_count(130)
        await expect(more).to_be_hidden()

        await person.page.reload()
        await expect(lines).to_have_count(60)
        await person.entry("Room 129").focus()
        for count in (120, 130):
            await person.page.keyboard.press("End")
            await expect(lines).to_have_count(count)
        await person.page.keyboard.press("End")
        await expect(person.entry("Room 000")).to_be_focused()

        await person.page.reload()
        await expect(lines).to_have_count(60)
        await person.entry("Room 129").click(button="right")
        await person.choose("Choose several conversations")
        await expect(person.dialog.get_by_role("checkbox")).to_have_count(131)
        await person.page.keyboard.press("Escape")
        await person.search_box.fill("Room 003")
        await person.found("Rooms").get_by_text("Room 003").wait_for()


def share(user, room, name, kind="m.image", data=None):
    uri = upload(user, data or picture(90, 60), name, "image/png")
    return post(user, room, {"msgtype": kind, "body": name, "url": uri, "info": {"w": 90, "h": 60, "size": 20_000, "mimetype": "image/png"}})


# Proves P17
@test("what was looked for is marked where it is found, in the room and everywhere, whatever its case and accents")
async def _(test):
    room, users = two_in(test, "Bakery")
    other = users["alice"].create_room(name="Mill")
    users["boris"].send(room, "Brötchen und Brot, auch im brotkorb")
    users["boris"].send(room, "so much flour " * 20 + "and then brot again, nothing abrotten")
    users["alice"].send(other, "<b>Brot</b>")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        panel = page.get_by_role("complementary", name="Search in this room")
        marks = panel.locator("mark")
        await alice.more("Search in this room")
        await page.keyboard.type("brot")
        await page.keyboard.press("Enter")
        await expect(marks).to_have_text(["brot", "Bröt", "Brot", "brot"])
        await panel.get_by_text(re.compile("^….{40}brot again, nothing abrotten$")).wait_for()
        await alice.picture("search-marked-light")
        # The search begins when one stops typing.
        await page.get_by_label("Search for").fill("brotchen")
        await expect(marks).to_have_text(["Brötchen"])
        await page.get_by_label("Search for").fill("brot")
        await page.get_by_label("In all conversations").check()
        await panel.get_by_role("button", name="Mill").get_by_text("<b>Brot</b>").wait_for()
        await expect(marks).to_have_text(["Brot", "brot", "Bröt", "Brot", "brot"])
        await page.emulate_media(color_scheme="dark")
        await alice.picture("search-marked-dark")


# Proves P13
@test("all that was shared in a room stands by month, comes as one scrolls, opens large, and leads to its message")
async def _(test):
    room, users = two_in(test, "Album")
    boris = users["boris"]
    share(boris, room, "first of all.png")
    uri = upload(boris, picture(120, 80), "plain.png", "image/png")
    for number in range(110):
        post(boris, room, {"msgtype": "m.image", "body": f"picture {number}.png", "url": uri})
    pages = [upload(boris, picture(60, 90), name, "image/png") for name in ("left.png", "right.png")]
    gallery = [{"itemtype": "m.image", "body": f"page {number}.png", "url": page} for number, page in enumerate(pages)]
    post(boris, room, {"msgtype": "dm.filament.gallery", "body": "two pages", "itemtypes": gallery})
    share(boris, room, "plan.pdf", "m.file")
    boris.send(room, "see https://beans.example/climbing")
    fill(boris, room, 60)

    async def of_long_ago(route):
        """As a room that is older answers: the oldest one a year ago."""
        answer = await route.fetch()
        page = await answer.json()
        for event in page["chunk"]:
            if event["content"].get("body") == "first of all.png":
                event["origin_server_ts"] = 1_700_000_000_000
        await route.fulfill(response=answer, json=page)

    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        page = alice.page
        await alice.sees("message 59")
        await page.evaluate(SHIFTS)
        await page.route("**/messages?*contains_url*", of_long_ago)
        await page.get_by_role("button", name="Members and settings").click()
        await page.get_by_role("complementary").get_by_role("button", name="Pictures, files and links").click()
        side = page.get_by_role("complementary", name="Pictures, files and links")
        tiles = side.get_by_role("button", name="Open image")
        await tiles.first.wait_for()
        assert await page.evaluate("document.activeElement.getAttribute('role')") == "tab"
        shown = await tiles.count()
        assert 2 < shown < 113, shown
        await alice.loaded(tiles.locator("img")).nth(8).wait_for()
        await alice.picture("shared-light")
        await page.evaluate("shifted.length = 0")
        while (count := await tiles.count()) < 113:
            await tiles.nth(count - 1).scroll_into_view_if_needed()
            await tiles.nth(count).wait_for()
        assert await tiles.count() == 113
        assert await side.get_by_role("heading", level=3).all_inner_texts() == [await page.evaluate(
            "new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' }).format()"), "November 2023"]
        await side.get_by_role("status").get_by_text("Shown: 113").wait_for()
        assert await page.evaluate("shifted") == []
        last = side.get_by_role("button", name="Open image first of all.png")
        await last.focus()
        await page.keyboard.press("Enter")
        viewer = page.get_by_role("dialog", name="first of all.png")
        await alice.loaded(viewer.get_by_role("img")).wait_for()
        await alice.picture("shared-viewer")
        await viewer.get_by_role("button", name="Previous").click()
        viewer = page.get_by_role("dialog", name="picture 0.png")
        await viewer.get_by_role("button", name="Next").click()
        await page.get_by_role("dialog").get_by_role("button", name="Show in conversation").click()
        await alice.highlighted().get_by_role("button", name="Open image first of all.png").wait_for()
        assert not await side.is_visible()

        await alice.more("Pictures, files and links")
        await tiles.first.wait_for()
        await page.keyboard.press("ArrowRight")
        async with page.expect_download() as download:
            await side.get_by_role("button", name="plan.pdf").first.click()
        assert (await download.value).suggested_filename == "plan.pdf"
        await page.keyboard.press("Shift+Tab")
        await side.get_by_role("tab", name="Links").click()
        link = side.get_by_role("link", name="https://beans.example/climbing")
        await link.wait_for()
        assert await link.get_attribute("href") == "https://beans.example/climbing"
        await alice.picture("shared-links-light")
        await side.get_by_role("button", name="Show in conversation: https://beans.example/climbing").click()
        await alice.highlighted("beans.example").wait_for()


@test("a room in which nothing was shared says so; on a phone, in the dark and from right to left all of it fits")
async def _(test):
    room, users = two_in(test, "Bare")
    users["boris"].send(room, "words only")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, scheme="dark") as alice:
        page = alice.page
        await alice.more("Pictures, files and links")
        await page.get_by_text("No pictures or videos have been shared here yet.").wait_for()
        await page.get_by_role("tab", name="Files").click()
        await page.get_by_text("No files have been shared here yet.").wait_for()
        await page.get_by_role("tab", name="Links").click()
        await page.get_by_text("No links have been shared here yet.").wait_for()
        await alice.picture("shared-empty-phone-dark")
        for name in ("one.png", "two.png", "three.png", "four.png"):
            share(users["boris"], room, name)
        share(users["boris"], room, "a file with quite a long name that goes over more than one line.pdf", "m.file")
        await page.get_by_role("tab", name="Pictures and videos").click()
        tiles = page.get_by_role("complementary").get_by_role("button", name=".png")
        await expect(alice.loaded(tiles.locator("img"))).to_have_count(4)
        await fits(alice)
        await alice.picture("shared-phone-dark")
        await page.get_by_role("tab", name="Files").click()
        await page.get_by_role("button", name="a file with quite").last.wait_for()
        await fits(alice)
        await alice.picture("shared-files-phone-dark")
        await page.get_by_role("button", name="Show in conversation").click()
        await alice.highlighted().wait_for()
        await page.evaluate("localStorage.setItem('language', 'ar')")
        await page.reload()
        await page.get_by_role("button", name="المزيد عن هذه الغرفة").click()
        await page.get_by_role("menuitem", name="الصور والملفات والروابط").click()
        await page.get_by_role("tab", name="صور ومقاطع فيديو").press("ArrowLeft")
        await page.get_by_role("tab", name="ملفات", selected=True).wait_for()
        await page.keyboard.press("ArrowRight")
        await expect(alice.loaded(tiles.locator("img"))).to_have_count(4)
        await fits(alice)
        first, second = [await tiles.nth(index).bounding_box() for index in (0, 1)]
        assert first["x"] > second["x"], "the grid begins on the right"
        await alice.picture("shared-phone-arabic")
        await page.get_by_role("button", name="إغلاق").click()
        await page.get_by_role("button", name="المزيد عن هذه الغرفة").click()
        await page.get_by_role("menuitem", name="البحث في هذه الغرفة").click()
        await page.locator("summary").click()
        await fits(alice)
        await alice.picture("search-phone-arabic")
