// The keyboard beyond what elements do by themselves: F6 goes from part to part of the page, arrows go through menus and signs,
// Control with a letter sets what is written.

import { isSeen, openDialogs } from './spoken.js';

const reachable = ':is(a[href], button, input, select, textarea, [tabindex]):not([tabindex="-1"], :disabled)';
// Where the focus was last in each part.
const places = new WeakMap();

// A list of articles is entered at the newest of those in view: of the list itself nothing would be said.
function article(part) {
  const feed = part.querySelector('[role="feed"]'), area = feed?.getBoundingClientRect();
  const seen = [...feed?.querySelectorAll('.mg-window > article') ?? []].filter(row => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > area.top && top < area.bottom;
  });
  return feed?.closest('.mg-newest-first') ? seen[0] : seen.at(-1);
}
const entrances = part => [
  places.get(part), article(part), ...part.querySelectorAll('[tabindex="0"], textarea:enabled'), ...part.querySelectorAll(reachable),
].filter(isSeen);

// Whether the part has the focus now. What had it last may be seen and still not take it: a button that is off, a row that was deleted.
function enter(part) {
  return entrances(part).some(place => {
    place.focus();
    return part.contains(document.activeElement);
  });
}

// False where there is no other part.
function goToPart(step) {
  const parts = [...document.querySelectorAll('[data-region]')].filter(part => isSeen(part) && entrances(part).length > 0);
  if (parts.length === 0) return false;
  const at = parts.findLastIndex(part => part.contains(document.activeElement));
  let next = at < 0 ? (step > 0 ? 0 : parts.length - 1) : (at + step + parts.length) % parts.length;
  for (let tries = 0; tries < parts.length && !enter(parts[next]); tries++) next = (next + step + parts.length) % parts.length;
  return true;
}

// Where nothing has the focus, as a reader's own place may stand on words, Escape is meant for the dialog.
addEventListener('keydown', e => {
  const dialog = e.key === 'Escape' && e.target === document.body && openDialogs().at(-1);
  if (!dialog) return;
  e.preventDefault();
  dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
});

// A menu is gone through by arrows, around its ends, by Home and End, and by first letters. Source: ARIA Authoring Practices, "Menu".
function besideInMenu(lines, { key, target }) {
  const at = lines.indexOf(target);
  if (key === 'Home' || key === 'End') return lines.at(key === 'Home' ? 0 : -1);
  if (key.length === 1) {
    const letter = key.toLocaleLowerCase();
    return [...lines.slice(at + 1), ...lines.slice(0, at + 1)].find(line => line.textContent.trim().toLocaleLowerCase().startsWith(letter));
  }
  const turn = document.documentElement.dir === 'rtl' ? -1 : 1, isSign = target.matches('.ma-menu-sign');
  const step = { ArrowDown: 1, ArrowUp: -1, ...(isSign ? { ArrowRight: turn, ArrowLeft: -turn } : {}) }[key];
  if (!step) return null;
  return lines.at(at < 0 ? Math.min(step, 0) : (at + step) % lines.length);
}

// Signs stand in lines, as many in each as there is room for; from what is above them one comes down. Up and down lead to the nearest of the
// next line, which another heading may stand before.
function besideAmongSigns(signs, { key, target }) {
  const at = signs.indexOf(target);
  if (at < 0) return key === 'ArrowDown' && target.matches('input, .ma-emoji-tab') ? signs[0] : null;
  const turn = document.documentElement.dir === 'rtl' ? -1 : 1;
  const step = { ArrowRight: turn, ArrowLeft: -turn }[key];
  if (step) return signs[at + step];
  const way = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!way) return null;
  const placeOf = sign => { const { left, top } = sign.getBoundingClientRect(); return { left, top }; };
  const here = placeOf(target), places = signs.map(placeOf);
  const line = places.reduce((line, { top }) => (top - here.top) * way > 0 && (line === null || (line - top) * way > 0) ? top : line, null);
  if (line === null) return null;
  const far = place => place.top === line ? Math.abs(place.left - here.left) : Infinity;
  return signs[places.reduce((best, place, index) => far(place) < far(places[best]) ? index : best, places.findIndex(({ top }) => top === line))];
}

// Of more than a thousand Tab finds one: where it is, where it was, else the first.
function leaveOneToTab(signs, target) {
  const one = [target, signs.find(sign => sign.getAttribute('tabindex') === '0')].find(sign => signs.includes(sign)) ?? signs[0];
  for (const sign of signs) sign.tabIndex = sign === one ? 0 : -1;
}

addEventListener('keydown', e => {
  const dialog = e.target.closest?.('.ma-overlay');
  if (!dialog || e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey) return;
  const all = name => [...dialog.querySelectorAll(name)], lines = all('.ma-menu-item:enabled'), tabs = all('.ma-emoji-tab'), signs = all('.ma-emoji');
  if (e.key === 'Tab') {
    for (const group of [tabs, signs]) leaveOneToTab(group, e.target);
    // A menu is one stop: Tab leaves it.
    if (lines.length > 0) {
      e.preventDefault();
      e.target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    }
    return;
  }
  const isAside = /^Arrow(Left|Right)$/.test(e.key) && tabs.includes(e.target);
  const next = lines.length > 0 ? besideInMenu(lines, e) : besideAmongSigns(isAside ? tabs : signs, e);
  if (!next) return;
  e.preventDefault();
  next.focus();
});

// What a text can be given, by its letter with Control and, some, Shift: Markdown around what is chosen, or before each of its lines.
// Digits by where they are: with Shift they are other characters. Source: CommonMark, and GitHub's for what is struck through.
const marks = {
  bold: { key: 'b', around: ['**', '**'] },
  italic: { key: 'i', around: ['*', '*'] },
  strike: { key: 'x', shift: true, around: ['~~', '~~'] },
  code: { key: 'e', around: ['`', '`'], lines: ['```\n', '\n```'] },
  quote: { key: 'Digit9', shift: true, before: '> ' },
  list: { key: 'Digit8', shift: true, before: '- ' },
  link: { key: 'l', shift: true, around: ['[', '](https://)'] },
};

export const markOf = e => e.ctrlKey || e.metaKey
  ? Object.keys(marks).find(name => [e.key.toLowerCase(), e.code].includes(marks[name].key) && e.shiftKey === !!marks[name].shift) : undefined;

// As if it was typed, so that it can be taken back.
const type = text => document.execCommand(text === '' ? 'delete' : 'insertText', false, text);

function surround(field, [before, after]) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const chosen = value.slice(start, end), isLink = before === '[';
  const isMarked = !isLink && value.slice(start - before.length, start) === before && value.slice(end, end + after.length) === after;
  if (isMarked) field.setSelectionRange(start - before.length, end + after.length);
  type(isMarked ? chosen : before + chosen + after);
  const from = isMarked ? start - before.length : start + before.length;
  if (isLink && chosen !== '') field.setSelectionRange(start + chosen.length + 3, start + chosen.length + 11);
  else field.setSelectionRange(from, from + chosen.length);
}

function beginLines(field, mark) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const from = value.lastIndexOf('\n', start - 1) + 1, to = (value + '\n').indexOf('\n', end);
  const lines = value.slice(from, to).split('\n'), isMarked = lines.every(line => line.startsWith(mark));
  const text = lines.map(line => isMarked ? line.slice(mark.length) : mark + line).join('\n');
  field.setSelectionRange(from, to);
  type(text);
  if (start !== end) field.setSelectionRange(from, from + text.length);
}

function give(field, name) {
  const { around, lines, before } = marks[name];
  if (field.rich) field.rich.give(name);
  else if (before) beginLines(field, before);
  else surround(field, lines && field.value.slice(field.selectionStart, field.selectionEnd).includes('\n') ? lines : around);
}

// Buttons for them stand beside the field, in the same box.
const box = node => node?.closest?.('.ma-writer');
const button = event => event.target.closest?.('[data-mark]');

// The field keeps the focus, and what is chosen in it.
addEventListener('mousedown', e => { if (button(e)) e.preventDefault(); });

addEventListener('click', e => {
  const mark = button(e)?.dataset.mark, field = mark && box(e.target)?.querySelector('.mg-input');
  if (!field) return;
  field.focus();
  give(field, mark);
});

// While some of the text is chosen they come by themselves.
document.addEventListener('selectionchange', () => {
  const field = document.activeElement;
  if (field?.matches('.mg-input')) box(field)?.toggleAttribute('data-choosing', field.selectionStart !== field.selectionEnd);
});

addEventListener('focusout', e => { if (!box(e.target)?.contains(e.relatedTarget)) box(e.target)?.removeAttribute('data-choosing'); });

addEventListener('focusin', e => {
  const part = e.target.closest?.('[data-region]');
  if (part && !e.target.matches('h1, h2')) places.set(part, e.target);
});

// What is meant for a dialog is for nobody else: who writes in one that closes goes on nowhere, and who has closed one writes in the room's box
// only after doing something there, or where the dialog has led to another place.
let isWritingInDialog = false, dialogPlace = null;

function followDialogs(e) {
  const isLetter = e.key?.length === 1 && !e.ctrlKey && !e.metaKey && !e.altKey, isInDialog = e.target.closest?.('.ma-overlay') != null;
  if (isLetter && !isInDialog) {
    if (isWritingInDialog) e.preventDefault();
    return;
  }
  isWritingInDialog = isLetter;
  dialogPlace = isInDialog ? location.href : null;
}

addEventListener('keydown', followDialogs, true);
addEventListener('pointerdown', followDialogs, true);

// Who begins to write while nothing that can be written in has the focus writes in the box of the room.
const takesLetters = 'input, textarea, select, [contenteditable]:not([contenteditable="false"]), [role="listbox"], [role="menu"], [role="dialog"], [role="application"]';

function writeInBox(e) {
  if (e.key.length !== 1 || e.key === ' ' || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.target.closest?.(takesLetters) || openDialogs().length > 0 || dialogPlace === location.href) return;
  const part = e.target.closest?.('.ma-side') ?? document.querySelector('.ma-column');
  [...part?.querySelectorAll('.ma-rich, .mg-input:enabled') ?? []].find(isSeen)?.focus();
}

addEventListener('keydown', e => {
  if (!e.defaultPrevented) writeInBox(e);
  if (e.defaultPrevented || e.isComposing || e.altKey) return;
  const isControl = e.ctrlKey || e.metaKey;
  if (e.key === 'F6' && !isControl) {
    if (goToPart(e.shiftKey ? -1 : 1)) e.preventDefault();
    return;
  }
  const mark = e.target.matches?.('.mg-input') && markOf(e);
  if (!mark) return;
  e.preventDefault();
  give(e.target, mark);
});
