"""Several nodes instead of each server, where $MARTLET_TEST_NODES says how many: they share its database, its keys and its bucket. Requests go to
each in turn."""
import itertools
import os
import shutil

import databases

COUNT = int(os.environ.get("MARTLET_TEST_NODES", "1"))
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
