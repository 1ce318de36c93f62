"""What a chat of two people is called and has, whose words were forwarded, what became of a call, and what fits a phone."""
import re

from accessibility import check
from browser import expect, in_room, open_settings, people, room_fragment
from client import User, fresh, room_path
from harness import test
from test_composer import two_in
from test_nio import ENCRYPTION

NEEDS_BROWSER = True
SMALL = {"width": 390, "height": 844}


def chat_of(one, other, **content):
    room = one.create_room(preset="trusted_private_chat", is_direct=True, invite=[other.user_id], **content)
    one.put(f"user/{one.user_id}/account_data/m.direct", {other.user_id: [room]}).ok()
    return room


def send_event(user, room, kind, content):
    user.put(room_path(room, "send", kind, fresh("t")), content).ok()


@test("a chat of two has no roles, guests or rules of joining, and is left as a chat; the header of a room counts who is invited")
async def _(test):
    alice, boris, carol = (User(test.base, name) for name in ("alice", "boris", "carol"))
    chat = chat_of(alice, boris)
    boris.join(chat)
    room = alice.create_room(name="Plans", invite=[boris.user_id, carol.user_id])
    async with in_room(test, room, {"alice": alice}) as one:
        await one.heading("Plans").wait_for()
        await one.page.get_by_role("main").get_by_text("1 member, 2 invited").wait_for()
        await one.open_room(chat)
        await one.page.get_by_role("button", name="Members and settings").click()
        await one.details.get_by_role("button", name="Chat settings").click()
        tabs = one.dialog.get_by_role("tab")
        assert await tabs.all_inner_texts() == ["Notifications", "Encryption", "Advanced"], await tabs.all_inner_texts()
        for tab in ("Encryption", "Advanced"):
            await one.dialog.get_by_role("tab", name=tab).click()
            await check(one, f"{tab} of a chat")
        await one.picture("chat-settings")
        await one.page.keyboard.press("Escape")
        await one.details.get_by_role("button", name="Report this chat").wait_for()
        await one.picture("chat-details")
        await one.details.get_by_role("button", name="Leave chat").click()
        await one.dialog.get_by_text("Leave this chat?").wait_for()
        await one.dialog.get_by_role("button", name="Leave chat").click()
        await expect(one.dialog).to_have_count(0)


@test("a forwarded message says whose it is, also forwarded once more; the dialog has each person once, however their chat is called")
async def _(test):
    room, users = two_in(test, "Source")
    alice, boris = users["alice"], users["boris"]
    boris.put(f"profile/{boris.user_id}/displayname", {"displayname": "Boris Blau"}).ok()
    chat, third = chat_of(alice, boris, name="Work with B"), alice.create_room(name="Third")
    boris.join(chat)
    boris.send(room, "the words of Boris")
    async with in_room(test, room, {"alice": alice}) as one:
        await one.sees("the words of Boris")
        await one.message_menu("the words of Boris", "Forward…")
        await one.dialog.get_by_placeholder("Room or person").fill(boris.user_id[1:].split(":")[0])
        targets = one.dialog.get_by_role("checkbox")
        await expect(targets.first).to_be_visible()
        # The server's answer comes later than what the page knows.
        await one.page.wait_for_timeout(600)
        assert await targets.count() == 1, await one.dialog.inner_text()
        await one.picture("forward-once")
        await targets.first.check()
        await one.dialog.get_by_role("button", name="Forward", exact=True).click()
        await one.open_room(chat)
        row = one.message("the words of Boris")
        await row.get_by_text("Forwarded from Boris Blau").wait_for()
        assert "Forwarded from Boris Blau" in await row.get_attribute("aria-label")
        await one.picture("forwarded")
        await check(one, "a forwarded message")
        await one.message_menu("the words of Boris", "Forward…")
        await one.dialog.get_by_placeholder("Room or person").fill("Third")
        await targets.first.check()
        await one.dialog.get_by_role("button", name="Forward", exact=True).click()
        await one.open_room(third)
        await one.message("the words of Boris").get_by_text("Forwarded from Boris Blau").wait_for()
        sent = alice.get(room_path(third, "messages"), dir="b").ok()["chunk"]
        forwarded = next(event["content"] for event in sent if event["type"] == "m.room.message")
        assert forwarded["body"] == "the words of Boris" and forwarded["martlet.forwarded"]["sender"] == boris.user_id, forwarded


@test("a call that nobody answered is ‘No answer’ for who called and ‘Missed call’ for who was called")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = chat_of(alice, boris)
    boris.join(room)
    call = {"call_id": "1", "party_id": alice.device_id, "version": "1"}
    send_event(alice, room, "m.call.invite", {**call, "lifetime": 1, "offer": {"type": "offer", "sdp": "v=0"}})
    send_event(alice, room, "m.call.hangup", {**call, "reason": "invite_timeout"})
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await one.message("No answer").wait_for()
        await other.message("Missed call").wait_for()


@test("on a phone the button that makes a new room is in view")
async def _(test):
    room, users = two_in(test, "Folded changes of a room with a long name")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=SMALL, has_touch=True, is_mobile=True, device_scale_factor=2) as one:
        await one.page.get_by_role("button", name="Back to conversations").tap()
        await one.page.get_by_role("button", name="New conversation").tap()
        await one.dialog.get_by_role("tab", name="New room").tap()
        create = one.dialog.get_by_role("button", name="Create room")
        await one.rest()
        box = await create.bounding_box()
        assert box["y"] + box["height"] <= SMALL["height"], box
        hit = await one.page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('button')?.textContent", [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        assert hit and "Create" in hit, hit
        await one.picture("phone-new-room")
        await check(one, "a new room on a phone")


@test("who joins by a link and cannot read what was said before sees one line in its place")
async def _(test):
    boris, alice = User(test.base, "boris"), User(test.base, "alice")
    room = boris.create_room(name="Since", preset="public_chat", initial_state=[ENCRYPTION])
    for number in range(4):
        send_event(boris, room, "m.room.encrypted", {
            "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "A" * 40, "session_id": f"s{number}", "sender_key": "k", "device_id": "D"})
    alice.join(room)
    async with people(test, "alice") as one:
        await one.sign_in(alice, room_fragment(room))
        await one.page.get_by_text("You can read messages from here on.").first.wait_for()
        await expect(one.page.get_by_text(re.compile("before you joined|Waiting for the key"))).to_have_count(0)
        await one.picture("read-from-here")
        await check(one, "where one can read from")
        await one.feed.get_by_role("button", name="Show all").first.click()
        await one.page.get_by_text("This was sent before you joined.").first.wait_for()


@test("each device says when it signed in, so that two of one name are told apart")
async def _(test):
    alice = User(test.base, "alice")
    async with people(test, "alice") as one:
        await one.sign_in(alice)
        await open_settings(one.page)
        await one.dialog.get_by_role("tab", name="Devices").click()
        devices = one.dialog.get_by_role("list", name="Devices").get_by_role("listitem")
        await expect(devices).to_have_count(2)
        for device in await devices.all():
            await device.get_by_text(re.compile("^Signed in .*Last seen")).wait_for()
        await one.picture("devices-signed-in")
