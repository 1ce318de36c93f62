import JSON
import MatrixModel
import ServerAccounts

/// Which extensions a sliding sync asks for. Spec: MSC3885 (to_device), MSC3884 (e2ee), MSC3959 (account_data), MSC3960
/// (receipts), MSC3961 (typing), MSC4360 (threads).
struct SlidingExtensionRequest: Sendable {
  /// To which rooms an extension is limited; both nil for every room the connection was told of.
  struct Scope: Sendable {
    private var lists: Set<ByteString>?
    private var rooms: Set<ByteString>?

    fileprivate init(_ json: JSON) throws(MatrixError) {
      lists = try Self.texts(json, "lists")
      rooms = try Self.texts(json, "rooms")
    }

    /// - Parameter lists: those whose window the room is in.
    func contains(_ room: RoomID, in lists: [ByteString]) -> Bool {
      guard self.lists != nil || rooms != nil else { return true }
      if let rooms, rooms.contains(room.text) || rooms.contains("*") { return true }
      guard let own = self.lists else { return false }
      return own.contains("*") || lists.contains { own.contains($0) }
    }

    private static func texts(_ json: JSON, _ key: StaticString) throws(MatrixError) -> Set<ByteString>? {
      guard let list = try json.optionalArray(key) else { return nil }
      guard list.count <= 1_000 else { throw .invalidParameter("'\(key)' of an extension has at most 1000 entries.") }
      return Set(list.elements.compactMap(\.text))
    }
  }

  struct ToDevice: Sendable {
    /// Up to where the device has its messages; 0 where it has none.
    let since: Int64
    let limit: Int
  }

  struct Threads: Sendable {
    let includesRoots: Bool
    let limit: Int
  }

  private(set) var toDevice: ToDevice?
  private(set) var endToEnd = false
  private(set) var accountData: Scope?
  private(set) var receipts: Scope?
  private(set) var typing: Scope?
  private(set) var threads: Threads?

  init(_ json: JSON?) throws(MatrixError) {
    guard let json else { return }
    if let own = try Self.enabled(json["to_device"]) {
      let limit = try own.optionalInteger("limit") ?? Int64(ToDeviceMessages.pageLimit)
      guard limit > 0 else { throw .invalidParameter("'limit' of an extension is a number from 1 up.") }
      toDevice = ToDevice(
        since: try Self.since(own), limit: Int(min(limit, Int64(ToDeviceMessages.pageLimit))))
    }
    endToEnd = try Self.enabled(json["e2ee"]) != nil
    if let own = try Self.enabled(json["account_data"]) { accountData = try Scope(own) }
    if let own = try Self.enabled(json["receipts"]) { receipts = try Scope(own) }
    if let own = try Self.enabled(json["typing"]) { typing = try Scope(own) }
    if let own = try Self.enabled(json["io.element.msc4360.threads"] ?? json["threads"]) {
      let limit = try own.optionalInteger("limit") ?? Int64(ThreadUpdates.limit)
      guard limit > 0 else { throw .invalidParameter("'limit' of an extension is a number from 1 up.") }
      threads = Threads(
        includesRoots: try own.optionalBool("include_roots") ?? false, limit: Int(min(limit, Int64(ThreadUpdates.limit))))
    }
  }

  private static func enabled(_ json: JSON?) throws(MatrixError) -> JSON? {
    guard let json, try json.optionalBool("enabled") ?? false else { return nil }
    return json
  }

  /// `d<position>`: a token of its own, which outlives connections.
  private static func since(_ json: JSON) throws(MatrixError) -> Int64 {
    guard let text = try json.optionalText("since"), !text.isEmpty else { return 0 }
    guard text.hasPrefix("d"), text.count <= 19, let position = Int64(String(text.string.dropFirst())), position >= 0 else {
      throw .invalidParameter("'since' of the to_device extension is not a token of this server.")
    }
    return position
  }

  static func token(_ position: Int64) -> ByteString { ByteString("d\(position)") }
}
