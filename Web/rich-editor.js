// A composer that shows what is written as it will look. Loaded when the setting asks for it (host.js).
//
// The field of the program stays the model: its value is the Markdown of what stands here (rich-markdown.js), and all that the program does with it
// (sending, drafts, completions, the counter, edits, commands) works as ever. After each input the Markdown is written into the field, which
// tells of an input; where the program sets the field's value or caret, the editor is drawn anew. Keys are offered to the field first.
//
// The browser writes within a line, so that input methods and spelling work; all that changes lines is done here, the same in every browser.
// A browser knows no way back from that, so it is kept here, too: as Markdown.
//
// Buttons and keys for marks act on what is chosen here and not on the field's Markdown, where the same place may lie within a sign. A name that is
// chosen from a list becomes a link to that person at once, so that a draft has it still. Enter sends, in lists as well; Shift-Enter goes on.

import { markOf } from './keys.js';
import { word } from './language.js';
import { MARK, LINE, asCells, cellsOf, drawLine, hollow, isAllowed, labelOf, linesOf, make, read, write } from './rich-markdown.js';
import { endOf, isEmpty, isFirstIn, isShown, liftLine, makeList, placeOf, pointAt, removeLine, renameLine, tailAfter, wrapLines } from './rich-lines.js';
import { adopt, adoptHTML, isReadable } from './rich-paste.js';

const valueOf = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
const selectIn = HTMLTextAreaElement.prototype.setSelectionRange;
const mirrored = ['aria-label', 'aria-controls', 'aria-autocomplete', 'aria-activedescendant', 'enterkeyhint'];
const typingMilliseconds = 800, historyLimit = 200;
const marksOf = {
  bold: MARK.strong, italic: MARK.em, strike: MARK.del, code: MARK.code,
  formatBold: MARK.strong, formatItalic: MARK.em, formatStrikeThrough: MARK.del,
};

const kinds = LINE + ', ul, ol, li, blockquote, pre, strong, em, del, code, span[data-spoiler], a[href], br';

// ---- Fields

const editors = new Set();

// Of a field that is given, or of all there are.
export function showRich(isWanted, field) {
  for (const editor of editors) {
    editor.wasThere ||= editor.field.isConnected;
    if (!isWanted || !editor.field.isConnected && editor.wasThere) editor.close();
  }
  if (!isWanted) return;
  for (const one of field ? [field] : document.querySelectorAll('.mg-field > .mg-input')) if (!one.rich && one.parentNode) editors.add(new RichEditor(one));
}

document.addEventListener('selectionchange', () => {
  for (const editor of editors) if (document.activeElement === editor.root) editor.chose();
});

class RichEditor {
  constructor(field) {
    this.field = field;
    this.root = make('div');
    Object.assign(this.root, { className: 'ma-rich', spellcheck: true });
    this.root.setAttribute('role', 'textbox');
    this.root.setAttribute('aria-multiline', 'true');
    this.past = [];
    this.future = [];
    this.place = null;
    const own = { rich: { value: this }, focus: { value: () => this.focus() }, setSelectionRange: { value: from => this.placed(from) },
      value: { get: () => valueOf.get.call(field), set: text => this.taken(text) } };
    this.own = Object.keys(own);
    for (const name of this.own) Object.defineProperty(field, name, { configurable: true, ...own[name] });
    this.observer = new MutationObserver(() => this.mirror());
    this.observer.observe(field, { attributes: true, attributeFilter: [...mirrored, 'placeholder', 'disabled'] });
    const hadFocus = document.activeElement === field;
    field.before(this.root);
    this.listen();
    this.mirror();
    this.show(field.value, field.selectionStart);
    this.remember();
    if (hadFocus) this.focus();
  }

  close() {
    const hadFocus = document.activeElement === this.root;
    for (const name of this.own) delete this.field[name];
    this.observer.disconnect();
    this.root.remove();
    editors.delete(this);
    if (!this.field.isConnected) return;
    if (hadFocus) this.field.focus();
    // It grows to what stands in it.
    this.field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  mirror() {
    const { field, root } = this;
    for (const name of mirrored) if (field.hasAttribute(name)) root.setAttribute(name, field.getAttribute(name)); else root.removeAttribute(name);
    root.dataset.placeholder = field.placeholder;
    root.setAttribute('aria-placeholder', field.placeholder);
    root.contentEditable = String(!field.disabled);
    root.tabIndex = field.disabled ? -1 : 0;
    root.setAttribute('aria-disabled', field.disabled);
  }

  listen() {
    const on = (type, run) => this.root.addEventListener(type, run);
    const change = (type, run) => on(type, e => { if (!this.field.disabled) run(e); });
    change('keydown', e => this.pressed(e));
    change('beforeinput', e => this.isAboutTo(e));
    on('input', e => {
      e.stopPropagation();
      try {
        if (!e.isComposing) this.typed(e);
      } finally {
        this.tell(e.inputType === 'insertText');
      }
    });
    change('compositionstart', () => { if (this.isAcross || this.chosen.from.line.matches('hr')) this.removeChosen(); });
    on('compositionend', () => { this.tidy(); this.tell(); });
    change('paste', e => this.given(e, e.clipboardData));
    on('dragstart', e => this.taking(e));
    on('dragend', () => { this.dragged = null; });
    change('drop', e => this.dropped(e));
    // What is here is for writing, not for going to.
    on('click', e => { if (e.target.closest('a')) e.preventDefault(); });
    // Who comes by a key goes on where they were; a finger says where.
    on('pointerdown', () => { this.isPointed = document.activeElement !== this.root; });
    on('focusin', () => {
      const { from, to } = this.place?.from.line.isConnected ? this.place : { from: this.end };
      if (!this.isPointed) this.select(from, to?.line.isConnected ? to : from);
      this.isPointed = false;
    });
    on('focusout', () => {
      selectIn.call(this.field, ...Array(2).fill(write(this.root, this.chosen.from).caret));
      this.field.dispatchEvent(new FocusEvent('focusout'));
    });
  }

  // ---- What the program does with its field

  focus() { this.root.focus(); }

  taken(text) {
    if (text === this.field.value) return;
    valueOf.set.call(this.field, text);
    // It may be of another room: there is no way back from it, unless the caret is set, too.
    this.earlier = this.past;
    this.past = [];
    this.future = [];
    queueMicrotask(() => { this.earlier = null; });
    this.show(text, text.length);
    this.remember();
  }

  // The caret comes behind a person whose name was chosen: from here on it is theirs, whatever else it may be the name of.
  placed(offset) {
    if (this.earlier) this.past.unshift(...this.earlier);
    this.earlier = null;
    const { field } = this, before = field.value.slice(0, offset), after = field.value.slice(offset);
    for (const option of field.closest('.ma-writer')?.querySelectorAll('[role="option"]') ?? []) {
      const id = option.dataset.user, name = option.querySelector('span')?.textContent;
      const written = id && [`@${name} `, `@${name} (${id}) `].find(words => before.endsWith(words));
      if (!written) continue;
      const link = `[${labelOf(written.trim())}](https://matrix.to/#/${encodeURIComponent(id)}) `, all = before.slice(0, -written.length) + link;
      valueOf.set.call(field, all + after);
      this.show(all + after, all.length);
      this.tell();
      return;
    }
    this.show(field.value, offset);
  }

  show(text, offset) {
    const tree = read(text, offset);
    this.root.replaceChildren(...tree.childNodes);
    this.place = { from: tree.caret ?? this.end, to: tree.caret ?? this.end };
    if (document.activeElement === this.root) this.select(this.place.from);
    this.note(text);
  }

  note(text) {
    this.root.toggleAttribute('data-empty', text === '' && this.root.childElementCount === 1 && this.root.firstElementChild.matches('div'));
  }

  // Tells the program what stands here.
  tell(isTyping = false) {
    const { text, caret } = write(this.root, this.chosen.from);
    valueOf.set.call(this.field, text);
    selectIn.call(this.field, caret, caret);
    this.note(text);
    this.remember(isTyping);
    this.field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  remember(isTyping = false) {
    const now = { text: this.field.value, caret: this.field.selectionStart, time: performance.now(), isTyping }, last = this.past.at(-1);
    if (last?.text === now.text) return;
    // What is typed in one go is taken back in one.
    if (isTyping && last?.isTyping && this.past.length > 1 && now.time - last.time < typingMilliseconds) this.past.pop();
    this.past.push(now);
    if (this.past.length > historyLimit) this.past.shift();
    this.future.length = 0;
  }

  step(isBack) {
    const [from, to] = isBack ? [this.past, this.future] : [this.future, this.past];
    if (isBack ? from.length < 2 : from.length === 0) return;
    to.push(from.pop());
    const { text, caret } = this.past.at(-1), future = this.future.slice();
    valueOf.set.call(this.field, text);
    this.show(text, caret);
    this.tell();
    this.future = future;
  }

  // ---- What is chosen: { line, index } twice

  get end() { return endOf(this.root); }

  get chosen() {
    const selection = getSelection();
    if (document.activeElement === this.root && selection.rangeCount > 0 && this.root.contains(selection.anchorNode)) {
      const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
      this.place = { from: placeOf(this.root, startContainer, startOffset), to: placeOf(this.root, endContainer, endOffset) };
    }
    const { from, to } = this.place ?? {};
    return from?.line.isConnected && to.line.isConnected ? this.place : { from: this.end, to: this.end };
  }

  get isAcross() {
    const { from, to } = this.chosen;
    return from.line !== to.line;
  }

  select(from, to = from) {
    this.place = { from, to };
    getSelection().setBaseAndExtent(...pointAt(from), ...pointAt(to));
    const inside = from.line.getBoundingClientRect(), outside = this.root.getBoundingClientRect();
    if (inside.bottom > outside.bottom) this.root.scrollTop += inside.bottom - outside.bottom;
    else if (inside.top < outside.top) this.root.scrollTop -= outside.top - inside.top;
  }

  chose() {
    const { from, to } = this.chosen;
    this.field.closest('.ma-writer')?.toggleAttribute('data-choosing', from.line !== to.line || from.index !== to.index);
  }

  // ---- Keys and input

  pressed(e) {
    if (e.isComposing || e.keyCode === 229) return;
    const { key, code, ctrlKey, shiftKey, altKey, metaKey } = e, isControl = ctrlKey || metaKey, mark = !altKey && markOf(e);
    // Where letters are others, it is the place of the key that counts.
    const letter = key > '\x7f' ? { KeyZ: 'z', KeyY: 'y' }[code] : key?.toLowerCase();
    const isTaken = () => {
      if (!this.field.dispatchEvent(new KeyboardEvent('keydown', { key, code, ctrlKey, shiftKey, altKey, metaKey, cancelable: true }))) return true;
      if (mark) { this.give(mark); return true; }
      if (isControl && !altKey && /^[zy]$/.test(letter)) { this.step(letter === 'z' && !shiftKey); return true; }
      return key === 'Tab' && !isControl ? this.indent(shiftKey) : !isControl && !shiftKey && this.leave(key);
    };
    if (isTaken()) e.preventDefault();
  }

  isAboutTo(e) {
    const { inputType: type = '' } = e, { from, to } = this.chosen, isAcross = from.line !== to.line;
    const isCollapsed = !isAcross && from.index === to.index, cells = cellsOf(from.line);
    const run = () => {
      if (type === 'insertParagraph' || type === 'insertLineBreak') this.newLine();
      else if (type.startsWith('history')) this.step(type === 'historyUndo');
      else if (type.startsWith('format')) this.toggle(marksOf[type] ?? 0);
      else if (type.startsWith('delete')) {
        if (!isCollapsed) this.removeChosen();
        else if (type.endsWith('Backward') && !cells.slice(0, from.index).some(isShown)) this.join(from.line);
        else if (type.endsWith('Forward') && !cells.slice(from.index).some(isShown)) this.join(linesOf(this.root)[linesOf(this.root).indexOf(from.line) + 1], true);
        else return false;
      } else if (type === 'insertText' || type === 'insertReplacementText') {
        if (!isAcross && !from.line.matches('hr')) return false;
        this.insert(asCells(e.data ?? '', cells[from.index - 1]?.marks));
      } else return type === 'insertCompositionText';
      return true;
    };
    if (e.isComposing || type === 'insertCompositionText') return;
    const isDone = run(), isOwn = isDone || !/^(insertText|insertReplacementText|delete.*)?$/.test(type);
    if (isOwn) e.preventDefault();
    if (isDone) this.tell();
  }

  // What stands at the beginning of a line may mean what becomes of it.
  typed({ inputType = '', data = null }) {
    this.tidy();
    const { from: { line, index } } = this.chosen, cells = cellsOf(line), before = cells.slice(0, index).map(cell => cell.text).join('').replaceAll(hollow, '');
    // What is written next would have the marks of what is gone.
    if (inputType.startsWith('delete') && isEmpty(line)) this.select({ line: drawLine(line, []), index: 0 });
    if (inputType !== 'insertText' || !line.matches('div') || line.closest('pre')) return;
    const [, sign] = data === ' ' && /^([-*+]|1[.)]|>|#{1,6}) $/.exec(before) || [], isCode = data === '`' && before === '```' && cells.length === index;
    if (!sign && !isCode) return;
    // It can be taken back to what was typed.
    this.tell();
    let next = drawLine(line, cells.slice(index));
    if (isCode) wrapLines(this.root, [line], make('pre'));
    else if (sign === '>') wrapLines(this.root, [line], make('blockquote'));
    else if (sign[0] === '#') next = renameLine(line, 'h' + sign.length);
    else makeList([line], /\d/.test(sign) ? 'ol' : 'ul');
    this.select({ line: next, index: 0 });
  }

  // What browsers make beyond what there may be is taken over as what it says.
  tidy() {
    const boxes = [this.root, ...this.root.querySelectorAll('ul, ol, li, blockquote, pre')];
    const fits = (box, node) => node.nodeType === 1 && node.matches(/^[UO]L$/.test(box.tagName) ? 'li' : LINE + ', ul, ol, blockquote, pre');
    const isTidy = this.root.firstChild && boxes.every(box => box.firstChild && [...box.childNodes].every(node => fits(box, node)))
      && !this.root.querySelector(`:not(${kinds}), [style], :scope :is(${LINE}) :is(${LINE})`);
    if (isTidy) return;
    const selection = getSelection(), caret = document.createTextNode('\ue000');
    if (selection.rangeCount > 0 && this.root.contains(selection.anchorNode)) selection.getRangeAt(0).insertNode(caret);
    this.root.replaceChildren(...adopt(this.root, true).childNodes);
    for (const line of linesOf(this.root)) {
      const cells = cellsOf(line), index = cells.findIndex(cell => cell.text === caret.data);
      if (index >= 0) this.select({ line: drawLine(line, cells.toSpliced(index, 1)), index });
    }
  }

  // Out of what stands at the end: there may be nothing behind it.
  leave(key) {
    const { from: { line, index }, to } = this.chosen, cells = cellsOf(line), isEnd = index === cells.length && to.line === line && to.index === index;
    if (key === 'ArrowRight' && isEnd && cells.at(-1)?.marks & MARK.code) this.toggle(MARK.code);
    else if (key === 'ArrowDown' && isEnd && line === this.end.line && line.parentNode !== this.root) {
      const next = drawLine(make('div'), []);
      this.root.append(next);
      this.select({ line: next, index: 0 });
      this.tell();
    } else return false;
    return true;
  }

  // ---- Text

  insert(cells) {
    this.removeChosen();
    const { from: { line, index } } = this.chosen;
    drawLine(line, cellsOf(line).toSpliced(index, 0, ...cells));
    this.select({ line, index: index + cells.length });
  }

  removeChosen() {
    const { from, to } = this.chosen, lines = linesOf(this.root), rest = cellsOf(to.line).slice(to.index);
    for (const line of lines.slice(lines.indexOf(from.line) + 1, lines.indexOf(to.line) + 1)) removeLine(this.root, line);
    // Within a rule nothing would be seen.
    const line = from.line.matches('hr') ? renameLine(from.line, 'div') : from.line;
    this.select({ line: drawLine(line, [...cellsOf(line).slice(0, from.index), ...rest]), index: from.index });
  }

  // Each part of the lines that is chosen: (cells, from, to) of what is no code.
  eachChosen(run) {
    const { from, to } = this.chosen, lines = linesOf(this.root);
    for (const line of lines.slice(lines.indexOf(from.line), lines.indexOf(to.line) + 1)) {
      if (line.closest('pre') || line.matches('hr')) continue;
      const cells = cellsOf(line);
      run(cells.slice(line === from.line ? from.index : 0, line === to.line ? to.index : cells.length));
      drawLine(line, cells);
    }
    this.select(from, to);
  }

  toggle(mark) {
    const { from, to } = this.chosen;
    if (from.line.closest('pre') || mark === 0) return;
    if (from.line.matches('hr') && from.line === to.line) return;
    if (from.line === to.line && from.index === to.index) {
      const cells = cellsOf(from.line), marks = (cells[from.index - 1]?.marks ?? 0) ^ mark;
      drawLine(from.line, cells.toSpliced(from.index, 0, { text: hollow, marks }));
      this.select({ line: from.line, index: from.index + 1 });
    } else {
      let isMarked = true;
      this.eachChosen(cells => { isMarked &&= cells.every(cell => cell.marks & mark || cell.text === ' '); });
      this.eachChosen(cells => { for (const cell of cells) cell.marks = isMarked ? cell.marks & ~mark : cell.marks | mark; });
    }
    this.tell();
  }

  // By the name that keys.js has for it.
  give(name) {
    if (this.field.disabled) return;
    const { from, to } = this.chosen, all = linesOf(this.root), lines = all.slice(all.indexOf(from.line), all.indexOf(to.line) + 1);
    if (document.activeElement !== this.root) this.focus();
    if (name === 'link') { this.askForLink(); return; }
    const code = from.line.closest('pre');
    if (name === 'code' && code) code.replaceWith(...code.children);
    else if (name === 'code' && lines.length > 1) {
      const plain = line => cellsOf(line).map(({ text }) => ({ text, marks: 0 }));
      wrapLines(this.root, lines.map(line => drawLine(line.matches('hr') ? renameLine(line, 'div') : line, plain(line))), make('pre'));
    } else if (marksOf[name]) { this.toggle(marksOf[name]); return; }
    else if (code) return;
    else if (name === 'list') {
      if (lines.every(line => line.closest('li'))) lines.forEach(line => { while (line.closest('li')) liftLine(this.root, line); }); else makeList(lines, 'ul');
    } else if (lines.every(line => line.closest('blockquote'))) lines.forEach(line => { while (line.closest('blockquote')) liftLine(this.root, line); });
    else wrapLines(this.root, lines.map(line => { while (line.parentNode !== this.root) line = line.parentNode; return line; }), make('blockquote'));
    this.select(from, to);
    this.tell();
  }

  // ---- Lines

  // A key that belongs to lists; it goes on through the page where there is nothing to do.
  indent(isBack) {
    const { from, to } = this.chosen, item = from.line.closest('li'), before = item?.previousElementSibling, tag = item?.parentNode.tagName;
    if (!item || (isBack ? !item.parentNode.closest('li') : !before)) return false;
    if (isBack) liftLine(this.root, item.firstElementChild);
    else if (before.lastElementChild.tagName === tag) before.lastElementChild.append(item);
    else before.append(make(tag, item));
    this.select(from, to);
    this.tell();
    return true;
  }

  newLine() {
    const { from: start, to } = this.chosen;
    if (start.line.matches('hr') && start.line === to.line) {
      const next = drawLine(make('div'), []);
      start.line.after(next);
      this.select({ line: next, index: 0 });
      return;
    }
    this.removeChosen();
    const { from: { line, index } } = this.chosen, box = line.parentNode, before = line.previousElementSibling, cells = cellsOf(line);
    const isOver = isEmpty(line) && (box.tagName === 'BLOCKQUOTE' || box.tagName === 'LI' && isFirstIn(line)
      || box.tagName === 'PRE' && !line.nextSibling && before && isEmpty(before));
    if (isOver) {
      if (box.tagName === 'PRE' && box.childElementCount > 2) before.remove();
      liftLine(this.root, line);
      this.select({ line, index: 0 });
      return;
    }
    const next = drawLine(make('div'), cells.slice(index));
    drawLine(line, cells.slice(0, index));
    if (box.tagName === 'LI') box.after(make('li', next, ...tailAfter(line))); else line.after(next);
    this.select({ line: next, index: 0 });
  }

  // The line and the one before it, or the line without what it is in.
  join(line, isForward = false) {
    const lines = linesOf(this.root), before = lines[lines.indexOf(line) - 1];
    if (!line) return;
    if (!isForward && /^H/.test(line.tagName)) this.select({ line: renameLine(line, 'div'), index: 0 });
    else if (!isForward && line.parentNode !== this.root && isFirstIn(line)) {
      liftLine(this.root, line);
      this.select({ line, index: 0 });
    } else if (before?.matches('hr')) {
      before.remove();
      this.select({ line, index: 0 });
    } else if (before) {
      const cells = cellsOf(before).filter(isShown);
      drawLine(before, [...cells, ...cellsOf(line)]);
      removeLine(this.root, line);
      this.select({ line: before, index: cells.length });
    }
  }

  // ---- What is pasted, or let fall here

  // What is dragged from here is moved and not doubled. A link is dragged by itself.
  taking({ target }) {
    const link = target.closest?.('a'), at = link && [...link.parentNode.childNodes].indexOf(link);
    const { from, to } = link && getSelection().isCollapsed
      ? { from: placeOf(this.root, link.parentNode, at), to: placeOf(this.root, link.parentNode, at + 1) } : this.chosen;
    this.dragged = { from, to };
  }

  dropped(e) {
    if (e.dataTransfer.files.length > 0) return;
    const at = document.caretPositionFromPoint?.(e.clientX, e.clientY), range = at ? null : document.caretRangeFromPoint?.(e.clientX, e.clientY);
    const { dragged } = this, isMoved = dragged?.from.line.isConnected && dragged.to.line.isConnected && !e.ctrlKey && !e.altKey;
    this.root.focus();
    const goal = at || range ? placeOf(this.root, at?.offsetNode ?? range.startContainer, at?.offset ?? range.startOffset) : this.end;
    let cells;
    if (isMoved) {
      const lines = linesOf(this.root), { from, to } = dragged, numberOf = place => lines.indexOf(place.line);
      const isBefore = (one, other) => numberOf(one) < numberOf(other) || one.line === other.line && one.index < other.index;
      this.select(from, to);
      if (!isBefore(goal, from) && !isBefore(to, goal)) {
        e.preventDefault();
        return;
      }
      // Of one line it is what it was, names with it.
      if (from.line === to.line) cells = cellsOf(from.line).slice(from.index, to.index);
      this.removeChosen();
      const { from: gap } = this.chosen;
      if (goal.line === to.line && goal.index >= to.index) Object.assign(goal, { line: gap.line, index: gap.index + goal.index - to.index });
    }
    this.select(goal);
    this.given(e, e.dataTransfer, cells);
  }

  given(e, transfer, cells) {
    const [html, text] = ['text/html', 'text/plain'].map(type => transfer.getData(type));
    // Files are for the program.
    if (text === '' && transfer.files.length > 0) return;
    e.preventDefault();
    const isCode = this.chosen.from.line.closest('pre'), lines = text.replaceAll('\r', '').replace(/\n$/, '').split('\n');
    if (cells) {
      this.insert(cells);
      this.tell();
      return;
    }
    const tree = isCode || !isReadable(html) ? make('div', ...lines.map(line => drawLine(make('div'), asCells(line)))) : adoptHTML(html);
    const { from, to } = this.chosen, hasChosen = from.line !== to.line || from.index !== to.index;
    if (hasChosen && /^https?:\S+$/.test(text.trim())) this.eachChosen(cells => { for (const cell of cells) cell.href = text.trim(); });
    else this.insertLines([...tree.children]);
    this.tell();
  }

  insertLines(lines) {
    this.removeChosen();
    const { from: { line, index } } = this.chosen, cells = cellsOf(line), first = lines[0]?.matches('div') ? cellsOf(lines.shift()) : [];
    if (lines.length === 0) { this.insert(first); return; }
    drawLine(line, [...cells.slice(0, index), ...first]);
    if (!lines.at(-1).matches('div')) lines.push(drawLine(make('div'), []));
    const last = lines.at(-1), own = cellsOf(last);
    line.after(...lines);
    if (isEmpty(line) && line.parentNode === this.root && first.length === 0) line.remove();
    this.select({ line: drawLine(last, [...own, ...cells.slice(index)]), index: own.length });
  }

  // ---- Links

  askForLink() {
    const { from, to } = this.chosen, old = cellsOf(from.line)[from.index]?.href ?? '';
    const input = Object.assign(make('input'), { type: 'url', className: 'ma-rich-link', ariaLabel: word('link'), placeholder: 'https://', value: old });
    const close = () => {
      input.onblur = null;
      input.remove();
    };
    input.onkeydown = e => {
      e.stopPropagation();
      if (e.isComposing || e.key !== 'Enter' && e.key !== 'Escape') return;
      e.preventDefault();
      close();
      this.place = { from, to };
      this.focus();
      if (e.key === 'Enter') this.link(input.value.trim(), old);
    };
    input.onblur = close;
    for (const type of ['input', 'change']) input.addEventListener(type, e => e.stopPropagation());
    this.root.after(input);
    input.focus();
  }

  link(address, old) {
    const href = address === '' || isAllowed(address) ? address : 'https://' + address, { from, to } = this.chosen;
    if (from.line !== to.line || from.index !== to.index) this.eachChosen(cells => { for (const cell of cells) cell.href = href || undefined; });
    else if (old === '') this.insert(asCells(address).map(cell => ({ ...cell, href: href || undefined })));
    else drawLine(from.line, cellsOf(from.line).map(cell => cell.href === old ? { ...cell, href: href || undefined } : cell));
    this.tell();
  }
}
