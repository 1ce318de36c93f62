"""What an operator of several nodes is told: the database, another node, NATS or the clock is not as it should be, each once, and once when it is."""
import contextlib
import ctypes
import os
import re
import signal
import threading
import time
import urllib.request

import databases
from client import Api, User, fresh, room_path
from harness import PATIENCE, NotRun, test
from server import free_port
from test_bus import Nats, until
from test_nodes import cluster, refused

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


@contextlib.contextmanager
def watched(name, count, **settings):
    """Nodes whose log says what happens, and whose metrics can be read."""
    ports = {number: free_port() for number in range(1, count + 1)}
    with cluster(name, count, of_node=lambda number: {"metrics_bind": f"127.0.0.1:{ports[number]}"}, log_level="info", **settings) as made:
        made.metrics = [f"http://127.0.0.1:{port}/metrics" for port in ports.values()]
        yield made


def metric(made, name, index=0):
    with urllib.request.urlopen(made.metrics[index], timeout=PATIENCE) as answer:
        return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M)[1])


def log(made, index):
    """Nodes of one folder share a log only if one started the other: these do not."""
    return made.servers[index].output(1 << 20)


def counts(made, index, words):
    return log(made, index).count(words)


@test("a node says once which others there are, which one works, and that one cannot be reached at its address or is gone")
def neighbours(context):
    # More than 5 s: each node looks every two seconds, twice before it says anything.
    with watched("watched_nodes", 2) as made:
        until(lambda: all(metric(made, "martlet_cluster_nodes", index) == 1 for index in (0, 1)), log(made, 0))
        until(lambda: counts(made, 1, "this node does what one node alone does node=node1") == 1, log(made, 1))
        assert "another node is there node=node2" in log(made, 0), log(made, 0)
        assert metric(made, "martlet_cluster_unreachable_nodes") == 0
        # As with a wrong address: where it says it is, nobody listens.
        address = re.search(r"node=node2 address=(\S+)", log(made, 0))[1]
        databases.server().run("CREATE FUNCTION wrong() RETURNS trigger AS 'BEGIN IF NEW.name = ''node2'' THEN NEW.address := ''127.0.0.1:1''; "
                               "END IF; RETURN NEW; END' LANGUAGE plpgsql; CREATE TRIGGER wrong BEFORE INSERT OR UPDATE ON node "
                               "FOR EACH ROW EXECUTE FUNCTION wrong()", "watched_nodes")
        until(lambda: metric(made, "martlet_cluster_unreachable_nodes") == 1, log(made, 0))
        assert counts(made, 0, "another node does not answer at its cluster.address node=node2 address=127.0.0.1:1") == 1, log(made, 0)
        databases.server().run("DROP TRIGGER wrong ON node", "watched_nodes")
        until(lambda: metric(made, "martlet_cluster_unreachable_nodes") == 0, log(made, 0))
        made.servers[1].process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: metric(made, "martlet_cluster_unreachable_nodes") == 1, log(made, 0))
            assert counts(made, 0, f"does not answer at its cluster.address node=node2 address={address}") == 1, log(made, 0)
        finally:
            made.servers[1].process.send_signal(signal.SIGCONT)
        until(lambda: (metric(made, "martlet_cluster_nodes"), metric(made, "martlet_cluster_unreachable_nodes")) == (1, 0), log(made, 0))
        made.servers[1].stop()
        until(lambda: metric(made, "martlet_cluster_nodes") == 0, log(made, 0))
        assert counts(made, 0, "another node is gone") >= 1, log(made, 0)


@test("a database that is away for longer than a lease lasts is told once at each node, with its refused requests in a line every ten seconds")
def away(context):
    # More than 5 s: a lease lasts 15, and afterwards its owner must go on.
    with watched("watched_away", 2) as made:
        own, ann = databases.server(), User(made.first.base)
        room = ann.create_room()
        apis = [Api(f"http://{host}", ann.token) for host in made.hosts]
        own.run("ALTER DATABASE watched_away ALLOW_CONNECTIONS false")
        own.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'watched_away'")
        began, statuses = time.monotonic(), []
        until(lambda: all(metric(made, "martlet_database_away", index) == 1 for index in (0, 1)), log(made, 0))

        def ask(api):
            while time.monotonic() - began < 17:
                statuses.append(api.put(room_path(room, "send", "m.room.message", fresh("t")), {"body": "x"}).status)
                time.sleep(0.05)

        threads = [threading.Thread(target=ask, args=(api,)) for api in apis * 5]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(statuses) == {503} and len(statuses) > 100, statuses
        own.run("ALTER DATABASE watched_away ALLOW_CONNECTIONS true")
        until(lambda: all(metric(made, "martlet_database_away", index) == 0 for index in (0, 1)), log(made, 0))
        apis[1].put(room_path(room, "send", "m.room.message", "after"), {"body": "after"}).ok()
        until(lambda: metric(made, "martlet_cluster_leases") == 1, log(made, 0))
        # The last refusals are told ten seconds after the first of them.
        until(lambda: sum(int(number) for index in (0, 1) for number in re.findall(r"requests were refused.* requests=(\d+)", log(made, index)))
              >= len(statuses), log(made, 0))
        for index in (0, 1):
            assert made.servers[index].process.poll() is None, log(made, index)
            assert counts(made, index, "the database cannot be reached") == counts(made, index, "the database can be reached again") == 1, log(made, index)
            assert 1 <= counts(made, index, "requests were refused") <= 3, log(made, index)
        assert "node=node2" not in "".join(re.findall(r".*does what one node alone does.*", log(made, 0))), log(made, 0)
        refusals = sum(metric(made, "martlet_database_refused_requests_total", index) for index in (0, 1))
        assert refusals >= len(statuses), (refusals, len(statuses))


@test("a node says once that NATS is away, and once that it is back")
def bus(context):
    nats = Nats()
    try:
        with watched("watched_bus", 1, bus_url=nats.url) as made:
            until(lambda: metric(made, "martlet_bus_connected") == 1, log(made, 0))
            nats.kill()
            until(lambda: counts(made, 0, "NATS cannot be reached") == 1, log(made, 0))
            nats.start()
            until(lambda: counts(made, 0, "NATS can be reached again") == 1, log(made, 0))
            assert counts(made, 0, "NATS cannot be reached") == 1, log(made, 0)
    finally:
        nats.kill()


@contextlib.contextmanager
def shared_memory():
    """What libfaketime would make by itself and add to the environment: that moves, and Swift looks for the arguments beside it."""
    semaphore, memory = f"/faketime_sem_test{os.getpid()}", f"/faketime_shm_test{os.getpid()}"
    libc = ctypes.CDLL(None)
    libc.sem_open.restype = ctypes.c_void_p
    assert libc.sem_open(semaphore.encode(), os.O_CREAT, ctypes.c_uint(0o600), ctypes.c_uint(1))
    try:
        with open("/dev/shm" + memory, "wb") as f:
            f.write(bytes(4_096))
        yield f"{semaphore} {memory}"
    finally:
        libc.sem_unlink(semaphore.encode())
        os.remove("/dev/shm" + memory)


@test("a node whose clock is off by seconds says so and has it in its metrics; one that is off by more than half a minute does not start")
def clocks(context):
    if not os.path.exists(LIBRARY):
        raise NotRun("faketime is not installed (Scripts/install-dependencies --test)")
    # More than 5 s: four servers start.
    with shared_memory() as shared, watched("watched_clocks", 1) as made:
        def faked(seconds):
            return {"LD_PRELOAD": LIBRARY, "FAKETIME": f"{seconds:+}s", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_SHARED": shared}

        assert metric(made, "martlet_cluster_clock_offset_seconds") == 0
        assert "clock" not in log(made, 0), log(made, 0)
        for seconds, side in ((-41, "behind"), (41, "ahead of")):
            shown = refused(made, "node9", environment=faked(seconds))
            assert re.search(rf"the clock of this machine is 4[01] seconds {side} that of the PostgreSQL server", shown), shown
        with watched("watched_slow_clock", 1, environment=faked(-5)) as slow:
            until(lambda: counts(slow, 0, "the clock of this machine is off from the database's") == 1, log(slow, 0))
            assert -5.5 < metric(slow, "martlet_cluster_clock_offset_seconds") < -4
