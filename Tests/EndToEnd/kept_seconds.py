"""What each module took when that was kept last: lanes are dealt by it, and it is the budget of later runs.

A `seconds.json` has seconds of wall time and of processor time; there is one here and one for the unit tests (Scripts/unit-tests).
`--keep-seconds` writes them anew."""
import json
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seconds.json")
# A module may take so many times its kept processor time, and so many seconds more: a small one varies most.
BUDGET_FACTOR, BUDGET_SLACK = 1.5, 5
# Fewer parts do not tell how fast the machine is.
PACED_BY = 8
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


def pace(known, taken):
    """How much more processor time this machine takes than the one that the kept seconds are of, by the part in the middle; 1 at least.

    The same work takes up to twice the time where others use the cores, too. A single part that has grown hardly moves the middle of many."""
    ratios = sorted(cpu / known[part]["cpu"] for part, (_, cpu) in taken.items() if known.get(part, {}).get("cpu", 0) >= BUDGET_SLACK)
    return max(1, ratios[len(ratios) // 2]) if len(ratios) >= PACED_BY else 1


def excesses(known, taken):
    """What takes too much of the processor, in words. `taken`: of each part, (wall, cpu)."""
    now = pace(known, taken)
    found = []
    for part, (_, cpu) in taken.items():
        if part not in known:
            continue
        kept = known[part]["cpu"]
        budget = now * (kept * BUDGET_FACTOR + BUDGET_SLACK)
        if cpu > budget:
            found.append(f"{part} took {cpu:.1f} s of processor time, its budget is {budget:.1f} s: {BUDGET_FACTOR} times the {kept} s of seconds.json "
                         f"and {BUDGET_SLACK} s, on a machine that takes {now:.2f} times as long (where it has to take so much, --keep-seconds)")
    return found
