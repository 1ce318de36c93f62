"""Each screen of the web client as it is kept in looks.json: on a desk in light and dark, on a tablet and on a phone.

Only with `MARTLET_LONG=1`. `MARTLET_SHAPES` chooses some shapes, by words of their names. `MARTLET_ACCEPT_LOOKS=1` keeps what is there: look at
each picture before (`.build/end-to-end/screen-….png`)."""
import os
from urllib.parse import quote

from browser import people
from client import PASSWORD, User, fresh
from harness import test
from looks import SCREENS
from test_accessibility import LARGE_TEXT, Texts, everything, screens

NEEDS_BROWSER = True

PHONE = {"viewport": {"width": 360, "height": 800}, "has_touch": True, "is_mobile": True}
TABLET = {"viewport": {"width": 820, "height": 1100}}
ARABIC = {"language": "ar"}
SHAPES = {
    "1280 light": {}, "1280 dark": {"scheme": "dark"}, "820": TABLET, "360": PHONE}
# Not kept yet: taken with MARTLET_SHAPES, MARTLET_ACCEPT_LOOKS=1 and an eye on each picture.
TO_BE_KEPT = {
    "1280 from right to left": ARABIC, "360 from right to left": {**PHONE, **ARABIC},
    "1280 large text": {"large": True}, "360 large text": {**PHONE, "large": True}}

# Those of the design that do not only repeat others, nor list whoever else is on the server.
KEPT = {"sign-in", "create account", "first step", "home of a new account", "a chat", "a person", "a space", "an invitation", "a conversation", "rooms",
        "own menu", "settings", "search box", "details", "menu of the room", "search", "what was shared", "menu of a message", "emoji",
        "Forward…", "Message info", "menu of the composer", "Saved messages", "Export chat…", "a member's card", "Invite", "Room settings"}


async def beginning(alice, say):
    """As somebody without an account: from the sign-in to Home."""
    page = alice.page
    button = lambda words: page.get_by_role("button", name=say[words], exact=True)
    yield "sign-in"
    await page.get_by_role("tab", name=say["Create account"]).click()
    await page.get_by_label(say["User name"], exact=True).locator("visible=true").fill(fresh("carol"))
    await page.get_by_label(say["Password"], exact=True).locator("visible=true").fill(PASSWORD)
    yield "create account"
    await button("Create account").click()
    await button("Skip").wait_for()
    yield "first step"
    await button("Skip").click()
    await page.get_by_role("dialog").wait_for(state="detached")
    await button("Your profile").wait_for()
    yield "home of a new account"


async def places(alice, say, chat, space, link):
    """What `screens` does not come by."""
    page = alice.page
    button = lambda words: page.get_by_role("button", name=say[words], exact=True)
    await alice.open_room(chat)
    yield "a chat"
    await button("Members and settings").click()
    await page.get_by_role("complementary").get_by_text(say["Block"]).first.wait_for()
    yield "a person"
    await page.get_by_role("complementary").get_by_role("button", name=say["Close"]).click()
    await page.evaluate("room => { location.hash = 'room/' + encodeURIComponent(room); }", space)
    await page.get_by_text("All of it").first.wait_for()
    yield "a space"
    await page.evaluate("link => { location.hash = link; }", link)
    await page.get_by_role("heading", name="Garden").first.wait_for()
    yield "an invitation"


async def tour(test, shape, language="en", large=False, **options):
    """Gives a person, and the name of each screen while it is shown."""
    users = {name: User(test.base, name) for name in ("alice", "boris")}
    alice_user, boris_user = users.values()
    for user, name in zip(users.values(), ("Alice", "Boris")):
        user.put(f"profile/{user.user_id}/displayname", {"displayname": name}).ok()
    room = everything(alice_user, boris_user)
    chat = next(room for rooms in alice_user.get(f"user/{alice_user.user_id}/account_data/m.direct").ok().values() for room in rooms)
    garden = boris_user.create_room(name="Garden", preset="public_chat", topic="Roses and such", room_alias_name=fresh("garden"))
    space = boris_user.create_room(name="House", preset="public_chat", creation_content={"type": "m.space"}, topic="All of it")
    server = boris_user.user_id.partition(":")[2]
    for inside in (room, garden):
        boris_user.state(space, "m.space.child", {"via": [server]}, inside)
    alice_user.join(space)
    say = Texts(language)
    async with people(test, "alice", fresh=True, locale=language, **options) as alice:
        if large:
            await alice.page.add_init_script(LARGE_TEXT)
            await alice.page.reload()
        await alice.page.get_by_role("heading", name=say["Welcome to Martlet"]).wait_for()
        async for name in beginning(alice, say):
            yield alice, name
        await alice.sign_in(alice_user, profile=say["Your profile"])
        async for name in places(alice, say, chat, space, "/join/" + quote(garden, safe="")):
            yield alice, name
        await alice.page.keyboard.press("Escape")
        await alice.open_room(room)
        await alice.sees("an answer")
        await alice.loaded(alice.feed.locator("img")).first.wait_for()
        async for name in screens(alice, room, say):
            yield alice, name


CHOSEN = os.environ.get("MARTLET_SHAPES")
if CHOSEN:
    SHAPES = {shape: options for shape, options in (SHAPES | TO_BE_KEPT).items() if any(words in shape for words in CHOSEN.split(","))}

for shape in SHAPES if os.environ.get("MARTLET_LONG") == "1" else ():

    # Proves C68. A minute each: some thirty screens.
    @test(f"the screens look as they were kept: {shape}")
    async def _(test, shape=shape):
        async for alice, name in tour(test, shape, **SHAPES[shape]):
            if name in KEPT:
                await alice.picture(f"{SCREENS}{shape}-{name}".replace(" ", "-").replace("…", ""))
