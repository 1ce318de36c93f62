// <martlet-messenger>: a conversation in any page. <script type="module" src=".../martlet-messenger.js"></script> is all it needs; the
// files lie side by side. Types and documentation: martlet-messenger.d.ts.

import { Drawings } from './messenger-drawing.js';
import { RoomEvents } from './messenger-events.js';
import { applied, checkedRules } from './messenger-markdown.js';
import { Widget } from './messenger-widget.js';

const actionBits = {
  openmedia: 0, openfile: 1, opensender: 2, retry: 3, openlocation: 5, openreply: 6, react: 7, addreaction: 8, showreactors: 9, openthread: 10, showreaders: 11, vote: 12,
};
const states = { sent: 0, sending: 1, queued: 2, failed: 3 };
const receipts = { hidden: 0, sent: 1, delivered: 2, read: 3 };
// Steps of a transaction.
const changes = new Set(['add', 'update', 'replace', 'remove', 'addToGroup', 'removeFromGroup', 'clear']);
// Asked for by the element itself.
const unmeasured = new Set(['start', 'taken', 'enable', 'register']);
// What the frame numbers itself stays below.
const firstRow = 2 ** 32;
// A frame that is there says so at once.
const patienceMilliseconds = 5000;

// A style sheet of the page overrides what is said of the host here.
const defaults = new CSSStyleSheet();
defaults.replaceSync(':host { display: block; height: 30rem } :host([hidden]) { display: none }');

// With `widget` and `keep`: the number of unread messages, for as long as somebody stays signed in. The frame tells when it changes only. Browsers throw
// if they let the page keep nothing.
function keptUnread(act, { homeserver, room }, ...value) {
  try { return localStorage[act](`martlet-messenger ${homeserver} ${room}`, ...value); } catch { return null; }
}

// Returns why the page cannot send that as a custom message, or null.
function refusedMessage(content, homeserver) {
  if (!homeserver) return 'There is no room.';
  const { msgtype, body } = content;
  if (typeof msgtype !== 'string' || msgtype === '' || msgtype.startsWith('m.')) return 'A custom message needs a msgtype of its own, not "m.…".';
  return typeof body !== 'string' || body.trim() === '' ? 'Clients that do not draw this message need a text (body).' : null;
}

class MartletMessenger extends HTMLElement {
  static observedAttributes = ['theme', 'bubbles', 'disabled', 'homeserver', 'label', 'open', 'room'];
  #port = null;
  #frame = null;
  #box = null;
  #widget = null;
  #waiting = new Map();
  #early = [];
  #number = 0;
  #row = firstRow;
  #steps = null;
  #drawings = new Drawings(request => this.#port?.postMessage(request));
  #events = new RoomEvents();
  #patience = 0;
  #userID = null;
  #rules = [];

  get homeserver() { return this.getAttribute('homeserver'); }
  set homeserver(address) { this.#reflect('homeserver', address); }
  get room() { return this.getAttribute('room'); }
  set room(address) { this.#reflect('room', address); }
  get open() { return this.hasAttribute('open'); }
  set open(isOpen) { this.toggleAttribute('open', Boolean(isOpen)); }
  get theme() { return this.getAttribute('theme'); }
  set theme(name) { this.#reflect('theme', name); }
  get userID() { return this.#userID; }
  get markdown() { return this.#rules; }
  set markdown(rules) { this.#rules = Object.freeze(checkedRules(rules)); }

  #reflect(name, value) { if (value === null || value === undefined) this.removeAttribute(name); else this.setAttribute(name, value); }

  connectedCallback() {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const box = this.#box = document.createElement('div'), composer = document.createElement('slot');
    box.style.cssText = 'display:flex;flex-direction:column;height:100%';
    composer.name = 'composer';
    box.append(composer);
    this.#widget = this.hasAttribute('widget') ? new Widget(this, box, isOpen => { this.open = isOpen; }) : null;
    shadow.adoptedStyleSheets = this.#widget ? [defaults, this.#widget.sheet] : [defaults];
    shadow.replaceChildren(...this.#widget?.nodes ?? [box]);
    const kept = this.#widget && this.hasAttribute('keep') ? keptUnread('getItem', this) : null;
    if (kept !== null) this.#widget.unread = Number(kept) || 0;
    if (this.open) this.#show();
    if (!this.#widget || this.#early.length > 0 || kept !== null) this.#load();
  }

  #load() {
    if (this.#box === null || this.#frame !== null) return;
    const frame = this.#frame = document.createElement('iframe');
    frame.src = new URL('messenger.html', import.meta.url).href;
    frame.title = this.getAttribute('label') ?? 'Messages';
    frame.allow = 'autoplay; camera; clipboard-write; display-capture; geolocation; microphone';
    frame.style.cssText = 'display:block;width:100%;flex:1;min-height:0;border:0';
    // Again where the frame was loaded anew.
    frame.addEventListener('load', () => { if (frame === this.#frame) this.#connect(frame); });
    this.#box.prepend(frame);
  }

  // A widget is opened or closed; the attribute does nothing for others.
  #show() {
    const widget = this.#widget;
    if (!widget || widget.isOpen === this.open) return;
    if (this.open) {
      this.#load();
      // Of rows that the page fills, opening is reading.
      if (!this.homeserver) widget.unread = 0;
      widget.open(this.#frame);
    } else {
      widget.shut();
    }
    this.#tellShown();
    this.#tell('toggle', { open: this.open });
  }

  #tellShown() { if (this.#widget) this.#port?.postMessage({ do: 'shown', isShown: this.open }); }

  #keepUnread() {
    if (this.#widget && this.hasAttribute('keep') && this.#userID !== null) keptUnread('setItem', this, this.#widget.unread);
  }

  #count(rows) {
    if (this.#widget && !this.open) this.#widget.unread += rows.filter(({ sender }) => sender && !sender.own).length;
  }

  // Something of the page's own in the place of the box to write in.
  get #isReadOnly() { return this.hasAttribute('readonly') || this.querySelector(':scope > [slot="composer"]') !== null; }

  disconnectedCallback() {
    this.#frame = this.#box = this.#widget = null;
    this.#end('The element was removed.');
    this.#early = [];
  }

  #end(reason) {
    clearTimeout(this.#patience);
    this.#port?.close();
    this.#port = this.#userID = null;
    this.#drawings.clear();
    this.#events = new RoomEvents();
    for (const { refuse } of this.#waiting.values()) refuse(new Error(reason));
    this.#waiting.clear();
  }

  attributeChangedCallback(name, old, value) {
    if (name === 'open') this.#show();
    if (name === 'label') this.#widget?.rename();
    if (this.#port === null) return;
    if (name === 'theme') this.restyle();
    if (name === 'bubbles') this.setBubbles(value ?? 'house');
    if (name === 'disabled' && !this.homeserver) this.#enable();
    // The session belongs to that room and server: another room or server starts again.
    if ((name === 'homeserver' || name === 'room') && old !== value) {
      this.disconnectedCallback();
      this.connectedCallback();
    }
  }

  #connect(frame) {
    if (this.#port !== null) this.#end('The frame was loaded anew.');
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#heard(data);
    // Whatever else came into the frame does not get the port.
    frame.contentWindow.postMessage('martlet-messenger', new URL(frame.src).origin, [port2]);
    this.#patience = setTimeout(() => this.#refused(), patienceMilliseconds);
    this.restyle();
    this.#tellShown();
    if (this.homeserver) this.#measure('connect', 'attempt');
    this.#ask('start', this.homeserver ? this.#wishes() : this.#options()).then(() => this.#tell('ready', null), () => {});
    for (const kind of this.#drawings.kinds) this.#ask('register', { kind }).catch(() => {});
    if (!this.homeserver && this.hasAttribute('bubbles')) this.setBubbles(this.getAttribute('bubbles'));
    if (!this.homeserver && this.hasAttribute('disabled')) this.#enable();
    for (const send of this.#early.splice(0)) send();
  }

  #wishes() {
    return {
      homeserver: this.homeserver, room: this.room ?? '', guest: this.hasAttribute('guest'), keep: this.hasAttribute('keep'),
      readonly: this.#isReadOnly, bubbles: this.getAttribute('bubbles') ?? 'house', oneReaction: this.hasAttribute('one-reaction'),
      unreadNumbers: this.hasAttribute('unread-numbers'),
      commands: [...new Set(this.getAttribute('commands')?.toLowerCase().split(/[\s/]+/))].join(' '),
      theme: this.theme ?? '', language: this.closest('[lang]')?.lang.split('-')[0].toLowerCase(),
    };
  }

  #options() {
    let actions = 0;
    for (const action of (this.getAttribute('actions') ?? '').split(/[\s,]+/)) {
      if (action in actionBits) actions |= 1 << actionBits[action];
    }
    const options = {
      actions, maximumLength: Number(this.getAttribute('maxlength') ?? 1000), readOnly: this.#isReadOnly,
      fetchesOlder: this.hasAttribute('fetches-older'), newestFirst: this.hasAttribute('newest-first'),
      answersBeneath: this.hasAttribute('answers-beneath'), avatars: this.getAttribute('avatars') ?? undefined,
    };
    if (this.hasAttribute('max-rows')) options.rowsLimit = Number(this.getAttribute('max-rows'));
    return this.hasAttribute('sender-id') ? { ...options, ...this.#chat() } : options;
  }

  #chat() {
    return {
      senderID: this.getAttribute('sender-id'), alias: this.getAttribute('alias') ?? undefined, title: this.getAttribute('chat-title') ?? '',
      look: this.getAttribute('look') ?? 'standard', closable: this.hasAttribute('closable'), confirms: this.hasAttribute('confirms'),
    };
  }

  // The frame did not come: it is not there, or its server does not let it be shown in this page.
  #refused() {
    const server = new URL(this.#frame.src).origin;
    const message = `${server} does not let pages of ${location.origin} show its messenger. The operator of a Martlet server allows them with the setting embed_origins: ["${location.origin}"]; other web servers name them in Content-Security-Policy: frame-ancestors.`;
    console.error(`<martlet-messenger>: ${message}`);
    if (this.#widget) {
      this.#widget.say(message);
    } else {
      const words = document.createElement('p');
      words.setAttribute('role', 'alert');
      words.textContent = message;
      this.shadowRoot.replaceChildren(words);
    }
    this.#frame = this.#box = null;
    this.#end(message);
    this.#tell('error', { message, isFinal: true });
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  // For figures of the page's own: that something was tried, and how it ended.
  #measure(action, outcome) { this.#tell('measure', { action, outcome }); }

  #ask(name, members = {}) {
    const number = ++this.#number, request = { ...members, do: name, number };
    const promise = new Promise((resolve, refuse) => {
      this.#waiting.set(number, { resolve, refuse });
      if (this.#steps !== null && changes.has(name)) this.#steps.push(request);
      else if (this.#port === null) {
        this.#early.push(() => this.#port?.postMessage(request));
        this.#load();
      } else this.#port.postMessage(request);
    });
    if (!unmeasured.has(name)) {
      this.#measure(name, 'attempt');
      promise.then(() => this.#measure(name, 'success'), () => this.#measure(name, 'failure'));
    }
    return promise;
  }

  #heard({ answer, error, value, event, ...detail }) {
    if (answer !== undefined) {
      const waiting = this.#waiting.get(answer);
      this.#waiting.delete(answer);
      if (error === undefined) waiting?.resolve(value); else waiting?.refuse(new Error(error));
      return;
    }
    switch (event) {
      case 'here': clearTimeout(this.#patience); return;
      case 'draw': this.#drawings.draw(detail); return;
      case 'undraw': this.#drawings.undraw(detail); return;
      case 'drawnclick': this.#drawings.press(detail); return;
      case 'send': this.#decide(detail); return;
      case 'format': this.#format(detail); return;
      case 'escape': if (this.#widget) this.open = false; return;
      case 'signedin':
        this.#userID = detail.userID;
        this.#keepUnread();
        break;
      case 'signedout':
        this.#userID = null;
        if (this.#widget) {
          keptUnread('removeItem', this);
          this.#widget.unread = 0;
        }
        break;
      case 'unread':
        if (this.#widget) this.#widget.unread = Math.max(0, Number(detail.count) || 0);
        this.#keepUnread();
        break;
      case 'needolder': case 'neednewer': this.#measure(event, 'attempt');
    }
    for (const [name, about] of this.#events.read(event, detail, this.#userID) ?? [[event, detail]]) {
      if (name === 'connected' || name === 'disconnected') this.#measure('connect', name === 'connected' ? 'success' : 'failure');
      this.#tell(name, about);
    }
  }

  // As with a form: who prevents the event keeps the text in the box; who calls wait() decides later.
  async #decide({ token, ...detail }) {
    let wait = null;
    const said = new CustomEvent('send', { cancelable: true, detail: { ...detail, wait: promise => { wait = promise; } } });
    this.#measure('send', 'attempt');
    try {
      const isTaken = this.dispatchEvent(said), answer = await (wait ?? isTaken);
      if (answer === false) throw new Error('The page refused the text.');
      await this.#ask('taken', { token, text: typeof answer === 'string' ? answer : detail.text, hasRules: this.#rules.length > 0 });
      this.#measure('send', 'success');
    } catch {
      this.#measure('send', 'failure');
    }
  }

  // A rule that cannot be applied keeps nothing from being sent.
  #format({ token, text, html }) {
    let made;
    try { made = applied(this.#rules, text, html); } catch (error) { reportError(error); }
    this.#ask('taken', { token, html: made }).catch(() => {});
  }

  #enable() {
    return this.#ask('enable', { on: !this.hasAttribute('disabled'), note: this.getAttribute('disabled') || undefined });
  }

  #packed(row) {
    return { ...row, state: states[row.state] ?? 0, receipt: receipts[row.receipt] ?? 0, time: Math.round(Number(row.time ?? Date.now())) };
  }

  #new(rows) { return rows.map(row => ({ ...this.#packed(row), id: ++this.#row })); }

  /** Takes over the custom properties that begin with --mg-, and the theme. */
  restyle() {
    const computed = getComputedStyle(this), properties = {};
    for (const sheet of document.styleSheets) {
      let rules = [];
      try { rules = sheet.cssRules; } catch { continue; }
      for (const rule of rules) for (const name of rule.style ?? []) if (name.startsWith('--mg-')) properties[name] = computed.getPropertyValue(name);
    }
    for (const name of this.style) if (name.startsWith('--mg-')) properties[name] = computed.getPropertyValue(name);
    this.#port?.postMessage({ do: 'style', properties, theme: this.theme ?? '' });
  }

  // ---- Both

  scrollToEnd() { return this.#ask('scrollToEnd'); }
  setBubbles(name) { return this.#ask('bubbles', { name }); }
  setText(text) { return this.#ask('setText', { text }); }

  // ---- With a homeserver

  signIn({ userID, deviceID, accessToken }) { return this.#ask('signIn', { userID, deviceID, accessToken }); }
  signInWithJWT(jwt) { return this.#ask('signIn', { jwt }); }
  signOut() { return this.#ask('signOut'); }
  join() { return this.#ask('join'); }
  send(text, { data } = {}) {
    return data === undefined ? this.#ask('send', { text }) : this.sendEvent('m.room.message', { msgtype: 'm.text', body: text, ...data });
  }
  sendEvent(type, content) {
    return this.homeserver ? this.#ask('send', { type, content }) : Promise.reject(new TypeError('There is no room.'));
  }
  sendMessage(content) {
    const refusal = refusedMessage(content, this.homeserver);
    return refusal === null ? this.sendEvent('m.room.message', content) : Promise.reject(new TypeError(refusal));
  }
  scrollToEvent(event) { return this.#ask('scrollTo', { event }); }

  // ---- Without one

  async add(row, options = {}) { return (await this.addAll([row], options))[0]; }
  async addAll(rows, { before, after, atStart, still } = {}) {
    const made = this.#new(rows);
    this.#count(rows);
    await this.#ask('add', { rows: made, before, after, atStart, still });
    return made.map(row => row.id);
  }
  update(id, row) { return this.#ask('update', { id, row: this.#packed(row) }); }
  async replace(id, row) {
    const [made] = this.#new([row]);
    await this.#ask('replace', { id, row: made });
    return made.id;
  }
  async addToGroup(id, row) {
    const [made] = this.#new([row]);
    await this.#ask('addToGroup', { id, row: made });
    return made.id;
  }
  removeFromGroup(id) { return this.#ask('removeFromGroup', { id }); }
  group(id) { return this.#ask('group', { id }); }
  remove(...ids) { return this.#ask('remove', { ids }); }
  clear() { return this.#ask('clear'); }
  scrollToRow(id, { place = 'centre', highlight = false } = {}) { return this.#ask('scrollTo', { id, place, highlight }); }
  async addTyping(sender) {
    const id = ++this.#row;
    await this.#ask('typing', { id, sender });
    return id;
  }
  removeTyping(id) { return this.#ask('typing', { id }); }
  async endOlder(rows, state = 'more') {
    const made = this.#new(rows);
    await this.#ask('endOlder', { rows: made, state });
    this.#measure('needolder', state === 'failed' ? 'failure' : 'success');
    return made.map(row => row.id);
  }
  async endNewer(rows, state = 'more') {
    const made = this.#new(rows);
    await this.#ask('endNewer', { rows: made, state });
    this.#measure('neednewer', state === 'failed' ? 'failure' : 'success');
    return made.map(row => row.id);
  }
  setTail(state) { return this.#ask('setTail', { state }); }

  /** All that `change` asks for at once is one step with one layout. */
  transaction(change, mode = 'natural') {
    if (this.#steps !== null) return Promise.resolve(change(this));
    const steps = this.#steps = [];
    try {
      change(this);
    } catch (error) {
      for (const { number } of steps) {
        this.#waiting.get(number)?.refuse(error);
        this.#waiting.delete(number);
      }
      return Promise.reject(error);
    } finally {
      this.#steps = null;
    }
    return this.#ask('transaction', { mode, steps });
  }

  /** Draws content of a kind: `renderer` gets the data and an element to fill. */
  register(kind, renderer) {
    this.#drawings.set(kind, renderer);
    return this.#ask('register', { kind });
  }

  // ---- A text chat

  addMessage({ text, senderID, alias, time }) {
    this.#count([{ sender: { own: senderID === this.getAttribute('sender-id') } }]);
    return this.#ask('addMessage', { text, senderID, alias, time: time === undefined ? undefined : Math.round(Number(time)) });
  }
  setState(id, state) { return this.#ask('setState', { id, state: states[state] ?? 0 }); }
}

customElements.define('martlet-messenger', MartletMessenger);
export { MartletMessenger };
