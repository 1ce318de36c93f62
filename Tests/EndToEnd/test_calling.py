"""One person calls another in the web client: two browsers with pictures and tones for cameras and microphones."""
import asyncio
import contextlib
import re

from accessibility import TARGETS, check
from browser import ARE_CLOSED, CAPTURES, MAY_CALL, MEDIA_FLAGS, expect, in_room, people, still
from client import User, room_path
from harness import test
from test_encrypted_page import has_device

NEEDS_BROWSER = True

# With minutes and seconds; on a slow machine it takes more than one minute.
CALL_THAT_ENDED = re.compile(r"A call \(\d+:\d\d\)")

# Three cameras, and microphones.
SEVERAL_DEVICES = [*MEDIA_FLAGS, "--use-fake-device-for-media-stream=device-count=3,fps=10"]
# The picture with that label is seen and moves.
PLAYS = """label => {
  const videos = [...document.querySelectorAll('video')].filter(video => video.ariaLabel === label);
  return videos.some(video => video.videoWidth > 0 && video.currentTime > 0.3);
}"""
# The browser does not let the page use anything, until `allow()`.
REFUSES = """() => {
  const devices = navigator.mediaDevices, open = devices.getUserMedia;
  devices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); };
  globalThis.allow = () => { devices.getUserMedia = open; };
}"""
# Sound of the other side, or of that place, comes in: what the page plays is not silence.
HEARS = """async place => {
  const video = [...document.querySelectorAll(`${place ?? '[aria-label^="Call with "]'} video`)].find(video => !video.muted);
  const track = video?.srcObject?.getAudioTracks()[0];
  if (!track) return false;
  const context = new AudioContext(), analyser = context.createAnalyser(), samples = new Float32Array(analyser.fftSize);
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  let peak = 0;
  for (let k = 0; k < 30 && peak < 0.01; k++) {
    await new Promise(done => setTimeout(done, 50));
    analyser.getFloatTimeDomainData(samples);
    peak = samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), peak);
  }
  await context.close();
  return peak >= 0.01;
}"""


@contextlib.asynccontextmanager
async def direct_chat(test, is_encrypted=False, **options):
    """Alice and Boris in the room of just the two, open in both browsers; (alice, boris, the room, alice's account)."""
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room = just_the_two(alice_user, boris_user)
    if is_encrypted:
        alice_user.state(room, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    options = {**MAY_CALL, **options}
    async with in_room(test, room, {"alice": alice_user, "boris": boris_user}, **options) as (alice, boris):
        alice.name, boris.name = (short_name(user) for user in (alice_user, boris_user))
        if is_encrypted:
            await asyncio.gather(has_device(alice_user), has_device(boris_user))
        yield alice, boris, room, alice_user


def short_name(user):
    return user.user_id[1:].split(":")[0]


def just_the_two(one, other):
    """The room of a direct chat of these accounts."""
    room = one.create_room(is_direct=True, invite=[other.user_id], preset="trusted_private_chat")
    other.join(room)
    for user, partner in ((one, other), (other, one)):
        direct = user.get(f"user/{user.user_id}/account_data/m.direct")
        known = direct.json if direct.status == 200 else {}
        user.put(f"user/{user.user_id}/account_data/m.direct", {**known, partner.user_id: [room]}).ok()
    return room


def button(person, name):
    return person.page.get_by_role("button", name=name, exact=True)


def call(person):
    """The part of the page that it has while it rings and goes on."""
    return person.page.get_by_role("region", name="Call with ")


async def stands_in_the_corner(person, other):
    """The own picture: small, over the other's, at its lower edge where lines begin."""
    own = await person.page.get_by_label("Your own picture").bounding_box()
    theirs = await person.page.get_by_label(f"{other.name}’s picture").bounding_box()
    below = theirs["y"] + theirs["height"] - own["y"] - own["height"]
    assert 0 < own["x"] - theirs["x"] < 20 and 0 < below < 20 and own["width"] * 3 < theirs["width"], (own, theirs)


def events(user, room, kind):
    chunk = user.get(room_path(room, "messages"), dir="b", limit=50).ok()["chunk"]
    return [event for event in chunk if event["type"] == kind]


# Proves A1, A5, A10, A11, L13, M43, T24
@test("a call with camera rings, is answered, both see and hear each other, one mutes, writes and hangs up")
async def _(test):
    async with direct_chat(test, scheme="dark") as (alice, boris, room, alice_user):
        await alice.begin_call("Video call")
        await alice.page.get_by_text("Ringing…").wait_for()
        await boris.page.get_by_text(f"{alice.name} is calling with camera.").wait_for()
        await boris.picture("call-rings-dark")
        await button(boris, "Answer with camera").click()
        for person, other in ((alice, boris), (boris, alice)):
            await person.until(PLAYS, f"{other.name}’s picture")
            await person.until(PLAYS, "Your own picture")
            assert await person.page.evaluate(HEARS), f"{person.name} hears nothing"
            await stands_in_the_corner(person, other)
        await alice.picture("call-dark")
        await button(alice, "Mute").click()
        await boris.page.get_by_text(f"{alice.name} has turned the microphone off.").wait_for()
        await button(alice, "Unmute").click()
        await call(boris).get_by_role("status").get_by_text(":").wait_for()
        await button(boris, "Stop video").click()
        await alice.page.get_by_label(f"{boris.name}’s picture").wait_for(state="hidden")
        await alice.write("Can you see this?")
        await boris.sees("Can you see this?")
        await button(boris, "Hang up").click()
        for person in (alice, boris):
            await call(person).wait_for(state="detached")
        await alice.page.get_by_text("The call has ended.").wait_for()
        assert len(events(alice_user, room, "m.call.hangup")) == 1 and len(events(alice_user, room, "m.call.select_answer")) == 1
        for person in (alice, boris):
            await person.until("() => document.querySelectorAll('video').length === 0")
            await person.page.get_by_text(CALL_THAT_ENDED).wait_for()


@test("a call in an encrypted chat rings, is answered and hung up, and the server reads none of what sets it up")
async def _(test):
    async with direct_chat(test, is_encrypted=True) as (alice, boris, room, alice_user):
        for person, other in ((alice, boris), (boris, alice)):
            await person.write(f"hello from {person.name}")
            await other.sees(f"hello from {person.name}")
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        for person, other in ((alice, boris), (boris, alice)):
            await person.until(PLAYS, f"{other.name}’s picture")
        await button(boris, "Hang up").click()
        for person in (alice, boris):
            await call(person).wait_for(state="detached")
        await alice.page.get_by_text("The call has ended.").wait_for()
        await alice.page.get_by_text(CALL_THAT_ENDED).wait_for()
        said = alice_user.get(room_path(room, "messages"), dir="b", limit=100).ok()["chunk"]
        kinds = {event["type"] for event in said if "state_key" not in event}
        assert kinds == {"m.room.encrypted"}, kinds


async def loudness(person):
    """What the meter of the preview says, in percent."""
    return int(await person.preview.get_by_role("meter", name="Microphone level").get_attribute("aria-valuenow"))


async def choose_last(person, kind):
    """Of the preview's devices of that kind; its ID."""
    field = person.preview.get_by_role("combobox", name=kind)
    await field.wait_for()
    names = await field.get_by_role("option").all_text_contents()
    assert len(names) > 1, names
    await field.select_option(names[-1])
    return await field.input_value()


# Proves A6
@test("before a call its maker sees themselves, sees how loud they are and chooses devices; nothing is sent or rung before the button")
async def _(test):
    async with direct_chat(test, flags=SEVERAL_DEVICES) as (alice, boris, room, alice_user):
        await alice.page.evaluate(CAPTURES)
        await button(alice, "Video call").click()
        await alice.until(PLAYS, "Your own picture")
        await alice.until("() => Number(document.querySelector('[role=meter]').ariaValueNow) > 5")
        await check(alice, "before a call")
        await alice.picture("call-preview")
        camera, microphone = await choose_last(alice, "Camera"), await choose_last(alice, "Microphone")
        await choose_last(alice, "Loudspeaker")
        await alice.until("id => captured.some(track => track.readyState === 'live' && track.getSettings().deviceId === id)", microphone)
        await alice.until(PLAYS, "Your own picture")
        # What is off is closed.
        for kind in ("Camera", "Microphone"):
            await alice.preview.get_by_role("switch", name=kind).click()
        await alice.until(ARE_CLOSED)
        await alice.preview.get_by_label("Your own picture").wait_for(state="hidden")
        await alice.preview.get_by_role("meter").wait_for(state="hidden")
        await alice.preview.get_by_role("switch", name="Camera").click()
        await alice.until(PLAYS, "Your own picture")
        await alice.preview.get_by_role("button", name="Cancel").click()
        await alice.preview.wait_for(state="detached")
        await alice.until(ARE_CLOSED)
        assert events(alice_user, room, "m.call.invite") == [] and await call(alice).count() == await call(boris).count() == 0

        # Devices are kept once a call began; without a camera it is one without a picture.
        await button(alice, "Video call").click()
        await choose_last(alice, "Camera")
        await choose_last(alice, "Microphone")
        await alice.preview.get_by_role("switch", name="Camera").click()
        await alice.preview.get_by_role("button", name="Start call").click()
        await boris.page.get_by_text(f"{alice.name} is calling.", exact=True).wait_for()
        used = await alice.page.evaluate("() => captured.filter(track => track.readyState === 'live').map(track => track.getSettings().deviceId)")
        assert used == [microphone], used
        await button(alice, "Hang up").click()
        await button(alice, "Video call").click()
        await alice.until(PLAYS, "Your own picture")
        for kind, device in (("Camera", camera), ("Microphone", microphone)):
            await expect(alice.preview.get_by_role("combobox", name=kind)).to_have_value(device)


# Proves A13
@test("why the browser will ask is said before it does, and after a refusal what to do; a person who is called for the first time is told, too")
async def _(test):
    async with direct_chat(test, permissions=None) as (alice, boris, room, alice_user):
        for person in (alice, boris):
            await person.page.evaluate(CAPTURES)
        await alice.page.evaluate(REFUSES)
        await button(alice, "Video call").click()
        reason = alice.preview.get_by_role("status").filter(has_text="allow Martlet to use your camera and microphone")
        await reason.wait_for()
        await check(alice, "before the browser asks")
        await alice.picture("call-preview-asks")
        await alice.preview.get_by_role("button", name="Allow").click()
        await alice.preview.get_by_text("The browser does not let this page see or hear you.").wait_for()
        await expect(alice.preview.get_by_role("button", name="Start call")).to_be_disabled()
        await expect(alice.preview.get_by_role("button", name="Try again")).to_be_focused()
        await alice.picture("call-preview-refused")
        await alice.page.evaluate("allow()")
        await alice.preview.get_by_role("button", name="Try again").click()
        await alice.until(PLAYS, "Your own picture")
        await expect(alice.preview.get_by_role("button", name="Start call")).to_be_focused()
        await reason.wait_for(state="hidden")
        assert events(alice_user, room, "m.call.invite") == []
        await alice.preview.get_by_role("button", name="Start call").click()

        # What need not be answered any more goes.
        await button(boris, "Answer with camera").click()
        await boris.preview.get_by_text("allow Martlet to use your camera and microphone").wait_for()
        assert await boris.page.evaluate("captured.length") == 0 and await alice.page.get_by_text("Ringing…").is_visible()
        await button(alice, "Hang up").click()
        await boris.preview.wait_for(state="detached")
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        await boris.preview.get_by_role("button", name="Answer", exact=True).click()
        for person, other in ((alice, boris), (boris, alice)):
            await person.until(PLAYS, f"{other.name}’s picture")
        await button(alice, "Hang up").click()


# Proves A5
@test("a call has one header, at most three fifths of the height, six controls, and in a wide window the messages beside it")
async def _(test):
    async with direct_chat(test) as (alice, boris, _, _):
        page = alice.page
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        await alice.until(PLAYS, f"{boris.name}’s picture")
        await check(alice, "in a call")
        main, stage = page.get_by_role("main"), call(alice)
        # The other's name stands once above the messages, and no button calls a person who is in the call.
        assert await main.get_by_role("heading", name=alice.name).or_(main.get_by_role("heading", name=boris.name)).count() == 1
        assert await main.get_by_role("button", name="Video call").count() == await main.get_by_role("button", name="Call", exact=True).count() == 0
        controls = await stage.get_by_role("button").all_inner_texts()
        assert [words for words in controls if words != "Picture in picture"] == ["Mute", "Stop video", "Share screen", "Devices", "Hang up"], controls
        for height in (800, 600):
            await page.set_viewport_size({"width": 1280, "height": height})
            await expect(button(alice, "Hang up")).to_be_in_viewport(ratio=1)
            assert (await still(stage))["height"] <= 0.6 * height + 1, await still(stage)
            await expect(alice.composer).to_be_in_viewport(ratio=1)

        await page.set_viewport_size({"width": 1280, "height": 800})
        chosen = await edge_moves(alice, page.get_by_label(f"{boris.name}’s picture"))
        await page.set_viewport_size({"width": 1600, "height": 900})
        await edge(alice).wait_for(state="hidden")
        call_box, composer = await still(stage), await still(alice.composer)
        assert call_box["x"] + call_box["width"] <= composer["x"] and call_box["height"] > 800, (call_box, composer)
        await alice.picture("call-beside")
        # A panel takes the place beside it.
        await button(alice, "Members and settings").click()
        await alice.details.wait_for()
        assert (await still(alice.composer))["y"] > (await still(stage))["y"] + (await still(stage))["height"]
        await button(alice, "Hang up").click()

        await page.set_viewport_size({"width": 1280, "height": 800})
        await page.reload()
        await alice.begin_call("Video call")
        await page.get_by_text("Ringing…").wait_for()
        assert await edge(alice).evaluate(ABOVE) == chosen
        await button(alice, "Hang up").click()


# How high the stage of a call is, which stands above its edge.
ABOVE = "edge => edge.previousElementSibling.getBoundingClientRect().height"


def edge(person):
    """Between a call and its messages."""
    return person.page.get_by_role("separator", name="Height of the call")


async def edge_moves(person, picture):
    """By pointer and keys, as far as both sides have room. Returns the height it ends with."""
    page, line = person.page, edge(person)

    async def drag(pixels):
        box = await still(line)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x, y + pixels, steps=5)
        await page.mouse.up()
        return (await still(picture))["height"]

    async def press(key):
        await line.press(key)
        return (await still(picture))["height"], int(await line.get_attribute("aria-valuenow"))

    async def conversation():
        main, above = await still(page.get_by_role("main")), await still(line)
        return main["y"] + main["height"] - above["y"] - above["height"]

    default = (await still(picture))["height"]
    assert abs(await drag(-100) - (default - 100)) <= 1
    height, _ = await press("ArrowDown")
    assert abs(height - (default - 76)) <= 1, (default, height)
    height, _ = await press("ArrowUp")
    assert abs(height - (default - 100)) <= 1, (default, height)
    least, value = await press("Home")
    assert (least, value) == (120, 0) == await press("ArrowUp")
    most, value = await press("End")
    assert value == 100 and most > default and abs(await conversation() - 160) <= 1, (most, value, await conversation())
    await expect(person.composer).to_be_in_viewport(ratio=1)
    assert await drag(50) == most and await drag(-5_000) == least
    await line.dblclick()
    assert (await still(picture))["height"] == default
    chosen = await drag(-60)
    assert 0 < int(await line.get_attribute("aria-valuenow")) < 100
    return chosen


# Proves A5, A7
@test("the camera is switched on later in a call that began with sound only; one that cannot be opened is explained")
async def _(test):
    async with direct_chat(test) as (alice, boris, _, _):
        await alice.page.evaluate(CAPTURES)
        await alice.begin_call()
        await button(boris, "Answer").click()
        for person in (alice, boris):
            await call(person).get_by_role("status").get_by_text(":").wait_for()
            assert await person.page.locator("video").count() == 1, "only the other's sound"
        await alice.page.evaluate(REFUSES)
        await button(alice, "Start video").click()
        await alice.page.get_by_text("The camera cannot be opened.").wait_for()
        await alice.page.evaluate("allow()")
        await button(alice, "Mute").click()
        await button(alice, "Start video").click()
        await alice.until(PLAYS, "Your own picture")
        await boris.until(PLAYS, f"{alice.name}’s picture")
        await boris.page.get_by_text(f"{alice.name} has turned the microphone off.").wait_for()
        await button(alice, "Unmute").click()
        await button(boris, "Start video").click()
        await alice.until(PLAYS, f"{boris.name}’s picture")
        await stands_in_the_corner(alice, boris)
        for person in (alice, boris):
            assert await person.page.evaluate(HEARS), f"{person.name} hears nothing"
        await button(alice, "Stop video").click()
        await boris.page.get_by_label(f"{alice.name}’s picture").wait_for(state="hidden")
        await button(alice, "Start video").click()
        await boris.page.get_by_label(f"{alice.name}’s picture").wait_for()
        await button(boris, "Hang up").click()
        await call(alice).wait_for(state="detached")
        await alice.until(ARE_CLOSED)


# Proves A5
@test("a call goes on in a small window while another room is open, and in a window of the browser's own, which closes with it")
async def _(test):
    async with direct_chat(test) as (alice, boris, room, _):
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        await alice.until(PLAYS, f"{boris.name}’s picture")
        await alice.page.evaluate("() => { location.hash = ''; }")
        await button(alice, "Back to the call").wait_for()
        window = await still(call(alice))
        assert window["width"] <= 320 and window["x"] + window["width"] > 1200 and window["y"] > 300, window
        await check(alice, "a call beside another room")
        float_button = button(alice, "Picture in picture")
        await float_button.click()
        await expect(float_button).to_have_attribute("aria-pressed", "true")
        await alice.until("() => document.pictureInPictureElement?.videoWidth > 0")
        await float_button.click()
        await expect(float_button).to_have_attribute("aria-pressed", "false")
        await float_button.click()
        await alice.until("() => document.pictureInPictureElement !== null")
        await button(alice, "Back to the call").click()
        await alice.heading(boris.name).wait_for()
        await button(alice, "Hang up").click()
        await alice.until("() => document.pictureInPictureElement === null")


@test("on a phone the header of a chat has the way back, the name, Call and a menu; the name opens the details, the rest is in the menu")
async def _(test):
    async with direct_chat(test, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as (alice, boris, _, _):
        header = alice.page.get_by_role("main").locator("header").first
        names = [await one.get_attribute("aria-label") for one in await header.get_by_role("button").all() if await one.is_visible()]
        assert names == ["Back to conversations", "Members and settings", "Call", "More about this room"], names
        # One presses the name itself.
        spot = await still(alice.heading(boris.name))
        await alice.page.touchscreen.tap(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
        await alice.details.wait_for()
        await alice.details.get_by_role("button", name="Close").click()
        await button(alice, "More about this room").click()
        for words in ("Members and settings", "Search in this room", "Pinned messages"):
            assert await alice.line(words).count() == 1, words
        await alice.choose("Video call")
        await alice.until(PLAYS, "Your own picture")
        assert await alice.page.evaluate(TARGETS) == []
        sheet = await still(alice.preview)
        assert sheet["width"] >= 340 and sheet["y"] + sheet["height"] > 700, sheet
        await alice.picture("call-preview-phone")


def answering(content):
    return lambda route: route.fulfill(json=content)


@test("a homeserver that names servers for calls which the browser refuses ends no page, and the call comes about by others")
async def _(test):
    async with direct_chat(test, service_workers="block") as (alice, boris, room, alice_user):
        odd = {"uris": ["bad", "turn:x.example", "turn:127.0.0.1:9?transport=udp"], "ttl": 86400}
        for person, answer in ((alice, {**odd, "username": "u", "password": "p"}), (boris, odd)):
            await person.page.route("**/voip/turnServer*", answering(answer))
        await alice.begin_call()
        await button(boris, "Answer").click()
        await call(alice).get_by_role("status").get_by_text(":").wait_for()
        assert await alice.page.evaluate(HEARS) and await boris.page.evaluate(HEARS)
        await button(alice, "Hang up").click()
        await call(boris).wait_for(state="detached")


# Proves A2, A7
@test("a declined voice call tells the caller; a call that the caller cancels stops ringing")
async def _(test):
    async with direct_chat(test) as (alice, boris, room, alice_user):
        await alice.begin_call()
        await boris.page.get_by_text(f"{alice.name} is calling.", exact=True).wait_for()
        assert await button(boris, "Answer with camera").count() == 0
        await button(boris, "Decline").click()
        await alice.page.get_by_text(f"{boris.name} declined the call.").wait_for()
        for person in (alice, boris):
            await person.page.get_by_text("A call, declined").wait_for()
        await boris.begin_call()
        await button(alice, "Answer").wait_for()
        await button(boris, "Hang up").click()
        await call(alice).wait_for(state="detached")
        await alice.page.get_by_text("Missed call").wait_for()
        await alice.begin_call()
        await button(boris, "Answer").click()
        await call(alice).get_by_role("status").get_by_text(":").wait_for()
        assert await alice.page.evaluate(HEARS) and await boris.page.evaluate(HEARS)
        await button(alice, "Share screen").click()
        await boris.until(PLAYS, f"{alice.name}’s picture")
        await boris.picture("call-screen")
        await button(alice, "Hang up").click()
        await call(boris).wait_for(state="detached")


# Proves A3
@test("during a call, declining a second call says busy, and answering it ends the first")
async def _(test):
    users = {name: User(test.base, name) for name in ("alice", "boris", "carol")}
    room = just_the_two(users["alice"], users["boris"])
    other = just_the_two(users["carol"], users["boris"])
    async with people(test, *users, **MAY_CALL) as (alice, boris, carol):
        for person, user in zip((alice, boris, carol), users.values()):
            person.name = short_name(user)
            await person.sign_in(user)
            await person.open_room(other if person is carol else room)
        first = boris.page.get_by_role("region", name=f"Call with {alice.name}")
        second = boris.page.get_by_role("region", name=f"Call with {carol.name}")
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        await boris.until(PLAYS, f"{alice.name}’s picture")

        await carol.begin_call()
        await second.get_by_text(f"{carol.name} is calling.", exact=True).wait_for()
        await boris.picture("call-second")
        await second.get_by_role("button", name="Decline").click()
        await second.wait_for(state="detached")
        await carol.page.get_by_text(f"{boris.name} is in another call.").wait_for()
        await call(carol).wait_for(state="detached")
        assert await first.count() == 1 and await first.get_by_role("status").get_by_text(":").count() == 1

        # One that is taken back is gone, and the call goes on.
        await carol.begin_call()
        await second.wait_for()
        await button(carol, "Hang up").click()
        await second.wait_for(state="detached")
        await boris.until(PLAYS, f"{alice.name}’s picture")

        await carol.begin_call("Video call")
        await second.get_by_role("button", name="Hang up and answer").click()
        await alice.page.get_by_text("The call has ended.").wait_for()
        await call(alice).wait_for(state="detached")
        await first.wait_for(state="detached")
        for person, opposite in ((boris, carol), (carol, boris)):
            await person.until(PLAYS, f"{opposite.name}’s picture")
        # Answering has led to its room.
        await boris.heading(carol.name).wait_for()
        # Back in the other room the call is a small window that leads to its own.
        await boris.open_room(room)
        await boris.picture("call-elsewhere")
        await second.get_by_role("button", name="Back to the call").click()
        await boris.heading(carol.name).wait_for()
        await second.get_by_role("button", name="Stop video").wait_for()
        await second.get_by_role("button", name="Hang up").click()
        await call(carol).wait_for(state="detached")


async def choose_others(person):
    """Another camera and another microphone, by the menu; what was used before (`CAPTURES`) is closed then."""
    await button(person, "Devices").click()
    for kind, track in (("Camera", "video"), ("Microphone", "audio")):
        field = person.page.get_by_role("combobox", name=kind)
        await field.locator("option[selected]").wait_for(state="attached")
        used = await field.input_value()
        assert used == await person.page.evaluate("kind => captured.findLast(track => track.kind === kind).getSettings().deviceId", track)
        names = await field.get_by_role("option").all_text_contents()
        assert len(set(names)) == len(names) > 1, names
        await field.select_option(names[-1])
        await person.until("([kind, used]) => captured.findLast(track => track.kind === kind).getSettings().deviceId !== used", [track, used])
        await expect(field).not_to_have_value(used)
    # Every track that was replaced is closed: nothing films on.
    await person.until("() => captured.filter(track => track.readyState === 'live').length === 2")


# By which camera the own picture comes.
CAMERA = "() => document.querySelector('video[aria-label=\"Your own picture\"]')?.srcObject.getVideoTracks()[0]?.label"


@test("a call that is answered on a phone from the list shows who calls, then leads to its chat, and its camera can be turned")
async def _(test):
    async with direct_chat(test, flags=tuple(SEVERAL_DEVICES)) as (alice, boris, room, alice_user):
        await boris.page.set_viewport_size({"width": 360, "height": 740})
        await boris.page.get_by_role("button", name="Back to conversations").click()
        await alice.begin_call("Video call")
        await call(boris).get_by_role("heading", name=alice.name).wait_for()
        face = await call(boris).locator(".mg-avatar").bounding_box()
        assert face["width"] >= 48, face
        await boris.picture("call-rings-phone-list")
        await button(boris, "Answer with camera").click()
        await boris.heading(alice.name).wait_for()
        await expect(button(boris, "Back to the call")).to_have_count(0)
        await boris.until(PLAYS, "Your own picture")
        # Of the made-up cameras the second one films depths, which no call sends.
        for _ in range(2):
            before = await boris.page.evaluate(CAMERA)
            await button(boris, "Turn camera").click()
            await boris.until("before => { const now = (" + CAMERA + ")(); return now && now !== before; }", before)
        await alice.until(PLAYS, f"{boris.name}’s picture")
        await boris.picture("call-phone-turned")
        await expect(button(alice, "Turn camera")).to_have_count(0)
        await button(boris, "Hang up").click()


# Proves A6
@test("camera, microphone and loudspeaker are chosen in a call, and what was used before is closed")
async def _(test):
    async with direct_chat(test, flags=SEVERAL_DEVICES) as (alice, boris, _, _):
        await alice.page.evaluate(CAPTURES)
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        await boris.until(PLAYS, f"{alice.name}’s picture")
        await choose_others(alice)
        await alice.picture("call-devices")
        await boris.until(PLAYS, f"{alice.name}’s picture")
        assert await boris.page.evaluate(HEARS)

        field = call(alice).get_by_role("combobox", name="Loudspeaker")
        names = await field.get_by_role("option").all_text_contents()
        await field.select_option(names[-1])
        wanted = await field.input_value()
        await alice.until("sink => [...document.querySelectorAll('video')].every(video => video.muted || video.sinkId === sink)", wanted)
        await button(alice, "Devices").click()
        await field.wait_for(state="detached")
        await button(alice, "Hang up").click()
        await alice.until(ARE_CLOSED)


async def rule_time(person, room):
    """A page whose time the test has: nobody waits for what takes minutes."""
    await person.page.clock.install()
    await person.page.reload()
    await person.open_room(room)


async def talk(one, other):
    await one.begin_call()
    await button(other, "Answer").click()
    await call(one).get_by_role("status").get_by_text(":").wait_for()


async def vanish(person, other):
    """Without a word: the page is not told that it ends, and the other one only misses it."""
    with contextlib.suppress(Exception):
        await person.page.goto("chrome://crash", timeout=3000)
    person.troubles.clear()
    await call(other).get_by_role("status").get_by_text("The connection was interrupted. Trying again…").wait_for()


# Proves A4
@test("a call that nobody answers ends: the caller is told, and it stops ringing")
async def _(test):
    async with direct_chat(test) as (alice, boris, room, alice_user):
        await rule_time(alice, room)
        await alice.begin_call()
        await alice.page.get_by_text("Ringing…").wait_for()
        await button(boris, "Answer").wait_for()
        await alice.page.clock.fast_forward("01:31")
        await alice.page.get_by_text(f"{boris.name} did not answer.").wait_for()
        for person, words in ((alice, "No answer"), (boris, "Missed call")):
            await person.page.get_by_text(words, exact=True).wait_for()
        await call(boris).wait_for(state="detached")
        hangups = events(alice_user, room, "m.call.hangup")
        assert [event["content"]["reason"] for event in hangups] == ["invite_timeout"], hangups


# Proves A12
@test("a call whose other end is gone without a word says that the connection is interrupted, and can be ended")
async def _(test):
    async with direct_chat(test) as (alice, boris, _, _):
        await talk(alice, boris)
        await vanish(boris, alice)
        await button(alice, "Hang up").click()
        await call(alice).wait_for(state="detached")
        await alice.page.get_by_text(CALL_THAT_ENDED).wait_for()


# Proves A12
@test("a call whose connection does not come back in time ends and says so, and one can call again")
async def _(test):
    async with direct_chat(test) as (alice, boris, room, alice_user):
        await rule_time(alice, room)
        await talk(alice, boris)
        await vanish(boris, alice)
        await alice.page.clock.fast_forward("00:31")
        await alice.page.get_by_text("The connection was lost. Call again to go on.").wait_for()
        await call(alice).wait_for(state="detached")
        await alice.page.get_by_text(CALL_THAT_ENDED).wait_for()
        hangups = events(alice_user, room, "m.call.hangup")
        assert [event["content"]["reason"] for event in hangups] == ["ice_timeout"], hangups
        await alice.begin_call()
        await alice.page.get_by_text("Ringing…").wait_for()
        await button(alice, "Hang up").click()


# Proves A13, L3
@test("calls made while a page was closed do not ring when it opens, and a refused microphone is explained")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    room = just_the_two(alice_user, boris_user)
    invite = {"call_id": "old", "version": "1", "party_id": "p", "lifetime": 60_000, "offer": {"type": "offer", "sdp": "v=0"}}
    boris_user.put(room_path(room, "send", "m.call.invite", "t1"), invite).ok()
    async with people(test, "alice") as alice:
        await alice.sign_in(alice_user)
        await alice.open_room(room)
        assert await call(alice).count() == 0
        await alice.page.evaluate(REFUSES)
        await alice.begin_call()
        await alice.page.get_by_text("The browser gives this page no microphone or camera.").wait_for()
        assert await call(alice).count() == 0
        assert len(events(alice_user, room, "m.call.invite")) == 1


# Proves C22
@test("a call ends when another tab takes over: the other side is told, camera and microphone close, and the other tab can call")
async def _(test):
    async with direct_chat(test) as (alice, boris, room, alice_user):
        await alice.page.evaluate(CAPTURES)
        await alice.begin_call("Video call")
        await button(boris, "Answer with camera").click()
        for person, other in ((alice, boris), (boris, alice)):
            await person.until(PLAYS, f"{other.name}’s picture")
        first, alice.page = alice.page, await alice.go_on_in_another_tab()
        await boris.page.get_by_text("The call has ended.").wait_for()
        await call(boris).wait_for(state="detached")
        await first.wait_for_function(ARE_CLOSED)
        hangups = events(alice_user, room, "m.call.hangup")
        assert [(event["sender"], event["content"]["reason"]) for event in hangups] == [(alice_user.user_id, "user_hangup")], hangups
        await alice.open_room(room)
        await alice.begin_call()
        await button(boris, "Answer").click()
        await call(alice).get_by_role("status").get_by_text(":").wait_for()
        await button(boris, "Hang up").click()
        await call(alice).wait_for(state="detached")


# Proves A4
@test("a call whose invitation is still on its way when another tab takes over rings no longer than until it is there")
async def _(test):
    async with direct_chat(test, service_workers="block") as (alice, boris, room, alice_user):
        await alice.page.evaluate(CAPTURES)
        held, may_go = asyncio.Event(), asyncio.Event()

        async def hold(route):
            held.set()
            await may_go.wait()
            await route.continue_()

        await alice.page.route("**/send/m.call.invite/*", hold)
        await alice.begin_call()
        await held.wait()
        first, _ = alice.page, await alice.go_on_in_another_tab()
        await first.wait_for_function(ARE_CLOSED)
        assert events(alice_user, room, "m.call.hangup") == []
        may_go.set()
        await boris.page.get_by_text("Missed call").wait_for()
        await call(boris).wait_for(state="detached")
        assert len(events(alice_user, room, "m.call.invite")) == len(events(alice_user, room, "m.call.hangup")) == 1


@test("a call whose program is still being built says so, and begins by itself once it is there")
async def _(test):
    async with direct_chat(test, service_workers="block") as (alice, boris, _, _):
        early = ["the first"]

        async def as_while_building(route):
            if early:
                early.pop()
                await route.fulfill(status=503, headers={"Retry-After": "1"}, body="still being built")
            else:
                await route.continue_()

        await alice.page.route("**/RoomCalls.wasm", as_while_building)
        await alice.begin_call("Video call")
        words = alice.page.get_by_role("alert").filter(has_text="still being built")
        await words.wait_for()
        await boris.page.get_by_text(f"{alice.name} is calling").wait_for()
        await words.wait_for(state="detached")
        await button(alice, "Hang up").click()
        await call(boris).wait_for(state="hidden")
