import CallCore
import JSON
import Synchronization

/// The sources of one publication on their way to the engine: gates for muting, one clock for both.
final class SourceFeed: Sendable {
  private struct State: Sendable {
    var isRunning = false
    var sendsAudio = true
    var sendsVideo = true
    var clock = SourceClock()
  }

  let video: (any VideoSource)?
  let audio: (any AudioSource)?
  private let state = Mutex(State())

  init(video: (any VideoSource)?, audio: (any AudioSource)?) {
    self.video = video
    self.audio = audio
  }

  var kind: CaptureKind {
    switch video?.videoType {
    case .camera: .camera
    case .screen: .screen
    case .custom: .custom
    case nil: .microphone
    }
  }

  var media: CapturedMedia {
    CapturedMedia(
      stream: "-", hasAudio: audio != nil, hasVideo: video != nil, width: Int64(video?.width ?? 0),
      height: Int64(video?.height ?? 0))
  }

  /// - Parameter ended: once one of the sources has no more.
  func start(_ source: SourceID, engine: any MediaEngine, ended: @escaping @Sendable () -> Void) throws(CallError) {
    state.withLock { $0.isRunning = true }
    try video?.start(
      MediaOutput(
        take: { [weak self, weak engine] frame in
          guard frame.isWellFormed, let time = self?.time(of: frame.timestampMicroseconds, if: { $0.sendsVideo }) else {
            return
          }
          var placed = frame
          placed.timestampMicroseconds = time
          engine?.send(placed, from: source)
        }, end: ended))
    try audio?.start(
      MediaOutput(
        take: { [weak self, weak engine] frame in
          guard frame.isWellFormed, let time = self?.time(of: frame.timestampMicroseconds, if: { $0.sendsAudio }) else {
            return
          }
          var placed = frame
          placed.timestampMicroseconds = time
          engine?.send(placed, from: source)
        }, end: ended))
  }

  func stop() {
    state.withLock { $0.isRunning = false }
    video?.stop()
    audio?.stop()
  }

  func enable(_ kind: TrackKind, _ isOn: Bool) {
    state.withLock { state in
      switch kind {
      case .audio: state.sendsAudio = isOn
      case .video: state.sendsVideo = isOn
      }
    }
  }

  /// nil where the frame is not to be sent.
  private func time(of timestamp: Int64, if isOpen: (State) -> Bool) -> Int64? {
    let now = MonotonicTime.microseconds
    return state.withLock { state in
      let time = state.clock.place(timestamp, now: now)
      return state.isRunning && isOpen(state) ? time : nil
    }
  }
}
