"""The processes of a lane: what they have cost so far, and their end."""
import ctypes
import os
import signal

TICKS = os.sysconf("SC_CLK_TCK")
# Of prctl(2).
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36


def keep_together():
    """Makes this process the parent of orphans among its descendants, so that they are counted and ended with it. It ends with its own parent."""
    libc = ctypes.CDLL(None)
    libc.prctl(SET_CHILD_SUBREAPER, 1)
    libc.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def descendants(root):
    """Process IDs, parents before their children."""
    children = {}
    for pid, (parent, _) in _table().items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.pop(pid, [])
    return found[1:]


def cpu_seconds(root):
    """Seconds of processor time that the process and all its descendants have taken, including those that have ended.

    A parent that waits for a child takes over the child's time."""
    table = _table()
    children = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    ticks, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        ticks += table.get(pid, (0, 0))[1]
        waiting += children.pop(pid, [])
    return ticks / TICKS


def end_descendants(root):
    for pid in descendants(root):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _table():
    """Of each process: its parent, and its own ticks with those of the children that it has waited for. See proc(5), /proc/pid/stat.

    Processes come and go while it is read: it may have a circle."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        table[int(name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    return table
