import Addresses
import JSON
import MatrixModel
import MediaRouter

@testable import CallServer

/// The server's side of a session, without sockets: bytes in, bytes out. Names of types are those of the client's side too, so that no file
/// imports both.
final class ServerSide {
  var say: (_ socket: UInt64, [UInt8]) -> Void = { _, _ in }
  var close: (_ socket: UInt64) -> Void = { _ in }

  private static let session = SessionID(trusted: "1_test")
  private static let fingerprint = Fingerprint("sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"))!
  private var state: SessionLogic
  private var now = CallTime(monotonic: 0, wall: 1_700_000_000_000)
  private var greeted: Set<UInt64> = []

  init(seed: UInt64) {
    let address = TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 5_000)
    let media = SessionWorkers.Media(fingerprint: Self.fingerprint, candidates: [address])
    state = SessionLogic(
      Self.session, isRouted: true, number: 7, workers: SessionWorkers([media], homeLimit: CallLimits.homeTransports), now: now,
      random: RandomSource(seed: seed))
  }

  /// The first text of a socket is `connect`, whose token is the name of a role, or `resume`.
  func hear(_ bytes: [UInt8], on socket: UInt64) {
    let id = SocketID(socket)
    do throws(CallRefusal) {
      let message = Result { () throws(CallRefusal) in try ClientMessage(String(decoding: bytes, as: UTF8.self)) }
      if greeted.insert(socket).inserted {
        try greet(try message.get(), on: id)
      } else {
        state.receive(message, on: id, now: now)
      }
    } catch {
      say(socket, SessionLogic.closed(error))
      close(socket)
    }
    for track in Array(state.tracks.keys) { state.handle(.trackStarted(track)) }
    tell()
  }

  private func greet(_ message: ClientMessage, on socket: SocketID) throws(CallRefusal) {
    switch message {
    case .connect(let token, _, let relays):
      let role = Role(rawValue: token.string) ?? .subscriber
      let token = ConnectionToken(session: Self.session, role: role, data: "", layoutClasses: [])
      _ = try state.connect(token, relays: relays, on: socket, now: now)
    case .resume(let connection, let key, let seq): try state.resume(connection, key: key, after: seq, on: socket, now: now)
    default: throw .invalid("The first message is connect or resume.")
    }
  }

  func lose(_ socket: UInt64) {
    state.lose(SocketID(socket), now: now)
    tell()
  }

  func pass(_ milliseconds: Int64) {
    now.monotonic += milliseconds
    state.advance(to: now)
    tell()
  }

  func setRole(_ role: String, of connection: String) {
    guard let role = Role(rawValue: role) else { return }
    state.setRole(role, of: ConnectionID(trusted: ByteString(connection)))
    tell()
  }

  private func tell() {
    for effect in state.takeEffects() {
      switch effect {
      case .send(let bytes, let socket): say(socket.number, bytes)
      case .close(let socket): close(socket.number)
      default: break
      }
    }
  }

  // MARK: What it knows

  var roles: [String: String] {
    Dictionary(uniqueKeysWithValues: state.connections.values.map { ($0.id.string, $0.role.rawValue) })
  }

  /// The publisher of each stream that others know.
  var streams: [String: String] {
    Dictionary(uniqueKeysWithValues: state.announcedStreams.map { ($0.id.string, $0.connection.string) })
  }

  /// The sounds and pictures that a connection gets: their streams.
  func subscriptions(of connection: String) -> [String] {
    state.subscriptions.values.filter { $0.connection.string == connection }.map(\.stream.string).sorted()
  }
}
