// <martlet-messenger widget>: a bubble in the corner of the page that opens the chat. The frame is loaded when the user opens the chat, when the
// page asks the element for something, or when the user stayed signed in (`keep`) and unread messages are to be counted.

const words = {
  en: { chat: 'Chat', close: 'Close', unread: '{n} unread' },
  ar: { chat: 'محادثة', close: 'إغلاق', unread: 'غير مقروءة: {n}' },
  de: { chat: 'Chat', close: 'Schließen', unread: '{n} ungelesen' },
  es: { chat: 'Chat', close: 'Cerrar', unread: '{n} sin leer' },
  fr: { chat: 'Discussion', close: 'Fermer', unread: 'Non lus : {n}' },
  ja: { chat: 'チャット', close: '閉じる', unread: '未読{n}件' },
};
const mostShown = 99;
const isPhone = matchMedia('(max-width: 719.98px)');
// The page's own shapes: the bubble's while the chat is closed, and while it is open.
const chatShape = 'M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-8l-4 4v-4H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z', closeShape = 'M6 6l12 12M18 6L6 18';

// The element itself has no box, whatever the page says of its size. The colours are those that the page hands to the messenger.
const look = new CSSStyleSheet();
look.replaceSync(`
:host([widget]) { display: contents !important }
:host([widget][hidden]) { display: none !important }
.bubble, .panel { position: fixed; inset-inline-end: 24px; z-index: 2147483000 }
/* A dialog stands at the start unless told otherwise. */
.panel { inset-inline-start: auto }
:host([widget=start]) :is(.bubble, .panel) { inset-inline: 24px auto }
button { display: flex; align-items: center; justify-content: center; padding: 0; border: 1px solid transparent; border-radius: 50%; font: inherit; cursor: pointer }
button:focus-visible { outline: 3px solid var(--mg-accent, #2f66e8); outline-offset: 2px }
svg { width: 28px; height: 28px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
.bubble { inset-block-end: 24px; width: 56px; height: 56px; color: var(--mg-on-accent, #ffffff); background: var(--mg-accent, #2f66e8); box-shadow: 0 4px 16px rgb(20 30 60 / 0.16), 0 1px 3px rgb(20 30 60 / 0.12) }
.badge { position: absolute; inset-block-start: -4px; inset-inline-end: -4px; box-sizing: border-box; min-width: 24px; height: 24px; padding: 0 6px; border: 2px solid Canvas; border-radius: 12px; font: 600 12px/20px system-ui, sans-serif; text-align: center; color: #ffffff; background: #c4303f }
.badge:empty { display: none }
.panel, .panel:not([open]) { display: flex; flex-direction: column; box-sizing: border-box; inset-block: auto 96px; width: min(380px, 100vw - 48px); height: min(620px, 100vh - 120px); max-width: none; max-height: none; margin: 0; padding: 0; overflow: hidden; border: 1px solid rgb(120 130 150 / 0.35); border-radius: 12px; color: CanvasText; background: Canvas; box-shadow: 0 4px 16px rgb(20 30 60 / 0.16), 0 1px 3px rgb(20 30 60 / 0.12) }
/* Closed, it keeps its size: the frame goes on drawing at the size that it will have. */
.panel:not([open]) { visibility: hidden; pointer-events: none }
.panel > :last-child { flex: 1; min-height: 0 }
.bar { display: none; align-items: center; min-height: 44px; padding-inline: 16px 0; font: 500 15px/20px system-ui, sans-serif }
.bar span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.bar button { width: 44px; height: 44px; color: inherit; background: none }
.bar svg { width: 24px; height: 24px }
.alert { margin: 16px; font: 15px/20px system-ui, sans-serif }
.ears { position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media (prefers-reduced-motion: no-preference) { .panel[open] { animation: rise 120ms ease-out } }
@keyframes rise { from { opacity: 0; translate: 0 8px } }
@media (max-width: 719.98px) {
  .panel, .panel:not([open]), :host([widget=start]) .panel { inset: 0; width: 100%; height: 100%; border: 0; border-radius: 0; box-shadow: none }
  .bar { display: flex }
}
`);

function make(tag, className, parent) {
  const node = document.createElement(tag);
  node.className = className;
  parent?.append(node);
  return node;
}

function button(className, parent) {
  const made = make('button', className, parent);
  made.type = 'button';
  const svg = made.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'svg'));
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  made.shape = svg.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'path'));
  return made;
}

export class Widget {
  #element;
  #wish;
  #bubble = button('bubble');
  #badge = make('span', 'badge', this.#bubble);
  #ears = make('span', 'ears');
  #panel = make('dialog', 'panel');
  #title;
  #close;
  #unread = 0;

  // `wish`: told what the user wants, true for the chat.
  constructor(element, box, wish) {
    this.#element = element;
    this.#wish = wish;
    const bar = make('div', 'bar', this.#panel);
    this.#title = make('span', '', bar);
    this.#close = button('', bar);
    this.#close.shape.setAttribute('d', closeShape);
    this.#panel.append(box);
    // While it is closed the frame cannot take the focus: it would count as read what nobody sees.
    box.inert = true;
    this.#badge.setAttribute('aria-hidden', 'true');
    this.#ears.setAttribute('role', 'status');
    this.#bubble.addEventListener('click', () => wish(!this.isOpen));
    this.#close.addEventListener('click', () => wish(false));
    // Of a full screen the browser asks by itself; beside the page the key is heard where the focus is.
    this.#panel.addEventListener('cancel', event => { event.preventDefault(); wish(false); });
    for (const part of [this.#panel, this.#bubble]) {
      part.addEventListener('keydown', event => {
        if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || !this.isOpen) return;
        event.preventDefault();
        wish(false);
      });
    }
    this.rename();
  }

  get nodes() { return [this.#bubble, this.#panel, this.#ears]; }
  get sheet() { return look; }
  get isOpen() { return this.#panel.open; }

  get #words() { return words[this.#element.closest('[lang]')?.lang.split('-')[0].toLowerCase()] ?? words.en; }

  // What the user reads of it is the page's, never the room's: a room is named by other people.
  rename() {
    const { chat, close, unread } = this.#words, label = this.#element.getAttribute('label') || chat;
    const count = this.#unread > mostShown ? `${mostShown}+` : this.#unread;
    const told = this.#unread > 0 ? unread.replace('{n}', count) : '';
    this.#title.textContent = label;
    this.#panel.setAttribute('aria-label', label);
    this.#close.setAttribute('aria-label', close);
    this.#bubble.setAttribute('aria-label', this.isOpen || told === '' ? label : `${label}, ${told}`);
    this.#bubble.setAttribute('aria-expanded', this.isOpen);
    this.#bubble.shape.setAttribute('d', this.isOpen ? closeShape : chatShape);
    this.#badge.textContent = this.isOpen || told === '' ? '' : count;
    if (this.#ears.textContent !== told) this.#ears.textContent = this.isOpen ? '' : told;
  }

  set unread(count) {
    this.#unread = count;
    this.rename();
  }
  get unread() { return this.#unread; }

  open(frame) {
    if (this.isOpen) return;
    this.#panel.lastElementChild.inert = false;
    if (isPhone.matches) this.#panel.showModal(); else this.#panel.show();
    this.rename();
    frame?.focus();
  }

  // The focus goes back to the bubble where it was in the chat.
  shut() {
    if (!this.isOpen) return;
    const hadFocus = this.#panel.contains(this.#panel.getRootNode().activeElement);
    this.#panel.close();
    this.#panel.lastElementChild.inert = true;
    this.rename();
    if (hadFocus || document.activeElement === document.body) this.#bubble.focus();
  }

  // In the place of the chat.
  say(text) {
    const told = make('p', 'alert');
    told.setAttribute('role', 'alert');
    told.textContent = text;
    this.#panel.lastElementChild.replaceChildren(told);
  }
}
