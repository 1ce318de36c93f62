"""<martlet-messenger> from JavaScript: lists, text chat, content of a page's own, events of a room, and that its declarations are true."""
import contextlib
import json
import math
import os
import struct
import tempfile
import wave

from browser import ANCHOR, expect, people
from client import User, bodies, room_path
from declarations import Declarations, ElementScript, require_same_methods
from harness import test
from test_element import FOLDERS, TYPES, Files, message, visitor

NEEDS_BROWSER = True

DECLARED = Declarations("martlet-messenger.d.ts")
EVENTS = DECLARED.events("MessengerEventMap")


def inside(page):
    """The element's frame."""
    return next(part for part in page.frames if part != page.main_frame)


async def hear(page):
    """From now on the page keeps all that the element tells."""
    await page.evaluate("""names => {
      globalThis.chat = document.querySelector('martlet-messenger');
      globalThis.heard = [];
      for (const type of names) chat.addEventListener(type, event => heard.push({ kind: type, detail: JSON.parse(JSON.stringify(event.detail)) }));
    }""", list(EVENTS))


async def check_details(page):
    """Each event that was heard has what is declared, and nothing else."""
    for said in await page.evaluate("() => heard"):
        declared, found = EVENTS[said["kind"]], set(said["detail"] or {})
        wanted = {key for key, is_optional in declared.items() if not is_optional}
        assert wanted - {"wait"} <= found <= set(declared), (said, declared)


# Proves C5
@test("the declarations of the element are those of its script: methods with their arguments, properties, attributes, events", browser=False)
async def _(test):
    script, methods, attributes = ElementScript(), DECLARED.methods("MartletMessenger"), DECLARED.attributes("MessengerAttributes")
    require_same_methods(DECLARED, methods, script.methods())
    properties = DECLARED.properties("MartletMessenger")
    assert properties == script.properties(), (properties, script.properties())
    assert attributes == script.attributes(), attributes ^ script.attributes()
    assert EVENTS.keys() == script.events(), EVENTS.keys() ^ script.events()
    assert len(methods) > 20 and len(EVENTS) > 30 and len(attributes) > 15


SHOWN = "() => [...document.querySelectorAll('.mg-window .mg-row')].map(row => row.querySelector('.mg-text').textContent)"
SCROLL = """([pixels, text]) => {
  const isThere = [...document.querySelectorAll('.mg-window .mg-text')].some(row => row.textContent === text);
  if (!isThere) document.querySelector('.mg-scroller').scrollTop += pixels;
  return isThere;
}"""


# Proves C6, C15, C18, P40, P42, P48
@test("comments: the newest on top, answers beneath, older ones come as one scrolls and go again; a box of the page's own writes them")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("comments.html"))
        await message(frame, "comment 999").wait_for()
        part = inside(page)
        assert (await part.evaluate(SHOWN))[:3] == ["comment 999", "comment 998", "comment 997"]
        assert await frame.get_by_role("textbox").count() == 0
        comment = page.get_by_label("Your comment")
        await comment.fill("mine")
        await comment.press("Enter")
        await message(frame, "mine").wait_for()
        assert (await part.evaluate(SHOWN))[0] == "mine"
        await page.evaluate("() => answer(998, 'an answer')")
        await message(frame, "an answer").wait_for()
        shown = await part.evaluate(SHOWN)
        assert shown[shown.index("comment 998") + 1] == "an answer", shown
        # What moves in the frame has arrived.
        await part.wait_for_function("() => document.getAnimations().every(one => one.effect.getComputedTiming().endTime === Infinity)")
        await person.picture("element-comments")
        # Who reads below is left alone by what comes on top.
        await part.wait_for_function(SCROLL, arg=[700, "comment 980"])
        before = await part.evaluate(ANCHOR)
        await comment.fill("mine too")
        await comment.press("Enter")
        await page.wait_for_function("() => document.querySelector('form').elements.text.value === ''")
        await page.evaluate("() => document.querySelector('martlet-messenger').setBubbles('house')")
        after = await part.evaluate(ANCHOR)
        assert after["text"] == before["text"] and abs(after["y"] - before["y"]) <= 0.5, (before, after)
        # Down to the first comment, with no more rows than the ceiling; and back, where those that went are there again.
        await part.wait_for_function(SCROLL, arg=[1500, "comment 0"])
        places = await part.evaluate("() => [...document.querySelectorAll('.mg-row')].map(row => Number(row.getAttribute('aria-posinset')))")
        assert 150 < max(places) <= 250, places
        await part.wait_for_function(SCROLL, arg=[-1500, "mine too"])
        assert (await part.evaluate(SHOWN))[:2] == ["mine too", "mine"]


# Proves C17, P48, T2, T4, T6, T18, T23
@test("a text chat by its attributes: a counter, a page that refuses, echoes that confirm, a title bar, three looks, and figures of it all")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("chat.html"))
        await message(frame, "Hello!").wait_for()
        await hear(page)
        await frame.get_by_role("heading", name="Room 1").wait_for()
        box = frame.get_by_role("textbox")
        await box.fill("hi")
        await box.press("Enter")
        await message(frame, "You wrote: hi").wait_for()
        assert await frame.locator(".mg-own .mg-text").all_inner_texts() == ["hi"] and await box.input_value() == ""
        assert await frame.locator(".mg-pending").count() == 0
        await box.fill("no")
        await box.press("Enter")
        await person.until("() => counts['send failure'] === 1")
        assert await box.input_value() == "no"
        await box.fill("a text that is long!!")
        await frame.get_by_text("1 over the limit").wait_for()
        await box.press("Enter")
        refusals = await page.evaluate("""async () => {
          const said = [];
          for (const text of ['', 'a text that is long!!']) await chat.send(text).catch(error => said.push(error.message));
          chat.setAttribute('disabled', 'Not connected');
          await chat.send('x').catch(error => said.push(error.message));
          chat.removeAttribute('disabled');
          return said;
        }""")
        assert refusals == ["empty", "too long", "not connected"], refusals
        row = await page.evaluate("() => chat.send('of the page')")
        await frame.locator(".mg-own.mg-pending", has_text="of the page").wait_for()
        await page.evaluate("row => chat.setState(row, 'failed')", row)
        await frame.locator(".mg-own.mg-failed", has_text="of the page").wait_for()
        await frame.get_by_role("button", name="Close").click()
        await page.get_by_text("Closed.", exact=True).wait_for()
        counts = await page.evaluate("() => counts")
        # Two texts of the box, four of the page.
        assert (counts["send attempt"], counts["send success"], counts["send failure"]) == (6, 2, 4), counts
        assert counts["addMessage attempt"] == counts["addMessage success"] >= 3, counts
        await check_details(page)
        for look, family in (("standard", "mg-primary-tailed"), ("house", "mg-timeline"), ("custom", "mg-custom")):
            await page.evaluate("""look => {
              const other = chat.cloneNode();
              other.setAttribute('look', look);
              other.register('message', (text, element, { sender }) => { element.innerHTML = '<em></em>'; element.firstChild.textContent = sender.name + ' said ' + text; });
              chat.replaceWith(other);
              globalThis.chat = other;
              return other.addMessage({ text: 'looks', senderID: 'you', alias: 'You' });
            }""", look)
            await frame.get_by_text("You said looks" if look == "custom" else "looks", exact=True).wait_for()
            assert await frame.locator(f".{family}").count() > 0, look
            assert await frame.locator(".mg-primary-tailed").count() == (1 if look == "standard" else 0), look


# Proves C6, C8, N1, N2, N3, N4, N5, P48
@test("content that the page draws: kept up to date, pressed, let go out of view; of what could do harm nothing arrives")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("cards.html"))
        told = page.locator("#told")
        await frame.get_by_text("2 pieces", exact=True).wait_for()
        for count in (3, 4):
            await frame.get_by_role("button", name="One more").click()
            await frame.get_by_text(f"{count} pieces", exact=True).wait_for()
        assert await told.inner_text() == "Beans: 4"
        card = frame.locator(".mg-custom > *, .mg-custom").first
        await person.picture("element-cards")
        assert await frame.locator(".mg-custom button").evaluate("e => getComputedStyle(e).color") != "rgb(0, 0, 0)"
        assert await card.count() == 1
        await page.evaluate("""async () => {
          const chat = document.querySelector('martlet-messenger');
          await chat.register('evil', (_, element) => {
            const add = (tag, attributes, text = '') => {
              const made = document.createElement(tag);
              for (const [name, value] of Object.entries(attributes)) if (name === 'style') made.style.cssText = value; else made.setAttribute(name, value);
              made.textContent = text;
              element.append(made);
            };
            add('script', {}, 'globalThis.hurt = 1');
            add('a', { href: 'javascript:globalThis.hurt=1', onclick: 'globalThis.hurt=1', class: 'mg-notice', id: 'app' }, 'a link');
            add('button', { onclick: '0', formaction: 'https://example.org', style: 'position: fixed; inset: 0; z-index: 9' }, 'everywhere');
            add('iframe', { src: 'about:blank' });
            add('style', {}, 'body { display: none }');
            add('input', { name: 'password' });
          });
          await chat.add({ sender: { id: 'eve', name: 'Eve' }, custom: { kind: 'evil', data: null, text: 'nothing' } });
          await chat.add({ sender: { id: 'eve', name: 'Eve' }, custom: { kind: 'unknown', data: 1, text: 'said in words' } });
        }""")
        await frame.get_by_text("said in words", exact=True).wait_for()
        await frame.get_by_role("button", name="everywhere").wait_for()
        found = await inside(page).evaluate("""() => {
          const all = [...document.querySelectorAll('.mg-custom *')], button = all.find(one => one.textContent === 'everywhere');
          const { width, height } = button.getBoundingClientRect(), box = button.closest('.mg-custom').getBoundingClientRect();
          return { tags: [...new Set(all.map(one => one.localName))].sort(), hurt: globalThis.hurt ?? 0, href: all.find(one => one.localName === 'a').getAttribute('href'),
            names: [...new Set(all.flatMap(one => one.getAttributeNames()))].filter(name => /^(on|class|id|form|name)/.test(name)),
            isOutside: width > box.width + 1 || height > box.height + 1 };
        }""")
        assert not set(found["tags"]) & {"script", "iframe", "style", "input"}, found
        assert found["hurt"] == 0 and found["href"] is None and found["names"] == [] and not found["isOutside"], found
        await page.evaluate("""() => document.querySelector('martlet-messenger').addAll(Array.from({ length: 80 }, (_, number) => ({ line: 'line ' + number })))""")
        await told.filter(has_text="Beans left the view").wait_for()
        await page.evaluate("() => document.querySelector('martlet-messenger').scrollToRow(row, { place: 'top' })")
        # What was drawn stands there at once; then it is drawn anew, from the data.
        await frame.get_by_text("2 pieces", exact=True).wait_for()
        # The page's own policy says something of the handlers.
        person.troubles = [trouble for trouble in person.troubles if "inline event handler" not in trouble]


# Proves C11, C14, P41
@test("from JavaScript a message joins its group, is replaced in it and leaves it; a transaction is one step and says what becomes of the place")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("rows.html"))
        await frame.get_by_role("article", name="What can we do for you?").wait_for()
        groups = await page.evaluate("""async () => {
          const chat = globalThis.chat = document.querySelector('martlet-messenger'), ada = { id: 'ada', name: 'Ada' };
          await chat.clear();
          const one = await chat.add({ sender: ada, text: 'one' });
          await chat.add({ line: 'a line' });
          const two = await chat.addToGroup(one, { sender: ada, text: 'two' });
          const three = await chat.addToGroup(two, { sender: ada, text: 'three' });
          const other = await chat.replace(two, { sender: ada, text: 'zwei' });
          const whole = await chat.group(other);
          await chat.removeFromGroup(one);
          return [whole.length === 3 && whole[0] === one && whole[2] === three, (await chat.group(three)).length, await chat.group(12345),
            await chat.removeFromGroup(12345).then(() => 'done')];
        }""")
        assert groups == [True, 2, [], "done"], groups
        part = inside(page)
        texts = "() => [...document.querySelectorAll('.mg-window .mg-row')].map(row => row.querySelector('.mg-text, .mg-line-text').textContent)"
        assert await part.evaluate(texts) == ["zwei", "three", "a line"]
        end = "() => (s => s.scrollHeight - s.clientHeight - s.scrollTop)(document.querySelector('.mg-scroller'))"
        add = """async ([mode, count]) => {
          const order = [], sender = { id: 'bo', name: 'Bo' };
          const rows = Array.from({ length: count }, (_, number) => ({ sender, text: mode + ' ' + number }));
          await chat.transaction(chat => {
            chat.addAll(rows).then(() => order.push('added'));
            chat.add({ sender, text: mode + ' last' });
            chat.add({ line: mode }).then(() => order.push('line'));
          }, mode).then(() => order.push('all'));
          return order;
        }"""
        assert await page.evaluate(add, ["natural", 40]) == ["added", "line", "all"]
        assert abs(await part.evaluate(end)) <= 1
        top = await part.evaluate("() => document.querySelector('.mg-scroller').scrollTop")
        await page.evaluate(add, ["keep-stable", 40])
        assert abs(await part.evaluate("() => document.querySelector('.mg-scroller').scrollTop") - top) <= 0.5
        await page.evaluate("() => chat.scrollToEnd()")
        top = await part.evaluate("() => document.querySelector('.mg-scroller').scrollTop")
        await page.evaluate(add, ["none", 40])
        assert await part.evaluate("() => document.querySelector('.mg-scroller').scrollTop") == top
        # What comes before it goes with what was there; what is no row is refused, and nothing of it comes.
        await page.evaluate("""() => chat.transaction(chat => {
          chat.add({ line: 'before' });
          chat.clear();
          chat.add({ line: 'after' });
        })""")
        assert await part.evaluate(texts) == ["after"]
        refused = await page.evaluate("""async () => {
          const said = [], row = await chat.add({ line: 'a row' });
          for (const ask of [() => chat.addAll([{ line: 'never' }, { text: 'of nobody' }]), () => chat.update(row, {}), () => chat.replace(row, { sender: {} }),
            () => chat.addToGroup(row, {}), () => chat.send('x', { data: { 'com.example.x': 1 } }), () => chat.sendEvent('com.example.x', {})])
            said.push(await ask().then(() => '', error => error.message));
          return said;
        }""")
        assert len(refused) == 6 and all(refused), refused
        assert await part.evaluate(texts) == ["after", "a row"]
        thrown = await page.evaluate("""() => chat.transaction(chat => {
          chat.add({ line: 'never' }).catch(() => {});
          throw new Error('changed my mind');
        }).catch(error => error.message)""")
        assert thrown == "changed my mind" and await frame.get_by_text("never", exact=True).count() == 0


# What begins to move, with its times in seconds, from the style as the browser has it.
MOTION = """() => {
  globalThis.moved = [];
  addEventListener('animationstart', ({ target, animationName }) => {
    const style = getComputedStyle(target), names = style.animationName.split(', '), at = names.indexOf(animationName);
    const what = ['mg-avatar', 'mg-column', 'mg-main', 'mg-line-box', 'mg-ghost', 'mg-row'].find(name => target.classList.contains(name));
    moved.push([animationName.replace('-again', ''), what, parseFloat(style.animationDuration.split(', ')[at]), parseFloat(style.animationDelay.split(', ')[at])]);
  });
}"""


# Proves C12
@test("rows move in the times of the seed: what joins a group comes after 0.3 s, the avatar glides in 0.15 s, what goes fades in 0.3 s")
async def _(test):
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("rows.html"))
        await frame.get_by_role("article", name="What can we do for you?").wait_for()
        await page.evaluate("""() => {
          const other = document.querySelector('martlet-messenger').cloneNode();
          other.setAttribute('avatars', 'group-end');
          document.querySelector('martlet-messenger').replaceWith(other);
          globalThis.chat = other;
          const lines = count => other.addAll(Array.from({ length: count }, (_, number) => ({ line: 'line ' + number })), { still: true });
          return lines(40)
            .then(() => other.add({ sender: { id: 'ada', name: 'Ada' }, text: 'one' }, { still: true })).then(row => { globalThis.one = row; })
            .then(() => lines(40)).then(() => other.scrollToRow(one, { place: 'top' }));
        }""")
        await message(frame, "one").wait_for()
        part = inside(page)
        await part.evaluate(MOTION)

        async def motion(change, *wanted):
            await part.evaluate("() => { moved.length = 0; }")
            await page.evaluate(change)
            for one in wanted:
                await part.wait_for_function("one => moved.some(found => JSON.stringify(found) === JSON.stringify(one))", arg=list(one))

        ada = "{ id: 'ada', name: 'Ada' }"
        await motion(f"async () => {{ globalThis.two = await chat.addToGroup(one, {{ sender: {ada}, text: 'two' }}); }}",
                     ("mg-fade", "mg-column", 0.3, 0.3), ("mg-glide", "mg-avatar", 0.15, 0.3), ("mg-shift", "mg-row", 0.3, 0))
        await motion(f"async () => {{ globalThis.two = await chat.replace(two, {{ sender: {ada}, text: 'other' }}); }}",
                     ("mg-fade", "mg-main", 0.3, 0))
        await motion("() => chat.removeFromGroup(two)", ("mg-go", "mg-ghost", 0.3, 0), ("mg-glide", "mg-avatar", 0.15, 0))
        assert not [one for one in await part.evaluate("() => moved") if one[0] == "mg-fade"], "what goes does not come in once more"
        await motion("() => chat.remove(one)", ("mg-go", "mg-ghost", 0.3, 0))
        await page.evaluate("() => chat.scrollToEnd()")
        await motion(f"() => chat.add({{ sender: {ada}, text: 'three' }})", ("mg-slide", "mg-main", 0.3, 0))
        await motion("() => chat.add({ line: 'four' })", ("mg-fade", "mg-line-box", 0.3, 0))


@contextlib.contextmanager
def tone():
    """A folder with a second of sound."""
    with tempfile.TemporaryDirectory(prefix="martlet-tone-") as folder:
        with wave.open(os.path.join(folder, "tone.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(b"".join(struct.pack("<h", int(8000 * math.sin(number / 5))) for number in range(8000)))
        yield folder


# Proves C6
@test("a sound of the page is played in its row; what cannot be played is said")
async def _(test):
    TYPES[".wav"] = "audio/wav"
    with tone() as folder:
        files = Files([*FOLDERS, folder])
        try:
            async with people(test, "listener", flags=["--autoplay-policy=no-user-gesture-required"]) as person:
                page = person.page
                await page.goto(files.base + "/parts.html")
                frame = page.frame_locator("martlet-messenger iframe")
                await frame.get_by_text("Have a look:", exact=True).wait_for()
                await hear(page)
                await page.evaluate("""base => chat.add({ sender: { id: 'shop', name: 'Shop' }, parts: [
                  { text: 'Listen:' }, { audio: { source: base + '/tone.wav', name: 'tone.wav', duration: 1000, waveform: [0, 100, 255, 20] } }] })""", files.base)
                await frame.get_by_role("button", name="Play").click()
                await frame.get_by_role("button", name="Pause").wait_for()
                await frame.get_by_text("0:01 / 0:01").wait_for()
                await frame.get_by_role("button", name="Play").wait_for()
                await page.evaluate("""base => chat.add({ sender: { id: 'shop', name: 'Shop' }, audio: { source: base + '/none.wav', name: 'none.wav' } })""", files.base)
                await frame.get_by_role("button", name="Play").last.click()
                await person.until("() => heard.some(({ kind, detail }) => kind === 'error' && detail.message !== '')")
                await check_details(page)
                person.troubles.clear()
        finally:
            files.close()


def event_heard(name, **detail):
    return f"""() => {{
      const has = (found, wanted) => wanted !== null && typeof wanted === 'object'
        ? Object.entries(wanted).every(([key, value]) => has(found?.[key], value)) : found === wanted;
      return heard.some(({{ kind, detail }}) => kind === '{name}' && has(detail, {json.dumps(detail)}));
    }}"""


# Proves C5, J13, J25, T13, T14, T15
@test("the element tells what happens in a room, one event each: the connection, people who come, go, write and read, files, edits, deletions")
async def _(test):
    host, guest, third = User(test.base, "host"), User(test.base, "guest"), User(test.base, "third")
    room = host.create_room(name="Garden", preset="public_chat")
    guest.join(room)
    async with visitor(test, whole=True) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room))
        await hear(page)
        await page.evaluate("session => chat.signIn(session)", {"userID": guest.user_id, "deviceID": guest.device_id, "accessToken": guest.token})
        await person.until(event_heard("connected"))
        await frame.get_by_role("textbox").wait_for()
        host.put(room_path(room, "typing", host.user_id), {"typing": True, "timeout": 30000}).ok()
        await person.until(event_heard("typingstarted", userID=host.user_id))
        said = host.send(room, "helo")
        await person.until(event_heard("typingstopped", userID=host.user_id))
        await person.until(event_heard("message", id=said, own=False))
        edit = {"msgtype": "m.text", "body": "* hello", "m.new_content": {"msgtype": "m.text", "body": "hello"}}
        host.send(room, "* hello", **{**edit, "m.relates_to": {"rel_type": "m.replace", "event_id": said}})
        await person.until(event_heard("edited", event=said, content=edit["m.new_content"]))
        host.put(room_path(room, "send", "m.reaction", "r1"), {"m.relates_to": {"rel_type": "m.annotation", "event_id": said, "key": "👍"}}).ok()
        await person.until(event_heard("reacted", event=said, key="👍", userID=host.user_id))
        host.send(room, "plan.pdf", msgtype="m.file", url="mxc://example.org/plan", info={"size": 12, "mimetype": "application/pdf"})
        await person.until(event_heard("file", kind="file", fileName="plan.pdf", size=12, type="application/pdf", url="mxc://example.org/plan"))
        host.put(room_path(room, "redact", said, "r2"), {}).ok()
        await person.until(event_heard("removed", event=said))
        # The user's own messages, with custom data, and their outcome.
        own = await page.evaluate("() => chat.send('Two, please', { data: { 'com.example.order': { id: 7 } } })")
        await person.until(event_heard("sent", id=own))
        assert host.get(room_path(room, "event", own)).ok()["content"]["com.example.order"] == {"id": 7}
        order = await page.evaluate("() => chat.sendEvent('com.example.order', { id: 8 })")
        assert host.get(room_path(room, "event", order)).ok()["type"] == "com.example.order"
        host.put(room_path(room, "send", "com.example.order", "o1"), {"id": 9}).ok()
        await person.until(event_heard("message", type="com.example.order", content={"id": 9}))
        host.send(room, "Coming", **{"com.example.order": {"id": 7, "state": "ready"}})
        await person.until("() => heard.some(({ kind, detail }) => kind === 'message' && detail.content['com.example.order']?.state === 'ready')")
        host.post(room_path(room, "receipt", "m.read", own), {}).ok()
        await person.until(event_heard("read", userID=host.user_id, event=own))
        third.join(room)
        await person.until(event_heard("memberjoined", userID=third.user_id, by=third.user_id))
        third.post(room_path(room, "leave"), {}).ok()
        await person.until(event_heard("memberleft", userID=third.user_id))
        host.post(room_path(room, "invite"), {"user_id": third.user_id}).ok()
        await person.until(event_heard("memberchanged", userID=third.user_id, membership="invite"))
        host.state(room, "m.room.topic", {"topic": "Beans"})
        await person.until(event_heard("system", type="m.room.topic", stateKey=""))
        await person.context.set_offline(True)
        await person.until(event_heard("disconnected"))
        await person.context.set_offline(False)
        await person.until("() => heard.filter(({ kind }) => kind === 'connected').length === 2")
        host.put(room_path(room, "state", "m.room.power_levels", ""), {**host.get(room_path(room, "state", "m.room.power_levels", "")).ok(), "events_default": 50}).ok()
        refused = await page.evaluate("() => chat.sendEvent('com.example.order', { id: 10 }).then(() => '', error => error.message)")
        assert refused != ""
        await person.until("() => heard.some(({ kind }) => kind === 'unsent')")
        host.post(room_path(room, "kick"), {"user_id": guest.user_id}).ok()
        await person.until(event_heard("left", by=host.user_id, membership="leave"))
        await check_details(page)
        said = bodies(host.get(room_path(room, "messages"), dir="b").ok()["chunk"])
        assert "Two, please" in said, said


async def enter(page, user):
    """Signs the element in; what it tells is kept."""
    await hear(page)
    await page.evaluate("session => chat.signIn(session)", {"userID": user.user_id, "deviceID": user.device_id, "accessToken": user.token})


# Proves P48
@test("in a room the page draws messages of its own kind: sent by it and by others, edited, pressed, let go out of view; others show their words")
async def _(test):
    host, guest = User(test.base, "seller"), User(test.base, "buyer")
    room = host.create_room(name="Shop", preset="public_chat")
    guest.join(room)
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room))
        state = page.locator("#state")
        await enter(page, guest)
        await frame.get_by_role("textbox").wait_for()
        host.send(room, "A parcel: 3", msgtype="com.example.parcel", count=3)
        await frame.get_by_role("feed").get_by_text("A parcel: 3", exact=True).wait_for()
        # By the page of the one, drawn for both.
        await page.get_by_role("button", name="Order beans").click()
        await frame.get_by_text("2 pieces", exact=True).wait_for()
        host.sync_until(lambda answer: "An order: Beans (2)" in str(answer))
        newest = host.get(room_path(room, "messages"), dir="b").ok()["chunk"][0]
        assert {key: newest["content"].get(key) for key in ("msgtype", "name", "count")} == {"msgtype": "com.example.order", "name": "Beans", "count": 2}
        # By somebody else, who means no good.
        evil = "<img src=x onerror=alert(1)>"
        said = host.send(room, "An order: Peas", msgtype="com.example.order", name=evil, count=5)
        order = message(frame, "An order: Peas")
        await order.get_by_text("5 pieces", exact=True).wait_for()
        assert await order.get_by_text(evil, exact=True).count() == 1 and await order.locator(".mg-custom img").count() == 0
        await person.picture("element-room-orders")
        # A press is the page's matter, and what it makes of it stays while other things of the row change.
        await order.get_by_role("button", name="Thank").click()
        await order.get_by_text("5 pieces, thanked for", exact=True).wait_for()
        await state.filter(has_text="Thanks to").wait_for()
        guest.put(room_path(room, "send", "m.reaction", "r1"), {"m.relates_to": {"rel_type": "m.annotation", "event_id": said, "key": "👍"}}).ok()
        await order.get_by_role("button", name="👍").wait_for()
        assert await order.get_by_text("5 pieces, thanked for", exact=True).count() == 1
        new = {"msgtype": "com.example.order", "body": "An order: Peas", "name": "Peas", "count": 6}
        host.send(room, "* An order", **{"msgtype": "com.example.order", "m.new_content": new, "m.relates_to": {"rel_type": "m.replace", "event_id": said}})
        await order.get_by_text("6 pieces", exact=True).wait_for()
        # A kind that is registered later is drawn where it stands already.
        await page.evaluate("""() => chat.register('com.example.parcel', ({ count }, element, { id, sender }) => {
          globalThis.parcel = { id, sender };
          element.textContent = `Parcel of ${count}`;
          return () => { globalThis.isGone = true; };
        })""")
        await frame.get_by_text("Parcel of 3", exact=True).wait_for()
        parcel = await page.evaluate("() => parcel")
        assert parcel["id"].startswith("$") and parcel["sender"]["id"] == host.user_id and parcel["sender"]["own"] is False, parcel
        for number in range(60):
            host.send(room, f"line {number}")
        await message(frame, "line 59").wait_for()
        await person.until("() => globalThis.isGone === true")
        await page.evaluate("event => chat.scrollToEvent(event)", said)
        await order.get_by_text("6 pieces", exact=True).wait_for()
        # An event of a custom type, with text or without.
        await page.evaluate("() => chat.scrollToEnd()")
        host.put(room_path(room, "send", "com.example.bell", "b1"), {"body": "The bell rang", "times": 3}).ok()
        await frame.get_by_text("The bell rang", exact=True).wait_for()
        await page.evaluate("() => chat.register('com.example.bell', ({ times }, element) => { element.textContent = `Rang ${times} times`; })")
        await frame.get_by_text("Rang 3 times", exact=True).wait_for()
        await page.evaluate("() => chat.sendEvent('com.example.bell', { times: 4 })")
        await frame.get_by_text("Rang 4 times", exact=True).wait_for()
        # Invalid messages of a custom type, and those that are too long, are refused.
        refused = await page.evaluate("""async () => {
          const said = [];
          for (const content of [{ msgtype: 'm.text', body: 'x' }, { msgtype: '', body: 'x' }, { msgtype: 'com.example.order', body: ' ' },
            { msgtype: 'com.example.order', body: 'x', name: 'x'.repeat(70000) }]) said.push(await chat.sendMessage(content).then(() => '', error => error.message));
          const rows = document.createElement('martlet-messenger');
          said.push(await rows.sendMessage({ msgtype: 'com.example.order', body: 'x' }).then(() => '', error => error.message));
          return said;
        }""")
        assert len(refused) == 5 and all(refused), refused
        await check_details(page)


async def write(frame, text):
    box = frame.get_by_role("textbox")
    await box.fill(text)
    await box.press("Enter")


# Proves P48
@test("Markdown of the page's own: words become links, marks become elements, beside the client's; nothing that a rule makes can do harm")
async def _(test):
    user = User(test.base, "clerk")
    room = user.create_room(name="Desk")
    async with visitor(test) as (person, frame, address):
        page = person.page
        await page.goto(address("room.html", homeserver=test.base, room=room))
        await enter(page, user)
        await frame.get_by_role("textbox").wait_for()

        async def sent(text):
            """The content that the server has of it."""
            await write(frame, text)
            user.sync_until(lambda answer: json.dumps(text)[1:-1] in json.dumps(answer, ensure_ascii=True))
            return next(event["content"] for event in user.get(room_path(room, "messages"), dir="b").ok()["chunk"] if event["type"] == "m.room.message")

        link = '<a href="https://tickets.example.org/12">TICKET-12</a>'
        found = await sent("see **TICKET-12**, not `TICKET-13` or [TICKET-14](https://example.org/)")
        assert found["formatted_body"] == (
            f'see <strong>{link}</strong>, not <code>TICKET-13</code> or <a href="https://example.org/">TICKET-14</a>'), found
        assert found["body"] == "see **TICKET-12**, not `TICKET-13` or [TICKET-14](https://example.org/)"
        shown = frame.get_by_role("link", name="TICKET-12")
        assert await shown.get_attribute("href") == "https://tickets.example.org/12"
        found = await sent("==very *much* so== and x^2^, 1 == 2 == 3")
        assert found["formatted_body"] == (
            '<span data-mx-bg-color="#ffee88">very <em>much</em> so</span> and x<sup>2</sup>, 1 == 2 == 3'), found
        assert await frame.locator(".mg-row sup").inner_text() == "2"
        found = await sent("<b>a & b</b> TICKET-7")
        assert found["formatted_body"] == (
            '&lt;b&gt;a &amp; b&lt;/b&gt; <a href="https://tickets.example.org/7">TICKET-7</a>'), found
        assert "formatted_body" not in await sent("nothing of that kind")
        assert "formatted_body" not in await sent("TICKET 15")
        await write(frame, "/plain TICKET-16")
        await message(frame, "TICKET-16").wait_for()
        user.sync_until(lambda answer: "TICKET-16" in str(answer))
        plain = user.get(room_path(room, "messages"), dir="b").ok()["chunk"][0]["content"]
        assert plain["body"] == "TICKET-16" and "formatted_body" not in plain, plain
        # An edit is written as the text was, and its rules are those of now.
        await page.evaluate("() => { chat.markdown = [{ pattern: /T(\\S*)/, link: 'https://example.org/?q=$1' }]; }")
        await frame.get_by_role("textbox").press("ArrowUp")
        await expect(frame.get_by_role("textbox")).to_have_value("TICKET-16")
        await write(frame, "T'\"><script>&")
        await frame.get_by_role("link", name="T'\"><script>&").wait_for()
        user.sync_until(lambda answer: "m.replace" in str(answer))
        edit = user.get(room_path(room, "messages"), dir="b").ok()["chunk"][0]["content"]["m.new_content"]
        assert edit["formatted_body"].startswith("<a href=\"https://example.org/?q='%22%3E%3Cscript%3E%26\">T'"), edit
        # Half of an emoji is no piece of an address.
        await page.evaluate("() => { chat.markdown = [{ pattern: /#(.)/, link: 'https://example.org/?q=$1' }]; }")
        assert "?q=%F0%9F%8C%B1" in (await sent("see #🌱"))["formatted_body"]
        # What is no rule is refused at once.
        refused = await page.evaluate("""() => [{ begin: '==', tag: 'script' }, { begin: '', tag: 'b' }, { begin: 'a b', tag: 'b' }, { begin: '==', tag: 'b', attributes: { onclick: 'x' } },
          { pattern: /x/, link: 'javascript:alert(1)' }, { pattern: 'x', link: 'https://example.org' }, null].map(rule => {
          try { chat.markdown = [rule]; return ''; } catch (error) { return error.constructor.name; }
        })""")
        assert refused == ["TypeError"] * 7, refused
        # A page that goes around the checks gets nothing into the frame or the room that messages may not have.
        evil = "<img src=x onerror='top.hurt = 1'><script>top.hurt = 1</script><a href='javascript:top.hurt = 1' onclick='top.hurt = 1'>press</a>"
        await page.evaluate("""evil => {
          chat.markdown = [{ begin: '==', tag: 'b' }];
          Object.defineProperty(Element.prototype, 'innerHTML', { get() { return evil; } });
        }""", evil)
        found = await sent("==hurt==")
        assert found["formatted_body"] == "<a>press</a>", found
        await message(frame, "press").wait_for()
        made = await inside(page).evaluate("() => [...document.querySelectorAll('.mg-row a, .mg-row script, .mg-row img[src=x]')].filter(one => one.matches('script, img') || one.textContent === 'press').map(one => one.outerHTML)")
        assert all("javascript" not in one and "onclick" not in one and "<script" not in one and "<img" not in one for one in made), made
        await check_details(page)
