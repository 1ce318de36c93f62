import ClientCore
import JSON
import MatrixClient

/// A client whose requests wait, with a store or with one that takes everything and keeps nothing.
struct Driver {
  var client = Client(randomSeed: 1, deviceDisplayName: "Benchmark")
  let store: (any Store)?
  /// Of the last batch.
  private(set) var operations: [StoreOperation] = []
  private var requests: [(id: RequestID, target: String)] = []
  private var queue: [Input] = []
  private var now: Int64 = 1_700_000_000_000

  init(store: (any Store)?) { self.store = store }

  static func signedIn(store: (any Store)?) async throws -> Driver {
    var driver = Driver(store: store)
    try await driver.handle(.start)
    try await driver.handle(.command(.session(.logIn(user: "user0", password: "x")), id: 1))
    try await driver.answer("/login", Array(#"{"user_id":"@user0:example.org","device_id":"D","access_token":"T"}"#.utf8))
    return driver
  }

  mutating func handle(_ input: Input) async throws {
    queue.append(input)
    while !queue.isEmpty {
      for effect in step(queue.removeFirst()) {
        switch effect {
        case .load(let id, let range): queue.append(.loaded(id, try await store?.load(range) ?? []))
        case .write(let id, let operations):
          try await store?.write(operations)
          queue.append(.written(id, true))
        default: break
        }
      }
    }
  }

  /// One input, its effects not carried out but for the requests, which are noted.
  mutating func step(_ input: Input) -> [Effect] {
    // Slowly enough that no sync waits for its turn.
    now += 100
    let effects = client.handle(input, now: now)
    for effect in effects {
      switch effect {
      case .request(let id, let request): requests.append((id, request.target))
      case .cancelRequest(let id): requests.removeAll { $0.id == id }
      default: break
      }
    }
    return effects
  }

  /// The answer to the request whose path has that text in it.
  mutating func response(_ path: String, _ body: [UInt8]) -> Input? {
    guard let i = requests.firstIndex(where: { $0.target.contains(path) }) else { return nil }
    return .response(requests.remove(at: i).id, .answer(status: 200, body: body))
  }

  mutating func answer(_ path: String, _ body: [UInt8]) async throws {
    if let input = response(path, body) { try await handle(input) }
  }
}
