"""Rooms and people with pictures of every shape: how they look wherever a picture stands for somebody."""
import copy
import struct
import zlib

from browser import MAY_CALL, in_room, people, room_fragment
from client import User, room_path
from harness import test
from looks import zone
from test_browser import fits, upload

NEEDS_BROWSER = True
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
# So many pictures are in view, and all of them have come. They have no role: the name stands beside each.
LOADED = """count => {
  const shown = [...document.querySelectorAll('.mg-avatar-image')].filter(image => image.checkVisibility() && image.hasAttribute('src'));
  return shown.length >= count && shown.every(image => image.dataset.state === 'loaded' && image.naturalWidth > 0);
}"""
# Of faces in view: what is not as wide as it is high, and the shape of each.
SHAPES = """() => [...document.querySelectorAll('.mg-avatar')].filter(face => face.checkVisibility()).map(face => {
  const { width, height } = face.getBoundingClientRect(), round = getComputedStyle(face).borderStartStartRadius;
  return Math.abs(width - height) < 0.5 ? round : `${width} x ${height}`;
})"""


def drawn(width, height, ground, disc):
    """A PNG with a disc in the middle and a frame at its edge: what is cropped or stretched is seen. `ground` None: nothing behind the disc."""
    radius, rows = 0.36 * min(width, height), bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            inside = (x - width / 2) ** 2 + (y - height / 2) ** 2 < radius ** 2
            frame = min(x, y, width - 1 - x, height - 1 - y) < 8
            rows += bytes((*disc, 255)) if inside else bytes(4) if ground is None else bytes((255, 255, 255, 255)) if frame else bytes((*ground, 255))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")


# A broad picture, a tall one, one without a ground, and nobody's.
FACES = {
    "Alice Ashby": (400, 240, (40, 90, 160), (250, 200, 120)), "Boris Brandt": (240, 400, (150, 40, 60), (200, 230, 250)),
    "Carla Cole": (300, 300, None, (60, 140, 60)), "Dora": None,
}


def somebody(base, name):
    user = User(base, name.split()[0].lower())
    user.put(f"profile/{user.user_id}/displayname", {"displayname": name}).ok()
    if FACES[name]:
        give_picture(user, name, FACES[name])
    return user


def give_picture(user, name, shape):
    user.put(f"profile/{user.user_id}/avatar_url", {"avatar_url": upload(user, drawn(*shape), f"{name}.png", "image/png")}).ok()


def village(base):
    """The four of them, in a room with a picture, in a space with one, and in direct chats with the first."""
    users = [somebody(base, name) for name in FACES]
    alice, *others = users
    chats = {}
    for user in others:
        chat = user.create_room(is_direct=True, invite=[alice.user_id], preset="trusted_private_chat")
        alice.join(chat)
        user.send(chat, "see you there")
        chats[user.user_id] = [chat]
    alice.put(f"user/{alice.user_id}/account_data/m.direct", chats).ok()
    room = alice.create_room(name="Allotment", topic="Beds and tools", invite=[user.user_id for user in others])
    space = alice.create_room(name="Village", creation_content={"type": "m.space"}, preset="public_chat")
    for place, shape in ((room, (320, 200, (70, 110, 50), (240, 220, 90))), (space, (200, 320, (90, 60, 120), (250, 240, 230)))):
        alice.put(room_path(place, "state", "m.room.avatar"), {"url": upload(alice, drawn(*shape), "place.png", "image/png")}).ok()
    alice.put(room_path(space, "state", "m.space.child", room), {"via": [alice.user_id.split(":", 1)[1]]}).ok()
    for user in others:
        user.join(room)
    for user in users:
        user.send(room, "the beans are up")
        user.send(room, "come and see")
    return room, users


async def look(person, name, pictures):
    """`pictures`: how many there are at least. Faces of people are round, of rooms and spaces rounded squares."""
    await person.until(LOADED, pictures)
    shapes = await person.page.evaluate(SHAPES)
    assert set(shapes) <= {"50%", "25%"}, shapes
    await person.picture(name)
    return shapes.count("25%")


@test("pictures of people and rooms are round or rounded, whole and in their place, on a desk and a phone, light and dark")
async def _(test):
    room, users = village(test.base)
    users[1].put(f"presence/{users[1].user_id}/status", {"presence": "online"}).ok()
    for scheme in ("light", "dark"):
        async with people(test, "alice", viewport=DESK, scheme=scheme, timezone_id=zone()) as alice:
            await alice.sign_in(users[0], at=room_fragment(room))
            await alice.sees("come and see")
            await alice.entry("Boris Brandt").wait_for()
            # The room in the list, the space beside it, the room above its messages.
            assert await look(alice, f"avatars-{scheme}", 8) == 3
            await alice.page.get_by_role("button", name="Members and settings").click()
            await alice.members.nth(3).wait_for()
            assert await look(alice, f"avatars-members-{scheme}", 12) == 4
            await alice.members.filter(has_text="Boris Brandt").click()
            await alice.dialog.get_by_role("button", name="Close").wait_for()
            assert await look(alice, f"avatars-person-{scheme}", 13) == 4
            await alice.page.keyboard.press("Escape")
            await alice.page.set_viewport_size(PHONE)
            # The header of the room lies behind.
            assert await look(alice, f"avatars-phone-members-{scheme}", 3) == 2
            await alice.page.get_by_role("button", name="Close").click()
            await fits(alice)
            assert await look(alice, f"avatars-phone-room-{scheme}", 3) == 1
            await alice.page.get_by_role("button", name="Back to conversations").click()
            await alice.entry("Allotment").wait_for()
            await fits(alice)
            assert await look(alice, f"avatars-phone-list-{scheme}", 4) == 2
            # The list reaches down to the edge, however short it is.
            box = await alice.rooms.bounding_box()
            assert round(box["y"] + box["height"]) == PHONE["height"], box


async def above_names(person):
    """In no tile a name lies over the face. Tiles and their parts are found as they are drawn."""
    covered = await person.page.evaluate("""() => {
      const box = (tile, part) => tile.querySelector(part).getBoundingClientRect();
      return [...document.querySelectorAll('.gc-tile')].filter(tile => tile.checkVisibility() && box(tile, '.gc-avatar').bottom > box(tile, '.gc-name').top)
        .map(tile => tile.ariaLabel);
    }""")
    assert not covered, covered


@test("in a call somebody without a picture of the camera is their own picture, on a desk and a phone")
async def _(test):
    # The check of answers lets no sockets through.
    test = copy.copy(test)
    test.base = test.direct
    room, users = village(test.base)
    named = dict(zip(("alice", "boris", "carla", "dora"), users))
    async with in_room(test, room, named, viewport=DESK, timezone_id=zone(), **MAY_CALL) as everybody:
        alice, *others = everybody
        for person in everybody:
            await person.page.get_by_role("button", name="Call" if person is alice else "Join", exact=True).click()
            # The browser's microphone beeps, and marks who speaks.
            for device in ("Camera", "Microphone"):
                switch = person.preview.get_by_role("switch", name=device)
                if await switch.get_attribute("aria-checked") == "true":
                    await switch.click()
            await person.preview.get_by_role("button", name="Start call" if person is alice else "Join", exact=True).click()
            await person.page.get_by_role("button", name="Hang up").wait_for()
        for name in list(FACES)[1:]:
            await alice.page.get_by_role("group", name=name).wait_for()
        await look(alice, "avatars-call", 6)
        await alice.page.set_viewport_size(PHONE)
        await look(alice, "avatars-call-phone", 4)
        await above_names(alice)
        await alice.page.get_by_role("button", name="Speaker").click()
        await alice.page.locator(".gc-large").wait_for()
        await look(alice, "avatars-call-speaker-phone", 4)
        await above_names(alice)
