import JSON
import MatrixModel

/// Names a timeline: a room and where in it one looks.
public struct TimelineKey: Hashable, Sendable {
  public enum Focus: Hashable, Sendable {
    /// The end, where news come.
    case live
    /// The surroundings of an event, opened by a link, a search or a date.
    case event(EventID)
    /// A message and what was said in its thread.
    case thread(EventID)
    /// What somebody pinned, in the order of the pins.
    case pinned
  }

  public let room: RoomID
  public let focus: Focus

  public init(_ room: RoomID, _ focus: Focus = .live) {
    self.room = room
    self.focus = focus
  }

  public static func live(_ room: RoomID) -> TimelineKey { TimelineKey(room) }
}
