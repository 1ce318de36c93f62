#!/usr/bin/env python3
"""Olm beside vodozemac and libolm: random steps in both directions, with losses, other orders and damaged input.

    .build/venv/bin/python Tests/OlmPeer/differential.py [--steps N] COMMAND…

COMMAND runs olm-peer, natively or as wasm. MARTLET_SEED repeats the order of steps; keys are new each time.
The last line is "N passed, N failed".
"""
import argparse
import base64
import collections
import hashlib
import hmac
import os
import random
import subprocess
import sys

import dehydrated
import nio.crypto.key_export
import olm
import vodozemac
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# Messages that wait on their way, and for how many turns; the rest is lost. A recipient keeps as many chains.
ON_THE_WAY, TURNS = 8, 5
WEAK_POINTS = [
    bytes(32), bytes([1]) + bytes(31), bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"), b"\xec" + b"\xff" * 30 + b"\x7f",
]


def encode(data):
    return base64.b64encode(data).decode().rstrip("=") or "-"


def decode(text):
    return b"" if text == "-" else base64.b64decode(text + "=" * (-len(text) % 4))


class Peer:
    """Our side."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(encode(word) if isinstance(word, bytes) else str(word) for word in words).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"olm-peer ended at {' '.join(map(str, words))[:200]}"
        return answer.decode().strip()

    def ok(self, *words):
        answer = self(*words)
        assert not answer.startswith(("error", "unknown")), f"{answer} to {' '.join(map(str, words))[:200]}"
        return answer.split(" ")


class Vodozemac:
    """A device of vodozemac, and its side of a session."""

    name = "vodozemac"

    def __init__(self):
        self.account = vodozemac.Account()

    identity = property(lambda self: self.account.curve25519_key.to_base64())

    def one_time_key(self):
        self.account.generate_one_time_keys(1)
        key = next(iter(self.account.one_time_keys.values())).to_base64()
        self.account.mark_keys_as_published()
        return key

    def begin(self, identity, one_time):
        self.session = self.account.create_outbound_session(
            vodozemac.Curve25519PublicKey.from_base64(identity), vodozemac.Curve25519PublicKey.from_base64(one_time))

    def accept(self, identity, body):
        message = vodozemac.AnyOlmMessage.from_parts(0, body).to_pre_key()
        self.session, text = self.account.create_inbound_session(vodozemac.Curve25519PublicKey.from_base64(identity), message)
        return text

    session_id = property(lambda self: self.session.session_id)

    def encrypt(self, text):
        return self.session.encrypt(text).to_parts()

    def decrypt(self, kind, body):
        return self.session.decrypt(vodozemac.AnyOlmMessage.from_parts(kind, body))

    def restart(self):
        key = bytes(32)
        self.session = vodozemac.Session.from_pickle(self.session.pickle(key), key)


class Libolm:
    """The same of libolm, whose binding knows text only: its plaintexts are base64."""

    name = "libolm"

    def __init__(self):
        self.account = olm.Account()

    identity = property(lambda self: self.account.identity_keys["curve25519"])

    def one_time_key(self):
        self.account.generate_one_time_keys(1)
        key = next(iter(self.account.one_time_keys["curve25519"].values()))
        self.account.mark_keys_as_published()
        return key

    def begin(self, identity, one_time):
        self.session = olm.OutboundSession(self.account, identity, one_time)

    def accept(self, identity, body):
        message = olm.OlmPreKeyMessage(encode(body))
        self.session = olm.InboundSession(self.account, message, identity)
        return self.session.decrypt(message).encode()

    session_id = property(lambda self: self.session.id)

    def encrypt(self, text):
        message = self.session.encrypt(text.decode())
        return (0 if isinstance(message, olm.OlmPreKeyMessage) else 1), decode(message.ciphertext)

    def decrypt(self, kind, body):
        return self.session.decrypt((olm.OlmMessage if kind else olm.OlmPreKeyMessage)(encode(body))).encode()

    def restart(self):
        self.session = olm.Session.from_pickle(self.session.pickle())


class Way:
    """Messages in one direction. The turn counts how often their sender may have begun a new chain."""

    def __init__(self, chance):
        self.random, self.messages, self.turn, self.is_answer = chance, [], 0, False

    def put(self, *message):
        self.turn, self.is_answer = self.turn + self.is_answer, False
        self.messages = [waiting for waiting in self.messages if waiting[0] > self.turn - TURNS] + [(self.turn, message)]
        if len(self.messages) > ON_THE_WAY:
            self.take()

    def take(self):
        return self.messages.pop(self.random.randrange(len(self.messages)))[1]


class Conversation:
    """Our device and one of theirs."""

    def __init__(self, world, number, theirs):
        self.world, self.peer, self.name, self.theirs = world, world.peer, f"c{number}", theirs
        self.to_us, self.to_them = Way(world.random), Way(world.random)
        self.ours = f"a{number}"
        self.identity = self.peer.ok("account", self.ours)[1]
        text = world.text()
        if world.random.random() < 0.5:
            ours = self.peer.ok("begin", self.name, self.ours, theirs.identity, theirs.one_time_key())[0]
            kind, body = self.peer.ok("encrypt", self.name, text)
            world.check(f"a session that we begin ({theirs.name})", kind == "0" and theirs.accept(self.identity, decode(body)) == text)
        else:
            key = world.random.choice(["one-time-key", "fallback-key"])
            theirs.begin(self.identity, self.peer.ok(key, self.ours)[0])
            kind, body = theirs.encrypt(text)
            # A damaged message may still be whole, and would use up a one-time key.
            if key == "fallback-key":
                self.peer("accept", "damaged", self.ours, theirs.identity, world.damage(body))
            ours, got = self.peer.ok("accept", self.name, self.ours, theirs.identity, body)
            world.check(f"a session that they begin ({theirs.name})", kind == 0 and decode(got) == text)
        world.check("session IDs", ours == theirs.session_id)

    def step(self):
        world, chance = self.world, self.world.random.random()
        if chance < 0.25:
            text = world.text()
            kind, body = self.peer.ok("encrypt", self.name, text)
            self.to_them.put(text, int(kind), decode(body))
        elif chance < 0.5:
            text = world.text()
            self.to_us.put(text, *self.theirs.encrypt(text))
        elif chance < 0.7 and self.to_them.messages:
            text, kind, body = self.to_them.take()
            self.to_us.is_answer = True
            world.check(f"Olm from us, type {kind} ({self.theirs.name})", self.theirs.decrypt(kind, body) == text)
        elif chance < 0.9 and self.to_us.messages:
            text, kind, body = self.to_us.take()
            self.to_them.is_answer = True
            world.check(f"Olm to us, type {kind} ({self.theirs.name})", decode(self.peer.ok("decrypt", self.name, kind, body)[0]) == text)
            world.check("Olm, the same again", self.peer("decrypt", self.name, kind, body).startswith("error"))
        elif chance < 0.97 and self.to_us.messages:
            waiting = world.random.choice(self.to_us.messages)
            text, kind, body = waiting[1]
            answer = self.peer("decrypt", self.name, kind, world.damage(body))
            # Damage may undo itself, or lie in the part of a pre-key message that no MAC covers.
            if answer.startswith("error"):
                world.check("Olm, damaged", True)
            else:
                world.check("Olm, damaged but whole", decode(answer) == text)
                self.to_us.messages.remove(waiting)
                self.to_them.is_answer = True
        else:
            self.theirs.restart()


class Room:
    """A room that we write to and both others read, and rooms that they write to and we read."""

    def __init__(self, world, number):
        self.world, self.peer, self.name = world, world.peer, f"r{number}"
        name, key = self.peer.ok("room", self.name)
        self.vodozemac = vodozemac.InboundGroupSession(vodozemac.SessionKey(key))
        self.libolm = olm.InboundGroupSession(key)
        world.check("room session IDs", name == self.vodozemac.session_id == self.libolm.id)
        self.their_vodozemac, self.their_libolm = vodozemac.GroupSession(), olm.OutboundGroupSession()
        self.first = world.random.choice([0, 0, 3])
        for _ in range(self.first):
            self.their_vodozemac.encrypt(b"")
        world.check("taken keys", self.peer("take", f"{self.name}v", self.their_vodozemac.session_key.to_base64()) == self.their_vodozemac.session_id)
        world.check("taken keys", self.peer("take", f"{self.name}l", self.their_libolm.session_key) == self.their_libolm.id)
        self.written, self.index = [], 0

    def step(self):
        random, world = self.world.random, self.world
        action = random.choice([self.write, self.write, self.read, self.read, self.read, self.read_libolm, self.damage, self.export, self.late])
        if action in (self.damage, self.export, self.read) and not self.written:
            action = self.write_theirs
        action()
        if random.random() < 0.1:
            self.write_theirs()
        if random.random() < 0.05:
            world.peer.ok("restart", f"{self.name}v")

    def write(self):
        text = self.world.text()
        message = self.peer.ok("room-encrypt", self.name, text)[0]
        read = self.vodozemac.decrypt(vodozemac.MegolmMessage.from_base64(message))
        self.world.check("Megolm from us (vodozemac)", read.plaintext == text and read.message_index == self.index)
        self.world.check("Megolm from us (libolm)", self.libolm.decrypt(message) == (text.decode(), self.index))
        self.index += 1

    def write_theirs(self):
        text = self.world.text()
        index = self.their_vodozemac.message_index
        self.written.append((index, text, decode(self.their_vodozemac.encrypt(text).to_base64())))

    def read(self):
        index, text, message = self.world.random.choice(self.written)
        got, plaintext = self.peer.ok("room-decrypt", f"{self.name}v", message)
        self.world.check("Megolm to us, any order (vodozemac)", int(got) == index and decode(plaintext) == text)
        self.write_theirs()

    def read_libolm(self):
        text = self.world.text()
        index = self.their_libolm.message_index
        got, plaintext = self.peer.ok("room-decrypt", f"{self.name}l", decode(self.their_libolm.encrypt(text.decode())))
        self.world.check("Megolm to us (libolm)", int(got) == index and decode(plaintext) == text)

    def damage(self):
        index, text, message = self.world.random.choice(self.written)
        damaged = self.world.damage(message)
        answer = self.peer("room-decrypt", f"{self.name}v", damaged)
        self.world.check("Megolm, damaged", answer.startswith("error") if damaged != message else True)

    def late(self):
        """A key in the middle of the session."""
        key = self.peer.ok("room-key", self.name)[0]
        late = vodozemac.InboundGroupSession(vodozemac.SessionKey(key))
        self.world.check("a key shared late", late.first_known_index == self.index)

    def export(self):
        at = self.first + self.world.random.choice([0, 1, 200, 256, 65_537, 1 << 24, self.world.random.randrange(1 << 31)])
        exported = self.peer.ok("export", f"{self.name}v", at)[0]
        whole = vodozemac.InboundGroupSession.import_session(vodozemac.ExportedSessionKey(exported))
        self.world.check("exported keys", whole.first_known_index == at and whole.export_at(at).to_base64() == exported)
        self.world.check("exported keys (libolm)", olm.InboundGroupSession.import_session(exported).first_known_index == at)
        self.world.check("imported keys", self.peer("import", "imported", whole.export_at(at + 1).to_base64()) == str(at + 1))
        self.world.check("keys of one session agree", self.peer("agree", "imported", f"{self.name}v") == "yes")


class World:
    def __init__(self, peer, seed):
        self.peer, self.random = peer, random.Random(seed)
        self.counts = collections.Counter()
        self.conversations, self.rooms, self.made = [], [], 0

    def check(self, what, is_right):
        assert is_right, what
        self.counts[what] += 1

    def text(self):
        return base64.b64encode(os.urandom(self.random.choice([0, 1, 11, 12, 13, 24, 300, 3_000])))

    def damage(self, message):
        message = bytearray(message)
        kind = self.random.randrange(5)
        place = self.random.randrange(len(message))
        if kind == 0:
            message[place] ^= 1 << self.random.randrange(8)
        elif kind == 1:
            del message[place:]
        elif kind == 2:
            message[place] = self.random.choice([0, 0x7F, 0x80, 0xFF])
        elif kind == 3:
            message[place:self.random.randrange(len(message))] = os.urandom(self.random.randrange(12))
        else:
            message[1:1] = bytes([self.random.choice([8, 10, 16, 18, 26, 34])]) + b"\xff" * self.random.randrange(10) + os.urandom(3)
        return bytes(message)

    def step(self):
        chance = self.random.random()
        if chance < 0.55:
            self.of(self.conversations, 12, lambda: Conversation(self, self.made, self.random.choice([Vodozemac, Libolm])())).step()
        elif chance < 0.8:
            self.of(self.rooms, 6, lambda: Room(self, self.made)).step()
        else:
            self.random.choice([self.signatures, self.sas, self.backup, self.primitives, self.primitives, self.weak, self.key_file, self.recovery_key, self.dehydrated])()

    def of(self, things, limit, make):
        """One of the things; now and then a new one takes the place of an old one."""
        if len(things) < limit or self.random.random() < 0.02:
            self.made += 1
            things.append(make())
            if len(things) > limit:
                things.pop(self.random.randrange(limit))
        return self.random.choice(things)

    def signatures(self):
        ours, message = self.peer.ok("account", "signer")[0], self.text()
        signature = self.peer.ok("sign", "signer", message)[0]
        vodozemac.Ed25519PublicKey.from_base64(ours).verify_signature(message, vodozemac.Ed25519Signature.from_base64(signature))
        olm.ed25519_verify(ours, message, signature)
        theirs = vodozemac.Account()
        signature = theirs.sign(message).to_base64()
        self.check("signatures", self.peer("verify", theirs.ed25519_key.to_base64(), message, signature) == "yes")
        damaged = self.damage(decode(signature))
        self.check("damaged signatures", damaged == decode(signature) or self.peer("verify", theirs.ed25519_key.to_base64(), message, damaged) == "no")

    def sas(self):
        info = self.text()
        ours, theirs = self.peer.ok("sas", "sas")[0], vodozemac.Sas()
        key = theirs.public_key.to_base64()
        shared = theirs.diffie_hellman(vodozemac.Curve25519PublicKey.from_base64(ours))
        shown = shared.bytes(info.decode())
        emoji, decimals = self.peer.ok("sas-shown", "sas", key, info)
        self.check("emoji", emoji == ",".join(map(str, shown.emoji_indices)))
        self.check("decimals", decimals == ",".join(map(str, shown.decimals)))
        self.check("MACs", self.peer("sas-mac", "sas", key, info, b"text") == shared.calculate_mac("text", info.decode()))
        old = shared.calculate_mac_invalid_base64("text", info.decode())
        self.check("MACs in the deprecated encoding", self.peer("sas-mac-overwritten", "sas", key, info, b"text") == old)

    def backup(self):
        text, private = self.text(), X25519PrivateKey.generate()
        public = private.public_key().public_bytes_raw()
        message = vodozemac.PkEncryption.from_key(vodozemac.Curve25519PublicKey.from_bytes(public)).encrypt(text)
        secret = private.private_bytes_raw()
        got = self.peer.ok("backup-decrypt", secret, message.ephemeral_key, message.ciphertext, message.mac)[0]
        self.check("backups to us", decode(got) == text)
        answer = self.peer("backup-decrypt", secret, message.ephemeral_key, self.damage(message.ciphertext), message.mac)
        self.check("damaged backups", not answer.startswith("error") or answer == "error wrongMAC")
        theirs = olm.PkDecryption()
        ephemeral, ciphertext, mac = self.peer.ok("backup-encrypt", theirs.public_key, text)
        self.check("backups from us (libolm)", theirs.decrypt(olm.PkMessage(ephemeral, mac, ciphertext)) == text.decode())
        theirs = vodozemac.PkDecryption()
        ephemeral, ciphertext, mac = self.peer.ok("backup-encrypt", theirs.public_key.to_base64(), text)
        self.check("backups from us (vodozemac)", theirs.decrypt(vodozemac.Message.from_base64(ciphertext, mac, ephemeral)) == text)

    def primitives(self):
        key, data = os.urandom(32), os.urandom(self.random.randrange(400))
        counter = os.urandom(16) if self.random.random() < 0.5 else os.urandom(12) + b"\xff\xff\xff\xfe"
        if self.random.random() < 0.1:
            counter = b"\xff" * 16
        self.check("AES-CTR", decode(self.peer("counter", key, counter, data)) == Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(data))
        self.check("SHA-256", decode(self.peer("hash", data)) == hashlib.sha256(data).digest())
        key = os.urandom(self.random.randrange(200))
        self.check("HMAC", decode(self.peer("tag", key, data)) == hmac.new(key, data, "sha256").digest())
        salt, info, count = os.urandom(self.random.choice([0, 32, 100])), os.urandom(self.random.choice([0, 20])), self.random.randrange(1, 300)
        derived = HKDF(hashes.SHA256(), count, salt, info).derive(key)
        self.check("HKDF", decode(self.peer("derive", key, salt, info, count)) == derived)
        self.check("PBKDF2", decode(self.peer("passphrase", key, salt, 3)) == hashlib.pbkdf2_hmac("sha512", key, salt, 3, 64))

    def weak(self):
        point = self.random.choice(WEAK_POINTS)
        identity = self.peer.ok("account", "weak")[1]
        answers = [self.peer("begin", "weak", "weak", point, identity), self.peer("begin", "weak", "weak", identity, point), self.peer("backup-encrypt", point, b"text")]
        self.peer.ok("sas", "weak")
        answers.append(self.peer("sas-mac", "weak", point, b"info", b"text"))
        self.check("weak keys", set(answers) == {"error weakKey"})

    def key_file(self):
        text, passphrase, salt = self.text(), self.text(), os.urandom(16)
        sealed = decode(self.peer.ok("seal-key-file", passphrase, salt, text)[0]).decode()
        body = "".join(sealed.strip().splitlines()[1:-1])
        self.check("key files (matrix-nio)", nio.crypto.key_export.decrypt(body, passphrase.decode()) == text)
        lines = sealed.splitlines()
        damaged = "\n".join([lines[0], encode(self.damage(decode(body.rstrip("=")))[:1 << 16]), lines[-1]])
        # Damage in the count of rounds would only take time.
        if decode(damaged.splitlines()[1])[33:37] == bytes([0, 0, 0, 3]):
            answer = self.peer("open-key-file", damaged.encode(), passphrase)
            self.check("damaged key files", answer.startswith("error") or decode(answer) == text)
        self.check("key files", decode(self.peer.ok("open-key-file", sealed.encode(), passphrase)[0]) == text)

    def recovery_key(self):
        key = os.urandom(32)
        written = decode(self.peer.ok("recovery-key", key)[0])
        self.check("recovery keys", decode(self.peer.ok("read-recovery-key", written)[0]) == key)
        # The parity is one byte: one mistyped key in 256 is another key.
        answer = self.peer("read-recovery-key", self.damage(written))
        self.check("mistyped recovery keys", answer == "error malformed" or len(decode(answer)) == 32)

    def dehydrated(self):
        """A device that vodozemac and we make of each other's keys reads what comes meanwhile."""
        key, nonce, text, count = os.urandom(32), os.urandom(12), self.text(), self.random.choice([0, 1, 50])
        self.peer.ok("account", "dry")
        ours = [self.peer.ok("one-time-key", "dry")[0] for _ in range(count)] + self.peer.ok("fallback-key", "dry")
        sealed, used = map(decode, self.peer.ok("dehydrate", "dry", key))
        theirs = dehydrated.account_of(*dehydrated.open_(sealed, key, used))
        sender, writer = vodozemac.Account(), Vodozemac()
        session = sender.create_outbound_session(theirs.curve25519_key, vodozemac.Curve25519PublicKey.from_base64(self.random.choice(ours)))
        got = theirs.create_inbound_session(sender.curve25519_key, session.encrypt(text).to_pre_key())[1]
        self.check("dehydrated devices from us", got == text)

        theirs = vodozemac.Account()
        theirs.generate_one_time_keys(count)
        theirs.generate_fallback_key()
        public = [*theirs.one_time_keys.values(), *theirs.fallback_key.values()]
        version = self.random.choice([1, 1 << 31])
        sealed = dehydrated.seal(*dehydrated.secrets_of(theirs), key, nonce, version)
        signing, identity, kept = self.peer.ok("rehydrate", "dry", key, sealed, nonce)
        self.check("dehydrated devices to us", (signing, identity, int(kept)) == (theirs.ed25519_key.to_base64(), theirs.curve25519_key.to_base64(), count))
        writer.begin(identity, self.random.choice(public).to_base64())
        _, body = writer.encrypt(text)
        self.check("messages of dehydrated devices", decode(self.peer.ok("accept", "dried", "dry", writer.identity, body)[1]) == text)
        damaged = self.damage(sealed)
        answer = self.peer("rehydrate", "dry", key, damaged, nonce)
        self.check("damaged dehydrated devices", damaged == sealed or answer in ("error wrongMAC", "error malformed"))
        self.check("dehydrated devices under another key", self.peer("rehydrate", "dry", os.urandom(32), sealed, nonce) == "error wrongMAC")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    seed = int(os.environ.get("MARTLET_SEED") or random.randrange(1 << 32))
    world, step, failed = World(Peer(options.command), seed), 0, 0
    try:
        for step in range(options.steps):
            world.step()
    except Exception as problem:  # whichever library complains
        failed = 1
        print(f"FAILED in step {step} with MARTLET_SEED={seed}: {type(problem).__name__}: {problem}")
    for what, count in sorted(world.counts.items()):
        print(f"{count:7} {what}")
    print(f"{world.counts.total()} passed, {failed} failed")
    sys.exit(failed)


if __name__ == "__main__":
    main()
