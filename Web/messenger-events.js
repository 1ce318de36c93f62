// What happens in a room, one typed event each, from what the frame of <martlet-messenger> tells. Loaded by martlet-messenger.js.

const receiptKinds = ['read', 'read', 'delivered'];
const files = { 'm.image': 'image', 'm.video': 'video', 'm.audio': 'audio', 'm.file': 'file' };

// What somebody did with a message is told beside the event itself.
function said({ id, type, sender, name, own, time, content }) {
  const by = { id, userID: sender, name, own, time }, relation = content['m.relates_to'] ?? {};
  if (type === 'm.reaction') return [['reacted', { ...by, event: relation.event_id, key: relation.key }]];
  if (type === 'm.room.redaction') return [['removed', { ...by, event: content.redacts }]];
  if (type !== 'm.room.message' && type !== 'm.sticker') return [];
  if (relation.rel_type === 'm.replace') return [['edited', { ...by, event: relation.event_id, content: content['m.new_content'] ?? {} }]];
  const kind = files[content.msgtype];
  return kind ? [['file', { ...by, kind, fileName: content.filename ?? content.body, size: content.info?.size, type: content.info?.mimetype, url: content.url }]] : [];
}

function changed({ id, type, sender, time, content, stateKey, before }, userID) {
  const detail = { id, type, stateKey, sender, time, content };
  if (type !== 'm.room.member') return [['system', detail]];
  const was = before?.membership ?? 'leave', is = content.membership;
  const member = { userID: stateKey, by: sender, time, name: content.displayname ?? before?.displayname ?? stateKey };
  if (is === was) return [['memberchanged', { ...member, membership: is }]];
  if (is === 'join') return [['memberjoined', member]];
  if (was !== 'join') return [['memberchanged', { ...member, membership: is }]];
  return stateKey === userID ? [['memberleft', member], ['left', { by: sender, membership: is }]] : [['memberleft', member]];
}

export class RoomEvents {
  #isConnected = false;
  #typing = new Set();

  // [name, detail] for each event that the page hears; null where the frame's own event is one already.
  read(event, detail, userID) {
    switch (event) {
      case 'message':
        return detail.stateKey === undefined ? [['message', detail], ...said(detail)] : changed(detail, userID);
      case 'connection': return this.#connection(detail.up);
      case 'typing': return this.#typingChanged(new Set(detail.users.filter(user => user !== userID)));
      case 'receipt':
        return detail.userID === userID ? [] : [[receiptKinds[detail.kind], { userID: detail.userID, event: detail.of }]];
      default: return null;
    }
  }

  #connection(isUp) {
    if (isUp === this.#isConnected) return [];
    this.#isConnected = isUp;
    return [[isUp ? 'connected' : 'disconnected', {}]];
  }

  #typingChanged(now) {
    const before = this.#typing;
    this.#typing = now;
    return [...[...before].filter(user => !now.has(user)).map(userID => ['typingstopped', { userID }]),
      ...[...now].filter(user => !before.has(user)).map(userID => ['typingstarted', { userID }])];
  }
}
