"""The composer that shows what is written as it will look, in a real browser."""
import base64
import contextlib
import re
from urllib.parse import quote

from browser import GIVE, PHONE, expect, in_room, open_settings, send_files, still
from harness import test
from test_browser import fits, picture
from test_composer import last, two_in

NEEDS_BROWSER = True

# What another page would put into the clipboard.
PASTE = """(node, [html, text]) => {
  const given = new DataTransfer();
  given.setData('text/html', html);
  given.setData('text/plain', text);
  node.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: given }));
}"""


HOSTILE = """<style>p { color: red }</style><script>globalThis.evil = 1</script><h2 onclick="evil = 1">Head</h2>
<p style="color: red">some <b>bold</b> words <img src="https://evil.example/x.png" onerror="globalThis.evil = 1"></p>
<ul><li>item <a href="javascript:globalThis.evil = 1">no link</a></li><li><a href="https://example.org/" onclick="evil = 1">a link</a></li></ul>
<blockquote>said<iframe src="https://evil.example/"></iframe></blockquote><svg onload="globalThis.evil = 1"><text>gone</text></svg><form action="https://evil.example/">*end*</form>"""
PASTED = "## Head\nsome **bold** words\n- item no link\n- [a link](https://example.org/)\n> said\n\\*end\\*"
PASTED_HTML = ('<h2>Head</h2>some <strong>bold</strong> words<ul><li>item no link</li><li><a href="https://example.org/">a link</a></li></ul>'
               "<blockquote><p>said</p></blockquote>*end*")


# What stands there, without the elements that only hold a place.
STANDING = """editor => {
  const copy = editor.cloneNode(true);
  for (const one of copy.querySelectorAll('*')) one.removeAttribute('dir');
  return copy.innerHTML.replaceAll('<br>', '').replaceAll('\u200b', '').replaceAll('</div><div>', '|').replaceAll(/<.?div>/g, '');
}"""


async def stands_in(alice, html):
    await alice.until(f"([editor, html]) => ({STANDING})(editor) === html", [await alice.composer.element_handle(), html])


@contextlib.asynccontextmanager
async def writing(test, room, user, **options):
    """A person in that room who writes what they see."""
    async with in_room(test, room, {"alice": user}, **options) as alice:
        await alice.page.evaluate("localStorage.setItem('rich', '1')")
        await alice.page.reload()
        await expect(alice.composer).to_have_attribute("contenteditable", "true")
        yield alice


async def sent(alice, users, room, words, body, formatted=None):
    """Sends what is written; the message of these words reaches the room with that body and HTML."""
    await expect(alice.composer).to_be_focused()
    await alice.page.keyboard.press("Enter")
    await expect(alice.composer).to_have_text("")
    await alice.message(re.compile(f"(Sent|Delivered|Read): .*{re.escape(words)}", re.DOTALL)).last.wait_for()
    found = last(users["boris"], room)
    assert (found["body"], found.get("formatted_body")) == (body, formatted), found
    return found


# Proves P9
@test("what is written as it will look is sent as it looked: marks by keys and buttons, lists, quotes, code, a link; signs mean themselves")
async def _(test):
    room, users = two_in(test, "Orchard")
    async with in_room(test, room, {"alice": users["alice"]}) as alice:
        page, editor = alice.page, alice.composer
        keys, bar = page.keyboard, page.get_by_role("toolbar", name="Formatting")
        await editor.fill("**old** draft")
        await open_settings(page)
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Show formatting while writing").check()
        await keys.press("Escape")
        await expect(editor).to_have_text("old draft")
        await expect(editor.get_by_role("strong")).to_have_text("old")
        await editor.focus()
        await keys.press("Control+a")
        await keys.press("Backspace")
        await expect(editor).to_have_attribute("data-placeholder", "Write a message")

        # Keys, and the signs that would be marks elsewhere.
        await keys.type("ripe ")
        await keys.press("Control+b")
        await keys.type("plums")
        await keys.press("Control+b")
        await keys.type(", 2*3*4 of *them*, snake_case, ")
        await keys.press("Control+e")
        await keys.type("a*b")
        await keys.press("Control+e")
        await keys.type(" end")
        await expect(editor.get_by_role("code")).to_have_text("a*b")
        await sent(alice, users, room, "ripe", r"ripe **plums**, 2\*3\*4 of \*them\*, snake_case, `a*b` end",
                   "ripe <strong>plums</strong>, 2*3*4 of *them*, snake_case, <code>a*b</code> end")
        await keys.type("3 * 4_5 [x] (y) ~ #one")
        await sent(alice, users, room, "[x]", "3 * 4_5 [x] (y) ~ #one")

        # Buttons over what is chosen; each takes its mark back.
        await keys.type("hay")
        await expect(bar).to_be_hidden()
        await keys.press("Control+a")
        for name, tag in (("Bold", "strong"), ("Italic", "em"), ("Strike-through", "del"), ("Code", "code"), ("Quote", "blockquote"), ("List", "ul")):
            button = bar.get_by_role("button", name=name, exact=True)
            await button.click()
            await expect(editor.locator(tag)).to_have_text("hay")
            await expect(editor).to_be_focused()
            if name == "List":
                await alice.picture("rich-chosen-light")
            await button.click()
            await expect(editor.locator(tag)).to_have_count(0)
        await bar.get_by_role("button", name="Link", exact=True).click()
        await page.get_by_role("textbox", name="Link").fill("https://example.org/a_b")
        await keys.press("Enter")
        await expect(editor.get_by_role("link", name="hay")).to_have_attribute("href", "https://example.org/a_b")
        await sent(alice, users, room, "hay", "[hay](https://example.org/a_b)", '<a href="https://example.org/a_b">hay</a>')

        # Lines that begin with a sign become what it says.
        for text in ("- one\n", "two\n", "Tab", "deep\n", "Shift+Tab", "last\n", "\n", "> said\n", "\n", "1. first\n", "second\n", "\n", "```", "let x = *y*\n", "  x"):
            if "Tab" in text:
                await keys.press(text)
                continue
            await keys.type(text.rstrip("\n"))
            if text.endswith("\n"):
                await keys.press("Shift+Enter")
        await expect(editor.get_by_role("listitem")).to_have_count(6)
        await alice.picture("rich-blocks-light")
        await sent(alice, users, room, "said", "- one\n- two\n  - deep\n- last\n> said\n1. first\n2. second\n```\nlet x = *y*\n  x\n```",
                   "<ul><li>one</li><li>two<ul><li>deep</li></ul></li><li>last</li></ul><blockquote><p>said</p></blockquote>"
                   "<ol><li>first</li><li>second</li></ol><pre><code>let x = *y*\n  x\n</code></pre>")


# Proves P9
@test("a person is named, a draft comes back and a message is edited as they look; what was done is taken back, an emoji goes where the caret is")
async def _(test):
    room, users = two_in(test, "Barn")
    users["boris"].send(room, "good morning")
    async with writing(test, room, users["alice"]) as alice:
        page, editor, keys = alice.page, alice.composer, alice.page.keyboard
        user = users["boris"].user_id
        name = user[1:].split(":")[0]
        await editor.click()
        await keys.type("dear @bo")
        await page.get_by_role("option", name=name).wait_for()
        await expect(editor).to_have_attribute("aria-activedescendant", re.compile("^ma-completion-0-"))
        await keys.press("Enter")
        pill = editor.get_by_role("link", name="@" + name)
        await pill.wait_for()
        await keys.type("x")
        await expect(editor).to_have_text(f"dear @{name} x")
        for _ in range(3):
            await keys.press("Backspace")
        await expect(pill).to_have_count(0)
        await expect(editor).to_have_text(re.compile("^dear \u200b?$"))
        await keys.press("Control+z")
        await pill.wait_for()
        await keys.press("End")
        await keys.type(" come")
        await page.reload()
        await pill.wait_for()
        await editor.focus()
        await keys.press("End")
        await alice.picture("rich-mention-light")
        found = await sent(alice, users, room, "come", f"dear @{name} come",
                           f'dear <a href="https://matrix.to/#/{quote(user, safe="")}">@{name}</a> come')
        assert found["m.mentions"] == {"user_ids": [user]}, found

        # Arrow up edits the last message.
        await keys.type("a ")
        await keys.press("Control+i")
        await keys.type("b")
        await sent(alice, users, room, "a b", "a *b*", "a <em>b</em>")
        await keys.press("ArrowUp")
        await expect(editor.locator("em")).to_have_text("b")
        await keys.type("c")
        await keys.press("Control+z")
        await expect(editor).to_have_text("a b")
        await keys.press("Control+Shift+z")
        await expect(editor).to_have_text("a bc")
        await keys.press("Enter")
        await alice.message(re.compile("a bc")).wait_for()
        await expect(editor).to_have_text("")

        # A command is not Markdown.
        await keys.type("/plain *as it is*")
        await sent(alice, users, room, "as it is", "*as it is*")
        await keys.type("one two")
        for _ in range(4):
            await keys.press("ArrowLeft")
        await page.get_by_role("main").get_by_role("button", name="Emoji").click()
        await alice.dialog.get_by_label("Search emoji").fill("thumbs up")
        await keys.press("Enter")
        await expect(editor).to_have_text("one👍 two")
        await expect(editor).to_be_focused()
        await keys.type("!")
        await expect(editor).to_have_text("one👍! two")


# Proves P9
@test("lines of what is written part, join and leave what they are in, as keys say; an input method composes undisturbed; threads have it too")
async def _(test):
    room, users = two_in(test, "Loft")
    users["boris"].send(room, "shall we")
    async with writing(test, room, users["alice"], scheme="dark") as alice:
        page, editor, keys = alice.page, alice.composer, alice.page.keyboard

        async def stands(html):
            await stands_in(alice, html)

        async def press(*names):
            for name in names:
                await keys.press(name)

        async def step(key, html):
            """How much of what is typed is one step depends on how fast it was."""
            for _ in range(8):
                await press(key)
                if await editor.evaluate(STANDING) == html:
                    return
            await stands(html)

        await editor.click()
        await keys.type("# head")
        await stands("<h1>head</h1>")
        await press("Home", "Backspace")
        await stands("head")
        await step("Control+z", "# ")
        await step("Control+y", "head")
        await press("End", "F6", "Shift+F6")
        await expect(editor).to_be_focused()
        await press("Shift+Enter")
        await keys.type("* one")
        await press("Shift+Enter")
        await keys.type("two")
        await stands("head<ul><li>one</li><li>two</li></ul>")
        await press("Home", "Backspace")
        await stands("head<ul><li>one</li></ul>two")
        await press("Backspace")
        await stands("head<ul><li>onetwo</li></ul>")
        await press("Control+z", "Control+z")
        await stands("head<ul><li>one</li><li>two</li></ul>")
        await press("ArrowUp", "End", "Delete")
        await stands("head<ul><li>onetwo</li></ul>")
        await press("Shift+ArrowUp", "Delete")
        await stands("headtwo")
        await press("Control+a")
        await keys.type("> said")
        await stands("<blockquote>said</blockquote>")
        await press("End", "ArrowDown")
        await keys.type("```")
        await keys.type("x")
        await press("Shift+Enter", "Shift+Enter", "Shift+Enter")
        await keys.type("after ")
        await stands("<blockquote>said</blockquote><pre>x</pre>after ")
        await press("Control+Shift+l")
        await expect(page.get_by_role("textbox", name="Link")).to_be_focused()
        await alice.picture("rich-link-dark")
        await press("Escape")
        await expect(editor).to_be_focused()
        session = await alice.context.new_cdp_session(page)
        for text in ("に", "にほ", "日本"):
            await session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
        await session.send("Input.insertText", {"text": "日本"})
        await stands("<blockquote>said</blockquote><pre>x</pre>after 日本")
        await alice.picture("rich-dark")
        await sent(alice, users, room, "after 日本", "> said\n```\nx\n```\nafter 日本", "<blockquote><p>said</p></blockquote><pre><code>x\n</code></pre>after 日本")
        await alice.message_menu("shall we", "Reply in thread")
        answer = page.get_by_role("complementary", name="Thread").get_by_role("textbox", name="Write a message")
        await expect(answer).to_be_focused()
        await press("Control+b")
        await keys.type("we shall")
        await expect(answer.get_by_role("strong")).to_have_text("we shall")
        await press("Enter")
        await page.get_by_role("complementary", name="Thread").get_by_role("article", name=re.compile("(Sent|Delivered|Read): .*we shall")).wait_for()
        found = last(users["boris"], room)
        assert found["formatted_body"] == "<strong>we shall</strong>" and found["m.relates_to"]["rel_type"] == "m.thread", found

        # Not wanted any more, it leaves the Markdown where it was.
        await keys.type("- still")
        await open_settings(page)
        await page.get_by_role("tab", name="Appearance").click()
        await page.get_by_label("Show formatting while writing").uncheck()
        await press("Escape")
        await expect(answer).to_have_value("- still")


# Proves P9
@test("what others put into the clipboard comes as the texts that it has; nothing of it runs, its pictures are not fetched, files are sent")
async def _(test):
    room, users = two_in(test, "Dock")
    async with writing(test, room, users["alice"]) as alice:
        page, editor = alice.page, alice.composer
        asked = []
        page.on("request", lambda request: asked.append(request.url) if "evil" in request.url else None)
        await editor.click()
        await editor.evaluate(PASTE, [HOSTILE, "harmless"])
        await expect(editor).to_have_text(re.compile("bold.*item.*a link"))
        kinds = await editor.evaluate("node => [...new Set([...node.querySelectorAll('*')].map(one => one.tagName + one.getAttributeNames().filter(name => name !== 'dir')))].sort()")
        assert kinds == ["Ahref", "BLOCKQUOTE", "DIV", "H2", "LI", "STRONG", "UL"], kinds
        assert await editor.get_by_role("link").evaluate_all("all => all.map(one => one.getAttribute('href'))") == ["https://example.org/"]
        await alice.picture("rich-pasted-light")
        await sent(alice, users, room, "a link", PASTED, PASTED_HTML)
        assert not asked and await page.evaluate("globalThis.evil") is None, asked
        await editor.evaluate(PASTE, ["", "*one*\n- two"])
        await expect(editor.locator("em, li")).to_have_count(0)
        await sent(alice, users, room, "one", "\\*one\\*\n\\- two", "*one*<br>- two")
        await editor.evaluate(GIVE, ["paste", base64.b64encode(picture(64, 48)).decode(), "pasted.png"])
        await send_files(alice)
        await alice.page.get_by_role("img", name="pasted.png").first.wait_for()
        # Of tags without an end the browser makes nothing, and quickly; what is too long comes as its plain text.
        for html, text in (("word" + "<a" * 200_000, "word"), ("<b>word</b>" + "<a>" * 400_000, "as it stands")):
            taken = await editor.evaluate(f"(node, given) => {{ const start = performance.now(); ({PASTE})(node, given); return performance.now() - start; }}", [html, "as it stands"])
            assert taken < 2000, taken
            await expect(editor).to_have_text(text)
            await expect(editor.locator("b, strong")).to_have_count(0)
            await editor.evaluate("node => { node.nextElementSibling.value = ''; }")


# Proves P9
@test("a pasted name is that of its address, code has all its lines; a rule is written over, what is dragged is moved; other layouts take back, too")
async def _(test):
    room, users = two_in(test, "Mill")
    async with writing(test, room, users["alice"]) as alice:
        page, editor, keys = alice.page, alice.composer, alice.page.keyboard

        async def draft(text, html):
            """As the program sets it, with a draft or an edit."""
            await editor.evaluate("(node, text) => { node.nextElementSibling.value = text; }", text)
            await stands_in(alice, html)

        async def clear():
            await draft("", "")

        await editor.click()
        for html, text in (
            ('dear <a href="https://matrix.to/#/@bo.ris:hs">@Alice\nSmith</a> and<a href="https://matrix.to/#/@boss:hs"> </a> others', "dear @bo.ris and others"),
            ('<a href="matrix:u/boss:hs"></a>hi <a href="https://matrix.to/#/%40boss%3Ahs?via=hs" data-mention="">@alice</a>', "hi @boss"),
            ("<pre>a <b>b</b><div>c<div>d</div></div>e<br>f</pre>", "<pre>a b|c|d|e|f</pre>"),
            ("<pre><div>a</div><div><br></div><div>b</div></pre>", "<pre>a||b</pre>"),
        ):
            await editor.evaluate(PASTE, [html, "x"])
            if "<pre>" in text:
                await stands_in(alice, text)
            else:
                await alice.until("([node, text]) => node.textContent.replaceAll('\u200b', '') === text", [await editor.element_handle(), text])
            await clear()

        # A name is all there whatever signs it has, and is kept through what the browser makes.
        link = "https://matrix.to/#/%40boris%3Ahs"
        await draft(f"see [@A \\` \\<b> \\*c\\* Smith]({link}) `x`", f'see <a href="{link}" data-mention="" contenteditable="false">@A ` &lt;b&gt; *c* Smith</a> <code>x</code>')
        await editor.evaluate("""node => {
          node.append(Object.assign(document.createElement('p'), { textContent: 'more' }));
          node.dispatchEvent(new Event('input', { bubbles: true }));
        }""")
        await expect(editor).to_have_text("see @A ` <b> *c* Smith xmore")
        await expect(editor.get_by_role("link")).to_have_count(1)
        assert await editor.evaluate("node => node.nextElementSibling.value") == f"see [@A \\` \\<b> \\*c\\* Smith]({link}) `x`\n\nmore"

        # A rule.
        for key, length, html in (("x", 0, "a|x|bc"), ("Backspace", 0, "a||bc"), ("Delete", 1, "a|c"), ("y", 1, "a|yc")):
            await clear()
            await draft("a\n***\nbc", "a<hr>bc")
            await editor.evaluate("""(node, length) => {
              const [rule, text] = [node.querySelector('hr'), node.lastElementChild.firstChild];
              getSelection().setBaseAndExtent(rule, 0, length > 0 ? text : rule, length);
            }""", length)
            await keys.press(key)
            await stands_in(alice, html)

        # Dragged within the editor.
        await clear()
        await draft("one **two** three", "one <strong>two</strong> three")
        await editor.evaluate("node => getSelection().selectAllChildren(node.querySelector('strong'))")
        word, line = [await still(part) for part in (editor.locator("strong"), editor)]
        await page.mouse.move(word["x"] + word["width"] / 2, word["y"] + word["height"] / 2)
        await page.mouse.down()
        await page.mouse.move(line["x"] + line["width"] - 20, word["y"] + word["height"] / 2, steps=5)
        await page.mouse.up()
        await stands_in(alice, "one  three<strong>two</strong>")

        # By the place of the key, and by what extensions write.
        await keys.press("End")
        await editor.dispatch_event("keydown", {"key": "я", "code": "KeyZ", "ctrlKey": True})
        await stands_in(alice, "one <strong>two</strong> three")
        await editor.evaluate("""node => {
          node.firstElementChild.append(' four');
          node.dispatchEvent(new Event('input', { bubbles: true }));
        }""")
        assert await editor.evaluate("node => node.nextElementSibling.value") == "one **two** three four"

        # Many signs that pair with none, or each with each, are not compared each with all.
        for text in ("a* " * 20_000, "*a " * 10_000 + "a* " * 10_000):
            took = await editor.evaluate("""(node, text) => {
              const begun = performance.now();
              node.nextElementSibling.value = text;
              return performance.now() - begun;
            }""", text)
            assert took < 5_000, took

        # Where one may not write nothing is changed.
        await clear()
        await draft("kept", "kept")
        await editor.evaluate("node => { node.nextElementSibling.disabled = true; }")
        await expect(editor).to_have_attribute("tabindex", "-1")
        await editor.evaluate(PASTE, ["", "no"])
        await editor.dispatch_event("keydown", {"key": "z", "ctrlKey": True})
        await stands_in(alice, "kept")


# Proves P9
@test("on a dark right-to-left phone, the rich editor grows, then scrolls, and shifts nothing")
async def _(test):
    room, users = two_in(test, "نخيل")
    users["boris"].send(room, "مرحبا")
    async with in_room(test, room, {"alice": users["alice"]}, viewport=PHONE, scheme="dark") as alice:
        page = alice.page
        await page.evaluate("localStorage.setItem('language', 'ar'); localStorage.setItem('rich', '1')")
        await page.reload()
        editor = page.get_by_role("textbox", name="اكتب رسالة", exact=True)
        await expect(editor).to_have_attribute("contenteditable", "true")
        await editor.click()
        await page.keyboard.press("Control+b")
        await page.keyboard.type("ماء")
        await page.keyboard.press("Control+b")
        await page.keyboard.type(" بارد")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("- English")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("عربي")
        await fits(alice)
        await alice.picture("rich-phone-arabic")
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        await fits(alice)
        await alice.picture("rich-phone-arabic-large")
        await page.evaluate("document.documentElement.style.fontSize = ''")
        for _ in range(12):
            await page.keyboard.press("Shift+Enter")
            await page.keyboard.type("x")
        box = await editor.bounding_box()
        assert box["height"] <= 160, box
        assert await editor.evaluate("node => node.scrollTop > 0 && node.scrollTop + node.clientHeight >= node.scrollHeight - 20")
        await fits(alice)
