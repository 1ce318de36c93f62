"""Spaces: the rail that leads to them, their home, and what is put into them."""
import re

from browser import PHONE, expect, people
from client import User
from harness import test

NEEDS_BROWSER = True


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
        await boris.page.get_by_role("button", name="Join: Kitchen").click()
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
