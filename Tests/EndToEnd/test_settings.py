"""Settings of rooms and of the account in the web client."""
import json
import re
from types import SimpleNamespace
from urllib.parse import quote

from browser import PASSWORD, PHONE, expect, people
from client import Api, User, fresh, register, room_path
from harness import NotRun, test
from png import png
from server import Server

try:
    from mail_and_sign_in import Mailbox, confirm, server_with
except ImportError as error:
    Mailbox = None
    MISSING = str(error)

NEEDS_BROWSER = True

ROSE = {"name": "rose.png", "mimeType": "image/png", "buffer": png(48, 48, (200, 60, 90))}


def encoded(text):
    return quote(text, safe="")


async def details(person, room):
    await person.page.evaluate("part => { location.hash = part; }", f"room/{encoded(room)}/details")
    await person.page.get_by_role("button", name="Leave room").wait_for()


async def settings(person, tab):
    await person.page.get_by_role("button", name="Your profile").click()
    await person.page.get_by_role("tab", name=tab).click()


async def more_settings(person, tab):
    """The dialog with the rest of a room's settings, at one of its pages."""
    await person.page.get_by_role("button", name="More settings").click()
    await person.page.get_by_role("tab", name=tab).click()
    return person.page.get_by_role("dialog").last


def has_picture(part):
    """The pictures of people and rooms in a part of the page. Names stand beside them: to ears they are nothing."""
    return part.locator(".mg-avatar-image[src]")


async def no_dialog(person):
    while await person.page.get_by_role("dialog").count():
        await person.page.keyboard.press("Escape")


async def sure(page):
    """Says the password where it is asked for."""
    dialog = page.get_by_role("dialog").last
    await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    await dialog.get_by_role("button", name="Go on").click()


@test("who forgot the password gets another by a mail; the account shows its e-mail addresses, gets one more and loses it")
async def _(test):
    test.own_server()
    if Mailbox is None:
        raise NotRun(MISSING)
    with Mailbox() as mailbox:
        server = server_with(mailbox, mail_starttls="false")
        try:
            api = Api(server.base)
            ann = register(api, "ann").ok()
            place = SimpleNamespace(base=server.base, artifacts=test.artifacts)
            async with people(place, "ann") as person:
                page = person.page
                await person.sign_in(SimpleNamespace(user_id=ann["user_id"]))
                await settings(person, "Account")
                await page.get_by_text("None. With one you get").wait_for()
                await page.get_by_role("button", name="Add an e-mail address").click()
                dialog = page.get_by_role("dialog").last
                await dialog.get_by_label("E-mail address").fill("ann@example.org")
                await dialog.get_by_role("button", name="Go on").click()
                await dialog.get_by_text("A mail is on its way to ann@example.org.").wait_for()
                await dialog.get_by_role("button", name="Go on").click()
                await dialog.get_by_text("The link in the mail was not followed yet.").wait_for()
                await person.picture("email-added")
                confirm(api, mailbox.wait(1)[2])
                await dialog.get_by_role("button", name="Go on").click()
                await sure(page)
                await page.get_by_role("button", name="Remove ann@example.org").wait_for()
                await person.picture("settings-emails")

                # Somewhere else, signed out.
                async with people(place, "ann", fresh=True) as stranger:
                    there = stranger.page
                    await there.get_by_role("button", name="Forgot password?").click()
                    dialog = there.get_by_role("dialog")
                    await dialog.get_by_label("E-mail address").fill("ann@example.org")
                    await dialog.get_by_role("button", name="Go on").click()
                    await dialog.get_by_text("A mail is on its way to ann@example.org.").wait_for()
                    await dialog.get_by_label("New password").fill("another horse")
                    await dialog.get_by_role("button", name="Go on").click()
                    await dialog.get_by_text("The link in the mail was not followed yet.").wait_for()
                    await stranger.picture("forgot-password")
                    confirm(api, mailbox.wait(2)[2])
                    await dialog.get_by_role("button", name="Go on").click()
                    await there.get_by_text("The password is changed.").wait_for()
                    await there.get_by_label("User name", exact=True).locator("visible=true").fill("ann@example.org")
                    await there.get_by_label("Password", exact=True).locator("visible=true").fill("another horse")
                    await there.get_by_role("button", name="Sign in").click()
                    await stranger.signed_in()
                    await settings(stranger, "Account")
                    await there.get_by_role("button", name="Remove ann@example.org").click()
                    await there.get_by_text("None. With one you get").wait_for()
        finally:
            server.close()


@test("a server that sends no mails says so to who forgot the password")
async def _(test):
    async with people(test, "ann", fresh=True) as person:
        page = person.page
        await page.get_by_role("button", name="Forgot password?").click()
        await page.get_by_role("dialog").get_by_label("E-mail address").fill("ann@example.org")
        await page.get_by_role("dialog").get_by_role("button", name="Go on").click()
        await page.get_by_text("This server sends no mails. Ask whoever runs it for help.").wait_for()
        await person.picture("forgot-password-no-mail")


@test("the own picture, what one says, and not being seen; all other devices are signed out; the account is closed")
async def _(test):
    user, friend = User(test.base, "alice"), User(test.base, "friend")
    phone, tablet = User(test.base, login_as=user), User(test.base, login_as=user)
    room = user.create_room(name="Garden", preset="public_chat")
    friend.join(room)
    status = lambda: friend.get(f"presence/{encoded(user.user_id)}/status").ok()
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        await page.get_by_role("button", name="Your profile").click()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Change picture").click()
        async with page.expect_response(lambda answer: answer.url.endswith("/avatar_url") and answer.request.method == "PUT") as answer:
            await (await chooser.value).set_files(ROSE)
        assert (await answer.value).ok
        await has_picture(page.get_by_role("dialog")).wait_for()
        assert user.get(f"profile/{encoded(user.user_id)}").ok()["avatar_url"].startswith("mxc://")
        await page.get_by_label("Status").fill("in the shed")
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await page.get_by_role("button", name="Save").click()
        assert status()["status_msg"] == "in the shed" and status()["presence"] == "online", status()
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await page.get_by_label("What others see of you").select_option("Never that I am here")
        assert status()["presence"] == "offline", status()
        await page.get_by_label("Do not show others that I am writing").check()
        await alice.picture("settings-profile")
        await no_dialog(alice)
        told = []
        page.on("request", lambda request: told.append(request.url) if "/typing/" in request.url else None)
        await alice.open_room(room)
        # What was written has been told of by the time it is sent.
        await alice.composer.fill("nobody sees this being written")
        await alice.write("here it is")
        friend.sync_until(lambda answer: "here it is" in json.dumps(answer))
        assert not told, told

        await settings(alice, "Devices")
        await page.get_by_role("button", name="Sign out all other devices").click()
        await sure(page)
        await page.get_by_role("button", name="Sign out all other devices").wait_for(state="hidden")
        assert [device.get("account/whoami").status for device in (phone, tablet)] == [401, 401]
        await page.get_by_role("tab", name="Account").click()
        await page.get_by_role("button", name="Close the account").click()
        question = page.get_by_role("dialog").last
        # Nothing happens before one has said so twice; who thinks better of it is back where it was asked.
        await expect(question.get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Close the account")).to_be_focused()
        await page.keyboard.press("Enter")
        await question.get_by_role("button", name="Close the account").click()
        await sure(page)
        await page.get_by_role("tab", name="Create account").wait_for()
        identifier = {"type": "m.id.user", "user": user.user_id}
        user.post("login", {"type": "m.login.password", "identifier": identifier, "password": PASSWORD}).fails(403, ("M_FORBIDDEN", "M_USER_DEACTIVATED"))


@test("a room gets addresses, a picture, a place in the directory, guests and roles for what is done; who may not sees what holds")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room = alice_user.create_room(name="Garden", preset="public_chat")
    boris_user.join(room)
    first, second, server = fresh("first"), fresh("second"), alice_user.user_id.split(":", 1)[1]
    state = lambda kind: alice_user.get(room_path(room, "state", kind)).ok()
    listed = lambda: boris_user.get(f"directory/list/room/{encoded(room)}").ok()["visibility"]
    async with people(test, "alice", "boris") as (alice, boris):
        for person, user in ((alice, alice_user), (boris, boris_user)):
            await person.sign_in(user)
            await details(person, room)
        page = alice.page
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Change picture").click()
        await (await chooser.value).set_files(ROSE)
        await boris.told("changed the room's picture")
        await has_picture(boris.details).first.wait_for()

        dialog = await more_settings(alice, "Addresses")
        for name in (first, second):
            await dialog.get_by_label("Room address").fill(name)
            await dialog.get_by_role("button", name="Add address").click()
            await dialog.get_by_role("button", name=f"Remove #{name}:{server}").wait_for()
        await dialog.get_by_role("listitem").filter(has_text=first).get_by_text("main address").wait_for()
        await dialog.get_by_label("Room address").fill(first)
        await dialog.get_by_role("button", name="Add address").click()
        await dialog.get_by_text("This room address is taken.").wait_for()
        await dialog.get_by_role("button", name=f"Make it the main one: #{second}:{server}").click()
        await dialog.get_by_role("listitem").filter(has_text=second).get_by_text("main address").wait_for()
        assert state("m.room.canonical_alias") == {"alias": f"#{second}:{server}", "alt_aliases": [f"#{first}:{server}"]}
        await alice.picture("room-addresses-light")
        await dialog.get_by_role("button", name=f"Remove #{first}:{server}").click()
        await dialog.get_by_role("listitem").filter(has_text=first).wait_for(state="detached")
        boris_user.get(f"directory/room/{encoded(f'#{first}:{server}')}").fails(404, "M_NOT_FOUND")
        async with page.expect_response(lambda answer: "/directory/list/room/" in answer.url and answer.request.method == "PUT"):
            await dialog.get_by_label("Listed among the public rooms").select_option("Yes")
        assert listed() == "public"

        await page.get_by_role("tab", name="Who may do what").click()
        await dialog.get_by_label("Send messages").select_option("Moderator")
        await boris.page.get_by_text("You may not write in this room.").wait_for()
        await dialog.get_by_label("Room name").select_option("Member")
        await boris.page.get_by_role("button", name="Edit: Room name").wait_for()
        await alice.picture("room-permissions-light")
        levels = state("m.room.power_levels")
        assert levels["events_default"] == 50 and levels["events"]["m.room.name"] == 0, levels
        seen = await more_settings(boris, "Who may do what")
        await seen.get_by_text("Send messages").wait_for()
        assert await seen.locator("select").count() == 0

        await page.get_by_role("tab", name="Advanced").click()
        before = "Yes" if state("m.room.guest_access")["guest_access"] == "can_join" else "No"
        after = "No" if before == "Yes" else "Yes"
        await dialog.get_by_label("Guests without an account").select_option(after)
        await boris.told("lets no guests join" if after == "No" else "lets guests join")
        await alice.picture("room-advanced-light")
        await page.set_viewport_size(PHONE)
        await page.get_by_role("tab", name="Who may do what").click()
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await alice.picture("phone-room-permissions")
        await page.get_by_role("tab", name="Addresses").click()
        await alice.picture("phone-room-addresses")


@test("members of a space may join its room; the room is replaced, and who was in the old one is led to the new one")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    server = alice_user.user_id.split(":", 1)[1]
    house = alice_user.create_room(name="House", preset="public_chat", creation_content={"type": "m.space"})
    room = alice_user.create_room(name="Kitchen", preset="private_chat", room_version="10")
    alice_user.state(house, "m.space.child", {"via": [server]}, room).ok()
    boris_user.post("join/" + encoded(room)).fails(403, "M_FORBIDDEN")
    async with people(test, "alice", "boris") as (alice, boris):
        for person, user in ((alice, alice_user), (boris, boris_user)):
            await person.sign_in(user)
        page = alice.page
        await details(alice, room)
        await page.get_by_label("Who may join").select_option("Members of House")
        await alice.told("lets members of certain rooms join")
        boris_user.join(house)
        boris_user.join(room)
        await boris.open_room(room)
        dialog = await more_settings(alice, "Advanced")
        await dialog.get_by_text("Room version 10").wait_for()
        await dialog.get_by_role("button", name="Upgrade the room").click()
        await page.get_by_role("dialog").last.get_by_text("takes the place of this one").wait_for()
        await alice.picture("room-upgrade")
        await page.get_by_role("dialog").last.get_by_role("button", name="Upgrade the room").click()
        await boris.page.get_by_text("This room has moved to a new one.").wait_for()
        await boris.page.get_by_role("button", name="Go to the new room").click()
        await boris.composer.wait_for()
        await alice.composer.wait_for()
        await alice.write("welcome to the new kitchen")
        await boris.sees("welcome to the new kitchen")
        new = alice_user.get(room_path(room, "state", "m.room.tombstone")).ok()["replacement_room"]
        assert new != room and new in boris_user.get("joined_rooms").ok()["joined_rooms"]


@test("a room is made in a space, a space in a space, and both are taken out again")
async def _(test):
    user = User(test.base, "keeper")
    house = user.create_room(name="House", creation_content={"type": "m.space"})
    children = lambda: {event["state_key"] for event in user.get(room_path(house, "state")).ok()
                        if event["type"] == "m.space.child" and event["content"].get("via")}
    async with people(test, "keeper") as person:
        page = person.page
        await person.sign_in(user)
        for name, kind in (("Attic", "Room: for messages"), ("Annex", "Space: for a group of rooms")):
            await details(person, house)
            await page.get_by_role("button", name="Make a room in this space").click()
            await page.get_by_label("Kind").select_option(kind)
            await page.get_by_role("textbox", name="Room name").fill(name)
            # The words about the room before may still stand there.
            async with page.expect_response(lambda answer: "m.space.child" in answer.url):
                await page.get_by_role("button", name="Create room").click()
            await page.get_by_role("heading", name=name).wait_for()
            await page.get_by_text("The room is in the space now.").wait_for()
        assert len(children()) == 2
        await details(person, house)
        await page.get_by_role("button", name="Rooms of this space").click()
        await person.picture("space-rooms")
        for name in ("Attic", "Annex"):
            await page.get_by_role("button", name=f"Take {name} out of the space").click()
            await page.get_by_role("button", name=f"Open: {name}").wait_for(state="detached")
        assert not children()


@test("several people are invited at once; a person and a room are reported; somebody is ignored from the list of members")
async def _(test):
    user, guest, other = User(test.base, "alice"), User(test.base, "guest"), User(test.base, "other")
    room = user.create_room(name="Garden")
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        await details(alice, room)
        await page.get_by_role("complementary").get_by_role("button", name="Invite").click()
        field = page.get_by_role("dialog").get_by_label("User ID")
        await field.fill(f"{guest.user_id} nobody")
        await page.get_by_role("dialog").get_by_role("button", name="Invite").click()
        await page.get_by_text("This is not a user ID.").wait_for()
        await field.fill(f"{guest.user_id} {other.user_id}")
        await page.get_by_role("dialog").get_by_role("button", name="Invite").click()
        await page.get_by_text("2 people are invited.").wait_for()
        for person in (guest, other):
            person.sync_until(lambda answer: room in answer.get("rooms", {}).get("invite", {}))
            person.join(room)
            person.put(f"presence/{encoded(person.user_id)}/status", {"presence": "online"}).ok()
        await page.get_by_role("complementary").get_by_text("3 here now").wait_for()
        # The second word has people offered for it, beside the first.
        await page.get_by_role("complementary").get_by_role("button", name="Invite").click()
        await field.fill(f"@x:example.org {other.user_id[1:10]}")
        await page.locator(f"datalist option[value='@x:example.org {other.user_id}']").wait_for(state="attached")
        await no_dialog(alice)

        member = page.get_by_role("complementary").get_by_role("button", name=guest.user_id)
        await member.click()
        await page.get_by_role("button", name="Report this person").click()
        await report(alice, f"/users/{encoded(guest.user_id)}/report", "They sell slugs", kind="Spam or advertising", told="Spam: They sell slugs")
        guest.send(room, "buy slugs")
        await alice.sees("buy slugs")
        await page.get_by_label("Ignore: show nothing they write").check()
        await alice.message("buy slugs").wait_for(state="detached")
        await alice.picture("member-ignored")
        await no_dialog(alice)
        await page.get_by_role("button", name="Report this room").click()
        await report(alice, f"/rooms/{encoded(room)}/report", "Slugs are sold here")


@test("who only wants to look goes on as a guest, where the server lets guests in")
async def _(test):
    test.own_server()
    async with people(test, "nobody", fresh=True) as nobody:
        await nobody.page.get_by_role("button", name="Sign in").wait_for()
        await expect(nobody.page.get_by_role("button", name="Continue as guest")).to_have_count(0)
    server = Server(allow_guests="true").start()
    try:
        host = User(server.base, "host")
        room = host.create_room(name="Open house", preset="public_chat")
        host.state(room, "m.room.guest_access", {"guest_access": "can_join"}).ok()
        host.send(room, "come in")
        async with people(SimpleNamespace(base=server.base, artifacts=test.artifacts), "guest", fresh=True) as guest:
            button = guest.page.get_by_role("button", name="Continue as guest")
            await button.wait_for()
            await guest.picture("sign-in-guest-light")
            await button.click()
            await guest.signed_in()
            await guest.open("#room/" + quote(room, safe=""))
            await guest.page.get_by_role("button", name="Join").click()
            await guest.sees("come in")
            await guest.write("hello")
            await guest.message(re.compile("Sent|Read")).get_by_text("hello").wait_for()
    finally:
        server.close()


async def report(person, path, reason, kind="Something else", told=None):
    dialog = person.page.get_by_role("dialog").last
    await dialog.get_by_label("What is it?").select_option(kind)
    await dialog.get_by_label("Reason").fill(reason)
    async with person.page.expect_response(lambda answer: path in answer.url) as answer:
        await dialog.get_by_role("button", name="Report", exact=True).click()
    assert (await answer.value).ok and (await answer.value).request.post_data_json == {"reason": told or reason}
    await person.page.get_by_text("Thank you, it was reported.").wait_for()


@test("who left comes back where that is allowed, asks where one asks, and is told where only the invited may come")
async def _(test):
    host, user = User(test.base, "host"), User(test.base, "wanderer")
    rooms = {name: host.create_room(name=name, preset="private_chat", invite=[user.user_id]) for name in ("Open", "Asking", "Closed", "Ours")}
    for room in rooms.values():
        user.join(room)
    host.state(rooms["Open"], "m.room.join_rules", {"join_rule": "public"}).ok()
    host.state(rooms["Asking"], "m.room.join_rules", {"join_rule": "knock"}).ok()
    host.state(rooms["Ours"], "martlet.rejoin", {"allow": True}).ok()
    async with people(test, "wanderer") as person:
        page = person.page
        await person.sign_in(user)
        for name, room in rooms.items():
            await details(person, room)
            await page.get_by_role("button", name="Leave room").click()
            await page.get_by_role("dialog").get_by_role("button", name="Leave room").click()
            await person.entry(name).wait_for(state="detached")
        notice = page.get_by_role("main")
        go = lambda name: page.evaluate("part => { location.hash = part; }", f"room/{encoded(rooms[name])}")
        for name in ("Open", "Ours"):
            await go(name)
            await notice.get_by_role("button", name="Join", exact=True).click()
            await person.composer.wait_for()
        await go("Closed")
        await notice.get_by_role("button", name="Join", exact=True).click()
        await page.get_by_text("Only invited people may come in. Ask somebody who is there to invite you.").wait_for()
        await person.picture("closed-room")
        await go("Asking")
        await notice.get_by_role("button", name="Ask to join").click()
        await notice.get_by_text("Waiting to be let in").wait_for()
        await person.picture("asked-room")
        host.post(room_path(rooms["Asking"], "invite"), {"user_id": user.user_id}).ok()
        await notice.get_by_role("button", name="Accept").click()
        await person.composer.wait_for()
