import Database
import HTTPServer
import JSON
import MatrixModel
import ServerCore
import Telemetry

/// Another node has what a client wants.
struct HeldElsewhere: Error {
  let node: NodeContact
  /// For a client that cannot get there: it may come back when the session can be taken by another node.
  let otherwise: CallRefusal

  init(_ node: NodeContact) {
    self.node = node
    otherwise = CallRefusal(
      .gone, "The node that has the session cannot be reached.", retryAfterMilliseconds: node.leaseMilliseconds)
  }
}

/// A session lives on one node of several: the first that was asked for it, until it is empty or its node is gone.
extension CallServer {
  static let isStopping = CallRefusal(.shuttingDown, "The server is stopping.")
  static let hasNoLease = CallRefusal(.shuttingDown, "The server has lost touch with its database.")

  /// Clients here whose sessions other nodes have.
  package nonisolated var carriedSockets: Int { links?.count ?? 0 }

  /// Takes a session for this node, and returns the fence. Throws `HeldElsewhere`, and what the database throws.
  func hold(_ session: CallSessions.Session) async throws -> Int64 {
    if let known = live[session.id] { return known.fence }
    guard !isDraining else { throw Self.isStopping }
    switch try await homeserver.database.hold(Self.holding(session.id)) {
    case .here(let fence): return fence
    case .elsewhere(let node): throw HeldElsewhere(node)
    }
  }

  /// Another node that has the connection of a key, if it is alive. Of one that is not, nothing is left.
  func otherNode(of key: ByteString) async throws -> NodeContact? {
    do { try names.check(key.string, orElse: CallRefusal(.gone, "")) } catch let elsewhere as Elsewhere {
      return try await homeserver.database.nodeContact(of: elsewhere.run)
    }
    return nil
  }

  /// Has a request answered by the node that has the session, if it is another. Throws `Elsewhere`.
  func requireHere(_ id: SessionID, for request: RESTRequest) async throws {
    guard live[id] == nil, let node = try await homeserver.database.otherHolder(of: Self.holding(id)) else { return }
    _ = try await request.bytes()
    throw Elsewhere(
      run: node.run,
      otherwise: RESTError(
        503, "The node that has the session cannot be reached.", retryAfterMilliseconds: node.leaseMilliseconds))
  }

  /// A session is empty: the next node that is asked for it may have it.
  func letGo(_ id: SessionID, fence: Int64) {
    let database = homeserver.database
    // A server that stops gives all away at once.
    guard database.isNode, !isDraining else { return }
    Task {
      do { try await database.letGo(Self.holding(id), fence: fence) } catch {
        // It stays with this node until it is used again, or the node ends.
        Log("calls").warning("a session was not given away", ["session": .text(id.string), "error": .text("\(error)")])
      }
    }
  }

  /// Ends all sessions if this node could not renew its lease, before another node may have them.
  func endWithoutLease() {
    guard !homeserver.database.mayHold, !live.isEmpty, !isEnding else { return }
    Log("calls").error(
      "the database could not be reached for so long that this node's sessions end", ["sessions": .integer(live.count)])
    endAll(Self.hasNoLease)
  }

  func watchLease() async {
    while !Task.isCancelled {
      endWithoutLease()
      do { try await Task.sleep(for: .milliseconds(CallLimits.leaseLookMilliseconds)) } catch { return }
    }
  }

  /// What a node holds that has a session.
  private static func holding(_ id: SessionID) -> String { "call/\(id)" }
}
