"""Clients of the storm of devices: some do things to devices and keys, others only sync and believe what they are told, as clients do."""
import collections
import http.client
import itertools
import random
import threading
from urllib.parse import quote

from client import PASSWORD, Api

SLIDING = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"
LIST = {"all": {"ranges": [[0, 19]], "timeline_limit": 1, "required_state": []}}
LOST = (OSError, http.client.HTTPException, ValueError)
KEYS_OF_UPLOAD = 8
PAUSE_SECONDS = 0.3
MESSAGE = "org.example.number"


def device_keys(user, device, version=0):
    return {"user_id": user, "device_id": device, "algorithms": ["m.megolm.v1.aes-sha2"], "keys": {f"ed25519:{device}": f"key{version}"},
            "signatures": {user: {f"ed25519:{device}": "none"}}}


class Client:
    """One connection after the other; a request whose answer is lost is repeated, or given up as unclear."""

    def __init__(self, world, server, name):
        self.world, self.server, self.name = world, server, name

    def ask(self, api, method, path, body=None, **query):
        """The answer of an action that may be repeated."""
        while True:
            self.world.is_up.wait()
            try:
                return api.request(method, path, body, **query)
            except LOST:
                self.world.counts["repeated"] += 1

    def once(self, api, method, path, body=None):
        """None if nobody knows what became of it."""
        self.world.is_up.wait()
        try:
            return api.request(method, path, body).ok()
        except LOST:
            return None


class Actor(Client, threading.Thread):
    """Does things for its users, one at a time. What it sends to a device is numbered."""

    def __init__(self, world, server, number, seed, users, everybody, rooms):
        threading.Thread.__init__(self, daemon=True)
        Client.__init__(self, world, server, f"actor{number}")
        self.random, self.users, self.everybody, self.rooms = random.Random(f"{seed}/{number}"), users, everybody, rooms
        self.numbers, self.logins, self.others, self.done = itertools.count(1), itertools.count(1), [], 0

    VERBS = {"log_in": 8, "log_out": 6, "rename": 12, "upload": 14, "claim": 24, "send": 30, "move": 8}

    def run(self):
        while not self.world.is_over.is_set():
            verb = self.random.choices(list(self.VERBS), list(self.VERBS.values()))[0]
            try:
                getattr(self, verb)()
            except Exception as error:
                self.world.fault(f"{self.name}, {verb}: {error!r}")
                return
            self.world.counts[verb] += 1
            self.done += 1

    # Devices

    def log_in(self):
        user, device = self.random.choice(self.users), f"{self.name}D{next(self.logins)}"
        login = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": user.user_id}, "password": PASSWORD, "device_id": device}
        api = Api(self.server.base)
        api.token = self.ask(api, "POST", "login", login).ok()["access_token"]
        self.others.append((api, user.user_id, device))
        self.ask(api, "POST", "keys/upload", {"device_keys": device_keys(user.user_id, device)}).ok()
        self.world.names[user.user_id, device] = None
        self.upload_keys(api, user.user_id, device)

    def log_out(self):
        if self.others:
            api, user, device = self.others.pop(self.random.randrange(len(self.others)))
            del self.world.names[user, device]
            # Repeated, it is unknown already.
            assert self.ask(api, "POST", "logout", {}).status in (200, 401)

    def device(self):
        """One of theirs."""
        if self.others and self.random.random() < 0.5:
            return self.random.choice(self.others)
        user = self.random.choice(self.users)
        return user, user.user_id, user.device_id

    def rename(self):
        api, user, device = self.device()
        name = f"{self.name} {next(self.numbers)}"
        self.ask(api, "PUT", f"devices/{device}", {"display_name": name}).ok()
        self.world.names[user, device] = name

    def upload(self):
        self.upload_keys(*self.device())

    def upload_keys(self, api, user, device):
        names = [f"signed_curve25519:{self.name}n{next(self.numbers)}" for _ in range(self.random.randint(1, KEYS_OF_UPLOAD))]
        keys = {name: {"key": f"value of {name}"} for name in names}
        self.world.uploads((user, device), keys)
        fallback = {f"signed_curve25519:fallback{next(self.numbers)}": {"key": "fallback", "fallback": True}}
        self.ask(api, "POST", "keys/upload", {"one_time_keys": keys, "fallback_keys": fallback}).ok()
        self.world.uploaded((user, device), len(keys))

    def claim(self):
        """Of several devices at once, some of which others claim just now."""
        known = self.random.sample(sorted(self.world.names.copy()), 3)
        self.claim_of(known)

    def claim_of(self, devices):
        wanted = collections.defaultdict(dict)
        for user, device in devices:
            wanted[user][device] = "signed_curve25519"
        before = self.world.claims(devices)
        answer = self.once(self.users[0], "POST", "keys/claim", {"one_time_keys": wanted})
        for user, device in devices:
            given = answer["one_time_keys"].get(user, {}).get(device, {}) if answer else {}
            name, key = next(iter(given.items()), (None, None))
            self.world.claimed((user, device), before[user, device], False if answer is None else name, key)

    # Messages, rooms

    def send(self):
        """To the one device of some users that stays, or to all devices of them."""
        number, receivers = next(self.numbers), self.random.sample(self.everybody, 3)
        messages = {user.user_id: {self.random.choice(["*", user.device_id]): {"by": self.name, "number": number}} for user in receivers}
        self.ask(self.users[0], "PUT", f"sendToDevice/{MESSAGE}/{self.name}t{number}", {"messages": messages}).ok()
        for user in receivers:
            self.world.sent[user.user_id, self.name].append(number)

    def move(self):
        """In or out of a room."""
        user, room = self.random.choice(self.users), self.random.choice(self.rooms)
        members = self.world.members[room]
        path = quote(room, safe="")
        if user.user_id in members:
            self.ask(user, "POST", f"rooms/{path}/leave", {}).ok()
            members.discard(user.user_id)
        else:
            self.ask(user, "POST", f"join/{path}", {}).ok()
            members.add(user.user_id)


class Watcher(Client, threading.Thread):
    """The device of a user that stays: syncs, and asks for keys of those whose devices have changed."""

    def __init__(self, world, server, user, is_sliding, seed):
        threading.Thread.__init__(self, daemon=True)
        Client.__init__(self, world, server, user.user_id)
        self.user, self.is_sliding, self.random = user, is_sliding, random.Random(f"{seed}/{user.user_id}")
        self.position, self.messages_position = None, None
        self.received, self.lists, self.outdated, self.told_left = collections.defaultdict(list), {}, set(), 0

    def run(self):
        while not self.world.is_over.is_set():
            try:
                self.step(timeout=300)
            except LOST:
                self.world.is_up.wait()
            except Exception as error:
                self.world.fault(f"the sync of {self.name}: {error!r}")
                return
            self.world.is_over.wait(self.random.random() * PAUSE_SECONDS)

    def start_tracking(self):
        """The first sync tells of nobody: a client asks for all whom it sees."""
        self.step(timeout=0)
        self.outdated |= self.world.sharing(self.name)
        self.update()

    def step(self, timeout):
        """Whether there were messages."""
        device = self.name, self.user.device_id
        before = self.world.before_sync(device)
        lists, counts, messages = (self.sliding if self.is_sliding else self.v3)(timeout)
        if counts is not None:
            self.world.check_count(device, before, counts.get("signed_curve25519", 0))
        for message in messages:
            self.received[message["content"]["by"]].append(message["content"]["number"])
        for user in lists.get("left", []):
            self.lists.pop(user, None)
            self.outdated.discard(user)
            self.told_left += 1
        self.outdated.update(lists.get("changed", []))
        self.update()
        return bool(messages)

    def v3(self, timeout):
        answer = self.user.get("sync", timeout=timeout, since=self.position, set_presence="offline").ok()
        self.position = answer["next_batch"]
        return answer.get("device_lists", {}), answer.get("device_one_time_keys_count", {}), answer.get("to_device", {}).get("events", [])

    def sliding(self, timeout):
        extensions = {"to_device": {"enabled": True, "since": self.messages_position}, "e2ee": {"enabled": True}}
        if self.messages_position is None:
            del extensions["to_device"]["since"]
        answer = self.user.request("POST", SLIDING, {"conn_id": "storm", "lists": LIST, "extensions": extensions}, timeout=timeout, pos=self.position)
        if answer.errcode == "M_UNKNOWN_POS":
            self.position = None
            return {}, None, []
        answer = answer.ok()
        self.position, found = answer["pos"], answer["extensions"]
        self.messages_position = found["to_device"]["next_batch"]
        keys = found.get("e2ee", {})
        return keys.get("device_lists", {}), keys.get("device_one_time_keys_count"), found["to_device"].get("events", [])

    def update(self):
        wanted = set(self.outdated)
        if wanted:
            found = self.user.post("keys/query", {"device_keys": {user: [] for user in wanted}}).ok()["device_keys"]
            self.lists.update({user: names(found.get(user, {})) for user in wanted})
            self.outdated -= wanted


def names(devices):
    return {device: keys.get("unsigned", {}).get("device_display_name") for device, keys in devices.items()}
