// Between the page that embeds <martlet-messenger> and the program in this frame: the page's port on one side, a channel that only
// this frame knows on the other. Nothing is taken that does not come through the port.

const channel = new BroadcastChannel('messenger/' + location.search.slice(1));
const encoder = new TextEncoder(), decoder = new TextDecoder();
const early = [];
let port = null, isLoaded = false;

function toProgram(request) {
  if (isLoaded) channel.postMessage(encoder.encode(JSON.stringify(request))); else early.push(request);
}

channel.onmessage = ({ data }) => {
  const message = JSON.parse(decoder.decode(data));
  if (message.event === 'loaded') {
    isLoaded = true;
    for (const request of early.splice(0)) toProgram(request);
  } else {
    port?.postMessage(message);
  }
};

addEventListener('message', ({ source, data, ports }) => {
  if (source !== parent || data !== 'martlet-messenger' || port !== null) return;
  port = ports[0];
  port.onmessage = ({ data: request }) => {
    if (request.do !== 'style') return toProgram(request);
    for (const [name, value] of Object.entries(request.properties)) {
      if (name.startsWith('--mg-')) document.documentElement.style.setProperty(name, value);
    }
    document.documentElement.style.colorScheme = request.theme;
  };
});
