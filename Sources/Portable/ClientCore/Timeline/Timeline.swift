import JSON
import MatrixModel

/// The items of a room in the order of the server, the person's own messages on their way last.
public struct Timeline: Sendable {
  public enum BackState: UInt8, Sendable {
    /// There may be older events.
    case idle
    case loading
    /// The last page did not come; `Command.paginateBack` tries again.
    case failed
    /// The first item is the start of the room.
    case atStart
  }

  public enum LoadState: UInt8, Sendable { case unloaded, loading, loaded }

  public internal(set) var items: [TimelineItem] = []
  public internal(set) var backState = BackState.idle
  public internal(set) var loadState = LoadState.unloaded
}
