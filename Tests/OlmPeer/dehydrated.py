"""Dehydrated devices as MSC3814 describes them, written from its text alone, and the accounts of vodozemac that they are made of.

vodozemac's binding for Python cannot dehydrate, but it reads accounts of libolm and writes its own: so its account is on one side of each
device, and this file only between.
"""
import base64
import hashlib
import json
import struct

import vodozemac
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PICKLE_KEY = bytes(range(32))


def seal(identity, signing, one_time_keys, fallback, key, nonce, version=1):
    clear = struct.pack(">I", version) + identity + signing + struct.pack(">I", len(one_time_keys)) + b"".join(one_time_keys)
    clear += b"\0" if fallback is None else b"\1" + fallback
    return ChaCha20Poly1305(key).encrypt(nonce, clear, None)


def open_(sealed, key, nonce):
    """The private keys of identity, signatures, one-time keys and fallback."""
    clear = ChaCha20Poly1305(key).decrypt(nonce, sealed, None)
    version, identity, signing, count = struct.unpack_from(">I32s32sI", clear)
    assert version == 1
    end = 72 + 32 * count
    one_time_keys = [clear[place:place + 32] for place in range(72, end, 32)]
    fallback = clear[end + 1:] if clear[end] else None
    assert len(clear) == end + (33 if clear[end] else 1)
    return identity, signing, one_time_keys, fallback


def _keys():
    derived = HKDF(hashes.SHA256(), 80, None, b"Pickle").derive(PICKLE_KEY)
    return derived[:32], derived[32:64], derived[64:]


def secrets_of(account):
    """The same of an account of vodozemac."""
    aes, _, iv = _keys()
    pickle = account.pickle(PICKLE_KEY)
    decryptor = Cipher(algorithms.AES(aes), modes.CBC(iv)).decryptor()
    text = decryptor.update(base64.b64decode(pickle + "=" * (-len(pickle) % 4))[:-8]) + decryptor.finalize()
    state = json.loads(text[:-text[-1]])
    fallback = state["fallback_keys"]["fallback_key"]
    one_time_keys = [bytes(key) for _, key in sorted(state["one_time_keys"]["private_keys"].items(), key=lambda entry: int(entry[0]))]
    return bytes(state["diffie_hellman_key"]), bytes(state["signing_key"]["Normal"]), one_time_keys, fallback and bytes(fallback["key"])


def account_of(identity, signing, one_time_keys, fallback):
    """The account of vodozemac that has these keys, by way of a pickle of libolm."""
    def pair(secret):
        return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw() + secret

    expanded = bytearray(hashlib.sha512(signing).digest())
    expanded[0] &= 248
    expanded[31] = expanded[31] & 63 | 64
    clear = struct.pack(">I", 4) + Ed25519PrivateKey.from_private_bytes(signing).public_key().public_bytes_raw() + bytes(expanded) + pair(identity)
    clear += struct.pack(">I", len(one_time_keys))
    for number, key in enumerate(one_time_keys):
        clear += struct.pack(">IB", number + 1, 1) + pair(key)
    clear += bytes([fallback is not None]) + (struct.pack(">IB", 1000, 1) + pair(fallback) if fallback else b"")
    clear += struct.pack(">I", 1001)
    aes, mac, iv = _keys()
    encryptor = Cipher(algorithms.AES(aes), modes.CBC(iv)).encryptor()
    padding = 16 - len(clear) % 16
    ciphertext = encryptor.update(clear + bytes([padding]) * padding) + encryptor.finalize()
    tag = hmac.HMAC(mac, hashes.SHA256())
    tag.update(ciphertext)
    return vodozemac.Account.from_libolm_pickle(base64.b64encode(ciphertext + tag.finalize()[:8]).decode().rstrip("="), PICKLE_KEY)
