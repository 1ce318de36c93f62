import Addresses
import EventLoop
import Synchronization

/// What all loops of a server share; immutable but for the census.
final class ServerCore: Sendable {
  /// The configuration's durations in nanoseconds.
  struct Timeouts: Sendable {
    let header: UInt64
    let bodyIdle: UInt64
    let writeStall: UInt64
    let keepAlive: UInt64
    let linger: UInt64
    let ping: UInt64
  }

  let configuration: HTTPServerConfiguration
  let timeouts: Timeouts
  let router: Router
  let pool: BlockingPool
  let census: ConnectionCensus

  init(configuration: HTTPServerConfiguration, router: Router, pool: BlockingPool) {
    self.configuration = configuration
    self.router = router
    self.pool = pool
    timeouts = Timeouts(
      header: configuration.headerTimeout.nanosecondsClamped,
      bodyIdle: configuration.bodyIdleTimeout.nanosecondsClamped,
      writeStall: configuration.writeStallTimeout.nanosecondsClamped,
      keepAlive: configuration.keepAliveTimeout.nanosecondsClamped,
      linger: configuration.lingerTimeout.nanosecondsClamped,
      ping: configuration.webSocketPingInterval.nanosecondsClamped)
    census = ConnectionCensus(
      limit: configuration.connectionCountLimit, perAddressLimit: configuration.connectionsPerAddressLimit)
  }

  /// An IPv4 address is also in the networks that hold it mapped: `::/0` trusts everyone.
  func isTrustedProxy(_ address: SocketAddress) -> Bool {
    let mapped = address.ip.mapped
    return configuration.trustedProxies.contains { $0.contains(address.ip) || $0.contains(mapped) }
  }

  /// Who asks: the rightmost address of `X-Forwarded-For` that is no trusted proxy, read only when the socket's peer is one.
  func peer(of socket: SocketAddress, _ headers: RequestHeaders) -> SocketAddress {
    guard !configuration.trustedProxies.isEmpty, isTrustedProxy(socket) else { return socket }
    var peer = socket
    for line in headers.all("X-Forwarded-For").reversed() {
      for entry in ASCII.list(Array(line.utf8)[...]).reversed() {
        let text = String(decoding: entry, as: UTF8.self)
        guard let address = SocketAddress(address: text, port: 0) ?? SocketAddress(text) else { return peer }
        peer = address
        if !isTrustedProxy(address) { return peer }
      }
    }
    return peer
  }
}

/// Counts the open connections of a server.
final class ConnectionCensus: Sendable {
  private struct State {
    var count = 0
    var perAddress: [IPAddress: Int] = [:]
    var waiters: [@Sendable () -> Void] = []
  }

  private let limit: Int
  private let perAddressLimit: Int
  private let state = Mutex(State())

  init(limit: Int, perAddressLimit: Int) {
    self.limit = limit
    self.perAddressLimit = perAddressLimit
  }

  var count: Int { state.withLock { $0.count } }

  /// Counts a connection in; false when a limit forbids it.
  ///
  /// - Parameter isExempt: whether the limit per address does not count, as for a proxy.
  func enter(_ address: IPAddress, isExempt: Bool) -> Bool {
    state.withLock { state in
      guard state.count < limit else { return false }
      if perAddressLimit > 0 && !isExempt {
        guard state.perAddress[address, default: 0] < perAddressLimit else { return false }
        state.perAddress[address, default: 0] += 1
      }
      state.count += 1
      return true
    }
  }

  /// Counts a connection out that `enter` let in.
  func leave(_ address: IPAddress, isExempt: Bool) {
    let waiters = state.withLock { state in
      state.count -= 1
      if perAddressLimit > 0 && !isExempt {
        let left = state.perAddress[address, default: 1] - 1
        state.perAddress[address] = left > 0 ? left : nil
      }
      guard state.count == 0 else { return [@Sendable () -> Void]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Calls `body` once no connection is open, at once if none is.
  func whenEmpty(_ body: @escaping @Sendable () -> Void) {
    let isEmpty = state.withLock { state in
      if state.count > 0 { state.waiters.append(body) }
      return state.count == 0
    }
    if isEmpty { body() }
  }
}
