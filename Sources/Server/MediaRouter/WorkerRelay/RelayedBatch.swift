/// What one worker's forwarding unit relays to another's: packets that it opened and described, copied one behind the other, sender reports, and requests.
struct RelayedBatch: Sendable {
  private struct Packet: Sendable {
    let track: TrackID
    let isVideo: Bool
    let position: UInt8
    let datagramBytes: Int32
    /// Its descriptor and payload follow those of the packet before it.
    let media: MediaPacket
  }

  struct Report: Sendable {
    let track: TrackID
    let position: Int
    let report: SenderReport
  }

  /// What the worker that has subscribers asks of the one that has their publisher.
  enum Request: Sendable, Equatable {
    /// The packets of a track, up to this layer; nil for none yet.
    case layers(TrackID, upTo: Int?)
    case keyFrame(TrackID, layer: Int)
    /// Nothing of a track any more.
    case end(TrackID)
  }

  private var packets: [Packet] = []
  private var bytes: [UInt8] = []
  private(set) var reports: [Report] = []
  private(set) var requests: [Request] = []

  var isEmpty: Bool { packets.isEmpty && reports.isEmpty && requests.isEmpty }
  var packetCount: Int { packets.count }

  /// What it takes up in memory.
  var cost: Int {
    bytes.count + MemoryLayout<Packet>.stride * packets.count + MemoryLayout<Report>.stride * reports.count
      + MemoryLayout<Request>.stride * requests.count
  }

  mutating func append(_ packet: ArrivingPacket, of track: TrackID, isVideo: Bool) {
    packets.append(
      Packet(
        track: track, isVideo: isVideo, position: UInt8(packet.position), datagramBytes: Int32(packet.datagramBytes),
        media: packet.media))
    bytes.append(contentsOf: packet.descriptor)
    bytes.append(contentsOf: packet.payload)
  }

  mutating func append(_ report: Report) { reports.append(report) }
  mutating func append(_ request: Request) { requests.append(request) }

  /// Each packet in its turn; its memory is the caller's until `body` returns.
  func forEachPacket(_ body: (ArrivingPacket, TrackID) -> Void) { forEach { body($0, $1.track) } }

  private func forEach(_ body: (ArrivingPacket, Packet) -> Void) {
    bytes.withUnsafeBytes { bytes in
      var end = 0
      for packet in packets {
        let start = end
        let middle = start + packet.media.descriptorCount
        end = middle + packet.media.payloadCount
        let arriving = ArrivingPacket(
          packet.media, of: Int(packet.position), datagramBytes: Int(packet.datagramBytes),
          descriptor: UnsafeRawBufferPointer(rebasing: bytes[start..<middle]),
          payload: UnsafeRawBufferPointer(rebasing: bytes[middle..<end]))
        body(arriving, packet)
      }
    }
  }

  /// Leaves pictures out.
  mutating func removePictures() {
    var sound = RelayedBatch()
    forEach { arriving, packet in if !packet.isVideo { sound.append(arriving, of: packet.track, isVideo: false) } }
    (packets, bytes) = (sound.packets, sound.bytes)
  }

  /// Leaves all but requests out, which are few.
  mutating func removeMedia() {
    packets.removeAll()
    bytes.removeAll()
    reports.removeAll()
  }

  /// Makes it empty; what it has of memory it keeps, if that is no more than so much.
  mutating func removeAll(keeping limit: Int) {
    guard bytes.capacity + MemoryLayout<Packet>.stride * packets.capacity <= limit else { return self = RelayedBatch() }
    packets.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    reports.removeAll(keepingCapacity: true)
    requests.removeAll(keepingCapacity: true)
  }
}
