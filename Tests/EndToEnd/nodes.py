"""Several nodes instead of each server, where $MARTLET_TEST_NODES says how many: they share its database, its keys and its bucket. Requests go to
each in turn."""
import itertools
import os
import shutil

import databases

COUNT = int(os.environ.get("MARTLET_TEST_NODES", "1"))

# Modules that several nodes say nothing new of, and why. `run --only` runs them all the same.
_OWN_NODES = "it starts nodes, databases or buckets of its own"
_NO_SERVER = "it tests no server of the lane"
LEFT_OUT = {
    **dict.fromkeys(["alerts", "bucket", "bus", "cluster", "node_calls", "node_watch", "nodes", "postgresql", "rolling"], _OWN_NODES),
    **dict.fromkeys(["bad_network", "invariants", "lanes", "page_scripts", "recording_layouts", "relay", "router", "schema", "sdk", "state_resolution",
                     "store"], _NO_SERVER),
    "backup": "martlet backup is for SQLite",
    "full_disk": "it fills the disk of one data folder",
}
# The turns of each server, by its host and port.
_turns = {}

if COUNT > 1 and not databases.is_postgresql:
    raise SystemExit("MARTLET_TEST_NODES needs MARTLET_TEST_DATABASE=postgres")


def folder_of(folder, number):
    """The data folder of a further node, with the keys of the first."""
    own = os.path.join(folder, f"node{number}")
    os.makedirs(own, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".key"):
            shutil.copy(os.path.join(folder, name), own)
    return own


def take_turns(hosts):
    _turns[hosts[0]] = itertools.cycle(hosts)


def host_for(host):
    turns = _turns.get(host)
    return host if turns is None else next(turns)
