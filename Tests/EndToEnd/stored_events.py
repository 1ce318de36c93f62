"""Events as the rows of `event` hold them, put together again: what was hashed, what the event ID is made of.

Spec: Server-Server API, "Signing Events"; room versions, "Redactions".
"""
import base64
import hashlib
import json

TOP_LEVEL = {"type", "room_id", "sender", "state_key", "content", "hashes", "signatures", "depth", "prev_events", "auth_events", "origin_server_ts"}
# Top-level keys that versions before 11 kept as well.
TOP_LEVEL_BEFORE_11 = TOP_LEVEL | {"origin", "membership", "prev_state"}
POWER_LEVELS = {"ban", "events", "events_default", "kick", "redact", "state_default", "users", "users_default"}


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value):
    return hashlib.sha256(canonical(value)).digest()


def kept_content(kind, content, version):
    """The content that a redaction leaves."""
    keys = {
        "m.room.member": {"membership"} | ({"join_authorised_via_users_server"} if version >= 9 else set()),
        "m.room.create": set(content) if version >= 11 else {"creator"},
        "m.room.join_rules": {"join_rule"} | ({"allow"} if version >= 8 else set()),
        "m.room.power_levels": POWER_LEVELS | ({"invite"} if version >= 11 else set()),
        "m.room.history_visibility": {"history_visibility"},
        "m.room.redaction": {"redacts"} if version >= 11 else set(),
    }.get(kind, set())
    kept = {key: value for key, value in content.items() if key in keys}
    if kind == "m.room.member" and version >= 11:
        signed = content.get("third_party_invite", {}).get("signed") if isinstance(content.get("third_party_invite"), dict) else None
        if signed is not None:
            kept["third_party_invite"] = {"signed": signed}
    return kept


def redacted(pdu, version):
    top = TOP_LEVEL if version >= 11 else TOP_LEVEL_BEFORE_11
    reduced = {key: value for key, value in pdu.items() if key in top}
    reduced["content"] = kept_content(pdu["type"], pdu["content"], version)
    return reduced


class StoredEvent:
    """One row of `event` with its fragments parsed. `pdu` is the whole event as a server would send it."""

    def __init__(self, row, room_id, version):
        for name in ("position", "room", "event_id", "type", "state_key", "sender", "timestamp", "depth", "redacted_by", "replaces", "thread"):
            setattr(self, name, row[name])
        self.version = int(version)
        self.pdu = json.loads(b"{" + row["shared"] + b"," + row["federation"] + b"}")
        if not (self.type == "m.room.create" and self.version >= 12):
            self.pdu["room_id"] = room_id
        self.content = self.pdu["content"]

    def faults(self):
        """What of the row is not what the fragments say."""
        for name, value in (("type", self.type), ("sender", self.sender), ("origin_server_ts", self.timestamp), ("depth", self.depth), ("state_key", self.state_key)):
            if self.pdu.get(name) != value:
                yield f"its column {name} says {value!r}, its fragment {self.pdu.get(name)!r}"
        without = {key: value for key, value in self.pdu.items() if key not in ("signatures", "unsigned", "hashes")}
        if self.redacted_by is None and encoded(digest(without)) != self.pdu["hashes"]["sha256"]:
            yield "its content hash is another"
        if self.redacted_by is not None and redacted(self.pdu, self.version) != self.pdu:
            yield "it was redacted, and more is left than a redaction leaves"
        reference = {key: value for key, value in redacted(self.pdu, self.version).items() if key != "signatures"}
        if "$" + encoded(digest(reference), urlsafe=True) != self.event_id:
            yield "its ID is not its reference hash"

    @property
    def relation(self):
        """(rel_type, parent's event ID, key), None where it has none that counts."""
        relation = self.content.get("m.relates_to")
        if not isinstance(relation, dict):
            return None
        kind, parent, key = relation.get("rel_type"), relation.get("event_id"), relation.get("key", "")
        if not isinstance(kind, str) or not isinstance(parent, str) or not 1 <= len(kind.encode()) <= 255 or "\0" in kind or not is_event_id(parent):
            return None
        return kind, parent, key if isinstance(key, str) else ""

    def may_be_replaced_by(self, other):
        """Spec: Client-Server API, "Validity of replacement events". `other` says of itself that it is a replacement."""
        return (
            self.state_key is None and other.state_key is None and self.sender == other.sender and self.type == other.type
            and (self.relation or ("",))[0] != "m.replace"
            and (other.type == "m.room.encrypted" or isinstance(other.content.get("m.new_content"), dict))
        )


def is_event_id(text):
    return text.startswith("$") and 2 <= len(text.encode()) <= 255 and "\0" not in text


def encoded(data, urlsafe=False):
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    return encode(data).decode().rstrip("=")
