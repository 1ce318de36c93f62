import CallCore
import MatrixModel
import Messenger
import WebHost

/// Rings for a call that somebody has just begun in a small room, until one joins, declines, half a minute has gone, or the room is small no more.
final class RoomBell<D: DOM> {
  private static var ringMilliseconds: Int64 { 30_000 }
  private static var soundMilliseconds: Double { 2_500 }
  private static var heardLimit: Int { 64 }

  /// Where it rings.
  private(set) var room: RoomID?
  /// Who began the call, as the room knows them.
  private(set) var caller: KnownRoom.Person?
  /// Calls that have rung, by who began them and when.
  private var heard: [Heard] = []
  private let group: GroupCalls<D>
  private var sound: HostTask?
  private var end: HostTask?

  private struct Heard: Equatable {
    let room: RoomID
    let user: UserID
    let began: Int64
  }

  init(_ group: GroupCalls<D>) { self.group = group }

  func close() { stop() }

  func decline(_ room: RoomID) { if room == self.room { stop() } }

  /// More is known of the room.
  func changed(_ id: RoomID) {
    let now = Host.wallClockMilliseconds()
    guard let known = group.desk.room(id) else { return }
    let members = known.call.members(at: now)
    if id == room, !known.isSmall || members.isEmpty || members.contains(where: { $0.user == group.user }) { return stop() }
    guard room == nil, known.isSmall, known.directUser == nil, let first = members.first, let user = group.user,
      !members.contains(where: { $0.user == user }), group.ongoing == nil
    else { return }
    let age = now.subtractingReportingOverflow(first.createdAt)
    guard !age.overflow, age.partialValue < Self.ringMilliseconds else { return }
    let call = Heard(room: id, user: first.user, began: first.createdAt)
    guard !heard.contains(call) else { return }
    if heard.count == Self.heardLimit { heard.removeFirst() }
    heard.append(call)
    room = id
    caller = known.person(first.user.text) ?? .init(user: first.user.text, name: first.user.string, avatar: nil)
    ring()
    end = Host.after(milliseconds: Double(Self.ringMilliseconds)) { [self] in
      stop()
      group.showBar()
      group.desk.dom.flush()
    }
  }

  private func ring() {
    Host.playSound()
    sound = Host.after(milliseconds: Self.soundMilliseconds) { [self] in ring() }
  }

  private func stop() {
    sound?.cancel()
    end?.cancel()
    sound = nil
    end = nil
    room = nil
    caller = nil
  }
}
