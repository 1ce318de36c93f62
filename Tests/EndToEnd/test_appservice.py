"""Application services: a bridge with a registration file, its transactions across a crash, its users, its ping."""
import os
import tempfile
from urllib.parse import quote

from client import Api, User, fresh, room_path
from gateway import Gateway
from harness import test
from server import Server

TOKEN, SERVER_TOKEN = "service-token-of-the-test", "server-token-of-the-test"
REGISTRATION = """
id: tea
url: {url}
as_token: {token}
hs_token: {server_token}
sender_localpart: _tea_bot
rate_limited: false
receive_ephemeral: true
protocols: [tea]
namespaces:
  users:
    - {{exclusive: true, regex: '@_tea_.*:test\\.example'}}
  aliases:
    - {{exclusive: true, regex: '#_tea_.*:test\\.example'}}
  rooms: []
unknown.member: {{kept: "out"}}
"""


def start(bridge, folder):
    path = os.path.join(folder, "tea.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(REGISTRATION.format(url=bridge.base, token=TOKEN, server_token=SERVER_TOKEN))
    return Server(app_services=path).start()


def register(service, name):
    service.request("POST", "register", {"type": "m.login.application_service", "username": name, "inhibit_login": True}).ok()
    return f"@{name}:test.example"


def bodies(calls):
    """Of messages, each transaction once, in the order in which the bridge took them."""
    seen, found = set(), []
    for _, path, body, _ in calls:
        if "/transactions/" in path and path not in seen:
            seen.add(path)
            found += [event["content"]["body"] for event in body["events"] if event["type"] == "m.room.message"]
    return found


@test("a bridge's user hears and speaks, and every event reaches the bridge once and in order, across a crash")
def bridge(context):
    context.own_server()
    state = {"up": True}
    taken = []

    def answer(method, path, body):
        if not state["up"]:
            return 503, {}
        taken.append((method, path, body, None))
        return 200, {}
    peer = Gateway(answer)
    with tempfile.TemporaryDirectory() as folder:
        server = start(peer, folder)
        try:
            service, ann = Api(server.base, TOKEN), User(server.base)
            ghost = register(service, "_tea_pot")
            room = ann.create_room(preset="public_chat")
            service.request("POST", "join/" + quote(room, safe=""), {}, user_id=ghost).ok()
            ann.send(room, "one")
            peer.wait(lambda calls: bodies(taken) == ["one"])
            assert peer.calls[0][3] == "Bearer " + SERVER_TOKEN
            state["up"] = False
            ann.send(room, "two")
            peer.wait(lambda calls: sum("two" in str(body) for _, _, body, _ in calls) >= 1)
            server.kill()
            server.start()
            ann.send(room, "three")
            state["up"] = True
            peer.wait(lambda calls: bodies(taken) == ["one", "two", "three"], 60)
            sent = service.request("PUT", room_path(room, "send", "m.room.message", fresh("t")),
                                   {"msgtype": "m.text", "body": "from far"}, user_id=ghost, ts=1000).ok()
            event = ann.get(room_path(room, "event", sent["event_id"])).ok()
            assert event["sender"] == ghost and event["origin_server_ts"] == 1000, event
            ann.put(room_path(room, "typing", ann.user_id), {"typing": True, "timeout": 20000}).ok()
            peer.wait(lambda calls: [event for _, _, body, _ in calls for event in (body or {}).get("ephemeral", [])
                                     if event["type"] == "m.typing" and event["content"]["user_ids"] == [ann.user_id]])
            ann.put(f"presence/{ann.user_id}/status", {"presence": "online", "status_msg": "here"}).ok()
            peer.wait(lambda calls: [event for _, _, body, _ in calls for event in (body or {}).get("ephemeral", []) if event["type"] == "m.presence"
                                     and event["sender"] == ann.user_id and event["content"].get("status_msg") == "here"])
        finally:
            server.close()
            peer.close()


@test("a bridge makes a room when somebody asks for its alias, and answers a ping")
def on_demand(context):
    context.own_server()
    with tempfile.TemporaryDirectory() as folder:
        made = {}

        def answer(method, path, body):
            if path.startswith("/_matrix/app/v1/rooms/"):
                service = Api(made["server"].base, TOKEN)
                made["room"] = service.request("POST", "createRoom", {"preset": "public_chat", "room_alias_name": "_tea_china"}).ok()["room_id"]
            return 200, {}
        peer = Gateway(answer)
        server = made["server"] = start(peer, folder)
        try:
            service, ann = Api(server.base, TOKEN), User(server.base)
            answer = ann.post("join/" + quote("#_tea_china:test.example", safe="")).ok()
            assert answer["room_id"] == made["room"], answer
            ping = service.request("POST", "/_matrix/client/v1/appservice/tea/ping", {"transaction_id": "meow"}).ok()
            assert ping["duration_ms"] >= 0
            assert peer.wait(lambda calls: [body for _, path, body, _ in calls if path.endswith("/ping")]) == [{"transaction_id": "meow"}]
            refused = Api(server.base).request("POST", "register", {"username": "_tea_mine", "password": "x" * 12,
                                                                    "auth": {"type": "m.login.dummy"}})
            refused.fails(400, "M_EXCLUSIVE")
        finally:
            server.close()
            peer.close()
