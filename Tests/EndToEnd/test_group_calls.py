"""Calls of rooms in the web client: three browsers with made-up cameras in one room."""
import contextlib
import copy
import os
import re
import tempfile
from urllib.parse import quote

from browser import ARE_CLOSED, CAPTURES, MAY_CALL, PHONE, Watch, in_room, still
from call_client import CallSocket
from client import User, fresh, room_path
from harness import PATIENCE, NotRun, test
from load_peers import Peers, build
from lossy_link import LossyLink
from server import ROOT
from test_calling import HEARS, SEVERAL_DEVICES, choose_others
from test_calls_page import ARRIVED, PEERS
from test_encrypted_page import has_device
from test_nio import ENCRYPTION

NEEDS_BROWSER = True

MEMBER = "org.matrix.msc3401.call.member"
# Everybody may be in the call; the first one moderates.
POWER = {"events": {MEMBER: 0}}
# How many pictures a video has decoded has no role; neither has which tile is large.
FIRST = "() => [...document.querySelectorAll('.gc-tile:not(.gc-own) video')].some(video => video.getVideoPlaybackQuality().totalVideoFrames > 0)"
# Of so many tiles with a picture of somebody else, each has decoded more pictures than before.
SEE = """count => {
  const videos = [...document.querySelectorAll('.gc-tile:not(.gc-own):not(.gc-plain) video')];
  globalThis.decoded ??= new Map();
  return videos.length === count && videos.every(video => {
    if (!globalThis.decoded.has(video)) globalThis.decoded.set(video, video.getVideoPlaybackQuality().totalVideoFrames);
    return video.getVideoPlaybackQuality().totalVideoFrames > globalThis.decoded.get(video) + 10;
  });
}"""


@contextlib.asynccontextmanager
async def garden(test, *names, base=None, is_encrypted=False, **options):
    """These people in one room, open in their browsers at the server, or at `base`; (the room's ID, accounts by name, people…)."""
    if not os.path.exists(os.path.join(ROOT, ".build", "web", "RoomCalls.wasm")):
        raise NotRun("not built: Scripts/build-web RoomCalls")
    # The check of answers stands before the server and lets no sockets through.
    test = copy.copy(test)
    test.base = base or test.direct
    users = {name: User(test.direct, name) for name in names}
    first, *others = users.values()
    room = first.create_room(
        name="Garden", invite=[user.user_id for user in others], power_level_content_override=POWER, initial_state=[ENCRYPTION] if is_encrypted else [])
    for user in others:
        user.join(room)
    async with in_room(test, room, users, **{**MAY_CALL, **options}) as everybody:
        for person, user in zip(everybody, users.values()):
            person.name = user.user_id[1:].split(":")[0]
            if is_encrypted:
                await has_device(user)
        yield room, users, *everybody


# What stands above a room in which a call goes on, whether it rings or has rung.
CALLS = re.compile("is calling in|Call in progress")


def button(person, name):
    return person.page.get_by_role("button", name=name, exact=True)


def large(person):
    return person.page.locator(".gc-large")


async def without_picture(person, other):
    """The tile of somebody whose camera is off: the initials stand there."""
    tile = person.page.get_by_role("group", name=other.name)
    await tile.wait_for()
    await tile.get_by_label("picture").wait_for(state="hidden")


async def sees(person, others):
    """So many others, each moving."""
    await person.page.evaluate("globalThis.decoded = undefined")
    await person.until(SEE, others)


async def speaks_at(person, speaker):
    """That tile has the mark, alone; neither the mark nor the own tile has a role."""
    tile = person.page.locator(".gc-own") if person is speaker else person.page.get_by_role("group", name=speaker.name)
    await tile.and_(person.page.locator(".gc-speaks")).wait_for()
    assert await person.page.locator(".gc-speaks").count() == 1


def memberships(user, room):
    """Of those who are in the call by the room's state."""
    return [event for event in user.get(room_path(room, "state")).ok() if event["type"] == MEMBER and event["content"]]


def members(user, room):
    return sorted(event["sender"] for event in memberships(user, room))


async def until_members(person, user, room, wanted):
    for _ in range(10 * PATIENCE):
        if members(user, room) == sorted(wanted):
            return
        await person.page.wait_for_timeout(100)
    raise AssertionError((members(user, room), wanted))


# Proves A5, A7, A9, A11, A14, A16, A17, A18, L6, L18, M43, Q1
@test("three people in a room's call see each other; one speaks large, is muted here, muted for all, and removed; the last one ends it")
async def _(test):
    async with garden(test, "alice", "boris", "carol") as (room, users, alice, boris, carol):
        await alice.begin_call()
        await alice.page.get_by_text("1 person ·").wait_for()
        for person in (boris, carol):
            # It rings in so small a room. Who wants not now may still come later.
            await person.page.get_by_text(f"{alice.name} is calling in Garden").wait_for()
            if person is carol:
                await button(person, "Not now").click()
                await person.page.get_by_text("Call in progress: 2 people").wait_for()
            watch = Watch()
            await person.begin_call("Join")
            await person.until(FIRST)
            print(f"          from Join to the first picture of another: {watch.read():.0f} ms")
        for person in (alice, boris, carol):
            await sees(person, 2)
            assert await person.page.get_by_text("Call in progress").is_hidden()
        await until_members(alice, users["alice"], room, [user.user_id for user in users.values()])
        meeting = users["alice"].get("/_matrix/client/v1/rtc/transports").ok()["rtc_transports"]
        assert meeting and all(event["content"]["foci_preferred"] == meeting for event in memberships(users["alice"], room)), meeting
        await alice.page.get_by_role("group", name=boris.name).wait_for()
        await alice.picture("group-call-grid")
        await button(alice, "Speaker").click()
        await large(alice).locator("video").wait_for()
        await sees(alice, 2)
        await alice.picture("group-call-speaker")
        await button(alice, "Grid").click()
        # Beside another room the call is a small window over it.
        await alice.page.evaluate("() => { location.hash = ''; }")
        await button(alice, "Back to the call").wait_for()
        window = await still(alice.page.get_by_role("region", name="Call in Garden"))
        assert window["width"] <= 320 and window["x"] + window["width"] > 1200 and window["y"] > 300, window
        await button(alice, "Back to the call").click()
        await button(carol, "Share screen").click()
        screen = alice.page.get_by_role("group", name=f"{carol.name}’s screen")
        await screen.and_(large(alice)).wait_for()
        shown = await screen.locator("video").element_handle()
        await alice.until("video => video.getVideoPlaybackQuality().totalVideoFrames > 2", shown)
        await alice.picture("group-call-screen")
        await button(carol, "Stop sharing").click()
        await screen.wait_for(state="detached")

        await alice.page.get_by_role("group", name=boris.name).hover()
        await button(alice, f"Mute {boris.name} for me").click()
        await button(alice, f"Unmute {boris.name} for me").click()
        await button(alice, f"Mute {boris.name} for everybody").click()
        await boris.page.get_by_text("A moderator has muted you.").wait_for()
        await button(boris, "Unmute").click()
        await button(boris, "Mute").wait_for()
        assert await button(boris, f"Mute {carol.name} for everybody").count() == 0
        await button(boris, "Stop video").click()
        await without_picture(alice, boris)
        await carol.write("Can you see my message?")
        await alice.sees("Can you see my message?")

        await button(alice, f"Remove {boris.name} from the call").click()
        await boris.page.get_by_text("A moderator has removed you from the call.").wait_for()
        await boris.page.get_by_text("Call in progress: 2 people").wait_for()
        await sees(alice, 1)
        await button(carol, "Hang up").click()
        await alice.page.get_by_text("1 person ·").wait_for()
        await button(alice, "Hang up").click()
        for person in (alice, boris, carol):
            await person.page.get_by_text("Call in progress").wait_for(state="hidden")
            await person.until("() => document.querySelectorAll('video').length === 0")
        await until_members(alice, users["alice"], room, [])
        await alice.told(f"{boris.name} joined the call")
        await alice.told(re.compile(rf"{carol.name} left the call \(\d+:\d\d\)"))
        # The last one who left ended it; the line stands for itself, with everybody who was there.
        ended = boris.page.get_by_role("article").filter(has_text=re.compile(r"Call of \d+:\d\d"))
        await ended.wait_for()
        text = await ended.inner_text()
        assert alice.name in text and carol.name in text and "You" in text, text


# Proves A6
@test("another camera and microphone are chosen in a room's call: everybody sees and hears by them, and those before are closed")
async def _(test):
    async with garden(test, "alice", "boris", "carol", flags=SEVERAL_DEVICES) as (_, _, alice, boris, carol):
        await alice.page.evaluate(CAPTURES)
        await alice.begin_call()
        for person in (boris, carol):
            await person.page.get_by_text(CALLS).wait_for()
            await person.begin_call("Join")
        for person in (alice, boris, carol):
            await sees(person, 2)
        await choose_others(alice)
        await alice.picture("group-call-devices")
        for person in (boris, carol):
            await sees(person, 2)
            assert await person.page.evaluate(HEARS, f'[role=group][aria-label="{alice.name}"]')
        await button(alice, "Devices").click()
        await alice.page.get_by_role("combobox", name="Camera").wait_for(state="detached")
        await button(alice, "Hang up").click()
        await alice.until(ARE_CLOSED)


# Proves A13, A18
@test("a call on a phone: a user without a camera takes part, and one who vanishes leaves it")
async def _(test):
    async with garden(test, "alice", "boris", viewport=PHONE) as (room, users, alice, boris):
        await boris.page.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); }; }")
        await alice.begin_call()
        await boris.page.get_by_text(CALLS).wait_for()
        await boris.picture("group-call-bar-phone")
        await boris.begin_call("Join")
        await boris.page.get_by_text("Camera and microphone cannot be opened. You see and hear the others all the same.").wait_for()
        await sees(boris, 1)
        await without_picture(alice, boris)
        await until_members(alice, users["alice"], room, [user.user_id for user in users.values()])
        await boris.picture("group-call-phone")
        # The page is not told that it ends.
        with contextlib.suppress(Exception):
            await boris.page.goto("chrome://crash", timeout=3000)
        boris.troubles.clear()
        # The server carries the delayed event out.
        for _ in range(2 * PATIENCE):
            if members(users["alice"], room) == [users["alice"].user_id]:
                break
            await alice.page.wait_for_timeout(1000)
        assert members(users["alice"], room) == [users["alice"].user_id]
        await button(alice, "Hang up").click()


@test("a call ends when another tab takes over: others are told, devices close, that tab can join")
async def _(test):
    async with garden(test, "alice", "boris") as (room, users, alice, boris):
        await alice.page.evaluate(CAPTURES)
        await alice.begin_call()
        await boris.page.get_by_text(CALLS).wait_for()
        await boris.begin_call("Join")
        for person in (alice, boris):
            await sees(person, 1)
        await until_members(alice, users["alice"], room, [user.user_id for user in users.values()])
        first, alice.page = alice.page, await alice.go_on_in_another_tab()
        await boris.page.get_by_text("1 person ·").wait_for()
        await first.wait_for_function(ARE_CLOSED)
        await until_members(alice, users["alice"], room, [users["boris"].user_id])
        await alice.open_room(room)
        await alice.begin_call("Join")
        for person in (alice, boris):
            await sees(person, 1)
        await button(alice, "Hang up").click()
        await button(boris, "Hang up").click()


# Proves A8
@test("everybody sees a mark at the speaker, which moves to the next speaker")
async def _(test):
    async with garden(test, "alice", "boris", "carol") as (_, _, *everybody):
        await everybody[0].begin_call()
        for person in everybody[1:]:
            await person.page.get_by_text(CALLS).wait_for()
            await person.begin_call("Join")
        for person in everybody:
            await sees(person, 2)
            await button(person, "Mute").click()
        for speaker in (*everybody[1:], everybody[1]):
            await button(speaker, "Unmute").click()
            for person in everybody:
                await speaks_at(person, speaker)
            await button(speaker, "Mute").click()


# Proves A12
@test("a call whose server is cut off says so; pictures go on, and so does the call when it is back")
async def _(test):
    link = await LossyLink(test.direct).start()
    try:
        async with garden(test, "alice", "boris", base=link.base) as (_, _, alice, boris):
            await alice.begin_call()
            await boris.page.get_by_text(CALLS).wait_for()
            await boris.begin_call("Join")
            for person in (alice, boris):
                await sees(person, 1)
            interrupted = [person.page.get_by_text("The connection was interrupted. Trying again…") for person in (alice, boris)]
            link.lose("refuse", None)
            for person, words in zip((alice, boris), interrupted):
                await words.wait_for()
                await sees(person, 1)
            link.heal()
            for person, words in zip((alice, boris), interrupted):
                await words.wait_for(state="hidden")
                await person.page.get_by_text("2 people ·").wait_for()
            await button(boris, "Stop video").click()
            await without_picture(alice, boris)
    finally:
        await link.close()


# Proves M42
@test("keys for encrypted media go from device to device as they are, to those named alone, by sync and by sliding sync", browser=False)
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    phone, desk = boris, User(test.base, login_as=boris)
    key = {"keys": {"index": 255, "key": "c2VjcmV0"}, "room_id": "!r:example.org", "sent_ts": 1_700_000_000_000,
           "member": {"id": f"{alice.user_id}:{alice.device_id}", "claimed_device_id": alice.device_id},
           "session": {"application": "m.call", "call_id": "", "scope": "m.room"}}
    for kind, device in (("io.element.call.encryption_keys", phone), ("m.rtc.encryption_key", desk)):
        alice.put(f"sendToDevice/{kind}/{fresh('t')}", {"messages": {boris.user_id: {device.device_id: key}}}).ok()
    expected = [{"type": "io.element.call.encryption_keys", "sender": alice.user_id, "content": key}]
    assert phone.sync()["to_device"]["events"] == expected
    sliding = desk.post("/_matrix/client/unstable/org.matrix.simplified_msc3575/sync", {"extensions": {"to_device": {"enabled": True}}}).ok()
    assert sliding["extensions"]["to_device"]["events"] == [{**expected[0], "type": "m.rtc.encryption_key"}]


async def come(user, room, transports):
    """Somebody in the room's call without a page: a membership in the room, and a connection."""
    membership = {"application": "m.call", "call_id": "", "scope": "m.room", "device_id": user.device_id, "expires": 3_600_000,
                  "focus_active": {"type": transports[0]["type"], "focus_selection": "oldest_membership"}, "foci_preferred": transports}
    user.put(room_path(room, "state", MEMBER, f"_{user.user_id}_{user.device_id}_m.call"), membership).ok()
    ticket = user.post(f"/_matrix/client/unstable/martlet.call/rooms/{quote(room, safe='')}/token", {}).ok()
    return await CallSocket(user.base).connect(ticket["session_id"], ticket["token"])


# Proves A15
@test("fifty people are in a room's call at once: each is heard and has a tile with a name, and the next one is told to wait", alone=True)
async def _(test):
    others = 49
    async with garden(test, "alice", "boris") as (room, users, alice, boris):
        transports = users["alice"].get("/_matrix/client/v1/rtc/transports").ok()["rtc_transports"]
        with tempfile.TemporaryDirectory(prefix="martlet-fifty-") as folder:
            peers, guests, calls = Peers(build(folder), "127.0.0.1", others, 300), [], []
            try:
                for slot in range(others):
                    user = User(test.direct, "guest")
                    users["alice"].post(room_path(room, "invite"), {"user_id": user.user_id}).ok()
                    user.join(room)
                    guests.append(user)
                    calls.append(await come(user, room, transports))
                    await peers.publish(calls[-1], slot)
                await alice.page.add_init_script(PEERS)
                await alice.page.reload()
                await alice.open_room(room)
                await alice.begin_call("Join")
                await alice.page.get_by_text("50 people ·").wait_for()
                await alice.until(f"async count => {{ const {{ agreed, audio, video }} = await ({ARRIVED})();"
                                  " return agreed.audio === count && agreed.video === count && audio === count && video > 0; }", others)
                for guest in guests:
                    await alice.page.get_by_role("group", name=guest.user_id[1:].split(":")[0], exact=True).wait_for()
                await alice.picture("group-call-fifty")
                await boris.page.get_by_text("Call in progress: 50 people").wait_for()
                await button(boris, "Join").click()
                await boris.page.get_by_text("There are 50 people in this call already. Try again later.").wait_for()
                await button(alice, "Hang up").click()
                await boris.page.get_by_text("Call in progress: 49 people").wait_for()
            finally:
                peers.end()
                for call in calls:
                    await call.close()
