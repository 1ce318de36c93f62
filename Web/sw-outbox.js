// What was written and not sent before the page was closed is sent as soon as there is a network (Background Sync).
//
// Nothing is written into the program's store: the page sends all of it again when it opens next, under the same transaction IDs, of
// which the server makes one event each. In each room the order is kept: where one thing cannot go out, what follows it waits for the
// page, as do files, edits and whatever else only the program can put together.

self.addEventListener('sync', event => {
  if (event.tag === 'outbox') event.waitUntil(sendOutbox());
});

async function sendOutbox() {
  // A page that is open sends by itself. Who fails is asked again later, when it may be closed.
  if ((await pages()).length > 0) throw new Error('a page is open');
  const held = new Set();
  for (const entry of await readStore('a/outbox/')) {
    if (!held.has(entry.room) && !await send(entry)) held.add(entry.room);
  }
}

// Whether what follows it in its room may go out.
async function send(entry) {
  // The server has it, or has refused it for good.
  if (entry.event !== undefined || entry.failed !== undefined) return true;
  const { do: kind, target, reply, files, content } = entry;
  // A message, with or without an answered one and a thread that the server knows.
  const isPlain = kind === 1 && files === undefined && [target, reply].every(id => id === undefined || typeof id === 'string');
  if (!isPlain) return false;
  const relation = {
    ...target !== undefined && { rel_type: 'm.thread', event_id: target },
    ...reply !== undefined && { 'm.in_reply_to': { event_id: reply } },
    ...reply !== undefined && entry.fallback && { is_falling_back: true },
  };
  const [room, type, transaction] = [entry.room, entry.type, entry.transaction].map(encodeURIComponent);
  const path = `v3/rooms/${room}/send/${type}/${transaction}`;
  const answer = await ask('PUT', path, Object.keys(relation).length > 0 ? { ...content, 'm.relates_to': relation } : content);
  return answer?.ok ?? false;
}
