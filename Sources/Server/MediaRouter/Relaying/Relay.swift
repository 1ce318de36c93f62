import Addresses

/// The actions that the relay requests from the owner of the sockets.
struct RelayActions {
  /// To clients. The batch is empty afterwards.
  var send: (SendBatch) -> Void
  /// To a peer, from the port of an allocation.
  var sendToPeer: (UnsafeRawBufferPointer, _ port: UInt16, TransportAddress) -> Void
  /// Binds the port of an allocation; false where it is not to be had.
  var open: (UInt16) -> Bool
  var close: (UInt16) -> Void
}

/// A TURN server without I/O: datagrams of clients and peers and time go in; datagrams, and ports to open and close, come out. RFC 8656.
///
/// It belongs to one thread and never asks the clock. Who has no valid credentials costs no memory.
final class Relay {
  let configuration: RelayConfiguration
  let credentials: RelayCredentials
  let actions: RelayActions
  let batch = SendBatch()
  var policy: RelayPolicy
  var random: any RandomNumberGenerator
  var limits: RelayLimits { configuration.limits }
  private(set) var allocations: [TransportAddress: Allocation] = [:]
  private(set) var byPort: [UInt16: Allocation] = [:]
  private(set) var users: [[UInt8]: RelayUser] = [:]
  private var strangers: StrangerRates
  private var budget: ByteBudget
  private var lastSweep: MediaTime

  init(
    _ configuration: RelayConfiguration, policy: RelayPolicy, random: any RandomNumberGenerator, now: MediaTime,
    actions: RelayActions
  ) {
    var random = random
    self.configuration = configuration
    self.policy = policy
    self.actions = actions
    credentials = RelayCredentials(realm: configuration.realm, secret: configuration.secret, using: &random)
    strangers = StrangerRates(perSecond: configuration.limits.strangerAnswersPerSecond, using: &random)
    budget = ByteBudget(perSecond: configuration.limits.bytesPerSecond, now: now)
    lastSweep = now
    self.random = random
  }

  // MARK: Sending

  func send(_ datagram: [UInt8], to client: TransportAddress) {
    if batch.isFull { flush() }
    batch.append(datagram, to: client)
  }

  /// Hands over what is owed to clients.
  func flush() {
    guard !batch.messages.isEmpty else { return }
    actions.send(batch)
    batch.removeAll()
  }

  /// Whether so many bytes may go through, and then counts them.
  func take(_ count: Int, of allocation: Allocation, now: MediaTime) -> Bool {
    guard allocation.budget.has(count, now: now), allocation.owner.budget.has(count, now: now), budget.has(count, now: now)
    else { return false }
    allocation.budget.take(count)
    allocation.owner.budget.take(count)
    budget.take(count)
    return true
  }

  /// Whether a request without valid credentials is answered.
  func mayAnswerStranger(_ client: TransportAddress, _ now: MediaTime) -> Bool { strangers.take(client, now: now) }

  // MARK: Allocations

  /// Whether this is somebody who has an allocation.
  func isKnown(_ client: TransportAddress) -> Bool { allocations[client] != nil }

  func user(_ name: [UInt8], now: MediaTime) -> RelayUser { users[name] ?? RelayUser(name, limits: limits, now: now) }

  func add(_ allocation: Allocation) {
    allocations[allocation.client] = allocation
    byPort[allocation.relayed.port] = allocation
    users[allocation.owner.name] = allocation.owner
    allocation.owner.allocations += 1
  }

  func remove(_ allocation: Allocation) {
    guard allocations[allocation.client] === allocation else { return }
    allocations[allocation.client] = nil
    byPort[allocation.relayed.port] = nil
    allocation.owner.allocations -= 1
    actions.close(allocation.relayed.port)
  }

  /// The connection of a client is over, and so is what was allocated by it. RFC 8656 §3.1.
  func lose(_ client: TransportAddress) {
    if let allocation = allocations[client] { remove(allocation) }
  }

  // MARK: Time

  /// When `advance` wants to be called again; nil while nobody is there.
  var deadline: MediaTime? { users.isEmpty ? nil : lastSweep + Self.sweepInterval }

  static let sweepInterval = MediaTime.Interval.seconds(1)

  /// Takes out what has expired.
  func advance(to now: MediaTime) {
    guard now - lastSweep >= Self.sweepInterval else { return }
    lastSweep = now
    for allocation in allocations.values where allocation.expires <= now { remove(allocation) }
    // A user who returns at once has the allowance that was left.
    for (name, user) in users where user.allocations == 0 && user.budget.has(Int(2 * limits.bytesPerSecondOfUser), now: now) {
      users[name] = nil
    }
  }
}
