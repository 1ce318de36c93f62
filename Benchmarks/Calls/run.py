#!/usr/bin/env python3
"""Martlet's media router beside Janus (Debian's `janus`), with the same peers: processor time for each forwarded packet, delay, memory.

Build first: swift build -c release --product martlet. Needs gcc, libssl-dev, libsrtp2-dev, janus and the tests' Python environment.
Usage: run.py [--rounds N] [--seconds N] [--quick]     servers take turns; the table has the medians of the rounds
Exits with 1 where something is missed.
"""
import argparse
import os
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(ROOT, ".build", "venv", "bin", "python")
if sys.prefix == sys.base_prefix and os.path.exists(VENV_PYTHON):
    os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]])

from media_servers import Janus, Martlet, local_address  # noqa: E402

from load_peers import Peers, build  # noqa: E402

# A publisher's picture: 30 frames of 6 packets a second; with its sound 230 packets.
KILOBITS = 1500


def memory(pid):
    """Megabytes that are resident."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))


def measure(kind, program, address, publishers, subscribers, seconds):
    server = kind(address).start()
    peers = Peers(program, address, publishers + subscribers, KILOBITS)
    try:
        server.join(peers, publishers, subscribers)
        figures = peers.measure(server.pid, 5, seconds)
        figures["us"] = figures["cpu_ns"] / 1000 / max(1, figures["received"])
        figures["delivered"] = figures["received"] / (figures["sent"] * subscribers / publishers)
        figures["memory"] = memory(server.pid)
        print(f"{server.name}, {publishers} to {subscribers}: {figures['us']:.2f} µs a packet, {figures['received'] / figures['seconds']:.0f} a second, "
              f"{100 * figures['delivered']:.2f} % delivered, {figures['gaps']} lost, {figures['starved']} got nothing, "
              f"delay {figures['latency_median_ms']:.2f}/{figures['latency_p99_ms']:.2f} ms, {figures['memory']:.0f} MB", file=sys.stderr, flush=True)
        return figures
    finally:
        peers.end()
        server.stop()


def sessions_of_two(program, address, pairs, seconds):
    server = Martlet(address).start()
    peers = Peers(program, address, 2 * pairs, 0)
    try:
        before = memory(server.pid)
        server.meet(peers, pairs)
        figures = peers.measure(server.pid, 3, seconds)
        figures["memory"] = memory(server.pid)
        print(f"Martlet, {pairs} sessions of two: {figures['memory']:.0f} MB (before {before:.0f} MB), {figures['received']} of {figures['sent']} packets",
              file=sys.stderr, flush=True)
        return figures
    finally:
        peers.end()
        server.stop()


class Table:
    def __init__(self):
        self.missed = 0
        print("| | asked | Martlet | Janus |\n|---|--:|--:|--:|")

    def row(self, what, asked, martlet, janus, is_met):
        self.missed += not is_met
        print(f"| {what} | {asked} | {martlet}{'' if is_met else ' (missed)'} | {janus} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--quick", action="store_true", help="a few peers for two seconds: shows that everything runs")
    options = parser.parse_args()
    address = local_address()
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        program = build(folder)
        rounds, seconds, scale = (1, 2, 20) if options.quick else (options.rounds, options.seconds, 1)

        def compared(publishers, subscribers):
            taken = {Martlet: [], Janus: []}
            for _ in range(rounds):
                for kind, figures in taken.items():
                    figures.append(measure(kind, program, address, publishers, subscribers // scale, seconds))
            return [{name: statistics.median(one[name] for one in figures) for name in figures[0]} for figures in taken.values()]

        one_to_many = compared(1, 200)
        four_to_many = compared(4, 200)
        delay = compared(1, 87)
        pairs = sessions_of_two(program, address, 500 // scale, seconds)

    table = Table()
    for what, (ours, theirs), asked in (("1 publisher, 200 subscribers", one_to_many, 6), ("4 publishers, 50 subscribers each", four_to_many, 5)):
        ratio = theirs["us"] / ours["us"]
        table.row(f"{what}: processor time for a forwarded packet", f"{asked} times less", f"{ours['us']:.2f} µs, {ratio:.1f} times less",
                  f"{theirs['us']:.1f} µs", ratio >= asked and ours["starved"] == 0)
    ours, theirs = delay
    for what, name, limit in (("median", "latency_median_ms", 2), ("99th percentile", "latency_p99_ms", 10)):
        table.row(f"delay at 20,000 packets a second, {what}", f"{limit} ms", f"{ours[name]:.2f} ms", f"{theirs[name]:.2f} ms", ours[name] <= limit)
    table.row("memory with 500 sessions of two", "200 MB", f"{pairs['memory']:.0f} MB", "", pairs["memory"] <= 200 and pairs["starved"] == 0)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
