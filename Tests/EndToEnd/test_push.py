"""Push notifications: the server as a gateway sees it, across restarts and outages."""
from client import User, room_path
from gateway import Gateway
from harness import test
from server import Server


def notified(calls):
    """Event IDs in the order in which the gateway took them."""
    return [body["notification"]["event_id"] for _, _, body, _ in calls if "event_id" in body["notification"]]


def set_pusher(user, gateway, **data):
    user.post("pushers/set", {
        "kind": "http", "app_id": "org.example.test", "pushkey": "key-of-" + user.user_id, "app_display_name": "Test", "lang": "en",
        "device_display_name": "Device", "data": {"url": gateway.base + "/_matrix/push/v1/notify", **data}}).ok()


def pair(server, gateway, **data):
    a, b = User(server.base), User(server.base)
    room = a.create_room(preset="public_chat", name="Tea")
    b.join(room)
    set_pusher(a, gateway, **data)
    return a, b, room


@test("a message reaches the push gateway, and reading it takes the number back")
def push(context):
    context.own_server()
    gateway = Gateway(lambda *_: (200, {"rejected": []}))
    server = Server(push_gateways=gateway.base).start()
    try:
        a, b, room = pair(server, gateway, brand="tea")
        event = b.send(room, "hello")
        notification = gateway.wait(lambda calls: [body for *_, body, _ in calls if "event_id" in body["notification"]])[0]["notification"]
        assert notification["event_id"] == event and notification["room_id"] == room, notification
        assert notification["content"]["body"] == "hello" and notification["counts"] == {"unread": 1}, notification
        assert notification["devices"][0]["data"] == {"brand": "tea"}, notification
        a.post(room_path(room, "receipt", "m.read", event), {}).ok()
        numbers = gateway.wait(lambda calls: [body for *_, body, _ in calls if "event_id" not in body["notification"]])[0]["notification"]
        assert numbers["counts"] == {}, numbers
        listed = a.get("notifications").ok()["notifications"]
        assert [entry["event"]["event_id"] for entry in listed] == [event] and listed[0]["read"], listed
    finally:
        server.close()
        gateway.close()


@test("neither a crash of the server nor an outage of the gateway loses a push or changes the order")
def push_across_crashes(context):
    context.own_server()
    state = {"up": False}
    gateway = Gateway(lambda *_: (200, {"rejected": []}) if state["up"] else (502, {}))
    server = Server(push_gateways=gateway.base).start()
    try:
        a, b, room = pair(server, gateway)
        events = [b.send(room, "one")]
        gateway.wait(notified)
        events.append(b.send(room, "two"))
        server.kill()
        server.start()
        events.append(b.send(room, "three"))
        state["up"] = True
        gateway.calls.clear()
        taken = gateway.wait(lambda calls: len(set(notified(calls))) == 3 and notified(calls), 60)
        assert list(dict.fromkeys(taken)) == events, (taken, events)
        events.append(b.send(room, "four"))
        gateway.wait(lambda calls: notified(calls)[-1:] == events[-1:])
        assert notified(gateway.calls).count(events[-1]) == 1
    finally:
        server.close()
        gateway.close()
