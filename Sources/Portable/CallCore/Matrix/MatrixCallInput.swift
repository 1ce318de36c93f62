import JSON
import MatrixModel

/// What a person wants of a call.
public enum MatrixCallCommand: Sendable {
  /// Calls into a room. `invitee` is the called user; if nil, anybody in the room may answer.
  case place(RoomID, invitee: UserID?, audio: Bool, video: Bool)
  case answer(CallHandle, audio: Bool, video: Bool)
  /// Ends the call on all devices of the account. Spec: `m.call.reject`.
  case reject(CallHandle)
  /// Stops ringing here; other devices go on.
  case silence(CallHandle)
  case hangUp(CallHandle)
  /// Ends a call that rings with `user_busy`, for bridges to networks that know it.
  case busy(CallHandle)
  /// Whether own sound and picture are held back; nil leaves it. If there is no picture yet, `video` false opens the camera (`canOpenCamera`).
  case mute(CallHandle, audio: Bool?, video: Bool?)
  case hold(CallHandle, Bool)
  /// Nothing happens where the other side knows no second stream.
  case shareScreen(CallHandle, Bool)
}

/// What the host tells the calls of an account. Every input comes with the time.
public enum MatrixCallInput: Sendable {
  case command(MatrixCallCommand)
  case event(MatrixCallEvent)
  /// All events of a sync were told: what is to ring does now. Spec: "Call Event Liveness".
  case synced
  /// A user, perhaps the own one, is no longer in a room.
  case left(RoomID, UserID)
  /// An event of this call will not be sent.
  case sendFailed(CallHandle)
  /// From `GET /voip/turnServer`, for calls from now on.
  case iceServers([ICEServer])
  case media(MediaInput)
  /// The time of `MatrixCallEffect.wake` has come.
  case time
}

/// An event of a room whose type begins with `m.call.`, as it came.
public struct MatrixCallEvent: Sendable {
  /// How the client regards who sent it.
  public enum Sender: Sendable {
    case known
    /// Their calls are shown, but do not ring: strangers, public rooms.
    case stranger
    /// An ignored user: nothing of theirs is looked at.
    case ignored
  }

  public let room: RoomID
  public let sender: UserID
  public let type: EventType
  public let content: [UInt8]
  /// `unsigned.age`, and the time since it was received; what is absurd counts as long ago, or as now.
  public let ageMilliseconds: Int64
  public let regard: Sender
  /// History, and what the first sync brings: it never rings.
  public let isHistory: Bool

  public init(
    room: RoomID, sender: UserID, type: EventType, content: [UInt8], ageMilliseconds: Int64, regard: Sender = .known,
    isHistory: Bool = false
  ) {
    self.room = room
    self.sender = sender
    self.type = type
    self.content = content
    self.ageMilliseconds = min(max(0, ageMilliseconds), CallLimits.longestLifetimeMilliseconds)
    self.regard = regard
    self.isHistory = isHistory
  }
}

/// What the host is to do, in order.
public enum MatrixCallEffect: Sendable {
  /// Send the event into the room, after all those before it.
  case send(CallHandle, RoomID, EventType, content: [UInt8])
  case media(MediaEffect)
  /// As in `SessionEffect`.
  case wake(at: Int64?)
  /// `MatrixCalls.call` of it is now different, or it has ended and is gone after this `handle`.
  case change(CallHandle)
  /// The same call went on as another: two had called each other. Views follow.
  case replaced(CallHandle, by: CallHandle)
}

/// Names a call of `MatrixCalls`, and its peer connection.
public typealias CallHandle = PeerID
