"""Each screen of the web client by the rules of accessibility, in each of its looks; and that the check finds what breaks them."""
import base64

import looks
from accessibility import check, faults
from browser import people
from client import User
from harness import test
from test_browser import furnish, html, picture, post, POLL, upload

NEEDS_BROWSER = True


async def screens(person):
    """Goes from screen to screen; gives the name of each while it is shown."""
    page = person.page
    yield "rooms and a conversation"
    for button, name in (("Your profile", "settings"), ("New conversation", "new conversation"), ("Go to a conversation", "switcher")):
        await page.get_by_role("button", name=button).first.click()
        await page.get_by_role("dialog").wait_for()
        yield name
        if name == "settings":
            for tab in await page.get_by_role("dialog").get_by_role("tab").all():
                await tab.click()
                yield "settings, " + await tab.inner_text()
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
    await page.get_by_role("button", name="Members and settings").click()
    await page.get_by_text("2 members", exact=True).last.wait_for()
    yield "details"
    await page.get_by_role("button", name="Members and settings").click()
    await page.get_by_role("button", name="More about this room").click()
    yield "menu of the room"
    await person.choose("Search in this room")
    await page.get_by_label("Search for").fill("ladder")
    await page.get_by_text("Narrow the search").click()
    await page.get_by_label("Only").select_option("Pictures and videos")
    await page.get_by_text("Nothing was found.").wait_for()
    yield "search"
    await page.get_by_role("complementary").get_by_role("button", name="Close").click()
    await person.more("Pictures, files and links")
    await page.get_by_role("complementary").get_by_role("button", name="Open image dunes.png").wait_for()
    yield "what was shared"
    await page.get_by_role("complementary").get_by_role("tab", name="Links").click()
    await page.get_by_role("complementary").get_by_role("link", name="https://example.org/dunes").wait_for()
    yield "links that were shared"
    await page.get_by_role("complementary").get_by_role("button", name="Close").click()
    await person.message("first of all").click(button="right")
    yield "menu of a message"
    await person.choose("React")
    await page.get_by_role("dialog").get_by_role("button", name="thumbs up").wait_for()
    yield "emoji"
    await page.keyboard.press("Escape")


def everything(alice, boris):
    _, crew, _ = furnish(alice, boris)
    post(boris, crew, {"msgtype": "m.image", "body": "dunes.png", "url": upload(boris, picture(90, 60), "dunes.png", "image/png")})
    boris.send(crew, "more of them: https://example.org/dunes")
    first = post(boris, crew, html("first of all", "<p>first of all</p><blockquote>quoted</blockquote><pre><code>code</code></pre>"))
    post(boris, crew, POLL, "org.matrix.msc3381.poll.start")
    post(boris, crew, {"msgtype": "m.location", "body": "The gate", "geo_uri": "geo:52.5163,13.3777"})
    post(alice, crew, {"msgtype": "m.text", "body": "an answer", "m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    for user in (alice, boris):
        post(user, crew, {"m.relates_to": {"rel_type": "m.annotation", "event_id": first, "key": "👍"}}, "m.reaction")
    return crew


async def look_at_all(test, alice_user, crew, look, **options):
    async with people(test, "alice", fresh=True, **options) as alice:
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await check(alice, f"sign-in, {look}")
        await alice.sign_in(alice_user)
        if look == "high contrast":
            await alice.page.evaluate("localStorage.setItem('theme', 'contrast')")
            await alice.page.reload()
            await alice.signed_in()
        await alice.open_room(crew)
        await alice.sees("an answer")
        async for name in screens(alice):
            await check(alice, f"{name}, {look}")


@test("each screen has names for all there is to do, sound references, and letters that can be read, in light and dark and high contrast")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    crew = everything(alice_user, boris_user)
    await look_at_all(test, alice_user, crew, "light")
    await look_at_all(test, alice_user, crew, "dark", scheme="dark")
    await look_at_all(test, alice_user, crew, "high contrast")


@test("the check finds what has no name, what refers to nothing, and letters that cannot be read")
async def _(test):
    async with people(test, "alice", fresh=True) as alice:
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        assert not await faults(alice)
        await alice.page.evaluate("""() => { document.body.insertAdjacentHTML('beforeend',
          '<button></button><p id="same"></p><p id="same" aria-labelledby="nobody"></p><p>faint words</p>');
          Object.assign(document.body.lastChild.style, { color: '#ccc', background: '#fff' });
        }""")
        found = "; ".join(await faults(alice))
        for what in ("button without a name", "ID same stands 2 times", "names nobody", "faint words"):
            assert what in found, found


@test("a screen that lost a part, or has the colours of another look, is told from one whose words are others")
async def _(test):
    async with people(test, "alice", fresh=True) as alice:
        async def means():
            return await alice.page.evaluate(looks.MEANS, [base64.b64encode(await alice.page.screenshot()).decode(), *looks.FIELDS])
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await alice.rest()
        before = await means()
        await alice.page.get_by_label("User name", exact=True).locator("visible=true").fill("@somebody:else.example")
        assert looks.share(before, await means()) <= looks.SHARE
        await alice.page.emulate_media(color_scheme="dark")
        assert looks.share(before, await means()) > 0.5
        await alice.page.emulate_media(color_scheme="light")
        await alice.page.get_by_role("heading", name="Welcome to Martlet").evaluate("heading => heading.parentElement.remove()")
        assert looks.share(before, await means()) > looks.SHARE
