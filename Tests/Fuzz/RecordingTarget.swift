import MediaRouter
import Recording

func fuzzRecording(_ bytes: UnsafeRawBufferPointer) { FuzzedRecording.run(bytes) }

/// What publishers may send to a recorder, and the files that come of it.
///
/// The input is a row of steps: the kind and the codec in a byte, flags, a sequence number, a time step, the bytes that follow and these.
private enum FuzzedRecording {
  private static let codecs: [Codec] = [.opus, .vp8, .vp9, .h264]

  static func run(_ input: UnsafeRawBufferPointer) {
    var now = MediaTime(microseconds: 1_000_000)
    var recorder = StreamRecorder(began: now)
    var model = FilesModel()
    for codec in codecs { recorder.add(id(codec), codec, now: now) }
    var offset = 0
    while offset + 5 <= input.count {
      let (kind, flags, count) = (input[offset], input[offset + 1], Int(input[offset + 4]))
      let end = min(input.count, offset + 5 + count)
      let codec = codecs[Int(kind >> 4 & 3)]
      now.microseconds += Int64(input[offset + 3]) * 4_000
      let timestamp = UInt32(truncatingIfNeeded: now.microseconds) &* (kind & 8 == 0 ? 1 : 70_001)
      switch kind & 7 {
      case 0: recorder.advance(to: now)
      case 1: recorder.add(id(codec), codec, now: now)
      case 2:
        recorder.receive(TappedBatch.Report(subscription: id(codec), ntpTime: UInt64(timestamp) << 20, timestamp: timestamp))
      case 3: recorder.remove(id(codec), now: now)
      default:
        recorder.receive(
          TappedBatch.Packet(
            subscription: id(codec), sequence: 100 + UInt64(input[offset + 2]), timestamp: timestamp, marker: flags & 1 != 0,
            startsFrame: flags & 2 != 0, isKeyFrame: flags & 4 != 0, arrival: now, media: 0..<0),
          Array(input[(offset + 5)..<end]))
      }
      model.take(recorder.takeOutputs())
      offset = end
    }
    recorder.finish(now: now)
    model.take(recorder.takeOutputs())
    guard model.isClosed else { fatalError("a file stays open") }
  }

  private static func id(_ codec: Codec) -> SubscriptionID { SubscriptionID(codec.isVideo ? 2 : 1) }
}

/// The files that outputs make, which must be whole ones.
private struct FilesModel {
  private var file: [UInt8]?

  var isClosed: Bool { file == nil }

  mutating func take(_ outputs: [StreamRecorder.Output]) {
    for output in outputs {
      switch output {
      case .begin(_, let header):
        guard file == nil else { fatalError("two files at a time") }
        file = header
      case .write(let bytes): file! += bytes
      case .patch(let patch):
        file!.replaceSubrange(Int(patch.offset)..<(Int(patch.offset) + patch.bytes.count), with: patch.bytes)
      case .end(let part):
        let bytes = file!
        let recovery = WebMRecovery(size: Int64(bytes.count)) { Array(bytes.dropFirst(Int($0)).prefix($1)) }
        guard recovery != nil, part.bytes == bytes.count, part.durationMilliseconds == recovery?.durationMilliseconds else {
          fatalError("a file that is not whole")
        }
        file = nil
      case .wantKeyFrame: break
      }
    }
  }
}
