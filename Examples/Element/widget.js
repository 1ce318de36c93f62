const chat = document.querySelector('martlet-messenger');
const desk = { id: 'desk', name: 'Support' }, visitor = { id: 'me', name: 'You', own: true };

// For a room of a homeserver, the tag has `homeserver`, `room` and `keep` instead, and this script is not needed.
chat.addEventListener('send', ({ detail: { text, wait } }) => wait((async () => {
  await chat.add({ sender: visitor, text });
  await chat.add({ sender: desk, text: `We have read: ${text}` });
})()));

// Buttons of the page open it, too.
document.querySelector('#ask').addEventListener('click', () => { chat.open = true; });

await chat.add({ sender: desk, text: 'How can we help?' });
