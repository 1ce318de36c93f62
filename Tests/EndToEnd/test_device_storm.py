"""Devices and their keys under load and kill -9: one-time keys, counts, changes of devices, messages between devices.

`MARTLET_LONG=1` for five minutes of it. The seed is printed; `MARTLET_SEED` repeats what each client does, not when the server sees it.
"""
import contextlib
import os
import random
import re
import sqlite3
import time
import urllib.request

import databases
import invariants
import nodes
from client import User
from device_clients import Actor, Watcher, device_keys
from device_world import World
from harness import PATIENCE, test
from server import Server, free_port

USERS, ACTORS, ROOMS = 16, 6, 5
ROUNDS, ROUND_SECONDS = (30, 10) if os.environ.get("MARTLET_LONG") == "1" else (3, 2)
# Of each actor in a round, however slow the machine is.
ACTIONS_LEAST = 3


def begin(world, server):
    """Users in two rooms each, with a device that has keys."""
    users = [User(server.base, f"device{number}") for number in range(USERS)]
    rooms = [users[number].create_room(preset="public_chat") for number in range(ROOMS)]
    for number, room in enumerate(rooms):
        world.members[room] = {users[number].user_id}
    for number, user in enumerate(users):
        for room in {rooms[number % ROOMS], rooms[(number + 1) % ROOMS]}:
            user.join(room)
            world.members[room].add(user.user_id)
        user.post("keys/upload", {"device_keys": device_keys(user.user_id, user.device_id)}).ok()
        world.names[user.user_id, user.device_id] = None
    return users, rooms


def play(world, server, actors, watchers):
    world.is_up.set()
    for thread in [*watchers, *actors]:
        thread.start()
    for _ in range(ROUNDS):
        due = time.monotonic() + ROUND_SECONDS
        wanted = [actor.done + ACTIONS_LEAST for actor in actors]
        while time.monotonic() < due or any(actor.done < least for actor, least in zip(actors, wanted)):
            assert time.monotonic() < due + PATIENCE and not world.faults, world.faults[:5] or "the actors are stuck"
            time.sleep(0.02)
        world.is_up.clear()
        server.kill()
        server.start()
        world.is_up.set()
    world.is_over.set()
    for thread in [*actors, *watchers]:
        thread.join(PATIENCE)
        assert not thread.is_alive(), f"{thread.name} does not end"


def settle(watchers):
    """Until a sync has nothing for any of them."""
    for watcher in watchers:
        end = time.monotonic() + PATIENCE
        while watcher.step(timeout=0) or watcher.is_sliding and watcher.position is None:
            assert time.monotonic() < end, f"{watcher.name} is never done"


def check_lists(world, watchers):
    """Each client has the devices of everybody in its rooms as they are, and of nobody else."""
    truth = {}
    for (user, device), name in world.names.items():
        truth.setdefault(user, {})[device] = name
    for watcher in watchers:
        wanted = {user: truth[user] for user in world.sharing(watcher.name)}
        assert watcher.lists.keys() == wanted.keys(), f"{watcher.name} missed {wanted.keys() - watcher.lists.keys()}, still follows {watcher.lists.keys() - wanted.keys()}"
        for user, devices in wanted.items():
            assert watcher.lists[user] == devices, f"{watcher.name} (sliding: {watcher.is_sliding}) knows {watcher.lists[user]} of {user}, who has {devices}"


def check_messages(world, watchers, actors):
    """Everything that was sent has come, once, in the order of each sender."""
    for watcher in watchers:
        for actor in actors:
            sent, received = world.sent[watcher.name, actor.name], watcher.received[actor.name]
            assert received == sent, f"{watcher.name} got {received} of {actor.name}, who sent {sent}"


def check_figures(server, metrics):
    """The server counts what waits, over its restarts; nodes do not. It is killed."""
    page = urllib.request.urlopen(f"http://{metrics}/metrics").read().decode()
    server.kill()
    databases.bring(server.folder)
    with contextlib.closing(sqlite3.connect(f"file:{os.path.join(server.folder, 'martlet.db')}?mode=ro", uri=True)) as database:
        waiting = database.execute("SELECT COUNT(*) FROM to_device").fetchone()[0]
    counted = re.search(r"^martlet_to_device_waiting (\S+)$", page, re.MULTILINE)
    if nodes.COUNT > 1:
        assert counted is None, counted
    else:
        assert float(counted[1]) == waiting, f"{waiting} messages wait, the server counts {counted[1]}"


def check_keys(world, actor):
    """What is left is what nobody was given, of all devices that are there."""
    for device in world.names:
        ledger = world.ledgers[device]
        for _ in range(len(ledger.keys)):
            actor.claim_of([device])
        missing = len(ledger.keys) - len(ledger.given)
        assert missing <= ledger.unclear, f"{missing} keys of {device} are gone, {ledger.unclear} claims are unclear"


# Proves E2
@test("kill -9 amid logins, uploads, claims and messages: each one-time key once, counts right, every change of devices and every message told")
def devices_under_load(context):
    context.own_server()
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    metrics = f"127.0.0.1:{free_port()}"
    world, server = World(), Server(metrics_bind=metrics).start()
    print(f"          seed {seed}")
    try:
        users, rooms = begin(world, server)
        watchers = [Watcher(world, server, user, number % 2 == 1, seed) for number, user in enumerate(users)]
        world.is_up.set()
        for watcher in watchers:
            watcher.start_tracking()
        actors = [Actor(world, server, number, seed, users[number::ACTORS], users, rooms) for number in range(ACTORS)]
        play(world, server, actors, watchers)
        settle(watchers)
        assert not world.faults, world.faults[:5]
        check_messages(world, watchers, actors)
        check_lists(world, watchers)
        check_keys(world, actors[0])
        assert not world.faults, world.faults[:5]
        check_figures(server, metrics)
        wrong = invariants.report(server.folder)
        assert not wrong, wrong
    finally:
        world.is_over.set()
        world.is_up.set()
        server.close()
    print(f"          {dict(world.counts)}; forgotten as out of view {sum(watcher.told_left for watcher in watchers)}")
