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

/// A look into a store that another process owns, for share and notification extensions: who is signed in, the rooms, and a way
/// to hand over a message, which the owner sends as soon as it looks (`MatrixClient.checkInbox`; at its start and after each sync).
public actor StoreGuest {
  let store: SQLiteStore
  private(set) var core = Client(randomSeed: 0, deviceDisplayName: "")

  /// Throws `missing` where there is no store.
  public init(path: String) async throws(StoreError) {
    store = try SQLiteStore(path: path, isOwner: false)
    try await refresh()
  }

  public var userID: UserID? { core.session?.userID }
  /// In the order of the list, as the owner last stored them.
  public var rooms: [Room] { core.roomIDs.compactMap { core.room($0) } }

  /// Reads again what the owner has stored meanwhile.
  public func refresh() async throws(StoreError) {
    var core = Client(randomSeed: 0, deviceDisplayName: "")
    // All other effects are the owner's: they are what it does, and not carried out here.
    for case .load(let id, let range) in core.handle(.start, now: 0) {
      _ = core.handle(.loaded(id, try await store.load(range)), now: 0)
    }
    self.core = core
  }

  /// Stored when it returns; sent by the owner, once.
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
