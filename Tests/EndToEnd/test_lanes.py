"""How tests are dealt to lanes, that a module over its budget fails, and that a lane takes its processes with it."""
import os
import subprocess
import sys
import tempfile
import time

import kept_seconds
import processes
from harness import Test, test
from lanes import Deal, parts_of
from schema_check import merged, summary

KNOWN = {"long": {"wall": 90, "cpu": 80}, "short": {"wall": 10, "cpu": 9}, "sleeper": {"wall": 70, "cpu": 3}, "nap": {"wall": 20, "cpu": 1}}


def parts(*names):
    return parts_of([Test(name.removesuffix(" alone"), "a sentence", None, None, name.endswith(" alone"), False) for name in names])


def dealt(deal, lane):
    return [part.name for part in iter(lambda: deal.next(lane), None)]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@test("a free lane gets the longest part that is left; of three, the last gets what waits for the clock, and the others that at the end")
def _(_):
    found = parts("short", "nap", "long", "sleeper", "long alone")
    assert [part.is_alone for part in found.values()] == [False] * 4 + [True]
    assert dealt(Deal(found.values(), 1, KNOWN), 0) == ["long", "short", "sleeper", "nap"]
    deal = Deal(found.values(), 3, KNOWN)
    assert (deal.next(2).name, deal.next(0).name, deal.next(1).name) == ("sleeper", "long", "short")
    assert dealt(deal, 1) == ["nap"] and dealt(deal, 2) == dealt(deal, 0) == deal.left() == []
    # Without any that wait all lanes are alike.
    assert Deal(parts("long").values(), 3, KNOWN).next(2).name == "long"


@test("a part fails that takes more than one and a half times its processor time and five seconds; one that nobody has measured has no budget")
def _(_):
    assert not kept_seconds.excesses(KNOWN, {"long": (1, 125), "nap": (1, 6.5), "new": (1, 10_000)})
    found = kept_seconds.excesses(KNOWN, {"long": (1, 126), "nap": (1, 6.6)})
    assert len(found) == 2 and "long took 126.0 s" in found[0] and "nap" in found[1], found


@test("on a machine that takes longer for everything the budgets grow as it does, and the one that has grown more is found")
def _(_):
    known = {f"part {number}": {"wall": 10, "cpu": 10} for number in range(9)}
    slow = {name: (1, 19.0) for name in known}
    assert not kept_seconds.excesses(known, slow | {"part 0": (1, 37.9)})
    (found,) = kept_seconds.excesses(known, slow | {"part 0": (1, 38.1)})
    assert "part 0" in found and "1.90" in found, found
    # A faster one has the same budgets.
    assert not kept_seconds.excesses(known, {name: (1, 5.0) for name in known} | {"part 0": (1, 20)})


@test("the processor time of ended descendants counts, and an orphan ends with the process that it belongs to")
def _(_):
    burn = "import os, subprocess, sys, time; [0 for _ in range(10 ** 7)]"
    # One grandchild burns CPU time and ends; the other is orphaned and sleeps.
    script = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {burn!r}]); subprocess.run('sleep 600 & echo $!', shell=True); time.sleep(600)"
    keeper = f"import subprocess, sys, processes; processes.keep_together(); subprocess.run([sys.executable, '-c', {script!r}])"
    process = subprocess.Popen([sys.executable, "-c", keeper], stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(os.path.abspath(__file__)))
    try:
        orphan = int(process.stdout.readline())
        assert processes.cpu_seconds(process.pid) > 0.1
        while orphan not in processes.descendants(process.pid):
            time.sleep(0.01)
        processes.end_descendants(process.pid)
        process.wait(10)
        while is_running(orphan):
            time.sleep(0.01)
    finally:
        process.kill()
        process.stdout.close()


STUCK = """
import argparse, asyncio, os, sys
import harness, lanes

harness.TEST_SECONDS, harness.STUCK_SECONDS = 0.1, 0.5

async def stubborn(_):
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

os.environ["MARTLET_SPEC"] = "/nowhere"
tests = [harness.Test(module, sentence, function, None, False, False)
         for module, sentence, function in (("one", "stuck", stubborn), ("one", "never begun", print), ("two", "fine", lambda _: None))]
options = argparse.Namespace(base=sys.argv[1], limited_base=None, artifacts=sys.argv[2])
lanes.Lanes(1, options, lambda result: print(result.sentence, result.outcome, *result.words), lambda *_: None, print).run(lanes.parts_of(tests))
"""


@test("a test that neither ends nor lets itself be cancelled fails and says where it waits; its lane is replaced")
def _(context):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", STUCK, context.direct, folder], cwd=os.path.dirname(os.path.abspath(__file__)),
                              capture_output=True, text=True, timeout=60)
    stuck, ended, fine = done.stdout.splitlines()
    assert stuck.startswith("stuck FAILED") and "stubborn" in stuck, done.stdout + done.stderr
    assert ended == "lane 0 ended in the middle of one, with status 1" and fine == "fine ok", done.stdout + done.stderr


@test("one report of answers is made of the lanes'")
def _(_):
    mismatch = {"times": 2, "path": "/x", "detail": "d", "body": "b"}
    one = {"answers": {"GET /x 200": 3}, "tests": {"GET /x 200": ["b"]}, "mismatches": {}}
    other = {"answers": {"GET /x 200": 1, "PUT /y 200": 1}, "tests": {"GET /x 200": ["a", "b"], "PUT /y 200": ["c"]}, "mismatches": {"m": mismatch}}
    report = merged([one, other, other])
    assert report["answers"] == {"GET /x 200": 5, "PUT /y 200": 2} and report["tests"]["GET /x 200"] == ["a", "b"]
    assert report["mismatches"]["m"] == {**mismatch, "times": 4} and mismatch["times"] == 2
    assert summary(report).startswith("schema check: 7 answers of 2 operations, 1 kinds of mismatch")
