@testable import MediaRouter

/// A publisher of VP8 and a subscriber to it, perhaps at another worker.
struct Call {
  let simulation: Simulation
  let publisher: SimulatedPeer
  let subscriber: SimulatedPeer
  var sources: [VP8Source]
  /// Frames by which each layer is later on its way than the first.
  var lags: [Int]
  private var underWay: [[[(packet: [UInt8], rollOver: UInt32)]]]
  static let ssrc: UInt32 = 5000
  static let track = TrackID(1)
  /// Of the subscriber.
  let worker: WorkerID

  init(
    seed: UInt64 = 1, layers: Int = 1, sendTime: UInt8 = 0, transportSequence: UInt8 = 0, rtx: Bool = true,
    firstNumber: UInt16 = 100, isApart: Bool = false
  ) {
    simulation = Simulation(seed: seed, workers: isApart ? 2 : 1)
    worker = WorkerID(isApart ? 1 : 0)
    publisher = simulation.join()
    subscriber = simulation.join(at: worker)
    var parameters = TrackParameters(codec: .vp8, payloadType: 96)
    parameters.hasNack = true
    parameters.hasPictureLoss = true
    sources = (0..<layers).map { VP8Source(ssrc: UInt32(10 + $0), firstNumber: firstNumber) }
    lags = Array(repeating: 0, count: layers)
    underWay = Array(repeating: [], count: layers)
    if layers > 1 {
      parameters.extensions.streamID = 3
      parameters.layers = (0..<layers).map { TrackParameters.Layer(rid: [UInt8(ascii: "a") + UInt8($0)]) }
      for i in sources.indices { (sources[i].ridExtension, sources[i].rid) = (3, parameters.layers[i].rid) }
    }
    simulation.command(.publish(Self.track, on: publisher.id, parameters))
    if isApart { simulation.command(.accept(Self.track, from: WorkerID(0), parameters), at: worker) }
    var subscription = SubscriptionParameters(ssrc: Self.ssrc, payloadType: 100)
    subscription.hasNack = true
    (subscription.extensions.sendTime, subscription.extensions.transportSequence) = (sendTime, transportSequence)
    if rtx { (subscription.rtxSSRC, subscription.rtxPayloadType) = (Self.ssrc + 1, 101) }
    subscriber.repairs = [Self.ssrc + 1: Self.ssrc]
    simulation.command(.subscribe(SubscriptionID(1), to: Self.track, on: subscriber.id, subscription), at: worker)
  }

  var received: [SimulatedPeer.Received] {
    (subscriber.received[Self.ssrc] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }

  /// Numbers without a gap, as the subscriber has them.
  var isComplete: Bool {
    let numbers = (subscriber.received[Self.ssrc] ?? [:]).keys.sorted()
    return numbers.isEmpty || Int(numbers.last! - numbers.first!) + 1 == numbers.count
  }

  /// Sends frames of all layers, 30 a second; a key frame first and whenever one was asked for.
  mutating func publish(frames: Int) {
    for _ in 0..<frames {
      for i in sources.indices {
        let asked = publisher.control.contains {
          if case .pictureLoss(_, let media) = $0 { media == sources[i].ssrc } else { false }
        }
        let isKey = sources[i].frames == 0 || asked && !answered.contains(publisher.pictureLossCount)
        underWay[i].append(sources[i].frame(isKey: isKey))
        if underWay[i].count > lags[i] {
          for (packet, rollOver) in underWay[i].removeFirst() { publisher.send(packet, rollOver: rollOver) }
        }
      }
      answered.insert(publisher.pictureLossCount)
      simulation.run(.milliseconds(33))
    }
  }

  private var answered: Set<Int> = []
}
