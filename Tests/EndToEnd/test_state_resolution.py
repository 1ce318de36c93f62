"""What our resolver makes of a room that forked, beside Synapse's: one that differs splits the room between servers.

`MARTLET_LONG=1` compares 100,000 cases, `MARTLET_SEED` makes other rooms."""
import os
import random
import subprocess
import sys

from harness import NotRun, test
from server import ROOT, newest_build

sys.path.insert(0, os.path.join(ROOT, "Benchmarks"))
import servers  # noqa: E402

PROGRAM = newest_build("state-resolver")
CASES = 100_000 if os.environ.get("MARTLET_LONG") == "1" else 5_000
SEED = os.environ.get("MARTLET_SEED") or str(random.randrange(1 << 30))


@test("our resolver answers as Synapse's for rooms that fork at random")
def resolvers_agree(context):
    assert PROGRAM, "it is not built: swift build --product state-resolver"
    try:
        servers.Synapse.install()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRun(f"Synapse cannot be installed from PyPI: {error}") from None
    python = os.path.join(servers.Synapse.venv, "bin", "python")
    script = os.path.join(ROOT, "Tests", "EndToEnd", "state_rooms.py")
    print("seed", SEED)
    with subprocess.Popen([python, script, "--cases", str(CASES), "--seed", SEED], stdout=subprocess.PIPE) as rooms:
        answer = subprocess.run([PROGRAM], stdin=rooms.stdout, stdout=subprocess.PIPE, text=True)
        rooms.stdout.close()
    assert rooms.returncode == 0 and answer.returncode == 0, f"seed {SEED}: rooms {rooms.returncode}, resolver {answer.returncode}"
    cases, differing = (int(word) for word in answer.stdout.split("\n")[-2].replace(",", "").split() if word.isdigit())
    assert cases >= CASES and differing == 0, f"seed {SEED}: {answer.stdout[-3000:]}"
