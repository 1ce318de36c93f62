"""Web Push: the server as a push service and a browser see it. MSC4174, RFC 8030, 8291, 8292."""
import contextlib
import time

from client import User, room_path
from harness import PATIENCE, test
from push_service import PushService
from server import Server

APPLICATION = "org.example.web"


def vapid_key(user):
    offered = user.get("capabilities").ok()["capabilities"]
    assert offered["m.webpush"] == offered["org.matrix.msc4174.webpush"], offered
    assert offered["m.webpush"]["enabled"] is True
    return offered["m.webpush"]["vapid"]


def set_pusher(user, subscription, **data):
    return user.post("pushers/set", {
        "kind": "webpush", "app_id": APPLICATION, "pushkey": subscription.p256dh, "app_display_name": "Web", "lang": "en",
        "device_display_name": "Browser", "data": {"url": subscription.endpoint, "auth": subscription.auth, **data}})


def payloads(pushes):
    return [push.payload for push in pushes]


def tokens(pushes):
    return [payload["ack_token"] for payload in payloads(pushes) if payload and "ack_token" in payload]


def notified(pushes):
    """In the order in which the service took them."""
    return [payload["notification"] for payload in payloads(pushes) if payload and "event_id" in payload.get("notification", {})]


def counted(pushes):
    return [payload["notification"] for payload in payloads(pushes) if payload and "event_id" not in payload.get("notification", {"event_id": 0})]


def activate(user, service, subscription, **data):
    before = len(tokens(service.pushes))
    answer = set_pusher(user, subscription, **data)
    assert answer.status == 201, answer
    token = service.wait(lambda pushes: tokens(pushes)[before:])[0]
    user.post("pushers/ack", {"app_id": APPLICATION, "ack_token": token}).ok()


@contextlib.contextmanager
def subscribed(context, **data):
    """(service, server, Ann with an active subscription, Bob, their room, the subscription)"""
    context.own_server()
    service = PushService()
    server = Server(push_gateways=service.base).start()
    try:
        ann, bob = User(server.base), User(server.base)
        room = ann.create_room(preset="public_chat", name="Tea")
        bob.join(room)
        subscription = service.subscribe(vapid_key(ann))
        activate(ann, service, subscription, **data)
        yield service, server, ann, bob, room, subscription
    finally:
        server.close()
        service.close()


@test("a browser that has subscribed reads what the server pushes, and nobody else could; the server's key outlives a crash")
def web_push(context):
    with subscribed(context) as (service, server, ann, bob, room, subscription):
        assert [pusher["activated"] for pusher in ann.get("pushers").ok()["pushers"]] == [True]
        assert payloads(service.pushes)[0].keys() == {"app_id", "ack_token"}
        event = bob.send(room, "hello")
        told = service.wait(notified)[0]
        assert told["event_id"] == event and told["room_id"] == room and told["room_name"] == "Tea", told
        assert told["content"]["body"] == "hello" and told["counts"] == {"unread": 1} and told["sender"] == bob.user_id, told
        device, = told["devices"]
        assert device["app_id"] == APPLICATION and device["pushkey"] == subscription.p256dh, device
        # The keys stay between the two.
        assert device["data"] == {}, device
        ann.post(room_path(room, "receipt", "m.read", event), {}).ok()
        assert service.wait(counted)[0]["counts"] == {}
        counts = [push for push in service.pushes if push.payload in [{"notification": number} for number in counted(service.pushes)]]
        assert {push.headers.get("topic") for push in counts} == {"counts"}
        key = vapid_key(ann)
        server.kill()
        server.start()
        assert vapid_key(ann) == key
        event = bob.send(room, "hello again")
        service.wait(lambda pushes: [told for told in notified(pushes) if told["event_id"] == event])


@test("a message too long for a push is cut, what cannot be cut is told by its identifiers")
def long_push(context):
    with subscribed(context) as (service, _, ann, bob, room, _):
        text = "Grüße \"aus\" dem \\ Garten 🌱 " * 400
        bob.put(room_path(room, "send", "m.room.message", "long"), {
            "msgtype": "m.text", "body": text, "format": "org.matrix.custom.html", "formatted_body": f"<b>{text}</b>"}).ok()
        told = service.wait(notified)[0]
        assert told["content"].keys() == {"msgtype", "body"}, told["content"].keys()
        body = told["content"]["body"]
        assert body.endswith("…") and text.startswith(body[:-1]) and len(body.encode()) > 2500, body
        bob.put(room_path(room, "send", "m.room.message", "wide"), {"msgtype": "x" * 5000, "body": "short"}).ok()
        told = service.wait(lambda pushes: notified(pushes)[1:])[0]
        assert told.keys() == {"event_id", "room_id", "prio", "counts", "devices"}, told


@test("a browser that asked for identifiers gets no more")
def identifiers(context):
    with subscribed(context, format="event_id_only") as (service, _, ann, bob, room, _):
        event = bob.send(room, "secret")
        told = service.wait(notified)[0]
        assert told.keys() == {"event_id", "room_id", "prio", "counts", "devices"} and told["event_id"] == event, told


@test("an outage of the push service loses no push; a subscription that is over takes its pusher along")
def outage(context):
    with subscribed(context) as (service, server, ann, bob, room, subscription):
        service.answer = lambda push: (503, {"Retry-After": "1"})
        events = [bob.send(room, "one")]
        service.wait(notified)
        server.kill()
        server.start()
        events.append(bob.send(room, "two"))
        service.answer = lambda push: 201
        service.wait(lambda pushes: {told["event_id"] for told in notified(pushes)} == set(events))
        taken = list(dict.fromkeys(told["event_id"] for told in notified(service.pushes)))
        assert taken == events, (taken, events)
        service.answer = lambda push: (301, {"Location": service.base + "/elsewhere"})
        bob.send(room, "three")
        service.wait(lambda pushes: len({told["event_id"] for told in notified(pushes)}) == 3)
        assert {push.path for push in service.pushes} == {subscription.endpoint.removeprefix(service.base)}
        seen = len(service.pushes)
        service.answer = lambda push: 410
        service.wait(lambda pushes: len(pushes) > seen)
        # The server notes it after it has the answer.
        end = time.monotonic() + PATIENCE
        while ann.get("pushers").ok()["pushers"]:
            assert time.monotonic() < end, "the pusher is still there"


@test("a push service in a private network is refused, and so are keys that are none")
def hostile_subscriptions(context):
    with subscribed(context) as (service, server, ann, bob, room, subscription):
        other = service.subscribe("")

        def refused(**changes):
            body = {"kind": "webpush", "app_id": APPLICATION, "pushkey": other.p256dh, "app_display_name": "", "lang": "",
                    "device_display_name": "", "data": {"url": other.endpoint, "auth": other.auth}}
            body["data"].update({name: changes.pop(name) for name in ("url", "auth") if name in changes})
            answer = ann.post("pushers/set", {**body, **changes})
            assert answer.status == 400 and answer.json["errcode"] == "M_INVALID_PARAM" and answer.json["error"], answer
        for url in ("https://127.0.0.1/1", "https://[::1]/1", "https://192.168.0.1/1", "http://push.example.org/1"):
            refused(url=url)
        for pushkey in ("", other.p256dh[:-2], other.p256dh + "=", "B" + "A" * 86):
            refused(pushkey=pushkey)
        for auth in ("", "AAAA", other.auth + "=="):
            refused(auth=auth)
        assert len(ann.get("pushers").ok()["pushers"]) == 1
