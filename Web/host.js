// The JavaScript half of the page: a table of nodes, a table of objects, an interpreter of commands, and the services of
// the browser by number. No application logic. The Swift half is Sources/Web/WebHost; both sides share the numbers.
//
// The program is the file named by data-program of the element #app (default app.wasm), beside this one. It needs only
// script-src 'self' 'wasm-unsafe-eval'. In <martlet-messenger> the element has a `frame` (messenger-frame.js).

import { askForNotifications, permission, playSound, showBadge, showNotification, showTitle, withdrawNotification, withdrawOfRoom } from './attention.js';
import { openMedia, openSocket } from './calls.js';
import { locate, record, watch } from './capture.js';
import { canBePushedTo, renewPage, subscribe, unsubscribe } from './errands.js';
import { describe, dropFile, dropFiles, files, findFile, keepFile, openFiles } from './files.js';
import { saveEvent } from './calendar.js';
import { asShown, canShare, download, mediaURL, setMediaAccess, share, showImage } from './media.js';
import { mark } from './marks.js';
import { listenForHold, listenForSwipes } from './gestures.js';
import { tellOnceSettled } from './keys.js';
import { readHead, request } from './network.js';
import { caret, element, modifiers, numbered, pathTo, giveFocus, setLength, setText } from './nodes.js';
import { browserName, isCalm, isDark, isInStrangersPage, listenToPage, notice } from './page.js';
import { openProgram } from './channels.js';
import { changed, remove, removeAttribute, setAttribute } from './spoken.js';
import { applyLook, isOurPage, labels, languageList, loadTexts, locale, moment, pluralForm, settings, texts, word } from './language.js';
import { openStore, readStore, writeStore } from './store.js';
import { giveUp, uploadFile } from './uploads.js';
import './viewer.js';

// A further program in a page has this file anew, under an address of its own: the element that waits for it is its root. So what has
// a state is here (memory, nodes, objects), and what has none is elsewhere.
const root = document.querySelector('.mg-program:not([data-host])') ?? document.getElementById('app') ?? document.body;
root.dataset.host = '';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

let wasm;                  // exports
let i32, u8, f32;          // views of the memory; growing the memory detaches them
let depth = 0;             // calls into the program that are on the stack
let isDead = false;        // a trap happened: the program's state is broken
const waiting = [];        // events that came while the program was running

// ---- Memory and calls

function look() {
  const buffer = wasm.memory.buffer;
  if (u8?.buffer !== buffer) {
    i32 = new Int32Array(buffer);
    u8 = new Uint8Array(buffer);
    f32 = new Float32Array(buffer);
  }
}

function text(p, n) {
  if (n <= 0) return '';
  look();
  return decoder.decode(u8.subarray(p, p + n));
}

function copy(p, n) {
  look();
  return u8.slice(p, p + n);
}

// Writes a text where the program asked for it; the length tells it whether the room was enough.
function give(string, out, capacity) {
  if (string === null || string === undefined) return -1;
  const bytes = encoder.encode(string);
  look();
  if (bytes.length <= capacity) u8.set(bytes, out);
  return bytes.length;
}

// Runs something that enters the program. What the DOM fires meanwhile (blur on removal, focus) waits its turn: the
// program is never entered in the middle of a change.
function enter(run) {
  if (isDead) return 0;
  if (depth > 0) {
    waiting.push(run);
    return 0;
  }
  let reply = 0;
  depth++;
  try {
    reply = run();
  } catch (error) {
    die(error);
  } finally {
    depth--;
  }
  while (waiting.length > 0 && !isDead) enter(waiting.shift());
  return reply;
}

function dispatch(id, code = 0, x = 0, y = 0, bytes = null) {
  return enter(() => {
    if (bytes === null) return wasm.dispatch(id, code, x, y, 0, 0);
    const p = wasm.alloc(bytes.length);
    look();
    u8.set(bytes, p);
    const reply = wasm.dispatch(id, code, x, y, p, bytes.length);
    wasm.dealloc(p);
    return reply;
  });
}

function die(error) {
  isDead = true;
  console.error('The program stopped:', error);
  notice(word('crashed') ?? 'Something went wrong in this page.', word('reload') ?? 'Reload');
}

// ---- Objects

const objects = new Map();         // id -> { stop() }, ids given by the program

function release(id) {
  files.delete(id);
  const object = objects.get(id);
  objects.delete(id);
  object?.stop?.();
}

// ---- Nodes

const atoms = [''];
const nodes = [null, root];
root.__n = 1;
const templates = [];

const sizes = new ResizeObserver(entries => {
  for (const { target, contentRect } of entries) {
    if (target.__resize) dispatch(target.__resize, target.__n, contentRect.width, contentRect.height);
  }
});

function clone({ model, paths }, first) {
  const copied = model.cloneNode(true);
  nodes[first] = copied;
  copied.__n = first;
  for (let k = 0; k < paths.length; k++) {
    const path = paths[k];
    if (path === null) continue;
    let at = copied;
    for (let j = 0; j < path.length; j++) at = at.childNodes[path[j]];
    nodes[first + 1 + k] = at;
    at.__n = first + 1 + k;
  }
}

function forget(first, count) {
  for (let id = first; id < first + count; id++) {
    const node = nodes[id];
    nodes[id] = undefined;
    if (!node) continue;
    if (node.__resize) sizes.unobserve(node);
    if (node.__source) showImage(node, '');
  }
}

// One decode for all texts of a batch; each text in the words is its length in UTF-16 units, in the order of the area.
function apply(p, wordCount, textAt, byteCount) {
  look();
  let i = p >> 2;
  const end = i + wordCount;
  const all = byteCount > 0 ? decoder.decode(u8.subarray(textAt, textAt + byteCount)) : '';
  let at = 0;
  const next = n => { const s = all.substring(at, at + n); at += n; return s; };
  while (i < end) {
    const node = nodes[i32[i + 1]];
    switch (i32[i]) {
      case 1: atoms[i32[i + 1]] = next(i32[i + 2]); i += 3; break;
      case 2: { const e = element(atoms[i32[i + 2]]); e.__n = i32[i + 1]; nodes[i32[i + 1]] = e; i += 3; break; }
      case 3: {
        const model = nodes[i32[i + 2]], count = i32[i + 3], paths = [];
        for (let k = 0; k < count; k++) { const s = nodes[i32[i + 4 + k]]; paths.push(s ? pathTo(s, model) : null); }
        templates[i32[i + 1]] = { model, paths };
        i += 4 + count;
        break;
      }
      case 4: clone(templates[i32[i + 1]], i32[i + 2]); i += 3; break;
      case 5: node.appendChild(nodes[i32[i + 2]]); i += 3; break;
      case 6: node.insertBefore(nodes[i32[i + 2]], nodes[i32[i + 3]]); i += 4; break;
      case 7: remove(node); i += 2; break;
      case 8: forget(i32[i + 1], i32[i + 2]); i += 3; break;
      case 9: {
        // An SVG element's className is not a text.
        if (node instanceof SVGElement) node.setAttribute('class', atoms[i32[i + 2]]);
        else node.className = atoms[i32[i + 2]];
        i += 3;
        break;
      }
      case 10: setText(node, next(i32[i + 2])); i += 3; break;
      case 11: setAttribute(node, atoms[i32[i + 2]], next(i32[i + 3])); i += 4; break;
      case 12: removeAttribute(node, atoms[i32[i + 2]]); i += 3; break;
      case 13: node.style.setProperty(atoms[i32[i + 2]], i32[i + 3] / 1e6); i += 4; break;
      case 14: setLength(node, i32[i + 2], i32[i + 3] / 64); i += 4; break;
      case 15: node.value = next(i32[i + 2]); i += 3; break;
      case 16: showImage(node, next(i32[i + 2])); i += 3; break;
      case 17: giveFocus(node); i += 2; break;
      case 19: node.style.setProperty(atoms[i32[i + 2]], next(i32[i + 3])); i += 4; break;
      case 20: mark(node, next(i32[i + 2])); i += 3; break;
      case 18: listen(node, i32[i + 2], i32[i + 3]); i += 4; break;
      default: throw new Error('unknown command ' + i32[i]);
    }
  }
  changed();
}

function measure(p, count, out) {
  look();
  const from = p >> 2, to = out >> 2;
  for (let k = 0; k < count; k++) f32[to + k] = nodes[i32[from + k]].getBoundingClientRect().height;
}

// ---- Events

// By number of the kind: event type and what it says.
const kinds = [
  ['click', (e, id) => dispatch(id, numbered(e.target), e.clientX, e.clientY)],
  ['input', (e, id) => dispatch(id, numbered(e.target), caret(e.target), 0, encoder.encode(e.target.value ?? ''))],
  ['keydown', (e, id) => dispatch(id, numbered(e.target), modifiers(e), 0, encoder.encode(e.key ?? ''))],
  ['scroll', (e, id) => dispatch(id, numbered(e.target), e.target.scrollTop, e.target.clientHeight)],
  null, null,
  ['focusin', (e, id) => dispatch(id, numbered(e.target))],
  ['focusout', (e, id) => dispatch(id, numbered(e.target), caret(e.target))],
  ['change', ({ target }, id) => {
    tellOnceSettled(target, () => dispatch(id, numbered(target), target.checked ? 1 : 0, 0, encoder.encode(target.value ?? '')));
  }],
  ['submit', (e, id) => { dispatch(id, numbered(e.target)); return 1; }],
  ['contextmenu', (e, id) => dispatch(id, numbered(e.target), e.clientX, e.clientY)],
  ['mouseover', (e, id) => dispatch(id, numbered(e.target))],
  null, null,
  ['aside', (e, id) => dispatch(id, numbered(e.target))],
];

function listen(node, kind, id) {
  if (kind === 4) {
    node.__resize = id;
    sizes.observe(node);
  } else if (kind === 5) {
    listenForFiles(node, id);
  } else if (kind === 12) {
    listenForSwipes(node, row => dispatch(id, numbered(row)));
  } else if (kind === 13) {
    listenForHold(node, phase => dispatch(id, node.__n, phase));
  } else {
    const [type, tell] = kinds[kind];
    node.addEventListener(type, e => { if (tell(e, id) === 1) e.preventDefault(); }, { passive: type === 'scroll' });
  }
}

function listenForFiles(node, id) {
  const take = (e, list) => {
    if (!list?.length) return;
    e.preventDefault();
    e.stopPropagation();
    tellFiles(id, node.__n, [...list]);
  };
  const over = isOver => e => {
    if (!e.dataTransfer?.types.includes('Files')) return;
    e.preventDefault();
    node.classList.toggle('mg-drop', isOver);
  };
  // Cells of a table and the like come as text with a picture of it: the text is meant.
  node.addEventListener('paste', e => { if (!e.clipboardData?.types.includes('text/plain')) take(e, e.clipboardData?.files); });
  node.addEventListener('dragover', over(true));
  node.addEventListener('dragleave', over(false));
  node.addEventListener('drop', e => { node.classList.remove('mg-drop'); take(e, e.dataTransfer?.files); });
}

async function tellFiles(id, code, list, x = 0) {
  const lines = await describe(list);
  dispatch(id, code, x, 0, encoder.encode(lines));
}

// ---- Sound

async function play(id, source) {
  const audio = new Audio();
  let url = '';
  const stop = () => { audio.pause(); if (url.startsWith('blob:')) URL.revokeObjectURL(url); };
  objects.set(id, { audio, stop });
  const tell = () => { if (objects.has(id)) dispatch(id, audio.error ? 2 : audio.paused ? 0 : 1, audio.currentTime * 1000, (Number.isFinite(audio.duration) ? audio.duration : 0) * 1000); };
  for (const type of ['timeupdate', 'play', 'pause', 'ended', 'loadedmetadata', 'error']) audio.addEventListener(type, tell);
  try {
    url = await mediaURL(source, part => { if (objects.has(id)) dispatch(id, 3, part); });
    if (!objects.has(id)) { stop(); return; }
    audio.src = url;
    await audio.play();
  } catch {
    if (objects.has(id)) dispatch(id, 2);
  }
}

// ---- Network

function fetchBytes(id, head, body) {
  objects.set(id, request(head, body, (status, headCount, bytes) => {
    objects.delete(id);
    dispatch(id, status, headCount, 0, bytes);
  }));
}

function sendFile(id, file, head) {
  objects.set(id, uploadFile(head, file, part => dispatch(id, -1, part), (status, headCount, bytes) => {
    if (objects.delete(id)) dispatch(id, status, headCount, 0, bytes);
  }));
}

// ---- Page

const pageTexts = [() => location.hash.slice(1), () => location.origin, () => locale, () => location.search.slice(1), browserName, () => texts, languageList,
  () => root.frame?.address ?? location.origin + location.pathname, () => root.frame?.wishes,
  () => sessionItem('getItem')];

function goTo(go, url) {
  if (!/^https?:/i.test(url)) return;
  try {
    go(url);
  } catch {
    // What a homeserver calls an address need not be one.
  }
}

const pageActions = [
  // The history around a frame is its page's.
  (replacing, s) => {
    if (root.frame) return;
    history[replacing ? 'replaceState' : 'pushState'](null, '', s === '' ? location.pathname + location.search : '#' + s);
    withdrawOfRoom();
  },
  (_, s) => showTitle(s),
  count => root.frame || showBadge(count),
  (_, s) => goTo(url => open(url, '_blank', 'noopener,noreferrer'), s),
  () => location.reload(),
  (_, s) => { saveEvent(s); },
  () => { applyLook(); renewPage(); },
  () => playSound(),
  () => history.replaceState(null, '', location.pathname + location.hash),
  (_, s) => goTo(root.frame?.leave ?? (url => location.assign(url)), s),
  (_, s) => withdrawNotification(s),
  (handle, s) => { keepFile(handle, s); },
  (_, s) => { giveUp(s, dropFile(s)); },
  () => { dropFiles(); },
  async (id, s) => { const file = await findFile(s); tellFiles(id, 0, file ? [file] : []); },
  (id, s) => { subscribe(s, (code, lines) => dispatch(id, code, 0, 0, encoder.encode(lines))); },
  () => { unsubscribe(); },
  (_, s) => { sessionItem('setItem', s); },
];

// Browsers throw where they let the page keep nothing.
function sessionItem(act, ...word) {
  try { return sessionStorage[act]('martlet-word', ...word); } catch { return null; }
}

function pickFiles(id, accept, isMultiple) {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = accept;
  input.multiple = isMultiple;
  input.addEventListener('change', () => tellFiles(id, 0, [...input.files]));
  input.addEventListener('cancel', () => dispatch(id));
  input.click();
}

async function copyText(id, string) {
  try { await navigator.clipboard.writeText(string); dispatch(id, 1); } catch { setTimeout(() => dispatch(id, 0)); }
}

// ---- Tabs

function openChannel(id, name) {
  const channel = name === '' ? root.frame : name.startsWith('#') ? openProgram(name.slice(1)) : new BroadcastChannel(name);
  channel.onmessage = e => dispatch(id, 0, 0, 0, e.data);
  objects.set(id, { channel, stop: () => channel.close?.() });
}

function holdLock(id, name) {
  if (!navigator.locks) { setTimeout(() => dispatch(id)); return; }
  const abort = new AbortController();
  let free;
  objects.set(id, { stop: () => { abort.abort(); free?.(); } });
  navigator.locks.request(name, { signal: abort.signal }, () => new Promise(done => {
    free = done;
    if (objects.has(id)) dispatch(id); else done();
  })).catch(() => {});
}

// ---- What the program may call

const host = {
  apply, measure, release,
  scroll_top: node => nodes[node]?.scrollTop ?? 0,
  log: (p, n) => console.log(text(p, n)),
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  random: (p, n) => { look(); for (let k = 0; k < n; k += 65536) crypto.getRandomValues(u8.subarray(p + k, p + Math.min(n, k + 65536))); },
  // Negative: at the next frame, or soon where the page shows none.
  timer: (id, ms) => {
    const stop = () => { clearTimeout(timer); cancelAnimationFrame(frame); };
    const done = () => { stop(); objects.delete(id); dispatch(id); };
    const timer = setTimeout(done, ms < 0 ? 100 : ms);
    const frame = ms < 0 ? requestAnimationFrame(done) : 0;
    objects.set(id, { stop });
  },
  fetch: (id, p, n, body, count) => { fetchBytes(id, readHead(text(p, n)), count > 0 ? copy(body, count) : undefined); },
  upload: (id, file, p, n) => sendFile(id, files.get(file), readHead(text(p, n))),
  play: (id, p, n) => { play(id, text(p, n)); },
  player_do: (id, action, value) => {
    const audio = objects.get(id)?.audio;
    if (!audio) return;
    if (action === 0) audio.play().catch(() => {});
    else if (action === 1) audio.pause();
    else if (action === 2) audio.currentTime = value * (Number.isFinite(audio.duration) ? audio.duration : 0);
    else audio.playbackRate = value;
  },
  locate: id => locate((code, place) => dispatch(id, code, 0, 0, encoder.encode(place))),
  record: (id, view) => objects.set(id, (view === 0 ? record : watch)((code, x, y, file) => {
    if (file) tellFiles(id, code, [file], x); else if (objects.has(id)) dispatch(id, code, x, y);
  }, () => nodes[view])),
  media_open: id => objects.set(id, openMedia(event => dispatch(id, 0, 0, 0, encoder.encode(JSON.stringify(event))))),
  media_do: (id, p, n) => { objects.get(id)?.act(JSON.parse(text(p, n))); },
  media_show: (id, node, p, n) => { if (nodes[node]) objects.get(id)?.show(nodes[node], text(p, n)); },
  socket_open: (id, p, n) => objects.set(id, openSocket(text(p, n), (code, said = '') => {
    if (objects.has(id)) dispatch(id, code, 0, 0, encoder.encode(said));
  })),
  socket_send: (id, p, n) => objects.get(id)?.say(text(p, n)),
  record_finish: id => objects.get(id)?.finish(),
  download: (id, p, n) => {
    const [shares, url, name] = text(p, n).split('\0'), abort = new AbortController();
    objects.set(id, { stop: () => abort.abort() });
    // Of what was stopped nothing more is told.
    const tell = (code, part) => { if (objects.has(id)) dispatch(id, code, part); };
    (shares === '' ? download : share)(url, name, abort.signal, part => tell(-1, part)).then(isDone => {
      tell(isDone ? 1 : 0);
      objects.delete(id);
    });
  },
  image_access: (p, n) => setMediaAccess(...text(p, n).split('\0')),
  object_url: (file, out, capacity) => give(files.has(file) ? URL.createObjectURL(asShown(files.get(file))) : null, out, capacity),
  revoke_url: (p, n) => URL.revokeObjectURL(text(p, n)),
  pick_files: (id, p, n, isMultiple) => pickFiles(id, text(p, n), isMultiple !== 0),
  store_open: (id, p, n) => {
    const name = text(p, n);
    openFiles(name);
    openStore(name, database => {
      if (database) objects.set(id, { database, stop: () => database.close?.() });
      dispatch(id, database ? 1 : 0);
    });
  },
  store_read: (store, id, p, n) => readStore(objects.get(store)?.database, copy(p, n), bytes => dispatch(id, bytes ? 1 : 0, 0, 0, bytes)),
  store_write: (store, id, p, n) => writeStore(objects.get(store)?.database, copy(p, n), isStored => dispatch(id, isStored ? 1 : 0)),
  setting_get: (p, n, out, capacity) => { try { return give(settings().getItem(text(p, n)), out, capacity); } catch { return -1; } },
  setting_set: (p, n, value, count) => {
    try {
      if (count < 0) settings().removeItem(text(p, n)); else settings().setItem(text(p, n), text(value, count));
    } catch {
      // Private mode or full: the setting is not kept, as documented by the browser.
    }
  },
  page_state: () => (navigator.onLine ? 1 : 0) | (document.visibilityState === 'visible' ? 2 : 0) | (document.hasFocus() ? 4 : 0)
    | (isDark() ? 8 : 0) | (isCalm() ? 16 : 0) | (document.documentElement.dir === 'rtl' ? 32 : 0)
    | (globalThis.RTCPeerConnection && navigator.mediaDevices ? 64 : 0) | (!root.frame && canBePushedTo() ? 128 : 0) | (canShare() ? 256 : 0),
  page_listen: id => listenToPage(change => dispatch(id, change)),
  page_text: (kind, out, capacity) => give(pageTexts[kind](), out, capacity),
  page_do: (action, value, p, n) => { pageActions[action](value, text(p, n)); },
  clipboard_write: (id, p, n) => { copyText(id, text(p, n)); },
  notification_ask: id => {
    if (id !== 0) askForNotifications().then(state => dispatch(id, state));
    return permission();
  },
  notification_show: (id, p, n) => showNotification(() => dispatch(id), ...text(p, n).split('\0')),
  channel_open: (id, p, n) => openChannel(id, text(p, n)),
  channel_post: (id, p, n) => objects.get(id)?.channel.postMessage(copy(p, n)),
  lock: (id, p, n) => holdLock(id, text(p, n)),
  utc_offset: ms => -moment(ms).getTimezoneOffset(),
  format: (kind, value, out, capacity) => give(labels[kind](value), out, capacity),
  plural_form: pluralForm,
};

async function load(url) {
  const imports = { host };
  const answer = await fetch(url);
  if (!answer.ok) throw new Error('status ' + answer.status);
  if (answer.headers.get('content-type')?.startsWith('application/wasm')) return WebAssembly.instantiateStreaming(answer, imports);
  return WebAssembly.instantiate(await answer.arrayBuffer(), imports);
}

async function start() {
  if (isOurPage && !root.frame && isInStrangersPage()) {
    await loadTexts().catch(() => {});
    notice(word('framed') ?? 'This page does not open inside another.', word('openAlone') ?? 'Open', () => open(location.href, '_blank', 'noopener'));
    return;
  }
  if (typeof WebAssembly !== 'object') {
    notice('This page needs a newer browser: one with WebAssembly.');
    return;
  }
  try {
    const [{ instance }] = await Promise.all([load(new URL(root.dataset.program ?? 'app.wasm', import.meta.url)), loadTexts()]);
    wasm = instance.exports;
  } catch (error) {
    console.error(error);
    notice(word('unreachable') ?? 'The page could not be loaded. Check your connection.', word('reload') ?? 'Reload');
    return;
  }
  enter(() => { wasm.__wasm_call_ctors(); wasm.start(); return 0; });
}

start();
