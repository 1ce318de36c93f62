"""What the first people who tried the page stumbled over (Documentation/Usability.md has the list), where no test of a feature would notice it."""
import re
from urllib.parse import quote

from browser import expect, in_room, people, send_files
from client import User, fresh
from harness import test
from test_browser import html, picture, post, upload
from test_composer import two_in

NEEDS_BROWSER = True

ARABIC = "صباح الخير يا أصدقاء، الشاي جاهز والخبز ما زال دافئا، تعالوا جميعا إلى الحديقة قبل أن يبرد كل شيء"
# Whether the first word of a text that is cut is whole in view: it begins where one begins to read.
BEGINS = """node => {
  const range = document.createRange(), box = node.getBoundingClientRect(), text = document.createTreeWalker(node, NodeFilter.SHOW_TEXT).nextNode();
  range.setStart(text, 0);
  range.setEnd(text, text.data.indexOf(' '));
  const word = range.getBoundingClientRect();
  return node.scrollWidth > node.clientWidth && word.width > 0 && word.left >= box.left - 1 && word.right <= box.right + 1;
}"""


# Proves U16, U19.
@test("the list says what a message says without its marks, and cuts an Arabic one where its reader stops")
async def _(test):
    room, users = two_in(test, "Letters")
    for language, name in (("en", "Your profile"), ("ar", "ملفك الشخصي")):
        async with people(test, "alice", fresh=language != "en", locale=language) as alice:
            await alice.sign_in(users["alice"], profile=name)
            post(users["boris"], room, html("**bold** `code`", "<strong>bold</strong> <code>code</code>"))
            preview = alice.page.locator(".ma-entry-preview").first
            await expect(preview).to_contain_text("bold code")
            users["boris"].send(room, ARABIC)
            await expect(preview).to_contain_text("صباح")
            assert await preview.evaluate(BEGINS), language


# A picture as it stands in a message or before it is sent: how wide to how high, and its longest side.
SHAPE = "image => { const { width, height } = image.getBoundingClientRect(); return [width / height, Math.max(width, height), image.naturalWidth / image.naturalHeight, getComputedStyle(image).objectFit]; }"


# Proves U17, U18.
@test("a picture is whole before and after it is sent, with a file beside it too, and what takes it away is not on its face")
async def _(test):
    room, users = two_in(test, "Shapes")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files([{"name": "tall.png", "mimeType": "image/png", "buffer": picture(60, 180)},
                                               {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"water the beans"}])
        image = alice.loaded(alice.dialog.get_by_role("img")).first
        await image.wait_for()
        ratio, _, natural, fit = await image.evaluate(SHAPE)
        assert abs(ratio - natural) < 0.02 or fit == "contain", (ratio, natural, fit)
        away, face = [await place.bounding_box() for place in (alice.dialog.get_by_role("button", name="Remove tall.png"), image)]
        apart = [away[side] >= face[side] + face[size] or away[side] + away[size] <= face[side] for side, size in (("x", "width"), ("y", "height"))]
        assert any(apart), (away, face)
        await send_files(alice)
        shown = alice.loaded(page.get_by_role("img", name="tall.png"))
        await shown.wait_for()
        await page.get_by_text("notes.txt").wait_for()
        ratio, side, natural, _ = await shown.evaluate(SHAPE)
        assert abs(ratio - natural) < 0.02 and side <= 320, (ratio, natural, side)
        # A picture that another client sends.
        boris = users["boris"]
        sent = upload(boris, picture(60, 180), "both.png", "image/png")
        post(boris, room, {"msgtype": "m.image", "body": "both.png", "url": sent, "info": {"w": 60, "h": 180, "mimetype": "image/png"}})
        shown = alice.loaded(page.get_by_role("img", name="both.png"))
        ratio, side, natural, _ = await shown.evaluate(SHAPE)
        assert abs(ratio - natural) < 0.02 and side <= 320, (ratio, natural, side)


# Proves U32.
@test("one's own messages of one group stand at even distances, whatever is said beside them")
async def _(test):
    room, users = two_in(test, "Even")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        for number in range(4):
            await alice.write(f"line {number}")
            await alice.sees(f"line {number}")
        await alice.feed.get_by_text(re.compile("^(Sent|Delivered)$")).wait_for()
        # A new row comes in by a movement.
        await alice.rest()
        boxes = await alice.page.locator(".mg-own .mg-bubble").evaluate_all("bubbles => bubbles.map(bubble => bubble.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])")
        gaps = [after[0] - before[1] for before, after in zip(boxes, boxes[1:])]
        assert len(gaps) == 3 and max(gaps) - min(gaps) <= 1, gaps


# Proves U31.
@test("a finger that taps a message leaves no bar standing over its neighbour")
async def _(test):
    room, users = two_in(test, "Tap")
    for number in range(3):
        users["boris"].send(room, f"number {number}")
    async with in_room(test, room, {"alice": users["alice"]}, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as alice:
        await alice.message("number 1").tap()
        await alice.rest()
        await expect(alice.page.get_by_role("toolbar").locator("visible=true")).to_have_count(0)


# Proves U5, U7.
@test("a message's menu has groups, deleting is red, and emoji are drawn by the system's own font first")
async def _(test):
    room, users = two_in(test, "Signs")
    users["alice"].send(room, "mine \U0001f331")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.message("mine").click(button="right")
        assert await alice.page.get_by_role("menu").get_by_role("separator").count() >= 2
        delete, reply = alice.line("Delete for everyone"), alice.line("Reply")
        red, plain = [await line.evaluate("line => getComputedStyle(line).color.match(/[0-9.]+/g).map(Number)") for line in (delete, reply)]
        assert red[0] > red[1] + 80 and red[0] > red[2] + 80 and abs(plain[0] - plain[1]) < 40, (red, plain)
        signs = alice.page.get_by_role("menuitem", name="React with")
        assert await signs.count() == 6
        families = [await signs.first.evaluate("sign => getComputedStyle(sign).fontFamily")]
        await alice.choose("React")
        families.append(await alice.dialog.get_by_role("button", name="thumbs up").first.evaluate("sign => getComputedStyle(sign).fontFamily"))
        assert all(family.startswith('"Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji"') for family in families), families
        # In the middle of a text the letters keep their font, and only what is an emoji leaves it.
        await alice.page.keyboard.press("Escape")
        family = await alice.words("mine").first.evaluate("node => getComputedStyle(node).fontFamily")
        assert "Emoji" in family, family


# Proves U9, U22, U25.
@test("a chat's panel is the person; a member's card begins with writing and ends with removing; roles are a table, the rest is folded")
async def _(test):
    room, users = two_in(test, "Circle")
    boris = users["boris"]
    direct = users["alice"].create_room(invite=[boris.user_id], is_direct=True, preset="trusted_private_chat")
    boris.join(direct)
    users["alice"].put(f"user/{quote(users['alice'].user_id)}/account_data/m.direct", {boris.user_id: [direct]}).ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await page.get_by_role("button", name="Members and settings").click()
        await alice.members.nth(1).wait_for()
        await alice.members.filter(has_text=boris.user_id[1:6]).first.click()
        await alice.dialog.get_by_role("button", name="Message").wait_for()
        order = [words for words in await alice.dialog.get_by_role("button").all_inner_texts() if words in ("Message", "Mention", "Report", "Remove from the room", "Ban from the room")]
        assert order[:2] == ["Message", "Mention"] and order[-1].startswith(("Remove", "Ban")), order
        await page.keyboard.press("Escape")
        await alice.room_settings("Roles")
        table = alice.dialog.get_by_role("table")
        assert await table.get_by_role("columnheader").count() == 3
        await expect(alice.dialog.get_by_role("combobox").locator("visible=true")).to_have_count(0)
        await alice.dialog.get_by_role("group").locator("summary").first.click()
        assert await alice.dialog.get_by_role("combobox").locator("visible=true").count() > 5
        await page.keyboard.press("Escape")

        await alice.open_room(direct)
        await page.get_by_role("button", name="Members and settings").click()
        await alice.details.get_by_text(boris.user_id).wait_for()
        for words in ("Block", "1 room in common"):
            await alice.details.get_by_text(words).first.wait_for()
        assert not await alice.details.get_by_role("list", name="People").count()


# Proves U11, U29.
@test("a name with a capital signs up and in, and a public room needs no address of its own")
async def _(test):
    name = fresh("flora")
    async with people(test, "flora", "again", fresh=True) as (first, second):
        page = first.page
        await page.get_by_role("tab", name="Create account").click()
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(name.capitalize())
        await page.get_by_label("Password", exact=True).locator("visible=true").fill("a long password of hers")
        await page.get_by_role("button", name="Create account").click()
        await first.skip_first_step()
        await first.signed_in()
        await page.get_by_role("button", name="New conversation").first.click()
        await first.dialog.get_by_role("tab", name="New room").click()
        await first.dialog.get_by_label("Room name").fill("Open Garden")
        await first.dialog.get_by_label("Anyone on this server can join").check()
        await first.dialog.get_by_role("button", name="Create room").click()
        await first.heading("Open Garden").wait_for()

        page = second.page
        await page.get_by_label("User name", exact=True).locator("visible=true").fill(name.upper())
        await page.get_by_label("Password", exact=True).locator("visible=true").fill("a long password of hers")
        await page.get_by_role("button", name="Sign in").click()
        await second.signed_in()


# Proves U20, U21.
@test("at 820 pixels a panel leaves no strip of the messages that nobody can read; at 360 there is room to write")
async def _(test):
    room, users = two_in(test, "Room")
    async with in_room(test, room, {"alice": users["alice"]}, viewport={"width": 820, "height": 1180}) as alice:
        page = alice.page
        await page.get_by_role("button", name="Members and settings").click()
        await alice.details.wait_for()
        await alice.rest()
        panel, main = await alice.details.bounding_box(), await page.get_by_role("main").bounding_box()
        strip = panel["x"] - main["x"]
        assert panel["x"] + panel["width"] == 820 and (strip <= 0 or strip >= 200), (panel, main)
        await alice.details.get_by_role("button", name="Close").click()
        await page.set_viewport_size({"width": 360, "height": 740})
        await alice.rest()
        assert (await alice.composer.bounding_box())["width"] >= 200


# ---- What the second one who tried the page stumbled over

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

# What one could press, is in view, and is covered by the short sentence that stands there.
COVERED = """() => {
  const box = document.querySelector('.ma-notice-box').getBoundingClientRect();
  const isInView = (node, x, y) => node.contains(document.elementsFromPoint(x, y).find(found => !found.closest('.ma-notice-box')));
  return [...document.querySelectorAll('button, input, select, textarea, [role=tab], [role=textbox], [role=option]')].filter(node => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const [from, to, above, below] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    return from < to && above < below && !node.closest('.ma-notice-box') && isInView(node, (from + to) / 2, (above + below) / 2);
  }).map(node => node.ariaLabel || node.textContent);
}"""


@test("a short sentence covers nothing that is pressed, in a room and with a dialog; a QR code comes into view")
async def _(test):
    room, users = two_in(test, "Notices")
    users["boris"].send(room, "copy me")
    for options in ({}, PHONE):
        async with in_room(test, room, {"alice": users["alice"]}, **options, permissions=["clipboard-read", "clipboard-write"]) as alice:
            page, notice = alice.page, alice.page.get_by_role("status").locator(".ma-notice-box")
            await alice.message("copy me").first.click(button="right")
            await alice.choose("Copy text")
            await notice.wait_for()
            await alice.rest()
            await alice.picture(f"notice-room-{len(options)}")
            assert await page.evaluate(COVERED) == [], await page.evaluate(COVERED)
            if options:
                await page.get_by_role("button", name="Back to conversations").click()
            await page.get_by_role("button", name="New conversation").first.click()
            await alice.dialog.get_by_role("button", name="Copy link").click()
            await notice.get_by_text("Link copied").wait_for()
            await alice.rest()
            await alice.picture(f"notice-dialog-{len(options)}")
            assert await page.evaluate(COVERED) == [], await page.evaluate(COVERED)
            # At once, not when the sentence has gone.
            await alice.dialog.get_by_role("button", name="Show QR code").click()
            code = alice.dialog.get_by_role("img", name="QR code of the invite link")
            await code.wait_for()
            await alice.rest()
            assert await code.evaluate("code => { const { top, bottom } = code.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }")
            await alice.picture(f"qr-code-{len(options)}")
            await alice.dialog.get_by_role("tab", name="New room").click()


@test("dialogs in which people and rooms are found keep their height while one types")
async def _(test):
    room, users = two_in(test, "Heights")
    users["boris"].send(room, "pass it on")
    for options in ({}, PHONE):
        async with in_room(test, room, {"alice": users["alice"]}, **options) as alice:
            page = alice.page

            async def heights(field, words):
                await alice.rest()
                box = page.locator(".ma-dialog").last
                found = [(await box.bounding_box())["height"]]
                for word in words:
                    await field.fill(word)
                    await alice.rest()
                    found.append((await box.bounding_box())["height"])
                return found
            await alice.message("pass it on").first.click(button="right")
            await alice.choose("Forward…")
            same = await heights(alice.dialog.get_by_role("searchbox").or_(alice.dialog.get_by_role("textbox")).first, ["b", "nobody at all"])
            assert max(same) - min(same) <= 1, same
            await page.keyboard.press("Escape")
            if options:
                await page.get_by_role("button", name="Back to conversations").click()
            await page.get_by_role("button", name="New conversation").first.click()
            await alice.dialog.get_by_role("tab", name="New room").click()
            same = await heights(alice.dialog.get_by_role("combobox", name="Invite (optional)"), ["b", ""])
            assert max(same) - min(same) <= 1, same
            await alice.picture(f"new-room-{len(options)}")


@test("on a phone the settings are a list of which nothing is cut off, then a page with a way back; a new language comes back to them")
async def _(test):
    alice = User(test.base, "alice")
    async with people(test, "alice", fresh=True, **PHONE) as one:
        await one.sign_in(alice)
        page = one.page
        await page.get_by_role("button", name="Your profile").click()
        await page.get_by_role("menuitem", name="Settings").click()
        tabs = one.dialog.get_by_role("tab")
        await expect(tabs).to_have_count(11)
        await one.rest()
        await one.picture("settings-list")
        boxes = [await tab.bounding_box() for tab in await tabs.all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["y"] + box["height"] <= 740 for box in boxes), boxes
        await one.dialog.get_by_role("tab", name="Language").click()
        await expect(one.dialog.get_by_role("tab")).to_have_count(0)
        await one.dialog.get_by_role("combobox", name="Language").select_option("de")
        await one.dialog.get_by_role("combobox", name="Sprache").wait_for()
        await one.picture("settings-language")
        await one.dialog.get_by_role("button", name="Alle Einstellungen").click()
        await expect(tabs).to_have_count(11)
        # Only once.
        await page.reload()
        await page.get_by_role("button", name="Dein Profil").wait_for()
        await expect(page.get_by_role("dialog")).to_have_count(0)


# Notes each picture of a message that is drawn before it is there.
GREY = """() => {
  window.grey = [];
  const look = () => {
    for (const image of document.querySelectorAll('.mg-picture-image')) if (image.dataset.state !== 'loaded') window.grey.push(image.alt);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@test("pictures of a room to which one comes back are there at once")
async def _(test):
    room, users = two_in(test, "Album")
    boris = users["boris"]
    other = users["alice"].create_room(name="Elsewhere")
    for number in range(4):
        sent = upload(boris, picture(600, 400 + number), f"view{number}.png", "image/png")
        post(boris, room, {"msgtype": "m.image", "body": f"view{number}.png", "url": sent, "info": {"w": 600, "h": 400 + number, "mimetype": "image/png"}})
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await expect(alice.loaded(alice.feed.get_by_role("img", name=re.compile("^view")))).to_have_count(4)
        await alice.open_room(other)
        await expect(alice.feed.get_by_role("img", name=re.compile("^view"))).to_have_count(0)
        await alice.page.evaluate(GREY)
        await alice.open_room(room)
        await expect(alice.loaded(alice.feed.get_by_role("img", name=re.compile("^view")))).to_have_count(4)
        assert await alice.page.evaluate("window.grey") == [], await alice.page.evaluate("window.grey")


@test("in a room that one has left and comes back to one stands at the newest message")
async def _(test):
    room, users = two_in(test, "Return")
    boris = users["boris"]
    users["alice"].state(room, "m.room.join_rules", {"join_rule": "public"}).ok()
    for number in range(60):
        boris.send(room, f"line {number}")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.sees("line 59")
        await alice.page.get_by_role("button", name="More about this room").click()
        await alice.choose("Leave room")
        await alice.dialog.get_by_text("Leave “Return”?").wait_for()
        await alice.picture("leave-question")
        await alice.dialog.get_by_role("button", name="Leave room").click()
        await expect(alice.heading("Return")).to_have_count(0)
        for number in range(60, 90):
            boris.send(room, f"line {number}")
        await alice.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", room)
        await alice.page.get_by_role("main").get_by_role("button", name="Join").click()
        await alice.sees("line 89")
        await alice.rest()
        await alice.picture("come-back")
        await expect(alice.message("line 89").first).to_be_in_viewport()
