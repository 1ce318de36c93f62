"""Encrypted rooms in the page: two browsers, a client of the SDK and matrix-nio read each other; the server sees ciphertext only."""
import asyncio
import pathlib

import nio

from accessibility import check
from browser import expect, in_room, open_settings, people, room_fragment, send_files
from client import PASSWORD, User, room_path
from encryption_storm import everything_in_the_backup
from harness import PATIENCE, test
from test_encryption import devices, peers, reads
from test_hostile import dot
from test_nio import ENCRYPTION, Client, good, sync_until, text

NEEDS_BROWSER = True


async def has_device(user):
    """Until others can write to a device of the user."""
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(devices, user):
            await asyncio.sleep(0.05)


async def has_identity(user):
    """Until the user's device is signed."""
    await has_device(user)
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = (await asyncio.to_thread(user.post, "keys/query", {"device_keys": {user.user_id: []}})).ok()
            keys = answer.get("self_signing_keys", {}).get(user.user_id)
            if keys and any(len(device["signatures"][user.user_id]) > 1 for device in answer["device_keys"][user.user_id].values()):
                return
            await asyncio.sleep(0.05)


def said(user, room):
    """Types of what was said in the room, the oldest first, as the server has it."""
    events = user.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"]
    return [event["type"] for event in events if event["type"] in ("m.room.message", "m.room.encrypted")]


async def building(person):
    """The server still builds the encryption of the person's page, until what is returned is called."""
    built = asyncio.Event()

    async def answer(route):
        if built.is_set():
            await route.continue_()
        else:
            await route.fulfill(status=503, headers={"Retry-After": "1"}, body="still being built")

    await person.page.route("**/EncryptionWorker.wasm", answer)
    return built.set


@test("a page, a client of the SDK and matrix-nio write and read in an encrypted room; after a reload all of it is there")
async def _(test):
    alice, bob = User(test.base, "alice"), User(test.base, "bob")
    async with Client(test, "nia") as nia:
        room = alice.create_room(preset="private_chat", name="Vault", initial_state=[ENCRYPTION], invite=[bob.user_id, nia.user_id])
        bob.join(room)
        good(await nia.join(room), nio.JoinResponse)
        heard = []
        nia.add_event_callback(lambda _, event: heard.append(event.body), nio.RoomMessageText)
        async with peers(test, room, [bob], ["sliding"]) as (peer,), in_room(test, room, {"alice": alice}) as page:
            await has_device(alice)
            await sync_until(nia, lambda: room in nia.rooms and len(nia.rooms[room].users) == 3)
            # His device is signed.
            await peer.ask("setUpRecovery")
            await peer.ask("send", text="hello from bob")
            await page.sees("hello from bob")
            await page.write("hello from the page")
            await page.sees("hello from the page")
            await reads(peer, "hello from bob", "hello from the page")
            await sync_until(nia, lambda: heard == ["hello from bob", "hello from the page"])
            good(await nia.room_send(room, "m.room.message", text("hello from nia"), ignore_unverified_devices=True), nio.RoomSendResponse)
            await page.sees("hello from nia")
            # Her device is not signed; clear text is worse.
            await page.page.get_by_title("Sent by a device that its owner has not verified.").wait_for()
            await asyncio.to_thread(bob.send, room, "in clear text")
            await page.page.get_by_title("Not encrypted", exact=True).wait_for()
            assert await page.page.locator(".mg-warning").count() == 2, "others have a sign"
            await page.picture("encrypted-room")
            await page.page.reload()
            for words in ("hello from bob", "hello from the page", "hello from nia"):
                await page.sees(words)
            await page.write("after a reload")
            await reads(peer, "hello from bob", "hello from the page", "hello from nia", "after a reload")
        assert said(alice, room) == ["m.room.encrypted"] * 3 + ["m.room.message", "m.room.encrypted"]


# Proves E1, E12
@test("a person makes an encrypted room, another joins it, and they talk; neither server nor browser has a word of it in clear text")
async def _(test):
    users = {"alice": User(test.base, "alice"), "boris": User(test.base, "boris")}
    async with people(test, "alice", "boris") as (alice, boris):
        await alice.sign_in(users["alice"])
        await boris.sign_in(users["boris"])
        await alice.page.get_by_role("button", name="New conversation").first.click()
        await alice.dialog.get_by_role("tab", name="New room").click()
        await alice.dialog.get_by_label("Room name").fill("Bank")
        await alice.dialog.get_by_label("Invite (optional)").press_sequentially(users["boris"].user_id + " ")
        await alice.dialog.get_by_label("End-to-end encrypted").check()
        await alice.picture("new-encrypted-room")
        await alice.dialog.get_by_role("button", name="Create room").click()
        await alice.heading("Bank").wait_for()
        await alice.page.get_by_text("End-to-end encrypted").first.wait_for()
        await boris.entry("Bank").click()
        await boris.page.get_by_role("button", name="Accept").click()
        await boris.composer.wait_for()
        await has_device(users["boris"])
        await alice.write("the combination is 1234")
        await boris.sees("the combination is 1234")
        await boris.write("thank you kindly")
        await alice.sees("thank you kindly")
        await boris.picture("encrypted-answer")
        room = next(iter(users["alice"].sync()["rooms"]["join"]))
        assert said(users["alice"], room) == ["m.room.encrypted"] * 2
        for person in (alice, boris):
            # The list is kept when the page goes away.
            await person.page.reload()
            await person.entry("Bank").wait_for()
            found = await person.readable("combination", "thank you kindly", users[person.name].token, "ed25519")
            assert not found, f"{found} can be read in the browser of {person.name}"


@test("in a room that was not encrypted its administrator turns encryption on, once asked, and what follows is encrypted")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Parlour", invite=[boris.user_id])
    boris.join(room)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await one.write("in clear text")
        await other.sees("in clear text")
        await one.page.get_by_role("button", name="Members and settings").click()
        await one.room_settings("Access")
        await one.dialog.get_by_role("button", name="Turn on encryption").click()
        await one.dialog.last.get_by_text("This cannot be turned off later").wait_for()
        await one.picture("turn-on-encryption")
        await one.dialog.last.get_by_role("button", name="Turn on", exact=True).click()
        await one.dialog.get_by_text("End-to-end encrypted").wait_for()
        await one.page.keyboard.press("Escape")
        await asyncio.gather(has_device(alice), has_device(boris))
        await other.page.get_by_text("End-to-end encrypted").first.wait_for()
        await one.write("under lock and key")
        await other.sees("under lock and key")
        await other.write("I can read it")
        await one.sees("I can read it")
        assert said(alice, room) == ["m.room.message", "m.room.encrypted", "m.room.encrypted"]


async def save_recovery_key(person):
    """Of the dialog that shows a new one."""
    shown = person.page.get_by_role("dialog", name="Your recovery key")
    await shown.get_by_role("button", name="I have saved it").click()
    await shown.wait_for(state="detached")


async def open_encryption(person):
    await open_settings(person.page)
    await person.dialog.get_by_role("tab", name="Encryption").click()


# Proves E8, E9
@test("a person makes a recovery key in one browser and reads old messages in another with it; a wrong one is refused")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Archive", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        await one.write("from long ago")
        await other.sees("from long ago")
        await other.write("so it is")
        await one.sees("so it is")
        await open_encryption(one)
        await one.dialog.get_by_text("This browser is verified.").wait_for()
        await one.dialog.get_by_role("button", name="Set up recovery").click()
        await one.dialog.get_by_text("Write it down").wait_for()
        key = await one.dialog.locator(".ma-recovery-key").inner_text()
        await one.picture("recovery-key")
        await check(one, "a new recovery key")
        # Only who says so has it.
        await one.page.keyboard.press("Escape")
        await one.page.mouse.click(5, 5)
        await save_recovery_key(one)
        assert len(key.split()) == 12, "48 characters in groups of four"
        await one.dialog.get_by_text("Technical details").click()
        await one.dialog.locator(".ma-source").filter(has_text="backup: on").wait_for()
        report = await one.dialog.locator(".ma-source").inner_text()
        assert "identity: verified" in report and "fault: none" in report and not any(word in report for word in [*key.split(), room, alice.user_id]), report
        await one.picture("technical-details")
        await check(one, "technical details")
        # It is not there any more.
        for tab in ("Devices", "Encryption"):
            await one.dialog.get_by_role("tab", name=tab).click()
        assert key.split()[0] not in await one.dialog.inner_text()
        # Keys go into the backup a few seconds after they came.
        async with asyncio.timeout(PATIENCE):
            while (await asyncio.to_thread(alice.get, "room_keys/version")).ok()["count"] < 2:
                await asyncio.sleep(0.2)
        async with people(test, "alice2") as third:
            await third.sign_in(alice, room_fragment(room))
            await third.page.get_by_text("Verify this device in the settings to read this").first.wait_for()
            await open_encryption(third)
            await third.dialog.get_by_text("This browser is not verified").wait_for()
            field = third.dialog.get_by_label("Recovery key or passphrase")
            await field.fill(key[:-4] + "abcd")
            await third.dialog.get_by_role("button", name="Verify with recovery key").click()
            await third.dialog.get_by_text("This is not the recovery key").wait_for()
            await third.picture("wrong-recovery-key")
            await field.fill(key)
            await third.dialog.get_by_role("button", name="Verify with recovery key").click()
            await third.dialog.get_by_text("This browser is verified.").wait_for()
            await third.page.keyboard.press("Escape")
            await third.sees("from long ago")
            await third.sees("so it is")
            await third.write("and I am back")
            await other.sees("and I am back")


# A client of the SDK writes forty messages, and the page is loaded three times: ten seconds.
# Proves E8
@test("a page that is loaded anew amid recovery, while it is signed and while keys of the backup come, has all of them in the end")
async def _(test):
    alice = User(test.base, "alice")
    # A key for each message: they come in more than one slice.
    state = ENCRYPTION | {"content": ENCRYPTION["content"] | {"rotation_period_msgs": 1}}
    room = alice.create_room(preset="private_chat", name="Archive", initial_state=[state])
    written = [f"message {number} of forty" for number in range(40)]
    async with peers(test, room, [alice], ["v3"]) as (desk,):
        for text in written:
            await desk.ask("send", text=text)
        await reads(desk, *written)
        key = await everything_in_the_backup(desk)
    async with people(test, "alice", viewport={"width": 1280, "height": 4000}) as person:
        await person.sign_in(alice, room_fragment(room))
        verified, field = person.dialog.get_by_text("This browser is verified."), person.dialog.get_by_label("Recovery key or passphrase")
        for step in ("/keys/signatures/upload", "/room_keys/keys", "/room_keys/keys", None):
            await open_encryption(person)
            await verified.or_(field).first.wait_for()
            if not await field.is_visible():
                break
            await field.fill(key)
            button = person.dialog.get_by_role("button", name="Verify with recovery key")
            if step is None:
                await button.click()
                break
            async with person.page.expect_request(lambda request, step=step: step in request.url):
                await button.click()
            await person.page.reload()
        await verified.wait_for()
        await person.page.keyboard.press("Escape")
        for text in written:
            await person.sees(text)


# Two browsers one after the other, of which the second waits for the keys of both the backup and the device: eleven seconds.
# Proves E11
@test("who has signed out of every browser reads with the recovery key what was written to them meanwhile")
async def _(test):
    alice, bob = User(test.base, "alice"), User(test.base, "bob")
    room = alice.create_room(preset="private_chat", name="Harbour", invite=[bob.user_id], initial_state=[ENCRYPTION])
    bob.join(room)
    async with peers(test, room, [bob], ["v3"]) as (peer,):
        async with in_room(test, room, {"alice": alice}) as one:
            await has_identity(alice)
            await open_encryption(one)
            await one.dialog.get_by_role("button", name="Set up recovery").click()
            key = await one.dialog.locator(".ma-recovery-key").inner_text()
            await save_recovery_key(one)
            await one.dialog.get_by_text("can be read later, with your recovery key").wait_for()
            await one.picture("away-ready")
        await asyncio.to_thread(alice.post, "logout/all")
        async with asyncio.timeout(PATIENCE):
            while len(await asyncio.to_thread(devices, bob, alice)) != 1:
                await asyncio.sleep(0.1)
        await peer.ask("send", text="while you were away")
        async with asyncio.timeout(PATIENCE):
            while "m.room.encrypted" not in await asyncio.to_thread(said, bob, room):
                await asyncio.sleep(0.1)
        again = User(test.base, login_as=alice)
        async with people(test, "again") as two:
            await two.sign_in(again, room_fragment(room))
            await two.page.get_by_text("Verify this device in the settings to read this").first.wait_for()
            await open_encryption(two)
            await two.dialog.get_by_label("Recovery key or passphrase").fill(key)
            await two.dialog.get_by_role("button", name="Verify with recovery key").click()
            await two.dialog.get_by_text("You can read the messages now that were sent while you were signed out everywhere.").wait_for()
            await two.picture("away-read")
            await check(two, "keys of messages sent while signed out")
            await two.page.keyboard.press("Escape")
            await two.sees("while you were away")
            # Another device hears of what is sent from now on.
            await two.write("back again")
            await reads(peer, "while you were away", "back again")


@test("pictures and files of an encrypted room are encrypted: another browser shows and saves them, the server has neither names nor contents")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Album", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    square = boris.create_room(preset="private_chat", name="Square")
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        picture, words = dot(), b"the plan is secret\n" * 1000
        async with one.page.expect_file_chooser() as chooser:
            await one.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files([{"name": "dot.png", "mimeType": "image/png", "buffer": picture}])
        await send_files(one)
        await expect(other.loaded(other.feed.get_by_role("img", name="dot.png"))).to_have_count(1)
        async with one.page.expect_file_chooser() as chooser:
            await one.page.get_by_role("button", name="Attach a file").click()
        await (await chooser.value).set_files([{"name": "plan.txt", "mimeType": "text/plain", "buffer": words}])
        await send_files(one)
        entry = other.feed.get_by_text("plan.txt").first
        await entry.wait_for()
        async with other.page.expect_download() as download:
            await entry.click()
        with open(await (await download.value).path(), "rb") as file:
            assert file.read() == words
        await other.picture("encrypted-files")
        events = [event for event in alice.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"] if event["type"] == "m.room.encrypted"]
        assert len(events) == 2 and "plan" not in str(events) and "mxc" not in str(events)
        # What is written leaves its encryption only if the person says so.
        await one.write("the plan in words")
        await other.sees("the plan in words")
        await other.message_menu("the plan in words", "Forward…")
        await other.dialog.get_by_role("checkbox", name="Square").check()
        await other.dialog.get_by_role("button", name="Forward", exact=True).click()
        asks = other.page.get_by_role("dialog", name="In Square messages are not encrypted")
        await asks.wait_for()
        await other.picture("forward-unencrypted")
        await asks.get_by_role("button", name="Cancel").click()
        await other.dialog.get_by_role("button", name="Close").click()
        # Where nothing is encrypted the keys of the file would be told to everybody.
        await other.message_menu("plan.txt", "Forward…")
        await other.dialog.get_by_role("checkbox", name="Square").check()
        await other.dialog.get_by_role("button", name="Forward", exact=True).click()
        await other.dialog.get_by_text("Square is not encrypted, and a file of an encrypted chat cannot be forwarded there").wait_for()
        assert not [event for event in boris.get(room_path(square, "messages"), dir="b", limit=10).ok()["chunk"] if event["type"] == "m.room.message"]


@test("encryption whose program is still being built says so; what was written goes out once it is there")
async def _(test):
    alice = User(test.base, "alice")
    room = alice.create_room(preset="private_chat", name="Early", initial_state=[ENCRYPTION])
    async with people(test, "alice", service_workers="block") as one:
        finish = await building(one)
        await one.sign_in(alice, room_fragment(room))
        words = one.page.get_by_role("status").filter(has_text="still building")
        await words.wait_for()
        await one.write("patience")
        await one.sees("patience")
        await one.picture("encryption-still-built")
        finish()
        await expect(words).to_have_count(0)
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(said, alice, room):
                await asyncio.sleep(0.1)
        assert said(alice, room) == ["m.room.encrypted"]


# Proves E6, E7
@test("a page that cannot load its Worker because the network is gone reads and writes once it is back")
async def _(test):
    alice, bob = User(test.base, "alice"), User(test.base, "bob")
    room = alice.create_room(preset="private_chat", name="Vault", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    lost = []

    async def lose(route):
        lost.append(route.request.url)
        await (route.abort("internetdisconnected") if len(lost) < 3 else route.continue_())

    async with peers(test, room, [bob], ["sliding"]) as (peer,), people(test, "alice") as alice_page:
        await alice_page.page.context.route("**/encryption-worker*.js*", lose)
        await alice_page.sign_in(alice, room_fragment(room))
        await has_device(alice)
        assert len(lost) >= 3, lost
        await peer.ask("send", text="hello from bob")
        await alice_page.sees("hello from bob")
        await alice_page.write("hello from the page")
        await reads(peer, "hello from bob", "hello from the page")


@test("without another device and a recovery key encryption begins anew with the password; others decide before they write to the new keys")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Phoenix", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with people(test, "boris") as other:
        await other.sign_in(boris, room_fragment(room))
        async with in_room(test, room, {"alice": alice}) as one:
            await asyncio.gather(has_device(alice), has_device(boris))
            await open_encryption(one)
            await one.dialog.get_by_text("This browser is verified.").wait_for()
            await one.page.keyboard.press("Escape")
            await other.write("to the first")
            await one.sees("to the first")
        async with people(test, "alice2") as two:
            await two.sign_in(alice, room_fragment(room))
            await two.page.get_by_text("Verify this device in the settings to read this").first.wait_for()
            await open_encryption(two)
            await two.dialog.get_by_text("This account has no recovery key yet.").wait_for()
            await two.picture("no-recovery-key")
            await two.dialog.get_by_role("button", name="I have neither").click()
            await two.dialog.get_by_text("Older encrypted messages stay unreadable").wait_for()
            await two.dialog.get_by_role("button", name="Start anew").click()
            await two.dialog.get_by_label("Password", exact=True).fill(PASSWORD)
            await two.picture("reset-password")
            await two.page.keyboard.press("Enter")
            await save_recovery_key(two)
            await two.page.get_by_text("This browser is verified.").wait_for()
            await two.page.keyboard.press("Escape")
            await other.write("to the new keys")
            await other.page.get_by_role("article", name="Not sent").wait_for()
            await other.page.get_by_role("button", name="Try again").click()
            await other.dialog.get_by_text("have changed").wait_for()
            await other.picture("keys-have-changed")
            await other.dialog.get_by_role("button", name="Send anyway").click()
            await two.sees("to the new keys")


# Proves W21, B3
@test("messages of an encrypted room are found in the browser that has loaded them: edited ones, new ones, Chinese ones, and after a reload")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Cellar", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        for words in ("the combination is 1234", "我们明天去北京喝茶", "nothing to see here", "Kettles and teapots"):
            await other.write(words)
            await one.sees(words)
        panel = one.page.get_by_role("complementary", name="Search in this room")

        async def finds(words, *expected):
            await panel.get_by_role("searchbox").fill(words)
            await panel.get_by_role("searchbox").press("Enter")
            await expect(panel.locator(".ma-result-text")).to_have_text(list(expected))

        await one.more("Search in this room")
        await finds("combination", "the combination is 1234")
        await panel.get_by_text("if this browser has loaded them").wait_for()
        await finds("北京", "我们明天去北京喝茶")
        await finds("tea", "Kettles and teapots")
        await other.message_menu("nothing to see here", "Edit")
        await other.composed("nothing to see here")
        await other.write("something to see here")
        await one.sees("something to see here")
        await finds("nothing")
        await finds("some", "something to see here")
        await one.page.reload()
        await one.sees("Kettles and teapots")
        await other.write("a combination of two")
        await one.sees("a combination of two")
        await one.more("Search in this room")
        await finds("combi", "a combination of two", "the combination is 1234")
        await panel.get_by_label("In all conversations").check()
        await expect(panel.locator(".ma-result-text")).to_have_text(["a combination of two", "the combination is 1234"])
        await panel.get_by_role("button", name="the combination is 1234").click()
        await one.sees("the combination is 1234")
        found = await one.readable("combination", "北京")
        assert not found, f"{found} of the index can be read in the browser"


# Proves E10
@test("keys are exported to a file in one browser and imported in another, which reads old messages then; a wrong passphrase is refused")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Attic", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        await other.write("from the attic")
        await one.sees("from the attic")
        await one.page.evaluate("delete window.showSaveFilePicker")
        await open_encryption(one)
        await one.dialog.get_by_role("button", name="Export keys…").click()
        await one.dialog.get_by_label("Passphrase", exact=True).fill("correct horse")
        await one.dialog.get_by_label("Repeat the passphrase").fill("correct house")
        await one.dialog.get_by_role("button", name="Export", exact=True).click()
        await one.dialog.get_by_text("The passphrases differ.").wait_for()
        await one.dialog.get_by_label("Repeat the passphrase").fill("correct horse")
        async with one.page.expect_download() as saving:
            await one.dialog.get_by_role("button", name="Export", exact=True).click()
        path = await (await saving.value).path()
        lines = pathlib.Path(path).read_text().splitlines()
        assert lines[0] == "-----BEGIN MEGOLM SESSION DATA-----" and lines[-1] == "-----END MEGOLM SESSION DATA-----", lines
        await one.page.get_by_text("The keys have been exported.").wait_for()
        async with people(test, "alice2") as third:
            await third.sign_in(alice, room_fragment(room))
            await third.page.get_by_text("Verify this device in the settings to read this").first.wait_for()
            await open_encryption(third)

            async def take(file):
                async with third.page.expect_file_chooser() as chooser:
                    await third.dialog.get_by_role("button", name="Import keys…").click()
                await (await chooser.value).set_files(file)

            await take({"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Dear Alice"})
            await third.dialog.get_by_label("Passphrase", exact=True).fill("correct horse")
            await third.dialog.get_by_role("button", name="Import", exact=True).click()
            await third.dialog.get_by_text("This is not a file of room keys.").wait_for()
            await third.dialog.get_by_role("button", name="Cancel").click()
            await take(path)
            await third.dialog.get_by_label("Passphrase", exact=True).fill("wrong")
            await third.dialog.get_by_role("button", name="Import", exact=True).click()
            await third.dialog.get_by_text("The passphrase is wrong").wait_for()
            await third.dialog.get_by_label("Passphrase", exact=True).fill("correct horse")
            await third.dialog.get_by_role("button", name="Import", exact=True).click()
            await third.page.get_by_text("of them were new").wait_for()
            await third.page.keyboard.press("Escape")
            await third.sees("from the attic")


# Proves B7
@test("links of an encrypted room are previewed only where the person has asked for it")
async def _(test):
    alice, boris = User(test.base, "alice"), User(test.base, "boris")
    room = alice.create_room(preset="private_chat", name="Links", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other):
        await asyncio.gather(has_device(alice), has_device(boris))
        asked = []
        one.page.on("request", lambda request: asked.append(request.url) if "preview_url" in request.url else None)
        await other.write("see https://example.org/first")
        await one.sees("https://example.org/first")
        await other.write("a line behind it")
        await one.sees("a line behind it")
        assert asked == []
        async with one.page.expect_request(lambda request: "preview_url" in request.url):
            await one.more("Link previews in encrypted rooms")
            await other.write("see https://example.org/second")


@test("who is invited in the page reads what was written before, with a sign that says who gave the keys, also after a reload")
async def _(test):
    alice, boris, carol = (User(test.base, name) for name in ("alice", "boris", "carol"))
    room = alice.create_room(preset="private_chat", name="Chronicle", invite=[boris.user_id], initial_state=[ENCRYPTION])
    boris.join(room)
    # Her browser has keys for that.
    carol.create_room(name="Diary", initial_state=[ENCRYPTION])
    async with in_room(test, room, {"alice": alice, "boris": boris}) as (one, other), people(test, "carol") as third:
        await third.sign_in(carol)
        await asyncio.gather(has_identity(alice), has_device(boris), has_identity(carol))
        await one.write("in the beginning")
        await other.sees("in the beginning")
        await other.write("and then")
        await one.sees("and then")
        await one.page.get_by_role("button", name="Members and settings").click()
        await one.details.get_by_role("button", name="Invite").click()
        await one.dialog.get_by_label("Name, ID or link").press_sequentially(carol.user_id + " ")
        await one.dialog.get_by_role("button", name="Invite", exact=True).click()
        await third.entry("Chronicle").click()
        await third.page.get_by_role("button", name="Accept").click()
        for _ in range(2):
            await third.sees("in the beginning")
            await third.sees("and then")
            await third.page.get_by_title("gave you the key when inviting you").first.wait_for()
            await third.picture("history-on-invitation")
            await third.page.reload()
        await third.write("now I know")
        await one.sees("now I know")
