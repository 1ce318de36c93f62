"""Push notifications: the server as a gateway sees it, across restarts and outages."""
import time

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


# Proves P26
@test("neither what is sent silently nor what is said in a snoozed room is pushed; what comes after it is, with the whole number")
def push_wishes(context):
    context.own_server()
    gateway = Gateway(lambda *_: (200, {"rejected": []}))
    server = Server(push_gateways=gateway.base).start()
    try:
        a, b, room = pair(server, gateway)
        offered = a.get("capabilities").ok()["capabilities"]
        names = ["martlet.silent", "martlet.snooze", "martlet.quiet_hours", "martlet.reaction_notifications"]
        assert [offered[name] for name in names] == [{"enabled": True}] * 4, offered

        def keep(name, content, where=""):
            a.put(f"user/{a.user_id}/{where}account_data/martlet.{name}", content).ok()

        def pushes(user):
            return [body["notification"] for *_, body, _ in gateway.calls
                    if "event_id" in body["notification"] and body["notification"]["devices"][0]["pushkey"] == "key-of-" + user.user_id]

        def newest(event, user=a):
            return gateway.wait(lambda _: [pushed for pushed in pushes(user) if pushed["event_id"] == event])[0]

        def said(text, **more):
            """The server looks at an event behind the answer, for all users at once: it has when a witness without wishes got it."""
            event = b.put(room_path(room, "send", "m.room.message", text), {"msgtype": "m.text", "body": text, **more}).ok()["event_id"]
            if "martlet.silent" not in more:
                newest(event, witness)
            return event

        witness = User(server.base)
        witness.join(room)
        set_pusher(witness, gateway)
        said("silent", **{"martlet.silent": True, "m.mentions": {"user_ids": [a.user_id]}})
        loud = said("loud")
        assert newest(loud)["counts"] == {"unread": 2}
        keep("snooze", {"until": int(time.time() * 1000) + 3_600_000}, f"rooms/{room}/")
        said("snoozed")
        keep("snooze", {"until": int(time.time() * 1000) - 1}, f"rooms/{room}/")
        woken = said("woken")
        assert newest(woken)["counts"] == {"unread": 4}
        minute = int(time.time() / 60) % 1440
        keep("quiet_hours", {"from": (minute - 60) % 1440, "to": (minute + 60) % 1440})
        said("night")
        keep("quiet_hours", {})
        keep("reaction_notifications", {"enabled": True})
        own = a.send(room, "tea?")
        reaction = b.put(room_path(room, "send", "m.reaction", "reaction"), {
            "m.relates_to": {"rel_type": "m.annotation", "event_id": own, "key": "👍"}}).ok()["event_id"]
        assert newest(reaction)["content"]["m.relates_to"]["key"] == "👍"
        assert [pushed["event_id"] for pushed in pushes(a)] == [loud, woken, reaction], pushes(a)
    finally:
        server.close()
        gateway.close()
