"""The first minute: what an empty client offers, how rooms begin, who can read them, where help is; and a console without errors."""
from types import SimpleNamespace

from accessibility import check
from browser import PASSWORD, expect, people
from client import User, fresh
from harness import test
from server import Server
from test_flows import Actions

NEEDS_BROWSER = True


def visible(page, label):
    return page.get_by_label(label, exact=True).locator("visible=true")


# 6 s: an account is made, and five screens are looked through by axe.
@test("flows: a new account has a name and a room after five actions; cards, room and chat begin with what can be done")
async def _(test):
    other = User(test.base, "other")
    other.create_room(name="Town hall", preset="public_chat", visibility="public")
    async with people(test, "newcomer", fresh=True) as newcomer:
        page, errors = newcomer.page, []
        # Also what the browser itself writes for an answer that is no success.
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        await page.get_by_role("tab", name="Create account").click()
        await visible(page, "User name").fill(fresh("newcomer"))
        await visible(page, "Password").fill(PASSWORD)
        await page.keyboard.press("Enter")

        do = Actions(newcomer)
        step = page.get_by_role("dialog", name="Your name and picture")
        await expect(step.get_by_label("Your name")).to_be_focused()
        await check(newcomer, "name and picture")
        await do.type("Nora New")
        await do.key("Enter")
        await page.get_by_role("heading", name="Welcome, Nora New").wait_for()
        for card in ("Start a chat", "Create a room", "Invite people", "Find public rooms"):
            await page.get_by_role("button", name=card).wait_for()
        await check(newcomer, "an empty client")
        await do.press("button", "Create a room")
        await expect(page.get_by_role("tab", name="New room")).to_have_attribute("aria-selected", "true")
        await page.get_by_role("textbox", name="Room name").focus()
        await do.type("Den")
        await do.key("Enter")
        await newcomer.heading("Den").wait_for()
        assert do.count <= 5, do.count

        # The room says what it is and what to do; its history is one folded line below.
        main = page.get_by_role("main")
        await main.get_by_text("This room is new.").wait_for()
        await main.get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        await main.get_by_role("button", name="Invite").wait_for()
        await check(newcomer, "a new room")
        await main.get_by_role("button", name="Add a topic").click()
        await newcomer.dialog.get_by_label("Topic").fill("What we do here")
        await page.keyboard.press("Enter")
        await expect(main.get_by_role("button", name="Add a topic")).to_have_count(0)
        await newcomer.write("First! http://127.0.0.1:1/nothing")
        await newcomer.sees("First!")
        await expect(main.get_by_text("This room is new.")).to_be_hidden()

        # A chat is the person, and one press says hello.
        await page.get_by_role("button", name="New conversation").first.click()
        await page.keyboard.type(other.user_id)
        await page.keyboard.press("Enter")
        await main.get_by_text("This is the beginning of your chat.").wait_for()
        await check(newcomer, "a new chat")
        await main.get_by_role("button", name="Say hello").click()
        await newcomer.sees("👋")

        # Everything else that asks the server for something.
        await page.get_by_role("button", name="Your profile").click()
        for tab in await page.get_by_role("dialog").get_by_role("tab").all():
            await tab.click()
        await page.keyboard.press("Escape")
        await newcomer.entry("Den").click()
        await page.get_by_role("button", name="Members and settings").click()
        await newcomer.room_settings("Advanced")
        await page.get_by_text("Room version").wait_for()
        await page.keyboard.press("Escape")
        await page.reload()
        await newcomer.signed_in()
        assert not errors, errors


@test("on a phone the same cards stand in the empty list")
async def _(test):
    user = User(test.base, "phone")
    async with people(test, "phone", viewport={"width": 360, "height": 740}) as person:
        await person.sign_in(user)
        await person.rooms.get_by_role("button", name="Start a chat").wait_for()
        await check(person, "an empty list on a phone")
        await person.rooms.get_by_role("button", name="Invite people").click()
        await person.dialog.get_by_role("button", name="Copy link").wait_for()


@test("flows: what others can read is said in the header, and in whole behind one press; the settings say it, too")
async def _(test):
    user = User(test.base, "reader")
    room = user.create_room(name="Open")
    user.send(room, "hello")
    secret = user.create_room(name="Secret")
    user.state(secret, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    async with people(test, "reader") as reader:
        page = reader.page
        await reader.sign_in(user)
        await reader.entry("Open").click()
        main = page.get_by_role("main")
        await main.get_by_text("Not encrypted", exact=True).wait_for()
        do = Actions(reader)
        await do.press("button", "Members and settings")
        await reader.details.get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        assert do.count <= 1, do.count
        await reader.room_settings("Access")
        await page.get_by_role("dialog").get_by_text("Not encrypted: the people who run the server can read this.").wait_for()
        await page.keyboard.press("Escape")
        await reader.entry("Secret").click()
        await main.get_by_text("End-to-end encrypted", exact=True).wait_for()
        await expect(main.get_by_text("Not encrypted", exact=True)).to_have_count(0)


@test("flows: the sign-in page of a server without mail names its support contact, and so does About")
async def _(test):
    test.own_server()
    server = Server(support_contacts="m.role.admin=help@test.example", support_page="https://test.example/help").start()
    try:
        user = User(server.base, "forgetful")
        there = SimpleNamespace(base=server.base, artifacts=test.artifacts)
        async with people(there, "forgetful", fresh=True) as person:
            page = person.page
            await page.get_by_text("Forgot your password? Ask the person who runs this server.").wait_for()
            mail = page.get_by_role("link", name="help@test.example")
            await expect(mail).to_have_attribute("href", "mailto:help@test.example")
            await expect(page.get_by_role("link", name="Help page")).to_have_attribute("href", "https://test.example/help")
            await check(person, "support contact")
            await person.sign_in_by_typing(user)
            await page.get_by_role("button", name="Your profile").click()
            await page.get_by_role("tab", name="About").click()
            await page.get_by_role("link", name="help@test.example").wait_for()
    finally:
        server.close()


@test("a link to a public room shows what it is before signing in, without an identifier where a name is known")
async def _(test):
    owner = User(test.base, "owner")
    alias = fresh("garden")
    owner.create_room(name="Rose garden", topic="What grows", preset="public_chat", room_alias_name=alias)
    server = owner.user_id.split(":", 1)[1]
    async with people(test, "visitor", fresh=True) as visitor:
        page = visitor.page
        await page.goto(f"{test.base}/#room/%23{alias}:{server}")
        await page.get_by_role("heading", name="Rose garden").wait_for()
        await page.get_by_text("What grows").wait_for()
        await page.get_by_text("1 member", exact=True).wait_for()
