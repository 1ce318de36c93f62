// What others have made, pasted or let fall into the editor (rich-editor.js): a tree of the kinds that there are there (rich-markdown.js). It is
// read in a document that runs and fetches nothing; all elements are made anew, and only texts and addresses are taken.

import { asCells, cellsIn, cellsOf, drawLine, hollow, make, nameIn, skipped } from './rich-markdown.js';

const inline = 'a, abbr, b, strong, i, em, del, s, strike, code, tt, kbd, samp, span, u, font, small, big, sub, sup, mark, cite, q, label, time, img, ins, var';

const blocks = 'address, article, blockquote, div, dl, dt, dd, h1, h2, h3, h4, h5, h6, hr, li, ol, p, pre, section, table, tr, ul';

// Of each style and handler, which are never used, the browser would complain as soon as it read them.
const quiet = html => html.replace(/<(\/?)style\b/gi, '<$1template').replace(/<[a-z][^<>]*>/gi, tag => tag.replace(/\s(on\w+|style)(?=\s*=)/gi, ' data-$1'));

// What is longer is no message, and would take long to read.
export const isReadable = html => html !== '' && html.length <= 1 << 20;

export function adoptHTML(html) {
  const { body } = new DOMParser().parseFromString(quiet(html), 'text/html');
  // Only the address of a link says which person it mentions: the pasted page may have put any text there, or none.
  for (const link of body.querySelectorAll('a')) {
    const [, id] = personIn.exec(link.getAttribute('href') ?? '') ?? [];
    if (!id) continue;
    const href = 'https://matrix.to/#/%40' + id, name = link.textContent.trim() === '' ? '' : nameIn(href);
    link.setAttribute('href', href);
    if (name === '') link.remove(); else link.textContent = name;
  }
  return adopt(body);
}

const personIn = /^(?:https?:\/\/(?:www\.)?matrix\.to\/#\/(?:@|%40)|matrix:u(?:ser)?\/)([^/?#]+)/i;

// A mention is one cell, whatever spaces the name has.
const isBlank = cell => cell.text.length === 1 && /\s/.test(cell.text);

// `isExact` where it is the editor's own, in which each space counts.
export function adopt(source, isExact = false) {
  const root = make('div');
  let open = null;
  const end = () => {
    const cells = open && !isExact ? cellsOf(open) : [];
    if (cells.at(-1)?.text === ' ') drawLine(open, cells.slice(0, -1));
    open = null;
  };
  const add = (box, cells) => {
    const own = open?.parentNode === box ? cellsOf(open).filter(cell => isExact || cell.text !== hollow) : null;
    open = own ? drawLine(open, [...own, ...cells]) : box.appendChild(drawLine(make('div'), cells));
  };
  const fill = (box, from) => {
    for (const node of from.childNodes) {
      const tag = node.nodeName;
      if (node.nodeType === 3 || node.nodeType === 1 && node.matches(inline) && !node.querySelector('p, div, ul, ol, pre, blockquote')) {
        // Spaces say nothing but that there are some, and at the beginning of a line not even that.
        const isKept = (cell, index, all) => isExact || !isBlank(cell) || (index > 0 ? !isBlank(all[index - 1]) : open?.parentNode === box);
        const cells = cellsIn(node).filter(isKept).map(cell => isExact || !isBlank(cell) ? cell : { ...cell, text: ' ' });
        if (cells.length > 0) add(box, cells);
      } else if (node.nodeType !== 1 || node.matches(skipped)) continue;
      else if (tag === 'BR') {
        if (open?.parentNode !== box) add(box, []);
        if (node.nextSibling || isExact && from === source) end();
      } else if (/^(UL|OL|BLOCKQUOTE|PRE|LI|H[1-6]|HR)$/.test(tag)) {
        end();
        adoptBox(box, node, tag, fill);
        end();
      } else {
        end();
        // Paragraphs stand apart.
        if (tag === 'P' && box.lastElementChild?.matches('div')) add(box, []);
        end();
        fill(box, node);
        end();
      }
    }
  };
  fill(root, source);
  end();
  if (!root.firstChild) root.append(drawLine(make('div'), []));
  return root;
}

// Code whose lines end by themselves, or are elements, as pages with numbered lines have them.
function codeIn(node) {
  let text = '';
  const begin = () => { if (text !== '' && !text.endsWith('\n')) text += '\n'; };
  const read = from => {
    for (const child of from.childNodes) {
      if (child.nodeType === 3) text += child.data;
      else if (child.nodeName === 'BR') text += '\n';
      else if (child.nodeType === 1 && !child.matches(skipped)) {
        const isBlock = child.matches(blocks);
        if (isBlock) begin();
        read(child);
        if (isBlock) begin();
      }
    }
  };
  read(node);
  return text;
}

function adoptBox(box, node, tag, fill) {
  const made = make(tag.toLowerCase());
  if (/^H/.test(tag)) {
    box.append(tag === 'HR' ? made : drawLine(made, cellsOf(node)));
    return;
  }
  if (tag === 'PRE') {
    for (const line of codeIn(node).replace(/\n$/, '').split('\n')) made.append(drawLine(make('div'), asCells(line)));
  } else if (tag === 'LI' && !/^[UO]L$/.test(box.tagName)) {
    fill(box, node);
    return;
  } else fill(made, node);
  if (tag === 'OL' && node.start !== 1) made.start = node.start;
  // Of a list only its items are taken.
  for (const child of /^[UO]L$/.test(tag) ? [...made.children] : []) if (child.tagName !== 'LI') child.replaceWith(make('li', child.cloneNode(true)));
  if (tag === 'LI' && !made.firstElementChild) made.append(drawLine(make('div'), []));
  if (made.firstElementChild) box.append(made);
}
