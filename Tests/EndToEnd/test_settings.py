"""Settings of rooms and of the account in the web client."""
import json
import re
from types import SimpleNamespace
from urllib.parse import quote

from browser import PASSWORD, expect, open_settings, people
from client import Api, User, register, room_path
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
    await open_settings(person.page)
    await person.page.get_by_role("tab", name=tab).click()


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
    await dialog.get_by_role("button", name="Continue").click()


# Proves C19, C31
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
                await page.get_by_text("None. With an e-mail address").wait_for()
                await page.get_by_role("button", name="Add an e-mail address").click()
                dialog = page.get_by_role("dialog").last
                await dialog.get_by_label("E-mail address").fill("ann@example.org")
                await dialog.get_by_role("button", name="Continue").click()
                await dialog.get_by_text("An e-mail is on its way to ann@example.org.").wait_for()
                await dialog.get_by_role("button", name="Continue").click()
                await dialog.get_by_text("The link in the e-mail has not been followed yet.").wait_for()
                await person.picture("email-added")
                confirm(api, mailbox.wait(1)[2])
                await dialog.get_by_role("button", name="Continue").click()
                await sure(page)
                await page.get_by_role("button", name="Remove ann@example.org").wait_for()
                await person.picture("settings-emails")

                # Somewhere else, signed out.
                async with people(place, "ann", fresh=True) as stranger:
                    there = stranger.page
                    await there.get_by_role("button", name="Forgot password?").click()
                    dialog = there.get_by_role("dialog")
                    await dialog.get_by_label("E-mail address").fill("ann@example.org")
                    await dialog.get_by_role("button", name="Continue").click()
                    await dialog.get_by_text("An e-mail is on its way to ann@example.org.").wait_for()
                    await dialog.get_by_label("New password").fill("another horse")
                    await dialog.get_by_role("button", name="Continue").click()
                    await dialog.get_by_text("The link in the e-mail has not been followed yet.").wait_for()
                    await stranger.picture("forgot-password")
                    confirm(api, mailbox.wait(2)[2])
                    await dialog.get_by_role("button", name="Continue").click()
                    await there.get_by_text("Your password has been changed.").wait_for()
                    await there.get_by_label("User name", exact=True).locator("visible=true").fill("ann@example.org")
                    await there.get_by_label("Password", exact=True).locator("visible=true").fill("another horse")
                    await there.get_by_role("button", name="Sign in").click()
                    await stranger.signed_in()
                    await settings(stranger, "Account")
                    await there.get_by_role("button", name="Remove ann@example.org").click()
                    await there.get_by_text("None. With an e-mail address").wait_for()
        finally:
            server.close()


# Proves C30, C31, C32, P24
@test("the user changes pictures, status and presence, signs out other devices, closes the account")
async def _(test):
    user, friend = User(test.base, "alice"), User(test.base, "friend")
    phone, tablet = User(test.base, login_as=user), User(test.base, login_as=user)
    room = user.create_room(name="Garden", preset="public_chat")
    friend.join(room)
    status = lambda: friend.get(f"presence/{encoded(user.user_id)}/status").ok()
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        await open_settings(page)
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Change picture").click()
        async with page.expect_response(lambda answer: answer.url.endswith("/avatar_url") and answer.request.method == "PUT") as answer:
            await (await chooser.value).set_files(ROSE)
        assert (await answer.value).ok
        await has_picture(page.get_by_role("dialog")).wait_for()
        assert user.get(f"profile/{encoded(user.user_id)}").ok()["avatar_url"].startswith("mxc://")
        await page.get_by_role("button", name="Set a status…").click()
        await page.get_by_label("Status", exact=True).fill("in the shed")
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await page.get_by_role("button", name="Save").last.click()
        assert status()["status_msg"] == "in the shed" and status()["presence"] == "online", status()
        await page.get_by_role("tab", name="Privacy and security").click()
        async with page.expect_response(lambda answer: answer.url.endswith("/status") and answer.request.method == "PUT"):
            await page.get_by_label("What others see of you").select_option("Invisible")
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
        await details(alice, room)
        await alice.room_settings("General")
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Change picture").click()
        await (await chooser.value).set_files(ROSE)
        await has_picture(alice.dialog).first.wait_for()
        await page.keyboard.press("Escape")
        await alice.told("changed the room's picture")
        await has_picture(alice.details).first.wait_for()
        assert user.get(room_path(room, "state", "m.room.avatar")).ok()["url"].startswith("mxc://")

        await settings(alice, "Devices")
        await page.get_by_role("button", name="Sign out all other devices").click()
        await sure(page)
        await page.get_by_role("button", name="Sign out all other devices").wait_for(state="hidden")
        assert [device.get("account/whoami").status for device in (phone, tablet)] == [401, 401]
        await page.get_by_role("tab", name="Account").click()
        await page.get_by_role("button", name="Close the account").click()
        question = page.get_by_role("dialog").last
        # Nothing happens before the user confirms twice; cancelling leads back to the question.
        await expect(question.get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Close the account")).to_be_focused()
        await page.keyboard.press("Enter")
        await question.get_by_role("button", name="Close the account").click()
        await sure(page)
        await page.get_by_role("tab", name="Create account").wait_for()
        identifier = {"type": "m.id.user", "user": user.user_id}
        user.post("login", {"type": "m.login.password", "identifier": identifier, "password": PASSWORD}).fails(403, ("M_FORBIDDEN", "M_USER_DEACTIVATED"))


# Proves J1
@test("somebody without an account reads a room that is open to all as a guest, where the server lets guests in, and joins it then")
async def _(test):
    test.own_server()
    async with people(test, "nobody", fresh=True) as nobody:
        await nobody.page.get_by_role("button", name="Sign in").wait_for()
        await expect(nobody.page.get_by_role("button", name="Continue as guest")).to_have_count(0)
    server = Server(allow_guests="true").start()
    try:
        host = User(server.base, "host")
        room = host.create_room(name="Open house", preset="public_chat", room_alias_name="open")
        host.state(room, "m.room.guest_access", {"guest_access": "can_join"}).ok()
        host.state(room, "m.room.history_visibility", {"history_visibility": "world_readable"}).ok()
        host.send(room, "come in")
        async with people(SimpleNamespace(base=server.base, artifacts=test.artifacts), "guest", fresh=True) as guest:
            button = guest.page.get_by_role("button", name="Continue as guest")
            await button.wait_for()
            await guest.picture("sign-in-guest-light")
            # From the room's address to what is said in it, two presses before anything is joined.
            await guest.page.goto(server.base + "/#room/" + quote("#open:" + host.user_id.split(":", 1)[1], safe=""))
            await guest.page.get_by_role("heading", name="Open house").wait_for()
            await button.click()
            await guest.page.get_by_role("log", name="Open house").get_by_text("come in").wait_for()
            await guest.picture("world-readable")
            await guest.page.get_by_role("button", name="Join").click()
            await guest.sees("come in")
            await guest.write("hello")
            await guest.message(re.compile("Sent|Read")).get_by_text("hello").wait_for()
    finally:
        server.close()
