// What is written as it will look, and the same as Markdown. The Markdown is that of the program (Sources/Portable/EventContent/Formatting), which
// makes of it what is sent; this file follows its rules, so that what one sees is what is sent.
//
// The document is a tree of a few elements: lines (`div`, `h1` to `h6`, `hr`) stand in the root or in `blockquote`, `li` of `ul` and `ol`, `pre`.
// Each line is one line of Markdown. Within a line each UTF-16 unit is a cell { text, marks, href }; a mention is a single one.

export const MARK = { strong: 1, em: 2, del: 4, spoiler: 8, code: 16 };
export const LINE = 'div, h1, h2, h3, h4, h5, h6, hr';
// Holds a place for the caret and is never sent.
export const hollow = '\u200b';
const nestingLimit = 16;
// What others have that says nothing.
export const skipped = 'script, style, template, noscript, head, title, svg, math, iframe, object, embed, select, textarea, button, input, audio, video, canvas';

const markOfTag = { STRONG: 1, B: 1, EM: 2, I: 2, DEL: 4, S: 4, STRIKE: 4, CODE: 16, TT: 16, KBD: 16, SAMP: 16 };
export const isAllowed = href => /^(https?|ftp|mailto|magnet|matrix):/i.test(href);
const plainTarget = /^(?:[^\s()<>]|\([^\s()<>]*\))+$/;
const isMention = href => /^https:\/\/matrix\.to\/#\/(@|%40)[^/?]+$/i.test(href);

// What such a link shows: words that are to be seen, else the person's own name, as there is nothing else that tells of it.
export function nameIn(href, words = '') {
  const shown = words.replaceAll(hollow, '').replace(/\s+/g, ' ').trim();
  if (shown !== '') return shown;
  try {
    return decodeURIComponent(href.slice(href.indexOf('#') + 2)).split(':')[0].replace(/\s+/g, ' ');
  } catch {
    return '';
  }
}

// A name as the words of a link: a sign in it would end the link, or be taken for a mark.
export function labelOf(name) {
  const label = name.replace(/[[\]\\`<]/g, '\\$&');
  return readCells([{ text: label, at: 0 }]).map(cell => cell.text).join('') === name ? label : name.replace(/[[\]\\`<*_~|]/g, '\\$&');
}

// ---- Elements

export function make(tag, ...children) {
  const element = document.createElement(tag);
  // Lines go the way of their own words (room.css); bullets stand where the first of those begins.
  if (element.matches('ul, ol, blockquote')) element.dir = 'auto';
  element.append(...children);
  return element;
}

export function drawLine(line, cells) {
  line.replaceChildren();
  for (let from = 0, to; from < cells.length; from = to) {
    const { marks, href, text } = cells[from];
    for (to = from + 1; to < cells.length && cells[to].marks === marks && cells[to].href === href && !isMention(href ?? ''); to++);
    const words = cells.slice(from, to).map(cell => cell.text).join('');
    let node = document.createTextNode(words);
    if (marks & MARK.code) node = make('code', node);
    if (marks & MARK.spoiler) {
      node = make('span', node);
      node.dataset.spoiler = '';
    }
    if (marks & MARK.del) node = make('del', node);
    if (marks & MARK.em) node = make('em', node);
    if (marks & MARK.strong) node = make('strong', node);
    if (href) {
      node = make('a', node);
      node.setAttribute('href', href);
      if (isMention(href)) {
        node = make('a', text);
        node.setAttribute('href', href);
        node.dataset.mention = '';
        node.contentEditable = 'false';
      }
    }
    line.append(node);
  }
  // There has to be a text for the caret to stand in.
  if (cells.length === 0) line.append(make('br'));
  else if (line.lastChild.dataset?.mention === '') line.append(hollow);
  return line;
}

// Returns the content of a node from any source: only its text, marks and addresses.
export const cellsOf = (node, marks = 0, href = undefined) => [...node.childNodes].flatMap(child => cellsIn(child, marks, href));

export function cellsIn(node, marks = 0, href = undefined) {
  if (node.nodeType === 3) return node.data.replaceAll('\n', ' ').split('').map(text => ({ text, marks, href }));
  if (node.nodeType !== 1 || node.matches(skipped)) return [];
  const isPlain = /font-weight: *(normal|400)/.test(node.dataset.style ?? '');
  const own = isPlain ? 0 : markOfTag[node.tagName] ?? (node.dataset.spoiler === '' ? MARK.spoiler : 0);
  const target = node.tagName === 'A' ? node.getAttribute('href') ?? '' : '';
  const name = isMention(target) && nameIn(target, node.textContent);
  if (name) return [{ text: name, marks: 0, href: target }];
  return cellsOf(node, marks | own, isAllowed(target) ? target : href);
}

export const asCells = (text, marks = 0) => text.replaceAll('\n', ' ').split('').map(sign => ({ text: sign, marks }));

export const linesOf = root => [...root.querySelectorAll(LINE)];

// ---- Writing

const isSpace = text => text === undefined || text === '' || /^\s$/.test(text);
const isPunctuation = text => /^[!-/:-@[-`{-~]$/.test(text ?? '');
// Whether a mark would mean nothing there: at a space, or between punctuation inside and a letter outside. Code and links end in punctuation.
function isNoEdge(inside, beside) {
  const signOf = (cell, other) => cell.marks & MARK.code || cell.href && cell.href !== other?.href ? '*' : cell.text;
  if (isSpace(inside.text) && !(inside.marks & MARK.code)) return true;
  const outside = beside && signOf(beside, inside);
  return isPunctuation(signOf(inside, beside)) && !isSpace(outside) && !isPunctuation(outside);
}

function settled(cells, kept = -1) {
  const settledCells = cells.filter(cell => cell.text !== hollow).map(cell => ({ ...cell, marks: cell.marks & kept }));
  for (const mark of [MARK.strong, MARK.em, MARK.del, MARK.spoiler]) {
    for (let from = 0, to; from < settledCells.length; from = to) {
      const has = settledCells[from].marks & mark;
      for (to = from + 1; to < settledCells.length && (settledCells[to].marks & mark) === has; to++);
      if (!has) continue;
      let [first, last] = [from, to - 1];
      while (first <= last && isNoEdge(settledCells[first], settledCells[first - 1])) settledCells[first++].marks &= ~mark;
      while (last >= first && isNoEdge(settledCells[last], settledCells[last + 1])) settledCells[last--].marks &= ~mark;
    }
  }
  return settledCells;
}

// Addresses and names of people and rooms mean what they are, with all their signs.
const opaque = /https?:\/\/[^\s<>"`]+|[@#][\w.=/+-]+:[\w.:-]+/gi;

// What ends a sentence does not belong to the address in it, nor does a bracket that begins outside.
function addressIn(text) {
  let depth = text.split('(').length - text.split(')').length, end = text.length;
  for (; end > 0; end--) {
    if (text[end - 1] === ')' && depth < 0) depth++;
    else if (!/[.,;:!?'*_~|\]]/.test(text[end - 1])) break;
  }
  return text.slice(0, end);
}

function escaped(text, isLineStart) {
  let out = '', at = 0;
  const escape = part => part.replace(/[\\`*_~|[\]<]/g, (sign, index) => {
    const [before, after] = [part[index - 1], part[index + 1]];
    if (sign === '*' && isSpace(before) && isSpace(after) && part.slice(0, index).trim() !== '') return sign;
    return sign === '_' && /[\w\x80-\uffff]/.test(before ?? '') && /[\w\x80-\uffff]/.test(after ?? '') ? sign : '\\' + sign;
  });
  for (const { index, 0: found } of text.matchAll(opaque)) {
    const address = addressIn(found);
    out += escape(text.slice(at, index)) + address;
    at = index + address.length;
  }
  out += escape(text.slice(at));
  return isLineStart ? out.replace(/^(\s*)([#>+-])/, '$1\\$2').replace(/^(\s*\d+)([.)])/, '$1\\$2') : out;
}

function codeOf(text) {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const room = /^`|`$|^ .* $/.test(text) ? ' ' : '';
  return ['`'.repeat(longest + 1) + room, room + '`'.repeat(longest + 1)];
}

// Markdown of a line, and for each of its cells where that ends.
function writeCells(cells, { isEscaped, em = '*' }, isLineStart) {
  const signs = { [MARK.strong]: '**', [MARK.em]: em, [MARK.del]: '~~', [MARK.spoiler]: '||' }, order = [MARK.strong, MARK.em, MARK.del, MARK.spoiler];
  const stack = [], ends = [];
  let out = '';
  const open = (from, marks) => {
    const length = mark => { let to = from; while (to < cells.length && cells[to].marks & mark) to++; return to; };
    const kept = stack.findIndex(mark => !(marks & mark));
    if (kept >= 0) for (const mark of stack.splice(kept).reverse()) out += signs[mark];
    for (const mark of order.filter(mark => marks & mark && !stack.includes(mark)).sort((one, other) => length(other) - length(one))) {
      stack.push(mark);
      out += signs[mark];
    }
  };
  for (let from = 0, to; from < cells.length; from = to) {
    const { marks, href } = cells[from];
    to = from + 1;
    if (href) {
      while (to < cells.length && cells[to].href === href && !isMention(href)) to++;
      const inside = cells.slice(from, to), common = inside.reduce((all, cell) => all & cell.marks, -1) & ~MARK.code;
      open(from, common);
      out += '[';
      if (isMention(href)) {
        out += labelOf(cells[from].text);
        ends.push(out.length);
      } else {
        const words = writeCells(inside.map(cell => ({ ...cell, href: undefined, marks: cell.marks & ~common })), { isEscaped: true, em }, false);
        ends.push(...words.ends.map(end => out.length + end));
        out += words.out;
      }
      out += '](' + (plainTarget.test(href) ? href : href.replace(/[\s()<>]/g, sign => '%' + sign.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase())) + ')';
      // Behind a link is behind all of it.
      ends[ends.length - 1] = out.length;
      continue;
    }
    while (to < cells.length && cells[to].marks === marks && !cells[to].href) to++;
    open(from, marks & ~MARK.code);
    const text = cells.slice(from, to).map(cell => cell.text).join('');
    if (marks & MARK.code) {
      const [before, after] = codeOf(text);
      for (let index = 1; index <= text.length; index++) ends.push(out.length + before.length + index);
      out += before + text + after;
    } else {
      const written = isEscaped ? escaped(text, isLineStart && from === 0) : text;
      // Each backslash that is new belongs to what is behind it.
      for (let index = 0, at = 0; index < text.length; index++, at++) {
        if (written[at] !== text[index] || written[at] === '\\' && isEscaped && written[at + 1] === '\\') at++;
        ends.push(out.length + at + 1);
      }
      out += written;
    }
  }
  open(cells.length, 0);
  return { out, ends };
}

// Lists of a kind that stand one behind the other would be one.
function isOther(list) {
  let before = list.previousElementSibling;
  while (before?.matches('div') && before.textContent.replaceAll(hollow, '') === '') before = before.previousElementSibling;
  return before?.tagName === list.tagName && !isOther(before);
}

// The items of all lists, each with its number: long lists are gone through once.
const numbersIn = root => new Map([...root.querySelectorAll('ul, ol')].flatMap(list => [...list.children].map((item, number) => [item, number])));

function markerOf(item, numbers) {
  const list = item.parentNode;
  if (list.tagName === 'UL') return isOther(list) ? '* ' : '- ';
  return (list.start + numbers.get(item)) + (isOther(list) ? ') ' : '. ');
}

function containersOf(line, root) {
  const around = [];
  for (let at = line.parentNode; at !== root; at = at.parentNode) around.unshift(at);
  return around;
}

function writeLines(root, ways, caret) {
  const begun = new Set(), numbers = numbersIn(root), out = [], { line: caretLine, index: caretIndex } = caret ?? {};
  let caretOffset = 0, length = 0;
  const add = (around, text) => {
    const prefix = around.map(box => {
      if (box.tagName === 'BLOCKQUOTE') return '> ';
      if (box.tagName !== 'LI') return '';
      const marker = markerOf(box, numbers), isFirst = !begun.has(box);
      begun.add(box);
      return isFirst ? marker : ' '.repeat(marker.length);
    }).join('');
    out.push(prefix + text);
    const start = length + prefix.length;
    length = start + text.length + 1;
    return start;
  };
  linesOf(root).forEach((line, number) => {
    const around = containersOf(line, root), code = around.find(box => box.tagName === 'PRE'), cells = cellsOf(line);
    const fence = code && '`'.repeat(Math.max(3, ...[...code.textContent.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    if (code?.firstElementChild === line) add(around, fence + (code.dataset.language ?? ''));
    const heading = /^H\d/.test(line.tagName) ? '#'.repeat(Number(line.tagName[1])) + ' ' : '';
    const shown = code ? cells.filter(cell => cell.text !== hollow) : settled(cells, ways[number]?.kept);
    const { out: words, ends } = line.tagName === 'HR' ? { out: '---', ends: [] } : code
      ? { out: shown.map(cell => cell.text).join(''), ends: shown.map((_, index) => index + 1) } : writeCells(shown, ways[number] ?? {}, heading === '');
    const start = add(around, heading + words);
    if (line === caretLine) {
      const index = cells.slice(0, caretIndex).filter(cell => cell.text !== hollow).length;
      caretOffset = start + heading.length + (index > 0 ? ends[index - 1] : 0);
    }
    if (code?.lastElementChild === line) add(around, fence);
  });
  return { text: out.join('\n'), caret: caretOffset };
}

// Of each line what a reader would see: where it stands, and its words with their marks.
function shapes(root) {
  const numbers = numbersIn(root);
  return linesOf(root).map(line => {
    const around = containersOf(line, root).map(box => box.tagName + (numbers.get(box) ?? ''));
    const isCode = around.includes('PRE'), cells = cellsOf(line);
    const words = isCode ? cells.map(cell => cell.text).join('').replaceAll(hollow, '')
      : settled(cells).map(cell => cell.text + cell.marks + (cell.href ?? '')).join('').replace(/^( 0)+|( 0)+$/g, '');
    return around.join() + line.tagName + words;
  });
}

// Where even an escaped line is read as another, marks touch each other: another sign may tell them apart, else some of them go.
const otherWays = [
  { isEscaped: true }, { em: '_' }, { isEscaped: true, em: '_' },
  { isEscaped: true, kept: MARK.strong | MARK.code }, { isEscaped: true, kept: MARK.code }, { isEscaped: true, kept: 0 },
];

// First without a backslash: most signs mean themselves where they stand, and the other side of the conversation may see what is written here.
export function write(root, caret) {
  const wanted = shapes(root), ways = [];
  // A command is no Markdown, but for those that say something.
  const isCommand = /^\/(?!\/|me\s|silent\s)[^\s/]+(\s|$)/.test(root.textContent);
  let result = writeLines(root, ways, caret);
  for (const way of isCommand ? [] : otherWays) {
    const found = shapes(read(result.text)), isAligned = found.length === wanted.length;
    const wrong = wanted.flatMap((shape, number) => isAligned && found[number] === shape ? [] : [number]);
    if (wrong.length === 0) break;
    for (const number of wrong) ways[number] = way;
    result = writeLines(root, ways, caret);
  }
  return result;
}

// ---- Reading

// The tree of a text; `caret` of it is where in it a place of the text is.
export function read(text, caret = -1) {
  const root = make('div'), lines = [];
  let at = 0;
  for (const line of text.split('\n')) {
    lines.push({ text: line.replace(/\r$/, ''), at });
    at += line.length + 1;
  }
  const reading = { caret, place: null };
  readBlocks(root, lines, 0, reading);
  if (!root.querySelector(LINE)) root.append(drawLine(make('div'), []));
  root.caret = reading.place;
  return root;
}

const fenceOf = ({ text }) => /^( {0,3})(?:(`{3,})([^`]*)|(~{3,})(.*))$/.exec(text);
const headingOf = ({ text }) => /^( {0,3}(#{1,6}) +)(?=\S)(.*?)( +#+)?(\s*)$/.exec(text);
const isRule = ({ text }) => /^ {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$/.test(text);
const quoteOf = ({ text }) => /^ {0,3}> ?/.exec(text);
const markerIn = ({ text }) => /^( {0,3})([-+*]|(\d{1,9})([.)])) {1,4}/.exec(text);
const isBlank = ({ text }) => /^[ \t]*$/.test(text);
const cut = ({ text, at }, count) => ({ text: text.slice(count), at: at + count });

function interrupts(line, depth) {
  if (fenceOf(line) || headingOf(line) || isRule(line)) return true;
  if (depth >= nestingLimit) return false;
  const marker = markerIn(line);
  return !!quoteOf(line) || !!marker && !isBlank(cut(line, marker[0].length)) && (marker[3] === undefined || Number(marker[3]) === 1);
}

function readBlocks(box, lines, depth, reading) {
  for (let i = 0; i < lines.length;) {
    const line = lines[i], fence = fenceOf(line), heading = headingOf(line), isNested = depth < nestingLimit;
    if (isBlank(line)) {
      addLine(box, 'div', [{ text: '', at: line.at + line.text.length }], reading);
      i++;
    } else if (fence) i = readCode(box, lines, i, fence, reading);
    else if (heading) {
      addLine(box, 'h' + heading[2].length, [{ text: heading[3] + heading[5], at: line.at + heading[1].length }], reading);
      i++;
    } else if (isRule(line)) {
      box.append(make('hr'));
      i++;
    } else if (isNested && quoteOf(line)) {
      const inner = [];
      for (let quote; i < lines.length && (quote = quoteOf(lines[i])); i++) inner.push(cut(lines[i], quote[0].length));
      box.append(make('blockquote'));
      readBlocks(box.lastChild, inner, depth + 1, reading);
    } else if (isNested && markerIn(line)) i = readList(box, lines, i, depth, reading);
    else {
      const from = i++;
      while (i < lines.length && !isBlank(lines[i]) && !interrupts(lines[i], depth)) i++;
      addLine(box, 'div', lines.slice(from, i), reading);
    }
  }
}

function readCode(box, lines, from, [, indent, ticks, information, tildes, other], reading) {
  const sign = ticks ?? tildes, code = make('pre'), language = (information ?? other).trim().split(/[ \t]/)[0];
  if (language !== '') code.dataset.language = language;
  let i = from + 1;
  for (; i < lines.length; i++) {
    const end = fenceOf(lines[i]), ending = end && (end[2] ?? end[4]);
    if (ending?.[0] === sign[0] && ending.length >= sign.length && (end[3] ?? end[5]).trim() === '') break;
    const line = cut(lines[i], Math.min(indent.length, /^ */.exec(lines[i].text)[0].length));
    const cells = line.text.split('').map((text, index) => ({ text, marks: 0, at: line.at + index }));
    place(code.appendChild(drawLine(make('div'), cells)), cells, line.at + line.text.length, reading);
  }
  if (!code.firstChild) code.append(drawLine(make('div'), []));
  box.append(code);
  return Math.min(i + 1, lines.length);
}

function readList(box, lines, from, depth, reading) {
  const first = markerIn(lines[from]), kindOf = marker => marker[4] ?? marker[2], list = make(first[3] === undefined ? 'ul' : 'ol');
  if (first[3] !== undefined) list.start = Number(first[3]);
  const items = [];
  let content = 0, blanks = [], i = from;
  for (; i < lines.length; i++) {
    const line = lines[i], marker = markerIn(line);
    if (isBlank(line)) blanks.push(line);
    else if (content > 0 && /^ */.exec(line.text)[0].length >= content) {
      items.at(-1).push(...blanks.splice(0).map(blank => cut(blank, blank.text.length)), cut(line, content));
    } else if (marker && kindOf(marker) === kindOf(first) && !isRule(line)) {
      blanks = [];
      content = marker[0].length;
      items.push([cut(line, content)]);
    } else break;
  }
  for (const item of items) {
    list.append(make('li'));
    readBlocks(list.lastChild, item, depth + 1, reading);
  }
  box.append(list);
  // Those behind the list do not belong to it.
  return i - blanks.length;
}

function addLine(box, tag, lines, reading) {
  const cells = readCells(lines);
  let from = 0;
  lines.forEach((line, number) => {
    let broken = from;
    while (broken < cells.length && cells[broken].text !== '\n') broken++;
    // A line break in code is a space: the rest of these lines is in one.
    if (number > 0 && from > cells.length) return;
    const own = cells.slice(from, broken);
    from = broken + 1;
    place(box.appendChild(drawLine(make(tag), own)), own, broken < cells.length ? cells[broken].at : lines.at(-1).at + lines.at(-1).text.length, reading);
  });
}

// Whether what was asked for is in this line; the first that ends behind it has it.
function place(line, cells, end, reading) {
  if (reading.place || reading.caret < 0 || reading.caret > end) return;
  const index = cells.findIndex(cell => cell.at >= reading.caret);
  reading.place = { line, index: index < 0 ? cells.length : index };
}

const targetBehind = /^\]\((?:<([^<>\n]*)>|((?:[^\s()<]|\([^\s()<]*\))*))(?: [^)\n]*)?\)/;

// The text of one block: its cells, `at` being where each stands in the source.
function readCells(lines) {
  const cells = [], runs = [], source = lines.map(line => line.text).join('\n');
  const places = lines.flatMap(({ text, at }) => Array.from({ length: text.length + 1 }, (_, index) => at + index));
  let brackets = [], i = 0;
  const add = (text, from = i, marks = 0, href) => cells.push({ text, marks, href, at: places[from] });
  const addAll = (from, to, marks, href) => { for (let k = from; k < to; k++) add(source[k] === '\n' ? ' ' : source[k], k, marks, href); };
  while (i < source.length) {
    const sign = source[i], rest = source.slice(i), before = source[i - 1], isInWord = /[\w\x80-\uffff/]/.test(before ?? '') && before !== '_';
    let found;
    if (sign === '\\' && isPunctuation(source[i + 1])) {
      i++;
      add(source[i]);
      i++;
    } else if (/^\\[ \t]*\n/.test(rest)) i++;
    else if (sign === '`') i = readCodeSpan(source, i, addAll, add);
    else if (/[*_~|]/.test(sign)) i = readRun(source, i, cells, runs, add);
    else if (sign === '[') {
      brackets.push({ cell: cells.length, run: runs.length });
      add(sign);
      i++;
    } else if (sign === ']') {
      const bracket = brackets.pop(), target = bracket && targetBehind.exec(rest), href = target && (target[1] ?? target[2]);
      if (!target || !isAllowed(href)) {
        add(sign);
        i++;
        continue;
      }
      pair(runs.splice(bracket.run), cells);
      cells[bracket.cell].isGone = true;
      const inside = cells.slice(bracket.cell + 1).filter(cell => !cell.isGone);
      if (isMention(href)) {
        cells.length = bracket.cell;
        cells.push({ text: nameIn(href, inside.map(cell => cell.text).join('')) || href, marks: 0, href, at: places[i] });
      } else for (const cell of inside) cell.href = href;
      brackets = [];
      i += target[0].length;
    } else if (sign === '<' && (found = /^<([^\s<>]+)>/.exec(rest)) && (isAllowed(found[1]) || /^[^@:]+@[^@:]*\.[^@:]*$/.test(found[1]))) {
      addAll(i + 1, i + found[0].length - 1, 0, isAllowed(found[1]) ? found[1] : 'mailto:' + found[1]);
      i += found[0].length;
    } else if (/[@#hH]/.test(sign) && !isInWord && (found = new RegExp('^(?:' + opaque.source + ')', 'i').exec(rest))) {
      const { length } = addressIn(brackets.length > 0 ? found[0].split(']')[0] : found[0]);
      addAll(i, i + length, 0);
      i += length;
    } else {
      add(sign);
      i++;
    }
  }
  pair(runs, cells);
  return cells.filter(cell => !cell.isGone);
}

function readCodeSpan(source, from, addAll, add) {
  const [run] = /^`+/.exec(source.slice(from)), start = from + run.length;
  let end;
  for (const other of source.slice(start).matchAll(/`+/g)) {
    if (other[0].length !== run.length) continue;
    end = other;
    break;
  }
  if (!end) {
    for (let k = from; k < start; k++) add('`', k);
    return start;
  }
  const stop = start + end.index, isRoomy = stop - start > 2 && source[start] === ' ' && source[stop - 1] === ' ';
  addAll(isRoomy ? start + 1 : start, isRoomy ? stop - 1 : stop, MARK.code);
  return stop + run.length;
}

// Runs of signs, and how they pair up. Source: CommonMark, "An algorithm for parsing nested emphasis and links".
function readRun(source, from, cells, runs, add) {
  const byte = source[from];
  let end = from;
  while (source[end] === byte) end++;
  const count = end - from, [before, after] = [source[from - 1], source[end]], first = cells.length;
  for (let k = from; k < end; k++) add(byte, k);
  if (/[~|]/.test(byte) && count !== 2) return end;
  const flanks = (inside, outside) => !isSpace(inside) && (!isPunctuation(inside) || isSpace(outside) || isPunctuation(outside));
  const isLeft = flanks(after, before), isRight = flanks(before, after), isWhole = byte !== '_';
  runs.push({
    byte, length: count, count, first, last: end - from + first,
    canOpen: isLeft && (isWhole || !isRight || isPunctuation(before)), canClose: isRight && (isWhole || !isLeft || isPunctuation(after)),
  });
  return end;
}

function fits(opener, closer) {
  if (opener.byte !== closer.byte) return false;
  return !((opener.canClose || closer.canOpen) && (opener.length + closer.length) % 3 === 0 && (opener.length % 3 !== 0 || closer.length % 3 !== 0));
}

// `first` and `last` of a run are the cells that are left of it.
function pair(runs, cells) {
  // Those that can open yet; and for each kind of closing run the number of the run up to which one was looked for in vain.
  const openers = [], floors = {}, changes = new Map();
  const change = (at, mark, by) => {
    const levels = changes.get(at) ?? {};
    levels[mark] = (levels[mark] ?? 0) + by;
    changes.set(at, levels);
  };
  runs.forEach((closer, number) => {
    const kind = closer.byte + closer.canOpen + closer.length % 3;
    while (closer.canClose && closer.count > 0) {
      let o = openers.length - 1;
      while (o >= 0 && openers[o].number > (floors[kind] ?? -1) && !fits(openers[o].run, closer)) o--;
      if (o < 0 || openers[o].number <= (floors[kind] ?? -1)) {
        floors[kind] = number - 1;
        break;
      }
      const opener = openers[o].run, width = /[~|]/.test(closer.byte) || opener.count >= 2 && closer.count >= 2 ? 2 : 1;
      const mark = { '~': MARK.del, '|': MARK.spoiler }[closer.byte] ?? (width === 2 ? MARK.strong : MARK.em);
      for (let k = 0; k < width; k++) cells[--opener.last].isGone = cells[closer.first++].isGone = true;
      change(opener.last, mark, 1);
      change(closer.first, mark, -1);
      opener.count -= width;
      closer.count -= width;
      // What stands between them has no partner outside.
      openers.length = opener.count > 0 ? o + 1 : o;
    }
    if (closer.canOpen && closer.count > 0) openers.push({ run: closer, number });
  });
  if (changes.size === 0) return;
  const levels = {};
  for (let k = runs[0].first; k < cells.length; k++) {
    for (const [mark, by] of Object.entries(changes.get(k) ?? {})) levels[mark] = (levels[mark] ?? 0) + by;
    for (const mark in levels) if (levels[mark] > 0) cells[k].marks |= mark;
  }
}
