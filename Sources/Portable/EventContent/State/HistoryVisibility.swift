import JSON
import MatrixModel

/// Who may read what was said before they came. Spec: `m.room.history_visibility`.
public enum HistoryVisibility: UInt8, Sendable {
  case invited, joined, shared, worldReadable

  /// nil for names outside the spec's set.
  public init?(_ json: JSON?) {
    guard let json else { return nil }
    if json.isString("invited") {
      self = .invited
    } else if json.isString("joined") {
      self = .joined
    } else if json.isString("shared") {
      self = .shared
    } else if json.isString("world_readable") {
      self = .worldReadable
    } else {
      return nil
    }
  }

  public var name: StaticString {
    switch self {
    case .invited: "invited"
    case .joined: "joined"
    case .shared: "shared"
    case .worldReadable: "world_readable"
    }
  }
}
