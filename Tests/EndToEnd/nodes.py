"""Several nodes instead of each server, where $MARTLET_TEST_NODES says how many: they share its database, its keys and its files. Requests go to
each in turn, but for uploads in parts, which a node keeps on its disk."""
import itertools
import os
import re

import databases

COUNT = int(os.environ.get("MARTLET_TEST_NODES", "1"))
STICKY = re.compile(r"/upload/[^/]+/[^/]+(\?|$)")
# Not of a node's own data folder.
OWN = {"admin.sock", "test-server.log", "recordings"}
# The turns of each server, by its host and port.
_turns = {}

if COUNT > 1 and not databases.is_postgresql:
    raise SystemExit("MARTLET_TEST_NODES needs MARTLET_TEST_DATABASE=postgres")


def folder_of(folder, number):
    """The data folder of a further node, with the keys and files of the first."""
    own = os.path.join(folder, f"node{number}")
    os.makedirs(own, exist_ok=True)
    for name in os.listdir(folder):
        path = os.path.join(own, name)
        if name not in OWN and "lock" not in name and not name.startswith("node") and not os.path.lexists(path):
            os.symlink(os.path.join("..", name), path)
    return own


def take_turns(hosts):
    _turns[hosts[0]] = itertools.cycle(hosts)


def host_for(host, path):
    turns = _turns.get(host)
    return host if turns is None or STICKY.search(path) else next(turns)
