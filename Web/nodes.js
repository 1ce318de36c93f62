// What is done to single nodes, and what their events say. It has no state: the table of nodes is each program's own (host.js).

import { followRich } from './language.js';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function element(tag) {
  return tag.startsWith('svg:')
    ? document.createElementNS('http://www.w3.org/2000/svg', tag.slice(4)) : document.createElement(tag);
}

export function pathTo(node, top) {
  const path = [];
  for (let at = node; at !== top; at = at.parentNode) path.unshift([...at.parentNode.childNodes].indexOf(at));
  return path;
}

export function setText(node, string) {
  const first = node.firstChild;
  if (first !== null && first.nodeType === 3 && first.nextSibling === null) first.nodeValue = string;
  else node.textContent = string;
}

// What is only seen under the pointer may be hidden again: then what it belongs to has it.
export function giveFocus(node) {
  node?.focus();
  if (node?.isConnected && document.activeElement !== node) node.parentElement?.closest('[tabindex]')?.focus();
}

export function setLength(node, which, value) {
  switch (which) {
    case 0: node.style.height = value < 0 ? '' : value + 'px'; break;
    case 1: node.style.transform = 'translateY(' + value + 'px)'; break;
    case 2: node.scrollTop = value; break;
    case 3: node.style.width = value < 0 ? '' : value + 'px'; break;
    case 4: fit(node, value); break;
    case 5: setCaret(node, value); break;
  }
}

function fit(node, limit) {
  // What stands in for it grows by itself.
  if (node.rich) return;
  followRich(node);
  node.style.height = 'auto';
  const border = node.offsetHeight - node.clientHeight;
  const wanted = node.scrollHeight + border;
  node.style.height = Math.min(wanted, limit) + 'px';
  node.style.overflowY = wanted > limit ? 'auto' : 'hidden';
}

// ---- Events

export function numbered(target) {
  let node = target;
  while (node && node.__n === undefined) node = node.parentNode;
  return node?.__n ?? 0;
}

export function modifiers(event) {
  return (event.shiftKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.altKey ? 4 : 0) | (event.metaKey ? 8 : 0)
    | (event.isComposing || event.keyCode === 229 ? 16 : 0);
}

// Bytes of a field's text before its caret.
export function caret(field) {
  let at = null;
  try { at = field.selectionStart; } catch { /* Not a field of text. */ }
  return at === null || at === undefined ? 0 : encoder.encode(field.value.slice(0, at)).length;
}

function setCaret(field, bytes) {
  const at = decoder.decode(encoder.encode(field.value).subarray(0, bytes)).length;
  field.setSelectionRange(at, at);
}
