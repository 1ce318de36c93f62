"""The first minute on a phone, and before signing in. `test_flows` has what it takes on a desk."""
from accessibility import check
from browser import people
from client import User, fresh
from harness import test

NEEDS_BROWSER = True


@test("on a phone the same cards stand in the empty list")
async def _(test):
    user = User(test.base, "phone")
    async with people(test, "phone", viewport={"width": 360, "height": 740}) as person:
        await person.sign_in(user)
        await person.rooms.get_by_role("button", name="Start a chat").wait_for()
        await check(person, "an empty list on a phone")
        await person.rooms.get_by_role("button", name="Invite people").click()
        await person.dialog.get_by_role("button", name="Copy link").wait_for()


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
