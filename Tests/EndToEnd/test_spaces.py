"""Spaces: the rail that leads to them, their home, and what is put into them."""
import re

from browser import PHONE, expect, people
from client import User, fresh
from harness import test
from test_chatting import Finger, centre

NEEDS_BROWSER = True


# A finger rests on one until it is held, goes to the other and lets go. In the page itself: seen from outside, the moment before the menu
# opens may have passed.
CARRY = """async ([name, other]) => {
  const item = words => [...document.querySelectorAll('[data-movable]')].find(item => item.textContent.includes(words));
  const carried = item(name);
  const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];
  const [x, y] = middle(carried.getBoundingClientRect()), end = middle(item(other).getBoundingClientRect())[0] + 8;
  const tell = (kind, clientX, target) => target.dispatchEvent(new PointerEvent(kind, {
    bubbles: true, cancelable: true, pointerId: 7, pointerType: 'touch', isPrimary: true, clientX, clientY: y }));
  const isHeld = new Promise(tell => new MutationObserver((_, watch) => {
    if (!carried.classList.contains('ma-held')) return;
    watch.disconnect();
    tell();
  }).observe(carried, { attributes: true }));
  tell('pointerdown', x, carried);
  await isHeld;
  for (let step = 1; step <= 8; step++) tell('pointermove', x + (end - x) * step / 8, window);
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  tell('pointerup', end, window);
}"""


def rail(person):
    return person.page.get_by_role("toolbar", name="Spaces")


@test("a space is made from the rail, gets rooms, opens its home, and the list follows it; somebody else joins its rooms there")
async def _(test):
    alice_user, boris_user = User(test.base, "alice"), User(test.base, "boris")
    kitchen = alice_user.create_room(name="Kitchen", preset="public_chat")
    alice_user.create_room(name="Attic")
    async with people(test, "alice", "boris") as (alice, boris):
        page = alice.page
        await alice.sign_in(alice_user)
        await alice.entry("Kitchen").wait_for()
        await expect(rail(alice)).to_be_hidden()
        space = alice_user.create_room(name="House", preset="public_chat", creation_content={"type": "m.space"}, topic="All of it")
        await rail(alice).get_by_role("button", name="House").click()
        await alice.heading("House").wait_for()
        await page.get_by_text("1 member · Public space").wait_for()
        assert not await alice.composer.is_visible(), "one can write into a space"

        # Joined rooms are added together.
        await page.get_by_role("button", name="Add room").click()
        await alice.choose("Add rooms you are in")
        await alice.dialog.get_by_label("Kitchen").check()
        await alice.dialog.get_by_role("button", name="Add", exact=True).click()
        await page.get_by_role("button", name="Open: Kitchen").wait_for()
        await alice.entry("Attic").wait_for(state="detached")
        await alice.entry("Kitchen").wait_for()
        await alice.picture("space-home")
        await rail(alice).get_by_role("button", name="Home").click()
        await alice.entry("Attic").wait_for()
        await rail(alice).get_by_role("button", name="House").focus()
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Enter")
        await expect(rail(alice).get_by_role("button", name="Direct")).to_have_attribute("aria-pressed", "true")
        await alice.entry("Attic").wait_for(state="detached")

        # Somebody else: from the home into a room, two presses.
        boris_user.join(space)
        await boris.sign_in(boris_user)
        await rail(boris).get_by_role("button", name="House").click()
        await boris.page.get_by_role("main").get_by_role("button", name="Join: Kitchen").click()
        await boris.heading("Kitchen").wait_for()
        assert kitchen in boris_user.get("joined_rooms").ok()["joined_rooms"]
        alice_user.send(kitchen, "Soup is ready")
        await boris.message("Soup is ready").wait_for()

        # Taken out again.
        await rail(alice).get_by_role("button", name="House").click()
        await page.get_by_role("button", name="Options of Kitchen").last.click()
        await alice.choose("Take Kitchen out of the space")
        await page.get_by_role("button", name="Open: Kitchen").wait_for(state="detached")


@test("a space is made by its name; on a phone the rail is a row above the list, and a space's home one press away")
async def _(test):
    user = User(test.base, "alice")
    user.create_room(name="Old space", creation_content={"type": "m.space"})
    name = fresh("Town ")
    User(test.base, "boris").create_room(name=name, preset="public_chat", visibility="public", creation_content={"type": "m.space"})
    async with people(test, "alice", viewport=PHONE) as alice:
        page = alice.page
        await alice.sign_in(user)
        await page.get_by_role("button", name="New space").click()
        await alice.dialog.get_by_role("button", name="Create space").click()
        await alice.dialog.get_by_text("Give the space a name.").wait_for()
        await alice.dialog.get_by_label("Name of the space").fill("Choir & friends")
        await page.keyboard.press("Enter")
        await alice.heading("Choir & friends").wait_for()
        await page.get_by_role("button", name="Back to conversations").locator("visible=true").click()
        await rail(alice).get_by_role("button", name="Choir & friends").click()
        await alice.picture("space-phone")
        await page.get_by_role("button", name="About this space").click()
        await alice.heading("Choir & friends").wait_for()
        # One that is there already.
        await page.get_by_role("button", name="Back to conversations").locator("visible=true").click()
        await page.get_by_role("button", name="New space").click()
        await alice.dialog.get_by_role("button", name="Find a space").click()
        await alice.dialog.get_by_label("Search public rooms").fill(name)
        await alice.dialog.get_by_role("button", name=f"Join: {name}").click()
        await alice.heading(name).wait_for()


@test("spaces keep the order that the user set by menu or keyboard, on other devices too")
async def _(test):
    user = User(test.base, "alice")
    for name in ("Apples", "Berries", "Cherries"):
        user.create_room(name=name, creation_content={"type": "m.space"})
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(user)
        # Behind their letters.
        spaces = lambda: rail(alice).get_by_role("button").filter(has_not_text=re.compile("^(Home|Direct)$")).locator(".ma-rail-name")
        await expect(spaces()).to_have_text(["Apples", "Berries", "Cherries"])
        await rail(alice).get_by_role("button", name="Cherries").click(button="right")
        await alice.choose("Move up")
        await expect(spaces()).to_have_text(["Apples", "Cherries", "Berries"])
        apples = rail(alice).get_by_role("button", name="Apples")
        await apples.focus()
        await page.keyboard.press("Alt+ArrowDown")
        await expect(spaces()).to_have_text(["Cherries", "Apples", "Berries"])
        await expect(apples).to_be_focused()
        await page.reload()
        await expect(spaces()).to_have_text(["Cherries", "Apples", "Berries"])

        # Carried by the mouse, and put back with Escape on the way.
        item = lambda name: rail(alice).get_by_role("button", name=name)
        async def carry(name, onto):
            start, end = await centre(item(name)), await centre(item(onto))
            await page.mouse.move(*start)
            await page.mouse.down()
            await page.mouse.move(start[0], (start[1] + end[1]) / 2, steps=4)
            await page.mouse.move(end[0], end[1] + (6 if end[1] > start[1] else -6), steps=4)
            await page.locator(".ma-carried").wait_for()

        await carry("Berries", "Cherries")
        await alice.picture("rail-carried")
        await page.keyboard.press("Escape")
        await page.mouse.up()
        await expect(spaces()).to_have_text(["Cherries", "Apples", "Berries"])
        await carry("Berries", "Cherries")
        async with page.expect_response(lambda answer: "space_order" in answer.url and answer.request.method == "PUT"):
            await page.mouse.up()
        await expect(spaces()).to_have_text(["Berries", "Cherries", "Apples"])
        # Letting go has opened nothing.
        await expect(item("Home")).to_have_attribute("aria-pressed", "true")
        await page.reload()
        await expect(spaces()).to_have_text(["Berries", "Cherries", "Apples"])


@test("on a phone a finger holds a space for a moment and carries it along the row; a finger that moves at once scrolls")
async def _(test):
    user = User(test.base, "alice")
    for name in ("Apples", "Berries", "Cherries"):
        user.create_room(name=name, creation_content={"type": "m.space"})
    async with people(test, "alice", viewport=PHONE, has_touch=True, is_mobile=True) as alice:
        await alice.sign_in(user)
        spaces = rail(alice).locator("[data-movable] .ma-rail-name")
        await expect(spaces).to_have_text(["Apples", "Berries", "Cherries"])
        item = lambda name: rail(alice).get_by_role("button", name=name)
        finger = await Finger.of(alice)
        start, end = await centre(item("Apples")), await centre(item("Berries"))
        await finger.slide(start, end)
        await finger.lift()
        await expect(spaces).to_have_text(["Apples", "Berries", "Cherries"])

        async with alice.page.expect_response(lambda answer: "space_order" in answer.url and answer.request.method == "PUT"):
            await alice.page.evaluate(CARRY, ["Apples", "Berries"])
        await expect(spaces).to_have_text(["Berries", "Apples", "Cherries"])


@test("a space that is chosen lists its rooms to join below those the user is in; what is joined leaves that list")
async def _(test):
    host, guest = User(test.base, "host"), User(test.base, "guest")
    space = host.create_room(name="House", preset="public_chat", creation_content={"type": "m.space"})
    server = host.user_id.split(":", 1)[1]
    for name in ("Kitchen", "Cellar"):
        room = host.create_room(name=name, preset="public_chat")
        host.state(space, "m.space.child", {"via": [server]}, room)
    closed = host.create_room(name="Safe")
    host.state(space, "m.space.child", {"via": [server]}, closed)
    guest.join(space)
    async with people(test, "guest") as person:
        await person.sign_in(guest)
        await rail(person).get_by_role("button", name="House").click()
        below = person.rooms
        await below.get_by_role("heading", name="Rooms to join").wait_for()
        await below.get_by_role("button", name="Join: Cellar").wait_for()
        await expect(below.get_by_role("button", name="Join: Safe")).to_have_count(0)
        await person.picture("space-rooms-to-join")
        await below.get_by_role("button", name="Join: Kitchen").click()
        await person.heading("Kitchen").wait_for()
        await person.entry("Kitchen").wait_for()
        await below.get_by_role("button", name="Join: Kitchen").wait_for(state="detached")
        await below.get_by_role("button", name="Join: Cellar").wait_for()
        await rail(person).get_by_role("button", name="Home").click()
        await expect(below.get_by_role("heading", name="Rooms to join")).to_be_hidden()
