"""What a room looks like to somebody: from raw events, and how two such views differ.

A view is a dictionary: `timeline` (a list of rows), `threads` (rows by root), `members` (membership and shown name by user),
`receipts` (the last row read by user), `unread`, `highlights`. Fields that a client does not have are left out.
"""
import re

# What the page says before a row that is the first of a day or of what is new, of a message, of rows that stand for messages it lacks, of one that is not sent; the names of buttons below a message.
ABOVE = re.compile(r"((Today|Yesterday|New messages)\. )*")
MESSAGE = re.compile(r".+?, \d{1,2}:\d{2}[,:]")
GAPS = ("Some messages are missing here.", "Loading messages…", "Could not load messages.")
PENDING = ("Sending…", "Waiting to send", "Not sent")
REACTION = re.compile(r"(.+?) (\d+)(?:, .*)?$", re.DOTALL)
REPLIES = re.compile(r"\d+ repl(?:y|ies)")
SPOKEN_REACTIONS = 5
# What it says behind the words of a message whose sender is not certain.
SIGNS = re.compile(r", (Not encrypted|Sent by a device that its owner has not verified\.|Sent by a device that is unknown or was deleted\.)$")
SETTINGS = ("m.room.join_rules", "m.room.history_visibility", "m.room.guest_access", "m.room.power_levels", "m.room.server_acl")


def relation(event):
    """(kind, target) of `m.relates_to`."""
    related = event["content"].get("m.relates_to") or {}
    return related.get("rel_type"), related.get("event_id")


def is_edit(event):
    return event["type"] == "m.room.message" and relation(event)[0] == "m.replace"


def thread_root(event):
    kind, target = relation(event)
    return target if kind == "m.thread" and "state_key" not in event else None


def is_redacted(event):
    return "redacted_because" in event.get("unsigned", {}) or (event["type"] == "m.room.message" and not event["content"])


def is_shown_state(event):
    before = event.get("unsigned", {}).get("prev_content")
    if event["type"] in SETTINGS:
        return before is not None
    if event["type"] == "m.room.member" and before and before.get("membership") == event["content"].get("membership") == "join":
        return any(before.get(key) != event["content"].get(key) for key in ("displayname", "avatar_url"))
    return True


class Events:
    """Raw events of a room, the oldest first, and what they say of each other."""

    def __init__(self, events):
        self.events = events
        self.redacted = {event["event_id"] for event in events if is_redacted(event)}
        self.redacted |= {event["content"].get("redacts") or event.get("redacts") for event in events if event["type"] == "m.room.redaction"}
        self.edits, self.marks, self.replies = {}, {}, {}
        for event in events:
            if event["event_id"] in self.redacted:
                continue
            if is_edit(event):
                self.edits.setdefault(relation(event)[1], []).append(event)
            elif event["type"] == "m.reaction":
                self.marks.setdefault(relation(event)[1], []).append(event)
            elif thread_root(event):
                self.replies.setdefault(thread_root(event), []).append(event)

    def is_row(self, event):
        if "state_key" in event:
            return is_shown_state(event)
        return event["type"] == "m.room.message" and not is_edit(event)

    def row(self, event):
        event_id = event["event_id"]
        row = {"event": event_id, "sender": event["sender"], "edited": False, "reactions": {}}
        if "state_key" in event:
            return row | {"kind": "state"}
        replies = self.replies.get(event_id)
        if replies:
            row["replies"] = len(replies)
        if event_id in self.redacted:
            return row | {"kind": "redacted"}
        related = event["content"].get("m.relates_to") or {}
        row |= {"kind": "message", "text": event["content"].get("body"), "reactions": self.reactions(event_id)}
        if thread_root(event):
            row["root"] = thread_root(event)
        if "m.in_reply_to" in related and not related.get("is_falling_back"):
            row["reply"] = related["m.in_reply_to"]["event_id"]
        edits = [edit for edit in self.edits.get(event_id, []) if edit["sender"] == event["sender"]]
        if edits:
            newest = max(edits, key=in_time)
            row |= {"edited": True, "text": newest["content"].get("m.new_content", {}).get("body")}
        return row

    def reactions(self, event_id):
        found = {}
        for mark in sorted(self.marks.get(event_id, []), key=in_time):
            senders = found.setdefault(mark["content"]["m.relates_to"]["key"], [])
            if mark["sender"] not in senders:
                senders.append(mark["sender"])
        return found

    def timeline(self, has_threads=False):
        return [self.row(event) for event in self.events if self.is_row(event) and (has_threads or not thread_root(event))]

    def thread(self, root):
        return [self.row(event) for event in self.events if self.is_row(event) and (event["event_id"] == root or thread_root(event) == root)]

    def readers(self, receipts, has_threads=False):
        """The last row that each user has read or written. `receipts`: event IDs by user, several where there are several."""
        place, places, rows = None, {}, []
        found = {}
        for event in self.events:
            if self.is_row(event) and (has_threads or not thread_root(event)):
                place = len(rows)
                rows.append(event["event_id"])
                found[event["sender"]] = place
            places[event["event_id"]] = place
        for user, events in receipts.items():
            known = [places[event] for event in events if places.get(event) is not None]
            if known:
                found[user] = max([*known, found.get(user, -1)])
        return {user: rows[place] for user, place in found.items()}


def line(event, name):
    """What the page says of a state event; `name` gives the shown name of a user."""
    content, before = event["content"], event.get("unsigned", {}).get("prev_content") or {}
    sender = name(event["sender"])
    if event["type"] == "m.room.create":
        return f"{sender} created the room"
    if event["type"] == "m.room.name":
        return f"{sender} named the room “{content['name']}”"
    if event["type"] == "m.room.encryption":
        return f"{sender} turned on encryption"
    user, old, new, is_own = name(event["state_key"]), before.get("membership", "leave"), content["membership"], event["state_key"] == event["sender"]
    if old == new == "join":
        called = f"{before['displayname']} ({event['state_key']})" if before.get("displayname") else event["state_key"]
        return f"{called} is now called {content['displayname']}" if content.get("displayname") else f"{called} removed their display name"
    if new == "join":
        return f"{user} joined"
    if new == "invite":
        return f"{sender} invited {user}"
    if new == "ban":
        return f"{sender} banned {user}"
    if old == "ban":
        return f"{sender} unbanned {user}"
    if old == "invite":
        return f"{user} declined the invitation" if is_own else f"{sender} withdrew the invitation of {user}"
    return f"{user} left" if is_own else f"{sender} removed {user}"


def page_row(row):
    """A row of our page by what is said of it aloud, as `Truth.page_rows` has it."""
    spoken = ABOVE.sub("", row["spoken"], count=1)
    if not MESSAGE.match(spoken):
        return {"kind": "gap" if spoken in GAPS else "state", "text": spoken}
    about, text = spoken.split(": ", 1)
    reactions = {key: int(count) for key, count in (REACTION.match(name).groups() for name, is_choice in row["buttons"] if is_choice)}
    replies = [found[0] for name, _ in row["buttons"] if (found := REPLIES.match(name))]
    behind = [f", {key} {count}" for key, count in list(reactions.items())[:SPOKEN_REACTIONS]] + [f", {words}" for words in replies]
    shown = {"kind": "message", "text": SIGNS.sub("", text.removesuffix("".join(behind))), "name": about.split(", ")[0], "edited": ", edited" in about,
             "replies": int(replies[0].split(" ")[0]) if replies else 0, "reactions": reactions}
    return shown | {"pending": spoken} if any(words in about for words in PENDING) else shown


def in_time(event):
    return event["origin_server_ts"], event["event_id"]


def receipts_of(content, into):
    """Adds what a receipt event says, threads other than the main one left out: {user: {thread or None: event}}."""
    for event_id, kinds in content.items():
        for user, receipt in kinds.get("m.read", {}).items():
            if receipt.get("thread_id") in (None, "main"):
                into.setdefault(user, {})[receipt.get("thread_id")] = event_id


def shown_names(members):
    """members: {user: (membership, name)}. Spec: "Calculating the display name for a user"."""
    present = {user: name for user, (membership, name) in members.items() if membership in ("join", "invite")}
    names = list(present.values())
    shown = {}
    for user, (membership, name) in members.items():
        if user in present:
            shown[user] = [membership, user if not name else f"{name} ({user})" if names.count(name) > 1 else name]
        elif membership == "ban":
            shown[user] = [membership, None]
    return shown


def difference(truth, view, place=""):
    """Where a view differs from the truth first, in words; None where it does not. What the view lacks as a whole is not compared."""
    if isinstance(truth, dict) and isinstance(view, dict):
        for key in truth if not place else sorted(set(truth) | set(view)):
            if not place and key not in view:
                continue
            found = difference(truth.get(key), view.get(key), f"{place}/{key}")
            if found:
                return found
        return None
    if isinstance(truth, list) and isinstance(view, list):
        for index, (left, right) in enumerate(zip(truth, view)):
            found = difference(left, right, f"{place}/{index}")
            if found:
                return f"{found}\n            the row should be {left}\n            and is            {right}" if isinstance(left, dict) else found
        if len(truth) == len(view):
            return None
        longer, who = (truth, "it lacks") if len(truth) > len(view) else (view, "it has beyond the end")
        return f"{place}: {len(view)} rows instead of {len(truth)}; {who} {longer[min(len(truth), len(view))]}"
    return None if truth == view else f"{place} is {view!r} and should be {truth!r}"
