import MediaRouter

@testable import Recording

/// Bytes written as hexadecimal digits; spaces do not count.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func milliseconds(_ count: Int64) -> MediaTime { MediaTime(microseconds: count * 1_000) }

/// Packets of a track as the router gives them out.
struct PacketSource {
  let codec: Codec
  let id: SubscriptionID
  var sequence: UInt64 = 1_000
  var hasBegun = false

  init(_ codec: Codec, id: UInt64 = 1) {
    self.codec = codec
    self.id = SubscriptionID(id)
  }

  typealias Sent = (packet: TappedBatch.Packet, media: [UInt8])

  /// One frame in pieces; for VP8 and VP9 they are what the descriptor left.
  mutating func frame(_ pieces: [[UInt8]], at time: Int64, timestamp: UInt32? = nil, isKey: Bool = false) -> [Sent] {
    pieces.enumerated().map { i, media in
      defer { sequence += 1 }
      let packet = TappedBatch.Packet(
        subscription: id, sequence: sequence,
        timestamp: timestamp ?? UInt32(truncatingIfNeeded: time * codec.clockRate / 1_000), marker: i == pieces.count - 1,
        startsFrame: i == 0 || codec == .h264, isKeyFrame: isKey && i == 0, arrival: milliseconds(time), media: 0..<media.count)
      return (packet, media)
    }
  }
}

/// A key frame of VP8 of this size, as its first bytes; what follows is noise.
func vp8Key(width: Int = 640, height: Int = 480, noise: UInt8 = 0) -> [UInt8] {
  [0x10, 0, 0, 0x9D, 0x01, 0x2A, UInt8(width & 0xFF), UInt8(width >> 8), UInt8(height & 0xFF), UInt8(height >> 8), noise]
}

/// Files as outputs of a recorder make them.
struct RecordedFiles {
  private(set) var files: [(part: StreamPart, bytes: [UInt8], isWhole: Bool)] = []
  private(set) var keyFramesWanted = 0

  mutating func take(_ outputs: [StreamRecorder.Output]) {
    for output in outputs {
      switch output {
      case .begin(let part, let header): files.append((part, header, false))
      case .write(let bytes): files[files.count - 1].bytes += bytes
      case .patch(let patch):
        let range = Int(patch.offset)..<(Int(patch.offset) + patch.bytes.count)
        files[files.count - 1].bytes.replaceSubrange(range, with: patch.bytes)
      case .end(let part): (files[files.count - 1].part, files[files.count - 1].isWhole) = (part, true)
      case .wantKeyFrame: keyFramesWanted += 1
      }
    }
  }
}

func recovery(of bytes: [UInt8]) -> WebMRecovery? {
  WebMRecovery(size: Int64(bytes.count)) { Array(bytes.dropFirst(Int($0)).prefix($1)) }
}
