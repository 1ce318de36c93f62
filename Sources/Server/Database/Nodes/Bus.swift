import CNATS
import Synchronization

/// Where NATS is, and how the nodes of one homeserver call each other there.
package struct BusConfiguration: Sendable, Equatable {
  /// `nats://host:port` or `tls://host:port`, perhaps with a user and a password. The server names the others of its cluster.
  package var url: String
  /// Begins the subjects: letters, digits and full stops.
  package var subject: String

  package init(url: String, subject: String) {
    self.url = url
    self.subject = subject
  }
}

/// NATS between nodes: texts at most once. What is lost is found by other ways, so nothing waits for it: what is published while NATS is away, or
/// takes nothing, is dropped.
///
/// libnats calls back on threads of its own and connects again by itself.
final class Bus: Sendable {
  enum Topic: String, CaseIterable, Sendable {
    /// The number of a commit.
    case batch
    /// What nodes say apart from commits: see `NodeTalk`.
    case talk
  }

  private struct Message: Sendable {
    let topic: Topic
    let text: String
  }

  /// The connection and its subscriptions; pointers of libnats, whose functions may be called from any thread.
  private struct Handles: @unchecked Sendable {
    var connection: OpaquePointer?
    var subscriptions: [OpaquePointer] = []
  }

  /// What calls of libnats find behind their pointer. Never freed before the process ends: a late callback may still come.
  private final class Ear: Sendable {
    let topic: Topic
    let heard: @Sendable (Topic, String) -> Void

    init(_ topic: Topic, _ heard: @escaping @Sendable (Topic, String) -> Void) {
      self.topic = topic
      self.heard = heard
    }
  }

  private static let waitingLimit = 1_000
  private static let reconnectMilliseconds: Int64 = 100
  private static let connectMilliseconds: Int64 = 2_000
  private static let writeMilliseconds: Int64 = 2_000
  /// A server that does not answer two of them is taken for gone.
  private static let pingMilliseconds: Int64 = 1_000
  /// What waits here to be heard; more is dropped.
  private static let heardLimit: Int32 = 65_536, heardBytesLimit: Int32 = 16 << 20

  private let configuration: BusConfiguration
  private let heard: @Sendable (Topic, String) -> Void
  private let outbox = BoundedQueue<Message>(limit: waitingLimit)
  private let handles = Mutex(Handles())
  private let thread = Mutex<WorkerThread?>(nil)

  /// - Parameter heard: called on a thread of libnats, one at a time for each topic, with what other nodes and this one have published.
  init(_ configuration: BusConfiguration, heard: @escaping @Sendable (Topic, String) -> Void) {
    self.configuration = configuration
    self.heard = heard
  }

  func start() {
    thread.withLock { $0 = WorkerThread { [self] in run() } }
  }

  /// Whether a server is there, as far as is known.
  var isConnected: Bool {
    handles.withLock { $0.connection.map { natsConnection_Status($0) == NATS_CONN_STATUS_CONNECTED } ?? false }
  }

  /// Never blocks.
  func publish(_ text: String, on topic: Topic) {
    // What does not fit is lost, as what NATS loses.
    do throws(DatabaseError) { try outbox.add(Message(topic: topic, text: text)) } catch {}
  }

  func close() {
    outbox.close()
    thread.withLock { $0 }?.join()
  }

  // MARK: The thread

  private func run() {
    connect()
    var messages: [Message] = []
    while outbox.take(upTo: Self.waitingLimit, into: &messages) {
      for message in messages where isConnected { send(message) }
      messages.removeAll(keepingCapacity: true)
    }
    disconnect()
  }

  private func send(_ message: Message) {
    guard let connection = handles.withLock({ $0.connection }) else { return }
    let bytes = Array(message.text.utf8)
    // One that fails is lost.
    _ = natsConnection_Publish(connection, subject(of: message.topic), bytes, Int32(bytes.count))
  }

  private func subject(of topic: Topic) -> String { "\(configuration.subject).\(topic.rawValue)" }

  /// Begins to connect: libnats goes on with that until it succeeds.
  private func connect() {
    var options: OpaquePointer?
    guard natsOptions_Create(&options) == NATS_OK else { return }
    defer { natsOptions_Destroy(options) }
    natsOptions_SetURL(options, configuration.url)
    natsOptions_SetName(options, "martlet")
    natsOptions_SetTimeout(options, Self.connectMilliseconds)
    natsOptions_SetMaxReconnect(options, -1)
    natsOptions_SetReconnectWait(options, Self.reconnectMilliseconds)
    natsOptions_SetReconnectJitter(options, Self.reconnectMilliseconds, Self.reconnectMilliseconds)
    natsOptions_SetRetryOnFailedConnect(options, true, { _, _ in }, nil)
    natsOptions_SetPingInterval(options, Self.pingMilliseconds)
    natsOptions_SetMaxPingsOut(options, 2)
    natsOptions_SetSendAsap(options, true)
    natsOptions_SetWriteDeadline(options, Self.writeMilliseconds)
    // Without one, libnats prints to the standard error.
    natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil)
    var connection: OpaquePointer?
    let status = natsConnection_Connect(&connection, options)
    guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else { return }
    var subscriptions: [OpaquePointer] = []
    for topic in Topic.allCases { if let made = subscribe(to: topic, on: connection) { subscriptions.append(made) } }
    handles.withLock { $0 = Handles(connection: connection, subscriptions: subscriptions) }
  }

  private func subscribe(to topic: Topic, on connection: OpaquePointer) -> OpaquePointer? {
    var subscription: OpaquePointer?
    let ear = Unmanaged.passRetained(Ear(topic, heard)).toOpaque()
    let status = natsConnection_Subscribe(
      &subscription, connection, subject(of: topic),
      { _, _, message, ear in
        defer { natsMsg_Destroy(message) }
        guard let ear, let data = natsMsg_GetData(message) else { return }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(natsMsg_GetDataLength(message)))
        let this = Unmanaged<Ear>.fromOpaque(ear).takeUnretainedValue()
        this.heard(this.topic, String(decoding: bytes, as: UTF8.self))
      }, ear)
    guard status == NATS_OK, let subscription else { return nil }
    natsSubscription_SetPendingLimits(subscription, Self.heardLimit, Self.heardBytesLimit)
    return subscription
  }

  private func disconnect() {
    let handles = handles.withLock { handles in
      defer { handles = Handles() }
      return handles
    }
    natsConnection_Close(handles.connection)
    for subscription in handles.subscriptions { natsSubscription_Destroy(subscription) }
    natsConnection_Destroy(handles.connection)
  }
}
