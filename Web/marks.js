// Words that were looked for, marked in what was found.

// Characters of the text before the first mark that stay where the text is long.
const before = 40;
// What one writes without spaces is found anywhere, other words from their beginning on; short ones are whole words. As the server finds them:
// Documentation/Decisions/0007-search.md
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const shortLength = 4;

const fold = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

function pattern(words) {
  const terms = (fold(words).match(/[\p{L}\p{N}]+/gu) ?? []).sort((one, other) => other.length - one.length)
    .map(term => unspaced.test(term) ? term : `(?<![\\p{L}\\p{N}])${term}` + (term.length < shortLength ? '(?![\\p{L}\\p{N}])' : ''));
  return terms.length > 0 ? new RegExp(terms.join('|'), 'gu') : null;
}

export function mark(node, words) {
  const found = pattern(words), text = node.textContent, places = [];
  if (!found) return;
  // Of each unit of the folded text, where it came from.
  let folded = '', at = 0;
  for (const character of text) {
    const plain = fold(character);
    for (let k = 0; k < plain.length; k++) places.push(at);
    folded += plain;
    at += character.length;
  }
  places.push(at);
  const parts = [];
  at = 0;
  for (const { index, 0: term } of folded.matchAll(found)) {
    const from = places[index], to = places[index + term.length];
    parts.push(at === 0 && from > 2 * before ? '…' + text.slice(from - before, from) : text.slice(at, from));
    parts.push(Object.assign(document.createElement('mark'), { textContent: text.slice(from, to) }));
    at = to;
  }
  node.replaceChildren(...parts, text.slice(at));
}
