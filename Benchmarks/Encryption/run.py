#!/usr/bin/env python3
"""What Olm costs, natively and as wasm in Node, and what vodozemac costs by its Python binding, in the same run.

    .build/venv/bin/python Benchmarks/Encryption/run.py

Scripts/build-web and then Scripts/test-olm must have run. Microseconds, the best of five rounds; all three take their turn in each round.
"""
import glob
import os
import subprocess
import sys
import time

import vodozemac

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS = 5
TEXT = b"a" * 300
# The step, how often it is done in a round, and what it is.
STEPS = [
    ("public-key", 500, "X25519, a new pair"), ("agreement", 500, "X25519, agreement"), ("sign", 500, "Ed25519, sign 300 bytes"),
    ("verify", 500, "Ed25519, verify 300 bytes"), ("derive", 2_000, "HKDF, 80 bytes"), ("begin", 200, "Olm, begin a session and write"),
    ("accept", 200, "Olm, accept a session and read"), ("encrypt", 1_000, "Olm, encrypt 300 bytes"),
    ("room-encrypt", 500, "Megolm, encrypt 300 bytes"), ("room-decrypt", 500, "Megolm, decrypt 300 bytes"),
    ("hash", 10, "SHA-256, 1 MiB"), ("attachment", 10, "an attachment of 1 MiB, with its hash"), ("passphrase", 3, "PBKDF2, 10,000 rounds"),
]


class Program:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def measure(self, step, times):
        began = time.perf_counter()
        self.process.stdin.write(f"measure {step} {times}\n".encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == b"yes\n", answer
        return (time.perf_counter() - began) / times * 1e6


class Vodozemac:
    """The steps that its binding has."""

    def __init__(self):
        self.account, self.other, self.room = vodozemac.Account(), vodozemac.Account(), vodozemac.GroupSession()
        self.other.generate_fallback_key()
        self.key = next(iter(self.other.fallback_key.values()))
        self.session = self.begin()
        self.reader = vodozemac.InboundGroupSession(self.room.session_key)
        self.message = self.room.encrypt(TEXT)
        self.signature = self.account.sign(TEXT)
        self.steps = {
            "sign": lambda: self.account.sign(TEXT), "verify": lambda: self.account.ed25519_key.verify_signature(TEXT, self.signature),
            "begin": lambda: self.begin().encrypt(TEXT), "encrypt": lambda: self.session.encrypt(TEXT),
            "room-encrypt": lambda: self.room.encrypt(TEXT), "room-decrypt": lambda: self.reader.decrypt(self.message),
        }

    def begin(self):
        return self.account.create_outbound_session(self.other.curve25519_key, self.key)

    def measure(self, step, times):
        if step not in self.steps:
            return None
        began = time.perf_counter()
        for _ in range(times):
            self.steps[step]()
        return (time.perf_counter() - began) / times * 1e6


def newest(pattern):
    found = sorted(glob.glob(os.path.join(ROOT, ".build", pattern)), key=os.path.getmtime)
    return found[-1] if found else sys.exit("Scripts/test-olm must have run")


def main():
    native = ["swift", "build", "--disable-index-store", "-debug-info-format", "dwarf", "-c", "release", "--product", "olm-peer"]
    subprocess.run(native, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    sides = [
        Program(os.path.join(ROOT, ".build", "release", "olm-peer")),
        Program(newest("venv/lib/python3*/site-packages/playwright/driver/node"), "--no-warnings", os.path.join(ROOT, "Tests", "OlmPeer", "wasi.mjs"),
                newest("primitives-*/wasm32-unknown-none-wasm/release/olm-peer.wasm")),
        Vodozemac(),
    ]
    print("| µs | native | wasm, Node | vodozemac by Python |\n|---|--:|--:|--:|")
    for step, times, text in STEPS:
        best = [min(values) if None not in values else None for values in zip(*([side.measure(step, times) for side in sides] for _ in range(ROUNDS)))]
        print(f"| {text} | " + " | ".join("" if value is None else f"{value:,.0f}" for value in best) + " |", flush=True)


if __name__ == "__main__":
    main()
