// Live figures of the page, for anyone who wants to know why it is slow, and a report of them that names nobody and quotes nothing.
// Loaded when the setting asks for it (host.js). What is measured:
// - frames a second, and those that came late: of 60 a second, or of what the screen makes;
// - the longest time in which the page could not answer, and how far things moved by themselves (PerformanceObserver);
// - the time from a sync's answer to the frame after it;
// - what waits: requests under way, messages in the store's outbox, rows in the document.

import { traffic } from './network.js';
import { word } from './language.js';
import { countEntries } from './store.js';

const keptSeconds = 120;
const shownEveryMilliseconds = 500;

const seconds = [];             // the last ones, as the report has them
let current = null;             // the second that is being measured
let totalShift = 0, totalLate = 0, totalFrames = 0;
let isOn = false, box = null, lines = null, timer = 0;
const slowest = 1000 / 60;
let interval = slowest;         // between frames that are not late
let intervals = [];             // of this second
let last = 0;

const begin = now => ({ from: now, frames: 0, late: 0, longestTask: 0, shift: 0, syncs: 0, syncToFrame: 0 });

function frame(now) {
  if (!isOn) return;
  requestAnimationFrame(frame);
  // Nobody is shown frames while the page is hidden.
  if (document.visibilityState !== 'visible') { last = 0; current = begin(now); return; }
  current ??= begin(now);
  if (last > 0) {
    const passed = now - last;
    intervals.push(passed);
    const late = Math.max(0, Math.round(passed / interval) - 1);
    current.late += late;
    totalLate += late;
  }
  last = now;
  current.frames++;
  totalFrames++;
  for (const arrived of traffic.answeredSyncs.splice(0)) {
    current.syncs++;
    current.syncToFrame = Math.max(current.syncToFrame, performance.now() - arrived);
  }
  if (now - current.from < 1000) return;
  current.framesPerSecond = current.frames * 1000 / (now - current.from);
  // Screens of more than 60 frames a second tell by most of their frames.
  interval = Math.min(slowest, Math.max(4, intervals.sort((a, b) => a - b)[intervals.length >> 1]));
  intervals = [];
  seconds.push(current);
  if (seconds.length > keptSeconds) seconds.shift();
  current = begin(now);
}

const observer = new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    if (entry.entryType === 'longtask') {
      if (current) current.longestTask = Math.max(current.longestTask, entry.duration);
    } else if (!entry.hadRecentInput) {
      totalShift += entry.value;
      if (current) current.shift += entry.value;
    }
  }
});

const round = (number, digits = 0) => Number(number.toFixed(digits));

async function read() {
  const past = seconds.at(-1);
  return {
    framesPerSecond: past ? round(past.framesPerSecond, 1) : null,
    framesLate: totalLate,
    framesOf: totalFrames,
    longestTaskMilliseconds: round(Math.max(0, ...seconds.slice(-10).map(second => second.longestTask))),
    layoutShift: round(totalShift, 4),
    syncToFrameMilliseconds: round(Math.max(0, ...seconds.slice(-10).map(second => second.syncToFrame))),
    requestsUnderWay: traffic.underWay,
    messagesUnsent: await countEntries('a/outbox/'),
    rowsInDocument: document.querySelectorAll('.mg-row').length,
    elementsInDocument: document.getElementsByTagName('*').length,
    memoryMegabytes: performance.memory ? round(performance.memory.usedJSHeapSize / 1e6, 1) : null,
  };
}

// Numbers, and what the browser is: nothing of an account, a room or a message.
async function report() {
  return JSON.stringify({
    figures: await read(),
    seconds: seconds.map(({ from, frames, late, longestTask, shift, syncs, syncToFrame }) =>
      ({ at: round(from), frames, late, longestTask: round(longestTask), shift: round(shift, 4), syncs, syncToFrame: round(syncToFrame) })),
    screen: { width: innerWidth, height: innerHeight, pixelRatio: devicePixelRatio },
    browser: navigator.userAgent,
    cores: navigator.hardwareConcurrency,
    page: round(performance.now()),
  }, null, 1);
}

const shownFigures = [
  ['figureFrames', figures => `${figures.framesPerSecond ?? '–'}`],
  ['figureLate', figures => `${figures.framesLate} / ${figures.framesOf}`],
  ['figureTask', figures => `${figures.longestTaskMilliseconds} ms`],
  ['figureShift', figures => `${figures.layoutShift}`],
  ['figureSync', figures => `${figures.syncToFrameMilliseconds} ms`],
  ['figureRequests', figures => `${figures.requestsUnderWay}`],
  ['figureUnsent', figures => `${figures.messagesUnsent ?? '–'}`],
  ['figureRows', figures => `${figures.rowsInDocument} / ${figures.elementsInDocument}`],
];

function make(tag, parent, text = '', className = '') {
  const node = document.createElement(tag);
  node.textContent = text;
  if (className) node.className = className;
  parent.append(node);
  return node;
}

async function show() {
  const figures = await read();
  shownFigures.forEach(([, value], index) => { if (lines) lines[index].textContent = value(figures); });
}

function open() {
  box = make('section', document.body, '', 'ma-figures');
  box.setAttribute('aria-label', word('figures'));
  const list = make('dl', box);
  lines = shownFigures.map(([name]) => {
    make('dt', list, word(name));
    return make('dd', list, '–');
  });
  const copy = make('button', box, word('copyFigures'), 'ma-button ma-small');
  copy.type = 'button';
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(await report());
      copy.textContent = word('copied');
    } catch {
      copy.textContent = word('notCopied');
    }
  });
  timer = setInterval(show, shownEveryMilliseconds);
}

export function showFigures(isWanted) {
  if (isWanted === isOn) return;
  isOn = isWanted;
  traffic.isWatched = isWanted;
  if (isOn) {
    [last, current] = [0, null];
    for (const type of ['longtask', 'layout-shift']) if (PerformanceObserver.supportedEntryTypes.includes(type)) observer.observe({ type });
    open();
    requestAnimationFrame(frame);
  } else {
    observer.disconnect();
    clearInterval(timer);
    box.remove();
    box = lines = null;
  }
}
