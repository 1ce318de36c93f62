import CallCore
import JSON
import MatrixModel
import WebHost

/// The user's membership in a room's call, a state event: written when the user joins and cleared when they leave. The server clears it
/// if the client vanishes (MSC4140).
final class Membership {
  /// How long the server waits for a restart of the delayed event, and how often the client sends one.
  static var delayMilliseconds: Int64 { 30_000 }
  private static var restartMilliseconds: Double { 10_000 }
  /// How long before its expiry the membership is written again.
  private static var marginMilliseconds: Int64 { 10 * 60_000 }

  private let server: Server
  private let path: String
  private let device: DeviceID
  private let transport: CallTransport
  private var delayed: ByteString?
  private var createdAt: Int64 = 0
  private var isOver = false
  private var timer: HostTask?
  /// Called if the state could not be written, so that others do not see that the user is in the call.
  var onFailed: (String) -> Void = { _ in }

  init(_ server: Server, room: RoomID, user: UserID, device: DeviceID) {
    self.server = server
    self.device = device
    transport = CallTransport(server: user.serverName)
    path = Endpoint.setRoomStateWithKey.path(
      room.text, CallMembership.eventType.text, CallMembership.stateKey(user, device))
  }

  /// The end is arranged for before the beginning, so that no membership stays behind.
  func begin() {
    schedule { [self] in
      guard !isOver else { return }
      createdAt = Host.wallClockMilliseconds()
      write()
      keepAlive()
    }
  }

  func end() {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    guard let delayed else { return server.ask(.put, path, CallMembership.leaving) { _ in } }
    server.ask(.post, Self.path(of: delayed), Self.action("send")) { [self] answer in
      if case .failed = answer { server.ask(.put, path, CallMembership.leaving) { _ in } }
    }
  }

  private func write() {
    let content = CallMembership.joining(
      device, over: [transport], wantsVideo: true, createdAt: createdAt,
      lifetimeMilliseconds: Host.wallClockMilliseconds() - createdAt + CallLimits.membershipMilliseconds)
    server.ask(.put, path, content) { [self] in if case .failed(let words) = $0, !isOver { onFailed(words) } }
  }

  private func schedule(_ then: @escaping () -> Void) {
    server.ask(.put, path + "?org.matrix.msc4140.delay=\(Self.delayMilliseconds)", CallMembership.leaving) { [self] answer in
      // A server without delayed events has the expiry.
      if case .done(let json) = answer { delayed = json.text("delay_id") }
      if isOver, let delayed { server.ask(.post, Self.path(of: delayed), Self.action("cancel")) { _ in } }
      then()
    }
  }

  private var expiresAt: Int64 = 0

  private func keepAlive() {
    if expiresAt == 0 { expiresAt = createdAt + CallLimits.membershipMilliseconds }
    timer = Host.after(milliseconds: Self.restartMilliseconds) { [self] in
      guard !isOver else { return }
      if Host.wallClockMilliseconds() > expiresAt - Self.marginMilliseconds {
        write()
        expiresAt = Host.wallClockMilliseconds() + CallLimits.membershipMilliseconds
      }
      giveSignOfLife()
      keepAlive()
    }
  }

  func giveSignOfLife() {
    guard let delayed else { return }
    server.ask(.post, Self.path(of: delayed), Self.action("restart")) { [self] answer in
      guard case .failed = answer, !isOver, self.delayed == delayed else { return }
      replace(delayed)
    }
  }

  /// One that was sent meanwhile, for the network was gone, has taken the membership back. One that was not would: it is taken away. Where the
  /// server still cannot be reached, all stays as it is until the next sign of life.
  private func replace(_ old: ByteString) {
    schedule { [self] in
      guard !isOver, delayed != old else { return }
      server.ask(.post, Self.path(of: old), Self.action("cancel")) { _ in }
      write()
    }
  }

  private static func path(of delayed: ByteString) -> String { Endpoint.updateDelayedEvent.path(delayed) }

  private static func action(_ name: ByteString) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { $0.member("action", name) }
    return writer.bytes
  }
}
