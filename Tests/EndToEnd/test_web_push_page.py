"""The page's service worker while no page is open: it shows what the server pushes, and sends what was not sent.

Chromium without a window has no push service: the subscription is a stub (PUSH_MANAGER), made by `push_service.Subscription`. Everything
after it is real: the server encrypts and pushes to a push service of ours, and what that decrypts is delivered to the service worker
by the browser itself (DevTools, `ServiceWorker.deliverPushMessage`). Neither is there anybody who clicks a notification, nor may a
worker open a window without that: what is done with a click is called, and `openWindow` says where it would lead."""
import asyncio
import base64
import contextlib
import json
import re
import time
from types import SimpleNamespace
from urllib.parse import unquote

from browser import PHONE, expect, open_settings, people, room_fragment, send_files
from client import User, room_path
from harness import PATIENCE, test
from push_service import PushService
from server import Server
from test_browser import GIVE, picture
from test_encrypted_page import has_device
from test_nio import ENCRYPTION
from test_web_push import counted, payloads, tokens, vapid_key

NEEDS_BROWSER = True

PUSH_MANAGER = """
  const [endpoint, p256dh, auth] = SUBSCRIPTION;
  const subscription = () => localStorage.subscribed === undefined ? null : {
    endpoint, toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
    options: { applicationServerKey: Uint8Array.from(atob(localStorage.subscribed.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0)).buffer },
    unsubscribe: async () => { delete localStorage.subscribed; return true; } };
  PushManager.prototype.getSubscription = async () => subscription();
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly) throw new Error('refused');
    localStorage.subscribed = applicationServerKey;
    return subscription();
  };
"""

SHOWN = """async () => {
  const worker = await navigator.serviceWorker.getRegistration('/');
  return (await worker.getNotifications()).map(one => ({ title: one.title, body: one.body, tag: one.tag, lang: one.lang }));
}"""


# The state of the worker in each of its places.
STATES = """async () => {
  const { installing, waiting, active } = await navigator.serviceWorker.getRegistration('/');
  return [installing, waiting, active].map(worker => worker && worker.state);
}"""


async def eventually(page, expression, argument=None):
    """Waits until that JavaScript, which may be asynchronous, gives something true."""
    end = time.monotonic() + PATIENCE
    while not await page.evaluate(expression, argument):
        assert time.monotonic() < end, expression


class Worker:
    """The service worker, from a page of the same origin that is not one of its pages."""

    def __init__(self, context, base):
        self.context, self.base, self._registration = context, base, None

    async def open(self):
        self.page = await self.context.new_page()
        await self.page.goto(self.base + "/_matrix/client/versions")
        self._devtools = await self.context.new_cdp_session(self.page)
        self._devtools.on("ServiceWorker.workerRegistrationUpdated", self._updated)
        await self._devtools.send("ServiceWorker.enable")
        # One that is being installed gets no events, and without a network it would never be.
        await eventually(self.page, "async () => (await navigator.serviceWorker.ready).active.state === 'activated'")
        return self

    def _updated(self, event):
        for registration in event["registrations"]:
            if registration["scopeURL"] == self.base + "/" and not registration["isDeleted"]:
                self._registration = registration["registrationId"]

    async def _send(self, command, **parameters):
        while self._registration is None:
            await self.page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        await self._devtools.send("ServiceWorker." + command, {"origin": self.base, "registrationId": self._registration, **parameters})

    async def alone(self):
        """Waits until it knows of no page any more, which the browser tells it in its own time: one that is being closed may still say that
        somebody looks at it."""
        end = time.monotonic() + PATIENCE
        while await self.run("async () => (await pages()).length") > 0:
            assert time.monotonic() < end, "the page is still open for the worker"
            await asyncio.sleep(0.02)

    async def push(self, payload):
        """Until it has arrived: the browser may end a worker that nobody uses at that very moment, and what DevTools delivers to it is lost."""
        for _ in range(5):
            before = len(await self.pushes())
            await self._send("deliverPushMessage", data=json.dumps(payload))
            end = time.monotonic() + 5
            while time.monotonic() < end:
                if len(await self.pushes()) > before:
                    return
                await asyncio.sleep(0.02)
        raise AssertionError("no push arrives at the worker")

    async def pushes(self):
        """How far it has come with each that arrived."""
        return await self.run("""() => {
          if (!self.pushes) {
            self.pushes = [];
            const { pushed: handle } = self;
            self.pushed = async data => {
              const at = self.pushes.push('begun') - 1;
              try { await handle(data); self.pushes[at] = 'done'; } catch (error) { self.pushes[at] = String(error); throw error; }
            };
          }
          return self.pushes;
        }""")

    async def sync(self):
        await self._send("dispatchSyncEvent", tag="outbox", lastChance=False)

    async def shown(self):
        return await self.page.evaluate(SHOWN)

    async def shows(self, condition):
        """Waits until the notifications are so: JavaScript about `shown`. Chromium forgets a notification that is asked for after it was made
        and before it is on the screen, which nothing tells: seen in every other run of a test that looked at once, and in none since."""
        while "begun" in await self.pushes():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)
        try:
            await eventually(self.page, f"async () => {{ const shown = await ({SHOWN})(); return {condition}; }}")
        except AssertionError:
            states = await self.page.evaluate(STATES)
            raise AssertionError(condition, await self.shown(), states, await self.pushes(), await self.run("() => Notification.permission"))
        return await self.shown()

    async def run(self, expression, argument=None):
        """In the worker itself."""
        return await self.context.service_workers[0].evaluate(expression, argument)


@contextlib.asynccontextmanager
async def at_page(test, user, server, stub="", **options):
    """A browser of this account, signed in, with that JavaScript before the page's own."""
    where = SimpleNamespace(base=server.base, artifacts=test.artifacts)
    async with people(where, "alice", permissions=["notifications"], fresh=True, whole=True, **options) as alice:
        await alice.context.add_init_script(stub)
        await alice.page.reload()
        await alice.sign_in(user)
        yield alice


async def open_notifications(alice):
    await open_settings(alice.page)
    await alice.page.get_by_role("tab", name="Notifications").click()


async def switch_on(alice):
    await open_notifications(alice)
    await alice.page.get_by_label("Show notifications of this browser").check()
    await alice.page.get_by_label("Also when this page is closed").check()


@contextlib.asynccontextmanager
async def subscribed(test):
    """(Alice at her page with pushes switched on and active, the worker, the push service, her account, Boris, their room)"""
    test.own_server()
    service = PushService()
    server = Server(push_gateways=service.base).start()
    try:
        user, boris = User(server.base, "alice"), User(server.base, "boris")
        boris.put(f"profile/{boris.user_id}/displayname", {"displayname": "Boris Brandt"}).ok()
        room = user.create_room(preset="public_chat", name="Tea")
        boris.join(room)
        subscription = service.subscribe(vapid_key(user))
        keys = json.dumps([subscription.endpoint, subscription.p256dh, subscription.auth])
        async with at_page(test, user, server, PUSH_MANAGER.replace("SUBSCRIPTION", keys)) as alice:
            worker = await Worker(alice.context, server.base).open()
            await alice.page.bring_to_front()
            await switch_on(alice)
            service.wait(tokens)
            assert [pusher["activated"] for pusher in user.get("pushers").ok()["pushers"]] == [False]
            await worker.push(payloads(service.pushes)[0])
            await activated(worker, user)
            await alice.page.keyboard.press("Escape")
            yield alice, worker, service, user, boris, room
    finally:
        server.close()
        service.close()


async def activated(worker, user):
    await eventually(worker.page, """async token => {
      const answer = await fetch('/_matrix/client/v3/pushers', { headers: { Authorization: 'Bearer ' + token } });
      return (await answer.json()).pushers.some(pusher => pusher.activated);
    }""", user.token)


def told(service, event):
    """What was pushed about it."""
    return service.wait(lambda pushes: [push.payload for push in pushes if push.payload and push.payload.get("notification", {}).get("event_id") == event])[0]


# Proves P26
@test("with the page closed, Web Push shows one notification a room until read; a click opens it")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, room):
        await alice.page.close()
        await worker.alone()
        first = boris.send(room, "the kettle is on")
        await worker.push(told(service, first))
        shown = await worker.shows("shown.length === 1")
        assert shown == [{"title": "Tea", "body": "Boris Brandt: the kettle is on", "tag": room, "lang": "en-GB"}], shown
        second = boris.send(room, "and hot")
        await worker.push(told(service, second))
        await worker.shows("shown.length === 1 && shown[0].body.endsWith('and hot')")
        # Rooms without a name are who writes there.
        chat = boris.create_room(preset="trusted_private_chat", invite=[user.user_id], is_direct=True)
        user.join(chat)
        third = boris.send(chat, "a word in private")
        await worker.push(told(service, third))
        shown = await worker.shows("shown.length === 2")
        assert {"title": "Boris Brandt", "body": "a word in private", "tag": chat, "lang": "en-GB"} in shown, shown
        opened = await worker.run("""async tag => {
          const [notification] = await registration.getNotifications({ tag }), opened = [];
          clients.openWindow = async url => { opened.push(url); };
          await clicked(notification);
          return opened;
        }""", chat)
        assert [unquote(url) for url in opened] == ["./#/room/" + chat], opened
        await worker.shows("shown.length === 1")
        for known, event in ((room, second), (chat, third)):
            user.post(room_path(known, "receipt", "m.read", event), {}).ok()
        numbers = service.wait(lambda pushes: [number for number in counted(pushes) if "unread" not in number["counts"]])[0]
        await worker.push({"notification": numbers})
        await worker.shows("shown.length === 0")


# Proves P26
@test("with the page closed, Web Push notifies of reactions to the user's messages, if turned on")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, room):
        await open_notifications(alice)
        async with alice.page.expect_response(lambda answer: "martlet.reaction_notifications" in answer.url):
            await alice.page.get_by_label("Reactions to my messages").check()
        await alice.page.close()
        await worker.alone()
        own = user.send(room, "the kettle is on")
        reaction = {"m.relates_to": {"rel_type": "m.annotation", "event_id": own, "key": "👍"}}
        event = boris.put(room_path(room, "send", "m.reaction", "reaction"), reaction).ok()["event_id"]
        await worker.push(told(service, event))
        shown = await worker.shows("shown.length === 1")
        assert shown[0]["body"] == "Boris Brandt reacted 👍 to: the kettle is on", shown
        # If the server does not say to which message, it still notifies.
        odd = {"event_id": "$e", "room_id": room, "type": "m.reaction", "sender": boris.user_id, "content": {"m.relates_to": {"key": "🎉", "event_id": 7}},
               "counts": {}, "devices": []}
        await worker.run("said => pushed({ json: () => said })", {"notification": odd})
        await worker.shows("shown[0]?.body.startsWith('boris') && shown[0].body.endsWith(': 🎉')")


@test("with the page closed, a message of an encrypted room is decrypted if its key is in the browser; nothing is written")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, _):
        room = boris.create_room(preset="private_chat", name="Vault", invite=[user.user_id], initial_state=[ENCRYPTION])
        user.join(room)
        where = SimpleNamespace(base=boris.base, artifacts=test.artifacts)
        async with people(where, "boris") as other:
            await other.sign_in(boris, room_fragment(room))
            await alice.entry("Vault").click()
            await has_device(user)
            await other.write("a first word")
            await alice.sees("a first word")
            kept = "async () => (await caches.match('/EncryptionWorker.wasm')) !== undefined"
            await eventually(worker.page, kept)
            await alice.page.close()
            await worker.alone()
            await other.write("the plan is tea")
            newest = await sent(boris, room, 2)
            before = await worker.run("async () => (await readRecords('')).map(({ key, value }) => key + value.length).join()")
            await worker.push(told(service, newest))
            shown = await worker.shows("shown.length === 1")
            assert shown == [{"title": "Vault", "body": "Boris Brandt: the plan is tea", "tag": room, "lang": "en-GB"}], shown
            # A key that only a page can fetch.
            strange = {"event_id": "$e", "room_id": room, "type": "m.room.encrypted", "sender": boris.user_id, "sender_display_name": "Boris Brandt",
                       "room_name": "Vault", "counts": {}, "devices": [],
                       "content": {"algorithm": "m.megolm.v1.aes-sha2", "session_id": "A" * 43, "ciphertext": "A" * 200}}
            await worker.run("said => pushed({ json: () => said })", {"notification": strange})
            await worker.shows("shown[0]?.body === 'Boris Brandt: Encrypted message'")
            assert await worker.run("async () => (await readRecords('')).map(({ key, value }) => key + value.length).join()") == before


async def sent(user, room, count):
    """The last of that many encrypted messages."""
    async with asyncio.timeout(PATIENCE):
        while True:
            events = (await asyncio.to_thread(user.get, room_path(room, "messages"), dir="b", limit=20)).ok()["chunk"]
            said = [event["event_id"] for event in events if event["type"] == "m.room.encrypted"]
            if len(said) >= count:
                return said[0]
            await asyncio.sleep(0.05)


@test("what is pushed is said in the reader's language, and no more than the server says; nonsense shows nothing")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, room):
        await alice.page.evaluate("localStorage.language = 'de'")
        await alice.page.reload()
        await eventually(alice.page, "async () => (await (await (await caches.open('martlet-errands')).match('page')).json()).language.startsWith('de')")
        await alice.page.close()
        await worker.alone()
        picture = boris.put(room_path(room, "send", "m.room.message", "picture"), {"msgtype": "m.image", "body": "kettle.png", "url": "mxc://a/b"}).ok()
        await worker.push(told(service, picture["event_id"]))
        await worker.shows("shown[0]?.body === 'Boris Brandt: Bild' && shown[0].lang.startsWith('de')")
        await worker.push({"notification": {"event_id": "$e", "room_id": room, "prio": "high", "counts": {"unread": 2}, "devices": []}})
        await worker.shows("shown[0]?.title === 'Martlet' && shown[0].body === '1 neue Nachricht'")
        before = await worker.shown()
        for nonsense in (None, 7, [], {}, {"notification": 7}, {"notification": {"event_id": 7, "room_id": {}, "counts": {"unread": 1}}}, {"ack_token": "none"}):
            await worker.run("said => pushed({ json: () => said })", nonsense)
        await worker.run("() => pushed({ json: () => JSON.parse('no JSON') })")
        await worker.run("() => pushed(null)")
        assert await worker.shown() == before
        odd = {"event_id": "$o", "room_id": room, "type": "m.room.message", "sender": "x" * 400, "sender_display_name": {}, "room_name": 7,
               "content": {"msgtype": [], "body": {"a": 1}}, "counts": {"unread": 1}, "devices": [{}]}
        await worker.run("said => pushed({ json: () => said })", {"notification": odd})
        shown = await worker.shown()
        assert shown[0]["title"] == "x" * 100 and shown[0]["body"] == "1 neue Nachricht", shown
        # A name is one line, and no more than a name.
        forged = {**odd, "event_id": "$f", "sender_display_name": "\u202eAlice: I approve it.\nBo\u2028ris\x85\u2069 ", "room_name": "\u2066Tea\r\n\x00room",
                  "content": {"msgtype": "m.text", "body": "no"}}
        await worker.run("said => pushed({ json: () => said })", {"notification": forged})
        await worker.shows("shown[0]?.title === 'Tea room' && shown[0].body === 'Alice: I approve it. Bo ris: no'")


@test("who looks at the page is not told by the browser as well, and a click on what is told leads to the room there")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, room):
        other = user.create_room(name="Elsewhere")
        await alice.open_room(room)
        event = boris.send(room, "you see this")
        await alice.sees("you see this")
        await worker.run("said => pushed({ json: () => said })", told(service, event))
        assert await worker.shown() == []
        # The page is there, and somebody looks at another one.
        await alice.page.evaluate("document.hasFocus = () => false")
        await alice.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", other)
        await alice.page.get_by_role("heading", name="Elsewhere").first.wait_for()
        event = boris.send(room, "you may see this")
        await worker.run("said => pushed({ json: () => said })", told(service, event))
        assert [one["tag"] for one in await worker.shown()] == [room]
        await worker.run("""async tag => {
          const [notification] = await registration.getNotifications({ tag });
          // Chromium lets a worker focus a page after a real click only.
          await clicked(notification).catch(error => { if (error.name !== 'InvalidAccessError') throw error; });
        }""", room)
        await alice.sees("you may see this")
        # Changes by the user's own action are no news either.
        await alice.page.evaluate("id => { location.hash = 'room/' + encodeURIComponent(id); }", other)
        await alice.page.get_by_role("heading", name="Elsewhere").first.wait_for()
        event = boris.send(room, "and this")
        await worker.run("said => pushed({ json: () => said })", told(service, event))
        assert [one["tag"] for one in await worker.shown()] == [room]
        await alice.entry("Tea").click()
        await worker.shows("shown.length === 0")


@test("being told with the page closed ends with the switch and with signing out")
async def _(test):
    async with subscribed(test) as (alice, worker, service, user, boris, room):
        async def gone():
            await alice.until("() => localStorage.subscribed === undefined && localStorage.pushes === undefined")
            await eventually(worker.page, """async token => {
              const answer = await fetch('/_matrix/client/v3/pushers', { headers: { Authorization: 'Bearer ' + token } });
              return (await answer.json()).pushers.length === 0;
            }""", user.token)

        await open_notifications(alice)
        assert await alice.page.get_by_label("Also when this page is closed").is_checked()
        await alice.picture("settings-web-push")
        await alice.page.set_viewport_size(PHONE)
        await alice.picture("settings-web-push-phone")
        await alice.page.get_by_label("Also when this page is closed").uncheck()
        await gone()
        await alice.page.get_by_label("Also when this page is closed").check()
        await alice.page.wait_for_function("() => localStorage.pushes?.length > 9")
        await alice.page.get_by_label("Show notifications of this browser").uncheck()
        await gone()
        assert await alice.page.get_by_label("Also when this page is closed").count() == 0
        await alice.page.get_by_label("Show notifications of this browser").check()
        await alice.page.get_by_label("Also when this page is closed").check()
        await alice.page.wait_for_function("() => localStorage.pushes?.length > 9")
        await alice.page.get_by_role("button", name="All settings").click()
        await alice.page.get_by_role("tab", name="Profile").click()
        await alice.page.get_by_role("button", name="Sign out").click()
        await alice.dialog.get_by_role("button", name="Sign out").click()
        await alice.page.get_by_role("heading", name="Welcome to Martlet").wait_for()
        await gone()
        # The next token may be another server's.
        await eventually(worker.page, "async () => (await (await caches.open('martlet-errands')).keys()).length === 0")


async def asks_in_vain(person, words):
    """To be told with the page closed: the switch goes back, and these words say why."""
    await open_notifications(person)
    await person.page.get_by_label("Show notifications of this browser").check()
    switch = person.page.get_by_label("Also when this page is closed")
    # click, not check: it does not stay.
    await switch.click()
    await person.page.get_by_text(words).wait_for()
    assert not await switch.is_checked()


# Proves P26
@test("why a browser is not told with the page closed is said in words: no push service, no Web Push of the server, none of the browser")
async def _(test):
    test.own_server()
    server = Server(push_web="false").start()
    try:
        user = User(server.base, "alice")
        async with at_page(test, user, server) as alice:
            await asks_in_vain(alice, "Your server cannot tell this browser")
        async with at_page(test, user, server, "delete window.PushManager") as alice:
            await open_notifications(alice)
            await alice.page.get_by_label("Show notifications of this browser").check()
            await alice.page.get_by_text("This browser tells of messages only while this page is open").wait_for()
            assert await alice.page.get_by_label("Also when this page is closed").count() == 0
    finally:
        server.close()
    server = Server().start()
    try:
        user = User(server.base, "alice")
        # No stub: this Chromium has no push service indeed.
        async with at_page(test, user, server) as alice:
            await asks_in_vain(alice, "The browser's push service or your server did not answer")
            assert user.get("pushers").ok()["pushers"] == []
            # Chromium's own line about it.
            alice.troubles = [trouble for trouble in alice.troubles if "Push API in incognito mode" not in trouble]
    finally:
        server.close()


async def write_offline(alice, base, user, room, texts):
    """Writes into the room without a network. Returns a page of the service worker, which has them to send once no page of the client is open."""
    await alice.sign_in(user)
    await alice.open_room(room)
    worker = await Worker(alice.context, base).open()
    await alice.page.bring_to_front()
    await alice.go_offline()
    for text in texts:
        await alice.write(text)
        await alice.sees(text)
    await eventually(alice.page, """async () => (await caches.has('martlet-errands')) && (await (await caches.open('martlet-errands')).match('page')) !== undefined""")
    return worker


def two_in_tea(base):
    alice, boris = User(base, "alice"), User(base, "boris")
    room = alice.create_room(preset="public_chat", name="Tea")
    boris.join(room)
    boris.send(room, "are you there?")
    return alice, boris, room


# Proves B5
@test("what was written without a network is sent after the page was closed, once and in order, and the page finds it sent")
async def _(test):
    user, boris, room = two_in_tea(test.base)
    async with people(test, "alice", permissions=["background-sync"], fresh=True, whole=True) as alice:
        written = ["yes", "I am", "on a train"]
        worker = await write_offline(alice, test.base, user, room, written)
        refused = await worker.run("() => sendOutbox().then(() => '', error => error.message)")
        assert refused == "a page is open", refused
        await alice.page.close()
        await worker.alone()
        await alice.context.set_offline(False)
        await worker.sync()
        await eventually(worker.page, """async ([token, path, text]) => {
          const answer = await fetch(path, { headers: { Authorization: 'Bearer ' + token } });
          return (await answer.json()).chunk.some(event => event.content.body === text);
        }""", [boris.token, "/_matrix/client/v3/" + room_path(room, "messages") + "?dir=b", written[-1]])
        page = await alice.context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(test.base + "/" + room_fragment(room))
        messages = page.get_by_role("article", name=re.compile(r"\d:\d\d[,:]"))
        await page.get_by_role("article", name=written[-1]).wait_for()
        boris.send(room, "good")
        await page.get_by_role("article", name="good").wait_for()
        await expect(messages).to_have_count(5)
        events = boris.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"]
        said = [event["content"]["body"] for event in events if event["type"] == "m.room.message"]
        assert said == ["are you there?", *written, "good"], said


@test("nothing goes out after the page was closed into a room that became encrypted meanwhile, and the page sends it encrypted")
async def _(test):
    user, boris, room = two_in_tea(test.base)
    async with people(test, "alice", permissions=["background-sync"], fresh=True, whole=True) as alice:
        worker = await write_offline(alice, test.base, user, room, ["secret"])
        await alice.page.close()
        await worker.alone()
        user.put(room_path(room, "state", "m.room.encryption", ""), {"algorithm": "m.megolm.v1.aes-sha2"}).ok()
        await alice.context.set_offline(False)
        await worker.run("() => sendOutbox()")
        page = await alice.context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(test.base + "/" + room_fragment(room))
        await page.get_by_role("article", name="secret").wait_for()

        def said():
            events = boris.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"]
            return [event["content"].get("body") for event in events if event["type"] in ("m.room.message", "m.room.encrypted")]
        async with asyncio.timeout(PATIENCE):
            while len(await asyncio.to_thread(said)) < 2:
                await asyncio.sleep(0.1)
        assert said() == ["are you there?", None]


# Proves B5
@test("edits, reactions, files and answers to what was not sent yet go out after the page was closed, once, as the page would send them")
async def _(test):
    user, boris = User(test.base, "alice"), User(test.base, "boris")
    room = user.create_room(preset="public_chat", name="Tea")
    boris.join(room)
    question = boris.send(room, "are you there?")
    old = user.send(room, "on my wya")
    regretted = user.send(room, "never mind")
    async with people(test, "alice", permissions=["background-sync"], fresh=True, whole=True) as alice:
        await alice.sign_in(user)
        await alice.open_room(room)
        await alice.sees("never mind")
        worker = await Worker(alice.context, test.base).open()
        await alice.page.bring_to_front()
        await alice.go_offline()
        await alice.message_menu("on my wya", "Edit")
        await alice.composer.fill("on my **way**")
        await alice.page.keyboard.press("Enter")
        await alice.sees("on my way")
        await alice.message_menu("are you there?", "React")
        await alice.dialog.get_by_label("Search emoji").fill("thumbs up")
        await alice.dialog.get_by_role("button").filter(has_text="👍").first.click()
        await alice.message_menu("never mind", "Delete for everyone")
        await alice.dialog.get_by_role("button", name="Delete for everyone").click()
        await alice.write("here is the map")
        await alice.sees("here is the map")
        # The bar at a message has buttons for what is not sent yet, too.
        waiting = alice.message("here is the map")
        await waiting.hover()
        await waiting.get_by_role("button", name="Add a reaction").click()
        await alice.dialog.get_by_label("Search emoji").fill("thumbs up")
        await alice.dialog.get_by_role("button").filter(has_text="👍").first.click()
        image = base64.b64encode(picture(90, 60)).decode()
        await alice.composer.evaluate(GIVE, ["paste", image, "map.png"])
        await send_files(alice)
        await alice.page.get_by_role("button", name="Open image map.png").wait_for()
        await alice.write("that is all")
        await alice.sees("that is all")
        await eventually(alice.page, """async () => (await caches.has('martlet-errands')) && (await (await caches.open('martlet-errands')).match('page')) !== undefined""")
        await alice.page.close()
        await worker.alone()
        await alice.context.set_offline(False)
        await worker.sync()
        await eventually(worker.page, """async ([token, path]) => {
          const answer = await fetch(path, { headers: { Authorization: 'Bearer ' + token } });
          return (await answer.json()).chunk.some(event => event.content.body === 'that is all');
        }""", [boris.token, "/_matrix/client/v3/" + room_path(room, "messages") + "?dir=b"])

        def check():
            events = [event for event in boris.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"] if event["sender"] == user.user_id]
            by_type = lambda kind: [event["content"] for event in events if event["type"] == kind]
            messages = [content for content in by_type("m.room.message") if content]
            edit = next(content for content in messages if "m.new_content" in content)
            assert edit["m.relates_to"] == {"rel_type": "m.replace", "event_id": old}, edit
            assert (edit["body"], edit["m.new_content"]["formatted_body"]) == ("* on my **way**", "on my <strong>way</strong>"), edit
            new = [(event["content"]["body"], event["event_id"]) for event in events if event["content"].get("body") in ("here is the map", "map.png", "that is all")]
            assert [body for body, _ in new] == ["here is the map", "map.png", "that is all"], new
            reactions = [content["m.relates_to"] for content in by_type("m.reaction")]
            assert reactions == [{"rel_type": "m.annotation", "event_id": event, "key": "👍"} for event in (question, new[0][1])], reactions
            file = next(content for content in messages if content["body"] == "map.png")
            assert file["url"].startswith("mxc://"), file
            assert boris.get(room_path(room, "event", regretted)).ok()["content"] == {}
            return len(events)

        count = check()
        page = await alice.context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(test.base + "/" + room_fragment(room))
        await page.get_by_role("article", name="that is all").wait_for()
        boris.send(room, "good")
        await page.get_by_role("article", name="good").wait_for()
        # Nothing waits any more: what follows goes out behind all else.
        await page.get_by_role("textbox").fill("the end")
        await page.keyboard.press("Enter")
        await eventually(worker.page, """async ([token, path]) => {
          const answer = await fetch(path, { headers: { Authorization: 'Bearer ' + token } });
          return (await answer.json()).chunk.some(event => event.content.body === 'the end');
        }""", [boris.token, "/_matrix/client/v3/" + room_path(room, "messages") + "?dir=b"])
        assert check() == count + 1
