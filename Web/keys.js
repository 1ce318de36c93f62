// The keyboard beyond what elements do by themselves: F6 goes from part to part of the page, Control with a letter sets what is written.

const reachable = ':is(a[href], button, input, select, textarea, [tabindex]):not([tabindex="-1"], :disabled)';
// Where the focus was last in each part.
const places = new WeakMap();

const isSeen = element => element?.isConnected && element.checkVisibility({ visibilityProperty: true });
const entrance = part => [places.get(part), part.querySelector('[tabindex="0"], textarea:enabled'), ...part.querySelectorAll(reachable)].find(isSeen);

// False where there is no other part.
function goToPart(step) {
  const parts = [...document.querySelectorAll('[data-region]')].filter(part => isSeen(part) && !part.closest('[inert]') && entrance(part));
  if (parts.length === 0) return false;
  const at = parts.findLastIndex(part => part.contains(document.activeElement));
  entrance(parts[at < 0 ? (step > 0 ? 0 : parts.length - 1) : (at + step + parts.length) % parts.length]).focus();
  return true;
}

// Markdown around what is chosen. Source: CommonMark.
const marks = { b: ['**', '**'], i: ['*', '*'], e: ['`', '`'], l: ['[', '](https://)'] };

// As if it was typed, so that it can be taken back.
function surround(field, [before, after]) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const chosen = value.slice(start, end), isLink = before === '[';
  const isMarked = !isLink && value.slice(start - before.length, start) === before && value.slice(end, end + after.length) === after;
  if (isMarked) field.setSelectionRange(start - before.length, end + after.length);
  document.execCommand('insertText', false, isMarked ? chosen : before + chosen + after);
  const from = isMarked ? start - before.length : start + before.length;
  if (isLink && chosen !== '') field.setSelectionRange(start + chosen.length + 3, start + chosen.length + 11);
  else field.setSelectionRange(from, from + chosen.length);
}

addEventListener('focusin', e => {
  const part = e.target.closest?.('[data-region]');
  if (part) places.set(part, e.target);
});

addEventListener('keydown', e => {
  if (e.defaultPrevented || e.isComposing || e.altKey) return;
  const isControl = e.ctrlKey || e.metaKey;
  if (e.key === 'F6' && !isControl) {
    if (goToPart(e.shiftKey ? -1 : 1)) e.preventDefault();
    return;
  }
  const key = e.key.toLowerCase();
  if (!isControl || !e.target.matches?.('.mg-input') || !(key in marks) || e.shiftKey !== (key === 'l')) return;
  e.preventDefault();
  surround(e.target, marks[key]);
});
