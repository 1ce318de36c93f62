"""Encrypted rooms: clients of the SDK and libraries of other people read each other; the server sees ciphertext only."""
import asyncio
import contextlib
import glob
import hashlib
import io
import json
import os
import tempfile
import time
import types
from unittest.mock import patch

import nio

from clear_text import ALWAYS_SEALED, found_in_file, found_in_folder, specific
from client import PASSWORD, User, room_path
from harness import PATIENCE, NotRun, test
from hostile_server import HostileServer
from png import png
from peer_client import Peer
from server import Server, newest_build
from test_mautrix import Person, says
from test_nio import ENCRYPTION, Client, good, sync_until, text
from test_terminal import Terminal, lines_until


class Direct:
    """Where the peers connect to: no lost connections here."""

    def __init__(self, base):
        self.base = base


@contextlib.asynccontextmanager
async def peers(context, room, users, options, bases=None):
    """- bases: of the server as each user sees it; all see the real one otherwise."""
    program = newest_build("client-peer")
    if not program:
        raise NotRun("client-peer is not built: swift build --product client-peer")
    with tempfile.TemporaryDirectory() as folder:
        started = []
        try:
            for user, option, base in zip(users, options, bases or [context.base] * len(users)):
                own = tempfile.mkdtemp(dir=folder)
                peer = await Peer(program, Direct(base), user, room, own, "--sync", option).start()
                started.append(peer)
                await is_there(peer, user)
            yield started
        finally:
            for peer in started:
                await peer.end()
        said = specific(text for peer in started for text in peer.said)
        for peer in started:
            assert not plain_on_disk(peer.store, *ALWAYS_SEALED, PASSWORD, *said), "the store is not sealed"
        if context.server:
            assert not found_in_folder(context.server.folder, *said), "the server has clear text"


async def is_there(peer, user):
    """Once it knows its room, and others know its device."""
    end = time.monotonic() + PATIENCE
    while "error" in await peer.tell("report", since=None, threads=[]) or not devices(user):
        assert time.monotonic() < end, "the client is not there"
        await asyncio.sleep(0.05)


def devices(user, of=None):
    """The devices with keys of the user, or of another one."""
    wanted = (of or user).user_id
    return user.post("keys/query", {"device_keys": {wanted: []}}).ok()["device_keys"].get(wanted)


def plain_on_disk(store, *words):
    """What of these stands in a file beside the store, or in it, as it is."""
    files = glob.glob(store + "*")
    assert store in files and store + "-key" in files, files
    return [found for path in files for found in found_in_file(path, *words)]


async def reads(peer, *wanted):
    """Until these texts stand in the timeline, in order."""
    end = time.monotonic() + PATIENCE
    while True:
        report = await peer.ask("report", since=None, threads=[])
        found = [row.get("text") for row in report["timeline"]]
        if [body for body in found if body in wanted] == list(wanted):
            return report
        assert time.monotonic() < end, report["timeline"]
        await asyncio.sleep(0.1)


# Proves E1, E12
@test("two clients of the SDK and matrix-nio write and read in an encrypted room, also after a restart; the server has ciphertext only")
def sdk_and_nio(context):
    asyncio.run(_sdk_and_nio(context))


async def _sdk_and_nio(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    async with Client(context, "nia") as nia:
        room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id, nia.user_id])
        bob.join(room)
        good(await nia.join(room), nio.JoinResponse)
        heard = []
        nia.add_event_callback(lambda _, event: heard.append((event.sender, event.body)), nio.RoomMessageText)
        async with peers(context, room, [ann, bob], ["v3", "sliding"]) as (one, other):
            await sync_until(nia, lambda: room in nia.rooms and len(nia.rooms[room].users) == 3)
            await one.ask("send", text="hello from ann")
            await reads(other, "hello from ann")
            await other.ask("send", text="hello from bob")
            await reads(one, "hello from ann", "hello from bob")
            await sync_until(nia, lambda: len(heard) == 2)
            assert heard == [(ann.user_id, "hello from ann"), (bob.user_id, "hello from bob")], heard
            good(await nia.room_send(room, "m.room.message", text("hello from nia"), ignore_unverified_devices=True), nio.RoomSendResponse)
            everything = ("hello from ann", "hello from bob", "hello from nia")
            await reads(one, *everything)
            await reads(other, *everything)
            await one.restart(kills=True)
            await reads(one, *everything)
            await one.ask("send", text="again")
            await reads(other, *everything, "again")
            await sync_until(nia, lambda: heard[-1:] == [(ann.user_id, "again")])
            for peer in (one, other):
                assert not plain_on_disk(peer.store, *everything, "again", "access_token", "curve25519"), "the store is not sealed"
        events = ann.get(room_path(room, "messages"), dir="b", limit=100).ok()["chunk"]
        types = [event["type"] for event in events if event["type"] in ("m.room.message", "m.room.encrypted")]
        assert types == ["m.room.encrypted"] * 4, types


@test("new chats of the SDK are encrypted where the server wishes it and the other user has a device with keys, and private rooms are")
def chats_of_the_sdk(context):
    asyncio.run(_chats_of_the_sdk(context))


async def _chats_of_the_sdk(context):
    for wish, expected in (("invite_only", [True, False, True, False]), ("off", [False] * 4)):
        server = Server(encryption=wish).start()
        try:
            ann, bob, cat = (User(server.base, name) for name in ("ann", "bob", "cat"))
            room = ann.create_room(preset="public_chat")
            bob.join(room)
            here = types.SimpleNamespace(base=server.base, server=server)
            async with peers(here, room, [ann, bob], ["sliding", "v3"]) as (one, _):
                made = [await one.ask("direct", user=bob.user_id), await one.ask("direct", user=cat.user_id), await one.ask("create"),
                        await one.ask("create", public=True)]
            found = [ann.get(room_path(answer["room"], "state", "m.room.encryption", "")).status == 200 for answer in made]
            assert found == expected, (wish, found, made)
        finally:
            server.close()


# Proves E1
@test("a client of the SDK and mautrix (libolm) talk encrypted in both directions, and who has left reads nothing more")
async def sdk_and_mautrix(context):
    ann = User(context.base, "ann")
    async with Person(context, "mau") as mau:
        room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[mau.id])
        await mau.client.join_room(room)
        async with peers(context, room, [ann], ["sliding"]) as (one,):
            await one.ask("send", text="do you read me?")
            heard = await mau.hears(says("do you read me?"))
            assert heard.sender == ann.user_id and heard["mautrix"]["was_encrypted"]
            await mau.client.send_text(room, "loud and clear")
            await reads(one, "do you read me?", "loud and clear")
            await mau.client.leave_room(room)
            while mau.id in (await one.ask("report", since=None, threads=[]))["members"]:
                await asyncio.sleep(0.05)
            await one.ask("send", text="nobody else is here")
            await reads(one, "do you read me?", "loud and clear", "nobody else is here")
        sessions = [event["content"]["session_id"] for event in ann.get(room_path(room, "messages"), dir="f", limit=100).ok()["chunk"]
                    if event["type"] == "m.room.encrypted" and event["sender"] == ann.user_id]
        assert len(sessions) == len(set(sessions)) == 2, sessions


@contextlib.asynccontextmanager
async def second_device(context, user):
    """Another device of somebody, with matrix-nio."""
    with tempfile.TemporaryDirectory() as folder:
        config = nio.AsyncClientConfig(store_sync_tokens=True, encryption_enabled=True)
        client = nio.AsyncClient(context.base, user.user_id, store_path=folder, config=config)
        try:
            good(await client.login(PASSWORD), nio.LoginResponse)
            good(await client.sync(timeout=0, full_state=True), nio.SyncResponse)
            yield client
        finally:
            await client.close()


async def history(client, room):
    """The texts of a room, oldest first, as far as matrix-nio can decrypt them."""
    page = good(await client.room_messages(room, limit=100), nio.RoomMessagesResponse)
    texts = []
    for event in reversed(page.chunk):
        if isinstance(event, nio.MegolmEvent):
            with contextlib.suppress(nio.EncryptionError):
                event = client.decrypt_event(event)
        if isinstance(event, nio.RoomMessageText):
            texts.append(event.body)
    return texts


def quick_pbkdf2(passphrase, salt, length, rounds, _):
    """matrix-nio's takes ten seconds for the 500,000 rounds of a new file."""
    return hashlib.pbkdf2_hmac("sha512", passphrase.encode(), salt, rounds, length)


@test("files of the terminal client are read by matrix-nio and the other way round; the server has ciphertext and no name")
def files(context):
    asyncio.run(_files(context))


async def _files(context):
    ann = User(context.base, "ann")
    async with Client(context, "nia") as nia:
        with Terminal(context) as terminal:
            terminal.log_in(ann)
            room = ann.create_room(name="Secret", preset="private_chat", initial_state=[ENCRYPTION], invite=[nia.user_id])
            good(await nia.join(room), nio.JoinResponse)
            heard = []
            nia.add_event_callback(lambda _, event: heard.append(event), (nio.RoomEncryptedImage, nio.RoomEncryptedFile, nio.RoomEncryptedAudio))
            await sync_until(nia, lambda: room in nia.rooms and len(nia.rooms[room].users) == 2)
            picture, sound = png(40, 30, (200, 100, 50)), os.urandom(100_003)
            for name, content in (("cat.png", picture), ("purr.ogg", sound)):
                with open(terminal.path(name), "wb") as file:
                    file.write(content)
                terminal.run("send", "Secret", "--file", terminal.path(name))
            await sync_until(nia, lambda: len(heard) == 2)
            assert [event.body for event in heard] == ["cat.png", "purr.ogg"], heard
            for event, content in zip(heard, (picture, sound)):
                stored = good(await nia.download(event.url), nio.DownloadResponse)
                assert stored.content_type == "application/octet-stream" and not stored.filename, stored
                assert len(stored.body) == len(content) and stored.body != content
                assert nio.crypto.attachments.decrypt_attachment(stored.body, event.key["k"], event.hashes["sha256"], event.iv) == content
            # And back.
            secret = os.urandom(70_001)
            up, keys = await nia.upload(io.BytesIO(secret), content_type="application/octet-stream", filesize=len(secret), encrypt=True)
            content = {"msgtype": "m.file", "body": "plan.bin", "info": {"size": len(secret)}, "file": {"url": good(up, nio.UploadResponse).content_uri, **keys}}
            good(await nia.room_send(room, "m.room.message", content, ignore_unverified_devices=True), nio.RoomSendResponse)
            entry = terminal.json("read", "Secret", "--limit", "1")[0]
            assert entry["file"]["name"] == "plan.bin" and entry["file"]["encrypted"], entry
            exported = terminal.json("export", "Secret", "--to", terminal.path("secret.jsonl"))[0]
            assert exported["files"] == 3 and exported["missing_files"] == 0, exported
            found = sorted(glob.glob(terminal.path("secret-files/*")))
            contents = [open(path, "rb").read() for path in found]
            assert contents == [picture, sound, secret], found


# Proves E10
@test("room keys go from the terminal client to matrix-nio and back in key files; a wrong passphrase and a file that was cut off say so")
def key_files(context):
    asyncio.run(_key_files(context))


async def _key_files(context):
    ann = User(context.base, "ann")
    async with Client(context, "nia") as nia:
        with Terminal(context) as old, Terminal(context) as new:
            old.log_in(ann)
            room = ann.create_room(name="Secret", preset="private_chat", initial_state=[ENCRYPTION], invite=[nia.user_id])
            good(await nia.join(room), nio.JoinResponse)
            old.run("send", "Secret", "from the terminal")
            await sync_until(nia, lambda: room in nia.rooms and len(nia.rooms[room].users) == 2)
            good(await nia.room_send(room, "m.room.message", text("from nio"), ignore_unverified_devices=True), nio.RoomSendResponse)
            assert "from nio" in old.run("read", "Secret")
            await sync_until(nia, lambda: True)
            # From the terminal to nio.
            passphrase, file = old.path("passphrase"), old.path("keys.txt")
            with open(passphrase, "w") as words:
                words.write("correct horse\n")
            exported = old.json("keys", "export", file, "--passphrase-file", passphrase)
            assert exported == [{"path": file, "keys": 2}], exported
            async with second_device(context, ann) as tablet:
                assert await history(tablet, room) == []
                with patch.object(nio.crypto.key_export, "PBKDF2", quick_pbkdf2):
                    await tablet.import_keys(file, "correct horse")
                assert await history(tablet, room) == ["from the terminal", "from nio"]
            # From nio to a terminal that logs in after all that.
            theirs = new.path("nio.txt")
            await nia.export_keys(theirs, "correct horse", count=10_000)
            new.log_in(ann)
            unread = [entry["kind"] for entry in new.json("read", "Secret") if entry["kind"] in ("text", "undecryptable")]
            assert unread == ["undecryptable"] * 2, unread
            wrong = new.path("wrong")
            with open(wrong, "w") as words:
                words.write("wrong horse\n")
            assert "passphrase is wrong" in new.run("keys", "import", theirs, "--passphrase-file", wrong, code=1)
            with open(theirs) as whole, open(new.path("part.txt"), "w") as part:
                part.write(whole.read()[:-40])
            assert "end of the file is missing" in new.run("keys", "import", new.path("part.txt"), "--passphrase-file", passphrase, code=1)
            assert "no terminal to ask" in new.run("keys", "import", theirs, code=64)
            imported = new.json("keys", "import", theirs, "--passphrase-file", passphrase)
            assert imported == [{"path": theirs, "keys": 2, "new": 2, "unusable": 0}], imported
            assert new.json("keys", "import", theirs, "--passphrase-file", passphrase)[0]["new"] == 0
            texts = [entry["text"] for entry in new.json("read", "Secret") if entry["kind"] == "text"]
            assert texts == ["from the terminal", "from nio"], texts


async def until_status(peer, condition):
    """Until what views show of its encryption is so."""
    end = time.monotonic() + PATIENCE
    while not condition(status := await peer.ask("encryption")):
        assert time.monotonic() < end, status
        await asyncio.sleep(0.1)
    return status


# Proves E6, E8, E9
@test("a second device recovers by the recovery key, reads what was written before it, and gets new messages only then; a reset makes another identity")
def recovery(context):
    asyncio.run(_recovery(context))


async def _recovery(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with peers(context, room, [ann, bob], ["sliding", "v3"]) as (desk, other):
        await other.ask("send", text="from bob, before")
        await reads(desk, "from bob, before")
        await desk.ask("send", text="from ann, before")
        assert (await desk.ask("encryption"))["recovery"] == "disabled"
        key = (await desk.ask("setUpRecovery", passphrase="tea for two"))["key"]
        status = await until_status(desk, lambda status: status["is_verified"] and status.get("waiting") == 0)
        assert status["recovery"] == "enabled", status
        versions = ann.get("room_keys/version").ok()
        assert versions["count"] == 2, versions
        everything = ["from bob, before", "from ann, before"]
        async with peers(context, room, [ann], ["sliding"]) as (tablet,):
            assert not (await tablet.ask("encryption"))["is_verified"]
            await other.ask("send", text="not for the tablet")
            await reads(desk, *everything, "not for the tablet")
            for wrong, text in (("wrongRecoveryKey", "tea for one"), ("wrongRecoveryKey", key[:-1] + ("x" if key[-1] != "x" else "y"))):
                refused = await tablet.tell("recover", text=text)
                assert wrong in refused["error"], refused
            rows = (await tablet.ask("report", since=None, threads=[]))["timeline"]
            assert not any(row.get("text") for row in rows), rows
            await tablet.ask("recover", text="tea for two")
            await until_status(tablet, lambda status: status["is_verified"] and not status["is_restoring"])
            await reads(tablet, *everything)
            await other.ask("send", text="for all")
            await reads(tablet, *everything, "for all")
            await tablet.restart(kills=True)
            await reads(tablet, *everything, "for all")
            assert (await tablet.ask("encryption"))["is_verified"]
            for peer in (desk, tablet):
                assert not plain_on_disk(peer.store, key, key.replace(" ", ""), "for all"), "the store is not sealed"
        again = (await desk.ask("resetIdentity", text=PASSWORD))["key"]
        assert again != key
        status = await until_status(desk, lambda status: status["is_verified"] and status.get("waiting") == 0)
        assert status["recovery"] == "enabled", status
        # Bob is told before he writes to the new identity.
        await other.ask("send", text="to whom?")
        end = time.monotonic() + PATIENCE
        while not (report := await other.ask("report", since=None, threads=[]))["failed"]:
            assert time.monotonic() < end, report
            await asyncio.sleep(0.1)


# Proves E3
@test("who is invited to an encrypted room reads what was written before; the inviter alone says that it is so")
async def history_on_invitation(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with peers(context, room, [ann, bob], ["sliding", "v3"]) as (one, other):
        # Histories are for devices that their owners have signed, and are taken from such devices.
        await asyncio.gather(one.ask("setUpRecovery"), other.ask("setUpRecovery"))
        await one.ask("send", text="while bob was there")
        await reads(other, "while bob was there")
        await other.ask("leave")
        end = time.monotonic() + PATIENCE
        while (await one.ask("report", since=None, threads=[]))["members"].get(bob.user_id, ["leave"])[0] == "join":
            assert time.monotonic() < end, "nobody sees that he left"
            await asyncio.sleep(0.05)
        await one.ask("send", text="while bob was away")
        await reads(one, "while bob was there", "while bob was away")
        await one.ask("invite", user=bob.user_id)
        # Who accepts has seen who invites.
        end = time.monotonic() + PATIENCE
        while (await other.ask("report", since=None, threads=[]))["members"].get(bob.user_id, [""])[0] != "invite":
            assert time.monotonic() < end, "the invitation does not come"
            await asyncio.sleep(0.05)
        await other.ask("join")
        report = await reads(other, "while bob was there", "while bob was away")
        trust = {row["text"]: row["trust"] for row in report["timeline"] if "text" in row}
        assert trust == {"while bob was there": "pinned", "while bob was away": "not_proven"}, trust


@test("the keys of a room are given out as soon as somebody begins to type")
async def prepared(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    async with HostileServer(context.base) as watched:
        async with peers(context, room, [ann, bob], ["sliding", "v3"], [watched.base, context.base]) as (one, other):
            def shares():
                return [path for method, path, _ in watched.heard if method == "PUT" and "/sendToDevice/m.room.encrypted/" in path]
            await one.ask("typing", on=True)
            end = time.monotonic() + PATIENCE
            while not shares():
                assert time.monotonic() < end, "typing gave nobody the key"
                await asyncio.sleep(0.05)
                await one.ask("typing", on=True)
            before = len(shares())
            await one.ask("send", text="at once")
            await reads(other, "at once")
            assert len(shares()) == before, "the key went out again"


# Proves E9
@test("mautrix opens the secret storage that the SDK wrote, and signs its device with what is in it; the SDK opens that of mautrix")
async def recovery_and_mautrix(context):
    ann = User(context.base, "ann")
    room = ann.create_room(preset="private_chat", initial_state=[ENCRYPTION])
    async with peers(context, room, [ann], ["sliding"]) as (one,):
        await one.ask("send", text="before mautrix")
        key = (await one.ask("setUpRecovery"))["key"]
        second = User(context.base, login_as=ann)
        session = {"user_id": ann.user_id, "device_id": second.device_id, "access_token": second.token}
        async with Person(context, "ann", session=session) as mau:
            await mau.crypto.verify_with_recovery_key(key)
            listed = devices(ann)[mau.device_id]["signatures"][ann.user_id]
            assert len(listed) == 2, listed
            await reads(one, "before mautrix")
            await one.ask("send", text="to the signed mautrix")
            heard = await mau.hears(says("to the signed mautrix"))
            assert heard["mautrix"]["was_encrypted"]

    async with Person(context, "mau") as mau:
        seeds = await mau.crypto.generate_recovery_key()
        bob = User(context.base, login_as=types.SimpleNamespace(user_id=mau.id))
        room = bob.create_room(preset="private_chat", initial_state=[ENCRYPTION])
        async with peers(context, room, [bob], ["sliding"]) as (one,):
            status = await one.ask("encryption")
            assert status["has_identity"] and not status["is_verified"] and status["recovery"] == "incomplete", status
            await one.ask("recover", text=seeds)
            await until_status(one, lambda status: status["is_verified"])


@test("read --follow says that the keys of a friend have changed and that the user has a new device; verify says it before it asks")
def news_of_keys(context):
    asyncio.run(_news_of_keys(context))


async def _news_of_keys(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Secret", preset="trusted_private_chat", is_direct=True, initial_state=[ENCRYPTION], invite=[bob.user_id])
    bob.join(room)
    ann.put(f"user/{ann.user_id}/account_data/m.direct", {bob.user_id: [room]}).ok()
    with Terminal(context) as one, Terminal(context) as other:
        await asyncio.to_thread(one.log_in, ann)
        async with peers(context, room, [bob], ["sliding"]) as (peer,):
            await peer.ask("setUpRecovery")
            await peer.ask("send", text="with the first keys")
            process = one.start("read", "Secret", "--follow", "--json")

            async def line(words):
                shown = await asyncio.to_thread(lines_until, process, lambda text: words in text and text.endswith("\n"))
                return next(json.loads(line) for line in shown.splitlines() if words in line)

            try:
                await line("with the first keys")
                await peer.ask("resetIdentity", text=PASSWORD)
                news = await line("identity_changed")
                assert (news["kind"], news["user_id"], news["room_id"]) == ("keys", bob.user_id, room), news
                await peer.ask("send", text="with the second keys")
                await line("with the second keys")
                device = (await asyncio.to_thread(other.log_in, ann))["device_id"]
                news = await line("device_appeared")
                assert (news["user_id"], news["device_id"]) == (ann.user_id, device), news
            finally:
                process.kill()
                process.communicate()
            # Between the messages, too, also when it is long ago.
            told = [row.get("text") for row in await asyncio.to_thread(one.json, "read", "Secret") if row["kind"] in ("text", "keys")]
            assert told == ["with the first keys", f"The keys of {bob.user_id} have changed.", "with the second keys"], told
            # It is not accepted yet.
            process = one.start("verify", bob.user_id)
            try:
                said = await asyncio.to_thread(process.stderr.readline)
                assert f"The keys of {bob.user_id} have changed" in said.decode(), said
            finally:
                process.kill()
                process.communicate()
