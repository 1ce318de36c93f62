import JSON

/// What the host of a session is to do, in order.
public enum SessionEffect: Sendable {
  /// Open a WebSocket to the call server. Report `socketOpened`, `text` and `socketClosed` under this ID.
  case openSocket(SocketID)
  case sendText(SocketID, SocketText)
  case closeSocket(SocketID)
  case media(MediaEffect)
  /// Answer with `SessionInput.time` then, in milliseconds as inputs have them; takes the place of the time before. nil: not at all.
  case wake(at: Int64?)
  /// Something a view shows is now different.
  case change(SessionChange)
}

/// A message to the server. Tokens may stand in it: it shows nothing of itself in a log.
public struct SocketText: Sendable, CustomStringConvertible {
  public let bytes: [UInt8]

  public var description: String { "\(bytes.count) bytes" }
}

/// What a view has to look at again.
public enum SessionChange: Sendable {
  /// `CallSession.state`, and with it everything else.
  case session
  /// Came, changed or went. Changes of the own connection count.
  case connection(ByteString)
  /// Came, changed, or went.
  case stream(ByteString)
  case publication(SourceID)
  case speaker
  case recording
  /// `CallSession.isMuteOfAllActive`.
  case muting
  case signal(CallSignal)
  /// How a command ended; nil where it was done.
  case finished(CommandID, CallRefusal?)
}

public struct CallSignal: Sendable, Equatable {
  public let kind: ByteString
  public let data: ByteString
  /// A connection; nil where the application's server sent it.
  public let from: ByteString?
}

/// Why something was not done.
public struct CallRefusal: Sendable, Equatable {
  /// One of the codes of decision 14, `connection_lost`, or `media_failed`.
  public let code: ByteString
  public let message: ByteString

  init(_ code: ByteString, _ message: ByteString = "") {
    self.code = code
    self.message = message
  }
}

public enum CallState: Sendable, Equatable {
  case idle
  case connecting
  case connected
  /// The socket is gone; what was published and subscribed goes on meanwhile.
  case reconnecting
  case ended(SessionEnd)
}

public enum SessionEnd: Sendable, Equatable {
  case left
  /// By the server, with its code.
  case closed(ByteString)
  case unreachable
  /// The host cannot make a peer connection of what the server says.
  case mediaFailed
}
