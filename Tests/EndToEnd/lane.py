"""A lane: one process with a server, a schema check and a browser of its own, which carries out the parts that it is given one by one."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import buckets
import databases
import processes
import server
from client import Api
from harness import Context, Runner
from schema_check import specification_path

HERE = os.path.dirname(os.path.abspath(__file__))


# What a lane says when it wants a part.
READY = "ready"


class Lane:
    """`parts`: those there are, by name."""

    def __init__(self, number, options, parts):
        self.number, self.options, self.parts = number, options, parts
        self.own = self.proxy = self.limited = None

    def work(self, connection):
        """Says that it is ready, receives the name of a part, sends the result of each of its tests, and begins anew, until it receives None."""
        processes.keep_together()
        # Ctrl-C is for the process that has the lanes.
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._interrupted)
        self.folder = tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="martlet-lane-")
        try:
            with Runner(self._context()) as runner:
                connection.send(READY)
                for name in iter(connection.recv, None):
                    for test in self.parts[name].tests:
                        connection.send(runner.carry_out(test))
                        if runner.is_stuck:
                            self._quit()
                    connection.send(READY)
        finally:
            self._close()
            self._leave_nothing()

    def _interrupted(self, *_):
        if Runner.current and Runner.current.module:
            print(f"  lane {self.number} was at {Runner.current.module}: {Runner.current.sentence}", file=sys.__stdout__, flush=True)
        self._quit()

    def _quit(self):
        """A test in the middle of something cannot be asked to stop."""
        self._leave_nothing()
        os._exit(1)

    def _leave_nothing(self):
        databases.close()
        buckets.close()
        processes.end_descendants(os.getpid())
        shutil.rmtree(self.folder, ignore_errors=True)

    def _context(self):
        options = self.options
        if not options.base:
            self.own = server.Server(max_upload_bytes=str(8 << 20), issue_login_tokens="true", access_token_lifetime_minutes="60").start()
        upstream = options.base or self.own.base
        limited = options.limited_base if options.base else self._limited_base
        return Context(self._start_proxy([upstream] if options.base else self.own.bases), upstream, self.own, _is_synapse(upstream), limited, options.artifacts)

    def _limited_base(self):
        if self.limited is None:
            self.limited = server.Server(rate_limits="true").start()
        return self.limited.base

    def _start_proxy(self, upstreams):
        """The address of the schema check in front of the nodes `upstreams`. Without a specification, that of the first."""
        spec = specification_path()
        if spec is None:
            return upstreams[0]
        command = [sys.executable, os.path.join(HERE, "schema_proxy.py"), "--upstream", *upstreams, "--spec", spec,
                   "--report", report_path(self.options.artifacts, self.number)]
        self.proxy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        return self.proxy.stdout.readline().strip()

    def _close(self):
        if self.proxy:
            self.proxy.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.proxy.communicate(timeout=30)
        for process in (self.own, self.limited):
            if process:
                process.close()


def report_path(artifacts, number):
    return os.path.join(artifacts, f"schema-report-{number}.json")


def _is_synapse(base):
    try:
        return Api(base).get("/_matrix/federation/v1/version").json["server"]["name"] == "Synapse"
    except (ValueError, KeyError, TypeError):
        return False
