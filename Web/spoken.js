// What those who listen to the page need beyond what elements say by themselves. Each part was found by listening to Orca with Firefox and
// Chromium (Documentation/Decisions/0012-messenger.md).

// Orca with Firefox says nothing of a dialog that opens while the page behind it goes out of reach, and reads letters as commands there:
// first the focus moves. A dialog that closes is gone once the focus is back in the page.
const shutMilliseconds = 100, goneMilliseconds = 30, saidMilliseconds = 2000, againMilliseconds = 100, namedMilliseconds = 600;

export const isSeen = element => element?.isConnected && (element.checkVisibility?.({ visibilityProperty: true }) ?? true) && !element.closest('[inert]');

// Dialogs, the topmost last, without one that is closing.
export const openDialogs = () => [...document.querySelectorAll('.ma-overlay:not([data-gone])')];

const shutting = new Map();

// Options are made anew with the names of those before; a browser tells of the active one only where the name is another.
const names = new Map();
let nameCount = 0;

export function setAttribute(node, name, value) {
  switch (name) {
    case 'inert':
      if (!node.inert && !shutting.has(node)) shutting.set(node, setTimeout(() => shut(node), shutMilliseconds));
      return;
    case 'id':
      if (node.getAttribute('role') === 'option') {
        names.set(value, `${value}-${++nameCount}`);
        node.id = names.get(value);
        return;
      }
      break;
    case 'aria-activedescendant':
      value = names.get(value) ?? value;
      if ((node.rich?.root ?? node) !== document.activeElement) {
        // It is to be named first, when it gets the focus.
        setTimeout(() => { if (node === document.activeElement && !node.hasAttribute(name)) node.setAttribute(name, value); }, namedMilliseconds);
        return;
      }
      break;
    case 'aria-live':
      if (node.className === 'mg-announcer') emptyOnceSaid(node);
      break;
    case 'role':
      if (value === 'dialog' || value === 'menu') for (const gone of document.querySelectorAll('.ma-overlay[data-gone]')) gone.remove();
      break;
    case 'hidden':
      if (node.contains(document.activeElement)) setTimeout(keepFocus);
      break;
  }
  node.setAttribute(name, value);
}

function shut(node) {
  shutting.delete(node);
  const hadFocus = node.contains(document.activeElement);
  node.inert = true;
  // Somebody was quicker, and is now behind the dialog.
  if (hadFocus) openDialogs().at(-1)?.querySelector('.ma-menu-item, .ma-dialog-title')?.focus();
}

export function removeAttribute(node, name) {
  if (name === 'inert') {
    clearTimeout(shutting.get(node));
    shutting.delete(node);
  }
  // What was hidden with its words is not said when it comes.
  const comes = name === 'hidden' && node.hidden && node.classList.contains('ma-banner');
  node.removeAttribute(name);
  if (comes) sayAgain(node.querySelector('[role=status]'));
}

// The dialog that goes, until it has not the focus any more.
let leaving = null;

export function remove(node) {
  if (node.className === 'ma-overlay' && openDialogs().length === 1 && node.isConnected) {
    node.dataset.gone = '';
    leaving = node;
    setTimeout(() => {
      node.remove();
      keepFocus();
    }, goneMilliseconds);
  } else {
    node.remove();
  }
}

let again = 0;

function sayAgain(status) {
  const words = status?.textContent ?? '';
  if (words === '') return;
  status.textContent = '';
  clearTimeout(again);
  again = setTimeout(() => { if (status.textContent === '') status.textContent = words; }, againMilliseconds);
}

// Words that stay would be said again whenever the page comes back from behind a dialog, and the same words twice not at all.
function emptyOnceSaid(node) {
  let timer = 0;
  new MutationObserver(() => {
    clearTimeout(timer);
    if (node.textContent !== '') timer = setTimeout(() => { node.textContent = ''; }, saidMilliseconds);
  }).observe(node, { childList: true, characterData: true, subtree: true });
}

// ---- The focus

// Where it was last, outside of dialogs; the newest at the end.
const places = [];
const placesLimit = 20;
// The same within the dialogs.
let dialogPlace = null;
// Somebody clicked beside everything.
let isGivenUp = false;
// The last key was a letter.
let isWriting = false;

addEventListener('keydown', e => { isWriting = e.key?.length === 1; }, true);
addEventListener('pointerdown', () => { isWriting = false; }, true);

// Names and descriptions that stand beside a field.
const described = [['.ma-field', '.ma-field-hint'], ['.ma-writer', '.ma-writer-text']];

function describe(field) {
  for (const [box, words] of described) {
    const hint = field.matches('input, textarea, .ma-rich') && field.closest(box)?.querySelector(words);
    if (!hint) continue;
    hint.id ||= `ma-hint-${++nameCount}`;
    field.setAttribute('aria-describedby', hint.id);
  }
}

// Firefox stops at each box that scrolls: one that would say nothing of itself is named by its heading.
function introduce(box) {
  if (!box.matches('div:not([role], [tabindex]), ul:not([tabindex])')) return;
  let around = box.parentElement, heading = null;
  for (; around && !heading; around = around.parentElement) heading = around.querySelector('h1, h2, .ma-dialog-title');
  if (box.tagName === 'DIV') box.setAttribute('role', 'group');
  if (!heading) return;
  heading.id ||= `ma-heading-${++nameCount}`;
  box.setAttribute('aria-labelledby', heading.id);
}

addEventListener('focusin', ({ target }) => {
  isGivenUp = false;
  describe(target);
  introduce(target);
  if (target.closest('.ma-overlay')) {
    dialogPlace = target;
    return;
  }
  const at = places.indexOf(target);
  if (at >= 0) places.splice(at, 1);
  places.push(target);
  if (places.length > placesLimit) places.shift();
});

const nameOf = element => element.ariaLabel || element.textContent;

// What was made anew in its place.
function heirOf(gone, part = document) {
  return [...part.querySelectorAll(gone.tagName)].find(one => isSeen(one) && nameOf(one) === nameOf(gone));
}

// Where it was before. On a telephone a field would bring the keyboard.
function placeBefore() {
  const isTouched = matchMedia('(pointer: coarse)').matches;
  return places.findLast(one => isSeen(one) && !(isTouched && one.matches('input, textarea, .ma-rich')));
}

// What had the focus went away: it goes to what took its place, else back to what had it before, else to the page's heading. Who was writing goes
// on writing, which would press a button.
function keepFocus() {
  const had = places.at(-1), { activeElement } = document;
  if (!had || isGivenUp || !document.hasFocus() || isSeen(had) || ![had, document.body].includes(activeElement) || openDialogs().length > 0) return;
  places.splice(0, places.length, ...places.filter(one => one.isConnected && one !== had), had);
  const next = heirOf(had) ?? (isWriting && had.matches('input, textarea, select, .ma-rich') ? undefined : placeBefore()) ?? [...document.querySelectorAll('h1')].find(isSeen);
  if (next?.tagName === 'H1') next.tabIndex = -1;
  next?.focus({ preventScroll: true });
}

// The same in a dialog, whose heading is its place of last resort.
function keepFocusInDialog() {
  const dialog = openDialogs().at(-1);
  if (!dialog || isGivenUp || !dialogPlace || dialogPlace.isConnected) return;
  (heirOf(dialogPlace, dialog) ?? dialog.querySelector('.ma-dialog-title'))?.focus({ preventScroll: true });
}

// Called after each change of the page, so it looks no further than it must.
export function changed() {
  if (leaving && !leaving.contains(document.activeElement)) leaving.ariaHidden = 'true';
  leaving = null;
  if (document.activeElement !== document.body) return;
  if (places.at(-1)?.isConnected === false) keepFocus();
  if (dialogPlace?.isConnected === false) keepFocusInDialog();
}

addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget) return;
  setTimeout(() => {
    const had = places.at(-1);
    // A button that cannot be pressed meanwhile loses it, too.
    isGivenUp = document.activeElement === document.body && document.hasFocus() && isSeen(had) && !had.matches(':disabled');
    keepFocus();
  });
});
