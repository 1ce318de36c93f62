import JSON
import MatrixModel

/// Writing in rooms: messages and what changes them, the outbox, drafts and typing notifications.
public enum SendingCommand: Sendable {
  case send(RoomID, OutgoingMessage)
  /// New text, or a new caption if the target is a file. An unsent message is changed in place. Fails with `notAllowed` for
  /// messages of others.
  case edit(RoomID, SendTarget, FormattedText)
  /// New content as a whole: a poll, an event of a custom type. Files cannot be replaced.
  case replace(RoomID, SendTarget, OutgoingMessage)
  /// Reacts, or removes the user's reaction of that kind; unsent reactions count.
  case toggleReaction(RoomID, SendTarget, key: ByteString)
  /// Removes the content. `relationTypes` (`m.replace`, `m.thread`, `*` for all): related events that go with it, on servers that
  /// support it (MSC3912). An unsent message is cancelled. Ends when the server has done it.
  case redact(RoomID, SendTarget, reason: ByteString? = nil, relationTypes: [ByteString] = [])
  /// IDs of answers. The last vote counts; an empty list withdraws the vote.
  case vote(RoomID, poll: SendTarget, answers: [ByteString])
  /// `text` is what clients without polls show.
  case endPoll(RoomID, poll: SendTarget, text: ByteString)
  /// Starts to share the user's location, or ends it if `isLive` is false.
  case setBeacon(RoomID, BeaconInfo)
  /// The user's location now; `info` is the event that started the sharing.
  case sendBeacon(RoomID, info: SendTarget, geoURI: ByteString, description: ByteString?)
  /// Fails with `notAllowed` if the user's power level is too low, without a request if that is known.
  case pin(RoomID, EventID)
  case unpin(RoomID, EventID)

  // The outbox
  /// Sends failed entries again, with what waits for them: the entry itself, or those that send and change the item or event.
  case retry(RoomID, SendTarget)
  /// Removes unsent entries, the same as `retry` means; does nothing if they are sent.
  case cancel(RoomID, SendTarget)
  /// Sends everything that failed again; nil for all rooms.
  case retryAll(RoomID?)
  /// While off, messages wait; nil for all rooms. On at the start.
  case setSending(RoomID?, isEnabled: Bool)

  // The composer
  /// What the composer of the room, or of a thread in it, holds. An empty draft is removed. Also drives the typing notification.
  case setDraft(RoomID, thread: EventID? = nil, Draft)
  /// Tells others that the user is writing, again and again until it is false.
  case setTyping(RoomID, Bool)
  /// Whether others see that the user is writing. On at the start.
  case setTypingNotices(Bool)
}

extension Client {
  mutating func handle(_ command: SendingCommand, _ id: CommandID) {
    switch command {
    case .send(let room, let message): send(message, to: room, id)
    case .edit(let room, let target, let text): edit(target, in: room, text, id)
    case .replace(let room, let target, let message): replace(target, in: room, with: message, id)
    case .toggleReaction(let room, let target, let key): toggleReaction(key, to: target, in: room, id)
    case .redact(let room, let target, let reason, let types):
      redact(target, in: room, reason: reason, relationTypes: types, id)
    case .vote(let room, let poll, let answers): vote(answers, in: poll, of: room, id)
    case .endPoll(let room, let poll, let text): endPoll(poll, in: room, text, id)
    case .setBeacon(let room, let beacon): setBeacon(beacon, in: room, id)
    case .sendBeacon(let room, let info, let uri, let description): sendBeacon(info, in: room, uri, description, id)
    case .pin(let room, let event): setPinned(true, event, in: room, id)
    case .unpin(let room, let event): setPinned(false, event, in: room, id)
    case .retry(let room, let target): retry(target, in: room, id)
    case .cancel(let room, let target): cancel(target, in: room, id)
    case .retryAll(let room): retryAll(in: room, id)
    case .setSending(let room, let isEnabled): setSending(isEnabled, in: room, id)
    case .setDraft(let room, let thread, let draft): setDraft(draft, in: room, thread: thread, id)
    case .setTyping(let room, let isTyping):
      if isTyping { tellTyping(room) } else { stopTyping(room) }
      finish(id, .done)
    case .setTypingNotices(let isOn):
      sendsTypingNotices = isOn
      finish(id, .done)
    }
  }
}
