public import CallClient

/// A camera of Video4Linux.
public final class Camera: VideoSource {
  public let width: Int
  public let height: Int
  public var videoType: VideoType { .camera }
  private let capture: Capture

  /// Opened when it is published.
  /// - Parameters:
  ///   - device: its file.
  ///   - width: pixels, as the camera's pictures are made; so is the height.
  ///   - framesPerSecond: as near as the camera can.
  public init(device: String = "/dev/video0", width: Int = 640, height: Int = 480, framesPerSecond: Int = 30) {
    self.width = min(max(16, width), VideoFrame.sideLimit)
    self.height = min(max(16, height), VideoFrame.sideLimit)
    let rate = min(max(1, framesPerSecond), 60)
    capture = Capture(
      "v4l2src device=\(quoted(device)) ! decodebin ! videoconvert ! videoscale ! videorate drop-only=true max-rate=\(rate) ! "
        + "video/x-raw,width=\(self.width),height=\(self.height)")
  }

  public func start(_ output: MediaOutput<VideoFrame>) throws(CallError) { try capture.start(output) }
  public func stop() { capture.stop() }
}

/// A microphone of PulseAudio or PipeWire, else of ALSA.
public final class Microphone: AudioSource {
  private let capture: Capture

  /// - Parameter device: by the sound system's name; nil for the one that is usual here.
  public init(device: String? = nil) {
    capture = Capture(device.map { "pulsesrc device=\(quoted($0))" } ?? "autoaudiosrc")
  }

  public func start(_ output: MediaOutput<AudioFrame>) throws(CallError) { try capture.start(output) }
  public func stop() { capture.stop() }
}

/// The pictures, or the sound, of a file in any format that GStreamer reads, at the speed at which they are to be shown. The publication ends
/// with the file.
public struct MediaFile: Sendable {
  private let path: String

  public init(path: String) { self.path = path }

  public var video: any VideoSource { FileVideo(capture: Capture(source("video/x-raw"))) }
  public var audio: any AudioSource { FileAudio(capture: Capture(source("audio/x-raw"))) }

  private func source(_ kind: String) -> String {
    "filesrc location=\(quoted(path)) ! decodebin ! \(kind) ! identity sync=true"
  }
}

private struct FileVideo: VideoSource {
  let capture: Capture
  func start(_ output: MediaOutput<VideoFrame>) throws(CallError) { try capture.start(output) }
  func stop() { capture.stop() }
}

private struct FileAudio: AudioSource {
  let capture: Capture
  func start(_ output: MediaOutput<AudioFrame>) throws(CallError) { try capture.start(output) }
  func stop() { capture.stop() }
}
