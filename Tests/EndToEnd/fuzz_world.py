"""What exists on the server that is fuzzed, and how generated requests are led to it."""
import hashlib
import hmac
from urllib.parse import quote

from client import PASSWORD, Api, User, fresh, room_path

SHARED_SECRET = "a secret of the tests"
# How often a generated value gives way to one that exists.
KNOWN_SHARE = 0.8


def administrator(base):
    """A user made by the shared secret, as an administrator."""
    api, name = Api(base), fresh("admin")
    nonce = api.get("/_synapse/admin/v1/register").ok()["nonce"]
    mac = hmac.new(SHARED_SECRET.encode(), "\0".join([nonce, name, PASSWORD, "admin"]).encode(), hashlib.sha1).hexdigest()
    session = api.post("/_synapse/admin/v1/register", {"nonce": nonce, "username": name, "password": PASSWORD, "admin": True, "mac": mac}).ok()
    api.token, api.user_id = session["access_token"], session["user_id"]
    return api


class FuzzWorld:
    """Rooms, events, media and keys of a user who owns them, with others in the rooms."""

    def __init__(self, base):
        self.user, self.other, self.admin = User(base, "fuzzed"), User(base, "other"), administrator(base)
        user, other, self.victim = self.user, self.other, User(base, "victim").user_id
        alias = fresh("room")
        self.room = user.create_room(preset="public_chat", name="Fuzzed", topic="t", room_alias_name=alias, visibility="public", invite=[other.user_id])
        self.rooms = [self.room, user.create_room(room_version="6"), user.create_room(creation_content={"type": "m.space"}), other.create_room(preset="public_chat")]
        user.state(self.rooms[2], "m.space.child", {"via": ["test.example"]}, self.room).ok()
        other.join(self.room)
        self.events = [user.send(self.room, f"words {number}") for number in range(5)]
        root = {"rel_type": "m.thread", "event_id": self.events[0]}
        self.events.append(user.send(self.room, "in a thread", **{"m.relates_to": root}))
        self.events.append(other.send(self.room, "theirs"))
        replaced = {"rel_type": "m.replace", "event_id": self.events[1]}
        user.send(self.room, "* better", **{"m.relates_to": replaced, "m.new_content": {"msgtype": "m.text", "body": "better"}})
        annotation = {"m.relates_to": {"rel_type": "m.annotation", "event_id": self.events[2], "key": "a"}}
        user.put(room_path(self.room, "send", "m.reaction", fresh("t")), annotation).ok()
        user.put(room_path(self.room, "redact", self.events[3], fresh("t")), {}).ok()
        user.post(room_path(self.room, "receipt", "m.read", self.events[4]), {}).ok()
        media = user.request("POST", "/_matrix/media/v3/upload", body=b"text", headers={"Content-Type": "text/plain"}).ok()["content_uri"]
        pending = user.post("/_matrix/media/v1/create").ok()["content_uri"]
        backup = {"algorithm": "m.megolm_backup.v1.curve25519-aes-sha2", "auth_data": {"public_key": "A" * 43, "signatures": {}}}
        version = user.post("room_keys/version", backup).ok()["version"]
        session = {"first_message_index": 1, "forwarded_count": 0, "is_verified": True, "session_data": {"ciphertext": "c"}}
        user.put(f"room_keys/keys/{quote(self.room)}/session", session, version=version).ok()
        filter_id = user.post(f"user/{quote(user.user_id)}/filter", {"room": {"timeline": {"limit": 3}}}).ok()["filter_id"]
        user.put(f"user/{quote(user.user_id)}/account_data/org.example", {"a": 1}).ok()
        user.put(f"user/{quote(user.user_id)}/rooms/{quote(self.room)}/account_data/org.example", {"a": 1}).ok()
        user.put(f"user/{quote(user.user_id)}/rooms/{quote(self.room)}/tags/u.work", {"order": 0.5}).ok()
        batch = user.sync()["next_batch"]
        page = user.get(room_path(self.room, "messages"), dir="b", limit=3).ok()["end"]
        aliases = [f"#{alias}:test.example", f"#{fresh('new')}:test.example"]
        users, kinds = [user.user_id, user.user_id, other.user_id, self.admin.user_id], ["m.room.message", "m.room.name", "m.room.topic", "m.room.member", "m.room.power_levels", "m.room.join_rules", "org.example"]
        # By the name of a parameter or of a member of a body. Later rooms are less often wanted than the one with everything.
        self.known = {
            "roomId": [self.room] * 3 + self.rooms, "room_id": [self.room] * 3 + self.rooms, "eventId": self.events, "event_id": self.events, "userId": users, "user_id": users, "user": users,
            "roomIdOrAlias": [self.room, *self.rooms, *aliases], "roomAlias": aliases, "room_alias_name": [fresh("alias")], "serverName": ["test.example"], "via": [["test.example"]],
            "mediaId": [media.rsplit("/")[-1], pending.rsplit("/")[-1]], "deviceId": [user.device_id], "device_id": [user.device_id], "eventType": kinds, "type": kinds, "stateKey": ["", "", user.user_id],
            "receiptType": ["m.read", "m.read.private", "m.fully_read"], "relType": ["m.thread", "m.replace", "m.annotation", "m.reference"], "kind": ["override", "content", "room", "sender", "underride"],
            "ruleId": [".m.rule.master", ".m.rule.message", "mine"], "filterId": [filter_id], "version": [version], "sessionId": ["session"], "tag": ["u.work"], "keyName": ["displayname", "avatar_url", "m.tz"],
            "since": [batch, None], "from": [batch, page, None], "to": [batch, page, None], "networkId": ["none"], "new_version": ["6", "10", "11", "12"], "room_version": ["6", "9", "11", "12"],
            "limit": [1, 5, 50], "dir": ["b", "f"], "filter": [filter_id, '{"room":{"timeline":{"limit":1}}}', None],
            # What waits does not wait for long.
            "timeout": [0, 5], "timeout_ms": [1],
        }

    def lead(self, case, random):
        """Puts what exists in the place of what was generated, mostly."""
        for container in (case.path_parameters, case.query):
            for name in list(container or {}):
                if name in ("timeout", "timeout_ms") or name in self.known and random.random() < KNOWN_SHARE:
                    value = random.choice(self.known[name])
                    if value is None:
                        container.pop(name)
                    else:
                        container[name] = value
        if "/admin/" in case.operation.path and "userId" in (case.path_parameters or {}):
            case.path_parameters["userId"] = self.victim  # who is locked asks for nothing any more
        if isinstance(case.body, (dict, list)):
            case.body = self.led(case.body, random)

    def led(self, value, random):
        if isinstance(value, list):
            return [self.led(element, random) for element in value]
        if not isinstance(value, dict):
            return value
        return {
            key: random.choice(self.known[key]) if key in self.known and isinstance(member, (str, int)) and random.random() < KNOWN_SHARE else self.led(member, random)
            for key, member in value.items()
        }
