"""<martlet-messenger> in pages of other people: rows that the page fills, and rooms of a homeserver, with the files on another origin."""
import contextlib
import http.server
import json
import os
import re
import tempfile
import threading
import time
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import jwt

from browser import PASSWORD, expect, people
from client import User, bodies, fresh, room_path
from harness import NotRun, test
from server import ROOT, Server
from test_live import Synapse

NEEDS_BROWSER = True

FOLDERS = [os.path.join(ROOT, ".build", "web"), os.path.join(ROOT, "Examples", "Element")]
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml"}
POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob: data:; connect-src *"


class Files:
    """A server of static files on a port, and so an origin, of its own. `pages` are more of them; `ancestors` who may frame them."""

    def __init__(self, folders, pages=None, ancestors="'self'"):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.split("?")[0].lstrip("/")
                found = [os.path.join(folder, name) for folder in folders if "/" not in name and os.path.isfile(os.path.join(folder, name))]
                body = (pages or {}).get(name, "").encode()
                if found and not body:
                    with open(found[0], "rb") as f:
                        body = f.read()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", TYPES.get(os.path.splitext(name)[1], "application/octet-stream"))
                self.send_header("Content-Length", str(len(body)))
                if folders:
                    self.send_header("Content-Security-Policy", f"{POLICY}; frame-ancestors {ancestors}")
                # Pages of another origin load the element's script as a module.
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()
                # A browser that went on to another page takes no more.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@contextlib.asynccontextmanager
async def visitor(test, name="visitor", pages=None, **options):
    """(person, frame, address of a page there) at a page of another origin than the homeserver's. `pages`: more of them; `options`: those of `people`."""
    if not os.path.exists(os.path.join(FOLDERS[0], "MessengerElement.wasm")):
        raise NotRun("not built: Scripts/build-web MessengerElement")
    files = Files(FOLDERS, pages)
    try:
        async with people(test, name, **options) as person:
            yield person, person.page.frame_locator("martlet-messenger iframe"), lambda page, **query: f"{files.base}/{page}?{urlencode(query)}"
    finally:
        files.close()


async def sign_in(frame, user):
    await frame.get_by_label("User name", exact=True).locator("visible=true").fill(user.user_id)
    await frame.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
    await frame.get_by_role("button", name="Sign in").click()


def message(frame, text):
    return frame.get_by_role("article", name=text)


async def hear(page):
    """From now on the page keeps what the element tells."""
    await page.evaluate("""() => {
      globalThis.chat = document.querySelector('martlet-messenger');
      globalThis.heard = [];
      for (const type of ['ready', 'signedin', 'signedout', 'message', 'unread', 'openroom', 'error'])
        chat.addEventListener(type, event => heard.push({ ...event.detail, kind: type }));
    }""")


# Proves C2, C4, C6, T1, T4
@test("a page fills the messenger with rows of its own, and decides about what is written there")
async def _(test):
    async with visitor(test) as (person, frame, address):
        await person.page.goto(address("rows.html"))
        await frame.get_by_role("article", name="What can we do for you?").wait_for()
        box = frame.get_by_role("textbox")
        await box.fill("where are you?")
        await box.press("Enter")
        await message(frame, "You wrote: where are you?").wait_for()
        assert await box.input_value() == ""
        await box.fill("this is secret")
        await box.press("Enter")
        await frame.get_by_role("button", name="👋 1").click()
        await frame.get_by_role("button", name="👋 2").wait_for()
        assert await box.input_value() == "this is secret"
        await person.picture("element-rows")


# Proves C4, C6
@test("a page gives messages of many parts: pictures in a grid, files, places, polls and what links lead to; what people do with them is told")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("parts.html"))
        await frame.get_by_text("Have a look:", exact=True).wait_for()
        places = [await frame.get_by_role("button", name=f"Open image {name}").bounding_box() for name in ("teal", "tomato", "gold")]
        assert places[0]["y"] == places[1]["y"] < places[2]["y"], places
        told = page.locator("#told")
        for name, what in (("Open image tomato", {"type": "openmedia", "part": 1, "item": 1}), ("prices.pdf", {"type": "openfile", "part": 2}),
                           ("The shop", {"type": "openlocation", "part": 3}), ("gold 0 votes", {"type": "vote", "part": 4, "answers": ["gold"]})):
            await frame.get_by_role("button", name=name).last.click()
            # What the element tells comes as a message from its frame: later than the click.
            await told.filter(has_text=f'"type":"{what["type"]}"').wait_for()
            heard = json.loads(await told.inner_text())
            heard.pop("row")
            assert heard == what, heard
        await frame.get_by_text("1 vote", exact=True).first.wait_for()
        link = frame.get_by_role("link", name="Our shop")
        assert await link.get_attribute("href") == "https://example.org/shop"
        await person.picture("element-parts")


# From above left, clockwise.
CORNERS = ("borderTopLeftRadius", "borderTopRightRadius", "borderBottomRightRadius", "borderBottomLeftRadius")


async def bubble_style(article, *properties):
    """How what a message stands on looks: computed properties. That has no role."""
    return await article.evaluate("""(article, properties) => {
      const style = getComputedStyle(article.querySelector('.mg-bubble'));
      return properties.map(property => style[property]);
    }""", properties)


# Proves P11
@test("commands of the page's own are offered behind a slash; the page hears of them, and the room does not")
async def _(test):
    user = User(test.base, "player")
    room = user.create_room(name="Table")
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room, commands="weather roll"))
        session = {"userID": user.user_id, "deviceID": user.device_id, "accessToken": user.token}
        await page.evaluate("""async session => {
          const chat = document.querySelector('martlet-messenger');
          globalThis.commands = [];
          chat.addEventListener('command', ({ detail }) => commands.push(detail));
          await chat.signIn(session);
        }""", session)
        box = frame.get_by_role("textbox")
        await box.press_sequentially("/ro")
        await expect(frame.get_by_role("option")).to_have_text(["/roll"])
        await box.press("Tab")
        await box.press_sequentially("2d6 twice")
        await box.press("Enter")
        await person.until("() => commands.length === 1")
        assert await page.evaluate("() => commands") == [{"name": "roll", "text": "2d6 twice"}]
        assert await box.input_value() == ""
        await box.fill("well rolled")
        await box.press("Enter")
        user.sync_until(lambda answer: "well rolled" in str(answer))
        assert bodies(user.get(room_path(room, "messages"), dir="b").ok()["chunk"]) == ["well rolled"]


# Proves J2
@test("a page whose server vouches for the person by a JSON Web Token signs them in with it, by name; one that lies does not")
async def _(test):
    secret = "a secret of at least thirty-two bytes"
    server = Server(jwt_algorithm="HS256", jwt_secret=secret).start()
    try:
        host = User(server.base, "host")
        room = host.create_room(preset="public_chat", name="Shop")
        host.send(room, "how can I help?")
        async with visitor(test) as (person, frame, address):
            page = person.page
            await page.goto(address("room.html", homeserver=server.base, room=room, keep=""))
            said = "token => document.querySelector('martlet-messenger').signInWithJWT(token).then(() => '', error => error.message)"
            claims = {"sub": "customer", "name": "Carla Customer", "exp": int(time.time()) + 60}
            assert await page.evaluate(said, jwt.encode(claims, secret[::-1], algorithm="HS256")) != ""
            assert await page.evaluate(said, jwt.encode(claims, secret, algorithm="HS256")) == ""
            await frame.get_by_role("button", name="Join").click()
            await message(frame, "how can I help?").wait_for()
            await frame.get_by_role("textbox").fill("where is my parcel?")
            await frame.get_by_role("textbox").press("Enter")
            host.sync_until(lambda answer: "where is my parcel?" in str(answer))
            sender = next(event["sender"] for event in host.get(room_path(room, "messages"), dir="b").ok()["chunk"] if event["type"] == "m.room.message")
            assert sender == "@customer:test.example", sender
    finally:
        server.close()


# Proves P3
@test("where a page wants one reaction of each, another takes the place of the first")
async def _(test):
    user, other = User(test.base, "voter"), User(test.base, "asker")
    room = other.create_room(name="Lunch", invite=[user.user_id])
    user.join(room)
    other.send(room, "pizza?")
    async with visitor(test) as (person, frame, address):
        await person.page.goto(address("room.html", homeserver=test.base, room=room, **{"one-reaction": ""}))
        session = {"userID": user.user_id, "deviceID": user.device_id, "accessToken": user.token}
        await person.page.evaluate("session => document.querySelector('martlet-messenger').signIn(session)", session)
        message = frame.get_by_role("article", name="pizza?")

        async def react(emoji):
            await message.click(button="right")
            await frame.get_by_role("menuitem", name="React", exact=True).click()
            await frame.get_by_label("Search emoji").fill(emoji)
            await frame.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("[👍🎉]")).first.click()

        await react("thumbs up")
        await expect(message.get_by_role("button", name=re.compile("👍"))).to_have_attribute("aria-pressed", "true")
        await react("tada")
        await expect(message.get_by_role("button", name=re.compile("🎉"))).to_have_attribute("aria-pressed", "true")
        await expect(message.get_by_role("button", name=re.compile("👍"))).to_have_count(0)


# Proves C4, P48
@test("the page around a room decides about texts before they are sent: refuses, changes, lets through; another look, nothing to write with")
async def _(test):
    user = User(test.base, "clerk")
    room = user.create_room(name="Counter")
    user.send(room, "first of all")
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room, bubbles="simple"))
        session = {"userID": user.user_id, "deviceID": user.device_id, "accessToken": user.token}
        await page.evaluate("""async session => {
          const chat = globalThis.chat = document.querySelector('martlet-messenger');
          chat.addEventListener('send', event => {
            const { text, wait } = event.detail;
            if (text.includes('secret')) event.preventDefault();
            if (text.includes('later')) wait(new Promise((_, refuse) => refuse(new Error('no'))));
            if (text.includes('damn')) wait(Promise.resolve(text.replace('damn', 'd**n')));
          });
          await chat.signIn(session);
        }""", session)
        await message(frame, "first of all").wait_for()
        assert await bubble_style(message(frame, "first of all"), CORNERS[0]) == ["0px"]
        await page.evaluate("() => chat.setBubbles('house')")
        assert await bubble_style(message(frame, "first of all"), CORNERS[0]) != ["0px"]
        box = frame.get_by_role("textbox")
        for text in ("my secret", "maybe later"):
            await box.fill(text)
            await box.press("Enter")
            await page.evaluate("() => chat.setBubbles('house')")
            assert await box.input_value() == text
        await box.fill("well, damn")
        await box.press("Enter")
        await message(frame, "well, d**n").wait_for()
        assert await box.input_value() == ""
        await box.fill("let through")
        await box.press("Enter")
        await message(frame, "let through").wait_for()
        user.sync_until(lambda answer: "let through" in str(answer))
        said = bodies(user.get(room_path(room, "messages"), dir="b").ok()["chunk"])
        assert said[:3] == ["let through", "well, d**n", "first of all"], said
        await page.goto(address("room.html", homeserver=test.base, room=room, readonly=""))
        await page.evaluate("session => document.querySelector('martlet-messenger').signIn(session)", session)
        await message(frame, "let through").wait_for()
        assert await box.count() == 0
        await message(frame, "let through").hover()
        assert await frame.get_by_role("button", name="Reply").count() == 0


# Proves C2, C4, C5
@test("a room of the homeserver in a page of another origin: signing in there, joining, both sides talk, the page takes part")
async def _(test):
    await in_a_page(test, test.base)


# Proves C3
@test("Synapse: a room of the homeserver in a page of another origin")
async def _(test):
    if test.is_synapse:
        raise NotRun("the server under test is Synapse")
    Synapse.install()
    with tempfile.TemporaryDirectory(prefix="martlet-synapse-") as folder:
        synapse = Synapse(folder)
        try:
            await in_a_page(test, synapse.start().base)
        finally:
            synapse.stop()


async def in_a_page(test, homeserver):
    host, guest = User(homeserver, "host"), User(homeserver, "guest")
    alias = fresh("garden")
    open_to_read = {"type": "m.room.history_visibility", "state_key": "", "content": {"history_visibility": "world_readable"}}
    room = host.create_room(name="Garden", topic="Seeds", preset="public_chat", room_alias_name=alias, initial_state=[open_to_read])
    host.send(room, "Tulips are half price")
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=homeserver, room=f"#{alias}:{host.user_id.split(':', 1)[1]}"))
        await hear(page)
        note = frame.get_by_text("can then read this chat")
        assert page.url.split("/room.html")[0] in await note.inner_text()
        assert await frame.get_by_role("button", name="Change").count() == 0
        await sign_in(frame, guest)
        await frame.get_by_text("You are not in this room.").wait_for()
        await frame.get_by_role("heading", name="Garden").wait_for()
        await frame.get_by_text("1 member · Seeds").wait_for()
        await frame.get_by_text("Tulips are half price").wait_for()
        await frame.get_by_role("button", name="Join").click()
        box = frame.get_by_role("textbox")
        await box.fill("Hello from a frame")
        await box.press("Enter")
        host.sync_until(lambda answer: "Hello from a frame" in str(answer))
        host.send(room, "Welcome!")
        await message(frame, "Welcome!").wait_for()
        assert await frame.get_by_role("navigation").count() == 0, "the list of rooms is there"
        await person.until("() => heard.some(({ kind, own, content }) => kind === 'message' && !own && content.body === 'Welcome!')")
        await page.get_by_role("button", name="Say hello from the page").click()
        await message(frame, "Hello from the page!").wait_for()
        host.sync_until(lambda answer: "Hello from the page!" in str(answer))
        event = await page.evaluate("() => chat.send('once more')")
        host.sync_until(lambda answer: event in str(answer))
        await page.evaluate("() => chat.setText('half a thought')")
        assert await box.input_value() == "half a thought"
        await person.picture("element-room")
        await page.get_by_role("button", name="Dark").click()
        inside = next(part for part in page.frames if part != page.main_frame)
        await inside.wait_for_function("""() => getComputedStyle(document.querySelector('main')).backgroundColor
          .match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 200""")
        # The page's own address and its history are its own.
        length = await page.evaluate("history.length")
        await frame.get_by_role("button", name="Members and settings").click()
        await frame.get_by_text("2 members", exact=True).last.wait_for()
        assert await page.evaluate("history.length") == length
        await page.evaluate("() => chat.signOut()")
        await frame.get_by_role("button", name="Sign in").wait_for()
        await page.wait_for_function("() => chat.userID === null && heard.at(-1).kind === 'signedout'")


# Proves J2
@test("a page hands a session over: kept in memory only, never in an address, and the frame shows the room at once")
async def _(test):
    user = User(test.base, "handed")
    room = user.create_room(name="Handed over")
    user.send(room, "there already")
    async with visitor(test) as (person, frame, address):
        page = person.page
        addresses = []
        page.on("request", lambda request: addresses.append(request.url))
        await page.goto(address("room.html", homeserver=test.base, room=room))
        await hear(page)
        session = {"userID": user.user_id, "deviceID": user.device_id, "accessToken": user.token}
        await page.evaluate("session => chat.signIn(session)", session)
        await message(frame, "there already").wait_for()
        assert await page.evaluate("() => chat.userID") == user.user_id
        refused = await page.evaluate("() => chat.signIn({ userID: 'nobody' }).then(() => 'taken', error => error.message)")
        assert refused != "taken", refused
        assert not any(user.token in one for one in addresses)
        kept = await page.evaluate("async () => JSON.stringify([{ ...localStorage }, (await indexedDB.databases()).map(one => one.name)])")
        assert user.token not in kept and "martlet" not in kept, kept
        # The same page once more: nobody is signed in.
        await page.reload()
        await frame.get_by_role("button", name="Sign in").wait_for()


@test("with `keep` who signed in stays so, for that page, server and room alone")
async def _(test):
    user = User(test.base, "kept")
    room, other = user.create_room(name="Kept"), user.create_room(name="Other")
    user.send(room, "still here")
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room, keep=""))
        await sign_in(frame, user)
        await message(frame, "still here").wait_for()
        await page.reload()
        await message(frame, "still here").wait_for()
        await page.goto(address("room.html", homeserver=test.base, room=other, keep=""))
        await frame.get_by_role("button", name="Sign in").wait_for()
        # Neither is the client as a page signed in, on the same origin.
        await page.goto(address("messenger.html"))
        names = await page.evaluate("async () => (await indexedDB.databases()).map(one => one.name)")
        assert "martlet" not in names and len(names) >= 1, names


def login_token(user):
    asked = user.request("POST", "/_matrix/client/v1/login/get_token", {})
    identifier = {"type": "m.id.user", "user": user.user_id}
    auth = {"type": "m.login.password", "identifier": identifier, "password": PASSWORD, "session": asked.json["session"]}
    return user.request("POST", "/_matrix/client/v1/login/get_token", {"auth": auth}).ok()["login_token"]


@test("a single sign-on goes on in a window of its own and comes back into the frame; a login token of somebody else is not taken")
async def _(test):
    user, stranger = User(test.base, "single"), User(test.base, "stranger")
    room = user.create_room(name="Signed on")
    user.send(room, "welcome back")
    async with visitor(test) as (person, frame, address):
        page, context = person.page, person.context
        flows = {"flows": [{"type": "m.login.sso", "identity_providers": [{"id": "company", "name": "Our company"}]}]}
        await context.route("**/_matrix/client/v3/login", lambda route: route.fulfill(json=flows) if route.request.method == "GET" else route.fallback())
        await context.route("**/login/sso/redirect/**", lambda route: route.fulfill(body="the company"))
        await page.goto(address("room.html", homeserver=test.base, room=room))
        async with context.expect_page() as opening:
            await frame.get_by_role("button", name="Continue with Our company").click()
        window = await opening.value
        await window.get_by_text("the company").wait_for()
        back = parse_qs(urlsplit(window.url).query)["redirectUrl"][0]
        assert back.startswith(address("messenger.html")), back
        # An attacker who invents the end of a sign-on does not know the word.
        forged = await context.new_page()
        await forged.goto(address("messenger.html", frame="guessed", loginToken=login_token(stranger)))
        await forged.wait_for_function("() => location.search === ''")
        await window.goto(f"{back}&loginToken={quote(login_token(user), safe='')}")
        await message(frame, "welcome back").wait_for()
        await page.wait_for_function("user => document.querySelector('martlet-messenger').userID === user", arg=user.user_id)


@test("what cannot be shown says so in the frame: a room that is not there, a server that does not answer")
async def _(test):
    user = User(test.base, "lost")
    async with visitor(test) as (person, frame, address):
        page = person.page
        server = user.user_id.split(":", 1)[1]
        await page.goto(address("room.html", homeserver=test.base, room=f"#{fresh('nowhere')}:{server}"))
        await hear(page)
        await sign_in(frame, user)
        await frame.get_by_role("alert").get_by_text("The server does not know this").wait_for()
        await person.until("() => heard.some(({ kind, isFinal }) => kind === 'error' && isFinal)")
        await page.goto(address("room.html", homeserver="http://127.0.0.1:1", room="!a:b"))
        await frame.get_by_text("No Matrix server answers there").wait_for()
        person.troubles.clear()


HOSTILE = """<!doctype html><meta charset="utf-8"><title>hostile</title>
<iframe src="{base}/index.html" style="width:600px;height:400px"></iframe>"""

EMBEDS = """<!doctype html><meta charset="utf-8"><title>embeds</title>
<martlet-messenger homeserver="{homeserver}" room="{room}" keep></martlet-messenger><script type="module" src="{base}/martlet-messenger.js"></script>"""


@test("pages of others get nothing of the client's session: not by framing the client, not by the element from its origin")
async def _(test):
    user = User(test.base, "victim")
    room = user.create_room(name="Private")
    user.send(room, "for nobody else")
    ours = Files(FOLDERS, ancestors="*")
    theirs = Files([], {"hostile.html": HOSTILE.format(base=ours.base),
                        "embeds.html": EMBEDS.format(base=ours.base, homeserver=test.base, room=room)})
    try:
        async with people(test, "victim") as person:
            page = person.page
            await page.goto(ours.base + "/index.html")
            await page.get_by_role("button", name="Change").click()
            await page.get_by_label("Server address").fill(test.base)
            await page.get_by_role("button", name="Use").click()
            await person.sign_in_by_typing(user)
            await page.goto(theirs.base + "/hostile.html")
            await page.frame_locator("iframe").get_by_text("does not open inside someone else’s page").wait_for()
            frame = page.frame_locator("martlet-messenger iframe")
            await page.goto(theirs.base + "/embeds.html")
            await frame.get_by_role("button", name="Sign in").wait_for()
            assert await message(frame, "for nobody else").count() == 0
            # As high as the page says; where it says nothing, high enough to be used.
            element = page.locator("martlet-messenger")
            assert (await element.bounding_box())["height"] == 480
            await page.add_style_tag(content="martlet-messenger { height: 200px }")
            assert (await element.bounding_box())["height"] == 200
            await element.evaluate("element => { element.hidden = true; }")
            await expect(element).to_be_hidden()
            # On the client's own origin just as little: the element's store is another one.
            await page.goto(ours.base + f"/room.html?homeserver={quote(test.base, safe='')}&room={quote(room, safe='')}")
            await frame.get_by_role("button", name="Sign in").wait_for()
            # The client as a page still has it.
            await page.goto(ours.base + "/index.html")
            await person.signed_in()
    finally:
        ours.close()
        theirs.close()


@test("a page that may not embed is told what to do")
async def _(test):
    ours = Files(FOLDERS)
    theirs = Files([], {"embeds.html": EMBEDS.format(base=ours.base, homeserver=test.base, room="!a:b")})
    try:
        async with people(test, "stranger") as person:
            await person.page.goto(theirs.base + "/embeds.html")
            await person.page.get_by_role("alert").get_by_text("frame-ancestors").wait_for()
            person.troubles.clear()
    finally:
        ours.close()
        theirs.close()
