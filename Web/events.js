// Events that a program listens to: what the DOM fires, by the names of host-protocol.txt, and what is told of it.

import { eventNames } from './host-protocol.js';
import { later } from './program.js';

const encoder = new TextEncoder();
const fileService = later('file-service.js', () => import('./file-service.js'));
const gestures = later('gestures.js', () => import('./gestures.js'));

export class Events {
  #program;
  #sizes;

  constructor(program) {
    this.#program = program;
    this.#sizes = new ResizeObserver(entries => {
      for (const { target, contentRect } of entries) {
        if (target.__resize) program.dispatch(target.__resize, target.__n, contentRect.width, contentRect.height);
      }
    });
  }

  // `number` is that of the kind in host-protocol.txt.
  listen(node, number, id) {
    const name = eventNames[number], program = this.#program;
    if (name in special) {
      special[name](program, node, id, this.#sizes);
      return;
    }
    const [type, tell] = plain[name];
    node.addEventListener(type, e => { if (tell(program, id, e) === 1) e.preventDefault(); }, { passive: type === 'scroll' });
  }

  forget(node) { if (node.__resize) this.#sizes.unobserve(node); }
}

// The innermost element with a number.
function numbered(target) {
  let node = target;
  while (node && node.__n === undefined) node = node.parentNode;
  return node?.__n ?? 0;
}

function modifiers(event) {
  return (event.shiftKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.altKey ? 4 : 0) | (event.metaKey ? 8 : 0)
    | (event.isComposing || event.keyCode === 229 ? 16 : 0);
}

// Bytes of a field's text before its caret.
function caret(field) {
  let at = null;
  try { at = field.selectionStart; } catch { /* Not a field of text. */ }
  return at === null || at === undefined ? 0 : encoder.encode(field.value.slice(0, at)).length;
}

const tellPlace = (program, id, e) => program.dispatch(id, numbered(e.target));
const tellPointer = (program, id, e) => program.dispatch(id, numbered(e.target), e.clientX, e.clientY);

// The DOM's event, and what it tells; 1 keeps the browser from its own doing.
const plain = {
  click: ['click', (program, id, e) => program.dispatch(id, numbered(e.target), e.clientX, e.clientY, e.shiftKey ? 'Shift' : null)],
  input: ['input', (program, id, e) => program.dispatch(id, numbered(e.target), caret(e.target), 0, e.target.value ?? '')],
  keyDown: ['keydown', (program, id, e) => program.dispatch(id, numbered(e.target), modifiers(e), 0, e.key ?? '')],
  scroll: ['scroll', (program, id, e) => program.dispatch(id, numbered(e.target), e.target.scrollTop, e.target.clientHeight)],
  focus: ['focusin', tellPlace],
  blur: ['focusout', (program, id, e) => program.dispatch(id, numbered(e.target), caret(e.target))],
  change: ['change', (program, id, { target }) => {
    tellOnceSettled(target, () => program.dispatch(id, numbered(target), target.checked ? 1 : 0, 0, target.value ?? ''));
  }],
  submit: ['submit', (program, id, e) => {
    tellPlace(program, id, e);
    return 1;
  }],
  contextMenu: ['contextmenu', tellPointer],
  pointerOver: ['mouseover', tellPlace],
  aside: ['aside', tellPlace],
};

// What is no single event of the DOM.
const special = {
  resize(program, node, id, sizes) {
    node.__resize = id;
    sizes.observe(node);
  },
  files: listenForFiles,
  swipe: (program, node, id) => gestures(({ listenForSwipes }) => listenForSwipes(node, row => program.dispatch(id, numbered(row)))),
  reorder: (program, node, id) => gestures(({ listenForReorder }) => {
    listenForReorder(node, (child, index) => program.dispatch(id, child.__n, index));
  }),
  drag: (program, node, id) => gestures(({ listenForDrag }) => listenForDrag(node, (phase, pixels) => program.dispatch(id, node.__n, phase, pixels))),
  hold: (program, node, id) => gestures(({ listenForHold }) => listenForHold(node, phase => program.dispatch(id, node.__n, phase))),
};

function listenForFiles(program, node, id) {
  const take = (e, list) => {
    if (!list?.length) return;
    e.preventDefault();
    e.stopPropagation();
    const files = [...list];
    fileService(({ tellFiles }) => tellFiles(program, id, node.__n, files));
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

// ---- Lists of options

// A closed list of options tells of each that arrows or letters come by. What counts is where they end: a room would be open to all for a moment
// on the way, and what is told may be made anew under the next letter.
const settleMilliseconds = 500;
let isByKeys = false, unsettled = null;

function settle() {
  clearTimeout(unsettled?.timer);
  const told = unsettled?.tell;
  unsettled = null;
  told?.();
}

function tellOnceSettled(field, tell) {
  if (unsettled?.field === field) clearTimeout(unsettled.timer);
  else settle();
  unsettled = { field, tell, timer: setTimeout(settle, settleMilliseconds) };
  if (!isByKeys || field.tagName !== 'SELECT') settle();
}

addEventListener('keydown', () => { isByKeys = true; }, true);
addEventListener('pointerdown', () => { isByKeys = false; }, true);
addEventListener('focusout', settle);
