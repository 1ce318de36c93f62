import Database
import EventLoop
import MatrixModel
import ServerCore
import Synchronization

/// Counts the changes of what lives in memory only, typing and presence: zero when the process starts.
final class EphemeralCounter: Sendable {
  private let count = Atomic<Int64>(0)

  var value: Int64 { count.load(ordering: .acquiring) }

  func next() -> Int64 { count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}

/// Who is typing where: in memory only, told by the counter of what lives in memory. Of several nodes each remembers all who type, with its own
/// counter and timers.
///
/// Spec: Client-Server API, "Typing Notifications".
package final class Typing: Sendable {
  private struct Room {
    /// The counter at the last change.
    var version: Int64 = 0
    var users: [UserID: Typist] = [:]
  }

  private struct Typist {
    /// Which request set it: a timer that fires late does not end what a newer request began.
    var request: Int64
    var timer: TimerToken?
  }

  /// For how long one request lets a user be shown as typing.
  package static let timeoutMillisecondsLimit: Int64 = 30_000

  private let rooms = Mutex<[RoomNumber: Room]>([:])
  let counter: EphemeralCounter
  private let requests = Atomic<Int64>(0)
  private let notifier: Notifier
  private let observers: [any RoomObserver]
  private let database: Database

  init(
    database: Database, notifier: Notifier, observers: [any RoomObserver], counter: EphemeralCounter = EphemeralCounter()
  ) {
    self.database = database
    self.notifier = notifier
    self.observers = observers
    self.counter = counter
    database.listenToNodes(about: .typing) { [weak self] in self?.hear(&$0) }
  }

  /// How many changes, of typing and of presence, there were since the start of the process.
  package var position: Int64 { counter.value }

  /// Shows a user as typing for at most `timeoutMilliseconds` (clamped to 1...`timeoutMillisecondsLimit`).
  func start(_ user: UserID, in room: RoomNumber, timeoutMilliseconds: Int64) {
    let timeout = Duration.milliseconds(min(max(timeoutMilliseconds, 1), Self.timeoutMillisecondsLimit))
    let request = requests.wrappingAdd(1, ordering: .relaxed).newValue
    let timer = Notifier.loop?.schedule(after: timeout) { [weak self] in
      self?.stop(user, in: room, setBy: request)
    }
    let old = rooms.withLock { rooms -> TimerToken? in
      var state = rooms[room] ?? Room()
      let known = state.users.updateValue(Typist(request: request, timer: timer), forKey: user)
      if known == nil { change(&state, room) }
      rooms[room] = state
      return known?.timer
    }
    old?.cancel()
    tell(room)
  }

  /// The user has stopped typing, or has sent what they typed. Nothing where they did not type.
  func stop(_ user: UserID, in room: RoomNumber) { stop(user, in: room, setBy: nil) }

  /// Who types in a room, in the order of their IDs, and the counter at the last change.
  package func users(in room: RoomNumber) -> (version: Int64, users: [UserID]) {
    rooms.withLock { rooms in
      guard let state = rooms[room] else { return (0, []) }
      return (state.version, state.users.keys.sorted())
    }
  }

  private func stop(_ user: UserID, in room: RoomNumber, setBy request: Int64?) {
    let stopped = rooms.withLock { rooms -> Typist? in
      guard var state = rooms[room], let typist = state.users[user] else { return nil }
      if let request, typist.request != request { return nil }
      state.users[user] = nil
      change(&state, room)
      rooms[room] = state
      return typist
    }
    guard let stopped else { return }
    stopped.timer?.cancel()
    tell(room)
  }

  private func tell(_ room: RoomNumber) {
    for observer in observers { observer.typingChanged(in: room) }
    notifier.wake(room)
  }

  private func change(_ state: inout Room, _ room: RoomNumber) {
    state.version = counter.next()
    notifier.note(typing: state.version, in: room)
  }
}

// Other nodes.
extension Typing {
  /// - Parameter milliseconds: how long it is shown; 0 if the user has stopped.
  func tellNodes(_ user: UserID, in room: RoomNumber, milliseconds: Int64) {
    guard database.isNode else { return }
    var message = NoteWriter()
    message.write(room)
    message.write(milliseconds)
    message.write(user)
    database.tellNodes(message, about: .typing)
  }

  private func hear(_ message: inout NoteReader) {
    guard let room = message.room(), let milliseconds = message.integer(), let user: UserID = message.identifier() else {
      return
    }
    if milliseconds > 0 { start(user, in: room, timeoutMilliseconds: milliseconds) } else { stop(user, in: room) }
  }
}

extension Rooms {
  /// Shows a member as typing, or no longer.
  ///
  /// Spec: `PUT /rooms/{roomId}/typing/{userId}`. Throws `M_FORBIDDEN` where the user is not in the room.
  package func setTyping(
    _ isTyping: Bool, of user: UserID, in roomID: RoomID, timeoutMilliseconds: Int64
  ) async throws {
    let room = try await joinedRoom(roomID, of: user)
    if isTyping {
      typing.start(user, in: room.number, timeoutMilliseconds: timeoutMilliseconds)
    } else {
      typing.stop(user, in: room.number)
    }
    typing.tellNodes(user, in: room.number, milliseconds: isTyping ? timeoutMilliseconds : 0)
  }
}
