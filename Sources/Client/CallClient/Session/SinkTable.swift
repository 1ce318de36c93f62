import JSON
import Synchronization

/// Who takes the frames of which stream. The engine's threads ask, the application writes.
final class SinkTable: Sendable {
  private struct Sinks: Sendable {
    var video: (any VideoSink)?
    var audio: (any AudioSink)?
  }
  private let sinks = Mutex<[ByteString: Sinks]>([:])

  func set(_ stream: ByteString, video: (any VideoSink)?, audio: (any AudioSink)?) {
    sinks.withLock { $0[stream] = Sinks(video: video, audio: audio) }
  }

  func remove(_ stream: ByteString) { sinks.withLock { $0[stream] = nil } }

  func removeAll() { sinks.withLock { $0 = [:] } }

  func video(_ stream: ByteString) -> (any VideoSink)? { sinks.withLock { $0[stream]?.video } }
  func audio(_ stream: ByteString) -> (any AudioSink)? { sinks.withLock { $0[stream]?.audio } }
}
