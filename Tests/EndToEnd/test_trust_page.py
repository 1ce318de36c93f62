"""What the page says of keys and devices that change, and what a person does about it; verifications by codes and by numbers.

Tests in which two browsers verify each other take about ten seconds, and most others more than five: a browser takes two until it has a device, and each
step of a verification waits for a sync of the other side.
"""
import asyncio
import contextlib
import re

from accessibility import check
from browser import MAY_CALL, expect, in_room, people, room_fragment, send_files
from client import PASSWORD, User
from harness import test
from qr_code import read_path
from test_encrypted_page import has_device, has_identity, open_encryption, save_recovery_key
from test_encryption import devices, peers, reads
from test_hostile import dot
from test_nio import ENCRYPTION
from test_terminal import Terminal
from test_verification import Verifying
from test_verification_page import banner, both_compare, choose_emoji, show_details, two_people

NEEDS_BROWSER = True


def encrypted_room(one, *others, name="Vault"):
    room = one.create_room(preset="private_chat", name=name, initial_state=[ENCRYPTION], invite=[other.user_id for other in others])
    for other in others:
        other.join(room)
    return room


# ---- News of keys

@test("a new device of a friend is no alarm and is named where they are shown; the friend is asked whether it was them, also after a reload")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    async with two_people(test, (alice, boris)) as (one, other):
        await other.write("so that our devices know each other")
        await one.sees("so that our devices know each other")
        await show_details(one)
        await one.details.get_by_text("Not verified", exact=True).wait_for()
        async with people(test, "boris2") as second:
            await second.sign_in(boris)
            asks = banner(other).get_by_text(re.compile("^New sign-in: Chrome on Linux, 30 November.*Was this you"))
            await asks.wait_for()
            await other.picture("was-this-you")
            await check(other, "was this you")
            await one.details.get_by_text("has not verified these devices").wait_for()
            await one.picture("unsigned-device")
            await expect(banner(one)).to_be_hidden()
            await other.page.reload()
            await asks.wait_for()
            await banner(other).get_by_role("button", name="Yes").click()
            await expect(banner(other)).to_be_hidden()
            # The first list of the new device is no news.
            await banner(second).get_by_text("This browser is not verified").wait_for()


@test("when a friend makes new keys, a line above the composer says so and nothing is sent until the person goes on")
async def _(test):
    alice, bob = User(test.base, "alice"), User(test.base, "bob")
    room = encrypted_room(alice, bob)
    async with peers(test, room, [bob], ["sliding"]) as (peer,), in_room(test, room, {"alice": alice}) as page:
        await has_identity(alice)
        await peer.ask("setUpRecovery")
        await peer.ask("send", text="with the first keys")
        await page.sees("with the first keys")
        await peer.ask("resetIdentity", text=PASSWORD)
        bar = page.page.locator(".ma-changed-keys")
        await bar.get_by_text(re.compile("^The keys of .* have changed")).wait_for()
        await page.picture("changed-keys")
        await check(page, "changed keys")
        await page.write("to whom")
        await page.page.get_by_role("article", name="Not sent").wait_for()
        # Between the messages of before and after, too.
        line = page.page.get_by_role("article").filter(has_text=re.compile("^The keys of .* have changed"))
        await line.get_by_role("button", name="What to do").click()
        await page.dialog.get_by_role("button", name=re.compile("^Verify ")).wait_for()
        await page.picture("changed-keys-person")
        await page.page.keyboard.press("Escape")
        await page.page.reload()
        await bar.get_by_role("button", name="Go on anyway").click()
        await expect(bar).to_be_hidden()
        await page.page.get_by_role("button", name="Try again").click()
        await reads(peer, "to whom")
        rows = await page.page.get_by_role("article").all_inner_texts()
        places = [next(index for index, row in enumerate(rows) if words in row) for words in ("with the first keys", "have changed", "to whom")]
        assert places == sorted(places), rows
        await page.picture("changed-keys-line")


# ---- What a person decides

@contextlib.asynccontextmanager
async def two_devices(test, user, room, **options):
    """Two browsers of a user, of which each has verified the other."""
    async with in_room(test, room, {"one": user}, **options) as one:
        await has_identity(user)
        async with people(test, "two", **options) as two:
            await two.sign_in(user, room_fragment(room))
            await banner(two).get_by_role("button", name="Confirm it’s you").click()
            await two.dialog.get_by_role("button", name="Use another device").click()
            await banner(one).get_by_text("asks to be verified").wait_for()
            await banner(one).get_by_role("button", name=re.compile("^(Verify|Yes, verify it)$")).click()
            await choose_emoji(two, one)
            await both_compare(one, two)
            for person in (one, two):
                await person.dialog.get_by_role("button", name="They match").click()
            for person in (one, two):
                await person.dialog.get_by_text("is verified now").wait_for()
                await person.dialog.get_by_role("button", name="Close", exact=True).last.click()
            # Whom the person has verified they need not be asked about.
            await expect(banner(one)).to_be_hidden()
            yield one, two


async def loses_keys(route):
    """A sync without what other devices have sent."""
    answer = await route.fetch()
    try:
        body = await answer.json()
    except ValueError:
        return await route.fulfill(response=answer)
    for place in (body.get("to_device", {}), body.get("extensions", {}).get("to_device", {})):
        if place.get("events"):
            place["events"] = []
    await route.fulfill(response=answer, json=body)


@test("a message whose key was lost on the way is read once the person asks their other devices for it")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    async with two_devices(test, alice, room, service_workers="block") as (one, two):
        await two.page.route(re.compile(r"/sync\b"), loses_keys)
        # One that is under way goes by.
        async with two.page.expect_response(re.compile(r"/sync\b")):
            alice.put(f"user/{alice.user_id}/account_data/org.example.wake", {"now": 1}).ok()
        # A minute would be long.
        await two.page.evaluate("(() => { const { now } = Date; Date.now = () => now.call(Date) + 56_000; })()")
        await one.write("lost on the way")
        await two.page.get_by_role("article").filter(has_text="Waiting for the key").first.wait_for()
        unread = two.page.get_by_role("article").filter(has_text="The key of this message has not come. You can ask your other devices")
        await unread.first.wait_for()
        await two.picture("key-overdue")
        # What is under way may end as it likes.
        await two.page.unroute_all(behavior="ignoreErrors")
        await unread.first.click(button="right")
        await two.choose("Ask my other devices for the key")
        await two.page.get_by_text("Your other devices were asked").wait_for()
        await two.sees("lost on the way")


@test("the person chooses who gets the keys of messages: those who get none are told why, and the choice stays after a reload")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = encrypted_room(alice, boris)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_identity(alice), has_identity(boris))
        choice = one.dialog.get_by_label("Who gets the keys of your messages")
        await open_encryption(one)
        await choice.select_option("Only people you have verified")
        await one.picture("readers")
        await one.page.keyboard.press("Escape")
        await one.write("for nobody yet")
        await other.page.get_by_text("only writes to verified devices").first.wait_for()
        await one.page.reload()
        await open_encryption(one)
        await expect(choice).to_have_value("2")
        await choice.select_option("0")
        await one.page.keyboard.press("Escape")
        await one.write("for everybody")
        await other.sees("for everybody")


RECORDS = """async () => {
  const names = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((then, failed) => Object.assign(indexedDB.open(name), { onsuccess: e => then(e.target.result), onerror: failed }));
    for (const table of database.objectStoreNames) {
      const all = database.transaction(table).objectStore(table).getAllKeys();
      await new Promise(then => { all.onsuccess = then; });
      names.push(...all.result);
    }
    database.close();
  }
  return names.filter(name => String(name).startsWith('e/'));
}"""


@test("signing out warns of messages that nobody could read any more, only while there is no recovery key, and deletes the keys")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    async with in_room(test, room, {"alice": alice}) as one:
        await has_identity(alice)

        async def ask_to_leave():
            await one.page.get_by_role("button", name="Your profile").click()
            await one.page.get_by_role("menuitem", name="Sign out").click()

        warning = one.dialog.get_by_text("Nobody can read your encrypted messages then")
        await ask_to_leave()
        await warning.wait_for()
        await one.picture("sign-out-loses-keys")
        await one.dialog.get_by_role("button", name="Cancel").click()
        await open_encryption(one)
        await one.dialog.get_by_role("button", name="Set up recovery").click()
        await save_recovery_key(one)
        await one.page.keyboard.press("Escape")
        assert await one.page.evaluate(RECORDS)
        await ask_to_leave()
        await one.dialog.get_by_role("button", name="Sign out").wait_for()
        await expect(warning).to_have_count(0)
        await one.dialog.get_by_role("button", name="Sign out").click()
        await one.page.get_by_role("tab", name="Create account").wait_for()
        assert await one.page.evaluate(RECORDS) == []


@test("the browser is asked once to keep the keys, not again after a reload, and the technical details say what it answered")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    async with people(test, "alice") as one:
        await one.page.add_init_script("""navigator.storage.persist = async () => {
          sessionStorage.asked = 1 + Number(sessionStorage.asked ?? 0);
          return false;
        };
        navigator.storage.persisted = async () => sessionStorage.kept === '1';""")
        await one.sign_in(alice, room_fragment(room))
        await has_device(alice)
        await one.until("() => sessionStorage.asked === '1'")
        await one.page.reload()
        await open_encryption(one)
        await one.dialog.get_by_text("Technical details").click()
        report = one.dialog.locator(".ma-source")
        await expect(report).to_contain_text("storage: the browser may drop it")
        await one.page.evaluate("() => { sessionStorage.kept = '1'; }")
        await one.dialog.get_by_text("Technical details").dblclick()
        await expect(report).to_contain_text("storage: the browser keeps it")
        assert await one.page.evaluate("sessionStorage.asked") == "1"


# ---- Files

@test("a picture that was changed on the way is not shown, and is said to be damaged; what is not a picture is saved as bytes, never opened")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = encrypted_room(alice, boris)

    async def damage(route):
        answer = await route.fetch()
        body = bytearray(await answer.body())
        body[len(body) // 2] ^= 1
        await route.fulfill(response=answer, body=bytes(body))

    async with in_room(test, room, {"alice": alice, "boris": boris}, service_workers="block") as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        await other.page.route("**/media/download/**", damage)

        async def send(name, kind, content):
            async with one.page.expect_file_chooser() as chooser:
                await one.page.get_by_role("button", name="Attach a file").click()
            await (await chooser.value).set_files([{"name": name, "mimeType": kind, "buffer": content}])
            await send_files(one)

        await send("dot.png", "image/png", dot())
        damaged = other.feed.get_by_role("img", name="This file is damaged")
        await damaged.first.wait_for()
        await expect(other.loaded(other.feed.get_by_role("img"))).to_have_count(0)
        assert not await damaged.first.get_attribute("src")
        await other.picture("damaged-picture")
        await other.page.unroute("**/media/download/**")
        # Their types are the sender's word.
        await other.page.evaluate("""() => {
          const make = URL.createObjectURL;
          globalThis.types = [];
          URL.createObjectURL = blob => { types.push(blob.type); return make.call(URL, blob); };
        }""")
        for name, kind in (("page.html", "text/html"), ("drawing.svg", "image/svg+xml")):
            content = b"<svg xmlns='http://www.w3.org/2000/svg'><script>document.title = 'run'</script></svg>"
            await send(name, kind, content)
            entry = other.feed.get_by_text(name).first
            await entry.wait_for()
            async with other.page.expect_download() as saving:
                await entry.click()
            with open(await (await saving.value).path(), "rb") as file:
                assert file.read() == content
        types = await other.page.evaluate("types")
        assert types and set(types) == {"application/octet-stream"}, types


# ---- Verification

# In the place of the browser's own, of which there is none on this system: it finds what the test gives it.
DETECTOR = """globalThis.BarcodeDetector = class {
  async detect() { return globalThis.code ? [{ rawValue: globalThis.code }] : []; }
};"""


@test("one person scans the code that the other's page shows: both are verified once the other has seen that it worked")
async def _(test):
    async with two_people(test, **MAY_CALL) as (one, other):
        for person in (one, other):
            await person.page.add_init_script(DETECTOR)
            await person.page.reload()
            await person.composer.wait_for()
        await show_details(one)
        await one.details.get_by_role("button", name="Verify ").click()
        await banner(other).get_by_role("button", name="Verify").click()
        drawn = one.dialog.get_by_role("img", name="QR code for the other device")
        await drawn.wait_for()
        await one.picture("verify-code")
        side = int((await drawn.get_attribute("viewBox")).split()[-1])
        code = read_path(await drawn.locator("path").get_attribute("d"), side)
        assert code.startswith(b"MATRIX\x02"), code
        await other.dialog.get_by_role("button", name="Scan the other code").click()
        await other.dialog.get_by_text("Hold the code of the other device").wait_for()
        await other.page.evaluate("bytes => { globalThis.code = String.fromCharCode(...bytes); }", list(code))
        await one.dialog.get_by_text("has scanned the code").wait_for()
        await one.picture("code-scanned")
        await one.dialog.get_by_role("button", name="Yes").click()
        for person in (one, other):
            await person.dialog.get_by_text("is verified.").wait_for()


@test("a page and a terminal verify each other by numbers, which the page shows beside the emoji")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    with Terminal(test) as terminal:
        async with in_room(test, room, {"alice": alice}) as one:
            await has_identity(alice)
            session = await asyncio.to_thread(terminal.log_in, alice)
            await banner(one).get_by_text("Was this you?").wait_for()
            with Verifying(terminal, "--numbers") as asking:
                # It was asked about already: one question, not two.
                await banner(one).get_by_text("asks to be verified. Was this you?").wait_for()
                await banner(one).get_by_role("button", name="Yes, verify it").click()
                shown = await asyncio.to_thread(asking.strings)
                await one.dialog.get_by_text("The other side shows numbers").click()
                await expect(one.dialog.locator(".ma-sas-numbers")).to_have_text(" – ".join(map(str, shown["numbers"])))
                await one.picture("verify-numbers")
                await check(one, "comparing numbers")
                asking.say("y")
                await one.dialog.get_by_role("button", name="They match").click()
                assert (await asyncio.to_thread(asking.result))["verified"]
            await one.dialog.get_by_text("Your other device is verified now").wait_for()
            await one.dialog.get_by_role("button", name="Close", exact=True).last.click()
            await expect(banner(one)).to_be_hidden()
            status = (await asyncio.to_thread(terminal.json, "recovery"))[0]
            assert status["verified"] and session["device_id"] in devices(alice), status


# ---- The recovery key

# Seven days later than it is.
LATER = """(() => {
  const { now } = Date, ahead = 7 * 24 * 60 * 60 * 1000 + 1000;
  Date.now = () => now.call(Date) + ahead;
})()"""


@test("who has written encrypted messages is asked once to make a recovery key; put off, they are asked again a week later, and not once there is one")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    async with in_room(test, room, {"alice": alice}) as one:
        await has_identity(alice)
        card = one.page.locator(".ma-recovery-card")
        await expect(banner(one)).to_be_hidden()
        await expect(card).to_be_hidden()
        await one.write("my first secret")
        await card.get_by_text("are in this browser only").wait_for()
        await one.picture("recovery-card")
        await check(one, "asking for a recovery key")
        await card.get_by_role("button", name="Not now").click()
        await expect(card).to_be_hidden()
        await one.page.reload()
        await one.write("my second secret")
        await one.sees("my second secret")
        await expect(card).to_be_hidden()
        await one.page.add_init_script(LATER)
        await one.page.reload()
        await card.get_by_role("button", name="Make a recovery key").click()
        await one.dialog.get_by_text("Write it down").wait_for()
        await save_recovery_key(one)
        await expect(card).to_be_hidden()


@test("on a phone: from ‘Confirm it’s you’ to the field for the recovery key, which has the focus; whoever cancels beginning anew is back there")
async def _(test):
    alice = User(test.base, "alice")
    room = encrypted_room(alice)
    async with peers(test, room, [alice], ["sliding"]) as (peer,):
        await peer.ask("setUpRecovery")
        async with people(test, "alice", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2) as one:
            await one.sign_in(alice, room_fragment(room))
            await one.composer.wait_for()
            field = one.dialog.get_by_label("Recovery key or passphrase")
            for close in ("Cancel", "Escape", "Back"):
                await banner(one).get_by_role("button", name="Confirm it’s you").tap()
                await one.dialog.get_by_role("button", name="Enter recovery key").tap()
                await expect(field).to_be_focused()
                await one.dialog.get_by_role("button", name="I have neither").tap()
                await one.page.get_by_role("dialog", name="Start encryption anew?").wait_for()
                if close == "Cancel":
                    await one.dialog.get_by_role("button", name="Cancel").tap()
                elif close == "Escape":
                    await one.page.keyboard.press("Escape")
                else:
                    await one.page.evaluate("history.back()")
                await expect(one.page.get_by_role("dialog")).to_have_count(1)
                await one.until("() => history.state?.layer === 1")
                await expect(field).to_be_visible()
                await field.tap()
                await one.page.keyboard.type("EsTc 1234 5678")
                await one.page.get_by_role("button", name="Close").tap()
                await expect(one.page.get_by_role("dialog")).to_have_count(0)
                await one.until("() => !history.state?.layer")
                assert await one.composer.inner_text() == ""
