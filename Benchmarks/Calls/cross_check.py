#!/usr/bin/env python3
"""run.py's first figure, found once more with peers that are not ours to tune: `rtcload`, which lies beside this repository.

Build first: swift build -c release --product martlet. Needs what run.py needs.
Usage: cross_check.py [--rounds N] [--seconds N] [--publishers N] [--subscribers N]     of all together, the servers take turns
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])

from media_servers import Janus, Martlet, local_address  # noqa: E402

from load_peers import PASSWORD, PICTURE, SOUND, Peers, found  # noqa: E402

SOURCE = os.path.join(os.path.dirname(ROOT), "shared", "tools", "rtcload", "rtcload.c")


def build(folder, address):
    """The program and its certificate. Servers are at that address in place of 127.0.0.1, and whoever publishes sends as soon as it is connected: who
    subscribes at Martlet waits for that."""
    changes = {
        "htonl(0x7f000001)": f'inet_addr("{address}")', "nf=0,na=0": "nf=t0,na=t0", "if(allup){ if(t>=na)": "{ if(t>=na)",
        "if(p->role!='P')continue;": "if(p->role!='P'||!p->up)continue;", "if(!counting&&!tm0&&": "if(allup&&!counting&&!tm0&&"}
    with open(SOURCE) as given:
        text = given.read()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    with open(os.path.join(folder, "rtcload.c"), "w") as made:
        made.write(text)
    subprocess.run(["gcc", "-O2", "-w", "rtcload.c", "-lssl", "-lcrypto", "-lsrtp2", "-o", "rtcload"], cwd=folder, check=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=load",
                    "-keyout", "load-key.pem", "-out", "load-cert.pem"], cwd=folder, check=True, capture_output=True)


class RTCLoad(Peers):
    """`rtcload` as run.py's servers know their peers."""

    def __init__(self, folder, address, count, pid, seconds):
        self.address, self.described, self.waiting = address, {}, {}
        printed = subprocess.check_output(["openssl", "x509", "-in", "load-cert.pem", "-noout", "-fingerprint", "-sha256"], cwd=folder, text=True)
        self.fingerprint = printed.strip().split("=")[1]
        self.ports = [30000 + number for number in range(count)]
        self.process = subprocess.Popen(["./rtcload"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PIDS": str(pid), "WARM": "5", "DUR": str(seconds)})

    def description(self, number, sections):
        self.described[number] = {kind: (payload, direction) for _, kind, payload, direction, _ in sections}
        return super().description(number, sections)

    def connect(self, number, theirs, is_controlling):
        port = re.search(r"^a=candidate:\S+ 1 udp \d+ \S+ (\d+) typ host", theirs, re.M | re.I).group(1)
        known = [self.ufrag(number), PASSWORD, found(r"^a=ice-ufrag:(\S+)", theirs), found(r"^a=ice-pwd:(\S+)", theirs), port, int(is_controlling)]
        self.waiting[number] = known + [self.described[number][kind][0] for kind in ("audio", "video")]
        if self.described[number]["video"][1] == "recvonly":
            self._begin("S", number, 5000 + 2 * number, 5001 + 2 * number)

    def _begin(self, role, number, sound, picture):
        super().say(role, *self.waiting.pop(number), sound, picture, self.ports[number])

    def say(self, _, number, sound, picture, *ssrcs):
        assert (sound, picture) == (SOUND, PICTURE)
        self._begin("P", number, *ssrcs)

    def measure(self):
        text, _ = self.process.communicate("GO\n", timeout=300)
        print(text.strip(), file=sys.stderr, flush=True)
        return float(found(r"=> ([\d.]+) us/forwarded", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--publishers", type=int, default=1)
    parser.add_argument("--subscribers", type=int, default=200)
    options = parser.parse_args()
    address = local_address()
    found_of = {Martlet.name: [], Janus.name: []}
    with tempfile.TemporaryDirectory() as folder:
        build(folder, address)
        for _ in range(options.rounds):
            for kind in (Martlet, Janus):
                server = kind(address).start()
                peers = RTCLoad(folder, address, options.publishers + options.subscribers, server.pid, options.seconds)
                try:
                    server.join(peers, options.publishers, options.subscribers)
                    found_of[server.name].append(peers.measure())
                finally:
                    peers.end()
                    server.stop()
    ours, theirs = (statistics.median(figures) for figures in found_of.values())
    print(f"processor time for a forwarded packet, {options.publishers} to {options.subscribers}, with rtcload's peers: "
          f"Martlet {ours:.2f} µs, Janus {theirs:.2f} µs, {theirs / ours:.1f} times")


if __name__ == "__main__":
    main()
