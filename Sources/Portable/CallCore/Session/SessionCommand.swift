import JSON

/// What an application wants of a session. Most end with `SessionChange.finished`.
public enum SessionCommand: Sendable {
  /// First, once.
  case connect(CallToken, session: ByteString)
  /// Captures and publishes. `source` is chosen by the application and names the publication from then on.
  case publish(SourceID, CaptureKind, name: ByteString, audio: Bool, video: Bool)
  /// Whether the publication sends sound, and a picture; nil leaves it.
  case update(SourceID, hasAudio: Bool?, hasVideo: Bool?)
  case unpublish(SourceID)
  /// Where `CallSession.subscribesToAll` is off, or after `unsubscribe`.
  case subscribe(ByteString)
  case unsubscribe(ByteString)
  case prefer(ByteString, StreamPreference)
  /// `to` is a connection; nil for all.
  case signal(kind: ByteString, data: ByteString, to: ByteString?)
  /// Ends the session here, whatever is under way.
  case leave

  // Moderators
  case mute(stream: ByteString)
  /// Every stream but these, and those that come; `isActive` false takes it back.
  case muteAll(isActive: Bool, except: [ByteString])
  case forceUnpublish(stream: ByteString)
  case disconnect(connection: ByteString)
  case record(Bool)
}

/// What the host tells a session. Every input comes with the time.
public enum SessionInput: Sendable {
  case command(SessionCommand, id: CommandID)
  case socketOpened(SocketID)
  /// One text message.
  case text(SocketID, [UInt8])
  /// It is gone, or could not be opened.
  case socketClosed(SocketID)
  case media(MediaInput)
  /// The machine has found another network: what broke is tried again at once.
  case networkChanged
  /// The time of `SessionEffect.wake` has come.
  case time
}

public typealias SocketID = UInt32
/// Chosen by the application; 0 where it does not want to know the end.
public typealias CommandID = UInt32

/// What lets one into a session. It never stands in a log.
public struct CallToken: Sendable, CustomStringConvertible {
  let text: ByteString

  public init(_ text: ByteString) { self.text = text }

  public var description: String { "token" }
}

/// What of a stream is of use here; the server chooses layers by it. nil: as large as there is.
public struct StreamPreference: Sendable, Equatable {
  public var width: Int64?
  public var height: Int64?
  public var frameRate: Int64?
  /// False pauses it.
  public var audio = true
  public var video = true

  public init(width: Int64? = nil, height: Int64? = nil, frameRate: Int64? = nil, audio: Bool = true, video: Bool = true) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.audio = audio
    self.video = video
  }
}
