"""A server with the encryption that it has by default: what new chats of the page are, and what two new people meet."""
import asyncio
import contextlib
import re
from dataclasses import dataclass

from accessibility import check
from browser import expect, people
from client import User, room_path
from harness import Context, test
from server import Server
from test_encrypted_page import building, has_device, said

NEEDS_BROWSER = True


@dataclass
class Account:
    """One that a page has made, for a login beside it."""
    user_id: str


@contextlib.contextmanager
def served(test, **settings):
    """A server of its own: those of lanes encrypt nothing by themselves."""
    server = Server(**{"encryption": "invite_only", **settings}).start()
    try:
        yield Context(server.base, server.base, server, artifacts=test.artifacts)
    finally:
        server.close()


def is_encrypted(user, room):
    return user.get(room_path(room, "state", "m.room.encryption", "")).status == 200


def newest(user, known=()):
    return next(room for room in user.sync()["rooms"]["join"] if room not in known)


async def open_new(person, tab):
    await person.page.get_by_role("button", name="New conversation").first.click()
    await person.dialog.get_by_role("tab", name=tab).click()


async def start_chat(person, words):
    await open_new(person, "Direct chat")
    await person.page.get_by_label("Name, ID or link").fill(words)
    await person.page.get_by_role("button", name="Start chat").click()
    await person.composer.wait_for()


@test("two people who are new to a server begin a chat: it is encrypted, each reads the other at once, and both after a reload")
async def _(test):
    with served(test) as here:
        async with people(here, "anna", "bela", fresh=True) as (anna, bela):
            for person in (anna, bela):
                await person.register()
            users = {person.name: User(here.base, login_as=Account(await person.own_id())) for person in (anna, bela)}
            await asyncio.gather(*map(has_device, users.values()))
            await start_chat(anna, users["bela"].user_id)
            await anna.write("tea at five?")
            await bela.entry("anna").click()
            await bela.page.get_by_role("button", name="Accept").click()
            await bela.sees("tea at five?")
            await bela.write("with pleasure")
            await anna.sees("with pleasure")
            room = newest(users["anna"])
            assert is_encrypted(users["anna"], room) and said(users["anna"], room) == ["m.room.encrypted"] * 2
            await anna.page.get_by_text("End-to-end encrypted").first.wait_for()
            await anna.picture("encrypted-by-default")
            for person in (anna, bela):
                assert await person.page.locator(".mg-warning").count() == 0, "a message of theirs has a sign"
                await person.page.reload()
                await person.sees("tea at five?")
                await person.sees("with pleasure")
            # Nobody is asked for anything: the account's first browser has made its identity.
            await expect(anna.page.get_by_text("This browser is not verified")).to_have_count(0)


@test("where the server wishes it private rooms and chats with people who have keys are encrypted, and public rooms and other chats are not")
async def _(test):
    with served(test) as here:
        alice, boris, carol = (User(here.base, name) for name in ("alice", "boris", "carol"))
        square = boris.create_room(preset="public_chat", name="Square")
        alice.join(square)
        async with people(here, "alice", "boris") as (one, other):
            await one.sign_in(alice)
            await other.sign_in(boris)
            await asyncio.gather(has_device(alice), has_device(boris))
            known = [square]
            # From a member's card.
            await one.open_room(square)
            await one.page.get_by_role("button", name="Members and settings").click()
            await one.members.filter(has_text="boris").click()
            await one.dialog.get_by_role("button", name="Message").click()
            await one.page.get_by_role("main").get_by_text("End-to-end encrypted").first.wait_for()
            known.append(newest(alice, known))
            assert is_encrypted(alice, known[-1]), "the chat with somebody who has keys is not encrypted"
            # She has never signed in anywhere that encrypts: she could not read it.
            await start_chat(one, carol.user_id)
            await one.page.get_by_role("main").get_by_text("Not encrypted").first.wait_for()
            known.append(newest(alice, known))
            assert not is_encrypted(alice, known[-1]), "the chat with somebody who has no keys is encrypted"
            await open_new(one, "New room")
            await one.dialog.get_by_label("Room name").fill("Den")
            await expect(one.dialog.get_by_label("End-to-end encrypted")).to_be_checked()
            await one.picture("new-room-encrypted-by-default")
            await one.dialog.get_by_role("button", name="Create room").click()
            await one.heading("Den").wait_for()
            known.append(newest(alice, known))
            assert is_encrypted(alice, known[-1]), "the private room is not encrypted"
            await open_new(one, "New room")
            await one.dialog.get_by_label("Room name").fill("Market")
            await one.dialog.get_by_label("Anyone on this server can join").check()
            await expect(one.dialog.get_by_label("End-to-end encrypted")).to_be_hidden()
            await one.dialog.get_by_role("button", name="Create room").click()
            await one.heading("Market").wait_for()
            known.append(newest(alice, known))
            assert not is_encrypted(alice, known[-1]), "the public room is encrypted"


@test("who writes into an encrypted room is told which of the invited cannot read it yet, until these have joined")
async def _(test):
    with served(test) as here:
        alice, carol = (User(here.base, name) for name in ("alice", "carol"))
        encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
        room = alice.create_room(preset="private_chat", name="Den", invite=[carol.user_id], initial_state=[encryption])
        async with people(here, "alice", "carol") as (one, other):
            await one.sign_in(alice)
            await one.open_room(room)
            await one.page.get_by_text("Not readable yet for carol").wait_for()
            await one.picture("invited-cannot-read")
            await check(one, "a room to which somebody without keys is invited")
            await other.sign_in(carol)
            await has_device(carol)
            await other.entry("Den").click()
            await other.page.get_by_role("button", name="Accept").click()
            await other.composer.wait_for()
            await expect(one.page.get_by_text("Not readable yet for carol")).to_be_hidden()
            await one.write("welcome")
            await other.sees("welcome")


# Ten seconds: when the encryption is there others are left seven to get keys.
@test("while the server still builds the encryption nobody is told who does not need it; a chat waits for it, or begins without")
async def _(test):
    with served(test) as here:
        async with people(here, "anna", "bela", fresh=True, service_workers="block") as (anna, bela):
            finish = [await building(person) for person in (anna, bela)]
            for person in (anna, bela):
                await person.register()
            users = {person.name: User(here.base, login_as=Account(await person.own_id())) for person in (anna, bela)}
            notice = anna.page.get_by_text("still building")
            await open_new(anna, "New room")
            await expect(notice).to_have_count(0)
            await anna.dialog.get_by_label("Room name").fill("Den")
            await anna.dialog.get_by_role("button", name="Create room").click()
            await anna.dialog.get_by_text("Encryption is not ready yet").wait_for()
            await anna.picture("encryption-not-ready")
            await check(anna, "waiting for the encryption")
            await anna.dialog.get_by_role("button", name="Begin without encryption").click()
            await anna.heading("Den").wait_for()
            den = newest(users["anna"])
            assert not is_encrypted(users["anna"], den), "the room was begun without encryption"
            await open_new(anna, "Direct chat")
            await anna.page.get_by_label("Name, ID or link").fill(users["bela"].user_id)
            await anna.page.get_by_role("button", name="Start chat").click()
            await anna.dialog.get_by_text("Encryption is not ready yet").wait_for()
            finish[1]()
            await has_device(users["bela"])
            finish[0]()
            await anna.composer.wait_for()
            await anna.page.get_by_role("main").get_by_text("End-to-end encrypted").first.wait_for()
            assert is_encrypted(users["anna"], newest(users["anna"], [den]))
            await anna.write("at last")
            await bela.entry("anna").click()
            await bela.page.get_by_role("button", name="Accept").click()
            await bela.sees("at last")


@test("a chat with somebody who has no device with keys says so where it begins, and offers encryption once they have; and that they have not joined yet")
async def _(test):
    with served(test) as here:
        async with people(here, "anna", "cleo") as (anna, other):
            users = {name: User(here.base, name) for name in ("anna", "cleo")}
            cleo = users["cleo"]
            await anna.sign_in(users["anna"])
            await has_device(users["anna"])
            await start_chat(anna, cleo.user_id)
            await anna.page.get_by_text(re.compile("not end-to-end encrypted: cleo.* has no device that could read them yet")).wait_for()
            bar = anna.page.locator(".ma-chat-bar")
            await bar.get_by_text(re.compile("^cleo.* has not joined yet. They will see your messages")).wait_for()
            await anna.picture("chat-not-encrypted")
            await check(anna, "a chat that cannot be encrypted yet")
            room = newest(users["anna"])
            assert not is_encrypted(users["anna"], room)
            await anna.page.set_viewport_size({"width": 390, "height": 844})
            await anna.picture("chat-not-encrypted-phone")
            await anna.page.set_viewport_size({"width": 1280, "height": 800})
            await anna.write("hello")
            cleo.join(room)
            await expect(bar).to_be_hidden()
            await other.sign_in(cleo)
            await has_device(cleo)
            await anna.page.reload()
            await bar.get_by_text("can read encrypted messages now").wait_for()
            await anna.picture("chat-can-be-encrypted")
            await bar.get_by_role("button", name="Turn on encryption…").click()
            await anna.dialog.get_by_role("button", name="Turn on", exact=True).click()
            await expect(bar).to_be_hidden()
            assert is_encrypted(users["anna"], room)
