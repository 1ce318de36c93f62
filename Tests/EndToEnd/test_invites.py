"""Invite links: made in the page, read by somebody without an account, attacked."""
import ctypes
import ctypes.util
import re
from urllib.parse import quote

from accessibility import check
from browser import PASSWORD, expect, open_settings, people
from client import Api, User, fresh
from harness import test
from server import Server
from test_admin import Operator

NEEDS_BROWSER = True

LINKS = "/_matrix/client/unstable/martlet.invite_links"
NOT_VALID = "This invite link does not work, or no longer works."

# The code's path, drawn as gray pixels by the browser.
PIXELS = """svg => {
  const scale = 4, side = svg.viewBox.baseVal.width * scale;
  const canvas = new OffscreenCanvas(side, side), context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, side, side);
  context.scale(scale, scale);
  context.fillStyle = '#000';
  context.fill(new Path2D(svg.querySelector('path').getAttribute('d')));
  const pixels = context.getImageData(0, 0, side, side).data;
  return [side, Array.from({ length: side * side }, (_, k) => pixels[4 * k])];
}"""


def read_code(side, pixels):
    """What zbar reads in a picture; None if zbar is not installed."""
    name = ctypes.util.find_library("zbar")
    if not name:
        return None
    zbar = ctypes.CDLL(name)
    for function in ("zbar_image_scanner_create", "zbar_image_create", "zbar_image_first_symbol", "zbar_symbol_get_data"):
        getattr(zbar, function).restype = ctypes.c_void_p
    scanner, image = ctypes.c_void_p(zbar.zbar_image_scanner_create()), ctypes.c_void_p(zbar.zbar_image_create())
    zbar.zbar_image_scanner_set_config(scanner, 0, 0, 1)
    data = bytes(pixels)
    zbar.zbar_image_set_format(image, ctypes.c_ulong(int.from_bytes(b"Y800", "little")))
    zbar.zbar_image_set_size(image, side, side)
    zbar.zbar_image_set_data(image, data, ctypes.c_ulong(len(data)), None)
    assert zbar.zbar_scan_image(scanner, image) == 1, "zbar finds no code"
    symbol = ctypes.c_void_p(zbar.zbar_image_first_symbol(image))
    return ctypes.string_at(zbar.zbar_symbol_get_data(symbol), zbar.zbar_symbol_get_data_length(symbol)).decode()


def closed_server(test):
    """With an administrator, whose links let people create accounts, and a user."""
    test.own_server()
    server = Server(registration="closed").start()
    operator = Operator(server)
    users = {}
    for name, flags in (("ann", ["--admin"]), ("bob", [])):
        operator.run("user", "add", name, *flags, stdin=PASSWORD + "\n")
        user = users[name] = User.__new__(User)
        Api.__init__(user, server.base)
        login = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": PASSWORD}
        answer = user.post("login", login).ok()
        user.token, user.user_id, user.device_id = answer["access_token"], answer["user_id"], answer["device_id"]
    return server, users["ann"], users["bob"]


def token(user, room=None, **limits):
    return user.request("POST", LINKS, {**({"room_id": room} if room else {}), **limits}).ok()["token"]


# 5 s: a server and two profiles of its own, one of which registers; three screens are looked through.
@test("an invite link is copied with two actions, and takes a stranger into the room of a closed server once an account is made")
async def _(test):
    server, ann, _ = closed_server(test)
    try:
        room = ann.create_room(name="Garden", topic="Roses and such", preset="private_chat")
        async with people(test, "ann", "stranger", permissions=["clipboard-read", "clipboard-write"]) as (inviter, stranger):
            inviter.base = stranger.base = server.base
            await inviter.sign_in(ann, at="#room/" + quote(room, safe=""))
            page, actions = inviter.page, 0
            # A room without messages offers it where they will stand.
            for button in ("Invite", "Copy link"):
                await page.get_by_role("button", name=button, exact=True).click()
                actions += 1
            await page.get_by_text("Link copied").wait_for()
            assert actions == 2
            link = await page.evaluate("navigator.clipboard.readText()")
            assert re.fullmatch(re.escape(server.base) + r"/#/join/[\w-]{22}", link), link
            # The same link again, as a code.
            await page.get_by_role("button", name="Show QR code").click()
            code = page.get_by_role("img", name="QR code of the invite link")
            assert read_code(*await code.evaluate(PIXELS)) in (link, None)
            await check(inviter, "inviting by link")

            page = stranger.page
            await page.goto(link)
            await page.get_by_role("heading", name="Garden").wait_for()
            await page.get_by_text(f"ann ({ann.user_id}) invites you").wait_for()
            await page.get_by_text("1 member", exact=True).wait_for()
            await check(stranger, "an invitation before signing in")
            await page.reload()
            await page.get_by_role("heading", name="Garden").wait_for()
            await page.get_by_label("User name", exact=True).locator("visible=true").fill("carol")
            await page.get_by_label("Password", exact=True).locator("visible=true").fill(PASSWORD)
            await page.get_by_role("button", name="Create account").click()
            await stranger.skip_first_step()
            # The card before signing in has the same heading: the room has a box to write in.
            await stranger.composer.wait_for()
            await stranger.heading("Garden").wait_for()
            assert "join" not in page.url, "the token stays in the address"

            # A user who is signed in is asked first.
            await page.goto(server.base + "/icon.svg")
            await page.goto(link)
            join = stranger.dialog.get_by_role("button", name="Join", exact=True)
            await expect(join).to_be_focused()
            await check(stranger, "an invitation")
            await join.press("Enter")
            await stranger.heading("Garden").wait_for()
    finally:
        server.close()


@test("a link to a person opens the chat after signing in; a revoked link says that it is not valid")
async def _(test):
    server, ann, bob = closed_server(test)
    try:
        async with people(test, "ann", "bob") as (inviter, guest):
            inviter.base = guest.base = server.base
            own = token(ann)
            await guest.page.goto(server.base + "/#/join/" + own)
            await guest.page.get_by_text("ann wants to chat with you.").wait_for()
            await guest.page.get_by_role("tab", name="Sign in").click()
            await guest.sign_in_by_typing(bob)
            await guest.composer.wait_for()
            assert "ann" in await guest.page.get_by_role("main").get_by_role("heading", level=2).inner_text()

            await inviter.sign_in(ann)
            page = inviter.page
            await open_settings(page)
            await page.get_by_role("tab", name="Invite links").click()
            await page.get_by_text("1 of 10 used").wait_for()
            await page.get_by_role("button", name="Revoke: Chat with you").click()
            await page.get_by_text("You have no invite links.").wait_for()
            await guest.page.evaluate("token => { location.hash = '/join/' + token; }", own)
            await guest.dialog.get_by_text(NOT_VALID).wait_for()
            await guest.page.keyboard.press("Escape")
            await expect(guest.page.get_by_role("dialog")).to_have_count(0)
            assert "join" not in guest.page.url
    finally:
        server.close()


@test("invitations that anybody can write run nothing, lead nowhere else, and say in words what is wrong")
async def _(test):
    user = User(test.base, fresh("invited"))
    liar = User(test.base, fresh("liar"))
    liar.put(f"profile/{liar.user_id}/displayname", {"displayname": "\u202eadmin <img src=x onerror=alert(1)>"}).ok()
    room = liar.create_room(name="<b>Bold</b>\u202e", preset="private_chat")
    async with people(test, "user") as person:
        page = person.page
        asked = []
        page.on("dialog", lambda dialog: asked.append(dialog.message))
        await person.sign_in(user)
        for address in ("javascript:alert(1)", "<img src=x onerror=alert(1)>", "https://elsewhere.example/#/join/abc", "@" + "a:b", "",
                        "a" * 65, "%00", "%"):
            await page.evaluate("address => { location.hash = '/join/' + address; }", address)
            await person.dialog.get_by_text("This is not an invite link.").wait_for()
            await page.keyboard.press("Escape")
            await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.evaluate("() => { location.hash = '/join/' + 'A'.repeat(22); }")
        await person.dialog.get_by_text(NOT_VALID).wait_for()
        await page.keyboard.press("Escape")
        await page.evaluate("token => { location.hash = '/join/' + token; }", token(liar, room))
        # A name that changes the direction of what follows is not shown at all.
        await person.dialog.get_by_text(f"{liar.user_id} invites you").wait_for()
        await person.dialog.get_by_role("heading", name="<b>Bold</b>").wait_for()
        assert not asked and page.url.startswith(person.base)
