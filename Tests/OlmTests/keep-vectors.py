#!/usr/bin/env python3
"""Writes KeptVectors.swift anew: what vodozemac, libolm and matrix-nio made of keys that we know.

    .build/venv/bin/python Tests/OlmTests/keep-vectors.py

Their random numbers are new each time, so the vectors are; OlmTests must pass with any.
"""
import base64
import os
import sys

import nio.crypto.attachments
import nio.crypto.key_export
import olm
import vodozemac
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "OlmPeer"))
import dehydrated  # noqa: E402


class Pair:
    def __init__(self):
        self.private = X25519PrivateKey.generate()

    @property
    def secret(self):
        return self.private.private_bytes_raw()

    @property
    def public(self):
        return vodozemac.Curve25519PublicKey.from_bytes(self.private.public_key().public_bytes_raw())


def unpadded(data):
    return base64.b64encode(data).decode().rstrip("=")


def olm_vector():
    """A conversation that the other side begins, whose messages arrive in another order."""
    identity, one_time = Pair(), Pair()
    account = vodozemac.Account()
    session = account.create_outbound_session(identity.public, one_time.public)
    messages = [(f"message {k}", unpadded(session.encrypt(f"message {k}".encode()).to_parts()[1])) for k in range(4)]
    return f"""  /// Of vodozemac, by a session that it begins.
  static let olmIdentity = "{unpadded(identity.secret)}"
  static let olmOneTime = "{unpadded(one_time.secret)}"
  static let olmSender = "{account.curve25519_key.to_base64()}"
  static let olmSessionID = "{session.session_id}"
  static let olmMessages = {swift(messages)}
"""


def libolm_vector():
    identity, one_time = Pair(), Pair()
    account = olm.Account()
    session = olm.OutboundSession(account, identity.public.to_base64(), one_time.public.to_base64())
    return f"""  /// The same of libolm.
  static let libolmIdentity = "{unpadded(identity.secret)}"
  static let libolmOneTime = "{unpadded(one_time.secret)}"
  static let libolmSender = "{account.identity_keys['curve25519']}"
  static let libolmSessionID = "{session.id}"
  static let libolmMessages = {swift([('hello', session.encrypt('hello').ciphertext)])}
"""


def megolm_vector():
    session = vodozemac.GroupSession()
    key = session.session_key
    inbound = vodozemac.InboundGroupSession(key)
    messages = [(f"room {k}", session.encrypt(f"room {k}".encode()).to_base64()) for k in range(300)]
    kept = [messages[k] for k in (0, 1, 255, 256, 299)]
    exports = [(at, inbound.export_at(at).to_base64()) for at in (0, 1, 256, 65_536, 16_777_217, 0xFFFF_FFFE)]
    return f"""  /// Of vodozemac: messages 0, 1, 255, 256 and 299 of a room, and the session's key at several indexes.
  static let megolmKey = "{key.to_base64()}"
  static let megolmID = "{session.session_id}"
  static let megolmMessages = {swift(kept)}
  static let megolmExports: [(index: UInt32, key: String)] = {swift(exports)}
"""


def sas_vector():
    ours = Pair()
    theirs = vodozemac.Sas()
    public = theirs.public_key.to_base64()
    established = theirs.diffie_hellman(ours.public)
    shown = established.bytes("info")
    return f"""  /// Of vodozemac, for the info "info" and the MAC of "key".
  static let sasSecret = "{unpadded(ours.secret)}"
  static let sasKey = "{public}"
  static let sasEmoji: [UInt8] = {list(shown.emoji_indices)}
  static let sasDecimals: [UInt16] = {list(shown.decimals)}
  static let sasMAC = "{established.calculate_mac('key', 'info')}"
  static let sasOverwrittenMAC = "{established.calculate_mac_invalid_base64('key', 'info')}"
"""


def backup_vector():
    pair = Pair()
    message = vodozemac.PkEncryption.from_key(pair.public).encrypt(b'{"sessions":{}}')
    return f"""  /// Of vodozemac: {{"sessions":{{}}}} in a backup.
  static let backupSecret = "{unpadded(pair.secret)}"
  static let backupKey = "{unpadded(message.ephemeral_key)}"
  static let backupCiphertext = "{unpadded(message.ciphertext)}"
  static let backupMAC = "{unpadded(message.mac)}"
"""


def key_file_vector():
    sealed = nio.crypto.key_export.encrypt(b'[{"room_id":"!a:b"}]', "correct horse", count=1_000)
    text = "\n".join([nio.crypto.key_export.HEADER, sealed, nio.crypto.key_export.FOOTER])
    return f"""  /// Of matrix-nio: [{{"room_id":"!a:b"}}] with the passphrase "correct horse".
  static let keyFile = \"\"\"
{"".join(f"    {line}{chr(10)}" for line in text.splitlines())}    \"\"\"
"""


def attachment_vector():
    plaintext = bytes(range(200))
    ciphertext, keys = nio.crypto.attachments.encrypt_attachment(plaintext)
    key = keys["key"]["k"].replace("-", "+").replace("_", "/")
    return f"""  /// Of matrix-nio: the bytes 0 to 199 as an attachment.
  static let attachmentKey = "{key}"
  static let attachmentCounter = "{keys['iv'].rstrip('=')}"
  static let attachmentDigest = "{keys['hashes']['sha256'].rstrip('=')}"
  static let attachment = "{unpadded(ciphertext)}"
"""


def dehydrated_vector():
    """A device without a client, with the keys of an account of vodozemac, and a message that began with its last one-time key."""
    account, sender, key, nonce = vodozemac.Account(), vodozemac.Account(), os.urandom(32), os.urandom(12)
    account.generate_one_time_keys(2)
    account.generate_fallback_key()
    sealed = dehydrated.seal(*dehydrated.secrets_of(account), key, nonce)
    session = sender.create_outbound_session(account.curve25519_key, list(account.one_time_keys.values())[-1])
    message = session.encrypt(b"to a dehydrated device").to_parts()[1]
    return f"""  /// Of vodozemac: a dehydrated device with two one-time keys and a fallback key, and a message to it.
  static let dehydratedKey = "{unpadded(key)}"
  static let dehydratedNonce = "{unpadded(nonce)}"
  static let dehydratedSealed = "{unpadded(sealed)}"
  static let dehydratedIdentity = "{account.curve25519_key.to_base64()}"
  static let dehydratedSigning = "{account.ed25519_key.to_base64()}"
  static let dehydratedSender = "{sender.curve25519_key.to_base64()}"
  static let dehydratedMessage = "{unpadded(message)}"
"""


def swift(pairs):
    rows = ", ".join(f'({first if isinstance(first, int) else f"{chr(34)}{first}{chr(34)}"}, "{second}")' for first, second in pairs)
    return f"[{rows}]"


def main():
    parts = [olm_vector(), libolm_vector(), megolm_vector(), sas_vector(), backup_vector(), key_file_vector(), attachment_vector(),
             dehydrated_vector()]
    with open(os.path.join(HERE, "KeptVectors.swift"), "w", encoding="utf-8") as file:
        file.write("// Made by keep-vectors.py.\n\n// swift-format-ignore\nenum KeptVectors {\n" + "\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
