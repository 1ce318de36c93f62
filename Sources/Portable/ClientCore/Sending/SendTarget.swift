public import MatrixModel

/// Names something in the outbox, also over restarts. Numbers grow in the order of sending.
public typealias SendID = UInt64

/// What an edit, a reaction, a reply … speaks of: something the server has, or something that is on its way to it.
public enum SendTarget: Sendable {
  case event(EventID)
  /// A row of the room's timeline.
  case item(ItemID)
  case sending(SendID)
}

/// How something in the outbox is getting on.
public enum SendProgress: Sendable {
  /// It waits for its turn, the network or the store; with a time (milliseconds since 1970) for the server, which takes no more until then.
  case waiting(untilMilliseconds: Int64?)
  /// Of all its files together; ends with as many as there are.
  case uploading(sentBytes: Int64, totalBytes: Int64)
  case sending
  case sent(EventID)
  case failed(ClientError)
  /// It is gone: cancelled, or refused and nothing that one would try again.
  case cancelled
}

/// A change of an item that is shown but not with the server yet.
public enum PendingChange: Sendable {
  case edit(Delivery)
  case redaction(Delivery)
}
