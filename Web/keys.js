// The keyboard beyond what elements do by themselves: F6 goes from part to part of the page, Control with a letter sets what is written.

const reachable = ':is(a[href], button, input, select, textarea, [tabindex]):not([tabindex="-1"], :disabled)';
// Where the focus was last in each part.
const places = new WeakMap();

const isSeen = element => element?.isConnected && element.checkVisibility({ visibilityProperty: true });
// A list of articles is entered at the newest of those in view: of the list itself nothing would be said.
function article(part) {
  const feed = part.querySelector('[role="feed"]'), area = feed?.getBoundingClientRect();
  const seen = [...feed?.querySelectorAll('.mg-window > article') ?? []].filter(row => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > area.top && top < area.bottom;
  });
  return feed?.closest('.mg-newest-first') ? seen[0] : seen.at(-1);
}
const entrance = part => [places.get(part), article(part), part.querySelector('[tabindex="0"], textarea:enabled'), ...part.querySelectorAll(reachable)].find(isSeen);

// False where there is no other part.
function goToPart(step) {
  const parts = [...document.querySelectorAll('[data-region]')].filter(part => isSeen(part) && !part.closest('[inert]') && entrance(part));
  if (parts.length === 0) return false;
  const at = parts.findLastIndex(part => part.contains(document.activeElement));
  entrance(parts[at < 0 ? (step > 0 ? 0 : parts.length - 1) : (at + step + parts.length) % parts.length]).focus();
  return true;
}

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

function give(field, { around, lines, before }) {
  if (before) beginLines(field, before);
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
  give(field, marks[mark]);
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

addEventListener('keydown', e => {
  if (e.defaultPrevented || e.isComposing || e.altKey) return;
  const isControl = e.ctrlKey || e.metaKey;
  if (e.key === 'F6' && !isControl) {
    if (goToPart(e.shiftKey ? -1 : 1)) e.preventDefault();
    return;
  }
  if (!isControl || !e.target.matches?.('.mg-input')) return;
  const mark = Object.values(marks).find(({ key, shift }) => [e.key.toLowerCase(), e.code].includes(key) && e.shiftKey === !!shift);
  if (!mark) return;
  e.preventDefault();
  give(e.target, mark);
});
