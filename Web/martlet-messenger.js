// <martlet-messenger>: a conversation in any page. <script type="module" src=".../martlet-messenger.js"></script> is all it needs; the
// files lie side by side. Types and documentation: martlet-messenger.d.ts.

const actionBits = {
  openmedia: 0, openfile: 1, opensender: 2, retry: 3, openreply: 6, react: 7, addreaction: 8, showreactors: 9, openthread: 10, showreaders: 11,
};
const states = { sent: 0, sending: 1, queued: 2, failed: 3 };
const receipts = { hidden: 0, sent: 1, delivered: 2, read: 3 };

class MartletMessenger extends HTMLElement {
  static observedAttributes = ['theme', 'bubbles', 'disabled'];
  #port = null;
  #frame = null;
  #waiting = new Map();
  #early = [];
  #number = 0;
  #row = 0;

  connectedCallback() {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    this.style.display ||= 'block';
    this.#frame = document.createElement('iframe');
    const name = crypto.randomUUID();
    this.#frame.src = new URL('messenger.html?' + name, import.meta.url).href;
    this.#frame.title = this.getAttribute('label') ?? 'Messages';
    this.#frame.style.cssText = 'display:block;width:100%;height:100%;border:0';
    const frame = this.#frame;
    frame.addEventListener('load', () => { if (frame === this.#frame) this.#connect(frame); }, { once: true });
    shadow.replaceChildren(frame);
  }

  disconnectedCallback() {
    this.#frame = this.#port = null;
    for (const { refuse } of this.#waiting.values()) refuse(new Error('The element was removed.'));
    this.#waiting.clear();
  }

  attributeChangedCallback(name) {
    if (this.#port === null) return;
    if (name === 'theme') this.restyle();
    if (name === 'bubbles') this.setBubbles(this.getAttribute('bubbles') ?? 'house');
    if (name === 'disabled') this.#enable();
  }

  #connect(frame) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#heard(data);
    frame.contentWindow.postMessage('martlet-messenger', new URL(frame.src).origin, [port2]);
    this.restyle();
    let actions = 0;
    for (const action of (this.getAttribute('actions') ?? '').split(/[\s,]+/)) {
      if (action in actionBits) actions |= 1 << actionBits[action];
    }
    this.#ask('start', {
      actions, maximumLength: Number(this.getAttribute('maxlength') ?? 1000), readOnly: this.hasAttribute('readonly'),
      fetchesOlder: this.hasAttribute('fetches-older'),
    }).then(() => this.dispatchEvent(new CustomEvent('ready')));
    if (this.hasAttribute('bubbles')) this.setBubbles(this.getAttribute('bubbles'));
    if (this.hasAttribute('disabled')) this.#enable();
    for (const send of this.#early.splice(0)) send();
  }

  #ask(name, members = {}) {
    const number = ++this.#number;
    return new Promise((resolve, refuse) => {
      this.#waiting.set(number, { resolve, refuse });
      const send = () => this.#port?.postMessage({ ...members, do: name, number });
      if (this.#port === null) this.#early.push(send); else send();
    });
  }

  #heard({ answer, event, ...detail }) {
    if (answer !== undefined) {
      this.#waiting.get(answer)?.resolve();
      this.#waiting.delete(answer);
      return;
    }
    if (event === 'send') {
      // As with a form: who prevents the event keeps the text in the box; who calls wait() decides later.
      let wait = null;
      const said = new CustomEvent('send', { cancelable: true, detail: { text: detail.text, wait: promise => { wait = promise; } } });
      const isTaken = this.dispatchEvent(said);
      Promise.resolve(wait ?? isTaken).then(yes => { if (yes !== false) this.#ask('taken', detail); }, () => {});
      return;
    }
    this.dispatchEvent(new CustomEvent(event, { detail }));
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
    this.#port?.postMessage({ do: 'style', properties, theme: this.getAttribute('theme') ?? 'light dark' });
  }

  async add(row, options = {}) { return (await this.addAll([row], options))[0]; }
  async addAll(rows, { before, after, atStart, still } = {}) {
    const made = this.#new(rows);
    await this.#ask('add', { rows: made, before, after, atStart, still });
    return made.map(row => row.id);
  }
  update(id, row) { return this.#ask('update', { id, row: this.#packed(row) }); }
  async replace(id, row) {
    const [made] = this.#new([row]);
    await this.#ask('replace', { id, row: made });
    return made.id;
  }
  remove(...ids) { return this.#ask('remove', { ids }); }
  clear() { return this.#ask('clear'); }
  scrollToEnd() { return this.#ask('scrollToEnd'); }
  scrollToRow(id, { place = 'centre', highlight = false } = {}) { return this.#ask('scrollTo', { id, place, highlight }); }
  async addTyping(sender) {
    const id = ++this.#row;
    await this.#ask('typing', { id, sender });
    return id;
  }
  removeTyping(id) { return this.#ask('typing', { id }); }
  setBubbles(name) { return this.#ask('bubbles', { name }); }
  async endOlder(rows, state = 'more') {
    const made = this.#new(rows);
    await this.#ask('endOlder', { rows: made, state });
    return made.map(row => row.id);
  }
  async endNewer(rows, state = 'more') {
    const made = this.#new(rows);
    await this.#ask('endNewer', { rows: made, state });
    return made.map(row => row.id);
  }
  setTail(state) { return this.#ask('setTail', { state }); }
  setText(text) { return this.#ask('setText', { text }); }
}

customElements.define('martlet-messenger', MartletMessenger);
export { MartletMessenger };
