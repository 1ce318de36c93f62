const chat = document.querySelector('martlet-messenger'), state = document.querySelector('#state');

// Look `custom`: the page draws the messages. Registered whether it is used or not.
chat.register('message', (text, element, { sender }) => {
  element.style.cssText = 'padding: 4px 8px; font-style: italic';
  element.textContent = `${sender.name}: ${text}`;
});

// Asked before a text goes out, also by promise; the message is there at once, and counts as sent once its echo has come.
chat.addEventListener('send', event => {
  const { text, senderID, alias, wait } = event.detail;
  if (text === 'no') return event.preventDefault();
  wait(Promise.resolve().then(() => {
    setTimeout(() => chat.addMessage({ text, senderID, alias }), 50);
    setTimeout(() => chat.addMessage({ text: 'You wrote: ' + text, senderID: 'desk', alias: 'Support desk' }), 100);
  }));
});

chat.addEventListener('close', () => { state.value = 'Closed.'; });

// Figures of the page's own.
const counts = {};
chat.addEventListener('measure', ({ detail: { action, outcome } }) => {
  const key = `${action} ${outcome}`;
  counts[key] = (counts[key] ?? 0) + 1;
});
globalThis.counts = counts;

await chat.addMessage({ text: 'Hello!', senderID: 'desk', alias: 'Support desk' });
