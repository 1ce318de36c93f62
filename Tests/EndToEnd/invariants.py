#!/usr/bin/env python3
"""Checks what must hold in the data folder of a server that is not running, whatever its users did.

    Tests/EndToEnd/invariants.py DATA-FOLDER [--purged-history]

Reads only. One line for each invariant with what is wrong; the exit status is 0 if nothing is. --purged-history: events that are no
state may be missing, because somebody had them deleted.
"""
import argparse
import os
import sqlite3
import sys

import databases
from stored_events import StoredEvent

INVARIANTS = []
EXAMPLES = 5


def invariant(sentence):
    """For a generator that takes the `Store` and yields a text for each violation."""
    def add(function):
        INVARIANTS.append((sentence, function))
        return function
    return add


class Store:
    """The database, and its rooms and events as all invariants want them. `purged_history` as on the command line."""

    def __init__(self, folder, purged_history=False):
        self.folder, self.purged_history = folder, purged_history
        self.connection = sqlite3.connect(f"file:{os.path.join(folder, 'martlet.db')}?mode=ro", uri=True)
        self.connection.row_factory = sqlite3.Row
        self.rooms = {row["room"]: row for row in self.rows("SELECT * FROM room")}
        self.numbers = {row["room_id"]: number for number, row in self.rooms.items()}
        self.events, self.by_id, self.by_room = {}, {}, {}
        for row in self.rows("SELECT * FROM event ORDER BY position"):
            room = self.rooms.get(row["room"])
            if room is None:
                continue  # "rows of rooms are of rooms that exist" tells of it
            event = StoredEvent(row, room["room_id"], room["version"])
            self.events[event.position] = self.by_id[event.event_id] = event
            self.by_room.setdefault(event.room, []).append(event)

    def close(self):
        self.connection.close()

    def rows(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def column(self, sql, *values):
        return [row[0] for row in self.rows(sql, *values)]

    def tables(self):
        """Names of the tables with their columns, the full text's own left out."""
        names = self.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'full_text%'")
        return {name: [row["name"] for row in self.rows(f"PRAGMA table_info({name})")] for name in names}

    def room_id(self, number):
        room = self.rooms.get(number)
        return room["room_id"] if room else f"the missing room {number}"

    def content(self, number, kind, key=""):
        """The current state, from its table; {} if there is none."""
        position = self.column("SELECT event FROM current_state WHERE room = ? AND type = ? AND state_key = ?", number, kind, key)
        event = self.events.get(position[0]) if position else None
        return event.content if event else {}


def violations(folder, purged_history=False):
    """(sentence, texts) of each invariant; `texts` is empty where it holds."""
    import account_invariants, media_invariants, room_invariants  # noqa: E401, F401 - they add theirs
    databases.bring(folder)
    # A database that is not one must not be read further.
    with sqlite3.connect(f"file:{os.path.join(folder, 'martlet.db')}?mode=ro", uri=True) as connection:
        integrity = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    yield "the database is whole (PRAGMA integrity_check)", [text for text in integrity if text != "ok"]
    if integrity != ["ok"]:
        return
    store = Store(folder, purged_history)
    try:
        for sentence, check in INVARIANTS:
            yield sentence, list(check(store))
    finally:
        store.close()


def report(folder, purged_history=False):
    """What is violated, as text; empty where everything holds."""
    lines = []
    for sentence, texts in violations(folder, purged_history):
        if texts:
            lines.append(f"NOT TRUE: {sentence} ({len(texts)} times)")
            lines += [f"    {text}" for text in texts[:EXAMPLES]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--purged-history", action="store_true")
    options = parser.parse_args()
    failed = 0
    for sentence, texts in violations(options.folder, options.purged_history):
        failed += bool(texts)
        print(("NOT TRUE  " if texts else "holds     ") + sentence)
        for text in texts[:EXAMPLES]:
            print("    " + text)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    # The modules that add invariants import this one by its name.
    sys.modules["invariants"] = sys.modules["__main__"]
    main()
