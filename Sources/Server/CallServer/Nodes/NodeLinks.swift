import Database
import EventLoop
import HTTPServer
import HomeserverAPI
import Synchronization

/// The sockets that clients have here for sessions of other nodes.
///
/// A link to a node whose lease has ended is closed: a frozen machine acknowledges for long what nobody there reads.
final class NodeLinks: Sendable {
  private struct Open: Sendable {
    let link: NodeLink
    let run: Int64
  }

  private struct State {
    var links: [Int: Open] = [:]
    var last = 0
    var watch: Task<Void, Never>?
    var isOver = false
  }

  private static let lookInterval = Duration.seconds(1)

  private let database: Database
  private let loop: EventLoop
  private let state = Mutex(State())

  /// Throws `EventLoopError`.
  init(_ database: Database) throws {
    self.database = database
    loop = try EventLoop(name: "call-links")
  }

  /// How many there are.
  var count: Int { state.withLock { $0.links.count } }

  /// Carries a client's socket to another node until one of the two sides ends it, and returns whether that node took it.
  ///
  /// - Parameters:
  ///   - first: what the client has said already.
  ///   - peer: the client.
  ///   - line: takes what the other node says.
  func carry(
    _ socket: WebSocket, first: String, from peer: SocketAddress, to node: NodeContact, _ line: SocketLine
  ) async -> Bool {
    let link = NodeLink(to: node, headers: Forwarding.headers(for: peer), on: loop)
    guard let number = add(link, to: node.run) else { return false }
    defer { remove(number) }
    guard await link.open(node) else { return false }
    await withTaskGroup { group in
      group.addTask {
        for await text in link.texts { line.send(text) }
      }
      group.addTask {
        var isTaken = await link.send(first)
        do {
          while isTaken, case .text(let text)? = try await socket.messages.next() { isTaken = await link.send(text) }
        } catch {}
      }
      // Either side's end is the other's.
      await group.next()
      await link.close()
      group.cancelAll()
    }
    await link.ended()
    return true
  }

  /// Ends all links, and refuses further ones.
  func shutdown() async {
    let (links, watch) = state.withLock { state in
      state.isOver = true
      return (state.links.values.map(\.link), state.watch)
    }
    watch?.cancel()
    for link in links {
      await link.close()
      await link.ended()
    }
    await loop.shutdown()
  }

  private func add(_ link: NodeLink, to run: Int64) -> Int? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.last += 1
      state.links[state.last] = Open(link: link, run: run)
      if state.watch == nil { state.watch = Task { await watch() } }
      return state.last
    }
  }

  private func remove(_ number: Int) { state.withLock { $0.links[number] = nil } }

  /// Looks after the other nodes while there are links.
  private func watch() async {
    while let links = watched() {
      // While the database is away nobody knows better.
      if let live = try? await database.liveRuns() {
        for open in links where !live.contains(open.run) { await open.link.close() }
      }
      do { try await Task.sleep(for: Self.lookInterval) } catch { return }
    }
  }

  private func watched() -> [Open]? {
    state.withLock { state in
      guard !state.links.isEmpty else {
        state.watch = nil
        return nil
      }
      return Array(state.links.values)
    }
  }
}
