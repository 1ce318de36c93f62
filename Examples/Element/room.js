const chat = document.querySelector('martlet-messenger');
const state = document.querySelector('#state'), hello = document.querySelector('#hello'), order = document.querySelector('#order');

// Attributes and properties are the same; another room or server loads the frame anew.
for (const [name, value] of new URLSearchParams(location.search)) chat.setAttribute(name, value);

// Events: who is signed in, what is said, what is unread, what went wrong.
chat.addEventListener('signedin', ({ detail }) => {
  state.value = `Signed in as ${detail.userID}.`;
  hello.disabled = order.disabled = false;
});
chat.addEventListener('signedout', () => {
  state.value = 'Nobody is signed in.';
  hello.disabled = order.disabled = true;
});
chat.addEventListener('message', ({ detail }) => {
  if (detail.type === 'm.room.message') state.value = `${detail.own ? 'You' : detail.name}: ${detail.content.body}`;
});
chat.addEventListener('unread', ({ detail }) => { document.title = detail.count > 0 ? `(${detail.count}) Garden` : 'Garden'; });
chat.addEventListener('error', ({ detail }) => { state.value = detail.message; });

// Methods return promises. A page that knows its people hands their session over, once, and not in an address:
// await chat.signIn({ userID, deviceID, accessToken });
hello.addEventListener('click', async () => {
  try {
    await chat.scrollToEvent(await chat.send('Hello from the page!'));
  } catch (error) {
    state.value = error.message;
  }
});

// Messages of a kind of one's own: the page sends them and draws those that come. Their content is what somebody wrote: it goes into texts.
order.addEventListener('click', () => chat.sendMessage({ msgtype: 'com.example.order', body: 'An order: Beans (2)', name: 'Beans', count: 2 })
  .catch(error => { state.value = error.message; }));
chat.register('com.example.order', ({ name, count }, element, { sender }) => {
  element.style.cssText = 'padding: 12px; min-width: 220px';
  element.innerHTML = '<strong></strong><p></p><button></button>';
  const [title, pieces, thanks] = element.children;
  title.textContent = String(name);
  pieces.textContent = `${Number(count)} pieces`;
  thanks.textContent = 'Thank';
  thanks.addEventListener('click', () => {
    thanks.disabled = true;
    pieces.textContent += ', thanked for';
    state.value = `Thanks to ${sender.name}`;
  });
  return () => { state.value = `${title.textContent} left the view`; };
}).catch(() => {});

// Markdown of one's own: words that are links, and what stands between marks.
chat.markdown = [
  { pattern: /\bTICKET-(\d+)\b/, link: 'https://tickets.example.org/$1' },
  { begin: '==', tag: 'span', attributes: { 'data-mx-bg-color': '#ffee88' } },
  { begin: '^', tag: 'sup' },
];

document.querySelector('#dark').addEventListener('click', () => { chat.theme = chat.theme === 'dark' ? 'light' : 'dark'; });
