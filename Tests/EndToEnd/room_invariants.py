"""What must hold of rooms: events, state, memberships, receipts, relations, lists, full text."""
import json

from invariants import invariant

MEMBERSHIPS = {"leave": 0, "invite": 1, "join": 2, "ban": 3, "knock": 4}
LEFT = (0, 3)


# Positions


@invariant("positions are given out once, and none is beyond the head of the stream")
def positions(store):
    head = store.column("SELECT position FROM stream_head")
    if len(head) != 1:
        yield f"the head of the stream has {len(head)} rows"
        return
    used = {}
    alone = [("room", "room"), ("event", "position"), ("receipt", "position"), ("account_data", "position")]
    for table, column in alone:
        for position in store.column(f"SELECT {column} FROM {table}"):
            if position in used and (used[position], table) != ("account_data", "account_data"):
                yield f"position {position} is of a row of {used[position]} and of one of {table}"
            used[position] = table
    for table, columns in store.tables().items():
        if "position" not in columns or table == "stream_head":
            continue
        for position in store.column(f"SELECT max(position) FROM {table}"):
            if position is not None and position > head[0]:
                yield f"{table} has position {position}, the head is {head[0]}"


@invariant("rows of rooms are of rooms that exist")
def rooms_exist(store):
    for table, columns in store.tables().items():
        if "room" in columns and table not in ("room", "purged_room"):
            for number in store.column(f"SELECT DISTINCT room FROM {table}"):
                if number not in store.rooms:
                    yield f"{table} has rows of the missing room {number}"
    for row in store.rows("SELECT room, room_id, complete FROM purged_room"):
        if row["room"] in store.rooms:
            yield f"{row['room_id']} was deleted and is there"
        if not row["complete"]:
            yield f"the deletion of {row['room_id']} was not finished"


# Events


@invariant("every event is what its hashes, its ID and its columns say")
def events(store):
    for event in store.events.values():
        for fault in event.faults():
            yield f"{event.event_id} ({event.type}) in {store.room_id(event.room)}: {fault}"


@invariant("a room begins with its creation; of versions from 12 on that is its ID")
def creations(store):
    for number, room in store.rooms.items():
        events = store.by_room.get(number, [])
        if not events:
            yield f"{room['room_id']} has no events"
            continue
        first = events[0]
        if first.type != "m.room.create" or first.state_key != "":
            yield f"{room['room_id']} begins with {first.type}"
        if int(room["version"]) >= 12 and "!" + first.event_id[1:] != room["room_id"]:
            yield f"{room['room_id']} was created by {first.event_id}"
        if first.content.get("room_version", "1") != room["version"]:
            yield f"{room['room_id']} is of version {room['version']}, its creation says {first.content.get('room_version')}"


@invariant("events name events before them in their room, and are one deeper than the deepest of them")
def graph(store):
    for number, events in store.by_room.items():
        named = set()
        for event in events:
            previous = event.pdu["prev_events"]
            named.update(previous)
            if not previous and event.type != "m.room.create":
                yield f"{event.event_id} names no events"
            known = [store.by_id[name] for name in previous if name in store.by_id]
            if len(known) < len(previous) and not store.purged_history:
                yield f"{event.event_id} names events that are not there"
            if any(other.room != number or other.position >= event.position for other in known):
                yield f"{event.event_id} names events of another room, or later ones"
            if previous and len(known) == len(previous) and event.depth != 1 + max(other.depth for other in known):
                yield f"{event.event_id} is at depth {event.depth}, after {[other.depth for other in known]}"
            for name in event.pdu["auth_events"]:
                other = store.by_id.get(name)
                if other is None or other.room != number or other.position >= event.position or other.state_key is None:
                    yield f"{event.event_id} is authorized by {name}, which is no state before it in its room"
        extremities = {row["event_id"]: row["depth"] for row in store.rows("SELECT event_id, depth FROM forward_extremity WHERE room = ?", number)}
        ends = {event.event_id for event in events if event.event_id not in named}
        if ends != set(extremities) | {events[-1].event_id} or events[-1].event_id in extremities:
            yield f"{store.room_id(number)} ends in {sorted(ends)}, its extremities are {sorted(extremities)} and {events[-1].event_id}"


@invariant("what redacts and what is redacted belong together")
def redactions(store):
    for event in store.events.values():
        if event.redacted_by is None:
            continue
        redaction = store.events.get(event.redacted_by)
        if redaction is None or redaction.type != "m.room.redaction" or redaction.room != event.room:
            yield f"{event.event_id} was redacted by {event.redacted_by}, which is no redaction in its room"
        elif (redaction.content if event.version >= 11 else redaction.pdu).get("redacts") != event.event_id and redaction.redacted_by is None:
            yield f"{event.event_id} was redacted by {redaction.event_id}, which is about another event"


@invariant("a transaction ID leads to an event that is there")
def transactions(store):
    for row in store.rows("SELECT * FROM sent_transaction"):
        event = store.by_id.get(row["event_id"])
        if event is None and row["event_id"] not in ("", None) and row["event_id"].startswith("$") and not (store.purged_history or store.rows("SELECT 1 FROM purged_room")):
            yield f"{row['transaction_id']} of {row['user_id']} leads to the missing {row['event_id']}"
        if event is not None and event.sender != row["user_id"]:
            yield f"{row['transaction_id']} of {row['user_id']} leads to an event of {event.sender}"


# State


@invariant("the current state is the newest of the changes, and what a replay of the events comes to")
def state(store):
    for number in store.rooms:
        replayed, changes, newest = {}, [], {}
        for event in store.by_room.get(number, []):
            if event.state_key is not None:
                key = (event.type, event.state_key)
                if event.replaces != replayed.get(key):
                    yield f"{event.event_id} replaces {event.replaces}, current was {replayed.get(key)}"
                replayed[key] = event.position
                changes.append((*key, event.position, event.position))
            elif event.replaces is not None:
                yield f"{event.event_id} is no state and replaces {event.replaces}"
        rows = store.rows("SELECT type, state_key, position, event FROM state_change WHERE room = ? ORDER BY position", number)
        for row in rows:
            newest[(row["type"], row["state_key"])] = row["event"]
        current = {(row["type"], row["state_key"]): row["event"] for row in store.rows("SELECT type, state_key, event FROM current_state WHERE room = ?", number)}
        if current != newest:
            yield f"{store.room_id(number)}: current state and newest changes differ in {differences(current, newest)}"
        if current != replayed:
            yield f"{store.room_id(number)}: current state and replayed events differ in {differences(current, replayed)}"
        if [tuple(row) for row in rows] != changes:
            yield f"{store.room_id(number)}: its {len(rows)} changes are not its {len(changes)} state events"


def differences(one, other):
    return [(key, one.get(key), other.get(key)) for key in sorted(set(one) | set(other)) if one.get(key) != other.get(key)][:3]


@invariant("memberships of users are the member events of rooms")
def memberships(store):
    rows = {(row["room"], row["user_id"]): row for row in store.rows("SELECT * FROM membership")}
    members = {(row["room"], row["state_key"]): store.events.get(row["event"]) for row in store.rows("SELECT * FROM current_state WHERE type = 'm.room.member'")}
    for room, user in sorted(set(rows) ^ set(members)):
        yield f"{user} in {store.room_id(room)} has {'a row and no event' if (room, user) in rows else 'an event and no row'}"
    for key in set(rows) & set(members):
        row, event, place = rows[key], members[key], f"{key[1]} in {store.room_id(key[0])}"
        if event is None:
            yield f"{place} has an event that is not there"
        elif row["membership"] != MEMBERSHIPS.get(event.content.get("membership")) or (row["position"], row["event"]) != (event.position, event.position):
            yield f"{place} is {row['membership']} at {row['position']}, the event says {event.content.get('membership')} at {event.position}"
        elif row["forgotten"] and row["membership"] not in LEFT:
            yield f"{place} was forgotten and is {event.content.get('membership')}"


# Receipts and counts


@invariant("receipts point to events of their room, in their thread")
def receipts(store):
    for row in store.rows("SELECT * FROM receipt"):
        event, place = store.events.get(row["event"]), f"the receipt of {row['user_id']} in {store.room_id(row['room'])}"
        if row["kind"] not in (0, 1):
            yield f"{place} is of kind {row['kind']}"
        if event is None:
            if not store.purged_history:
                yield f"{place} points to nothing"
        elif event.event_id != row["event_id"] or event.room != row["room"]:
            yield f"{place} points to {event.event_id} in {store.room_id(event.room)}, by its name to {row['event_id']}"
        elif row["thread"] not in ("", "main") and row["thread"] not in store.by_id:
            yield f"{place} is in a thread without a root"
        if (row["room"], row["user_id"]) not in members_ever(store):
            yield f"{place} is of somebody who never was in the room"


def members_ever(store):
    if not hasattr(store, "members_ever"):
        store.members_ever = {tuple(row) for row in store.rows("SELECT room, user_id FROM membership")}
    return store.members_ever


@invariant("checkpoints of unread counts are not beyond receipts nor the newest event, and count no more than there is")
def checkpoints(store):
    for row in store.rows("SELECT * FROM unread_checkpoint"):
        place = f"the checkpoint of {row['user_id']} in {store.room_id(row['room'])}"
        events = store.by_room.get(row["room"], [])
        if not events or row["position"] > events[-1].position:
            yield f"{place} is at {row['position']}, the newest event at {events[-1].position if events else None}"
        everything, *threads = row["receipts"].split("|")
        read = dict(store.rows("SELECT CASE thread WHEN '' THEN 'all' ELSE thread END, max(event) FROM receipt WHERE room = ? AND user_id = ? GROUP BY thread", row["room"], row["user_id"]))
        for thread, position in [("all", everything)] + [tuple(thread.rsplit("=", 1)) for thread in threads]:
            if int(position) > read.get(thread, 0):
                yield f"{place} stands on a receipt at {position} of {thread}, there is {read.get(thread)}"
        rules = store.column("SELECT position FROM account_data WHERE user_id = ? AND room_id = '' AND type = 'm.push_rules'", row["user_id"])
        # Every account has push rules until it is erased; then nobody counts any more.
        if rules and row["rules"] > max(rules + [position for position in store.column("SELECT position FROM account_data WHERE user_id = ? AND room_id = ''", row["user_id"])], default=0):
            yield f"{place} stands on push rules of {row['rules']}, which are later than any account data"
        counts = json.loads(row["counts"])
        possible = sum(1 for event in events if int(everything) < event.position <= row["position"] and event.sender != row["user_id"])
        if any(number < 0 for count in counts.values() for number in count) or sum(count[0] for count in counts.values()) > possible:
            yield f"{place} counts {counts} of {possible} events"


# Relations


@invariant("relations and threads are a recount of what events say")
def relations(store):
    expected, threads, uncertain = {}, {}, set()
    for event in store.events.values():
        relation = event.relation
        parent = store.by_id.get(relation[1]) if relation and event.redacted_by is None else None
        if parent is None or parent.room != event.room or parent.position >= event.position:
            continue
        kind, _, annotation = relation
        bundled = kind == "m.reference" and parent.state_key is None or kind == "m.replace" and parent.may_be_replaced_by(event)
        key = (event.room, parent.position, event.position)
        expected[key] = (kind, event.type, event.sender, event.timestamp, int(bundled), annotation.encode() if kind == "m.annotation" else b"")
        if parent.redacted_by is not None:
            uncertain.add(key)  # a redacted parent does not tell whether it was a replacement itself
        if kind == "m.thread":
            latest, messages = threads.get(key[:2], (0, 0))
            threads[key[:2]] = (max(latest, event.position), messages + 1)
            if event.thread != parent.event_id:
                yield f"{event.event_id} is in the thread of {parent.event_id}, its row says {event.thread}"
    found = {(row["room"], row["parent"], row["position"]): (row["kind"], row["type"], row["sender"], row["timestamp"], row["bundled"], row["annotation"]) for row in store.rows("SELECT * FROM event_relation")}
    for key in set(expected) | set(found):
        one, other = expected.get(key), found.get(key)
        if key in uncertain and one and other:
            one, other = one[:4] + one[5:], other[:4] + other[5:]
        if one != other:
            yield f"{store.room_id(key[0])}: the events at {key[1:]} say {one}, their row {other}"
    rows = {(row["room"], row["root"]): (row["latest"], row["messages"]) for row in store.rows("SELECT * FROM room_thread")}
    for key in sorted(set(threads) | set(rows)):
        if threads.get(key) != rows.get(key):
            yield f"{store.room_id(key[0])}: the thread at {key[1]} has {threads.get(key)}, its row says {rows.get(key)}"


# Lists


@invariant("the lists of rooms tell what their state says")
def room_lists(store):
    joined = {number: count for number, count in store.rows("SELECT room, count(*) FROM membership WHERE membership = 2 GROUP BY room")}
    listed = {}
    for row in store.rows("SELECT * FROM public_room_list"):
        listed.setdefault(row["room"], set()).add(row["list"])
        if row["joined"] != joined.get(row["room"], 0):
            yield f"{store.room_id(row['room'])} has {joined.get(row['room'], 0)} members, {row['list']} says {row['joined']}"
    described = {row["room"]: row for row in store.rows("SELECT * FROM public_room")}
    for number in sorted(set(listed) ^ set(described)):
        yield f"{store.room_id(number)} is {'in a list without its description' if number in listed else 'described and in no list'}"
    for number, lists in listed.items():
        if "all" not in lists or lists == {"all"}:
            yield f"{store.room_id(number)} is in {sorted(lists)}"
    for number, row in described.items():
        summary, expected = json.loads(b"{" + row["summary"] + b"}"), listing(store, number)
        if summary != expected:
            yield f"{store.room_id(number)} is described by {summary}, its state says {expected}"
    open_rooms = set(store.column("SELECT room FROM open_room"))
    expected = {number for number in store.rooms if is_open(store, number)}
    for number in sorted(open_rooms ^ expected):
        yield f"{store.room_id(number)} is {'not ' if number in open_rooms else ''}open to everyone by its state"


def is_open(store, number):
    return store.content(number, "m.room.join_rules").get("join_rule") == "public" or store.content(number, "m.room.history_visibility").get("history_visibility") == "world_readable"


def listing(store, number):
    """Spec: Client-Server API, `PublishedRoomsChunk`."""
    def text(kind, key):
        value = store.content(number, kind).get(key)
        return value if isinstance(value, str) and value else None

    rich = rich_topic(store.content(number, "m.room.topic"))
    plain = text("m.room.topic", "topic") if rich is None else next(iter(rich), None) or None
    kind = store.content(number, "m.room.create").get("type")
    summary = {
        "room_id": store.room_id(number), "name": text("m.room.name", "name"), "topic": plain, "avatar_url": text("m.room.avatar", "url"),
        "canonical_alias": text("m.room.canonical_alias", "alias"), "join_rule": known_join_rule(store.content(number, "m.room.join_rules").get("join_rule")),
        "room_type": kind if isinstance(kind, str) else None,
        "world_readable": store.content(number, "m.room.history_visibility").get("history_visibility") == "world_readable",
        "guest_can_join": store.content(number, "m.room.guest_access").get("guest_access") == "can_join",
    }
    return {key: value for key, value in summary.items() if value is not None}


@invariant("aliases lead to rooms")
def aliases(store):
    for row in store.rows("SELECT * FROM room_alias"):
        if row["room"] not in store.rooms or not row["alias"].startswith("#"):
            yield f"{row['alias']} leads to {store.room_id(row['room'])}"


# Full text


@invariant("the full text is that of the events, edits included")
def full_text(store):
    progress = store.column("SELECT position FROM search_progress")[0]
    edits = {}
    for row in store.rows("SELECT r.parent, r.position FROM event_relation r WHERE r.kind = 'm.replace' AND r.bundled = 1"):
        edits.setdefault(row["parent"], []).append(store.events[row["position"]])
    expected, edits_of_redacted = {}, {}
    for event in store.events.values():
        if event.position > progress or event.redacted_by is not None:
            continue
        parent = store.by_id.get(event.relation[1]) if event.relation and event.relation[0] == "m.replace" else None
        if parent and parent.room == event.room and parent.position < event.position and parent.may_be_replaced_by(event):
            # It shows as the text of what it replaces. Where that was redacted nobody can tell any more whether it was an edit itself, which
            # cannot be replaced: then this one stands in the index as a message of its own.
            if parent.redacted_by is not None:
                edits_of_redacted[event.position] = (f"s{event.room}", squeezed(searchable(event, event.content) or ""))
            continue
        content = event.content
        known = [edit for edit in edits.get(event.position, []) if edit.position <= progress]
        if known:
            content = max(known, key=lambda edit: (edit.timestamp, edit.event_id)).content["m.new_content"]
        text = searchable(event, content)
        if text is not None:
            expected[event.position] = (f"s{event.room}", squeezed(text))
    found = {row["rowid"]: (row["scope"], squeezed(row["body"])) for row in store.rows("SELECT rowid, scope, body FROM full_text")}
    for position in sorted(set(expected) | set(found)):
        allowed = (expected.get(position), edits_of_redacted.get(position, expected.get(position)))
        if not any(is_indexed(found.get(position), entry) for entry in allowed):
            yield f"the event at {position} has the text {expected.get(position)}, the index {found.get(position)}; {described(store, position)}"


def is_indexed(found, entry):
    """Whether the index has this entry: the text, and behind it on lines of their own the words in which letters and digits meet."""
    if found is None or entry is None or found == entry:
        return found == entry
    (scope, body), (wanted_scope, text) = found, entry
    letters = "".join(filter(str.isalnum, text))
    return scope == wanted_scope and body.startswith(text + "\n") and all(
        "".join(filter(str.isalnum, line)) in letters for line in body[len(text):].split("\n"))


def known_join_rule(value):
    return value if value in ("public", "invite", "knock", "restricted", "knock_restricted", "private") else None


def described(store, position):
    event = store.events.get(position)
    if event is None:
        return "there is no such event"
    parent = store.by_id.get(event.relation[1]) if event.relation else None
    of_parent = f", whose event at {parent.position} is redacted by {parent.redacted_by} and relates to {parent.relation}" if parent else ""
    return f"it is redacted by {event.redacted_by} and relates to {event.relation}{of_parent}"


def searchable(event, content):
    if event.type == "m.room.message" and event.state_key is None:
        return string(content.get("body"))
    if event.type == "m.room.name" and event.state_key == "":
        return string(content.get("name"))
    if event.type == "m.room.topic" and event.state_key == "":
        parts = [part for part in [string(content.get("topic")), *(rich_topic(content) or [])[:1]] if part is not None]
        return "\n".join(dict.fromkeys(parts)) if parts else None
    return None


def rich_topic(content):
    """The bodies of the plain texts in the structured form of a topic, None for one that is no string; None without that form."""
    topic = content.get("m.topic")
    texts = topic.get("m.text") if isinstance(topic, dict) else None
    if not isinstance(texts, list):
        return None
    entries = [entry if isinstance(entry, dict) else {} for entry in texts]
    return [string(entry.get("body")) for entry in entries if entry.get("mimetype", "text/plain") == "text/plain"]


def string(value):
    return value if isinstance(value, str) else None


def squeezed(text):
    """The index puts spaces around characters of scripts that have none."""
    return "".join(text.split(" "))
