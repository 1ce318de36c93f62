"""Small things of every day in the web client, each as a person does it."""
import asyncio
import json
import pathlib
import re
from datetime import date
from urllib.parse import quote

from browser import expect, in_room, people, send_files
from client import User, joined, room_path
from harness import PATIENCE, test
from test_browser import fill, fits, html, post, upload
from test_chatting import account_data
from test_composer import choose, last, two_in

NEEDS_BROWSER = True

WIDE = {"width": 3840, "height": 2160}


@test("a block of code, a message that could not be sent, and the link to a message are copied; its source is the event")
async def _(test):
    room, users = two_in(test, "Workshop")
    post(users["boris"], room, html("run it", '<p>run it</p><pre><code class="language-sh">make all\nmake install</code></pre>'))
    event = users["boris"].send(room, "look at me")
    async with in_room(test, room, {"alice": users["alice"]}, permissions=["clipboard-read", "clipboard-write"], service_workers="block") as alice:
        page = alice.page
        await alice.message("make all").get_by_role("button", name="Copy").click()
        await alice.until("async () => (await navigator.clipboard.readText()).trimEnd() === 'make all\\nmake install'")
        await alice.message_menu("look at me", "Copy link")
        await alice.until("async event => (await navigator.clipboard.readText()).includes(event)", event)
        await alice.message_menu("look at me", "Message info")
        await alice.choose("Copy")
        await alice.until("async event => await navigator.clipboard.readText() === event", event)
        await alice.choose("View source")
        source = page.get_by_role("dialog", name="Source")
        await source.get_by_text(event).wait_for()
        for words in ('"type": "m.room.message"', '"body": "look at me"', users["boris"].user_id):
            await source.get_by_text(words).wait_for()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await alice.context.route("**/send/m.room.message/**", lambda route: route.fulfill(status=403, json={"errcode": "M_FORBIDDEN", "error": "no"}))
        await alice.write("dear to me")
        await alice.message("Not sent: dear to me").wait_for()
        await alice.message_menu("dear to me", "Copy text")
        await alice.until("async () => await navigator.clipboard.readText() === 'dear to me'")


@test("where the server takes no more messages for a while, what waits says until when, and goes out then by itself")
async def _(test):
    room, users = two_in(test, "Rush")
    boris = users["boris"]
    boris.sync_until(lambda answer: room in str(answer))
    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        refusal = {"errcode": "M_LIMIT_EXCEEDED", "error": "slower", "retry_after_ms": 4000}
        await alice.context.route("**/send/m.room.message/**", lambda route: route.fulfill(status=429, json=refusal), times=1)
        await alice.write("in a hurry")
        note = alice.message("in a hurry").get_by_text(re.compile(r"The server takes no more messages for a while. This one goes out at \d"))
        await note.wait_for()
        await alice.picture("held-message-light")
        boris.sync_until(lambda answer: "in a hurry" in str(answer))
        await expect(note).to_have_count(0)


@test("what is known of a message: when it was sent, how often and when it was edited, who has read it and when")
async def _(test):
    room, users = two_in(test, "Registry")
    alice_user, boris_user = users["alice"], users["boris"]
    first = alice_user.send(room, "the deed is here")
    for text in ("the deed is there", "the deed is gone"):
        post(alice_user, room, {"msgtype": "m.text", "body": "* " + text, "m.new_content": {"msgtype": "m.text", "body": text},
                                "m.relates_to": {"rel_type": "m.replace", "event_id": first}})
    second = alice_user.send(room, "who took it?")
    boris_user.post(room_path(room, "receipt", "m.read", first), {}).ok()
    async with in_room(test, room, {"alice": alice_user}) as alice:
        async def info(words):
            await alice.message_menu(words, "Message info")
            return alice.page.get_by_role("dialog", name="Message info")

        await alice.sees("the deed is gone")
        dialog = await info("the deed is gone")
        times = dialog.get_by_text(str(date.today().year))
        await dialog.get_by_text("Edited 2 times").wait_for()
        await expect(times).to_have_count(3)
        await dialog.get_by_text(first).wait_for()
        reader = dialog.get_by_role("button", name=re.compile("^boris"))
        await reader.get_by_text(str(date.today().year)).wait_for()
        await alice.picture("message-info-light")
        await alice.page.keyboard.press("Escape")
        dialog = await info("who took it?")
        await dialog.get_by_text(second).wait_for()
        await expect(times).to_have_count(1)
        await expect(reader).to_have_count(0)
        await alice.page.keyboard.press("Escape")
        # Whoever has read further has read it too, nobody knows when.
        boris_user.post(room_path(room, "receipt", "m.read", second), {}).ok()
        await alice.page.get_by_role("button", name="Read by 1").wait_for()
        await info("the deed is gone")
        await expect(times).to_have_count(2)
        await alice.page.emulate_media(color_scheme="dark")
        await alice.picture("message-info-dark")
        await reader.click()
        await alice.page.get_by_role("dialog").get_by_text(boris_user.user_id).wait_for()


@test("roles of moderators and administrators stand at their messages, as long as they have them; a direct chat has none")
async def _(test):
    room, users = two_in(test, "Council")
    carol = User(test.base, "carol")
    users["alice"].post(room_path(room, "invite"), {"user_id": carol.user_id}).ok()
    carol.join(room)
    levels = users["alice"].get(room_path(room, "state", "m.room.power_levels", "")).ok()
    users["alice"].state(room, "m.room.power_levels", levels | {"users": levels.get("users", {}) | {carol.user_id: 50}}).ok()
    for user, words in ((carol, "order, please"), (users["boris"], "I was first"), (users["alice"], "next one")):
        user.send(room, words)
    async with in_room(test, room, {"boris": users["boris"]}) as boris:
        await boris.message(re.compile(r"^carol\S*, Moderator, .*: order, please$")).wait_for()
        await boris.message(re.compile(r"^alice\S*, (Administrator|Creator), .*: next one$")).wait_for()
        await boris.message(re.compile(r"^boris\S*, \d.*: I was first$")).wait_for()
        await boris.picture("roles-light")
        users["alice"].state(room, "m.room.power_levels", levels).ok()
        await boris.message(re.compile(r"^carol\S*, \d.*: order, please$")).wait_for()
        await boris.page.emulate_media(color_scheme="dark")
        await boris.picture("roles-dark")
    chat = users["alice"].create_room(is_direct=True, preset="trusted_private_chat", invite=[users["boris"].user_id])
    users["boris"].join(chat)
    users["boris"].put(account_data(users["boris"], "m.direct"), {users["alice"].user_id: [chat]}).ok()
    users["alice"].send(chat, "just us")
    async with in_room(test, chat, {"boris": users["boris"]}) as boris:
        await boris.message(re.compile(r"^alice\S*, \d.*: just us$")).wait_for()


@test("a room of the server's notices is told apart, in the list and in its header")
async def _(test):
    room, users = two_in(test, "Board")
    users["boris"].send(room, "we restart at noon")
    alice_user = users["alice"]
    alice_user.create_room(name="Kitchen")
    alice_user.put(f"user/{quote(alice_user.user_id)}/rooms/{quote(room)}/tags/m.server_notice", {}).ok()
    async with in_room(test, room, {"alice": alice_user}) as alice:
        await alice.rooms.get_by_role("button", name=re.compile("^Board, From the server")).wait_for()
        await expect(alice.rooms.get_by_role("button", name=re.compile("^Kitchen, From the server"))).to_have_count(0)
        await alice.page.get_by_role("main").get_by_text("From the server").wait_for()
        await alice.picture("server-notice-light")


@test("an address for mail in a message is a link to write there")
async def _(test):
    room, users = two_in(test, "Seeds")
    users["boris"].send(room, "order at seeds@farm.example, not at @farm:farm.example")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        link = alice.message("order at").get_by_role("link")
        await expect(link).to_have_text(["seeds@farm.example"])
        await expect(link).to_have_attribute("href", "mailto:seeds@farm.example")


@test("a hashtag in a message is looked for in the room; a date goes into a calendar, and leads to what was said then")
async def _(test):
    room, users = two_in(test, "Seeds")
    today = date.today().isoformat()
    users["boris"].send(room, "first #Bohnen2 of the year, `#code` is none", formatted_body="first #Bohnen2 of the year, <code>#code</code> is none",
                        format="org.matrix.custom.html")
    users["boris"].send(room, "nothing of them")
    users["boris"].send(room, f"sowing, #bohnen2; {today} and 2199-11-27 14:30")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await alice.message("first").get_by_role("button", name="#Bohnen2").wait_for()
        await expect(alice.message("first").get_by_role("button", name="#code")).to_have_count(0)
        await alice.message("sowing").get_by_role("button", name="#bohnen2").click()
        panel = page.get_by_role("complementary", name="Search in this room")
        await expect(panel.get_by_label("Search for")).to_have_value("#bohnen2")
        found = panel.get_by_role("button", name=re.compile("bohnen2", re.IGNORECASE))
        await expect(found).to_have_count(2)
        await alice.picture("hashtag-light")
        await panel.get_by_role("button", name="Close").click()
        await alice.message("sowing").get_by_role("button", name="2199-11-27 14:30").click()
        dialog = page.get_by_role("dialog", name=re.compile("2199.* 14:30"))
        await expect(dialog.get_by_role("button", name="Messages of that day")).to_have_count(0)
        await alice.picture("date-light")
        async with page.expect_download() as saving:
            await dialog.get_by_role("button", name="Calendar entry").click()
        saved = await saving.value
        assert saved.suggested_filename == "2199-11-27.ics", saved.suggested_filename
        lines = pathlib.Path(await saved.path()).read_bytes().decode()
        assert all(len(line) <= 75 for line in lines.encode().split(b"\r\n")), lines
        entry = lines.replace("\r\n ", "").split("\r\n")
        assert entry[0] == "BEGIN:VCALENDAR" and entry[-2:] == ["END:VCALENDAR", ""], entry
        assert f"SUMMARY:sowing\\, #bohnen2\\; {today} and 2199-11-27 14:30" in entry and "DURATION:PT1H" in entry, entry
        begins = next(line for line in entry if line.startswith("DTSTART:"))
        assert await page.evaluate("new Date('2199-11-27T14:30').toISOString().replace(/[-:]|\\.000/g, '')") == begins[8:], begins
        await expect(dialog).to_be_hidden()
        await alice.message("sowing").get_by_role("button", name=today).click()
        async with page.expect_download() as saving:
            await alice.dialog.get_by_role("button", name="Calendar entry").click()
        assert "DTSTART;VALUE=DATE:" + today.replace("-", "") in pathlib.Path(await (await saving.value).path()).read_text()
        await alice.message("sowing").get_by_role("button", name=today).click()
        async with page.expect_response(re.compile("timestamp_to_event")):
            await alice.dialog.get_by_role("button", name="Messages of that day").click()
        await alice.sees("sowing")


@test("a contact in a file is a card of whom it is, with links that call and write; the file is saved as before")
async def _(test):
    room, users = two_in(test, "Seeds")
    card = ("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\\, Countess\r\nORG:Analytical Engines\r\nTEL;TYPE=cell:+44 20 7946 0958\r\n"
            "EMAIL:ada@engine\r\n .example\r\nEMAIL:eve@x?bcc=all@x\r\nEND:VCARD\r\n").encode()
    async with in_room(test, room, users) as (alice, boris):
        async with alice.page.expect_file_chooser() as chooser:
            await alice.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "ada.vcf", "mimeType": "text/vcard", "buffer": card})
        await alice.dialog.get_by_role("button", name="Send").click()
        for person in (alice, boris):
            shown = person.page.get_by_role("group", name="Ada Lovelace, Countess")
            await shown.get_by_text("Analytical Engines").wait_for()
            await expect(shown.get_by_role("link")).to_have_text(["+44 20 7946 0958", "ada@engine.example"])
            await expect(shown.get_by_role("link").first).to_have_attribute("href", "tel:+442079460958")
            await expect(shown.get_by_role("link").last).to_have_attribute("href", "mailto:ada@engine.example")
            await shown.get_by_text("eve@x?bcc=all@x").wait_for()
        await boris.picture("contact-light")
        async with boris.page.expect_download() as saving:
            await boris.page.get_by_role("button", name="ada.vcf").click()
        assert pathlib.Path(await (await saving.value).path()).read_bytes() == card
        # What says that it is one, and is not, is a file like others.
        users["alice"].send(room, "bad.vcf", msgtype="m.file", info={"size": 4, "mimetype": "text/vcard"},
                            url=upload(users["alice"], b"none", "bad.vcf", "text/vcard"))
        await boris.page.get_by_role("button", name="bad.vcf").wait_for()
        # Of one that is longer than it says the page takes no more than that.
        long = upload(users["alice"], card.replace(b"Ada", b"Long").replace(b"END", b"NOTE:" + b"x" * 200_000 + b"\r\nEND"), "long.vcf", "text/vcard")
        async with boris.page.expect_response(lambda answer: long.rsplit("/", 1)[1] in answer.url) as asked:
            users["alice"].send(room, "long.vcf", msgtype="m.file", info={"size": 100, "mimetype": "text/vcard"}, url=long)
        assert (await asked.value).status == 200
        users["alice"].send(room, "that was all")
        await boris.sees("that was all")
        await expect(boris.page.get_by_role("group", name=re.compile("Long"))).to_have_count(0)
        await expect(boris.page.get_by_role("group", name=re.compile("Ada"))).to_have_count(1)


@test("of many members one page is listed, and more as one asks for them")
async def _(test):
    room, users = two_in(test, "Stadium")

    async def many(route):
        answer = await route.fetch()
        known = await answer.json()
        model = known["chunk"][0]
        known["chunk"] += [model | {"state_key": f"@fan{number:03}:example.org", "event_id": f"$fan{number}", "content": {
            "membership": "join", "displayname": f"Fan {number:03}"}} for number in range(450)]
        await route.fulfill(response=answer, json=known)

    async with in_room(test, room, {"alice": users["alice"]}, service_workers="block") as alice:
        await alice.context.route("**/members*", many)
        await alice.page.get_by_role("button", name="Members and settings").click()
        more = alice.details.get_by_role("button", name="Show more")
        await expect(more).to_have_text("Show more · and 252 more")
        await expect(alice.members).to_have_count(200)
        await more.click()
        await expect(more).to_have_text("Show more · and 52 more")
        await expect(alice.members).to_have_count(400)
        await more.click()
        await expect(alice.members).to_have_count(452)
        await expect(more).to_be_hidden()
        await alice.details.get_by_label("Search members").fill("Fan 44")
        await expect(alice.members).to_have_count(10)


@test("a poll with several answers counts each of them; a secret one shows nothing before its end")
async def _(test):
    room, users = two_in(test, "Kitchen")
    async with in_room(test, room, users) as (alice, boris):
        async def ask(question, *boxes):
            await choose(alice, "Poll")
            dialog = alice.page.get_by_role("dialog")
            await dialog.get_by_label("Question").fill(question)
            await dialog.get_by_label("Answer 1").fill("Soup")
            await dialog.get_by_label("Answer 2").fill("Bread")
            for name, is_wanted in boxes:
                await dialog.get_by_label(name).set_checked(is_wanted)
            await dialog.get_by_role("button", name="Send").click()
            return boris.page.get_by_role("group", name=question), alice.page.get_by_role("group", name=question)

        theirs, own = await ask("What shall I cook?", ("Several answers may be chosen", True), ("Votes are shown before the poll ends", True))
        await theirs.get_by_role("button", name="Soup").click()
        await own.get_by_role("button", name="Soup 1 vote").wait_for()
        await theirs.get_by_role("button", name="Bread").click()
        await own.get_by_role("button", name="Bread 1 vote").wait_for()
        await own.get_by_role("button", name="Soup 1 vote").wait_for()
        await own.get_by_text("1 person voted").wait_for()
        # A second click takes the vote back.
        await theirs.get_by_role("button", name="Soup").click()
        await own.get_by_role("button", name="Soup 0 votes").wait_for()

        theirs, own = await ask("Who washes up?", ("Votes are shown before the poll ends", False))
        await theirs.get_by_role("button", name="Bread").click()
        await own.get_by_text("1 person voted").wait_for()
        assert await own.get_by_text("1 vote", exact=True).count() == 0
        await own.click(button="right")
        await alice.page.get_by_role("button", name="End the poll").click()
        await own.get_by_text("Final result, 1 person voted").wait_for()
        await own.get_by_text("1 vote", exact=True).wait_for()


@test("a jump to a date arrives at the first message of that day")
async def _(test):
    alice_user = User(test.direct, "alice")
    room = alice_user.create_room(name="Long day")
    fill(alice_user, room, 300)
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(alice_user)
        await alice.open_room(room)
        await alice.sees("message 299")
        first = alice_user.get(room_path(room, "messages"), dir="f", limit=1).ok()["chunk"][0]["origin_server_ts"]
        day = await page.evaluate("time => new Date(time).toLocaleDateString('sv')", first)
        await alice.more("Jump to a date")
        await alice.dialog.get_by_label("Date").fill(day)
        await alice.dialog.get_by_role("button", name="Jump").click()
        await alice.message("message 0").first.wait_for()
        assert await alice.message("message 299").count() == 0


@test("a thread keeps a draft of its own, the list shows the room's, and both outlive a reload")
async def _(test):
    room, users = two_in(test, "Drafts")
    root = users["boris"].send(room, "how about it?")
    other = users["alice"].create_room(name="Elsewhere")
    users["alice"].send(other, "nothing to see")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        side = page.get_by_role("complementary", name="Thread")
        reply = side.get_by_role("textbox", name="Write a message")
        await alice.message_menu("how about it?", "Reply in thread")
        await reply.fill("half a thought")
        await side.get_by_role("button", name="Close").click()
        await alice.composer.fill("half a sentence")
        await alice.open_room(other)
        await alice.entry("Drafts").get_by_text("Draft: half a sentence").wait_for()
        await page.reload()
        await alice.entry("Drafts").get_by_text("Draft: half a sentence").wait_for()
        await alice.open_room(room)
        await alice.composed("half a sentence")
        await alice.message_menu("how about it?", "Reply in thread")
        await expect(reply).to_have_value("half a thought")
        await reply.press("Enter")
        await side.get_by_text("half a thought", exact=True).wait_for()
    answer = users["boris"].sync_until(lambda answer: "half a thought" in str(answer))
    event = next(event for event in joined(answer, room)["timeline"]["events"] if event.get("content", {}).get("body") == "half a thought")
    assert event["content"]["m.relates_to"]["event_id"] == root, event


@test("completion offers first who spoke last")
async def _(test):
    owner = User(test.base, "owner")
    room = owner.create_room(name="Crowd", preset="public_chat")
    crowd = [User(test.base, f"zoe{number}") for number in range(4)]
    for number, user in enumerate(crowd):
        user.put(f"profile/{user.user_id}/displayname", {"displayname": f"Zoe {'ABCD'[number]}"}).ok()
        user.join(room)
    for number in (0, 3, 1):
        crowd[number].send(room, f"I am {number}")
    async with in_room(test, room, {"owner": owner}) as alice:
        await alice.sees("I am 1")
        await alice.composer.press_sequentially("@zoe")
        await alice.page.get_by_role("option").nth(3).wait_for()
        names = await alice.page.get_by_role("option").all_inner_texts()
        order = [re.search("Zoe ([ABCD])", name).group(1) for name in names]
        assert order == ["B", "D", "A", "C"], names


@test("each message is one spoken sentence: who, when, what, and what became of it")
async def _(test):
    room, users = two_in(test, "Aloud")
    for name, words in (("alice", "Alice Ashby"), ("boris", "Boris Brandt")):
        users[name].put(f"profile/{users[name].user_id}/displayname", {"displayname": words}).ok()
    first = users["boris"].send(room, "the kettle is on")
    users["alice"].send(room, "coming", **{"m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    post(users["alice"], room, {"m.relates_to": {"rel_type": "m.annotation", "event_id": first, "key": "🎉"}}, "m.reaction")
    users["boris"].send(room, "* with milk?", **{"m.new_content": {"msgtype": "m.text", "body": "with milk?"},
                                                  "m.relates_to": {"rel_type": "m.replace", "event_id": users["boris"].send(room, "with mlik?")}})
    users["alice"].send(room, "yes", **{"m.relates_to": {"rel_type": "m.thread", "event_id": first}})
    post(users["boris"], room, html("hot", "<p>very <strong>hot</strong></p><ul><li>the cup</li><li>the pot</li></ul>"))
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.sees("the kettle is on")
        await alice.page.get_by_role("article", name=re.compile("1 reply")).wait_for()
        spoken = [await article.get_attribute("aria-label") for article in await alice.page.get_by_role("article").all()]
        said = [re.sub(r"\s+", " ", re.sub(r"\d{1,2}:\d{2}", "TIME", sentence)) for sentence in spoken]
        assert said[-4:] == [
            "Boris Brandt, TIME: the kettle is on, 🎉 1, 1 reply",
            "Alice Ashby, TIME, Read, In reply to Boris Brandt: coming",
            "Boris Brandt, TIME, edited: with milk?",
            "Boris Brandt, TIME: very hot the cup the pot",
        ], said


@test("paragraphs stand by the direction of their own words, in messages, quotes and names, whatever the page's direction is")
async def _(test):
    room, users = two_in(test, "Two ways")
    users["boris"].put(f"profile/{users['boris'].user_id}/displayname", {"displayname": "בוריס"}).ok()
    first = users["boris"].send(room, "שלום לכולם, hello")
    post(users["boris"], room, html("mixed", "<p>English first, ثم العربية</p><p>العربية أولا, then English</p><p>فارسی: سلام</p>"))
    users["boris"].send(room, "an answer", **{"m.relates_to": {"m.in_reply_to": {"event_id": first}}})
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        for language, page_direction in (("en", "ltr"), ("ar", "rtl")):
            await alice.page.evaluate("language => localStorage.setItem('language', language)", language)
            await alice.page.reload()
            await alice.sees("an answer")
            assert await alice.page.evaluate("getComputedStyle(document.documentElement).direction") == page_direction
            for words, wanted in (("שלום לכולם", "rtl"), ("English first", "ltr"), ("العربية أولا", "rtl"), ("فارسی", "rtl"), ("an answer", "ltr")):
                node = alice.message(words).last.get_by_text(words).last
                found = await node.evaluate("""(node, words) => {
                  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
                  while (walk.nextNode()) if (walk.currentNode.data.includes(words)) {
                    const style = getComputedStyle(walk.currentNode.parentElement);
                    // What `dir=auto` or `unicode-bidi: plaintext` makes of it shows in where the first letter stands.
                    const range = document.createRange(), at = walk.currentNode.data.indexOf(words);
                    range.setStart(walk.currentNode, at); range.setEnd(walk.currentNode, at + 1);
                    const letter = range.getBoundingClientRect();
                    range.selectNodeContents(walk.currentNode);
                    const line = range.getBoundingClientRect();
                    return letter.right > line.right - 2 ? 'rtl' : letter.left < line.left + 2 ? 'ltr' : 'between';
                  }
                }""", words)
                assert found == wanted, (language, words, found)
            await alice.picture(f"mixed-directions-{page_direction}")


@test("a file that is no picture is sent with its name and size, and the other gets it byte for byte")
async def _(test):
    room, users = two_in(test, "Papers")
    data = bytes(range(256)) * 40
    async with in_room(test, room, users) as (alice, boris):
        async with alice.page.expect_file_chooser() as chooser:
            await alice.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files({"name": "plan (2).tar.gz", "mimeType": "application/gzip", "buffer": data})
        await send_files(alice)
        card = boris.page.get_by_role("button", name=re.compile(r"plan \(2\)\.tar\.gz"))
        await card.get_by_text("KB").wait_for()
        async with boris.page.expect_download() as download:
            await card.click()
        file = await download.value
        assert file.suggested_filename == "plan (2).tar.gz", file.suggested_filename
        with open(await file.path(), "rb") as got:
            assert got.read() == data
    content = last(users["boris"], room)
    assert content["msgtype"] == "m.file" and content["info"]["size"] == len(data) and content["info"]["mimetype"] == "application/gzip", content


@test("from a message to a chat with who wrote it")
async def _(test):
    room, users = two_in(test, "Hall")
    users["boris"].put(f"profile/{users['boris'].user_id}/displayname", {"displayname": "Boris Brandt"}).ok()
    users["boris"].send(room, "psst")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await page.get_by_role("article", name=re.compile("psst")).get_by_role("button", name="Boris Brandt").first.click()
        await page.get_by_role("button", name="Write to them").click()
        await alice.heading("Boris Brandt").wait_for()
        await alice.write("just between us")
        await page.get_by_role("article", name=re.compile("Sent: just between us")).wait_for()
    chats = users["alice"].get(f"user/{users['alice'].user_id}/account_data/m.direct").ok()
    chat = chats[users["boris"].user_id][0]
    users["boris"].join(chat)
    assert "just between us" in str(users["boris"].get(room_path(chat, "messages"), dir="b").ok())


@test("who is away shows when they were here last")
async def _(test):
    room, users = two_in(test, "Doorstep")
    path = f"presence/{users['boris'].user_id}/status"
    users["boris"].put(path, {"presence": "online"}).ok()
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        await alice.page.get_by_role("button", name="Members and settings").click()
        boris = alice.members.filter(has_text=users["boris"].user_id)
        await boris.get_by_text("Here now").wait_for()
        users["boris"].put(path, {"presence": "offline"}).ok()
        await boris.get_by_text(re.compile("Last seen")).wait_for()


@test("what is found comes in pages")
async def _(test):
    user = User(test.direct, "finder")
    room = user.create_room(name="Haystack")
    fill(user, room, 30)
    async with in_room(test, room, {"finder": user}) as finder:
        page = finder.page
        await finder.more("Search in this room")
        await page.get_by_label("Search for").fill("message")
        await page.get_by_label("Search for").press("Enter")
        found = page.get_by_role("complementary", name="Search in this room").get_by_role("button", name="message ")
        await found.first.wait_for()
        shown = await found.count()
        assert 0 < shown < 30, shown
        while (count := await found.count()) < 30:
            await page.get_by_role("button", name="Show more").click()
            await found.nth(count).wait_for()
        assert await found.count() == 30
        await page.get_by_role("button", name="Show more").wait_for(state="hidden")


@test("compact is denser, and a wide screen is filled without lines too long to read")
async def _(test):
    room, users = two_in(test, "Spacious")
    users["boris"].send(room, "words " * 400)
    async with in_room(test, room, {"alice": users["alice"]}, viewport=WIDE) as alice:
        page = alice.page
        await alice.sees("words words")
        await fits(alice)
        line = await alice.words("words words").evaluate("node => node.getBoundingClientRect().width / parseFloat(getComputedStyle(node).fontSize)")
        assert 30 < line < 80, line
        await alice.picture("wide-light")
        await page.set_viewport_size({"width": 1280, "height": 800})
        measure = "node => node.getBoundingClientRect().height"
        comfortable = await alice.entry("Spacious").evaluate(measure)
        await page.get_by_role("button", name="Your profile").click()
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Density").select_option("compact")
        await page.keyboard.press("Escape")
        await alice.until("() => document.documentElement.dataset.density === 'compact'")
        assert await alice.entry("Spacious").evaluate(measure) < comfortable
        await page.reload()
        await alice.sees("words words")
        assert await alice.entry("Spacious").evaluate(measure) < comfortable


@test("why a room is unread: each message with the rule that says so; a click leads there")
async def _(test):
    room, users = two_in(test, "Landing")
    users["alice"].put("pushrules/global/content/lantern", {"pattern": "lantern", "actions": ["notify", {"set_tweak": "highlight"}]}).ok()
    users["alice"].send(room, "written by me")
    users["boris"].send(room, "plain words")
    users["boris"].send(room, "for you", **{"m.mentions": {"user_ids": [users["alice"].user_id]}})
    users["boris"].send(room, "an old lantern")
    async with people(test, "alice") as alice:
        page = alice.page
        await alice.sign_in(users["alice"])
        await page.get_by_role("button", name=re.compile("Landing, 3 unread messages")).wait_for()
        await alice.entry("Landing").click(button="right")
        await alice.choose("Why is this unread?")
        dialog = page.get_by_role("dialog")
        for words, rule in (("plain words", "In direct chats|In rooms"), ("for you", "When somebody mentions me"), ("an old lantern", "Keywords: lantern")):
            await dialog.get_by_role("button", name=re.compile(words)).get_by_text(re.compile(rule)).wait_for()
        await dialog.get_by_text("You have read everything up to").wait_for()
        # Each says who wrote it and when.
        assert await dialog.get_by_role("button", name="·").count() == 3
        await alice.picture("why-unread")
        await dialog.get_by_role("button", name=re.compile("for you")).click()
        await alice.highlighted("for you").wait_for()


@test("live figures agree with the browser's own trace, and their report has nothing of what is said")
async def _(test):
    room, users = two_in(test, "Very secret room")
    users["boris"].send(room, "very secret words")
    async with in_room(test, room, {"alice": users["alice"]}, permissions=["clipboard-read", "clipboard-write"]) as alice:
        page = alice.page
        await alice.sees("very secret words")
        await page.get_by_role("button", name="Your profile").click()
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Show live figures").check()
        await page.keyboard.press("Escape")
        figures = page.get_by_role("region", name="Live figures")
        await figures.wait_for()
        session = await alice.context.new_cdp_session(page)
        events, done = [], asyncio.Event()
        session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
        session.on("Tracing.tracingComplete", lambda _: done.set())
        await session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["devtools.timeline", "blink.user_timing"]}})
        await page.evaluate("performance.mark('traced-from')")
        # Work for the figures: what is written, and a task that blocks.
        await alice.write("hello there")
        await page.evaluate("() => new Promise(done => setTimeout(() => { const end = performance.now() + 120; while (performance.now() < end); done(); }))")
        # Not by polling in frames, which the trace would count as well.
        await page.evaluate("() => new Promise(done => setTimeout(done, 6000))")
        await page.evaluate("performance.mark('traced-to')")
        await figures.get_by_role("button", name="Copy a report").click()
        await figures.get_by_role("button", name="Copied").wait_for()
        await session.send("Tracing.end")
        await asyncio.wait_for(done.wait(), PATIENCE)
        text = await page.evaluate("navigator.clipboard.readText()")
        report = json.loads(text)
        for secret in ("secret", "hello", users["alice"].user_id, users["boris"].user_id, room, users["alice"].token, test.base):
            assert secret not in text, secret
        assert report["figures"]["longestTaskMilliseconds"] >= 100, report["figures"]
        assert report["figures"]["messagesUnsent"] == 0 and report["figures"]["rowsInDocument"] >= 2, report["figures"]
        marks = await page.evaluate("() => ['traced-from', 'traced-to'].map(name => performance.getEntriesByName(name)[0].startTime)")
        stamps = {event["name"]: event["ts"] for event in events if event["name"] in ("traced-from", "traced-to")}
        # Whole seconds between the marks, by the figures and by the trace; one animation frame of the figures a frame.
        whole = [second for second in report["seconds"] if second["at"] >= marks[0] and second["at"] + 1100 <= marks[1]]
        assert len(whole) >= 3, (report["seconds"], marks)
        shift = stamps["traced-from"] / 1000 - marks[0]
        start, end = whole[0]["at"] + shift, whole[-1]["at"] + shift
        counted = sum(second["frames"] for second in whole[:-1])
        traced = len({event["ts"] for event in events if event["name"] == "FireAnimationFrame" and start <= event["ts"] / 1000 < end})
        assert abs(counted - traced) <= max(2, traced * 0.02), (counted, traced)
        await alice.picture("figures")
        await page.reload()
        await page.get_by_role("region", name="Live figures").wait_for()
        await page.get_by_role("button", name="Your profile").click()
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Show live figures").uncheck()
        await figures.wait_for(state="detached")


@test("W26: a room that was open before is shown from what is kept, without asking the server")
async def _(test):
    user = User(test.base, "reader")
    attic, cellar = user.create_room(name="Attic"), user.create_room(name="Cellar")
    user.send(attic, "an old lantern")
    user.send(cellar, "jars of plums")
    async with in_room(test, attic, {"reader": user}, service_workers="block") as reader:
        await reader.sees("an old lantern")
        await reader.open_room(cellar)
        await reader.sees("jars of plums")
        # Whoever asks for what is said in a room now waits for ever.
        await reader.context.route(re.compile("/rooms/[^/]+/(messages|context|event|state|members)"), lambda route: None)
        await reader.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", attic)
        await reader.sees("an old lantern")


@test("beside a panel and in one there is room to write; of details and a panel the one asked for last is seen; in 4K lines stay together")
async def _(test):
    room, users = two_in(test, "Desk")
    users["boris"].send(room, "shall we?")
    async with in_room(test, room, {"alice": users["alice"]}, viewport={"width": 1280, "height": 800}) as alice:
        page = alice.page
        about = alice.details
        thread, search = page.get_by_role("complementary", name="Thread"), page.get_by_role("complementary", name="Search in this room")

        async def wide(box):
            assert (await box.bounding_box())["width"] >= 170, await box.bounding_box()

        await page.get_by_role("button", name="Members and settings").click()
        await about.wait_for()
        await wide(alice.composer)
        await alice.message_menu("shall we?", "Reply in thread")
        await about.wait_for(state="hidden")
        await wide(alice.composer)
        await wide(thread.get_by_role("textbox"))
        await alice.picture("thread-beside-light")
        # What was asked for last is seen: the details come, the thread goes, a search comes, and then they are there again.
        await thread.get_by_role("button", name="Close").click()
        await about.wait_for()
        await page.get_by_role("button", name="Search in this room").click()
        await about.wait_for(state="hidden")
        await search.get_by_role("button", name="Close").click()
        await about.wait_for()
        await about.get_by_role("button", name="Close").click()
        await page.set_viewport_size({"width": 1000, "height": 700})
        await alice.message_menu("shall we?", "Reply in thread")
        await wide(thread.get_by_role("textbox"))
        await thread.get_by_role("button", name="Close").click()
        await page.set_viewport_size(WIDE)
        await alice.write("we shall")
        left, right = await alice.message("shall we?").locator(".mg-bubble").bounding_box(), await alice.message("we shall").locator(".mg-bubble").bounding_box()
        assert right["x"] + right["width"] - left["x"] < 1200, (left, right)


@test("letters go into the box wherever one was, the focus comes back to where it was, and a few emoji are large")
async def _(test):
    room, users = two_in(test, "Desk")
    users["boris"].send(room, "shall we?")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page = alice.page
        await expect(page.get_by_role("heading", name="Desk")).to_be_focused()
        await page.keyboard.type("hello")
        await expect(alice.composer).to_have_value("hello")
        await alice.composer.fill("")
        await alice.message("shall we?").focus()
        await page.keyboard.type("again")
        await expect(alice.composer).to_have_value("again")
        # Keys that mean something where they are pressed do.
        await alice.composer.fill("")
        await page.get_by_role("button", name="Search in this room").focus()
        await page.keyboard.press("Space")
        await page.get_by_role("complementary", name="Search in this room").get_by_role("searchbox").fill("we")
        await expect(alice.composer).to_have_value("")
        await page.keyboard.press("Escape")
        # A sign chosen from the message's own buttons: they go, the message has the focus.
        await alice.message("shall we?").hover()
        await page.get_by_role("toolbar").get_by_role("button", name="Add a reaction").click()
        await page.get_by_label("Search emoji").fill("owl")
        await page.keyboard.press("Enter")
        await alice.message("shall we?").get_by_role("button", name="🦉").wait_for()
        await alice.until("() => document.activeElement.closest('article') !== null")
        # From an inner dialog back to what opened it.
        await page.keyboard.press("Control+k")
        await page.keyboard.press("Escape")
        users["boris"].send(room, "👍🏽 🎉")
        users["boris"].send(room, "👍🏽 yes")
        await alice.message("yes").wait_for()
        height = "element => element.querySelector('.mg-text').getBoundingClientRect().height"
        assert await alice.message("🎉").evaluate(height) > 1.5 * await alice.message("yes").evaluate(height)
