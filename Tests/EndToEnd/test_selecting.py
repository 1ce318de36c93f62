"""Several messages at once, messages that are saved, and what a message's information says."""
from accessibility import check
from browser import PHONE, expect, in_room
from client import room_path
from harness import test
from test_browser import post
from test_composer import two_in

NEEDS_BROWSER = True

TAGGED = "m.tagged_events"


def bar(person):
    return person.page.get_by_role("toolbar", name="Selected messages")


def chosen(person):
    """Said of each row that is."""
    return person.feed.get_by_role("article", name="Selected. ")


@test("several messages are selected with Shift, copied, forwarded and deleted; those of others stay, and it says so")
async def _(test):
    room, users = two_in(test, "Orchard")
    other = users["boris"].create_room(name="Cellar")
    for number in range(1, 5):
        users["alice"].send(room, f"apple {number}")
    for number in range(1, 4):
        users["boris"].send(room, f"pear {number}")
    async with in_room(test, room, {"boris": users["boris"]}, permissions=["clipboard-read", "clipboard-write"]) as boris:
        page = boris.page
        await boris.message_menu("apple 2", "Select")
        await bar(boris).get_by_text("1 selected").wait_for()
        await expect(boris.composer).to_be_hidden()
        await boris.words("apple 4").click(modifiers=["Shift"])
        await bar(boris).get_by_text("3 selected").wait_for()
        await expect(chosen(boris)).to_have_count(3)
        await boris.words("apple 3").click()
        await bar(boris).get_by_text("2 selected").wait_for()
        await check(boris, "messages that are selected")
        await boris.picture("selection-light")
        await bar(boris).get_by_role("button", name="Copy").click()
        await boris.until("""async () => { const text = await navigator.clipboard.readText();
          return text.indexOf('apple 2') > 0 && text.indexOf('apple 4') > text.indexOf('apple 2') && !text.includes('apple 3'); }""")
        await bar(boris).wait_for(state="detached")
        await expect(boris.composer).to_be_visible()

        # Forwarded in the order in which they were said.
        await boris.message_menu("apple 4", "Select")
        await boris.words("apple 3").click()
        await bar(boris).get_by_role("button", name="Forward").click()
        await boris.dialog.get_by_role("checkbox", name="Cellar").check()
        await boris.dialog.get_by_role("button", name="Forward", exact=True).click()
        await bar(boris).wait_for(state="detached")
        await boris.until("""async ([room, token]) => {
          const answer = await fetch(`/_matrix/client/v3/rooms/${encodeURIComponent(room)}/messages?dir=b&limit=2`, { headers: { authorization: 'Bearer ' + token } });
          return JSON.stringify((await answer.json()).chunk.map(event => event.content.body)) === '["apple 4","apple 3"]'; }""",
                          [other, users["boris"].token])

        # By keyboard alone. A message of the room's owner is not his to delete.
        await boris.message("pear 1").focus()
        await page.keyboard.press("Enter")
        await boris.choose("Select")
        await bar(boris).get_by_text("1 selected").wait_for()
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("Shift+ArrowDown")
        await bar(boris).get_by_text("3 selected").wait_for()
        await page.keyboard.press("Shift+ArrowUp")
        await bar(boris).get_by_text("2 selected").wait_for()
        await boris.words("apple 1").click()
        await bar(boris).get_by_role("button", name="Delete").click()
        await boris.dialog.get_by_text("1 of the selected messages is not yours to delete. It stays.").wait_for()
        assert await page.get_by_role("dialog", name="Delete 2 messages for everyone?").count() == 1
        await check(boris, "the question before messages are deleted")
        await boris.dialog.get_by_role("button", name="Delete for everyone").click()
        await expect(boris.message("pear 1")).to_have_count(0)
        await expect(boris.message("pear 2")).to_have_count(0)
        await boris.sees("apple 1")
        await boris.sees("pear 3")

        # Escape ends it, and the keyboard stays where it was.
        await boris.message_menu("pear 3", "Select")
        await bar(boris).wait_for()
        await page.keyboard.press("Escape")
        await bar(boris).wait_for(state="detached")
        await expect(boris.message("pear 3")).to_be_focused()


@test("on a phone a finger taps the rows, and going to another room ends the selection")
async def _(test):
    room, users = two_in(test, "Quarry")
    for number in range(1, 4):
        users["boris"].send(room, f"stone {number}")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, has_touch=True, is_mobile=True) as alice:
        await alice.message("stone 2").click(button="right")
        await alice.choose("Select")
        await alice.words("stone 3").tap()
        await bar(alice).get_by_text("2 selected").wait_for()
        for name in ("Copy", "Forward", "Save", "Delete", "End selection"):
            await expect(bar(alice).get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        await alice.words("stone 3").tap()
        await alice.words("stone 2").tap()
        await bar(alice).wait_for(state="detached")
        await alice.message("stone 1").click(button="right")
        await alice.choose("Select")
        await bar(alice).wait_for()
        await alice.page.get_by_role("button", name="Back").first.tap()
        await bar(alice).wait_for(state="detached")


@test("saved messages are listed with their rooms, lead to their place, are removed again, and keep what other clients have tagged")
async def _(test):
    room, users = two_in(test, "Archive")
    alice_user = users["alice"]
    first = users["boris"].send(room, "the deed is in the drawer")
    for number in range(60):
        users["boris"].send(room, f"page {number}")
    account = f"user/{alice_user.user_id}/rooms/{room}/account_data/{TAGGED}"
    alice_user.put(account, {"tags": {"m.hidden": {"$other": {"keywords": ["x"]}}, "m.favourite": {first: {"tagged_at": 1}}}}).ok()
    async with in_room(test, room, {"alice": alice_user}) as alice:
        page = alice.page
        await alice.message_menu("page 59", "Save")
        await page.get_by_text("Message saved").wait_for()
        kept = alice_user.get(account).ok()["tags"]
        assert len(kept["m.favourite"]) == 2 and kept["m.hidden"] == {"$other": {"keywords": ["x"]}}, kept
        await alice.more("Saved messages")
        dialog = page.get_by_role("dialog", name="Saved messages")
        entries = dialog.get_by_role("button").filter(has_text="Archive")
        await expect(entries).to_have_count(2)
        await expect(entries.first).to_contain_text("page 59")
        await check(alice, "saved messages")
        # To the one that is not among the messages at hand.
        await entries.filter(has_text="the deed").click()
        await alice.highlighted("the deed").wait_for()
        await alice.message_menu("the deed", "Remove from saved")
        await page.get_by_text("Removed from saved messages").wait_for()
        await alice.more("Saved messages")
        await expect(entries).to_have_count(1)
        await dialog.get_by_role("button", name="page 59").last.click()
        await dialog.get_by_text("Nothing is saved yet.").wait_for()
        assert alice_user.get(account).ok()["tags"] == {"m.hidden": {"$other": {"keywords": ["x"]}}}


@test("a message's information says who has read it and when, and what it said before; IDs and sources are for developers")
async def _(test):
    room, users = two_in(test, "Minutes")
    event = users["alice"].send(room, "at eight")
    post(users["alice"], room, {"msgtype": "m.text", "body": "* at nine", "m.new_content": {"msgtype": "m.text", "body": "at nine"},
                                "m.relates_to": {"rel_type": "m.replace", "event_id": event}})
    users["boris"].post(room_path(room, "receipt", "m.read", event), {}).ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.message_menu("at nine", "Message info")
        dialog = page.get_by_role("dialog", name="Message info")
        await dialog.get_by_role("button", name=users["boris"].user_id[1:6]).wait_for()
        await dialog.get_by_text("Edited once").click()
        await dialog.get_by_text("at eight").wait_for()
        await check(alice, "a message's information")
        assert await dialog.get_by_text("Event ID").count() == 0 and await dialog.get_by_role("button", name="View source").count() == 0
        await page.keyboard.press("Escape")
        await page.evaluate("() => localStorage.setItem('developer', '1')")
        await page.reload()
        await alice.message_menu("at nine", "Message info")
        await dialog.get_by_text(event).wait_for()
