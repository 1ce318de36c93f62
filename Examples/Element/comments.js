const chat = document.querySelector('martlet-messenger'), form = document.querySelector('form');
const me = { id: 'me', name: 'You', own: true }, people = ['Ada', 'Boris', 'Chloé'].map(name => ({ id: name, name }));

// What a server would have: a thousand comments, of which the element asks for pages. It lets go of those that are far from the reader.
const comments = Array.from({ length: 1000 }, (_, number) => ({
  sender: people[number % 3], text: `comment ${number}`, time: 1_790_000_000_000 + number * 600_000,
}));
const rows = new Map();   // from a row to the comment it shows

async function give(from, to, end) {
  const given = await end(comments.slice(from, to), from, to);
  given.forEach((row, index) => rows.set(row, from + index));
}

chat.addEventListener('needolder', ({ detail }) => {
  const to = detail.before === undefined ? comments.length : rows.get(detail.before), from = Math.max(0, to - 50);
  give(from, to, page => chat.endOlder(page, from === 0 ? 'end' : 'more'));
});
chat.addEventListener('neednewer', ({ detail }) => {
  const from = rows.get(detail.after) + 1, to = Math.min(comments.length, from + 50);
  give(from, to, page => chat.endNewer(page, to === comments.length ? 'live' : 'more'));
});

form.addEventListener('submit', async event => {
  event.preventDefault();
  comments.push({ sender: me, text: form.elements.text.value, time: Date.now() });
  form.reset();
  rows.set(await chat.add(comments.at(-1)), comments.length - 1);
});

// An answer stands beneath the comment that it answers.
async function answer(number, text) {
  const row = [...rows].find(([, known]) => known === number)[0];
  await chat.add({ sender: people[0], text, reply: { text: comments[number].text, sender: comments[number].sender, id: row } });
}
globalThis.answer = answer;
