"""The checker of the database finds what is wrong with it: each invariant is broken once."""
import os
import shutil
import sqlite3
import tempfile

import databases
import invariants
from client import User, room_path
from harness import test
from server import Server

# What is done to a sound database, and a word of the invariant that must then be untrue.
DAMAGES = [
    ("UPDATE stream_head SET position = 1", "positions are given out once"),
    ("UPDATE receipt SET position = (SELECT max(position) FROM event)", "positions are given out once"),
    ("UPDATE event SET sender = '@other:test.example' WHERE type = 'm.room.message'", "hashes, its ID"),
    ("UPDATE event SET shared = CAST(replace(CAST(shared AS TEXT), 'words', 'swords') AS BLOB)", "hashes, its ID"),
    ("UPDATE event SET event_id = '$another' WHERE type = 'm.room.topic'", "hashes, its ID"),
    ("UPDATE event SET depth = depth + 1 WHERE type = 'm.room.topic'", "one deeper"),
    ("DELETE FROM event WHERE type = 'm.room.topic'", "name events before them"),
    ("INSERT INTO forward_extremity SELECT room, event_id, depth FROM event WHERE type = 'm.room.topic'", "one deeper"),
    ("UPDATE event SET redacted_by = (SELECT max(position) FROM event WHERE type = 'm.room.topic') WHERE redacted_by IS NOT NULL", "what redacts"),
    ("DELETE FROM current_state WHERE type = 'm.room.topic'", "current state"),
    ("DELETE FROM state_change WHERE type = 'm.room.topic'", "current state"),
    ("UPDATE membership SET membership = 0 WHERE membership = 2", "memberships of users"),
    ("DELETE FROM membership", "memberships of users"),
    ("UPDATE receipt SET event_id = '$none'", "receipts point"),
    ("INSERT INTO unread_checkpoint SELECT user_id, room, 1000000, 0, '1000000', CAST('{}' AS BLOB) FROM membership", "checkpoints of unread"),
    ("DELETE FROM event_relation WHERE kind = 'm.thread'", "relations and threads"),
    ("UPDATE room_thread SET messages = messages + 1", "relations and threads"),
    ("UPDATE public_room_list SET joined = 9", "lists of rooms"),
    ("DELETE FROM open_room", "lists of rooms"),
    ("UPDATE public_room SET summary = CAST('\"name\":\"other\"' AS BLOB)", "lists of rooms"),
    ("UPDATE room_alias SET room = 999999", "aliases lead"),
    ("DELETE FROM full_text", "full text"),
    ("DELETE FROM room", "rows of rooms"),
    ("DELETE FROM account", "rows of users"),
    ("DELETE FROM device", "of devices that exist"),
    ("UPDATE account SET deactivated = 1", "deactivated"),
    ("UPDATE media SET hash = '0' || substr(hash, 2)", "media files"),
    ("UPDATE media_usage SET bytes = bytes + 1", "sum of the rows"),
    ("UPDATE key_backup SET keys = keys + 1", "key backups"),
    ("UPDATE sent_transaction SET event_id = '$none'", "transaction ID"),
]


def eventful(base):
    """Something of everything that the damages need."""
    a, b = User(base), User(base)
    room = a.create_room(preset="public_chat", name="Room", topic="t", room_alias_name="alias", visibility="public")
    b.join(room)
    root = a.send(room, "words")
    b.send(room, "words in a thread", **{"m.relates_to": {"rel_type": "m.thread", "event_id": root}})
    regret = a.send(room, "regret")
    a.put(room_path(room, "redact", regret, "r"), {}).ok()
    b.post(room_path(room, "receipt", "m.read", root), {}).ok()
    a.request("POST", "/_matrix/media/v3/upload", body=b"text", headers={"Content-Type": "text/plain"}).ok()
    a.post("room_keys/version", {"algorithm": "m.megolm_backup.v1.curve25519-aes-sha2", "auth_data": {"public_key": "A" * 43, "signatures": {}}}).ok()
    a.post("search", {"search_categories": {"room_events": {"search_term": "words"}}}).ok()


@test("the checker holds a sound database for sound, and finds each of many damages")
def damages(context):
    context.own_server()
    server = Server().start()
    copy = tempfile.mkdtemp(prefix="martlet-damaged-")
    try:
        eventful(server.base)
        assert server.stop() == 0, server.output()
        assert not invariants.report(server.folder), invariants.report(server.folder)
        for statement, sentence in DAMAGES:
            # A copy of a database of PostgreSQL has no index of the full text.
            if databases.is_postgresql and "full_text" in statement:
                continue
            shutil.rmtree(copy)
            shutil.copytree(server.folder, copy)
            connection = sqlite3.connect(os.path.join(copy, "martlet.db"))
            changed = connection.execute(statement).rowcount
            connection.commit()
            connection.close()
            assert changed > 0, f"nothing was damaged by {statement}"
            wrong = [text for text, faults in invariants.violations(copy) if faults]
            assert any(sentence in text for text in wrong), f"{statement}: only {wrong} were untrue"
        for name in os.listdir(os.path.join(copy, "media")):
            shutil.rmtree(os.path.join(copy, "media", name))
        assert "media files" in invariants.report(copy)
    finally:
        server.close()
        shutil.rmtree(copy, ignore_errors=True)
