#!/usr/bin/env python3
"""Writes KeptVectors.swift anew: what mautrix and vodozemac made of keys that we know.

    .build/venv/bin/python Tests/EncryptionTests/keep-vectors.py

Their random numbers are new each time, so the vectors are; EncryptionTests must pass with any.
"""
import base64
import hashlib
import json
import os

import nio
import vodozemac
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from mautrix.crypto.ssss import Key, KeyMetadata, PassphraseMetadata
from mautrix.crypto.ssss.types import Algorithm, PassphraseAlgorithm
from mautrix.crypto.ssss.util import calculate_hash

HERE = os.path.dirname(os.path.abspath(__file__))
PASSPHRASE = "correct horse"


def padded(data):
    return base64.b64encode(data).decode()


def unpadded(data):
    return padded(data).rstrip("=")


def storage_key(name, key, passphrase=None):
    iv = unpadded(os.urandom(16))
    metadata = KeyMetadata(algorithm=Algorithm.AES_HMAC_SHA2, iv=iv, mac=calculate_hash(key, iv), passphrase=passphrase)
    secret = os.urandom(32)
    opened = Key(id=name, key=key, metadata=metadata)
    stored = {"encrypted": {name: opened.encrypt("m.cross_signing.master", secret).serialize()}}
    return json.dumps(metadata.serialize()), opened.recovery_key, json.dumps(stored), unpadded(secret)


def storage_vectors():
    passphrase = PassphraseMetadata(algorithm=PassphraseAlgorithm.PBKDF2, iterations=1_000, salt="salt and pepper")
    plain = storage_key("plain", os.urandom(32))
    derived = storage_key("derived", passphrase.get_key(PASSPHRASE), passphrase)
    return f"""  /// Of mautrix: a key of secret storage, as the user writes it down, and a secret under it.
  static let storageKey = #"{plain[0]}"#
  static let recoveryKey = "{plain[1]}"
  static let storedSecret = #"{plain[2]}"#
  static let secret = "{plain[3]}"

  /// The same, of the passphrase "{PASSPHRASE}".
  static let passphraseKey = #"{derived[0]}"#
  static let passphraseRecoveryKey = "{derived[1]}"
  static let passphraseStoredSecret = #"{derived[2]}"#
  static let passphraseSecret = "{derived[3]}"
"""


def backup_vector():
    """A session in a backup: the JSON of the specification's example, encrypted by vodozemac."""
    private = X25519PrivateKey.generate()
    public = vodozemac.Curve25519PublicKey.from_bytes(private.public_key().public_bytes_raw())
    outbound = vodozemac.GroupSession()
    inbound = vodozemac.InboundGroupSession(outbound.session_key)
    ciphertext = outbound.encrypt(json.dumps({"type": "m.room.message", "content": {"body": "tea"}, "room_id": "!tea:one.example"}).encode())
    session = {
        "algorithm": "m.megolm.v1.aes-sha2",
        "forwarding_curve25519_key_chain": [],
        "sender_key": unpadded(hashlib.sha256(b"a device").digest()),
        "sender_claimed_keys": {"ed25519": unpadded(hashlib.sha256(b"its fingerprint").digest())},
        "session_key": inbound.export_at(0).to_base64(),
    }
    message = vodozemac.PkEncryption.from_key(public).encrypt(json.dumps(session).encode())
    data = {"ephemeral": unpadded(message.ephemeral_key), "ciphertext": unpadded(message.ciphertext), "mac": unpadded(message.mac)}
    backed = {"first_message_index": 0, "forwarded_count": 0, "is_verified": False, "session_data": data}
    return f"""  /// Of vodozemac: a session in a backup, and a message that it reads.
  static let backupSecret = "{unpadded(private.private_bytes_raw())}"
  static let backupKey = "{unpadded(private.public_key().public_bytes_raw())}"
  static let backedUpSessionID = "{outbound.session_id}"
  static let backedUpSession = #"{json.dumps(backed)}"#
  static let backedUpSender = "{session['sender_key']}"
  static let backedUpMessage = "{ciphertext.to_base64()}"
"""


def key_file_vector():
    """A file of matrix-nio with a session of vodozemac, and a message that it reads."""
    outbound = vodozemac.GroupSession()
    inbound = vodozemac.InboundGroupSession(outbound.session_key)
    ciphertext = outbound.encrypt(json.dumps({"type": "m.room.message", "content": {"body": "tea"}, "room_id": "!tea:one.example"}).encode())
    session = {
        "algorithm": "m.megolm.v1.aes-sha2",
        "forwarding_curve25519_key_chain": [],
        "room_id": "!tea:one.example",
        "sender_key": unpadded(hashlib.sha256(b"a device").digest()),
        "sender_claimed_keys": {"ed25519": unpadded(hashlib.sha256(b"its fingerprint").digest())},
        "session_id": outbound.session_id,
        "session_key": inbound.export_at(0).to_base64(),
    }
    sealed = nio.crypto.key_export.encrypt(json.dumps([session]).encode(), PASSPHRASE, count=1_000)
    text = "\n".join([nio.crypto.key_export.HEADER, sealed, nio.crypto.key_export.FOOTER])
    return f"""  /// Of matrix-nio: a key file with the passphrase "{PASSPHRASE}", and a message that its session reads.
  static let keyFile = \"\"\"
{"".join(f"    {line}{chr(10)}" for line in text.splitlines())}    \"\"\"
  static let keyFileSessionID = "{outbound.session_id}"
  static let keyFileMessage = "{ciphertext.to_base64()}"
"""


def main():
    parts = [storage_vectors(), backup_vector(), key_file_vector()]
    with open(os.path.join(HERE, "KeptVectors.swift"), "w", encoding="utf-8") as file:
        file.write("// Made by keep-vectors.py.\n\n// swift-format-ignore\nenum KeptVectors {\n" + "\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
