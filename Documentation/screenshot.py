#!/usr/bin/env python3
"""Takes the picture of the README: people, rooms and messages of our own, on a server of its own, in Chromium.

    .build/venv/bin/python Documentation/screenshot.py [--dark] [--phone] [FILE]

It needs what ./run and ./test build and install. Look at the picture before you commit it.
"""
import asyncio
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))
os.environ.setdefault("MARTLET_PROGRAM", os.path.join(ROOT, ".build/debug/martlet"))
# The fonts of a person's machine, not those of the tests.
os.environ.setdefault("MARTLET_FONTS", "system")

from browser import KEEP_SESSION, log_in, room_fragment  # noqa: E402
from chromium import ENVIRONMENT, FLAGS, SHELL  # noqa: E402
from client import Api, User, register, room_path  # noqa: E402
from playwright.async_api import async_playwright  # noqa: E402
from server import Server  # noqa: E402

# So that messages can have times of their own.
SERVICE = """id: clock
url: null
as_token: clock-token
hs_token: clock-server-token
sender_localpart: clock
namespaces: {users: [{exclusive: false, regex: "@.*"}], aliases: [], rooms: []}
"""
MINUTE = 60_000

# Skin, hair, clothes, what is behind, and the hair's shape.
FACES = {
    "nora": ("#f2c9a5", "#5b3420", "#2f7d6b", "#f7e3c4", "M30 62 C22 20 98 20 90 62 L96 100 L24 100 Z"),
    "tom": ("#e8b48c", "#2b2320", "#c9553d", "#d6e6f5", "M32 52 C30 26 90 26 88 52 C80 40 44 40 32 52 Z"),
    "mina": ("#c98f66", "#1d1a22", "#7a5bc0", "#fbd9de", "M28 60 C22 18 98 18 92 60 L92 84 L82 70 L38 70 L28 84 Z"),
    "jonas": ("#f5d3b3", "#c9782f", "#3d6fb5", "#dff0e2", "M30 54 C26 22 94 22 90 54 C84 44 70 38 60 40 C48 38 36 44 30 54 Z"),
}


def face(skin, hair, clothes, behind, shape):
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120" width="240" height="240">
      <rect width="120" height="120" fill="{behind}"/><path d="{shape}" fill="{hair}"/>
      <path d="M18 124 C20 92 44 88 60 88 C76 88 100 92 102 124 Z" fill="{clothes}"/><rect x="51" y="74" width="18" height="22" rx="9" fill="{skin}"/>
      <ellipse cx="60" cy="60" rx="23" ry="27" fill="{skin}"/><path d="{shape}" fill="{hair}" clip-path="inset(0 0 64% 0)"/>
      <circle cx="51" cy="60" r="2.6" fill="#2a2a33"/><circle cx="69" cy="60" r="2.6" fill="#2a2a33"/>
      <path d="M51 71 Q60 79 69 71" stroke="#8c3b3b" stroke-width="2.6" fill="none" stroke-linecap="round"/></svg>"""


GARDEN = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" width="1280" height="800">
  <defs><linearGradient id="s" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#8fc7ee"/><stop offset="1" stop-color="#fdeccb"/></linearGradient></defs>
  <rect width="640" height="400" fill="url(#s)"/><circle cx="510" cy="96" r="40" fill="#ffe9a8"/>
  <path d="M0 230 C120 150 240 210 340 180 C460 140 560 190 640 160 L640 400 L0 400 Z" fill="#9cc98f"/>
  <path d="M0 280 C160 230 320 280 640 232 L640 400 L0 400 Z" fill="#6fae6a"/>
  <path d="M430 240 L500 190 L570 240 L570 300 L430 300 Z" fill="#b5674b"/><path d="M420 244 L500 184 L580 244 L568 250 L500 200 L432 250 Z" fill="#7d4030"/>
  <rect x="486" y="254" width="30" height="46" fill="#5c3a2c"/>""" + "".join(
    f'<path d="M{x} 400 C{x - 6} 350 {x + 8} 320 {x} 286" stroke="#3f7a3e" stroke-width="7" fill="none"/>'
    f'<path d="M{x} 330 q-30 -18 -42 4 q24 14 42 -4 M{x} 306 q30 -18 42 4 q-24 14 -42 -4" fill="#4f9150"/>'
    + "".join(f'<circle cx="{x + dx}" cy="{y}" r="{r}" fill="#df4a33"/><circle cx="{x + dx - 4}" cy="{y - 4}" r="4" fill="#f58b74"/>'
              for dx, y, r in ((-16, 352, 15), (16, 336, 13), (2, 372, 14)))
    for x in (80, 180, 290, 370)) + "</svg>"


async def drawn(browser, picture, width, height):
    page = await browser.new_page(viewport={"width": width, "height": height})
    await page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:{width}px;height:{height}px}}</style>{picture}")
    image = await page.screenshot()
    await page.close()
    return image


class Person(User):
    def __init__(self, base, name, face):
        Api.__init__(self, base)
        session = register(self, name.lower()).ok()
        self.token, self.user_id, self.device_id, self.since = session["access_token"], session["user_id"], session["device_id"], None
        self.put(f"profile/{self.user_id}/displayname", {"displayname": name})
        self.put(f"profile/{self.user_id}/avatar_url", {"avatar_url": self.upload(face, "face.png")})

    def upload(self, image, name):
        answer = self.request("POST", "/_matrix/media/v3/upload", body=image, headers={"Content-Type": "image/png"}, filename=name)
        return answer.ok()["content_uri"]


class Story:
    """Messages with their times: minutes before the picture is taken, which is at 18:40 of the day after tomorrow. By then the rooms, which were
    just made, are old."""
    now = (int(time.time()) // 86_400 + 2) * 86_400_000 + (18 * 60 + 40) * MINUTE

    def __init__(self, base):
        self.service, self.count = Api(base, "clock-token"), 0

    def send(self, person, room, minutes, content, kind="m.room.message"):
        self.count += 1
        content = {"msgtype": "m.text", "body": content} if isinstance(content, str) else content
        path = room_path(room, "send", kind, f"s{self.count}")
        return self.service.request("PUT", path, content, user_id=person.user_id, ts=self.now - minutes * MINUTE).ok()["event_id"]

    def react(self, person, room, minutes, event, emoji):
        self.send(person, room, minutes, {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": emoji}}, "m.reaction")


def formatted(text, html):
    return {"msgtype": "m.text", "body": text, "format": "org.matrix.custom.html", "formatted_body": html}


def tell(base, people, garden):
    """Gives the room to show."""
    nora, tom, mina, jonas = people.values()
    story = Story(base)
    club = nora.create_room(name="Garden club", topic="What grows, and who waters it", invite=[p.user_id for p in (tom, mina, jonas)])
    hike = tom.create_room(name="Weekend hike", invite=[nora.user_id, jonas.user_id])
    band = mina.create_room(name="Band practice", invite=[nora.user_id, tom.user_id])
    chats = {}
    for friend in (tom, mina):
        chats[friend] = nora.create_room(is_direct=True, preset="trusted_private_chat", invite=[friend.user_id])
        friend.join(chats[friend])
    nora.put(f"user/{nora.user_id}/account_data/m.direct", {friend.user_id: [room] for friend, room in chats.items()})
    for person in (tom, mina, jonas):
        person.join(club)
    for person in (nora, jonas):
        person.join(hike)
    for person in (nora, tom):
        person.join(band)
    space = nora.create_room(name="Riverside", creation_content={"type": "m.space"})
    nora.state(space, "m.space.child", {"via": ["test.example"]}, club)

    story.send(tom, chats[tom], 1500, "Thanks for the seeds!")
    story.send(mina, band, 300, "New song is in the folder 🎸")
    story.send(jonas, hike, 95, "Bring rain jackets, the forecast has changed")
    story.send(mina, chats[mina], 12, "Lunch at one?")
    story.send(tom, club, 74, "The tomatoes are finally in 🍅")
    photo = story.send(tom, club, 73, {"msgtype": "m.image", "body": "garden.png", "url": tom.upload(garden, "garden.png"),
                                       "info": {"w": 1280, "h": 800, "mimetype": "image/png", "size": len(garden)}})
    for person, emoji in ((nora, "😍"), (jonas, "😍"), (mina, "🍅")):
        story.react(person, club, 70, photo, emoji)
    water = story.send(tom, club, 48, formatted("Could somebody water them on **Thursday**? I am away until Friday evening.",
                                                "Could somebody water them on <strong>Thursday</strong>? I am away until Friday evening."))
    story.send(mina, club, 41, "Then I take Wednesday. Do we still have the hose from last year?")
    story.send(nora, club, 33, {"msgtype": "m.text", "body": "I can do Thursday", "m.relates_to": {"m.in_reply_to": {"event_id": water}}})
    last = story.send(nora, club, 32, "The hose hangs in the shed, behind the ladder")
    story.react(tom, club, 30, last, "👍")
    for room, event in ((club, last),):
        for person in (tom, mina, jonas):
            person.post(room_path(room, "receipt", "m.read", event), {})
    for room in (hike, band, chats[tom]):
        newest = nora.get(room_path(room, "messages"), dir="b", limit=1).ok()["chunk"][0]["event_id"]
        if room != hike:
            nora.post(room_path(room, "receipt", "m.read", newest), {})
    nora.put(f"user/{nora.user_id}/rooms/{hike}/tags/m.favourite", {"order": 0.5})
    mina.put(f"presence/{mina.user_id}/status", {"presence": "online"})
    return club


async def main(file, dark, phone):
    with tempfile.TemporaryDirectory() as folder:
        registration = os.path.join(folder, "clock.yaml")
        with open(registration, "w", encoding="utf-8") as out:
            out.write(SERVICE)
        server = Server(app_services=registration).start()
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=SHELL, args=FLAGS, env={**os.environ, **ENVIRONMENT})
                faces = {name: await drawn(browser, face(*parts), 240, 240) for name, parts in FACES.items()}
                people = {name: Person(server.base, name.title(), image) for name, image in faces.items()}
                room = tell(server.base, people, await drawn(browser, GARDEN, 1280, 800))
                size = {"width": 390, "height": 800} if phone else {"width": 1280, "height": 800}
                context = await browser.new_context(viewport=size, color_scheme="dark" if dark else "light", locale="en-GB", device_scale_factor=2 if phone else 1)
                page = await context.new_page()
                await context.clock.install(time=Story.now / 1000)
                await page.goto(server.base + "/icon.svg")
                await page.evaluate(KEEP_SESSION, log_in(server.base, people["nora"].user_id))
                await page.goto(server.base + "/" + room_fragment(room))
                await page.get_by_text("behind the ladder").last.wait_for()
                await page.wait_for_function("() => [...document.images].every(image => image.complete)")
                await page.mouse.move(5, 400)
                await page.wait_for_timeout(1500)
                await page.screenshot(path=file)
                await browser.close()
        finally:
            server.close()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    files = [argument for argument in arguments if not argument.startswith("--")]
    asyncio.run(main(files[0] if files else os.path.join(ROOT, "Documentation", "screenshot.png"), "--dark" in arguments, "--phone" in arguments))
