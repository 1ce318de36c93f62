import CallClient
import Foundation
import GStreamerMedia
import Synchronization

/// A call without a page: `NativeCall URL SESSION TOKEN [SOUND.wav]` sends noise, and sees everyone in grey.
///
/// The sound of the others goes into the file. It ends when the call does, or by Ctrl-C.
@main
struct NativeCall {
  static func main() async {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 3 else { return print("NativeCall URL SESSION TOKEN [SOUND.wav]") }
    do {
      let arguments = Array(words)
      let tape: any AudioSink = arguments.count > 3 ? try WAVFile(path: arguments[3]) : Discard()
      try await take(part: arguments[0], arguments[1], arguments[2], tape)
    } catch {
      print(error.english)
    }
  }

  static func take(part url: String, _ session: String, _ token: String, _ tape: any AudioSink) async throws(CallError) {
    // Calls.md
    let call = try CallClient(url: url, session: session, token: token, engine: GStreamerEngine())
    let events = await call.events()
    try await call.connect()
    try await call.publish(video: Noise(width: 320, height: 240), audio: TestTone(), name: "noise")
    for await event in events {
      switch event {
      case .streamCreated(let stream):
        // It may be gone again already.
        _ = try? await call.subscribe(to: stream, video: Greyscale(into: Display(name: stream.name.string)), audio: tape)
      case .signal(let signal): print("\(signal.kind): \(signal.data)")
      case .closed(let error): print(error.english)
      default: break
      }
    }
    // Calls.md
  }
}

/// A capturer of one's own: every point has any brightness, twenty times a second.
final class Noise: VideoSource {
  let width: Int
  let height: Int
  private let metronome = Metronome()

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  func start(_ output: MediaOutput<VideoFrame>) {
    let (width, height) = (width, height)
    metronome.start(every: .milliseconds(50)) { _, microseconds in
      guard var frame = VideoFrame(width: width, height: height, timestampMicroseconds: microseconds) else { return }
      var random = UInt64(truncatingIfNeeded: microseconds) | 1
      for i in frame.y.indices {
        // Marsaglia's xorshift: quick, and random enough for the eye.
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        frame.y[i] = UInt8(truncatingIfNeeded: random)
      }
      output.send(frame)
    }
  }

  func stop() { metronome.stop() }
}

/// A renderer of one's own: takes the colours away and hands the picture on.
struct Greyscale<Next: VideoSink>: VideoSink {
  private let next: Next

  init(into next: Next) { self.next = next }

  func take(_ frame: VideoFrame) {
    var grey = frame
    grey.u = [UInt8](repeating: 128, count: frame.u.count)
    grey.v = grey.u
    next.take(grey)
  }
}

/// Where a window would be, a line for every 30 pictures.
final class Display: VideoSink {
  private let name: String
  private let count = Mutex(0)

  init(name: String) { self.name = name }

  func take(_ frame: VideoFrame) {
    let number = count.withLock { count in
      count += 1
      return count
    }
    guard number % 30 == 0 else { return }
    let colours = Set(frame.u + frame.v).sorted()
    print(
      "\(name): \(number) pictures, \(frame.width)x\(frame.height), at \(frame.timestampMicroseconds) µs, chroma \(colours)")
    // Also into a pipe at once.
    fflush(nil)
  }
}
