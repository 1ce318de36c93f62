import JSON
import MatrixModel

/// Who may read the events that are sent while it holds. Spec: "Room History Visibility".
package enum HistoryVisibility: UInt8, Sendable {
  case worldReadable, shared, invited, joined

  /// Unknown and missing values count as `shared`.
  package init(_ json: JSON?) {
    if json?.isString("world_readable") ?? false {
      self = .worldReadable
    } else if json?.isString("invited") ?? false {
      self = .invited
    } else if json?.isString("joined") ?? false {
      self = .joined
    } else {
      self = .shared
    }
  }
}
