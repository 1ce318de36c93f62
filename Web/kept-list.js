// The list of rooms as it was when the page was left last: it stands there at once, until the program has its own.

import { setting, settingService } from './settings.js';

const KEY = 'kept-list';
// More than are in view; and so much more than that needs that what is longer is not worth keeping.
const LINES = 40, LIMIT = 200_000;

const { setting_set: set } = settingService();

// Without what only this page can show (pictures behind its own addresses), and what is true for a moment only.
function copy(list) {
  const kept = list.cloneNode(true);
  // What was looked for is not kept.
  kept.classList.remove('ma-searching');
  kept.querySelector('.ma-found')?.replaceChildren();
  for (const line of [...kept.querySelectorAll('.ma-entry-item')].slice(LINES)) line.remove();
  for (const picture of kept.querySelectorAll('img[src^="blob:"]')) picture.remove();
  for (const sign of kept.querySelectorAll('.ma-presence, .ma-entry-call')) sign.hidden = true;
  // What was said in encrypted rooms.
  for (const text of kept.querySelectorAll('[data-private]')) text.replaceChildren();
  for (const node of kept.querySelectorAll('.ma-typing')) node.classList.remove('ma-typing');
  // The page's policy has none of them in HTML.
  for (const node of kept.querySelectorAll('[style]')) node.removeAttribute('style');
  return kept.outerHTML;
}

export function keepList(root) {
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') keep(); });

  function keep() {
    const list = root.querySelector('.ma-list');
    if (!list?.querySelector('.ma-entry') || setting('signed-in') === '') return;
    const html = copy(list);
    if (html.length <= LIMIT) set(KEY, html);
  }
}

// What a button is called, whatever is unread.
const name = button => button?.ariaLabel ?? button?.querySelector('.ma-button-text')?.textContent ?? '';
const box = page => page.querySelector('.ma-filter-input');

// nil unless there is one. A room that is chosen in it is the page's address, which the program reads when it starts, and hears of later. Any
// other button that was pressed is pressed again in the program's list, and what was typed to search for is looked for there: `goOn(list)`.
export function drawKeptList() {
  const html = setting(KEY);
  if (html === '') return null;
  // What this very page has written out of its own nodes.
  const body = new DOMParser().parseFromString(html, 'text/html').body;
  const screen = document.createElement('div');
  screen.id = 'early';
  screen.className = 'ma-app';
  screen.setAttribute('aria-busy', 'true');
  const panes = document.createElement('div');
  panes.className = 'ma-body';
  const center = document.createElement('div');
  center.className = 'ma-center';
  panes.append(...body.childNodes, center);
  screen.append(panes);
  let pressed = '';
  screen.addEventListener('click', ({ target }) => {
    const line = target.closest('.ma-entry[data-room]');
    if (!line) pressed = name(target.closest('button'));
    if (!line) return;
    for (const other of screen.querySelectorAll('.ma-entry.ma-selected')) other.classList.remove('ma-selected');
    line.classList.add('ma-selected');
    location.hash = 'room/' + encodeURIComponent(line.dataset.room);
  });
  screen.goOn = list => {
    if (pressed !== '') [...list.querySelectorAll('button')].find(button => name(button) === pressed)?.click();
    const typed = box(screen)?.value ?? '', field = box(list);
    if (typed === '' || !field) return;
    field.value = typed;
    field.focus();
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };
  return screen;
}
