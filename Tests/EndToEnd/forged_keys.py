"""Keys that a server makes up: devices and identities, signed as real ones are."""
import asyncio
import contextlib
import json

import vodozemac

from client import fresh
from harness import PATIENCE


def signed(thing, user, key_id, sign):
    """With a signature beside those that are there: `sign` returns that of a text. Spec: Appendices, "Signing JSON"."""
    bare = {name: value for name, value in thing.items() if name not in ("signatures", "unsigned")}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    signatures = {name: dict(value) for name, value in thing.get("signatures", {}).items()}
    signatures.setdefault(user, {})[key_id] = sign(text)
    return {**thing, "signatures": signatures}


def signer(account):
    return lambda text: account.sign(text.encode()).to_base64()


def object_of_device(user, device, curve, fingerprint):
    return {"user_id": user, "device_id": device, "algorithms": ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
            "keys": {f"curve25519:{device}": curve, f"ed25519:{device}": fingerprint}}


class ForgedDevice:
    """A device of a user who knows nothing of it. `identity`: a forged one that signs it, too."""

    def __init__(self, user, device, identity=None):
        self.user, self.device, self.account = user, device, vodozemac.Account()
        self.curve = self.account.curve25519_key.to_base64()
        fingerprint = self.account.ed25519_key.to_base64()
        self.keys = signed(object_of_device(user, device, self.curve, fingerprint), user, f"ed25519:{device}", signer(self.account))
        if identity:
            self.keys = identity.sign(self.keys)

    def put(self, answer):
        """Into an answer of `/keys/query`."""
        answer["device_keys"].setdefault(self.user, {})[self.device] = self.keys

    def claimed(self, answer):
        """What `/keys/claim` says, with a key of this device, whether it was asked for or not."""
        self.account.generate_one_time_keys(1)
        name, key = list(self.account.one_time_keys.items())[-1]
        self.account.mark_keys_as_published()
        one_time = signed({"key": key.to_base64()}, self.user, f"ed25519:{self.device}", signer(self.account))
        answer.setdefault("one_time_keys", {}).setdefault(self.user, {})[self.device] = {f"signed_curve25519:{name}": one_time}
        return answer

    def has_something(self, hostile):
        """Whether a client has encrypted something for it: it would stand under the device's key."""
        return any(self.curve.encode() in body for method, path, body in hostile.heard if "/sendToDevice/m.room.encrypted/" in path)


class ForgedIdentity:
    def __init__(self, user):
        self.user, self.self_signing = user, vodozemac.Account()
        master = vodozemac.Account()
        self.master = self._key(master, "master")
        self.signing = signed(self._key(self.self_signing, "self_signing"), user, self._name(master), signer(master))

    def _name(self, account):
        return "ed25519:" + account.ed25519_key.to_base64()

    def _key(self, account, use):
        return {"user_id": self.user, "usage": [use], "keys": {self._name(account): account.ed25519_key.to_base64()}}

    def sign(self, keys):
        return signed(keys, self.user, self._name(self.self_signing), signer(self.self_signing))

    def put(self, answer):
        answer.setdefault("master_keys", {})[self.user] = self.master
        answer.setdefault("self_signing_keys", {})[self.user] = self.signing


def hide_identity(answer, user):
    """As if the user had never made one."""
    for kind in ("master_keys", "self_signing_keys", "user_signing_keys"):
        answer.get(kind, {}).pop(user, None)


async def renew(hostile, user, users):
    """Has a client ask for the lists of users again.

    - user: whose client it is."""
    def change(sync):
        sync.setdefault("device_lists", {}).setdefault("changed", []).extend(users)
        hostile.believe(lie)
        return sync
    lie = hostile.lie(r"/sync$", change)
    # Something comes, so that the sync ends.
    await asyncio.to_thread(user.put, f"sendToDevice/wake.up/{fresh('wake')}", {"messages": {user.user_id: {"*": {}}}})


async def told(hostile, client, user, about, changes=()):
    """Has a client of the user ask for the lists of users, and take an answer that all of `changes` have changed. Returns the lie, which goes on."""
    heard = asyncio.Event()

    def change(answer):
        for make in changes:
            make(answer)
        heard.set()
        return answer
    lie = hostile.lie(r"/keys/query$", change)
    await renew(hostile, user, about)
    await asyncio.wait_for(heard.wait(), PATIENCE)
    for other in about:
        # It says what it knows only when it has dealt with the answer.
        await client.ask("devices", user=other)
    return lie


@contextlib.asynccontextmanager
async def false_lists(hostile, client, user, about, *changes):
    """In the context the client believes what the changes make of answers of `/keys/query`. At the end it has the truth again."""
    lie = await told(hostile, client, user, about, changes)
    yield
    hostile.believe(lie)
    hostile.believe(await told(hostile, client, user, about))
