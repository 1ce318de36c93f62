/// The forwarding unit without I/O: commands, datagrams and time go in; datagrams and events come out.
///
/// It belongs to one thread. Sending is a call of `send` with a batch, which is empty afterwards.
final class ForwardingUnit {
  /// How exact timers are.
  static let tick = MediaTime.Interval.milliseconds(10)
  /// Few enough that what was written is still in the processor's cache when the system copies it.
  private static let batchBytes = 1 << 17

  let limits: RouterLimits
  let identity: DTLSIdentity
  var events: [RouterEvent] = []
  private(set) var transports: [TransportID: Transport] = [:]
  /// The same in the order in which they came, in which they are looked after: so a run is repeated by its seed.
  private(set) var transportsInOrder: [Transport] = []
  private var byUfrag: [[UInt8]: Transport] = [:]
  private var byAddress: [TransportAddress: Transport] = [:]
  private var tracks: [TrackID: Track] = [:]
  /// Those that other workers relay.
  private(set) var acceptedTracks: [Track] = []
  private var subscriptions: [SubscriptionID: Subscription] = [:]
  /// By the number of the question.
  var pathChecks: [[UInt8]: Transport] = [:]
  /// TCP connections by which somebody was authentic.
  var connections: [TransportAddress: Transport] = [:]
  var pendingTracks: [Track] = []
  /// Those for which video waits.
  var pacedTransports: [Transport] = []
  /// What `forward` hands to each subscriber; empty outside it.
  var outgoing: [OutgoingPacket] = []
  var random: any RandomNumberGenerator
  let batch: SendBatch
  var timers = ForwardingTimers()
  /// Packets of tapped tracks since they were taken.
  var tapped = TappedBatch()
  /// What other workers get, by their numbers.
  @exclusivity(unchecked) var relayed: [RelayedBatch] = []
  /// By session.
  var speakers: [UInt64: SpeakerDetector] = [:]
  private let send: (SendBatch) -> Void

  /// - Parameter send: takes what the batch holds before it returns.
  init(
    _ identity: DTLSIdentity, limits: RouterLimits = RouterLimits(), random: any RandomNumberGenerator,
    send: @escaping (SendBatch) -> Void
  ) {
    self.identity = identity
    self.limits = limits
    self.random = random
    self.send = send
    batch = SendBatch(bytes: Self.batchBytes)
  }

  // MARK: What it holds

  func transport(at address: TransportAddress) -> Transport? { byAddress[address] }
  /// The transport whose packets may come from there: a peer sends by any of its valid pairs, also before it nominates one and
  /// after it has nominated another. RFC 8445 §12.
  func transport(heardAt address: TransportAddress) -> Transport? {
    byAddress[address] ?? (address.isStream ? connections[address] : nil)
  }
  func transport(ufrag: [UInt8]) -> Transport? { byUfrag[ufrag] }
  func forget(ufrag: [UInt8]) { byUfrag[ufrag] = nil }
  func track(_ id: TrackID) -> Track? { tracks[id] }
  func subscription(_ id: SubscriptionID) -> Subscription? { subscriptions[id] }

  var counts: RouterCounts {
    RouterCounts(
      transports: transports.count, tracks: tracks.count - acceptedTracks.count, subscriptions: subscriptions.count,
      addresses: byAddress.count)
  }

  /// Sends to this address from now on. RFC 8445 §8.1.1: the pair that the controlling peer nominated last.
  func bind(_ transport: Transport, to address: TransportAddress) {
    guard transport.address != address else { return }
    if let before = transport.address { byAddress[before] = nil }
    if let other = byAddress[address], other !== transport { other.address = nil }
    transport.address = address
    byAddress[address] = transport
  }

  /// A connection is over, and with it the path, if it was one.
  func lose(_ connection: TransportAddress) {
    guard let transport = connections.removeValue(forKey: connection) else { return }
    transport.connections.remove(connection)
    guard transport.address == connection else { return }
    byAddress[connection] = nil
    transport.address = nil
  }

  // MARK: Sending

  /// Makes room for one more datagram.
  func makeRoom() {
    if batch.isFull { sendBatch() }
  }

  func sendBatch() {
    guard !batch.messages.isEmpty else { return }
    send(batch)
    batch.removeAll()
  }

  func send(_ datagram: [UInt8], to address: TransportAddress) {
    makeRoom()
    batch.append(datagram, to: address)
  }

  // MARK: Commands

  func handle(_ command: RouterCommand, now: MediaTime) {
    switch command {
    case .open(let id, let parameters): open(id, parameters, now)
    case .restart(let id, let local, let ufrag, let password):
      restart(id, Connectivity.Generation(local, remoteUfrag: ufrag, remotePassword: password))
    case .close(let id):
      if let transport = transports[id] { close(transport) }
    case .publish(let id, let transport, let parameters): publish(id, on: transport, parameters)
    case .unpublish(let id):
      if let track = tracks[id] { unpublish(track) }
    case .accept(let id, let worker, let parameters): accept(id, from: worker, parameters)
    case .subscribe(let id, let track, let transport, let parameters): subscribe(id, to: track, on: transport, parameters)
    case .tap(let id, let track): tap(id, of: track)
    case .unsubscribe(let id):
      if let subscription = subscriptions[id] { unsubscribe(subscription) }
    case .limit(let id, let limit): change(id) { $0.limit = limit }
    case .pause(let id, let isPaused): change(id) { $0.isPaused = isPaused }
    case .refresh(let id):
      if let subscription = subscriptions[id] { wantKeyFrame(subscription) }
    case .mute(let id, let isMuted): tracks[id]?.isMuted = isMuted
    case .cap(let id, let rate):
      if let transport = transports[id], rate != nil || transport.cap != nil { transport.cap = rate ?? Transport.unlimited }
    case .count: events.append(.counts(counts))
    }
    sendBatch()
  }

  private func open(_ id: TransportID, _ parameters: TransportParameters, _ now: MediaTime) {
    guard transports.count < limits.transports, transports[id] == nil, byUfrag[parameters.local.ufrag] == nil else {
      return events.append(.refused(id))
    }
    let transport = Transport(id, parameters, now: now, reporterSSRC: random.next())
    transports[id] = transport
    transportsInOrder.append(transport)
    byUfrag[parameters.local.ufrag] = transport
  }

  private func restart(_ id: TransportID, _ generation: Connectivity.Generation) {
    let ufrag = generation.local.ufrag
    guard let transport = transports[id], byUfrag[ufrag] == nil else { return events.append(.refused(id)) }
    // A restart that was never used gives way to the next one.
    if let unused = transport.connectivity.next { forget(ufrag: unused.local.ufrag) }
    transport.connectivity.restart(generation)
    byUfrag[ufrag] = transport
  }

  private func close(_ transport: Transport) {
    transport.dtls?.close()
    sendHandshake(transport)
    remove(transport)
  }

  /// Takes a transport out that is over, and says so.
  func end(_ transport: Transport, _ reason: RouterEvent.End) {
    guard transports[transport.id] === transport else { return }
    remove(transport)
    events.append(.ended(transport.id, reason))
  }

  private func remove(_ transport: Transport) {
    for subscription in transport.subscriptions { unsubscribe(subscription) }
    for track in transport.tracks { unpublish(track) }
    if let address = transport.address, byAddress[address] === transport { byAddress[address] = nil }
    for ufrag in transport.connectivity.ufrags { forget(ufrag: ufrag) }
    endPathCheck(transport)
    for connection in transport.connections { connections[connection] = nil }
    pacedTransports.removeAll { $0 === transport }
    transports[transport.id] = nil
    transportsInOrder.removeAll { $0 === transport }
  }

  private func publish(_ id: TrackID, on transportID: TransportID, _ parameters: TrackParameters) {
    guard let transport = transports[transportID], tracks[id] == nil, !parameters.layers.isEmpty,
      transport.tracks.count < limits.tracksOfTransport
    else { return events.append(.refused(transportID)) }
    let track = Track(id, parameters, on: transport, limits)
    tracks[id] = track
    transport.tracks.append(track)
    for (position, layer) in track.layers.enumerated() {
      if layer.ssrc != 0 { transport.learn(layer.ssrc, track, position, isRetransmission: false) }
      if layer.rtxSSRC != 0 { transport.learn(layer.rtxSSRC, track, position, isRetransmission: true) }
    }
  }

  private func accept(_ id: TrackID, from worker: WorkerID, _ parameters: TrackParameters) {
    guard tracks[id] == nil, !parameters.layers.isEmpty else { return }
    let track = Track(id, parameters, from: worker, limits)
    tracks[id] = track
    acceptedTracks.append(track)
    beginRelay(of: track)
  }

  private func unpublish(_ track: Track) {
    for subscription in track.subscriptions { remove(subscription) }
    tracks[track.id] = nil
    if let session = track.parameters.session {
      speakers[session]?.remove(track.id)
      if speakers[session]?.isEmpty ?? false { speakers[session] = nil }
    }
    pendingTracks.removeAll { $0 === track }
    track.transport?.tracks.removeAll { $0 === track }
    track.transport?.sources.removeAll { $0.track === track }
    guard track.worker != nil else { return }
    acceptedTracks.removeAll { $0 === track }
    endRelay(of: track)
  }

  private func subscribe(
    _ id: SubscriptionID, to trackID: TrackID, on transportID: TransportID, _ parameters: SubscriptionParameters
  ) {
    guard let track = tracks[trackID], let transport = transports[transportID], subscriptions[id] == nil,
      transport.subscriptions.count < limits.subscriptionsOfTransport,
      transport.subscription(ssrc: parameters.ssrc) == nil
    else { return events.append(.refused(transportID)) }
    if parameters.extensions.transportSequence != 0, transport.path.sender == nil { transport.path.sender = SenderEstimate() }
    let subscription = Subscription(id, parameters, to: track, on: transport, using: &random)
    subscriptions[id] = subscription
    track.subscriptions.append(subscription)
    transport.subscriptions.append(subscription)
    requestLayers(of: track)
  }

  private func tap(_ id: SubscriptionID, of trackID: TrackID) {
    guard let track = tracks[trackID], subscriptions[id] == nil, !track.subscriptions.contains(where: \.isTap) else {
      return
    }
    let subscription = Subscription(
      id, SubscriptionParameters(ssrc: 0, payloadType: 0), to: track, on: nil, using: &random)
    subscriptions[id] = subscription
    track.subscriptions.append(subscription)
    wantKeyFrame(subscription)
  }

  private func change(_ id: SubscriptionID, _ body: (Subscription) -> Void) {
    guard let subscription = subscriptions[id] else { return }
    body(subscription)
    requestLayers(of: subscription.track)
  }

  private func unsubscribe(_ subscription: Subscription) {
    remove(subscription)
    requestLayers(of: subscription.track)
  }

  private func remove(_ subscription: Subscription) {
    subscriptions[subscription.id] = nil
    subscription.track.subscriptions.removeAll { $0 === subscription }
    subscription.transport?.subscriptions.removeAll { $0 === subscription }
    subscription.transport?.repairs.remove(subscription)
    subscription.transport?.pacer.remove(subscription)
  }
}
