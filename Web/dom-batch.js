// Nodes by number, and the commands of a batch that change them: readBatch (host-protocol.js) calls a method for each.

import { Events } from './events.js';
import { readBatch } from './host-protocol.js';
import { later } from './program.js';
import { changed, remove, removeAttribute, setAttribute } from './spoken.js';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const media = later('media.js', () => import('./media.js'));
const marks = later('marks.js', () => import('./marks.js'));

// `onField`: a field has just been made, or has grown.
export const domService = ({ onField }) => program => {
  const batch = new DOMBatch(program, onField);
  program.node = id => batch.nodes[id];
  return {
    apply: (words, text) => batch.apply(words, text),
    measure(ids, heights) { for (let k = 0; k < ids.length; k++) heights[k] = batch.nodes[ids[k]].getBoundingClientRect().height; },
    scroll_top: id => batch.nodes[id]?.scrollTop ?? 0,
  };
};

class DOMBatch {
  constructor(program, onField) {
    program.root.__n = 1;
    this.nodes = [null, program.root];
    this.atoms = [''];
    this.templates = [];
    this.events = new Events(program);
    this.onField = onField;
  }

  apply(words, text) {
    readBatch(words, text, this);
    changed();
  }

  atom(atom, name) { this.atoms[atom] = name; }

  create(id, tag) {
    const name = this.atoms[tag];
    const node = name.startsWith('svg:') ? document.createElementNS('http://www.w3.org/2000/svg', name.slice(4)) : document.createElement(name);
    node.__n = id;
    this.nodes[id] = node;
  }

  template(template, root, slots) {
    const model = this.nodes[root];
    this.templates[template] = { model, paths: Array.from(slots, slot => slot === 0 ? null : pathTo(this.nodes[slot], model)) };
  }

  clone(template, first) {
    const { model, paths } = this.templates[template], copied = model.cloneNode(true);
    this.nodes[first] = copied;
    copied.__n = first;
    for (let k = 0; k < paths.length; k++) {
      const path = paths[k];
      if (path === null) continue;
      let at = copied;
      for (let j = 0; j < path.length; j++) at = at.childNodes[path[j]];
      this.nodes[first + 1 + k] = at;
      at.__n = first + 1 + k;
    }
  }

  append(parent, child) { this.nodes[parent].appendChild(this.nodes[child]); }

  insert(parent, child, sibling) { this.nodes[parent].insertBefore(this.nodes[child], this.nodes[sibling]); }

  remove(id) { remove(this.nodes[id]); }

  free(first, count) {
    for (let id = first; id < first + count; id++) {
      const node = this.nodes[id];
      this.nodes[id] = undefined;
      if (!node) continue;
      this.events.forget(node);
      if (node.__source) showImage(node, '');
    }
  }

  classes(id, list) {
    const node = this.nodes[id];
    // An SVG element's className is not a text.
    if (node instanceof SVGElement) node.setAttribute('class', this.atoms[list]);
    else node.className = this.atoms[list];
  }

  text(id, text) {
    const node = this.nodes[id], first = node.firstChild;
    if (first !== null && first.nodeType === 3 && first.nextSibling === null) first.nodeValue = text;
    else node.textContent = text;
  }

  attribute(id, name, value) { setAttribute(this.nodes[id], this.atoms[name], value); }

  noAttribute(id, name) { removeAttribute(this.nodes[id], this.atoms[name]); }

  variable(id, name, millionths) { this.nodes[id].style.setProperty(this.atoms[name], millionths / 1e6); }

  style(id, name, value) { this.nodes[id].style.setProperty(this.atoms[name], value); }

  value(id, value) { this.nodes[id].value = value; }

  image(id, source) { showImage(this.nodes[id], source); }

  // What is only seen under the pointer may be hidden again: then what it belongs to has the focus.
  focus(id) {
    const node = this.nodes[id];
    node?.focus();
    if (node?.isConnected && document.activeElement !== node) node.parentElement?.closest('[tabindex]')?.focus();
  }

  listen(id, event, callback) { this.events.listen(this.nodes[id], event, callback); }

  mark(id, words) {
    const node = this.nodes[id];
    marks(({ mark }) => mark(node, words));
  }

  height(id, sixtyFourths) { this.nodes[id].style.height = sixtyFourths < 0 ? '' : sixtyFourths / 64 + 'px'; }

  width(id, sixtyFourths) { this.nodes[id].style.width = sixtyFourths < 0 ? '' : sixtyFourths / 64 + 'px'; }

  translateY(id, sixtyFourths) { this.nodes[id].style.transform = 'translateY(' + sixtyFourths / 64 + 'px)'; }

  scrollTop(id, sixtyFourths) { this.nodes[id].scrollTop = sixtyFourths / 64; }

  fitContent(id, sixtyFourths) {
    const node = this.nodes[id], limit = sixtyFourths / 64;
    // What stands in for it grows by itself.
    if (node.rich) return;
    this.onField(node);
    node.style.height = 'auto';
    const border = node.offsetHeight - node.clientHeight;
    const wanted = node.scrollHeight + border;
    node.style.height = Math.min(wanted, limit) + 'px';
    node.style.overflowY = wanted > limit ? 'auto' : 'hidden';
  }

  caret(id, bytes) {
    const field = this.nodes[id], at = decoder.decode(encoder.encode(field.value).subarray(0, bytes)).length;
    field.setSelectionRange(at, at);
  }
}

function pathTo(node, top) {
  const path = [];
  for (let at = node; at !== top; at = at.parentNode) path.unshift([...at.parentNode.childNodes].indexOf(at));
  return path;
}

function showImage(node, source) { media(({ showImage }) => showImage(node, source)); }
