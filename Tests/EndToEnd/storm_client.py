"""One of the many clients of the storm: does whatever its seed says, and notes what must not happen."""
import asyncio
import json
import random
from urllib.parse import quote, unquote

import aiohttp

from client import PASSWORD

HANG_SECONDS = 90
NUMBERS = [0, -1, 2**31, 2**53 - 1, 2**53, 2**63, -2**63, 10**30, 0.5, 1e308]
TEXTS = ["", "\0", "ä€😀", "x" * 70_000, "%2e%2e/", "' OR 1=1 --", "\u202e", "!a:b", "@a:b", "$a", "#a:b", "true", "\ud7ff"]
BROKEN = [b"", b"{", b"nonsense", b'{"a":1,"a":2}', b"[" * 2000, b'{"a":"\xff"}', b"null", b"[]", b'"x"', b'{"a":1e999}', b"\0" * 64]
# Parameters that say how long the server may wait, in ms.
WAITS = ("timeout", "timeout_ms")
VERSIONS = [str(number) for number in range(6, 13)]


class World:
    """What the clients know of each other, the seed, and what went wrong."""

    def __init__(self, base, seed):
        self.base, self.seed = base, seed
        self.rooms, self.events, self.users, self.tokens, self.media, self.aliases = [], [], [], [], [], []
        self.calls, self.statuses, self.failures = 0, {}, []
        self.stopped = False

    def note(self, method, path, status, body, content_type):
        """The parsed body, where it is an object."""
        self.calls += 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 500 and b'"M_NOT_YET_UPLOADED"' not in body:  # 504 by the specification
            self.failures.append(f"{status} to {method} {path}: {body[:200]!r}")
        elif content_type == "application/json" and method != "HEAD":
            try:
                answer = json.loads(body)
            except (ValueError, RecursionError):
                self.failures.append(f"no JSON to {method} {path}: {body[:200]!r}")
            else:
                if status >= 400 and not (isinstance(answer, dict) and (isinstance(answer.get("errcode"), str) or status == 401 and "flows" in answer)):
                    self.failures.append(f"{status} without errcode to {method} {path}: {body[:200]!r}")
                return answer if isinstance(answer, dict) else None
        return None


class StormClient:
    def __init__(self, world, number, session):
        self.world, self.session, self.number = world, session, number
        self.random = random.Random(f"{world.seed}/{number}")
        self.is_hostile = number % 2 == 1
        self.token = self.user = self.device = self.since = self.position = self.version = None
        self.count = 0
        self.joined = []

    # Requests

    async def call(self, method, path, body=None, *, token=..., data=None, give_up=None, **query):
        """The parsed answer of a success, else None. `give_up`: seconds after which the connection is dropped."""
        if not path.startswith("/"):
            path = "/_matrix/client/v3/" + path
        token = self.token if token is ... else token
        headers = {"Authorization": "Bearer " + token} if token else {}
        if data is None and body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if self.is_hostile and self.random.random() < 0.25:
            path, data, query = self.spoil(path, data, query, headers)
            if any(query.get(name) in NUMBERS[2:] for name in WAITS):
                give_up = give_up or 0.5  # the server may wait as long as it was asked to
        url = aiohttp.client.URL(self.world.base + path + ("?" + "&".join(f"{key}={quote(str(value), safe='')}" for key, value in query.items() if value is not None) if query else ""), encoded=True)
        try:
            async with asyncio.timeout(give_up or HANG_SECONDS):
                async with self.session.request(method, url, data=data, headers=headers) as answer:
                    content = await answer.read()
        except TimeoutError:
            if give_up is None:
                self.world.failures.append(f"no answer in {HANG_SECONDS} s to {method} {path} {query}")
            return None
        except aiohttp.ClientError as error:
            if not self.world.stopped and not isinstance(error, aiohttp.InvalidURL):
                self.world.failures.append(f"{type(error).__name__} {error} at {method} {path}")
            return None
        parsed = self.world.note(method, path, answer.status, content, answer.content_type)
        return parsed if answer.status == 200 else None

    def spoil(self, path, data, query, headers):
        kind = self.random.randrange(7)
        if kind == 0 and data is not None:
            data = self.random.choice(BROKEN)
        elif kind == 1 and data is not None:
            try:
                data = json.dumps(self.mutated(json.loads(data))).encode()
            except (ValueError, RecursionError):
                data = data[: self.random.randrange(len(data) + 1)]
        elif kind == 2:
            headers["Authorization"] = "Bearer " + self.random.choice(self.world.tokens + ["nonsense"])
        elif kind == 3:
            headers.pop("Authorization", None)
        elif kind == 4:
            query = {key: self.random.choice([*NUMBERS, *TEXTS[:3], value]) for key, value in query.items()} or {"limit": self.random.choice(NUMBERS)}
        elif kind == 5:
            parts = path.split("/")
            place = self.random.randrange(4, len(parts)) if len(parts) > 4 else len(parts) - 1
            parts[place] = quote(self.random.choice([str(number) for number in NUMBERS] + TEXTS[:3] + TEXTS[4:] + self.world.rooms[-3:] + self.world.users[-3:]).encode("utf-8", "replace")[:3000], safe="")
            path = "/".join(parts)
        else:
            query = {**query, "from": self.random.choice(["t9", "s1_1_1", "t-1", "t99999999999999999999", ""]), "since": "s999999999_0_0"}
        return path, data, query

    def mutated(self, value):
        """The same with one thing in it of another kind."""
        if isinstance(value, dict) and value:
            key = self.random.choice(sorted(value))
            return {**value, key: self.mutated(value[key])}
        if isinstance(value, list) and value and self.random.random() < 0.7:
            place = self.random.randrange(len(value))
            return value[:place] + [self.mutated(value[place])] + value[place + 1:]
        return self.random.choice([None, True, {}, [], {"a": {"b": [1]}}, [[]], *NUMBERS[:-1], *TEXTS])

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.world.seed}x{self.number}x{self.count}"

    def pick(self, things, default):
        return self.random.choice(things[-60:]) if things else default

    @property
    def room(self):
        """One the client is in, mostly."""
        mine = self.joined and self.random.random() < 0.8
        return quote(self.random.choice(self.joined) if mine else self.pick(self.world.rooms, "!none:test.example"), safe="")

    @property
    def someone(self):
        return self.pick(self.world.users, "@none:test.example")

    @property
    def home(self):
        return "user/" + quote(self.user, safe="")

    def event(self):
        """(room, event ID) as parts of a path; of a room the client is in, mostly."""
        events = self.world.events[-200:]
        events = [event for event in events if event[0] in self.joined] or events if self.random.random() < 0.85 else events
        room, event = self.pick(events, ("!none:test.example", "$none"))
        return quote(room, safe=""), quote(event, safe="")

    # Life

    async def run(self):
        while not self.world.stopped:
            if self.token is None:
                await self.register()
                # The queue for hashing passwords is bounded; who does not wait only fills the log with 429.
                await asyncio.sleep(0 if self.token else 0.1)
                continue
            await self.random.choices(OPERATIONS, WEIGHTS)[0](self)

    async def register(self):
        body = {"username": self.name("storm"), "password": PASSWORD, "auth": {"type": "m.login.dummy"}}
        first = await self.call("POST", "register", body, token=None)
        self.take(first)

    def take(self, session):
        if session and "access_token" in session:
            self.token, self.user, self.device = session["access_token"], session["user_id"], session["device_id"]
            self.since = self.position = self.version = None
            self.world.users.append(self.user)
            self.world.tokens.append(self.token)

    async def login(self):
        identifier = {"type": "m.id.user", "user": self.user}
        self.take(await self.call("POST", "login", {"type": "m.login.password", "identifier": identifier, "password": PASSWORD, "refresh_token": self.random.random() < 0.3}))

    async def logout(self):
        await self.call("POST", "logout" + self.random.choice(["", "", "/all"]), {})
        if self.random.random() < 0.7:
            await self.login()

    async def deactivate(self):
        auth = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": self.user}, "password": PASSWORD}
        if await self.call("POST", "account/deactivate", {"auth": auth, "erase": self.random.random() < 0.5}) is not None:
            self.token, self.joined = None, []

    # Rooms

    async def create_room(self):
        body = {"preset": self.random.choice(["public_chat", "public_chat", "private_chat", "trusted_private_chat"]), "room_version": self.random.choice(VERSIONS),
                "name": self.name("Room "), "visibility": self.random.choice(["public", "private"]), "invite": [self.someone] * (self.random.random() < 0.3)}
        if self.random.random() < 0.2:
            body["room_alias_name"] = self.name("alias")
            self.world.aliases.append(f"#{body['room_alias_name']}:test.example")
        if self.random.random() < 0.1:
            body["creation_content"] = {"type": "m.space"}
        answer = await self.call("POST", "createRoom", body)
        if answer and "room_id" in answer:
            self.world.rooms.append(answer["room_id"])
            self.joined.append(answer["room_id"])

    async def join(self):
        rooms = self.world.rooms[:5] + self.world.rooms[-30:]
        where = self.random.choice(rooms or ["!none:test.example"]) if self.random.random() < 0.8 else self.pick(self.world.aliases, "#none:test.example")
        verb = self.random.choice(["join", "join", "join", "knock"])
        answer = await self.call("POST", f"{verb}/{quote(where, safe='')}", {})
        if answer and verb == "join" and "room_id" in answer and answer["room_id"] not in self.joined:
            self.joined.append(answer["room_id"])

    async def leave(self):
        room = self.room
        await self.call("POST", f"rooms/{room}/leave", {})
        self.joined = [other for other in self.joined if quote(other, safe="") != room]
        if self.random.random() < 0.4:
            await self.call("POST", f"rooms/{room}/forget", {})

    async def move_someone(self):
        await self.call("POST", f"rooms/{self.room}/{self.random.choice(['invite', 'invite', 'kick', 'ban', 'unban'])}", {"user_id": self.someone, "reason": "storm"})

    async def upgrade(self):
        answer = await self.call("POST", f"rooms/{self.room}/upgrade", {"new_version": self.random.choice(VERSIONS)})
        if answer:
            self.world.rooms.append(answer["replacement_room"])

    async def set_state(self):
        kind, content = self.random.choice([
            ("m.room.name", {"name": self.name("Room ")}), ("m.room.topic", {"topic": self.name("topic 日本 "), "m.topic": {"m.text": [{"body": "plain"}]}}),
            ("m.room.join_rules", {"join_rule": self.random.choice(["public", "invite", "knock", "private"])}),
            ("m.room.history_visibility", {"history_visibility": self.random.choice(["shared", "joined", "invited", "world_readable"])}),
            ("m.room.guest_access", {"guest_access": self.random.choice(["can_join", "forbidden"])}), ("m.room.avatar", {"url": "mxc://test.example/a"}),
            ("m.room.power_levels", {"users": {self.user: 100, self.someone: self.random.choice([0, 50, 100])}, "events_default": 0, "redact": self.random.choice([0, 50])}),
            ("m.room.canonical_alias", {"alias": self.pick(self.world.aliases, "#none:test.example")}), ("m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"}),
            ("org.example", {"n": self.count}), ("m.room.member", {"membership": "join", "displayname": self.name("Member ")}), ("m.room.pinned_events", {"pinned": []}),
        ])
        key = quote(self.user if kind == "m.room.member" else self.random.choice(["", "", "key"]) if kind == "org.example" else "", safe="")
        await self.call("PUT", f"rooms/{self.room}/state/{kind}/{key}", content)

    # Events

    async def send(self):
        self.count += 1
        content = {"msgtype": self.random.choice(["m.text", "m.text", "m.notice", "m.emote"]), "body": f"words number {self.count} of {self.number} 漢字"}
        if self.random.random() < 0.1:
            content["m.mentions"] = {"user_ids": [self.someone], "room": self.random.random() < 0.5}
        room, kind = self.room, "m.room.message"
        if self.random.random() < 0.45:
            (room, event), relation = self.event(), self.random.choice(["m.replace", "m.thread", "m.thread", "m.annotation", "m.reference", "org.example"])
            content["m.relates_to"] = {"rel_type": relation, "event_id": unquote(event)}
            if relation == "m.replace":
                content["m.new_content"] = {"msgtype": "m.text", "body": f"better words {self.count}"}
            if relation == "m.annotation":
                kind, content = "m.reaction", {"m.relates_to": {**content["m.relates_to"], "key": self.random.choice("👍👎a")}}
        transaction = f"t{self.random.randrange(4)}" if self.random.random() < 0.1 else f"t{self.count}"
        answer = await self.call("PUT", f"rooms/{room}/send/{kind}/{transaction}", content)
        if answer and "event_id" in answer:
            self.world.events.append((unquote(room), answer["event_id"]))

    async def redact(self):
        room, event = self.event()
        self.count += 1
        await self.call("PUT", f"rooms/{room}/redact/{event}/r{self.count}", {"reason": "storm"})

    async def mark(self):
        room, event = self.event()
        kind = self.random.choice(["m.read", "m.read", "m.read.private", "m.fully_read"])
        body = self.random.choice([{}, {}, {"thread_id": "main"}, {"thread_id": unquote(event)}])
        if self.random.random() < 0.7:
            await self.call("POST", f"rooms/{room}/receipt/{kind}/{event}", body)
        else:
            name = unquote(event)
            await self.call("POST", f"rooms/{room}/read_markers", {"m.fully_read": name, "m.read": name, "m.read.private": name})

    async def be_seen(self):
        if self.random.random() < 0.6:
            await self.call("PUT", f"rooms/{self.room}/typing/{quote(self.user, safe='')}", {"typing": self.random.random() < 0.7, "timeout": self.random.choice([1, 30000])})
        else:
            await self.call("PUT", f"presence/{quote(self.user, safe='')}/status", {"presence": self.random.choice(["online", "offline", "unavailable"]), "status_msg": self.name("busy ")})

    # The client's own state

    async def keep(self):
        room = self.room
        path, body = self.random.choice([
            (f"rooms/{room}/tags/u.{self.random.randrange(5)}", {"order": 0.5}), (f"rooms/{room}/account_data/org.example", {"n": self.count}), ("account_data/org.example", {"n": self.count}),
            ("account_data/m.ignored_user_list", {"ignored_users": {self.someone: {}} if self.random.random() < 0.5 else {}}), (f"rooms/{room}/account_data/m.marked_unread", {"unread": True})])
        await self.call("PUT", f"{self.home}/{path}", body)
        if self.random.random() < 0.2:
            await self.call("DELETE", f"{self.home}/rooms/{room}/tags/u.1")

    async def extensions(self):
        room, unstable = self.room, "/_matrix/client/unstable/"
        method, path, body = self.random.choice([
            ("POST", f"martlet.hide/rooms/{room}", {}), ("POST", f"martlet.hide/rooms/{room}", {}), ("DELETE", f"martlet.hide/rooms/{room}", None), ("POST", "martlet.read_all", {}),
            ("GET", "martlet.unread", None), ("GET", f"martlet.online/rooms/{room}", None)])
        await self.call(method, unstable + path, body)

    async def change_profile(self):
        name, value = self.random.choice([("displayname", self.name("Person ")), ("avatar_url", "mxc://test.example/b"), ("m.tz", "Europe/Berlin")])
        await self.call("PUT", f"profile/{quote(self.user, safe='')}/{name}", {name: value})

    async def keys(self):
        device = {"user_id": self.user, "device_id": self.device, "algorithms": ["m.megolm.v1.aes-sha2"], "keys": {f"ed25519:{self.device}": "A" * 43}, "signatures": {self.user: {f"ed25519:{self.device}": "A" * 86}}}
        kind = self.random.randrange(4)
        if kind == 0:
            one_time = {f"signed_curve25519:{self.name('K')}": {"key": "B" * 43, "signatures": {}} for _ in range(3)}
            await self.call("POST", "keys/upload", {"device_keys": device, "one_time_keys": one_time, "fallback_keys": {"signed_curve25519:F": {"key": "C" * 43, "fallback": True, "signatures": {}}}})
        elif kind == 1:
            await self.call("POST", "keys/query", {"device_keys": {self.someone: [], self.someone: []}})
        elif kind == 2:
            await self.call("POST", "keys/claim", {"one_time_keys": {self.someone: {self.device: "signed_curve25519"}}})
        else:
            await self.call("GET", "keys/changes", **{"from": self.since or "s0_0_0", "to": self.since or "s1_0_0"})

    async def to_device(self):
        self.count += 1
        await self.call("PUT", f"sendToDevice/m.room.encrypted/d{self.count}", {"messages": {self.someone: {"*": {"n": self.count}}, self.user: {self.device: {"n": 1}}}})

    async def devices(self):
        kind = self.random.randrange(3)
        if kind == 0:
            await self.call("GET", "devices")
        elif kind == 1:
            await self.call("PUT", f"devices/{quote(self.device, safe='')}", {"display_name": self.name("Device ")})
        else:
            auth = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": self.user}, "password": PASSWORD}
            answer = await self.call("GET", "devices")
            for device in (answer or {}).get("devices", []):
                if device["device_id"] != self.device:
                    await self.call("DELETE", f"devices/{quote(device['device_id'], safe='')}", {"auth": auth})

    async def back_up(self):
        if self.version is None or self.random.random() < 0.1:
            answer = await self.call("POST", "room_keys/version", {"algorithm": "m.megolm_backup.v1.curve25519-aes-sha2", "auth_data": {"public_key": "A" * 43, "signatures": {}}})
            self.version = answer and answer.get("version")
            if self.version is None:
                return
        session = {"first_message_index": self.random.randrange(9), "forwarded_count": 0, "is_verified": self.random.random() < 0.5, "session_data": {"ciphertext": "c", "ephemeral": "e", "mac": "m"}}
        path = f"room_keys/keys/{self.room}/{self.random.choice('abc')}"
        await self.call(self.random.choice(["PUT", "PUT", "PUT", "DELETE", "GET"]), path, session, version=self.version)
        if self.random.random() < 0.1:
            await self.call("DELETE", f"room_keys/version/{self.version}")

    async def push_rules(self):
        if self.number % 4 == 0:
            return  # some keep the default rules: their unread counts are recounted at the end
        rule = f"pushrules/global/{self.random.choice(['override', 'underride', 'content'])}/r{self.random.randrange(3)}"
        body = {"actions": self.random.choice([["notify"], []]), "pattern": "words", "conditions": [{"kind": "event_match", "key": "type", "pattern": "m.room.message"}]}
        await self.call(self.random.choice(["PUT", "PUT", "DELETE", "GET"]), rule, body)

    # Media

    async def media(self):
        content = b"content %d" % self.random.randrange(30) * self.random.choice([1, 1, 5000])
        if self.random.random() < 0.5:
            answer = await self.call("POST", "/_matrix/media/v3/upload", data=content, filename="a.txt", give_up=self.random.choice([None, None, 0.005]))
        else:
            answer = await self.call("POST", "/_matrix/media/v1/create", {})
            if answer and "content_uri" in answer and self.random.random() < 0.7:
                await self.call("PUT", "/_matrix/media/v3/upload/" + answer["content_uri"].removeprefix("mxc://"), data=content)
        if answer and "content_uri" in answer:
            self.world.media.append(answer["content_uri"].removeprefix("mxc://"))
        await self.call("GET", "/_matrix/client/v1/media/download/" + self.pick(self.world.media, "test.example/none"), timeout_ms=50)

    # Reading

    async def read(self):
        room, event = self.event()
        other = self.room
        path, query = self.random.choice([
            (f"rooms/{other}/messages", {"dir": self.random.choice("fb"), "limit": 20}), (f"rooms/{other}/members", {}), (f"rooms/{other}/joined_members", {}), (f"rooms/{other}/state", {}),
            (f"rooms/{room}/context/{event}", {"limit": 5}), (f"rooms/{room}/event/{event}", {}), (f"/_matrix/client/v1/rooms/{room}/relations/{event}", {"recurse": "true"}),
            (f"/_matrix/client/v1/rooms/{other}/threads", {}), (f"/_matrix/client/v1/rooms/{other}/hierarchy", {}), ("publicRooms", {"limit": 5}), ("joined_rooms", {}), ("notifications", {}),
            (f"/_matrix/client/v1/rooms/{other}/timestamp_to_event", {"dir": "b", "ts": 2**41}), (f"profile/{quote(self.someone, safe='')}", {}), (f"rooms/{other}/aliases", {})])
        await self.call("GET", path, **query)

    async def search(self):
        if self.random.random() < 0.5:
            await self.call("POST", "search", {"search_categories": {"room_events": {"search_term": self.random.choice(["words", "better", "漢", "topic"]), "order_by": self.random.choice(["recent", "rank"])}}})
        else:
            await self.call("POST", self.random.choice(["user_directory/search", "publicRooms"]), {"search_term": "storm", "limit": 10})

    async def alias(self):
        name = self.pick(self.world.aliases, "#none:test.example") if self.random.random() < 0.4 else f"#{self.name('alias')}:test.example"
        self.world.aliases.append(name)
        room = self.pick(self.world.rooms, "!none:test.example")
        method = self.random.choice(["PUT", "PUT", "GET", "DELETE"])
        await self.call(method, "directory/room/" + quote(name, safe=""), {"room_id": room} if method == "PUT" else None)
        if self.random.random() < 0.3:
            await self.call("PUT", "directory/list/room/" + quote(room, safe=""), {"visibility": self.random.choice(["public", "private"])})

    async def sync(self):
        give_up = self.random.choice([None, None, None, 0.01, 0.2])
        answer = await self.call("GET", "sync", since=self.since, timeout=self.random.choice([0, 0, 100, 1500]), give_up=give_up)
        if answer and "next_batch" in answer:
            self.since = answer["next_batch"]

    async def sliding_sync(self):
        body = {"lists": {"all": {"ranges": [[0, 9]], "timeline_limit": 3, "required_state": [["m.room.member", "$LAZY"]]}}, "extensions": {name: {"enabled": True} for name in ("to_device", "e2ee", "account_data", "receipts", "typing")}}
        answer = await self.call("POST", "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync", body, pos=self.position, timeout=self.random.choice([0, 0, 500]), give_up=self.random.choice([None, None, 0.05]))
        self.position = answer["pos"] if answer and "pos" in answer else None

    async def nonsense(self):
        path = self.random.choice(["", "_matrix", "_matrix/client/v3/rooms//send//", "_matrix/client/v3/" + "a/" * 200, "%00", "..%2f..%2fetc", "_matrix/client/r0/sync", "_matrix/client/v3/events", "_matrix/client/v3/initialSync"])
        await self.call(self.random.choice(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"]), "/" + path, data=self.random.choice(BROKEN))


# How often of all.
_SHARES = {
    StormClient.send: 26, StormClient.sync: 14, StormClient.join: 10, StormClient.read: 8, StormClient.mark: 6, StormClient.sliding_sync: 5, StormClient.redact: 3, StormClient.set_state: 4, StormClient.be_seen: 3,
    StormClient.move_someone: 4, StormClient.create_room: 1.5, StormClient.leave: 2, StormClient.keep: 3, StormClient.keys: 3, StormClient.to_device: 2, StormClient.media: 2, StormClient.search: 2, StormClient.alias: 1.5,
    StormClient.back_up: 1.5, StormClient.extensions: 2, StormClient.nonsense: 1, StormClient.devices: 0.7, StormClient.change_profile: 0.7, StormClient.push_rules: 1, StormClient.login: 0.5, StormClient.logout: 0.4,
    StormClient.upgrade: 0.4, StormClient.deactivate: 0.3,
}
OPERATIONS, WEIGHTS = list(_SHARES), list(_SHARES.values())
