"""A plain Matrix client for the tests: every request is written out, nothing is retried or hidden."""
import http.client
import itertools
import json
import time
from urllib.parse import quote, urlencode, urlsplit

import leaks
import nodes
from harness import PATIENCE

PASSWORD = "correct horse battery"
_numbers = itertools.count()
_run = format(int(time.time() * 1000) % 10**9, "x")


def fresh(prefix):
    """A name nobody has used on this server."""
    return f"{prefix}{_run}n{next(_numbers)}"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def errcode(self):
        try:
            return self.json.get("errcode")
        except (ValueError, AttributeError):
            return None

    def ok(self):
        assert self.status == 200, f"{self.status} {self.body[:300]!r}"
        return self.json

    def fails(self, status, errcode):
        """`status` and `errcode` may be one value or several permitted ones."""
        statuses = status if isinstance(status, (tuple, list)) else (status,)
        errcodes = errcode if isinstance(errcode, (tuple, list)) else (errcode,)
        assert self.status in statuses and self.errcode in errcodes, f"wanted {status} {errcode}, got {self.status} {self.body[:300]!r}"
        assert isinstance(self.json.get("error", ""), str)
        return self.json


class Api:
    def __init__(self, base, token=None):
        self.base, self.token = base, token
        self.host = urlsplit(base).netloc

    def request(self, method, path, json_body=None, /, *, body=None, headers=None, token=..., seconds=60, **query):
        """One request on a connection of its own. `path` is relative to /_matrix/client/v3/ unless it begins with a slash; further arguments
        are the query."""
        if not path.startswith("/"):
            path = "/_matrix/client/v3/" + path
        query = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in query.items() if value is not None}
        if query:
            path += "?" + urlencode(query)
        headers = dict(headers or {})
        if json_body is not None:
            body = json.dumps(json_body).encode()
            headers.setdefault("Content-Type", "application/json")
        token = self.token if token is ... else token
        if token:
            headers["Authorization"] = "Bearer " + token
        connection = http.client.HTTPConnection(nodes.host_for(self.host), timeout=seconds)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, /, **query):
        return self.request("GET", path, **query)

    def put(self, path, body, /, **query):
        return self.request("PUT", path, body, **query)

    def post(self, path, body=None, /, **query):
        return self.request("POST", path, {} if body is None else body, **query)


def room_path(room, *rest):
    return "/".join(["rooms", quote(room, safe=""), *(quote(str(part), safe="") for part in rest)])


class User(Api):
    """A registered user on one device."""

    def __init__(self, base, prefix="user", login_as=None):
        super().__init__(base)
        if login_as:
            identifier = {"type": "m.id.user", "user": login_as.user_id}
            session = self.post("login", {"type": "m.login.password", "identifier": identifier, "password": PASSWORD}).ok()
        else:
            session = register(self, fresh(prefix)).ok()
        self.token, self.user_id, self.device_id = session["access_token"], session["user_id"], session["device_id"]
        leaks.keep_secret(self.token, "a token of a user")
        self.since = None

    def create_room(self, **body):
        return self.post("createRoom", body).ok()["room_id"]

    def join(self, room):
        return self.post("join/" + quote(room, safe="")).ok()

    def send(self, room, text, transaction=None, **content):
        body = {"msgtype": "m.text", "body": text, **content}
        return self.put(room_path(room, "send", "m.room.message", transaction or fresh("t")), body).ok()["event_id"]

    def state(self, room, kind, content, key=""):
        return self.put(room_path(room, "state", kind, key), content)

    def sync(self, timeout=0, since=..., **query):
        """Goes on from the last sync of this object unless `since` says otherwise."""
        answer = self.get("sync", timeout=timeout, since=self.since if since is ... else since, **query).ok()
        if since is ...:
            self.since = answer["next_batch"]
        return answer

    def sync_until(self, condition, seconds=PATIENCE, **query):
        """Syncs on until `condition(answer)` holds; gives that answer."""
        end = time.monotonic() + seconds
        while True:
            answer = self.sync(timeout=2000, **query)
            if condition(answer):
                return answer
            assert time.monotonic() < end, f"nothing of the kind in {seconds} s; last sync: {json.dumps(answer)[:1500]}"


def register(api, name, **body):
    """Through the dummy stage, as open registration has it."""
    body = {"username": name, "password": PASSWORD, **body}
    first = api.post("register", body)
    if first.status != 401:
        return first
    return api.post("register", {**body, "auth": {"type": "m.login.dummy", "session": first.json["session"]}})


def joined(answer, room):
    return answer.get("rooms", {}).get("join", {}).get(room, {})


def timeline(answer, room):
    return joined(answer, room).get("timeline", {}).get("events", [])


def bodies(events):
    return [event["content"].get("body") for event in events if event["type"] == "m.room.message"]


def wait_for_event(user, room, event_id, **query):
    return user.sync_until(lambda answer: any(event["event_id"] == event_id for event in timeline(answer, room)), **query)
