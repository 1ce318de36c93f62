// On a phone the system's Back closes one layer at a time: a dialog, a menu, what lies over the messages. Each layer that opens makes an entry of
// the history, with the address as it is; going back from it presses Escape in that layer. A layer that closes by itself takes its entry along.

const root = document.querySelector('#app');
let made = 0;
// The entry of a layer that closed by itself is being left.
let isReturning = false;

// From the bottom to the top.
function layers() {
  const side = root.querySelector('.ma-shows-panel .ma-side');
  return [...side ? [side] : [], ...root.querySelectorAll('.ma-overlay:not([data-gone])')];
}

function follow() {
  const { length } = layers();
  for (; made < length; made++) history.pushState({ layer: made + 1 }, '');
  if (length >= made) return;
  made = length;
  // What was gone to meanwhile has taken its place (page.js).
  const entry = history.state?.layer ?? 0;
  if (entry <= length) return;
  isReturning = true;
  history.go(length - entry);
}

addEventListener('popstate', e => {
  const before = made, entry = e.state?.layer ?? 0;
  if (isReturning) {
    isReturning = false;
    return e.stopImmediatePropagation();
  }
  if (entry >= before) return;
  e.stopImmediatePropagation();
  made = entry;
  for (const layer of layers().slice(entry).reverse()) {
    const place = layer.contains(document.activeElement) ? document.activeElement : layer;
    place.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
  }
}, true);

// Dialogs stand in the page's root; the panes say by a class that something lies over the messages.
const panes = new MutationObserver(follow);
new MutationObserver(() => {
  const body = root.querySelector('.ma-body');
  if (body) panes.observe(body, { attributes: true, attributeFilter: ['class'] });
  follow();
}).observe(root, { childList: true });
