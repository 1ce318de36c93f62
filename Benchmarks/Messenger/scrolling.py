"""The figures of run.py: what the page does on its main thread while everything is scrolled through, and what moves that should not."""

# A browser lets a finger fling by 8,000 pixels a second at most, at 60 frames a second.
TOUCH_STEP = 133

# Towards the beginning, by a step each frame. The work of a frame begins with the event that the scrolling raised, before
# the frame's callbacks, and ends behind style, layout and painting: a message sent in a callback comes when they are done.
FLING = """
async (scroller, step, limit, isBlank) => {
  const times = [], work = [], rows = document.querySelector('.mg-window');
  const { port1, port2 } = new MessageChannel();
  const frame = () => new Promise(requestAnimationFrame);
  const painted = () => new Promise(done => { port1.onmessage = () => done(performance.now()); port2.postMessage(null); });
  let blank = 0, outlines = 0, most = 0, first = 0, last = await frame();
  scroller.addEventListener('scroll', () => { first ||= performance.now(); }, true);
  await painted();
  while (scroller.scrollTop > 0 && times.length < limit) {
    scroller.scrollTop -= step;
    first = 0;
    const now = await frame(), start = first || performance.now();
    work.push(await painted() - start);
    times.push(now - last);
    last = now;
    if (isBlank()) blank++;
    if (scroller.classList.contains('mg-passing')) outlines++;
    most = Math.max(most, rows.children.length);
  }
  const sorted = work.sort((a, b) => a - b), at = p => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
  const dropped = times.slice(1).reduce((sum, d) => sum + Math.max(0, Math.round(d * 60 / 1000) - 1), 0);
  return { frames: times.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), worst: at(1), dropped, blank, outlines, most };
}
"""

MEASURE = """
async ({ messages, step, touchStep, touchFrames }) => {
  const fling = FLING, isPassing = () => document.querySelector('.mg-passing') !== null;
  const frame = () => new Promise(requestAnimationFrame);
  const settle = async () => { do { await frame(); await frame(); } while (isPassing()); };
  const out = {};
  program.benchmark_prepare(messages);
  let t = performance.now();
  program.benchmark_load();
  out.load = performance.now() - t;
  const scroller = document.querySelector('.mg-scroller'), rows = document.querySelector('.mg-window');
  const end = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
  await settle();
  out.endDistance = Math.abs(end());
  // Where everything goes by faster than anybody reads outlines stand for rows, which are counted by themselves.
  const isBlank = () => {
    if (isPassing()) return false;
    const area = scroller.getBoundingClientRect(), first = rows.firstElementChild, last = rows.lastElementChild;
    if (!first) return true;
    const head = scroller.scrollTop < 1, foot = end() < 40;
    return (!head && first.getBoundingClientRect().top > area.top + 1) || (!foot && last.getBoundingClientRect().bottom < area.bottom - 1);
  };
  out.touch = await fling(scroller, touchStep, touchFrames, isBlank);
  out.thrown = await fling(scroller, step, Infinity, isBlank);
  await settle();
  out.blank = out.touch.blank + out.thrown.blank;
  // The head of the list, its middle and its very start: what is in view stays where it is.
  const seen = () => [...rows.children].map(e => [e.querySelector('.mg-text, .mg-picture').textContent, e.getAttribute('aria-label'), e.querySelector('.mg-bubble').getBoundingClientRect().bottom]).filter(x => x[2] > 0 && x[2] < scroller.clientHeight);
  out.jump = 0;
  out.compared = 0;
  const prepends = [];
  for (const top of [0, 30, 1200, 40000, 2000000]) {
    scroller.scrollTop = top;
    await settle();
    const before = seen();
    t = performance.now();
    program.benchmark_prepend(100);
    prepends.push(performance.now() - t);
    await settle();
    const after = seen();
    for (const [text, label, y] of before) {
      const same = after.filter(x => x[0] === text && x[1] === label);
      if (same.length !== 1 || before.filter(x => x[0] === text && x[1] === label).length !== 1) continue;
      out.compared++;
      out.jump = Math.max(out.jump, Math.abs(same[0][2] - y));
    }
  }
  for (let k = 0; k < 20; k++) { t = performance.now(); program.benchmark_prepend(100); prepends.push(performance.now() - t); await frame(); }
  out.prepend = prepends.sort((a, b) => a - b)[prepends.length >> 1];
  // Small steps through rows that were never measured: they move by what was scrolled.
  scroller.scrollTop = scroller.scrollHeight * 0.37;
  await settle();
  begun.longest = 0;
  await new Promise(done => setTimeout(done, 300));
  out.rest = begun.longest;
  out.drift = 0;
  for (let k = 0; k < 150; k++) {
    const before = seen();
    scroller.scrollTop -= 97;
    await settle();
    const after = new Map(seen().map(x => [x[0] + x[1], x[2]]));
    for (const [text, label, y] of before) {
      const now = after.get(text + label);
      if (now !== undefined && text !== '') out.drift = Math.max(out.drift, Math.abs(now - y - 97));
    }
    if (isBlank()) out.blank++;
  }
  for (let k = 0; k < 60; k++) {
    scroller.scrollTop = Math.random() * scroller.scrollHeight;
    await settle();
    if (isBlank()) out.blank++;
  }
  scroller.scrollTop = scroller.scrollHeight;
  await settle();
  const appends = [];
  for (let k = 0; k < 40; k++) { t = performance.now(); program.benchmark_append(); appends.push(performance.now() - t); await frame(); }
  out.append = appends.sort((a, b) => a - b)[20];
  out.endAfterAppend = Math.abs(end());
  out.elements = rows.children.length;
  out.memory = program.memory.buffer.byteLength / 1048576;
  return out;
}
""".replace("FLING", FLING)

# A list that is jumped through: its end, places anywhere, its beginning, and a page of scrolling at each.
MANY = """
async messages => {
  const frame = () => new Promise(requestAnimationFrame);
  const settle = async () => { do { await frame(); await frame(); } while (document.querySelector('.mg-passing')); };
  program.benchmark_prepare(messages);
  const from = performance.now();
  program.benchmark_load();
  const out = { load: performance.now() - from, blank: 0, most: 0, drift: 0 };
  await settle();
  const scroller = document.querySelector('.mg-scroller'), rows = document.querySelector('.mg-window');
  const place = () => Number(rows.querySelector('.mg-row').getAttribute('aria-posinset'));
  const isBlank = () => rows.children.length === 0 || rows.firstElementChild.getBoundingClientRect().top > 1 && scroller.scrollTop > 1
    || rows.lastElementChild.getBoundingClientRect().bottom < scroller.clientHeight - 40;
  out.last = Number(rows.lastElementChild.getAttribute('aria-posinset'));
  for (const part of [0.9, 0.5, 0.1, 0.7, 0]) {
    scroller.scrollTop = scroller.scrollHeight * part;
    await settle();
    out.far = Math.max(out.far ?? 0, Math.abs(place() / messages - part));
    for (let k = 0; k < 20; k++) {
      const row = rows.children[rows.children.length >> 1], top = row.getBoundingClientRect().top, at = scroller.scrollTop;
      scroller.scrollTop += 90;
      const moved = scroller.scrollTop - at;
      await settle();
      if (row.isConnected) out.drift = Math.max(out.drift, Math.abs(row.getBoundingClientRect().top - top + moved));
      if (isBlank()) out.blank++;
      out.most = Math.max(out.most, rows.children.length);
    }
  }
  scroller.scrollTop = 0;
  await settle();
  out.first = place();
  out.memory = program.memory.buffer.byteLength / 1048576;
  return out;
}
"""


# Each change alone, with the layout it makes; of a hundred one is a change of the letters' size, one of the window's, and one turns it: those
# the page finds by itself.
MUTATE = """
async count => {
  const frame = () => new Promise(requestAnimationFrame);
  const scroller = document.querySelector('.mg-scroller'), rows = document.querySelector('.mg-window');
  const timeline = document.querySelector('.mg-timeline'), app = document.getElementById('app') ?? document.body;
  let [width, height] = [700, 880];
  const size = () => { app.style.width = width + 'px'; app.style.height = height + 'px'; };
  scroller.scrollTop = scroller.scrollHeight * 0.5;
  do { await frame(); await frame(); } while (document.querySelector('.mg-passing'));
  const result = { worst: 0, compared: 0, rows: 0 };
  for (let k = 0; k < count; k++) {
    const row = [...rows.children].find(e => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < scroller.clientHeight);
    if (row === undefined) continue;
    // What it says, and not its top, which goes up and down with the date above it.
    const said = row.querySelector('.mg-bubble, .mg-line-box'), top = said.getBoundingClientRect().top;
    if (k % 100 === 99) {
      timeline.style.fontSize = 13 + k / 100 % 5 + 'px';
      await frame(); await frame(); await frame();
    } else if (k % 100 === 33 || k % 100 === 66) {
      if (k % 100 === 33) [width, height] = [height, width]; else [width, height] = [420 + k % 7 * 60, 500 + k % 5 * 80];
      size();
      await frame(); await frame(); await frame();
    } else {
      program.benchmark_mutate();
    }
    if (k % 50 === 0) await frame();
    result.rows = Math.max(result.rows, rows.children.length);
    if (!row.isConnected) continue;
    result.compared++;
    result.worst = Math.max(result.worst, Math.abs(said.getBoundingClientRect().top - top));
  }
  timeline.style.fontSize = app.style.width = app.style.height = '';
  return result;
}
"""

# How far guesses of heights are from what the page measures: a list is gone through once, which measures each row.
ESTIMATE = """
async messages => {
  const frame = () => new Promise(requestAnimationFrame);
  program.benchmark_prepare(messages);
  program.benchmark_load();
  await frame(); await frame();
  const scroller = document.querySelector('.mg-scroller'), rows = document.querySelector('.mg-window');
  const before = scroller.scrollHeight, seen = new Set(), moved = [];
  for (let last = before; scroller.scrollTop > 0; ) {
    scroller.scrollTop -= 60;
    await frame();
    program.benchmark_settle();
    const height = scroller.scrollHeight, fresh = [...rows.children].map(row => row.getAttribute('aria-posinset')).filter(at => !seen.has(at));
    for (const at of fresh) seen.add(at);
    if (fresh.length === 1) moved.push(Math.abs(height - last));
    last = height;
  }
  moved.sort((a, b) => a - b);
  return { total: scroller.scrollHeight / before - 1, rows: moved.length, exact: moved.filter(d => d < 1).length / moved.length,
    mean: moved.reduce((sum, d) => sum + d, 0) / moved.length, p95: moved[Math.floor(moved.length * 0.95)] };
}
"""

CPU = """
async () => {
  const scroller = document.querySelector('.mg-scroller');
  for (let k = 0; k < 300; k++) { scroller.scrollTop -= 500; await new Promise(requestAnimationFrame); }
}
"""


class Table:
    """Lines of what is asked, what was found, and whether that is enough."""

    def __init__(self):
        self.rows = []

    def add(self, what, asked, measured, is_enough, is_time=False):
        self.rows.append((what, asked, measured, is_enough, is_time))

    def print(self):
        print("| what | asked | measured | |")
        print("|---|--:|--:|---|")
        for what, asked, measured, is_enough, _ in self.rows:
            print(f"| {what} | {asked} | {measured} | {'yes' if is_enough else 'NO'} |")

    def is_wrong(self, is_strict):
        return any(not is_enough and (is_strict or not is_time) for _, _, _, is_enough, is_time in self.rows)


def scroll(table, page, arguments, throttle, limit):
    """A finger's fling, the scrollbar thrown through everything, and all that must not move meanwhile."""
    if throttle > 1:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    steps = {"step": arguments.step, "touchStep": TOUCH_STEP, "touchFrames": arguments.touch}
    r = page.evaluate(MEASURE, {"messages": arguments.messages, **steps})
    name = f"{arguments.messages:,} messages" + (f", processor {throttle} times slower" if throttle > 1 else "")
    pace(table, f"{name}, a finger's fling, {TOUCH_STEP} px a frame", r["touch"], limit)
    pace(table, f"{name}, the scrollbar thrown, {arguments.step:,} px a frame", r["thrown"], limit)
    table.add(f"{name}: what is around the viewport, once scrolling rests", "", f"{r['rest']:.1f} ms", True)
    most = max(r["touch"]["most"], r["thrown"]["most"], r["elements"])
    table.add(f"{name}: rows in the document", "60", most, most <= 60)
    table.add(f"{name}: frames with a blank place", "0", r["blank"], r["blank"] == 0)
    still = max(r["jump"], r["drift"])
    table.add(f"{name}: what is read moves by itself", "0.5 px", f"{still:g} px", still <= 0.5 and r["compared"] >= 20)
    at_end = max(r["endDistance"], r["endAfterAppend"])
    table.add(f"{name}: distance from the end after loading, appending", "1 px", f"{at_end:g} px", at_end <= 1)
    table.add(f"{name}: load, prepend 100, append one", "", f"{r['load']:.0f}, {r['prepend']:.1f}, {r['append']:.1f} ms", True)
    table.add(f"{name}: memory of the program", "", f"{r['memory']:.0f} MB", True)


# A page that is scrolled alike and has nothing to do: what it drops, the machine dropped.
EMPTY = """
<div class="mg-scroller" style="height: 880px; overflow: auto"><div class="mg-window" style="height: 500000px;
background: repeating-linear-gradient(#fff, #ccc 60px)">&nbsp;</div></div>
"""


def machine(table, page, frames, throttle):
    """How many frames the machine itself drops meanwhile: the measure for what the messenger drops."""
    tools = page.context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    page.goto("about:blank")
    page.set_content(EMPTY)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    fling = page.evaluate("""async ({ step, frames }) => {
      const scroller = document.querySelector('.mg-scroller');
      scroller.scrollTop = scroller.scrollHeight;
      return await (FLING)(scroller, step, frames, () => false);
    }""".replace("FLING", FLING), {"step": TOUCH_STEP, "frames": frames})
    table.add(f"an empty page, processor {throttle} times slower, a finger's fling: dropped frames of {fling['frames']:,}", "", fling["dropped"], True)


def pace(table, name, fling, limit):
    table.add(f"{name}: dropped frames of {fling['frames']:,}", "0", fling["dropped"], fling["dropped"] == 0, is_time=True)
    table.add(f"{name}: main thread per frame, 99th percentile", f"{limit} ms", f"{fling['p99']:.1f} ms", fling["p99"] <= limit, is_time=True)
    table.add(f"{name}: frames with outlines in place of rows", "", fling["outlines"], True)
    table.add(f"{name}: the same, median, 95th, longest", "", f"{fling['p50']:.1f}, {fling['p95']:.1f}, {fling['worst']:.1f} ms", True)


def processor_time(page):
    """Milliseconds a frame of script, layout and style on the processor's own clock, which does not depend on what else the machine does."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    read = lambda: {m["name"]: m["value"] * 1000 for m in tools.send("Performance.getMetrics")["metrics"]}
    before = read()
    page.evaluate(CPU)
    after = read()
    return [(after[name] - before[name]) / 300 for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")]


def figures(open_page, arguments):
    table = Table()
    page = open_page()
    scroll(table, page, arguments, 1, 8)
    table.add("processor per frame of 500 px: script, layout, style", "", "{:.2f}, {:.2f}, {:.2f} ms".format(*processor_time(page)), True)
    m = page.evaluate(MUTATE, arguments.mutations)
    table.add(f"{arguments.mutations:,} random changes: the row under the eye moves by", "0.5 px", f"{m['worst']:g} px",
              m["worst"] <= 0.5 and m["compared"] >= arguments.mutations * 0.9)
    table.add(f"{arguments.mutations:,} random changes: rows in the document", "60", m["rows"], m["rows"] <= 60)
    page.context.close()
    for width in (360, 720):
        page = open_page(width)
        guess = page.evaluate(ESTIMATE, 2_000)
        name = f"heights of rows that were never drawn, {width} px wide"
        table.add(f"{name}: all of 2,000 are off by", "5 %", f"{guess['total'] * 100:.1f} %", abs(guess["total"]) <= 0.05)
        table.add(f"{name}: exact of {guess['rows']:,}; one is off by, mean, 95th", "",
                  f"{guess['exact'] * 100:.0f} %, {guess['mean']:.1f}, {guess['p95']:g} px", True)
        page.context.close()
    page = open_page()
    scroll(table, page, arguments, 4, 16)
    machine(table, page, arguments.touch, 4)
    page.context.close()
    page = open_page()
    many = page.evaluate(MANY, arguments.many)
    name = f"{arguments.many:,} rows"
    table.add(f"{name}: first and last one reached", f"1, {arguments.many}", f"{many['first']}, {many['last']}",
              many["first"] == 1 and many["last"] == arguments.many)
    table.add(f"{name}: rows in the document", "60", many["most"], many["most"] <= 60)
    table.add(f"{name}: a jump by the scrollbar is off by", "2 %", f"{many['far'] * 100:.1f} %", many["far"] <= 0.02)
    table.add(f"{name}: what is read moves by itself", "0.5 px", f"{many['drift']:g} px", many["drift"] <= 0.5)
    table.add(f"{name}: frames with a blank place", "0", many["blank"], many["blank"] == 0)
    table.add(f"{name}: load, memory of the program", "", f"{many['load']:.0f} ms, {many['memory']:.0f} MB", True)
    table.print()
    return 1 if table.is_wrong(arguments.strict) else 0
