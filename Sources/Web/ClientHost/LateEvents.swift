import JSON
import MatrixModel
import WebHost

/// Events whose keys came late, on their way to the client. One key can be that of thousands of messages, and each changes a row: they go in slices, so
/// that the page can draw and take clicks in between.
final class LateEvents {
  /// What the client and its rows may take at a time.
  static let sliceMilliseconds = 4.0
  /// Events of the first slice. Later ones follow what the last one took, aiming at half of what they may.
  static let firstCount = 4
  static let countLimit = 256

  private let deliver: (RoomID, [JSON]) -> Void
  private let onRoom: (RoomID) -> Void
  /// Lets the page do what waits; replaced in tests, as are the next.
  var pause: (@escaping () -> Void) -> Void = { Host.after(milliseconds: 0, $0) }
  var clock: () -> Double = { Host.monotonicMilliseconds() }
  /// Nobody sees the page: its timers are late, and nothing is held up.
  var isHidden: () -> Bool = { !Host.pageState.contains(.visible) }

  private var waiting: [(room: RoomID, events: ArraySlice<[UInt8]>)] = []
  private var count = LateEvents.firstCount
  private var isWorking = false

  /// - Parameters:
  ///   - deliver: takes events of a room, in clear text or with the reason why they cannot be read.
  ///   - onRoom: hears that all of them were delivered that were added together.
  init(_ deliver: @escaping (RoomID, [JSON]) -> Void, onRoom: @escaping (RoomID) -> Void) {
    self.deliver = deliver
    self.onRoom = onRoom
  }

  /// The first slice is delivered at once, unless earlier events wait.
  ///
  /// - Parameter events: JSON objects. Others are left out.
  func add(_ events: [[UInt8]], of room: RoomID) {
    waiting.append((room, events[...]))
    if !isWorking { work() }
  }

  /// Everything that waits, now.
  func finish() {
    while !waiting.isEmpty { deliverNext(.max) }
  }

  func forget() { waiting = [] }

  private func work() {
    isWorking = false
    guard !waiting.isEmpty else { return }
    if isHidden() { return finish() }
    isWorking = true
    let start = clock()
    let delivered = deliverNext(count)
    adapt(to: clock() - start, for: delivered)
    if waiting.isEmpty { isWorking = false } else { pause { [self] in work() } }
  }

  /// - Returns: how many.
  @discardableResult
  private func deliverNext(_ limit: Int) -> Int {
    let (room, events) = waiting[0]
    let slice = events.prefix(limit)
    waiting[0].events = events.dropFirst(limit)
    let isLast = waiting[0].events.isEmpty
    if isLast { waiting.removeFirst() }
    deliver(room, slice.compactMap { try? JSON.parse($0) })
    if isLast { onRoom(room) }
    return slice.count
  }

  private func adapt(to milliseconds: Double, for delivered: Int) {
    let aim = Self.sliceMilliseconds / 2
    if milliseconds > aim {
      count = max(1, Int(Double(delivered) * aim / milliseconds))
    } else if delivered == count {
      count = min(2 * count, Self.countLimit)
    }
  }
}
