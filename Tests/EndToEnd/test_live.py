"""The live suite of the client library (Tests/ClientLive), each case on the server under test and on a Synapse from PyPI."""
import os
import subprocess
import sys
import tempfile

from gateway import Gateway
from harness import NotRun, test
from server import ROOT, Server, newest_build

sys.path.insert(0, os.path.join(ROOT, "Benchmarks"))
import servers  # noqa: E402

PROGRAM = newest_build("client-live")
SUITE_SECONDS = 440
OUTCOMES = ("ok      ", "FAILED  ", "not announced ")


class Synapse(servers.Synapse):
    """As it comes, but with what the suite asks for switched on."""
    overrides = {
        "presence": {"enabled": True}, "allow_public_rooms_without_auth": True,
        "room_list_publication_rules": [{"action": "allow"}],
        "login_via_existing_session": {"enabled": True, "require_ui_auth": True},
    }


class Suite:
    """Runs once, when the first of its cases is asked for."""

    def __init__(self):
        self.answers, self.trouble, self.ending = None, None, "the suite ended without it"

    def run(self, base):
        try:
            output = subprocess.run([PROGRAM, "--homeserver", base], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    timeout=SUITE_SECONDS).stdout
        except subprocess.TimeoutExpired as end:
            # The cases that did end count.
            output = end.output or b""
            self.ending = f"it was not there after {SUITE_SECONDS} s"
        output = output.decode(errors="replace")
        self.answers = [line for line in output.splitlines() if line.startswith(OUTCOMES)]
        if not self.answers:
            raise AssertionError(output[-2000:])

    def answer(self, case):
        """(outcome, the words behind it). A case's name may have a colon in it."""
        for line in self.answers:
            for outcome in OUTCOMES:
                if line.startswith((f"{outcome}{case} (", f"{outcome}{case}: ")):
                    return outcome.strip(), line[len(outcome) + len(case) + 2:]
        return "missing", self.ending

    def look_up(self, case, start):
        if self.trouble:
            raise AssertionError("the suite did not run: see its first case")
        if self.answers is None:
            try:
                start()
            except BaseException:
                self.trouble = True
                raise
        outcome, words = self.answer(case)
        if outcome == "not announced":
            raise NotRun("the server does not announce it: " + words)
        assert outcome == "ok", words


HERE, SYNAPSE = Suite(), Suite()


def start_synapse():
    Synapse.install()
    with tempfile.TemporaryDirectory(prefix="martlet-synapse-") as folder:
        synapse = Synapse(folder)
        try:
            SYNAPSE.run(synapse.start().base)
        except SystemExit as reason:
            raise AssertionError(f"{reason}\n{open(os.path.join(folder, 'output.log')).read()[-2000:]}") from None
        finally:
            synapse.stop()


def add(case):
    @test(case)
    def here(context):
        def start():
            context.begin("live: the client library's suite")
            HERE.run(context.base)
        HERE.look_up(case, start)


def add_synapse(case):
    @test("Synapse: " + case)
    def there(context):
        if context.is_synapse:
            raise NotRun("the server under test is Synapse")
        SYNAPSE.look_up(case, start_synapse)


@test("the client library's pusher: the gateway hears of each event once")
def gateway_once(context):
    context.own_server()
    name = "N1 a push gateway hears of each event once"

    def answer(method, path, body):
        if method == "POST":
            return 200, {"rejected": []}
        pushes = [body["notification"] for _, _, body, _ in gateway.calls if body]
        return 200, {"calls": [{"event_id": push["event_id"], "pushkey": push["devices"][0]["pushkey"]} for push in pushes if "event_id" in push]}

    gateway = Gateway(answer)
    server = Server(push_gateways=gateway.base).start()
    try:
        output = subprocess.run([PROGRAM, "--homeserver", server.base, "--only", name], env=dict(os.environ, LIVE_PUSH_GATEWAY=gateway.base),
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SUITE_SECONDS).stdout
        assert "1 passed, 0 failed" in output, output[-2000:]
    finally:
        server.close()
        gateway.close()


def cases():
    return subprocess.check_output([PROGRAM, "--list"], text=True).splitlines()


if PROGRAM:
    for each in (add, add_synapse):
        for name in cases():
            each(name)
else:
    @test("the live suite is built")
    def built(context):
        raise AssertionError("it is not: swift build --product client-live")
