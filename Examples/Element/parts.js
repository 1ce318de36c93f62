const chat = document.querySelector('martlet-messenger'), told = document.querySelector('#told');
const sender = { id: 'shop', name: 'Shop' };

// Any address a picture may have; width and height keep its place.
const square = colour => 'data:image/svg+xml,' + encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="${colour}"/></svg>`);
const images = ['teal', 'tomato', 'gold', 'plum'].map(name => ({ name, source: square(name), width: 40, height: 30 }));

let chosen = [];
const message = () => ({
  sender,
  parts: [
    { text: 'Have a look:' },
    { images, rows: 2 },
    { file: { name: 'prices.pdf', detail: '20 KB' } },
    { location: { name: 'The shop', detail: '52.5, 13.4' } },
    { poll: {
      question: 'Which one?', voters: chosen.length,
      answers: images.map(({ name }) => ({ id: name, text: name, votes: chosen.includes(name) ? 1 : 0, own: chosen.includes(name) })),
    } },
    { preview: { url: 'https://example.org/shop', title: 'Our shop', text: 'Open all day', site: 'example.org' } },
  ],
});

const row = await chat.add(message());

for (const type of ['openmedia', 'openfile', 'openlocation', 'vote']) {
  chat.addEventListener(type, ({ detail }) => { told.value = JSON.stringify({ type, ...detail }); });
}
chat.addEventListener('vote', ({ detail }) => {
  chosen = detail.answers;
  chat.update(row, message());
});
