"""schemathesis over the specification's OpenAPI file: no server error, and no answer that is not of its documented shape."""
import itertools
import json
import os
import random
import time

import hypothesis
import requests
import schemathesis
from hypothesis import strategies
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import response_schema_conformance

from client import User
from fuzz_world import SHARED_SECRET, FuzzWorld
from harness import NotRun, test
from schema_check import SPEC_NAME, specification_path
from server import Server

SECONDS = 600 if os.environ.get("MARTLET_LONG") == "1" else 75
REQUEST_SECONDS = 60
# Who asks, case by case, before it is the next operation's turn.
ASKERS = ("user", "nobody", "user", "admin", "user")
# They end the session or the account, so that each case has a user of its own.
ENDING = {"POST /_matrix/client/v3/logout", "POST /_matrix/client/v3/logout/all", "POST /_matrix/client/v3/account/deactivate", "POST /_matrix/client/v3/account/password",
          "POST /_matrix/client/v3/delete_devices", "DELETE /_matrix/client/v3/devices/{deviceId}"}
BACKUP_ALGORITHM = "m.megolm_backup.v1.curve25519-aes-sha2"
# The server asks other hosts; what these answer is not this test's matter.
ABROAD = {"GET /_matrix/client/v1/media/preview_url", "GET /_matrix/media/v3/preview_url"}


def excused(case, response):
    """Why an answer may differ from the description; None where it may not."""
    if response.status_code == 504 and "M_NOT_YET_UPLOADED" in response.text:
        return "the specification's own status for media that was announced and has not come"
    if response.status_code == 401 and response.json().get("errcode") in ("M_MISSING_TOKEN", "M_UNKNOWN_TOKEN", "M_USER_LOCKED"):
        return "any operation may answer so; where the description has 401 it is the one with the flows of interactive authentication"
    if case.operation.label == "GET /_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}" and (case.query or {}).get("format") == "event":
        return "the answer is one of content and event, and an event is a content as well: the `oneOf` cannot hold"
    if response.status_code == 200 and ("/media/v3/download/" in case.operation.path or "/media/download/" in case.operation.path):
        return "bytes and type are what somebody uploaded"
    if case.operation.path.startswith("/_matrix/client/v3/room_keys/version") and response.status_code == 200 and response.json().get("algorithm") not in (None, BACKUP_ALGORITHM):
        return "a backup of an algorithm that clients will agree on later is kept as well; the schema knows one only"
    return None


class Fuzzing:
    def __init__(self, base, schema, seed):
        self.base, self.seed, self.session = base, seed, requests.Session()
        self.operations = [operation.ok() for operation in schema.get_all_operations()]
        self.random = random.Random(seed)
        self.world, self.faults, self.statuses, self.reached = None, {}, {}, set()

    def run(self, seconds):
        """Goes round as often as the time allows, at least once: a busy machine gets three times as long for that."""
        start, turn = time.monotonic(), 0
        while turn == 0 or time.monotonic() < start + seconds:
            self.world = FuzzWorld(self.base)
            self.random.shuffle(self.operations)
            mode = GenerationMode.NEGATIVE if turn % 3 == 2 else GenerationMode.POSITIVE
            for operation in self.operations:
                if time.monotonic() > start + (seconds if turn else 3 * seconds):
                    return
                self.fuzz(operation, mode, f"{self.seed}/{turn}/{operation.label}")
            turn += 1

    def fuzz(self, operation, mode, seed):
        askers = itertools.cycle(ASKERS)

        @hypothesis.seed(seed)
        @hypothesis.settings(max_examples=len(ASKERS), database=None, deadline=None, phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(operation.as_strategy(generation_mode=mode), strategies.integers(0, 2**32))
        def each(case, number):
            self.world.lead(case, random.Random(number))
            self.check(case, next(askers))

        try:
            each()
        except hypothesis.errors.Unsatisfiable:
            return  # there is no request of the kind, such as a bad one where nothing can be bad

    def check(self, case, kind):
        token = self.token(case, kind)
        headers = {"Authorization": "Bearer " + token} if token else {}
        try:
            response = case.call(base_url=self.base, session=self.session, headers=headers, timeout=REQUEST_SECONDS)
        except requests.Timeout:
            return self.fault(case, "there was no answer", "")
        except (requests.exceptions.InvalidHeader, UnicodeError, ValueError):
            return None  # no such request can be sent
        self.reached.add(case.operation.label)
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        if excused(case, response) or response.status_code >= 500 and case.operation.label in ABROAD and response.status_code != 500:
            return None
        try:
            case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])
        except FailureGroup as group:
            for failure in group.exceptions:
                self.fault(case, f"{response.status_code}: {failure.title}", f"{str(failure)[:500]}\n{case.as_curl_command()[:700]}\n{response.text[:300]}")
        return None

    def token(self, case, kind):
        if kind == "nobody":
            return None
        if case.operation.label in ENDING:
            return User(self.base, "ending").token
        return self.world.user.token if kind == "user" else self.world.admin.token

    def fault(self, case, what, detail):
        entry = self.faults.setdefault(f"{case.operation.label}: {what}", [0, detail])
        entry[0] += 1


@test(f"schemathesis finds no server error and no answer of a wrong shape in {SECONDS} s over the whole description")
def every_operation(context):
    context.own_server()
    path = specification_path()
    if path is None:
        raise NotRun(f"no spec data: neither $MARTLET_SPEC nor ../shared/spec has {SPEC_NAME}")
    with open(path, encoding="utf-8") as f:
        schema = schemathesis.openapi.from_dict(json.load(f))
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    # Without a TURN server `voip/turnServer` answers {}, which the specification's prose wants and its schema refuses.
    server = Server(registration_shared_secret=SHARED_SECRET, turn_uris="turn:turn.example:3478", turn_secret="a secret of turn", issue_login_tokens="true", max_upload_bytes=str(1 << 20)).start()
    try:
        fuzzing = Fuzzing(server.base, schema, seed)
        fuzzing.run(SECONDS)
        print(f"          seed {seed} (MARTLET_SEED): {sum(fuzzing.statuses.values())} requests to {len(fuzzing.reached)} of {len(fuzzing.operations)} operations; answers {dict(sorted(fuzzing.statuses.items()))}", flush=True)
        assert server.process.poll() is None, f"the server ended: {server.output()}"
        assert len(fuzzing.reached) == len(fuzzing.operations), f"not reached: {sorted({operation.label for operation in fuzzing.operations} - fuzzing.reached)}"
        assert not fuzzing.faults, f"{len(fuzzing.faults)} faults:\n" + "\n".join(f"{times} x {what}\n{detail}" for what, (times, detail) in sorted(fuzzing.faults.items()))
    finally:
        server.close()
