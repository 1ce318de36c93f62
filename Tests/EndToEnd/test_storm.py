"""200 clients at once that do anything, half of them hostile: no server error, no hang, and a database in which all invariants hold."""
import asyncio
import json
import os
import random
import shutil
import time

import aiohttp

import expected_sync
import invariants
from client import PASSWORD, Api
from harness import test
from server import Server
from storm_client import StormClient, World

ALONE = True

CLIENTS = 200
SECONDS = 60 if os.environ.get("MARTLET_LONG") == "1" else 15
# The server's resident memory, in MiB: what 200 clients leave, not what a leak would.
MEMORY_LIMIT_MIB = 400
SAMPLE = 25


def resident_mib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


async def storm(server, seed, seconds):
    """The `World` after it, and the largest resident memory that was seen."""
    world, largest = World(server.base, seed), 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()) as session:
        clients = [asyncio.create_task(StormClient(world, number, session).run()) for number in range(CLIENTS)]
        end = time.monotonic() + seconds
        while time.monotonic() < end and server.process.poll() is None:
            largest = max(largest, resident_mib(server.process))
            await asyncio.sleep(0.2)
        world.stopped = True
        for result in await asyncio.gather(*clients, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
    return world, largest


def first_sync(base, user):
    """The initial sync of a new device of the user, ages and what is ephemeral left out; None for who is deactivated."""
    api = Api(base)
    session = api.post("login", {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": user}, "password": PASSWORD, "device_id": "AFTER"})
    if session.status == 403:
        return None
    api.token = session.ok()["access_token"]
    answer = api.get("sync", set_presence="offline", filter={"presence": {"types": []}, "room": {"timeline": {"limit": 20}}}).ok()
    for room in answer.get("rooms", {}).get("join", {}).values():
        room.pop("ephemeral", None)
    return {"rooms": ageless(answer.get("rooms", {})), "account_data": sorted(json.dumps(event, sort_keys=True) for event in answer["account_data"]["events"])}


def ageless(value):
    """Without the `age` of events, which passes."""
    if isinstance(value, dict):
        return {key: ageless(member) for key, member in value.items() if key != "age"}
    return [ageless(element) for element in value] if isinstance(value, list) else value


def check_after(server, users):
    """Stops the server, checks its data, starts it again, and compares what users are told with what it was and what the tables say."""
    before = {user: first_sync(server.base, user) for user in users}
    assert server.stop() == 0, server.output()
    wrong = invariants.report(server.folder)
    assert not wrong, wrong
    store = invariants.Store(server.folder)
    faults = []
    try:
        server.start()
        for user, was in before.items():
            now = first_sync(server.base, user)
            if now != was:
                faults.append(f"{user} is told something else after a restart: {difference(was, now)}")
            if now is not None:
                faults += expected_sync.faults(store, user, now)
    finally:
        store.close()
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:10])


def difference(one, other, place=""):
    """Where two JSON values differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(set(one) | set(other)):
            if one.get(key) != other.get(key):
                return difference(one.get(key), other.get(key), f"{place}/{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other)):
            if left != right:
                return difference(left, right, f"{place}/{index}")
    return f"at {place}: {str(one)[:300]} became {str(other)[:300]}"


@test(f"{CLIENTS} clients do anything for {SECONDS} s: no server error, no hang, and every invariant of the database holds")
def clients_at_once(context):
    context.own_server()
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    server = Server(max_upload_bytes=str(1 << 20)).start()
    try:
        world, largest = asyncio.run(storm(server, seed, SECONDS))
        print(f"          seed {seed} (MARTLET_SEED): {world.calls} requests, {len(world.rooms)} rooms, {len(world.events)} events, at most {largest:.0f} MiB; answers {dict(sorted(world.statuses.items()))}", flush=True)
        kept = os.path.join(context.artifacts, "storm-server.log")
        shutil.copy(server.log, kept)
        assert server.process.poll() is None, f"the server ended; {kept}: {server.output(1000)}"
        assert not world.failures, f"{len(world.failures)} failures; server log {kept}:\n" + "\n".join(world.failures[:10])
        assert world.calls > CLIENTS * 5 and world.statuses.get(200, 0) > world.calls / 4, "hardly anything happened"
        assert largest < MEMORY_LIMIT_MIB, f"the server took {largest:.0f} MiB"
        check_after(server, random.Random(seed).sample(sorted(set(world.users)), min(SAMPLE, len(set(world.users)))))
    finally:
        server.close()
