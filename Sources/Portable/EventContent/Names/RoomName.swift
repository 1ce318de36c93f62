import JSON
import MatrixModel

/// What a room is called. The view finds the words for what is not the room's own text.
///
/// Spec: Client-Server API, "Calculating the display name for a room".
public enum RoomName: Sendable {
  /// The room's name or canonical alias.
  case text(ByteString)
  /// The members that stand for the room, and how many more there are.
  case members([ByteString], others: Int)
  /// Nobody else is there any more; these were.
  case empty(formerly: [ByteString])

  /// In English, as the spec words it.
  public var english: ByteString {
    switch self {
    case .text(let text): text
    case .members(let names, let others): ByteString(RoomName.list(names, others))
    case .empty(let names):
      names.isEmpty ? "Empty room" : ByteString("Empty room (was " + RoomName.list(names, 0) + ")")
    }
  }

  private static func list(_ names: [ByteString], _ others: Int) -> String {
    var parts = names.map { $0.string }
    if others > 0 { parts.append(others == 1 ? "1 other" : "\(others) others") }
    guard let last = parts.popLast() else { return "" }
    return parts.isEmpty ? last : parts.joined(separator: ", ") + " and " + last
  }
}
