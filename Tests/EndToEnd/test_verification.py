"""Verification: devices and people compare emoji. The terminal on one or both sides, and vodozemac, which is Element's, on the other."""
import asyncio
import base64
import hashlib
import json
import subprocess
import time

import nio
import vodozemac

from client import User, room_path
from harness import PATIENCE, test
from server import program
from test_nio import Client, good
from test_terminal import Terminal, lines_until

ENCRYPTED = {"algorithm": "m.megolm.v1.aes-sha2"}
# That of the specification, and the deprecated one, the only one that Nheko 0.11 knows.
MACS = ["hkdf-hmac-sha256.v2", "hkdf-hmac-sha256"]


class Verifying:
    """`martlet verify` under way; what it is asked is answered by `say`."""

    def __init__(self, terminal, *words):
        self.process = subprocess.Popen(
            [program(), "verify", *words, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=terminal.environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def say(self, word):
        self.process.stdin.write((word + "\n").encode())
        self.process.stdin.flush()

    def strings(self):
        """What it shows to be compared."""
        return json.loads(lines_until(self.process, lambda text: text.endswith("\n")))

    def result(self, code=0):
        """The last object, of standard error where it fails as it should."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == code, f"ended with {self.process.returncode}: {out!r} {err!r}"
        return json.loads((out if code == 0 else err).decode().splitlines()[-1])


def is_signed(asking, user, device):
    """Whether the user's self-signing key has signed the device, as others see it."""
    answer = asking.post("keys/query", {"device_keys": {user.user_id: []}}).ok()
    keys = answer["self_signing_keys"][user.user_id]["keys"]
    signatures = answer["device_keys"][user.user_id][device]["signatures"].get(user.user_id, {})
    return any(key in signatures for key in keys)


@test("two terminals of a person verify each other by emoji; the new one reads what was written before it was there")
def own_devices(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(name="Secret")
    ann.put(room_path(room, "state", "m.room.encryption", ""), ENCRYPTED).ok()
    with Terminal(context) as one, Terminal(context) as other:
        assert one.log_in(ann)["verified"]
        one.run("send", "Secret", "before")
        one.json("recovery", "set-up")
        session = other.log_in(ann)
        assert not session["verified"] and "before" not in other.run("read", "Secret")
        with Verifying(one, session["device_id"]) as asking, Verifying(other, "--wait") as answering:
            # Accept.
            answering.say("y")
            shown, seen = asking.strings(), answering.strings()
            assert shown == seen and len(shown["emoji"]) == 7 and len(shown["numbers"]) == 3, (shown, seen)
            asking.say("y")
            answering.say("y")
            assert asking.result() == {"verified": True, "user_id": ann.user_id, "device_id": session["device_id"]}
            assert answering.result()["verified"]
        status = other.json("recovery")[0]
        assert status["verified"] and status["backup"] == "on" and is_signed(bob, ann, session["device_id"]), status
        assert "before" in other.run("read", "Secret")
        one.run("send", "Secret", "to both")
        assert "to both" in other.run("read", "Secret")


@test("what does not match, and a request that is declined, verify nothing and are said in plain words")
def mismatch(context):
    ann = User(context.base, "ann")
    with Terminal(context) as one, Terminal(context) as other:
        one.log_in(ann)
        device = other.log_in(ann)["device_id"]
        with Verifying(one) as asking, Verifying(other, "--wait") as answering:
            answering.say("y")
            asking.strings()
            answering.strings()
            asking.say("n")
            assert "somebody may be reading along" in asking.result(1)["message"]
            assert "somebody may be reading along" in answering.result(1)["message"]
        with Verifying(one) as asking, Verifying(other, "--wait") as answering:
            answering.say("n")
            assert "declined" in answering.result(1)["message"] and "other side" in asking.result(1)["message"]
        assert not is_signed(ann, ann, device)
        assert "no device NONE" in one.run("verify", "NONE", code=1)
        one.run("verify", "--wait", "NONE", code=64)


@test("two people verify each other in their encrypted direct chat")
def people(context):
    ann, bob = User(context.base, "ann"), User(context.base, "bob")
    room = ann.create_room(invite=[bob.user_id], is_direct=True, preset="trusted_private_chat", initial_state=[
        {"type": "m.room.encryption", "state_key": "", "content": ENCRYPTED}])
    bob.join(room)
    ann.put(f"user/{ann.user_id}/account_data/m.direct", {bob.user_id: [room]}).ok()
    with Terminal(context) as one, Terminal(context) as other:
        one.log_in(ann)
        other.log_in(bob)
        with Verifying(one, bob.user_id) as asking, Verifying(other, "--wait") as answering:
            answering.say("y")
            assert asking.strings() == answering.strings()
            answering.say("y")
            asking.say("y")
            assert asking.result()["user_id"] == bob.user_id and answering.result()["user_id"] == ann.user_id
        types = {event["type"] for event in ann.get(room_path(room, "messages"), dir="b", limit=100).ok()["chunk"]}
        assert "m.room.encrypted" in types and not any(name.startswith("m.key.verification") for name in types), types


class Vodozemac:
    """The other side of a comparison: matrix-nio as the device, vodozemac for the keys. (matrix-nio's own `Sas` writes its commitment in
    hexadecimal.)"""

    def __init__(self, client, device, fingerprint, method):
        self.client, self.device, self.fingerprint, self.method = client, device, fingerprint, method
        self.sas, self.events, self.transaction = vodozemac.Sas(), [], None
        client.add_to_device_callback(lambda event: self.events.append(event.source), None)

    async def next(self, kind):
        end = time.monotonic() + PATIENCE
        while True:
            for event in self.events:
                if event["type"] == "m.key.verification." + kind:
                    self.events.remove(event)
                    return event["content"]
            assert time.monotonic() < end, f"no {kind}: {self.events}"
            good(await self.client.sync(timeout=1_000), nio.SyncResponse)

    async def send(self, kind, content):
        content = {"transaction_id": self.transaction, **content}
        message = nio.ToDeviceMessage("m.key.verification." + kind, self.client.user_id, self.device, content)
        good(await self.client.to_device(message), nio.ToDeviceResponse)

    def info(self, *devices):
        users = "".join(self.client.user_id + device for device in devices)
        return "MATRIX_KEY_VERIFICATION_MAC" + users + self.transaction

    def mac(self, shared, text, info):
        return (shared.calculate_mac if self.method == MACS[0] else shared.calculate_mac_invalid_base64)(text, info)

    def macs(self, shared):
        name, info = "ed25519:" + self.client.device_id, self.info(self.client.device_id, self.device)
        key = self.client.olm.account.identity_keys["ed25519"]
        return {"mac": {name: self.mac(shared, key, info + name)}, "keys": self.mac(shared, name, info + "KEY_IDS")}

    def check(self, shared, content):
        name, info = "ed25519:" + self.device, self.info(self.device, self.client.device_id)
        assert content["keys"] == self.mac(shared, ",".join(sorted(content["mac"])), info + "KEY_IDS"), content
        # The device, and the master key that it trusts.
        assert content["mac"][name] == self.mac(shared, self.fingerprint, info + name) and len(content["mac"]) == 2, content


def canonical(content):
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def promise(key, start):
    return base64.b64encode(hashlib.sha256((key + canonical(start)).encode()).digest()).decode().rstrip("=")


# Ten seconds: so long at most the terminal waits for what follows a verification, such as being asked for the person's keys. matrix-nio does not ask.
# Proves E5
@test("the terminal compares with vodozemac as a device of the same person, and signs that device")
def vodozemac_device(context):
    asyncio.run(_vodozemac_device(context))


async def _vodozemac_device(context):
    with Terminal(context) as one:
        async with Client(context, "nia") as nia:
            eyes = User(context.base, login_as=nia)
            device = one.log_in(nia)["device_id"]
            keys = eyes.post("keys/query", {"device_keys": {nia.user_id: []}}).ok()["device_keys"][nia.user_id]
            assert not is_signed(eyes, nia, nia.device_id)
            for method in MACS:
                other = Vodozemac(nia, device, keys[device]["keys"]["ed25519:" + device], method)
                with Verifying(one, nia.device_id) as asking:
                    await compare(nia, device, other, asking)
                assert is_signed(eyes, nia, nia.device_id)


async def compare(nia, device, other, asking):
    request = await other.next("request")
    other.transaction = request["transaction_id"]
    assert request["from_device"] == device and request["methods"] == ["m.sas.v1"], request
    await other.send("ready", {"from_device": nia.device_id, "methods": ["m.sas.v1"]})
    start = await other.next("start")
    assert start["message_authentication_codes"] == MACS, start
    key = other.sas.public_key.to_base64()
    await other.send("accept", {
        "method": "m.sas.v1", "key_agreement_protocol": "curve25519-hkdf-sha256", "hash": "sha256",
        "message_authentication_code": other.method, "short_authentication_string": ["emoji", "decimal"],
        "commitment": promise(key, start)})
    theirs = (await other.next("key"))["key"]
    await other.send("key", {"key": key})
    shared = other.sas.diffie_hellman(vodozemac.Curve25519PublicKey.from_base64(theirs))
    info = f"MATRIX_KEY_VERIFICATION_SAS|{nia.user_id}|{device}|{theirs}|{nia.user_id}|{nia.device_id}|{key}|{other.transaction}"
    shown = await asyncio.to_thread(asking.strings)
    assert shown["numbers"] == list(shared.bytes(info).decimals), shown
    asking.say("y")
    other.check(shared, await other.next("mac"))
    await other.send("mac", other.macs(shared))
    await other.next("done")
    await other.send("done", {})
    assert (await asyncio.to_thread(asking.result))["device_id"] == nia.device_id
