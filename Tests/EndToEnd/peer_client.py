"""A client of the SDK in a program of its own (Tests/ClientPeer), steered by JSON lines."""
import asyncio
import itertools
import json
import os
import signal

from client import PASSWORD
from harness import PATIENCE

LINE_BYTES_LIMIT = 1 << 28
# Of the whole room with all its threads.
REPORT_SECONDS = 300


class Gone(Exception):
    """The program ended before it answered."""


class Peer:
    """`view` and the verbs end with the answer of the program; what it could not do is in `refusals` by reason."""

    has_threads_inline = False

    def __init__(self, program, link, user, room, folder, *options):
        self.program, self.link, self.user, self.room, self.options = program, link, user, room, options
        self.store = os.path.join(folder, user.user_id.split(":")[0][1:] + ".store")
        self.has_threads_inline = "--threads-inline" in options
        self.waiting, self.asked, self.numbers, self.refusals, self.process = {}, {}, itertools.count(1), {}, None
        # The texts that it was told to write.
        self.said = set()
        self.clock_error = 0

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            self.program, "--homeserver", self.link.base, "--user", self.user.user_id, "--password", PASSWORD, "--room", self.room,
            "--store", self.store, "--clock-error", str(self.clock_error), *self.options, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LINE_BYTES_LIMIT)
        ready = await self.process.stdout.readline()
        assert ready == b'{"ready":true}\n', f"the peer did not start: {ready!r}"
        self.reading = asyncio.create_task(self._read())
        return self

    async def _read(self):
        while line := await self.process.stdout.readline():
            answer = json.loads(line)
            waiting = self.waiting.pop(answer.get("id"), None)
            if waiting and not waiting.done():
                waiting.set_result(answer)
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(Gone())
        self.waiting = {}

    async def stop(self, kills=False):
        if kills:
            self.process.kill()
        else:
            self.process.stdin.write(b'{"id":0,"do":"stop"}\n')
        await self.process.wait()
        await self.reading

    async def end(self):
        if self.process and self.process.returncode is None:
            await self.stop(kills=True)

    async def restart(self, kills):
        await self.stop(kills)
        await self.start()

    def tell(self, do, **values):
        """The answer to come. Nobody has to wait for it."""
        number = next(self.numbers)
        answer = asyncio.get_running_loop().create_future()
        self.waiting[number], self.asked[number] = answer, do
        if do in ("send", "edit", "reply", "thread"):
            self.said.add(values["text"])
        self.process.stdin.write(json.dumps({"id": number, "do": do, **values}).encode() + b"\n")
        answer.add_done_callback(self._answered)
        return answer

    def _answered(self, answer):
        if answer.cancelled():
            return
        reason = "gone" if answer.exception() else answer.result().get("error", "").split("(")[0]
        if reason:
            self.refusals[reason] = self.refusals.get(reason, 0) + 1

    def sleep(self):
        """As when the machine is put to sleep amid everything; `wake` goes on."""
        self.process.send_signal(signal.SIGSTOP)

    def wake(self):
        self.process.send_signal(signal.SIGCONT)

    def set_clock(self, seconds):
        """So much fast, or slow, also after a restart."""
        self.clock_error = seconds * 1_000
        return self.tell("clock", error=self.clock_error)

    async def ask(self, do, seconds=PATIENCE, **values):
        asked = self.tell(do, **values)
        try:
            answer = await asyncio.wait_for(asked, seconds)
        except asyncio.TimeoutError:
            unanswered = [self.asked[number] for number in self.waiting]
            raise AssertionError(f"{self.user.user_id} does not answer {do} after {seconds} s, and before that {unanswered}") from None
        assert "error" not in answer, f"{do}: {answer['error']}"
        return answer

    @property
    def is_busy(self):
        return bool(self.waiting)

    async def recover(self):
        """The network is back, as the operating system would say."""
        await self.ask("rest", on=False)
        await self.ask("network", on=False)
        await self.ask("network", on=True)

    async def looks(self):
        return f"refused {self.refusals}"

    async def view(self, since, truth):
        """None while something is on its way still."""
        try:
            report = await self.ask("report", PATIENCE if since else REPORT_SECONDS, since=since, threads=truth.roots)
        except AssertionError as error:
            return {"trouble": str(error)}
        if report["failed"]:
            await self.ask("retry")
        if report["running"] or report["sending"] or report["failed"]:
            return {"trouble": f"{report['running']} commands are not done, on their way {report['sending']}, {report['failed']} failed"}
        members = {user: [membership, None if membership == "ban" else name] for user, (membership, name) in report["members"].items()}
        return {key: report[key] for key in ("timeline", "threads", "receipts", "unread", "highlights")} | {"members": members}
