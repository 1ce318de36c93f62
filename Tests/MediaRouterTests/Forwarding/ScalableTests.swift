@testable import MediaRouter
import Testing

/// Spatial and temporal layers within one SSRC.
@Suite struct ScalableTests {
  /// A packet as a subscriber has it.
  private struct Packet {
    let picture: UInt8
    let spatial: UInt8
    let temporal: UInt8
    let marker: Bool
  }

  private struct Scene {
    let simulation: Simulation
    let worker: WorkerID
    let publisher: SimulatedPeer
    let subscriber: SimulatedPeer
    var source: ScalableSource
    private var answered = 0

    /// - Parameter isApart: the subscriber is at another worker.
    init(_ codec: Codec, spatialLayers: Int = 2, isApart: Bool = false) {
      simulation = Simulation(workers: isApart ? 2 : 1)
      worker = WorkerID(isApart ? 1 : 0)
      source = ScalableSource(codec, spatialLayers: spatialLayers)
      publisher = simulation.join()
      subscriber = simulation.join(at: worker)
      var track = TrackParameters(codec: codec, payloadType: 96)
      track.hasPictureLoss = true
      track.extensions.dependencyDescriptor = ScalableSource.descriptorExtension
      simulation.command(.publish(Call.track, on: publisher.id, track))
      if isApart { simulation.command(.accept(Call.track, from: WorkerID(0), track), at: worker) }
      var subscription = SubscriptionParameters(ssrc: Call.ssrc, payloadType: 96)
      subscription.extensions.dependencyDescriptor = ScalableSource.descriptorExtension
      simulation.command(.subscribe(SubscriptionID(1), to: Call.track, on: subscriber.id, subscription), at: worker)
    }

    mutating func publish(_ pictures: Int) {
      for _ in 0..<pictures {
        let asked = publisher.pictureLossCount
        for packet in source.picture(isKey: source.pictures == 0 || asked > answered) { publisher.send(packet) }
        answered = asked
        simulation.run(.milliseconds(33))
      }
    }

    mutating func limit(_ spatial: Int, _ temporal: UInt8) {
      simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: spatial, temporal: temporal)), at: worker)
    }

    var packets: [Packet] {
      let received = (subscriber.received[Call.ssrc] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
      return received.map { packet in
        let start =
          source.codec == .vp9 ? packet.payload[0] & 0x40 == 0 ? 4 : 5 : 0
        return Packet(
          picture: packet.payload[start], spatial: packet.payload[start + 1], temporal: packet.payload[start + 2],
          marker: packet.header.marker)
      }
    }

    var isComplete: Bool {
      let numbers = (subscriber.received[Call.ssrc] ?? [:]).keys.sorted()
      return Int(numbers.last! - numbers.first!) + 1 == numbers.count
    }
  }

  /// Pictures in order, each with all packets of its layers up to the highest it has; the marker on its last packet alone.
  private static func check(_ packets: [Packet], from first: Int) -> (spatial: [UInt8], temporal: [UInt8]) {
    var pictures: [[Packet]] = []
    for packet in packets[first...] {
      if pictures.last?.last?.picture == packet.picture {
        pictures[pictures.count - 1].append(packet)
      } else {
        pictures.append([packet])
      }
    }
    // The first and the last one may be in two halves.
    pictures = Array(pictures.dropFirst().dropLast())
    for picture in pictures {
      #expect(picture.map(\.spatial) == (0...picture.last!.spatial).flatMap { [$0, $0] })
      #expect(picture.dropLast().allSatisfy { !$0.marker } && picture.last!.marker)
    }
    return (pictures.map { $0.last!.spatial }, pictures.map { $0.last!.temporal })
  }

  // Proves M7
  @Test(arguments: [Codec.vp9, .av1], [false, true])
  func layersAreChosenWithinOneStreamAlsoAtAnotherWorker(_ codec: Codec, _ isApart: Bool) {
    var scene = Scene(codec, isApart: isApart)
    scene.publish(30)
    #expect(Set(Self.check(scene.packets, from: 0).spatial) == [1])
    for (spatial, temporal) in [(0, 7), (1, 7), (1, 0), (0, 0), (1, 1)] as [(Int, UInt8)] {
      scene.limit(spatial, temporal)
      let before = scene.packets.count
      scene.publish(40)
      let seen = Self.check(scene.packets, from: before)
      // A change may wait for a key frame.
      #expect(Set(seen.spatial.suffix(15)) == [UInt8(spatial)])
      #expect(Set(seen.temporal.suffix(15)) == (temporal == 0 ? [0] : [0, 1]))
    }
    #expect(scene.isComplete)
  }

  @Test func picturesOfVP9KeepTheirDistances() {
    var scene = Scene(.vp9, spatialLayers: 3)
    scene.limit(2, 0)
    scene.publish(20)
    let numbers = (scene.subscriber.received[Call.ssrc] ?? [:]).sorted { $0.key < $1.key }.map {
      $0.value.payload.span.bytes.uint16(at: 1) & 0x7FFF
    }
    // Each leans on the one two before.
    let pictures = numbers.reduce(into: [UInt16]()) { if $0.last != $1 { $0.append($1) } }
    #expect(pictures.count >= 8 && zip(pictures, pictures.dropFirst()).allSatisfy { $1 - $0 == 2 })
  }

  @Test func lowerLayersNeedNoKeyFrame() {
    for codec in [Codec.vp9, .av1] {
      var scene = Scene(codec)
      scene.publish(20)
      let asked = scene.publisher.pictureLossCount
      scene.limit(0, 7)
      scene.publish(20)
      #expect(Set(Self.check(scene.packets, from: 0).spatial.suffix(10)) == [0])
      #expect(scene.publisher.pictureLossCount == asked)
      scene.limit(1, 7)
      scene.publish(20)
      #expect(scene.publisher.pictureLossCount > asked)
    }
  }

  @Test func theAllocatorKnowsWhatEachLayerTakes() throws {
    var scene = Scene(.vp9, spatialLayers: 3)
    scene.publish(60)
    let track = try #require(scene.simulation.unit.track(Call.track))
    let rates = (0..<4).map { track.rate($0, now: scene.simulation.now) }
    #expect(track.highestLayer == 2 && rates[3] == nil, "\(rates)")
    // Two packets of about 320, 620 and 920 bytes.
    #expect(rates[0].map { (130_000...170_000).contains($0) } ?? false)
    #expect(rates[2].map { (750_000...940_000).contains($0) } ?? false)
    for _ in 0..<8 {
      scene.subscriber.sendControl { $0.receiverEstimate(sender: 1, bitsPerSecond: 500_000, ssrcs: [Call.ssrc]) }
      scene.publish(15)
    }
    #expect(Set(Self.check(scene.packets, from: 0).spatial.suffix(10)) == [1])
  }
}
