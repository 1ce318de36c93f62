"""Small things of every day in the web client, each as a person does it."""
import asyncio
import json
import pathlib
import re
from datetime import date

from browser import expect, in_room, open_settings, send_files
from harness import PATIENCE, test
from test_browser import fits, html, post, upload
from test_composer import last, two_in

NEEDS_BROWSER = True

WIDE = {"width": 3840, "height": 2160}


# Proves C39, C52, C54
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
        await page.evaluate("() => localStorage.setItem('developer', '1')")
        await page.reload()
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


# Proves P36
@test("a hashtag in a message is looked for in the room; a date goes into a calendar, and leads to what was said then")
async def _(test):
    room, users = two_in(test, "Seeds")
    today = date.today().isoformat()
    users["boris"].send(room, "first #Bohnen2 of the year, not `#code`", formatted_body="first #Bohnen2 of the year, not <code>#code</code>",
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


# Proves P36
@test("a contact file is shown as a card with links to call and write, and can still be saved")
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


# Proves B21, C62, W19
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


# Proves J28
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


# Proves C59, C60
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
        await open_settings(page)
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Density").select_option("compact")
        await page.keyboard.press("Escape")
        await alice.until("() => document.documentElement.dataset.density === 'compact'")
        assert await alice.entry("Spacious").evaluate(measure) < comfortable
        await page.reload()
        await alice.sees("words words")
        assert await alice.entry("Spacious").evaluate(measure) < comfortable


# Proves B25
@test("live figures agree with the browser's own trace, and their report has nothing of what is said")
async def _(test):
    room, users = two_in(test, "Very secret room")
    users["boris"].send(room, "very secret words")
    async with in_room(test, room, {"alice": users["alice"]}, permissions=["clipboard-read", "clipboard-write"]) as alice:
        page = alice.page
        await alice.sees("very secret words")
        await open_settings(page)
        await page.get_by_role("tab", name="About").click()
        await page.get_by_label("Show diagnostics").check()
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
        await figures.get_by_role("button", name="Copy report").click()
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
        await open_settings(page)
        await page.get_by_role("tab", name="About").click()
        await page.get_by_label("Show diagnostics").uncheck()
        await figures.wait_for(state="detached")


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
        await alice.message("shall we?").get_by_role("button", name="🦉 1").wait_for()
        await alice.until("() => document.activeElement.closest('article') !== null")
        # From an inner dialog back to what opened it.
        await page.keyboard.press("Control+k")
        await page.keyboard.press("Escape")
        users["boris"].send(room, "👍🏽 🎉")
        users["boris"].send(room, "👍🏽 yes")
        await alice.message("yes").wait_for()
        height = "element => element.querySelector('.mg-text').getBoundingClientRect().height"
        assert await alice.message("🎉").evaluate(height) > 1.5 * await alice.message("yes").evaluate(height)
