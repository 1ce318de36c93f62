"""Makes rooms that fork at random and resolves their states with Synapse's resolver. Runs in Synapse's own virtual environment.

    .build/synapse-venv/bin/python Tests/EndToEnd/state_rooms.py --cases 5000 --seed 1

Each line of the output is a room in JSON: its `version`, its `events`, which of them are `rejected`, and `cases`. A case has `states` and
their `result`, each a list of [type, state key, event ID]. Tests/StateResolver reads this.

Rooms differ in their version and in what happens in them: kicks, bans and power changes while others do the same; restricted joins, knocks, third-party
invitations, additional creators; power levels and join rules with a state key; states that hold rejected events; servers that are kept out."""
import argparse
import copy
import json
import random
import sys

import synapse.server  # noqa: F401  first, else Synapse's modules import each other in a circle
from signedjson.key import encode_verify_key_base64, decode_signing_key_base64, get_verify_key
from signedjson.sign import sign_json
from synapse import event_auth
from synapse.api.errors import AuthError
from synapse.api.room_versions import KNOWN_ROOM_VERSIONS
from synapse.events import make_event_from_dict
from synapse.state import v2
from synapse.storage.databases.main.event_federation import StateDifference

VERSIONS = ["6", "7", "8", "9", "10", "11", "12"]
USERS = [f"@u{number}:s{number % 4}.test" for number in range(8)]
FOUNDER = USERS[0]
# Of each room: events, and resolutions of states from anywhere beside those that its forks need.
EVENTS, LATER_CASES = (20, 80), 12
INVITATION_KEY = decode_signing_key_base64("ed25519", "0", "YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1")


class Clock:
    async def sleep(self, duration):
        pass


class Store:
    """The events of a room with their auth chains, as Synapse's resolver asks for them."""

    def __init__(self):
        self.events, self.chains = {}, {}

    def add(self, event):
        self.events[event.event_id] = event
        self.chains[event.event_id] = {event.event_id}.union(*(self.chains[each] for each in event.auth_event_ids()))

    async def get_events(self, event_ids, allow_rejected=False):
        return {each: self.events[each] for each in event_ids if each in self.events}

    async def get_auth_chain_difference(self, room_id, state_sets, conflicted, additional):
        chains = [set().union(*(self.chains[each] for each in state)) for state in state_sets]
        subgraph = None
        if conflicted is not None:
            below = set().union(*(self.chains[each] for each in conflicted))
            subgraph = {each for each in below if self.chains[each] & conflicted}
        return StateDifference(auth_difference=set.union(*chains) - set.intersection(*chains), conflicted_subgraph=subgraph)


def result_of(coroutine):
    """Of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("it waits")


class Room:
    def __init__(self, version, rng):
        self.version, self.rng = KNOWN_ROOM_VERSIONS[version], rng
        self.store, self.events, self.rejected, self.cases = Store(), [], {}, []
        self.timeline, self.depth, self.state_after = [], {}, {}
        self.clock, self.room_id = 1000, None
        # What makes this room special.
        self.has_odd_keys, self.has_rejected, self.is_local = rng.random() < 0.3, rng.random() < 0.3, rng.random() < 0.05
        self.users = USERS if not self.is_local else [user for user in USERS if user.endswith("s0.test")] + USERS[1:3]
        self._start()

    @property
    def are_creators_privileged(self):
        return self.version.msc4289_creator_power_enabled

    def _start(self):
        content = {"room_version": self.version.identifier}
        if not self.version.implicit_room_creator:
            content["creator"] = FOUNDER
        if self.is_local:
            content["m.federate"] = False
        self.creators = [FOUNDER]
        if self.are_creators_privileged and self.rng.random() < 0.5:
            self.creators.append(USERS[3])
            content["additional_creators"] = [USERS[3]]
        if not self.version.msc4291_room_ids_as_hashes:
            self.room_id = "!room:s0.test"
        create, pdu = self._build(FOUNDER, "m.room.create", "", content, [], [], 1)
        self.room_id = create.room_id
        self._accept(create, pdu, {})
        self.attempt(FOUNDER, "m.room.member", FOUNDER, {"membership": "join"}, self.timeline[-1:])
        users = {USERS[1]: 100, USERS[2]: 50}
        if not self.are_creators_privileged:
            users[FOUNDER] = 100
        self.levels = {"users": users, "users_default": 0, "state_default": self.rng.choice([0, 0, 50]), "events_default": 0, "ban": 50,
                       "kick": self.rng.choice([25, 50]), "invite": self.rng.choice([0, 0, 25]), "events": {}}
        if self.rng.random() < 0.9:
            self.attempt(FOUNDER, "m.room.power_levels", "", self.levels, self.timeline[-1:])
        self.attempt(FOUNDER, "m.room.join_rules", "", {"join_rule": "public"}, self.timeline[-1:])

    def _build(self, sender, type, key, content, prev, auth, depth):
        time = self.clock + self.rng.choice([0, 0, self.rng.randint(-3, 3)])
        pdu = {"type": type, "sender": sender, "content": content, "prev_events": prev, "auth_events": auth, "depth": depth,
               "origin_server_ts": time, "hashes": {"sha256": "AAAA"}, "signatures": {}}
        if key is not None:
            pdu["state_key"] = key
        if self.room_id is not None and not (type == "m.room.create" and self.version.msc4291_room_ids_as_hashes):
            pdu["room_id"] = self.room_id
        return make_event_from_dict(copy.deepcopy(pdu), self.version), pdu

    def _accept(self, event, pdu, state):
        self.store.add(event)
        self.events.append(pdu)
        self.timeline.append(event.event_id)
        self.depth[event.event_id] = event.depth
        after = dict(state)
        if event.is_state():
            after[(event.type, event.state_key)] = event.event_id
        self.state_after[event.event_id] = after

    def resolve(self, states):
        return dict(result_of(v2.resolve_events_with_store(Clock(), self.room_id, self.version, states, None, self.store)))

    def attempt(self, sender, type, key, content, prev):
        """Sends it after `prev` as an honest server would, unless the rules refuse it; then some rooms keep it as a rejected event."""
        states = [self.state_after[each] for each in prev]
        state = states[0]
        if len(states) > 1:
            state = self.resolve(states)
            self.cases.append((states, state))
        draft, _ = self._build(sender, type, key, content, prev, [], 1)
        auth = [state[each] for each in event_auth.auth_types_for_event(self.version, draft) if each in state
                and not (self.version.msc4291_room_ids_as_hashes and each[0] == "m.room.create")]
        self.rng.shuffle(auth)
        event, pdu = self._build(sender, type, key, content, prev, auth, 1 + max(self.depth[each] for each in prev))
        if event.event_id in self.store.events:
            return
        try:
            event_auth.check_state_dependent_auth_rules(event, [self.store.events[each] for each in state.values()])
        except AuthError:
            if key is not None and self.has_rejected and self.rng.random() < 0.5:
                self.store.add(make_event_from_dict(copy.deepcopy(pdu), self.version, rejected_reason="auth_error"))
                self.events.append(pdu)
                self.rejected.setdefault((type, key), []).append(event.event_id)
            return
        self._accept(event, pdu, state)

    # What happens

    def step(self):
        self.clock += self.rng.choice([0, 0, 1])
        recent = self.timeline[-self.rng.choice([1, 2, 4, 8, 20]):]
        prev = sorted({self.rng.choice(recent) for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3]))})
        self.attempt(*self._act(self.rng.choice(self.users), self.rng.choice(self.users)), prev)

    def _act(self, user, other):
        def pick(*parts):
            return self.rng.choices([part for _, part in parts], [weight for weight, _ in parts])[0]

        act = pick((24, self._join), (6, self._leave), (7, self._kick), (8, self._ban), (6, self._invite), (4, self._knock), (12, self._levels),
                   (9, self._join_rules), (3, self._offer), (4, self._invite_by_token), (12, self._topic), (5, self._message))
        return act(user, other)

    def _name(self):
        return f"{self.rng.random():.4f}"

    def _join(self, user, other):
        content = {"membership": "join", "displayname": self._name()}
        if self.rng.random() < 0.4:
            content["join_authorised_via_users_server"] = self.rng.choice(USERS[:4])
        return user, "m.room.member", user, content

    def _leave(self, user, other):
        return user, "m.room.member", user, {"membership": "leave"}

    def _kick(self, user, other):
        return user, "m.room.member", other, {"membership": "leave", "reason": "kick"}

    def _ban(self, user, other):
        return user, "m.room.member", other, {"membership": "ban"}

    def _invite(self, user, other):
        return user, "m.room.member", other, {"membership": "invite"}

    def _knock(self, user, other):
        if not self.version.knock_join_rule:
            return self._join(user, other)
        return user, "m.room.member", user, {"membership": "knock"}

    def _offer(self, user, other):
        key = encode_verify_key_base64(get_verify_key(INVITATION_KEY))
        content = {"display_name": "x", "key_validity_url": "https://id.test", "public_key": key, "public_keys": [{"public_key": key}]}
        return user, "m.room.third_party_invite", self.rng.choice(["token", "other"]), content

    def _invite_by_token(self, user, other):
        signed = sign_json({"mxid": other, "token": self.rng.choice(["token", "other"])}, "id.test", INVITATION_KEY)
        return user, "m.room.member", other, {"membership": "invite", "third_party_invite": {"display_name": "x", "signed": signed}}

    def _levels(self, user, other):
        levels = copy.deepcopy(self.levels)
        for _ in range(self.rng.randint(0, 3)):
            changed = self.rng.choice([each for each in USERS if not (self.are_creators_privileged and each in self.creators)])
            levels["users"][changed] = self.rng.choice([0, 25, 50, 75, 100])
        levels["state_default"], levels["kick"] = self.rng.choice([0, 50]), self.rng.choice([25, 50])
        if self.rng.random() < 0.2:
            levels["events"]["m.room.topic"], levels["notifications"] = self.rng.choice([0, 50, 100]), {"room": self.rng.choice([0, 50, 100])}
        return user, "m.room.power_levels", self._key(), levels

    def _key(self):
        return self.rng.choice(["", "", "odd"]) if self.has_odd_keys else ""

    def _join_rules(self, user, other):
        rules = ["public", "public", "invite"]
        rules += ["knock"] if self.version.knock_join_rule else []
        rules += ["restricted"] if self.version.restricted_join_rule else []
        rules += ["knock_restricted"] if self.version.knock_restricted_join_rule else []
        return user, "m.room.join_rules", self._key(), {"join_rule": self.rng.choice(rules)}

    def _topic(self, user, other):
        return user, "m.room.topic", self.rng.choice(["", "x", "y"]), {"topic": self._name()}

    def _message(self, user, other):
        return user, "m.room.message", None, {"body": "x"}

    # What is compared beside

    def resolve_some(self):
        """States from anywhere, some with rejected events in them; the order of the states does not matter."""
        for _ in range(LATER_CASES):
            chosen = self.rng.sample(self.timeline[1:], min(self.rng.choice([2, 3, 5]), len(self.timeline) - 1))
            states = [dict(self.state_after[each]) for each in chosen]
            if self.rejected:
                for _ in range(self.rng.randint(1, 3)):
                    key = self.rng.choice(list(self.rejected))
                    self.rng.choice(states)[key] = self.rng.choice(self.rejected[key])
            self.cases.append((states, self.resolve(states)))

    def json(self):
        def listed(state):
            return [[type, key, event_id] for (type, key), event_id in state.items()]

        cases = [{"states": [listed(state) for state in states], "result": listed(result)} for states, result in self.cases]
        rejected = [event_id for event_ids in self.rejected.values() for event_id in event_ids]
        return {"version": self.version.identifier, "events": self.events, "rejected": rejected, "cases": cases}


def rooms(cases, seed):
    """Rooms of all versions in turn, until they have so many cases together."""
    number = made = 0
    while made < cases:
        rng = random.Random(f"{seed} {number}")
        room = Room(VERSIONS[number % len(VERSIONS)], rng)
        events = rng.randint(*EVENTS)
        for _ in range(events * 30):
            if len(room.timeline) >= events:
                break
            room.step()
        room.resolve_some()
        yield room.json()
        number, made = number + 1, made + len(room.cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    for room in rooms(options.cases, options.seed):
        sys.stdout.write(json.dumps(room) + "\n")


if __name__ == "__main__":
    main()
