// The lines of the editor (rich-editor.js): how they stand in lists, quotes and code, and where places of them are in the document. A place is
// { line, index }, the index counting cells (rich-markdown.js).

import { LINE, cellsOf, drawLine, hollow, linesOf, make } from './rich-markdown.js';

export const isShown = cell => cell.text !== hollow;
export const isEmpty = line => !cellsOf(line).some(isShown);
export const isFirstIn = line => line.parentNode.firstElementChild === line;

export function tailAfter(node) {
  const tail = [];
  for (let at = node.nextElementSibling; at; at = at.nextElementSibling) tail.push(at);
  return tail;
}

// ---- Places

export function endOf(root) {
  const line = linesOf(root).at(-1);
  return { line, index: cellsOf(line).length };
}

// The place in a line at a place of the document.
export function placeOf(root, node, offset) {
  const around = (node.nodeType === 1 ? node : node.parentElement).closest(LINE);
  if (around && around !== root && root.contains(around)) {
    const range = document.createRange();
    range.setStart(around, 0);
    range.setEnd(node, offset);
    return { line: around, index: cellsOf(range.cloneContents()).length };
  }
  // Between lines.
  const after = node.childNodes[offset];
  const line = after && linesOf(root).find(one => after.contains(one) || after.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
  return line ? { line, index: 0 } : endOf(root);
}

// Where in the document a place of a line is. Where two texts meet it is in the first: what is typed there is as what stands before it.
export function pointAt({ line, index }) {
  const { FILTER_ACCEPT, FILTER_REJECT, FILTER_SKIP, SHOW_ELEMENT, SHOW_TEXT } = NodeFilter;
  const walker = document.createTreeWalker(line, SHOW_ELEMENT | SHOW_TEXT, node => {
    if (node.parentNode.dataset.mention === '') return FILTER_REJECT;
    return node.nodeType === 3 || node.dataset.mention === '' ? FILTER_ACCEPT : FILTER_SKIP;
  });
  for (let node; (node = walker.nextNode());) {
    const length = node.nodeType === 3 ? node.data.length : 1;
    if (node.nodeType === 3 && index <= length) return [node, index];
    if (index === 0) return [node.parentNode, [...node.parentNode.childNodes].indexOf(node)];
    index -= length;
  }
  return [line, line.firstChild?.nodeName === 'BR' ? 0 : line.childNodes.length];
}

// ---- Lines and what they stand in

// With the boxes that nothing else is in.
export function removeLine(root, line) {
  for (let box = line, around; box !== root && (box === line || !box.firstElementChild); box = around) {
    around = box.parentNode;
    box.remove();
  }
}

export function renameLine(line, tag) {
  const next = drawLine(make(tag), cellsOf(line));
  line.replaceWith(next);
  return next;
}

// The nodes into the box, which stands where the first of them stood.
export function wrapLines(root, nodes, box) {
  nodes[0].before(box);
  const boxes = nodes.map(node => node.parentNode);
  box.append(...nodes);
  for (let around of boxes) while (around !== root && !around.firstElementChild) [around, around = around.parentNode][0].remove();
}

// Lines that are in no list become items of one.
export function makeList(lines, tag) {
  for (const line of lines.filter(one => !one.closest('li'))) {
    const item = make('li'), before = line.previousElementSibling;
    if (before?.matches(tag)) before.append(item); else line.before(make(tag, item));
    item.append(line.matches('div') ? line : renameLine(line, 'div'));
  }
}

// Out of what it is the first line of, or the last.
export function liftLine(root, line) {
  const box = line.parentNode, list = box.parentNode, rest = (box.tagName === 'LI' ? list : box).cloneNode(false);
  if (box === root) return;
  if (box.tagName !== 'LI') {
    rest.append(...tailAfter(line));
    box.after(line, ...rest.firstChild ? [rest] : []);
    if (!box.firstElementChild) box.remove();
    return;
  }
  rest.append(...tailAfter(box));
  if (list.parentNode.tagName === 'LI') {
    if (rest.firstChild) box.append(rest);
    list.parentNode.after(box);
  } else {
    list.after(...box.childNodes, ...rest.firstChild ? [rest] : []);
    box.remove();
  }
  if (!list.firstElementChild) list.remove();
}
