"""Raw requests: errors, CORS, registration and user-interactive authentication, idempotent sending.

Each test cites the Client-Server API by section title.
"""
import json
from urllib.parse import quote

from client import PASSWORD, Api, User, fresh, register, room_path
from harness import test


@test("versions lists released versions without a token")  # "API Versions"
def versions(context):
    answer = Api(context.base).get("/_matrix/client/versions").ok()
    assert any(version.startswith("v1.") for version in answer["versions"]), answer


@test("an unknown path is 404 M_UNRECOGNIZED, a wrong method on a known one 405")  # "Standard error response"
def unrecognized(context):
    user = User(context.base)
    user.get("nonsense/path").fails(404, "M_UNRECOGNIZED")
    user.get("/_matrix/client/v99/sync").fails(404, "M_UNRECOGNIZED")
    user.request("DELETE", "createRoom").fails(405, "M_UNRECOGNIZED")
    user.request("PATCH", "login").fails((404, 405), "M_UNRECOGNIZED")


@test("without a token 401 M_MISSING_TOKEN, with a wrong one 401 M_UNKNOWN_TOKEN")  # "Using access tokens"
def tokens(context):
    api = Api(context.base)
    for method, path in [("GET", "account/whoami"), ("GET", "sync"), ("POST", "createRoom"), ("PUT", "rooms/!x:y/typing/@a:b")]:
        body = {} if method != "GET" else None
        api.request(method, path, body).fails(401, "M_MISSING_TOKEN")
        answer = api.request(method, path, body, token="wrong").fails(401, "M_UNKNOWN_TOKEN")
        assert not answer.get("soft_logout", False)
    api.get("account/whoami", headers={"Authorization": "Basic eDp5"}).fails(401, ("M_MISSING_TOKEN", "M_UNKNOWN_TOKEN"))


@test("a body that is not JSON is 400 M_NOT_JSON")
def not_json(context):
    user = User(context.base)
    for body in [b"{", b"{'a':1}", b"\xff\xfe", b'{"name":"\xff"}', b"", b'{"a":1}}']:
        user.request("POST", "createRoom", body=body, headers={"Content-Type": "application/json"}).fails(400, "M_NOT_JSON")


@test("JSON of the wrong shape is 400 M_BAD_JSON")
def bad_json(context):
    user = User(context.base)
    room = user.create_room()
    for body in [b"[]", b"1", b'"x"', b"null"]:
        user.request("POST", "createRoom", body=body, headers={"Content-Type": "application/json"}).fails(400, "M_BAD_JSON")
    user.request("PUT", room_path(room, "send", "m.room.message", fresh("t")), body=b"[1]").fails(400, "M_BAD_JSON")
    user.post(room_path(room, "ban")).fails(400, ("M_BAD_JSON", "M_MISSING_PARAM"))
    if not context.is_synapse:  # answers 500
        user.post(room_path(room, "ban"), {"user_id": 7}).fails(400, ("M_BAD_JSON", "M_INVALID_PARAM"))
    if not context.is_synapse:  # takes it for true
        user.put(room_path(room, "typing", user.user_id), {"typing": "yes"}).fails(400, ("M_BAD_JSON", "M_INVALID_PARAM"))


@test("numbers that canonical JSON does not know are refused in events")  # appendices, "Canonical JSON"
def uncanonical(context):
    user = User(context.base)
    room = user.create_room()
    for number in [b"1.5", b"9007199254740992", b"-9007199254740992"] + ([] if context.is_synapse else [b"1e400"]):  # Synapse: 500
        path = room_path(room, "send", "org.example", fresh("t"))
        user.request("PUT", path, body=b'{"n":' + number + b"}").fails(400, ("M_BAD_JSON", "M_NOT_JSON"))
    for number in [b"9007199254740991", b"-9007199254740991"]:
        user.request("PUT", room_path(room, "send", "org.example", fresh("t")), body=b'{"n":' + number + b"}").ok()


@test("an event above 65,536 bytes is 413 M_TOO_LARGE and leaves nothing behind")  # "Size limits"
def too_large(context):
    user = User(context.base)
    room = user.create_room()
    before = user.get(room_path(room, "messages"), dir="b", limit=1).ok()["chunk"][0]["event_id"]
    for size in (66_000, 200_000):
        body = {"msgtype": "m.text", "body": "x" * size}
        user.put(room_path(room, "send", "m.room.message", fresh("t")), body).fails(413, "M_TOO_LARGE")
    assert user.get(room_path(room, "messages"), dir="b", limit=1).ok()["chunk"][0]["event_id"] == before
    assert user.send(room, "x" * 60_000)


@test("who may not, is told 403 M_FORBIDDEN and changes nothing")
def forbidden(context):
    owner, member, stranger = User(context.base), User(context.base), User(context.base)
    room = owner.create_room(preset="private_chat", invite=[member.user_id])
    member.join(room)
    stranger.put(room_path(room, "send", "m.room.message", fresh("t")), {"body": "x"}).fails(403, "M_FORBIDDEN")
    stranger.get(room_path(room, "state")).fails(403, "M_FORBIDDEN")
    stranger.get(room_path(room, "messages"), dir="b").fails(403, "M_FORBIDDEN")
    stranger.get(room_path(room, "members")).fails(403, "M_FORBIDDEN")
    stranger.post("join/" + quote(room, safe="")).fails(403, "M_FORBIDDEN")
    member.state(room, "m.room.name", {"name": "mine"}).fails(403, "M_FORBIDDEN")
    member.post(room_path(room, "kick"), {"user_id": owner.user_id}).fails(403, "M_FORBIDDEN")
    member.post(room_path(room, "ban"), {"user_id": owner.user_id}).fails(403, "M_FORBIDDEN")
    member.put(room_path(room, "typing", owner.user_id), {"typing": True}).fails((400, 403), "M_FORBIDDEN")
    member.put(f"profile/{quote(owner.user_id)}/displayname", {"displayname": "x"}).fails((400, 403), "M_FORBIDDEN")
    owner.get(room_path(room, "state", "m.room.name", "")).fails(404, "M_NOT_FOUND")


@test("what is not there is 404 M_NOT_FOUND")
def not_found(context):
    user = User(context.base)
    room = user.create_room()
    user.get(room_path(room, "state", "org.example.none")).fails(404, "M_NOT_FOUND")
    user.get(room_path(room, "event", "$nothing")).fails(404, "M_NOT_FOUND")
    user.get(f"user/{quote(user.user_id)}/account_data/org.example.none").fails(404, "M_NOT_FOUND")
    user.get("directory/room/" + quote("#none:" + user.user_id.split(":", 1)[1], safe="")).fails(404, "M_NOT_FOUND")
    if not context.is_synapse:  # answers M_UNKNOWN
        user.get("profile/" + quote("@" + fresh("nobody") + ":" + user.user_id.split(":", 1)[1])).fails((403, 404), ("M_NOT_FOUND", "M_FORBIDDEN"))
    user.get("devices/NODEVICE").fails(404, "M_NOT_FOUND")


@test("a parameter out of its range is 400")
def parameters(context):
    user = User(context.base)
    room = user.create_room()
    wrong = ("M_INVALID_PARAM", "M_BAD_JSON", "M_MISSING_PARAM", "M_UNKNOWN")
    user.get(room_path(room, "messages"), dir="x").fails(400, wrong)
    user.get(room_path(room, "messages"), dir="b", limit="many").fails(400, wrong)
    user.get("sync", timeout="soon").fails(400, wrong)
    user.get("sync", since="no-token").fails(400, wrong)
    user.get("sync", filter="{").fails(400, wrong + ("M_NOT_JSON",))


@test("every answer, errors too, may be read by any web page")  # "Web Browser Clients"
def cross_origin(context):
    api = Api(context.base)
    for path in ["/_matrix/client/versions", "/_matrix/client/v3/sync", "/_matrix/client/v3/nonsense", "/_matrix/client/v1/media/download/a/b"]:
        answer = api.get(path)
        assert answer.headers["Access-Control-Allow-Origin"] == "*", (path, answer.status, dict(answer.headers))
        answer = api.request("OPTIONS", path)
        assert answer.status in (200, 204), (path, answer.status)
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        methods = {word.strip() for word in answer.headers["Access-Control-Allow-Methods"].split(",")}
        assert {"GET", "POST", "PUT", "DELETE", "OPTIONS"} <= methods, methods
        names = {word.strip().lower() for word in answer.headers["Access-Control-Allow-Headers"].split(",")}
        assert {"x-requested-with", "content-type", "authorization"} <= names, names


@test("too many requests are 429 M_LIMIT_EXCEEDED with Retry-After")  # "Rate limiting"
def limited(context):
    base = context.limited_base()
    api, name = Api(base), fresh("limited")
    for _ in range(200):
        answer = api.post("login", {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": "wrong"})
        if answer.status == 429:
            break
        answer.fails(403, "M_FORBIDDEN")
    body = answer.fails(429, "M_LIMIT_EXCEEDED")
    assert int(answer.headers["Retry-After"]) >= 1, dict(answer.headers)
    assert body.get("retry_after_ms", 1) > 0
    assert Api(base).get("/_matrix/client/versions").status == 200


@test("registration asks for its stage, then makes an account and logs it in")  # "Account registration"
def registration(context):
    api, name = Api(context.base), fresh("reg")
    first = api.post("register", {"username": name, "password": PASSWORD})
    assert first.status == 401, first.body
    assert any("m.login.dummy" in flow["stages"] for flow in first.json["flows"]) and first.json["session"]
    assert isinstance(first.json.get("params", {}), dict)
    session = api.post("register", {"username": name, "password": PASSWORD, "auth": {"type": "m.login.dummy", "session": first.json["session"]}}).ok()
    assert session["user_id"].startswith(f"@{name}:") and session["device_id"] and session["access_token"]
    assert Api(context.base, session["access_token"]).get("account/whoami").ok()["device_id"] == session["device_id"]
    register(api, name).fails(400, "M_USER_IN_USE")
    api.get("register/available", username=name).fails(400, "M_USER_IN_USE")
    assert api.get("register/available", username=fresh("free")).ok()["available"] is True
    for wrong in ["sp ace", "a" * 256] + ([] if context.is_synapse else ["ü"]):  # Synapse: M_UNKNOWN
        api.get("register/available", username=wrong).fails(400, "M_INVALID_USERNAME")
        register(api, wrong).fails(400, "M_INVALID_USERNAME")
    quiet = register(api, fresh("quiet"), inhibit_login=True).ok()
    assert "access_token" not in quiet


@test("login and logout: tokens live and die with their device")  # "Login", "Logging out"
def sessions(context):
    user = User(context.base)
    assert {"type": "m.login.password"}.items() <= {k: v for flow in user.get("login", token=None).ok()["flows"] for k, v in flow.items() if v == "m.login.password"}.items()
    localpart = user.user_id[1:].split(":")[0]
    for identifier in (user.user_id, localpart):
        body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": identifier}, "password": PASSWORD}
        assert user.post("login", body, token=None).ok()["user_id"] == user.user_id
    user.post("login", {**body, "password": "wrong"}, token=None).fails(403, "M_FORBIDDEN")
    user.post("login", {**body, "type": "m.login.nonsense"}, token=None).fails(400, ("M_UNKNOWN", "M_UNRECOGNIZED", "M_INVALID_PARAM"))
    same = user.post("login", {**body, "device_id": "MYDEVICE", "initial_device_display_name": "Mine"}, token=None).ok()
    assert same["device_id"] == "MYDEVICE"
    again = user.post("login", {**body, "device_id": "MYDEVICE"}, token=None).ok()
    if not context.is_synapse:  # keeps the device's older token alive
        user.get("account/whoami", token=same["access_token"]).fails(401, "M_UNKNOWN_TOKEN")
    assert user.get("devices/MYDEVICE").ok()["display_name"] == "Mine"
    user.post("logout", token=again["access_token"]).ok()
    user.get("account/whoami", token=again["access_token"]).fails(401, "M_UNKNOWN_TOKEN")
    user.get("devices/MYDEVICE").fails(404, "M_NOT_FOUND")
    user.post("logout/all").ok()
    user.get("account/whoami").fails(401, "M_UNKNOWN_TOKEN")


@test("changing the password and removing a device ask for the password")  # "User-Interactive Authentication API"
def interactive(context):
    user = User(context.base)
    other = User(context.base, login_as=user)
    first = user.post("account/password", {"new_password": "another good one"})
    assert first.status == 401 and any(flow["stages"] == ["m.login.password"] for flow in first.json["flows"]), first.body

    def auth(password, session):
        identifier = {"type": "m.id.user", "user": user.user_id}
        return {"type": "m.login.password", "identifier": identifier, "password": password, "session": session}
    wrong = user.post("account/password", {"new_password": "x y z good one", "auth": auth("wrong", first.json["session"])})
    assert wrong.status == 401 and wrong.errcode == "M_FORBIDDEN" and wrong.json["flows"], wrong.body
    done = user.post("account/password", {"new_password": "another good one", "auth": auth(PASSWORD, first.json["session"])})
    done.ok()
    other.get("account/whoami").fails(401, "M_UNKNOWN_TOKEN")
    user.get("account/whoami").ok()
    body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": user.user_id}}
    user.post("login", {**body, "password": PASSWORD}, token=None).fails(403, "M_FORBIDDEN")
    second = user.post("login", {**body, "password": "another good one"}, token=None).ok()["device_id"]
    first = user.request("DELETE", "devices/" + second, {})
    assert first.status == 401, first.body
    user.request("DELETE", "devices/" + second, {"auth": auth("another good one", first.json["session"])}).ok()
    user.get("devices/" + second).fails(404, "M_NOT_FOUND")


@test("a transaction ID sends once for each device")  # "Sending events to a room", "Transaction identifiers"
def transactions(context):
    user = User(context.base)
    other = User(context.base, login_as=user)
    room = user.create_room()
    path = room_path(room, "send", "m.room.message", "same")
    first = user.put(path, {"msgtype": "m.text", "body": "one"}).ok()["event_id"]
    assert user.put(path, {"msgtype": "m.text", "body": "one"}).ok()["event_id"] == first
    assert user.put(path, {"msgtype": "m.text", "body": "another"}).ok()["event_id"] == first
    assert other.put(path, {"msgtype": "m.text", "body": "two"}).ok()["event_id"] != first
    redaction = room_path(room, "redact", first, "same-redaction")
    assert user.put(redaction, {}).ok() == user.put(redaction, {}).ok()
    chunk = user.get(room_path(room, "messages"), dir="b", limit=50).ok()["chunk"]
    assert sum(event["type"] == "m.room.message" for event in chunk) == 2
    assert sum(event["type"] == "m.room.redaction" for event in chunk) == 1


@test("text of any script comes back as it was sent, and reserved characters in paths count as text")
def text(context):
    user = User(context.base)
    room = user.create_room()
    body = "ä\u0308 e\u0301 \U0001f44d\U0001f3fd 日本語 \u202e \"\\/\b\f\n\r\t \u0001 \u2028 </script>"
    event_id = user.send(room, body, transaction="slash/percent%2F?#é")
    assert user.get(room_path(room, "event", event_id)).ok()["content"]["body"] == body
    for key in ["a/b", "é", "%41", "a+b c"]:
        user.state(room, "org.example/type", {"key": key}, key).ok()
        assert user.get(room_path(room, "state", "org.example/type", key)).ok() == {"key": key}
    escaped = json.dumps({"msgtype": "m.text", "body": "\U0001f44d"}).encode()
    assert b"\\ud83d" in escaped
    sent = user.request("PUT", room_path(room, "send", "m.room.message", fresh("t")), body=escaped).ok()["event_id"]
    assert user.get(room_path(room, "event", sent)).ok()["content"]["body"] == "\U0001f44d"
