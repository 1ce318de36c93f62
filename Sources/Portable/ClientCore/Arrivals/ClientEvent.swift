import JSON
import MatrixModel

/// What happens in an account, as one stream: connection, conversations, messages, reading, typing.
///
/// Conversations are the joined rooms and invitations, except public rooms, whose members come and go.
public enum ClientEvent: Sendable {
  /// The client talks with its server, for the first time or again.
  case connected
  case error(Trouble)
  /// The user is no longer in a public room: they left or were removed (`leave`) or banned (`ban`).
  case left(RoomID, Membership)
  /// Somebody, perhaps the user, wrote a message without a file.
  case message(RoomID, RoomMessage)
  /// Something happened to the room or its members.
  case system(RoomID, SystemMessage)
  /// Those who run the server said something.
  case broadcast(RoomID, RoomMessage)
  case file(RoomID, RoomMessage)
  /// A room is new in the list: one was invited or came in.
  case started(RoomID)
  /// What the room's line in the list shows is different.
  case updated(RoomID, RoomAspects)
  /// A conversation is out of the list.
  case ended(RoomID)
  /// It was the last one.
  case allEnded
  /// The room is out of sight until somebody says something there.
  case hidden(RoomID)
  /// All joined rooms are out of sight.
  case allHidden
  case read(RoomID, by: UserID, upTo: EventID)
  case typingStarted(RoomID, UserID)
  case typingStopped(RoomID, UserID)
  /// All events that a sync brought into the room, custom types included. Comes after the cases above.
  case data(RoomID, [Event])
  case delivery(RoomID, DeliveryReport)

  public enum Trouble: Sendable {
    /// The last sync failed.
    case disconnected(retryAtMilliseconds: Int64)
    /// The machine has no network.
    case offline
    /// The session is over, or waits for the password.
    case signedOut(SessionState)
    case storeFailed
  }
}

/// Something said in a room, whether the room is open or not.
public struct RoomMessage: Sendable {
  public let eventID: EventID
  public let sender: UserID
  /// Milliseconds since 1970, as the sender's server says.
  public let timestampMilliseconds: Int64
  /// nil for what this client cannot read: it is encrypted.
  public let content: MessageContent?
  public let replyTo: EventID?
  public let threadRoot: EventID?
  /// Whether it speaks to the reader, or to everyone in the room.
  public let mentionsReader: Bool
}

/// A line about the room itself.
public struct SystemMessage: Sendable {
  public let eventID: EventID
  /// Who did it.
  public let sender: UserID
  public let timestampMilliseconds: Int64
  public let change: StateChange
}

/// How far a message of the user's own has come.
public enum DeliveryReport: Sendable {
  /// The server has it.
  case sent(SendID, EventID)
  /// It could not be sent and waits for `SendingCommand.retry` or `.cancel`.
  case failed(SendID, ClientError)
  /// Everything up to this event has reached a device of theirs, on servers that tell (`martlet.delivered`).
  case delivered(EventID, to: UserID)
}

extension ClientEvent {
  public enum Kind: UInt8, Sendable, CaseIterable {
    case connected, error, left, message, system, broadcast, file, started, updated, ended, allEnded, hidden, allHidden, read
    case typingStarted, typingStopped, data, delivery
  }

  public var kind: Kind {
    switch self {
    case .connected: .connected
    case .error: .error
    case .left: .left
    case .message: .message
    case .system: .system
    case .broadcast: .broadcast
    case .file: .file
    case .started: .started
    case .updated: .updated
    case .ended: .ended
    case .allEnded: .allEnded
    case .hidden: .hidden
    case .allHidden: .allHidden
    case .read: .read
    case .typingStarted: .typingStarted
    case .typingStopped: .typingStopped
    case .data: .data
    case .delivery: .delivery
    }
  }

  /// nil for what is about the whole account.
  public var roomID: RoomID? {
    switch self {
    case .connected, .error, .allEnded, .allHidden: nil
    case .left(let room, _), .message(let room, _), .system(let room, _), .broadcast(let room, _), .file(let room, _),
      .started(let room), .updated(let room, _), .ended(let room), .hidden(let room), .read(let room, _, _),
      .typingStarted(let room, _), .typingStopped(let room, _), .data(let room, _), .delivery(let room, _):
      room
    }
  }
}
