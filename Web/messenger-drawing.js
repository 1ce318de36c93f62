// Content that a page draws into rows of <martlet-messenger>. A renderer gets the data and an element of the page's own document, which is
// never shown there: what stands in it goes to the frame as a description, is built there of harmless elements, and a button pressed there
// is pressed here. So no script of the page ever runs in the frame, which may hold somebody's session. Loaded by martlet-messenger.js.

// Declarations of a style attribute. A shorthand with var() has no longhands to be read one by one.
const declaration = /([\w-]+)\s*:\s*((?:[^;"'(]|"[^"]*"|'[^']*'|\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\))+)/g;

function describe(node, elements) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || ['script', 'style', 'template'].includes(node.localName)) return '';
  const description = { tag: node.localName, element: elements.push(node) - 1, attributes: {}, style: {} };
  for (const { name, value } of node.attributes) description.attributes[name] = value;
  // Addresses are meant from the page, not from the frame.
  for (const name of ['src', 'href']) if (node.hasAttribute(name)) description.attributes[name] = node[name];
  for (const [, name, value] of node.style?.cssText.matchAll(declaration) ?? []) description.style[name] = value.trim();
  description.children = [...node.childNodes].map(child => describe(child, elements)).filter(child => child !== '');
  return description;
}

export class Drawings {
  #post;
  #renderers = new Map();
  #live = new Map();

  constructor(post) { this.#post = post; }

  get kinds() { return [...this.#renderers.keys()]; }
  set(kind, renderer) { this.#renderers.set(kind, renderer); }

  // A row came into view: the page draws, now and whenever it changes what it drew.
  draw({ drawing, kind, data, row, width, sender, id }) {
    const renderer = this.#renderers.get(kind);
    if (renderer === undefined) return;
    const element = document.createElement('div');
    const live = { element, elements: [] };
    // Others may have left out what the renderer reads.
    try {
      live.end = renderer(data, element, { row, width, sender, id });
    } catch (error) {
      element.textContent = typeof data?.body === 'string' ? data.body : '';
      reportError(error);
    }
    const send = () => {
      live.elements = [];
      this.#post({ do: 'drawn', drawing, tree: describe(element, live.elements) });
    };
    live.observer = new MutationObserver(send);
    live.observer.observe(element, { subtree: true, childList: true, characterData: true, attributes: true });
    this.#live.set(drawing, live);
    send();
  }

  press({ drawing, element }) { this.#live.get(drawing)?.elements[element]?.click(); }

  undraw({ drawing }) {
    const live = this.#live.get(drawing);
    this.#live.delete(drawing);
    live?.observer.disconnect();
    if (typeof live?.end === 'function') live.end();
  }

  clear() { for (const drawing of [...this.#live.keys()]) this.undraw({ drawing }); }
}
