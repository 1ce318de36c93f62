"""Verifications in the page: people and devices compare emoji, or do not; what is said at each end of it."""
import asyncio
import contextlib
import re

from accessibility import check
from browser import expect, in_room, open_settings, people, room_fragment
from client import User
from harness import PATIENCE, test
from test_encrypted_page import has_identity, open_encryption
from test_nio import ENCRYPTION

NEEDS_BROWSER = True
EMOJI = ".ma-sas-entry"


def chat_of(one, other):
    """An encrypted chat that is both users' direct one."""
    room = one.create_room(preset="trusted_private_chat", is_direct=True, invite=[other.user_id], initial_state=[ENCRYPTION])
    other.join(room)
    for user, with_whom in ((one, other), (other, one)):
        user.put(f"user/{user.user_id}/account_data/m.direct", {with_whom.user_id: [room]}).ok()
    return room


@contextlib.asynccontextmanager
async def two_people(test, users=None, **options):
    alice, boris = users or (User(test.base, "alice"), User(test.base, "boris"))
    room = chat_of(alice, boris)
    async with in_room(test, room, {"alice": alice, "boris": boris}, **options) as (one, other):
        await asyncio.gather(has_identity(alice), has_identity(boris))
        yield one, other


async def ask(one):
    """Opens the details of the chat and asks for a verification."""
    await one.page.get_by_role("button", name="Members and settings").click()
    await one.details.get_by_role("button", name="Verify ").click()


async def show_details(person):
    """After a reload: the address may have them open."""
    await person.page.get_by_role("button", name="Members and settings").wait_for()
    if not await person.details.is_visible():
        await person.page.get_by_role("button", name="Members and settings").click()


def banner(person):
    return person.page.locator(".ma-app > .ma-security")


async def both_compare(one, other):
    for person in (one, other):
        await expect(person.dialog.locator(EMOJI)).to_have_count(7)
    seen = [await person.dialog.locator(EMOJI).all_inner_texts() for person in (one, other)]
    assert seen[0] == seen[1] and len(set(seen[0])) > 1, f"they see different emoji: {seen}"


# Proves E5
@test("two people verify each other by emoji; both then see it in words, also after a reload and in lists of members")
async def _(test):
    alice, boris, carol = (User(test.base, name) for name in ("alice", "boris", "carol"))
    group = alice.create_room(name="Group", initial_state=[ENCRYPTION], invite=[boris.user_id, carol.user_id])
    for user in (boris, carol):
        user.join(group)
    async with two_people(test, (alice, boris)) as (one, other):
        await ask(one)
        await one.dialog.get_by_text("has to accept the request").wait_for()
        await one.picture("verify-waiting")
        await banner(other).get_by_text("asks you to verify each other").wait_for()
        await other.picture("verify-asked")
        await other.page.get_by_role("article").filter(has_text="Verification request: waiting for an answer").wait_for()
        await banner(other).get_by_role("button", name="Verify").click()
        await choose_emoji(one, other)
        await both_compare(one, other)
        await one.picture("verify-compare")
        await check(one, "comparing emoji")
        for person in (one, other):
            await person.dialog.get_by_role("button", name="They match").click()
        for person in (one, other):
            await person.dialog.get_by_text("is verified.").wait_for()
        await one.picture("verify-done")
        for person in (one, other):
            await person.dialog.get_by_role("button", name="Close", exact=True).last.click()
            await person.page.get_by_role("article").filter(has_text="Verification request: done").wait_for()
        await one.details.get_by_text("Verified", exact=True).wait_for()
        await one.page.reload()
        await one.page.get_by_role("article").filter(has_text="Verification request: done").wait_for()
        await show_details(one)
        await one.details.get_by_text("Verified", exact=True).wait_for()
        await one.write("now surely to you")
        await other.sees("now surely to you")
        # Lists of members say of whom that is so.
        await one.open_room(group)
        await show_details(one)
        await expect(one.members.filter(has_text="Verified")).to_have_count(1)
        await expect(one.members.filter(has_text="boris")).to_contain_text("Verified")
        await one.picture("verified-member")


async def choose_emoji(one, other):
    """Pages show a code first, where both could use one: one of the two chooses emoji."""
    choice = one.dialog.get_by_role("button", name="Compare emoji").or_(one.dialog.locator(EMOJI).first)
    await choice.first.wait_for()
    if await one.dialog.get_by_role("button", name="Compare emoji").count():
        await one.dialog.get_by_role("button", name="Compare emoji").click()


# Proves E5, E6
@test("a new browser is verified by the old one and then reads old messages; the settings say of both that they are verified")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Archive", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with in_room(test, room, {"alice": alice}) as one:
        await has_identity(alice)
        await one.write("from long ago")
        await one.sees("from long ago")
        async with people(test, "alice2") as two:
            await two.sign_in(alice, room_fragment(room))
            await banner(two).get_by_text("This browser is not verified").wait_for()
            await two.picture("not-verified")
            await banner(two).get_by_role("button", name="Confirm it’s you").click()
            await two.picture("confirm-you")
            await check(two, "the ways to confirm it is you")
            await two.dialog.get_by_role("button", name="Use another device").click()
            await two.dialog.get_by_text("on your other device").wait_for()
            await banner(one).get_by_text("asks to be verified").wait_for()
            await banner(one).get_by_role("button", name=re.compile("^(Verify|Yes, verify it)$")).click()
            await choose_emoji(two, one)
            await both_compare(one, two)
            for person in (one, two):
                await person.dialog.get_by_role("button", name="They match").click()
            await two.dialog.get_by_text("This browser is verified now").wait_for()
            await one.dialog.get_by_text("Your other device is verified now").wait_for()
            for person in (one, two):
                await person.dialog.get_by_role("button", name="Close", exact=True).last.click()
            await expect(banner(two)).to_be_hidden()
            await two.sees("from long ago")
            await open_settings(two.page)
            await two.dialog.get_by_role("tab", name="Devices").click()
            await expect(two.dialog.get_by_role("listitem").filter(has_text="Verified")).to_have_count(2)
            await expect(two.dialog.get_by_text("Not verified")).to_have_count(0)
            await two.picture("verified-devices")


@test("emoji that do not match verify nobody, and both are told what that may mean")
async def _(test):
    async with two_people(test) as (one, other):
        await ask(one)
        await banner(other).get_by_role("button", name="Verify").click()
        await choose_emoji(one, other)
        await both_compare(one, other)
        await other.dialog.get_by_role("button", name="They don’t match").click()
        for person in (one, other):
            await person.dialog.get_by_text("The two sides do not show the same").wait_for()
        await one.picture("verify-mismatch")
        await one.dialog.get_by_role("button", name="Close", exact=True).last.click()
        await one.page.get_by_role("article").filter(has_text="Verification request: cancelled").wait_for()
        await one.details.get_by_text("Not verified", exact=True).wait_for()


@test("a verification that one side cancels, or ignores, ends for the other, who can ask again")
async def _(test):
    async with two_people(test) as (one, other):
        await ask(one)
        await banner(other).get_by_role("button", name="Ignore").click()
        await one.dialog.get_by_text("The other side has cancelled").wait_for()
        await one.dialog.get_by_role("button", name="Close", exact=True).last.click()
        await one.details.get_by_role("button", name="Verify ").click()
        await banner(other).get_by_role("button", name="Verify").click()
        await choose_emoji(one, other)
        await both_compare(one, other)
        await one.page.keyboard.press("Escape")
        await other.dialog.get_by_text("The other side has cancelled").wait_for()


@test("a page that is loaded anew amid a verification ends it or goes on with it, and the other side is not left waiting")
async def _(test):
    async with two_people(test) as (one, other):
        await ask(one)
        await banner(other).get_by_role("button", name="Verify").click()
        await choose_emoji(one, other)
        await both_compare(one, other)
        await one.page.reload()
        await one.composer.wait_for()
        await other.dialog.get_by_role("button", name="They match").or_(other.dialog.get_by_text("Nothing was verified")).first.wait_for()
        await other.page.keyboard.press("Escape")
        await show_details(one)
        await one.details.get_by_text("Not verified", exact=True).wait_for()
