"""What must hold of devices and their keys whatever happens at once: who has uploaded, claimed, renamed and sent what, as the clients know it."""
import collections
import threading


class KeyLedger:
    """The one-time keys of a device: what may be with the server at a moment, by what was begun and what was answered."""

    def __init__(self):
        self.keys, self.begun, self.uploaded, self.unclear = {}, 0, 0, 0
        # IDs that somebody was given, and claims that are under way.
        self.given, self.open = set(), 0

    @property
    def lowest_given(self):
        return len(self.given)

    @property
    def highest_given(self):
        return len(self.given) + self.open + self.unclear


class World:
    """Everything is noted under one lock; `faults` is what must not have happened."""

    def __init__(self):
        self.lock, self.faults = threading.Lock(), []
        self.ledgers, self.names, self.members = collections.defaultdict(KeyLedger), {}, collections.defaultdict(set)
        self.sent, self.counts = collections.defaultdict(list), collections.Counter()
        # Cleared while there is no server, and set for good at the end.
        self.is_up, self.is_over = threading.Event(), threading.Event()

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def sharing(self, user):
        """Who is in a room with the user, the user included."""
        return {user}.union(*(members for members in self.members.values() if user in members))

    # One-time keys

    def uploads(self, device, keys):
        with self.lock:
            self.ledgers[device].keys.update(keys)
            self.ledgers[device].begun += len(keys)

    def uploaded(self, device, count):
        with self.lock:
            self.ledgers[device].uploaded += count

    def claims(self, devices):
        """What was surely there before, by device."""
        with self.lock:
            for device in devices:
                self.ledgers[device].open += 1
            return {device: self.ledgers[device].uploaded for device in devices}

    def claimed(self, device, uploaded_before, name, key):
        """name, key: None if there was none; the answer is unknown if `name` is False."""
        ledger = self.ledgers[device]
        with self.lock:
            ledger.open -= 1
            if name is False:
                ledger.unclear += 1
            elif name is None or "fallback" in name:
                self.counts["found none"] += 1
                if uploaded_before > ledger.highest_given and device in self.names:
                    self.faults.append(f"{device} has {uploaded_before - ledger.highest_given} keys or more, and none was given")
            elif ledger.keys.get(name) != key:
                self.faults.append(f"{device} never uploaded {name} as it was given")
            elif name in ledger.given:
                self.faults.append(f"{name} of {device} was given twice")
            else:
                self.counts["claimed"] += 1
                ledger.given.add(name)

    def before_sync(self, device):
        """The bounds that only grow, for `check_count`."""
        with self.lock:
            return self.ledgers[device].uploaded, self.ledgers[device].lowest_given

    def check_count(self, device, before, count):
        """A sync that began at `before` says that the device has `count` keys."""
        ledger = self.ledgers[device]
        with self.lock:
            lowest, highest = before[0] - ledger.highest_given, ledger.begun - before[1]
            if not lowest <= count <= highest:
                self.faults.append(f"a sync says {count} keys of {device}, which has {lowest} to {highest}")
