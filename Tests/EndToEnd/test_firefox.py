"""The web client in Firefox: what it needs of a browser it finds there, too."""
import os

from browser import PASSWORD
from client import User, fresh
from firefox import firefox
from harness import test
from test_encrypted_page import has_device, has_identity
from test_encryption import peers, reads
from test_nio import ENCRYPTION

NEEDS_BROWSER = True

TAB = "\ue004"


# Proves C76
@test("Firefox: a new account, a room, messages both ways, and all of it again after a reload")
async def _(test):
    friend = User(test.base, "friend")
    async with firefox(test.artifacts) as browser:
        await browser.open(test.base + "/")
        await browser.click("tab", "Create account")
        await browser.write("User name", fresh("fox"))
        await browser.write("Password", PASSWORD)
        await browser.click("button", "Create account")
        await browser.click("button", "Skip")
        await browser.find("button", "Your profile")
        await browser.click("button", "New conversation")
        await browser.click("tab", "New room")
        await browser.write("Room name", "Den")
        await browser.write("Invite (optional)", friend.user_id)
        await browser.click("button", "Create room")
        await browser.write("Write a message", "Is anybody there?\ue007")
        await browser.sees("Is anybody there?")
        answer = friend.sync_until(lambda answer: answer.get("rooms", {}).get("invite"))
        room = next(iter(answer["rooms"]["invite"]))
        friend.join(room)
        friend.sync_until(lambda answer: "Is anybody there?" in str(answer))
        friend.send(room, "I am.")
        await browser.sees("I am.")
        await browser.picture(os.path.join(test.artifacts, "firefox-room.png"))
        # The session, the room and the messages are in IndexedDB.
        await browser.open("about:blank")
        await browser.open(f"{test.base}/#room/{room}")
        await browser.sees("I am.")
        await browser.click("button", "Members and settings")
        await browser.find("heading", "2 members")
        # It also stops at scrolling boxes, which are announced. Without a screen it reports no focus to pages, so that is done here.
        await browser.run("() => { document.querySelector('.ma-details-body').style.maxHeight = '200px'; }")
        for _ in range(60):
            await browser.keys(TAB)
            if await browser.run("() => document.activeElement.className === 'ma-details-body'"):
                break
        await browser.run("() => { document.activeElement.dispatchEvent(new FocusEvent('focusin', { bubbles: true })); }")
        await browser.find("group", "About", "div")
        assert not browser.troubles, browser.troubles


# Its cameras and microphones are pictures and tones, and it lets pages use them without a question.
DEVICES = {"media_navigator_streams_fake": True, "media_navigator_permission_disabled": True}
PICTURE = """() => {
  const video = document.querySelector('.ma-preview-video');
  return video !== null && video.videoWidth > 0 && video.currentTime > 0.3;
}"""
# Without a loudspeaker it tells no level: then there is no meter.
LEVEL = """() => {
  const meter = document.querySelector('[role=meter]');
  return meter.hidden || Number(meter.ariaValueNow) > 5;
}"""


# Proves A6, C76
@test("Firefox: before a call the user sees and hears themselves, chooses devices, switches both off and on, and starts the call")
async def _(test):
    user, friend = User(test.base, "fox"), User(test.base, "friend")
    room = user.create_room(is_direct=True, invite=[friend.user_id], preset="trusted_private_chat")
    friend.join(room)
    user.put(f"user/{user.user_id}/account_data/m.direct", {friend.user_id: [room]}).ok()
    async with firefox(test.artifacts, **DEVICES) as browser:
        await browser.open(test.base + "/")
        await browser.write("User name", user.user_id)
        await browser.write("Password", PASSWORD)
        await browser.click("button", "Sign in")
        await browser.find("button", "Your profile")
        await browser.open(f"{test.base}/#room/{room}")
        await browser.click("button", "Video call")
        await browser.click("button", "Allow")
        await browser.until(PICTURE)
        await browser.until(LEVEL)
        await browser.picture(os.path.join(test.artifacts, "firefox-preview.png"))
        for kind in ("Camera", "Microphone"):
            await browser.find("combobox", kind)
            await browser.click("switch", kind)
        await browser.until("() => document.querySelector('.ma-preview-video').hidden && document.querySelector('[role=meter]').hidden")
        for kind in ("Camera", "Microphone"):
            await browser.click("switch", kind)
        await browser.until(PICTURE)
        await browser.until(LEVEL)
        await browser.click("button", "Start call")
        friend.sync_until(lambda answer: "m.call.invite" in str(answer))
        await browser.click("button", "Hang up")
        friend.sync_until(lambda answer: "m.call.hangup" in str(answer))
        assert not browser.troubles, browser.troubles


@test("Firefox: an encrypted room is read and written, and read again after a reload")
async def _(test):
    user, friend = User(test.base, "fox"), User(test.base, "friend")
    room = user.create_room(preset="private_chat", name="Earth", initial_state=[ENCRYPTION], invite=[friend.user_id])
    friend.join(room)
    async with peers(test, room, [friend], ["v3"]) as (peer,), firefox(test.artifacts) as browser:
        await browser.open(test.base + "/")
        await browser.write("User name", user.user_id)
        await browser.write("Password", PASSWORD)
        await browser.click("button", "Sign in")
        await browser.find("button", "Your profile")
        await browser.open(f"{test.base}/#room/{room}")
        await has_device(user)
        # What an unsigned device says gets a sign beside it as soon as that is known.
        await peer.ask("setUpRecovery")
        await has_identity(friend)
        await peer.ask("send", text="the hole has two ends")
        await browser.sees("the hole has two ends")
        await browser.write("Write a message", "and a third\ue007")
        await reads(peer, "the hole has two ends", "and a third")
        # The keys are in IndexedDB.
        await browser.open("about:blank")
        await browser.open(f"{test.base}/#room/{room}")
        await browser.sees("the hole has two ends")
        await browser.sees("and a third")
        await browser.picture(os.path.join(test.artifacts, "firefox-encrypted.png"))
        assert not browser.troubles, browser.troubles
