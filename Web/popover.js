// Menus, pickers and cards stand where the hand is: at the pointer for a context menu, else at the button that was pressed, else at what has the
// focus. On a phone widths.css makes sheets of them, which need no place.

const marginPixels = 8, gapPixels = 4;
const isPhone = matchMedia('(max-width: 719.98px)');

const pointAt = ({ clientX: x, clientY: y }) => ({ left: x, right: x, top: y, bottom: y });
// Of a message its bubble: a row is as wide as the page.
const edgesOf = element => (element.querySelector('.mg-bubble') ?? element).getBoundingClientRect();

// Where the hand was last. It is kept as a rectangle, for a menu that opens another is gone by then.
let hand = pointAt({ clientX: 0, clientY: 0 });

addEventListener('contextmenu', e => { hand = pointAt(e); }, true);
addEventListener('click', e => {
  const pressed = e.target.closest?.('button, a, input, [tabindex]');
  if (pressed && pressed.checkVisibility?.() !== false) hand = edgesOf(pressed);
}, true);
addEventListener('keydown', e => { if (e.target !== document.body) hand = edgesOf(e.target); }, true);

// At a point it begins there. At a button it stands below, or above where there is room only there, and its end is the button's where it would not
// fit else. In both cases it moves as far as it must to be whole.
function place(box, at) {
  const isPoint = at.left === at.right && at.top === at.bottom, isRightToLeft = document.documentElement.dir === 'rtl';
  const [above, below] = [at.top, innerHeight - at.bottom].map(room => room - gapPixels - marginPixels);
  box.style.maxHeight = `${innerHeight - 2 * marginPixels}px`;
  const { offsetWidth: width, offsetHeight: height } = box;
  const within = (place, size, room) => Math.max(marginPixels, Math.min(place, room - marginPixels - size));
  const isAtEnd = isRightToLeft ? at.right - width >= marginPixels : at.left + width > innerWidth - marginPixels;
  box.style.left = `${within(isAtEnd ? at.right - width : at.left, width, innerWidth)}px`;
  const isAbove = !isPoint && height > below && height <= above;
  // What stands above grows upwards.
  box.style.top = isAbove ? '' : `${within(isPoint ? at.top : at.bottom + gapPixels, height, innerHeight)}px`;
  box.style.bottom = isAbove ? `${innerHeight - at.top + gapPixels}px` : '';
}

function open(overlay) {
  const box = overlay.firstElementChild, at = hand;
  const put = () => { if (isPhone.matches) box.style.cssText = ''; else place(box, at); };
  put();
  const sizes = new ResizeObserver(() => {
    if (box.isConnected) { put(); return; }
    sizes.disconnect();
    removeEventListener('resize', put);
  });
  sizes.observe(box);
  addEventListener('resize', put);
}

export function placePopovers(root) {
  new MutationObserver(changes => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node.matches?.('[data-popover]')) open(node);
  }).observe(root, { childList: true });
}
