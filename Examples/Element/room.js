const chat = document.querySelector('martlet-messenger');
const state = document.querySelector('#state'), hello = document.querySelector('#hello');

// Attributes and properties are the same; another room or server loads the frame anew.
for (const [name, value] of new URLSearchParams(location.search)) chat.setAttribute(name, value);

// Events: who is signed in, what is said, what is unread, what went wrong.
chat.addEventListener('signedin', ({ detail }) => {
  state.value = `Signed in as ${detail.userID}.`;
  hello.disabled = false;
});
chat.addEventListener('signedout', () => {
  state.value = 'Nobody is signed in.';
  hello.disabled = true;
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

document.querySelector('#dark').addEventListener('click', () => { chat.theme = chat.theme === 'dark' ? 'light' : 'dark'; });
