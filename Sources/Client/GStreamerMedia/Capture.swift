import CPeerConnection
import CallClient
import Glibc
import Synchronization

/// A pipeline of GStreamer's that gives frames: what camera, microphone and files have in common.
final class Capture: Sendable {
  private struct Running: @unchecked Sendable {
    // Closed once, by the code that takes it out of the mutex.
    let pipeline: OpaquePointer
    let taker: CaptureTaker
  }

  private let description: String
  private let running = Mutex<Running?>(nil)

  /// - Parameter description: as gst-launch has it, without its end.
  init(_ description: String) { self.description = description }

  deinit { stop() }

  func start(_ output: MediaOutput<VideoFrame>) throws(CallError) {
    try start(CaptureTaker(video: output, audio: nil), isAudio: false)
  }

  func start(_ output: MediaOutput<AudioFrame>) throws(CallError) {
    try start(CaptureTaker(video: nil, audio: output), isAudio: true)
  }

  private func start(_ taker: CaptureTaker, isAudio: Bool) throws(CallError) {
    try GStreamer.start()
    stop()
    let context = Unmanaged.passUnretained(taker).toOpaque()
    var trouble: UnsafeMutablePointer<CChar>?
    let callbacks = media_taker(context: context, picture: pictureTaken, sound: soundTaken)
    guard let pipeline = capture_open(description, isAudio ? 1 : 0, callbacks, captureEnded, &trouble) else {
      defer { free(trouble) }
      throw .media(trouble.map { String(cString: $0) } ?? "")
    }
    running.withLock { $0 = Running(pipeline: pipeline, taker: taker) }
  }

  func stop() {
    let stopped = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let stopped else { return }
    capture_close(stopped.pipeline)
    // GStreamer's threads have used it until now.
    withExtendedLifetime(stopped.taker) {}
  }
}

/// In quotation marks, for descriptions of pipelines: nothing in a text begins an element.
func quoted(_ text: String) -> String {
  "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
}

private final class CaptureTaker: Sendable {
  let video: MediaOutput<VideoFrame>?
  let audio: MediaOutput<AudioFrame>?

  init(video: MediaOutput<VideoFrame>?, audio: MediaOutput<AudioFrame>?) {
    self.video = video
    self.audio = audio
  }

  static func of(_ context: UnsafeMutableRawPointer?) -> CaptureTaker? {
    context.map { Unmanaged<CaptureTaker>.fromOpaque($0).takeUnretainedValue() }
  }
}

private func pictureTaken(_ context: UnsafeMutableRawPointer?, _ picture: UnsafePointer<media_picture>?) {
  guard let picture, let frame = VideoFrame(picture.pointee) else { return }
  CaptureTaker.of(context)?.video?.send(frame)
}

private func soundTaken(_ context: UnsafeMutableRawPointer?, _ sound: UnsafePointer<media_sound>?) {
  guard let sound, let frame = AudioFrame(sound.pointee) else { return }
  CaptureTaker.of(context)?.audio?.send(frame)
}

private func captureEnded(_ context: UnsafeMutableRawPointer?, _ trouble: UnsafePointer<CChar>?) {
  let taker = CaptureTaker.of(context)
  taker?.video?.finish()
  taker?.audio?.finish()
}
