// Markdown of a page's own, in a room of <martlet-messenger>: rules that are applied to the HTML that the client has made of what a person wrote.
// They run in the page. What comes of them goes back into the frame, which takes the elements and attributes that messages may have and nothing
// else, as of anybody's message. Loaded by martlet-messenger.js.

const tags = ['b', 'strong', 'i', 'em', 'u', 's', 'del', 'sub', 'sup', 'code', 'span'];
const attributeNames = ['data-mx-color', 'data-mx-bg-color', 'data-mx-spoiler'];
const isAddress = /^(https?|ftp|mailto|magnet|matrix):/i;
// What stands in these means itself.
const literal = ['code', 'pre'];
const lineEnds = ['br', 'hr', 'p', 'div', 'blockquote', 'pre', 'ul', 'ol', 'table', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const rulesLimit = 50, marksLimit = 20, changesLimit = 500;

function refuse(words) { throw new TypeError(words); }

function checkedPair({ begin, end = begin, tag, attributes = {} }) {
  for (const mark of [begin, end]) {
    if (typeof mark !== 'string' || mark === '' || mark.length > marksLimit || /\s/.test(mark)) refuse(`"begin" and "end" are 1 to ${marksLimit} characters without white space.`);
  }
  if (!tags.includes(tag)) refuse(`"tag" is one of ${tags.join(', ')}.`);
  for (const [name, value] of Object.entries(attributes)) {
    if (tag !== 'span' || !attributeNames.includes(name) || typeof value !== 'string') refuse(`"attributes" are, of a span, ${attributeNames.join(', ')}.`);
  }
  return { begin, end, tag, attributes: { ...attributes } };
}

function checkedLink({ pattern, link }) {
  if (!(pattern instanceof RegExp)) refuse('"pattern" is a regular expression.');
  if (typeof link !== 'string' || !isAddress.test(link)) refuse('"link" is an address that begins with https, http, ftp, mailto, magnet or matrix.');
  const flags = pattern.flags.replace(/[gy]/g, '') + 'g';
  // By whole characters where the pattern may be read so: half of an emoji is no piece of an address.
  for (const whole of /[uv]/.test(flags) ? [''] : ['u', '']) {
    try { return { pattern: new RegExp(pattern.source, flags + whole), link }; } catch { /* It may not. */ }
  }
  return refuse('"pattern" is a regular expression.');
}

/** Returns the rules as they are kept. Throws if one of them is not valid. */
export function checkedRules(rules) {
  const list = [...rules ?? []];
  if (list.length > rulesLimit) refuse(`There are at most ${rulesLimit} rules.`);
  return list.map(rule => Object.freeze('pattern' in rule ? checkedLink(rule) : checkedPair(rule)));
}

/** What the rules make of a text and of the HTML that it has; undefined where nothing in it is meant by them. */
export function applied(rules, text, html) {
  const page = new DOMParser().parseFromString(html ?? '', 'text/html'), counter = { left: changesLimit };
  if (html === undefined) {
    text.split('\n').forEach((line, index) => page.body.append(...index > 0 ? [page.createElement('br')] : [], line));
  }
  for (const rule of rules) (rule.pattern ? linkWords : wrap)(page.body, rule, counter);
  return counter.left < changesLimit ? page.body.innerHTML : undefined;
}

// From a mark to the next one on the same line, of the same parent. As with Markdown's own no white space stands at its inner side.
function wrap(parent, rule, counter) {
  let open = null, at = 0;
  for (let node = parent.firstChild; node !== null; node = node.nextSibling, at = 0) {
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (!literal.includes(node.localName)) wrap(node, rule, counter);
      if (lineEnds.includes(node.localName)) open = null;
    }
    if (node.nodeType !== Node.TEXT_NODE) continue;
    while (counter.left > 0) {
      if (open === null) {
        const start = node.data.indexOf(rule.begin, at);
        if (start < 0) break;
        at = start + rule.begin.length;
        if (!/\s/.test(node.data[at] ?? '')) open = { node, start };
      } else {
        const stop = node.data.indexOf(rule.end, at);
        if (stop < 0) break;
        const isEmpty = node === open.node && stop === open.start + rule.begin.length;
        if (isEmpty || /\s/.test(node.data[stop - 1] ?? '')) {
          at = stop + 1;
        } else {
          node = enclose(open, node, stop, rule);
          open = null;
          at = 0;
          counter.left--;
        }
      }
    }
  }
}

// The text behind what is enclosed now.
function enclose(open, node, stop, { begin, end, tag, attributes }) {
  const page = node.ownerDocument, range = page.createRange(), made = page.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  range.setStart(open.node, open.start + begin.length);
  range.setEnd(node, stop);
  made.append(range.extractContents());
  const rest = open.node === node ? node.splitText(open.start + begin.length) : node;
  open.node.deleteData(open.start, begin.length);
  rest.deleteData(0, end.length);
  rest.before(made);
  return rest;
}

function linkWords(parent, rule, counter) {
  for (const node of [...parent.childNodes]) {
    if (node.nodeType === Node.ELEMENT_NODE && node.localName !== 'a' && !literal.includes(node.localName)) linkWords(node, rule, counter);
    if (node.nodeType === Node.TEXT_NODE) node.replaceWith(...linked(node, rule, counter));
  }
}

function linked(node, { pattern, link }, counter) {
  const pieces = [];
  let end = 0;
  for (const match of node.data.matchAll(pattern)) {
    if (match[0] === '' || counter.left === 0) continue;
    const made = node.ownerDocument.createElement('a');
    // What a person wrote stays one piece of the address.
    made.setAttribute('href', link.replace(/\$([$&\d])/g, (_, name) => name === '$' ? '$' : encodeURIComponent((match[name === '&' ? 0 : name] ?? '').toWellFormed())));
    made.textContent = match[0];
    pieces.push(node.data.slice(end, match.index), made);
    end = match.index + match[0].length;
    counter.left--;
  }
  return [...pieces, node.data.slice(end)];
}
