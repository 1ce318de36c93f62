public import ClientCore
import JSON
public import MatrixModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads a store that another process owns, for share and notification extensions. It has the user and the rooms, and can hand a message to
/// the owner. The owner sends it when it checks its inbox: at its start, after each sync, and at `MatrixClient.checkInbox`.
public actor StoreGuest {
  let store: SQLiteStore
  private(set) var core = Client(randomSeed: 0, deviceDisplayName: "")

  /// Opens a store. Throws `missing` if there is no store.
  /// - Parameter key: the owner's.
  public init(path: String, key: StoreKeySource = .file) async throws(StoreError) {
    store = try SQLiteStore(path: path, isOwner: false, key: key)
    try await refresh()
  }

  public var userID: UserID? { core.session?.userID }
  /// The rooms in the order of the list, as the owner last stored them.
  public var rooms: [Room] { core.roomIDs.compactMap { core.room($0) } }

  /// Reads the store again, with the changes of the owner.
  public func refresh() async throws(StoreError) {
    var core = Client(randomSeed: 0, deviceDisplayName: "")
    // All other effects are the owner's: they are what it does, and not carried out here.
    for case .load(let id, let range) in core.handle(.start, now: 0) {
      _ = core.handle(.loaded(id, try await store.load(range)), now: 0)
    }
    self.core = core
  }

  /// Stores a message, which the owner sends once. The message is stored when it returns.
  public func send(_ text: String, to room: RoomID) async throws(StoreError) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    let seed = UInt64.random(in: 0 ... .max)
    guard let operation = Inbox.put(ByteString(text), to: room, now: now, randomSeed: seed) else { return }
    try await store.write([operation])
  }

  public func close() async { await store.close() }
}
