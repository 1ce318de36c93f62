// What the homeserver pushes, in the service worker: notifications of messages while no page is open. The browser has decrypted it;
// it is what a push gateway would be told (Push Gateway API), the first one a token that makes the pusher active (MSC4174).

self.addEventListener('push', event => event.waitUntil(pushed(event.data)));
self.addEventListener('pushsubscriptionchange', event => event.waitUntil(renew(event)));
self.addEventListener('notificationclick', event => event.waitUntil(clicked(event.notification)));

async function pushed(data) {
  let said;
  try { said = data.json(); } catch { return; }
  if (typeof said?.ack_token === 'string') {
    await ask('POST', 'client/unstable/org.matrix.msc4174/pushers/ack', { app_id: said.app_id, ack_token: said.ack_token });
    return;
  }
  const news = said?.notification;
  if (typeof news?.counts !== 'object') return;
  const unread = Number(news.counts?.unread) || 0, counted = count(unread);
  if (typeof news.event_id === 'string' && typeof news.room_id === 'string') {
    const clear = news.type === 'm.room.encrypted' ? await decrypted(news) : undefined;
    await show(clear ? { ...news, type: clear.type, content: clear.content } : news);
  }
  // Everything was read, here or elsewhere: nothing is news any more.
  else if (unread === 0) for (const one of await self.registration.getNotifications()) one.close();
  await counted;
}

async function count(unread) {
  try { await (unread > 0 ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.()); } catch { /* Not installed. */ }
}

// ---- Notifications

async function show(news) {
  const tag = news.room_id;
  const { language = 'en', quiet } = await recall('page');
  const words = await wordsOf(language);
  const { title, body } = await described(news, words);
  if (await isSeen(tag)) return;
  // A page that is open, and looked at by nobody, has told of it already.
  const [shown] = await self.registration.getNotifications({ tag });
  if (shown?.title === title && shown.body === body) return;
  // Browsers want something to be shown for each push: in quiet hours it is without a sound.
  const rings = !isQuiet(quiet) && (news.devices?.some(device => device.tweaks?.sound !== undefined) ?? false);
  await self.registration.showNotification(title, {
    body, tag, lang: language, dir: language === 'ar' ? 'rtl' : 'ltr', silent: !rings, renotify: true, icon: 'icon-192.png',
  });
}

function isQuiet([from, until, snoozed] = []) {
  if (Number(snoozed) > Date.now()) return true;
  const now = new Date().toTimeString().slice(0, 5);
  if (!from || !until || from === until) return false;
  return from < until ? from <= now && now < until : from <= now || now < until;
}

const short = (text, limit) => [...text].slice(0, limit).join('');
const textOf = value => typeof value === 'string' ? value : '';
// A name is one line, in which nothing is turned around: else it would say more than who, or which room.
const nameOf = value => short(textOf(value).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/[\u202a-\u202e\u2066-\u2069]/g, '').trim(), 100);

async function described(news, words) {
  const sender = nameOf(news.sender_display_name) || nameOf(textOf(news.sender).replace(/^@([^:]*):.*$/s, '$1'));
  const room = nameOf(news.room_name);
  // A server that was asked for identifiers alone says no more than that there is something.
  if (sender === '') return { title: room || words.product, body: words.counted('newMessages', 1) };
  if (news.type === 'm.room.member') return { title: room || sender, body: words.invitation };
  if (news.type === 'm.call.invite') return { title: room || sender, body: words.filled('callsYou', sender) };
  if (news.type === 'm.reaction') return { title: room || sender, body: await reaction(news, sender, words) };
  const text = short(textIn(news, words), 300);
  return { title: room || sender, body: room === '' ? text : sender + ': ' + text };
}

// To which message is the server's to say.
async function reaction({ room_id, content }, sender, words) {
  const { event_id, key } = content?.['m.relates_to'] ?? {};
  const place = ['rooms', room_id, 'event', textOf(event_id)].map(encodeURIComponent).join('/');
  const answer = await ask('GET', 'client/v3/' + place).catch(() => undefined);
  const message = answer?.ok ? await answer.json().catch(() => ({})) : {};
  const emoji = short(textOf(key), 20);
  return message.content ? words.filled('reactedTo', sender, emoji, short(textIn(message, words), 300)) : sender + ': ' + emoji;
}

function textIn({ type, content }, words) {
  if (type === 'm.room.encrypted') return words.encryptedMessage;
  const said = content?.['m.new_content'] ?? content ?? {};
  const body = textOf(said.body);
  switch (type === 'm.sticker' ? 'm.image' : said.msgtype) {
    case 'm.image': return words.image;
    case 'm.video': return words.video;
    case 'm.audio': return words.audio;
    case 'm.location': return words.location;
    case 'm.file': return words.file + ': ' + body;
    // What a reply answers stands before it, for clients that know no replies.
    default: return shown(said) || (said['m.relates_to']?.['m.in_reply_to'] ? body.replace(/^(> .*\n)+\n/, '') : body) || words.counted('newMessages', 1);
  }
}

// A formatted text as it reads when it is shown; what is hidden stays hidden.
function shown({ format, formatted_body: html }) {
  if (format !== 'org.matrix.custom.html') return '';
  const signs = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' };
  return textOf(html).slice(0, 4000).replace(/<mx-reply>.*?<\/mx-reply>/s, '').replace(/<span[^>]*data-mx-spoiler[^>]*>.*?<\/span>/gs, '[…]')
    .replace(/<(?:br|\/p|\/li|\/h\d|\/pre|\/blockquote|hr)\b[^>]*>/g, ' ').replace(/<[^>]*>?/g, '')
    .replace(/&(lt|gt|amp|quot|#39|nbsp);/g, (all, name) => signs[name]).replace(/\s+/g, ' ').trim();
}

// The page's own texts: those of the last load, where there is no network.
async function wordsOf(language) {
  const file = 'texts.' + language.split('-')[0] + '.txt';
  const answer = await caches.match(file) ?? await fetch(file).catch(() => undefined);
  const texts = new Map();
  for (const line of (answer?.ok ? await answer.text() : '').split('\n')) {
    const at = line.indexOf(' = ');
    if (at > 0) texts.set(line.slice(0, at), line.slice(at + 3));
  }
  const word = name => texts.get(name) ?? '';
  const rules = new Intl.PluralRules(language);
  const forms = ['zero', 'one', 'two', 'few', 'many', 'other'].filter(form => rules.resolvedOptions().pluralCategories.includes(form));
  return {
    product: word('product') || 'Martlet', invitation: word('invitation'), encryptedMessage: word('encryptedMessage'),
    image: word('image'), video: word('video'), audio: word('audio'), file: word('file'), location: word('location'),
    filled: (name, ...values) => values.reduce((text, value, index) => text.replace(`{${index}}`, () => value), word(name)),
    counted(name, count) {
      const choices = word(name).split('|');
      return choices[Math.min(forms.indexOf(rules.select(count)), choices.length - 1)].replace('{0}', count);
    },
  };
}

// ---- Pages

// Whether somebody looks at a page that tells of the room by itself.
async function isSeen(room) {
  const visible = (await pages()).filter(page => page.visibilityState === 'visible');
  return (await Promise.all(visible.map(page => answers(page, room)))).includes(true);
}

// A page that does not answer shows nothing either.
function answers(page, room) {
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data === true);
    setTimeout(resolve, 1000, false);
    page.postMessage({ pushed: room }, [port2]);
  });
}

// A notification's tag is its room. A page that is open shows it, else a new one.
async function clicked(notification) {
  notification.close();
  const open = await pages();
  const page = open.find(page => page.focused) ?? open.find(page => page.visibilityState === 'visible') ?? open[0];
  if (!page) return self.clients.openWindow('./#/room/' + encodeURIComponent(notification.tag));
  page.postMessage({ clicked: notification.tag });
  return page.focus();
}

// ---- The homeserver

// The browser has given up the subscription: the pusher gets the new one.
async function renew({ newSubscription }) {
  const { key, pushkey } = await recall('push');
  if (!key) return;
  const fresh = newSubscription ?? await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = fresh.toJSON();
  const listed = await ask('GET', 'client/v3/pushers');
  const old = listed?.ok && (await listed.json()).pushers.find(pusher => pusher.pushkey === pushkey);
  if (!old) return;
  await remember('push', { key, pushkey: keys.p256dh });
  await ask('POST', 'client/v3/pushers/set', { ...old, pushkey: keys.p256dh, data: { ...old.data, url: endpoint, auth: keys.auth } });
  await ask('POST', 'client/v3/pushers/set', { app_id: old.app_id, pushkey, kind: null });
}
