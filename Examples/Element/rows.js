const chat = document.querySelector('martlet-messenger');
const me = { id: 'me', name: 'You', own: true };
const desk = { id: 'desk', name: 'Support desk' };

// Promises: each is fulfilled when the page shows the change, in the order of the calls.
await chat.add({ line: 'Ask us anything' });
const welcome = await chat.add({ sender: desk, text: 'Hello! What can we do for you?', reactions: [{ key: '👋', count: 1 }] });

// Events: the text leaves the box unless the event is prevented, or a promise given to wait() says no.
chat.addEventListener('send', async event => {
  const { text, wait } = event.detail;
  if (text.includes('secret')) return event.preventDefault();
  wait((async () => {
    const row = await chat.add({ sender: me, text, state: 'sending' });
    await new Promise(done => setTimeout(done, 200));
    await chat.update(row, { sender: me, text, receipt: 'read' });
    const typing = await chat.addTyping(desk);
    await new Promise(done => setTimeout(done, 200));
    await chat.removeTyping(typing);
    await chat.add({ sender: desk, text: 'You wrote: ' + text, reply: { sender: me, text, id: row } });
  })());
});

chat.addEventListener('react', ({ detail }) => {
  chat.update(detail.row, { sender: desk, text: 'Hello! What can we do for you?', reactions: [{ key: detail.key, count: 2, own: true }] });
});

globalThis.welcome = welcome;
