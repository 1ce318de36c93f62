"""Ways to rooms, messages and people in the web client: addresses, links, directories, who is there, what one has left."""
from urllib.parse import quote

from browser import people
from client import User, fresh, room_path
from harness import test


def encoded(text):
    return quote(text, safe="")


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
        await person.open("about:blank")
        await person.page.goto(f"{test.base}/#/room/{encoded(f'#{alias}:{server}')}/{encoded(first)}?via={server}")
        await person.sign_in(guest)
        await person.page.get_by_text("You are not in this room.").wait_for()
        await person.page.get_by_role("button", name="Join").click()
        await person.page.locator(".mg-highlighted", has_text="the very first bean").wait_for()
        await person.picture("permalink")

        await person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await person.message("the very first bean").click(button="right")
        await person.page.get_by_role("button", name="Copy link").click()
        link = f"https://matrix.to/#/{encoded(garden)}/{encoded(first)}?via={encoded(server)}"
        await person.until("async link => await navigator.clipboard.readText() === link", link)

        await person.open_room(yard)
        await person.page.locator(".mg-text a").click()
        await person.page.locator(".ma-room-name", has_text="Garden").wait_for()
        await person.page.locator(".mg-highlighted", has_text="the very first bean").wait_for()


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
        await person.page.get_by_role("button", name="Invite").click()
        field = person.page.get_by_role("dialog").get_by_label("User ID")
        await field.press_sequentially(name[:8].lower())
        await person.page.locator(f"datalist option[value='{guest.user_id}']").wait_for(state="attached")
        await field.fill(guest.user_id)
        await person.page.get_by_role("dialog").get_by_role("button", name="Invite").click()
        guest.sync_until(lambda answer: room in answer.get("rooms", {}).get("invite", {}))
        guest.join(room)
        guest.put(f"presence/{encoded(guest.user_id)}/status", {"presence": "online", "status_msg": "in the shed"}).ok()
        line = person.page.locator(".ma-member", has_text=name)
        await line.get_by_text("Here now · in the shed").wait_for()
        await line.click()
        await person.page.get_by_role("dialog").get_by_text("in the shed").wait_for()


@test("rooms one left are there to be entered again or forgotten; the directory of another server is asked for by its name")
async def _(test):
    user = User(test.base, "wanderer")
    for name in ("Attic", "Cellar"):
        user.create_room(name=name)
    async with people(test, "wanderer") as person:
        page = person.page
        await person.sign_in(user)
        await person.entry("Attic").click(button="right")
        await page.get_by_role("dialog").get_by_role("button", name="Leave room").click()
        await page.get_by_role("dialog").get_by_role("button", name="Leave room").click()
        await person.entry("Attic").wait_for(state="detached")
        await page.get_by_label("Show", exact=True).select_option(label="Rooms you left")
        await person.entry("Attic").click(button="right")
        await page.get_by_role("dialog").get_by_role("button", name="Remove from this device").click()
        await person.entry("Attic").wait_for(state="detached")
        assert not user.get("joined_rooms").ok()["joined_rooms"] == []

        await page.get_by_role("button", name="New conversation").first.click()
        await page.get_by_role("tab", name="Join a room").click()
        async with page.expect_request(lambda request: "publicRooms" in request.url and "server=other.example" in request.url):
            await page.get_by_label("Server address").fill("other.example")
        await page.get_by_label("Server address").fill("not a name")
        await page.get_by_text("This is not an address.").wait_for()


@test("who may puts the rooms of a space in order")
async def _(test):
    user = User(test.base, "keeper")
    space = user.create_room(name="House", creation_content={"type": "m.space"})
    server = user.user_id.split(":", 1)[1]
    for order, name in (("a", "Attic"), ("b", "Cellar"), ("c", "Kitchen")):
        user.state(space, "m.space.child", {"via": [server], "order": order}, user.create_room(name=name)).ok()
    async with people(test, "keeper") as person:
        page = person.page
        await person.sign_in(user)
        await page.evaluate("part => { location.hash = part; }", f"room/{encoded(space)}/details")
        await page.get_by_role("button", name="Rooms of this space").click()
        await page.get_by_role("button", name="Move up: Kitchen").click()
        order = "names => [...document.querySelectorAll('.ma-listed .ma-entry-name')].map(name => name.textContent).join() === names"
        await person.until(order, "Attic,Kitchen,Cellar")
        await page.get_by_role("button", name="Move down: Attic").click()
        await person.until(order, "Kitchen,Attic,Cellar")
