"""What each module took when that was kept last: lanes are dealt by it, and it is the budget of later runs.

A `seconds.json` has seconds of wall time and of processor time; there is one here and one for the unit tests (Scripts/unit-tests).
`--keep-seconds` writes them anew."""
import json
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seconds.json")
# A module may take so many times its kept processor time, and so many seconds more: a small one varies most.
BUDGET_FACTOR, BUDGET_SLACK = 1.5, 5
# A module that uses less than this part of a core waits for the clock most of the time.
WAITING_SHARE = 0.5
# A module that nobody has measured yet.
UNKNOWN = {"wall": 60, "cpu": 60}


def load(path=PATH):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def keep(taken, path=PATH):
    """`taken`: of each part, (wall, cpu)."""
    known = load(path) | {part: {"wall": round(wall, 1), "cpu": round(cpu, 1)} for part, (wall, cpu) in taken.items()}
    lines = [f" {json.dumps(part)}: {json.dumps(known[part])}" for part in sorted(known)]
    with open(path, "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


def wall(known, part):
    return known.get(part, UNKNOWN)["wall"]


def waits(known, part):
    """Whether it waits for the clock rather than for the processor."""
    seconds = known.get(part, UNKNOWN)
    return seconds["cpu"] < WAITING_SHARE * seconds["wall"]


def excess(known, part, cpu):
    """In words; None within the budget."""
    if part not in known:
        return None
    kept = known[part]["cpu"]
    if cpu <= kept * BUDGET_FACTOR + BUDGET_SLACK:
        return None
    return (f"{part} took {cpu:.1f} s of processor time, its budget is {kept * BUDGET_FACTOR + BUDGET_SLACK:.1f} s: {BUDGET_FACTOR} times the {kept} s "
            f"of seconds.json and {BUDGET_SLACK} s (where it has to take so much, --keep-seconds)")
