import CallClient
import Foundation
import GStreamerMedia

/// A participant that a test steers: `call-peer URL SESSION TOKEN`.
///
/// Says `{"is":"connected"}`, or `{"is":"refused","code":…}` and ends. Then it takes commands from its input, a line of words each, and answers each
/// with one line; events are lines of their own. It leaves with `leave` or the end of its input.
@main
struct CallPeer {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 4 else { return say(["is": "refused", "code": "usage"]) }
    do {
      let call = try CallClient(url: words[1], session: words[2], token: words[3], engine: GStreamerEngine())
      let peer = Peer(call)
      let events = await call.events()
      let listening = Task { for await event in events { await peer.heard(event) } }
      let own = try await call.connect()
      say(["is": "connected", "id": own.id.string])
      for await line in lines() where !line.isEmpty {
        await peer.take(line.split(separator: " ").map(String.init))
        if line == "leave" { break }
      }
      await call.leave()
      await listening.value
    } catch {
      say(["is": "refused", "code": error.code, "text": error.english])
    }
  }

  private static func lines() -> AsyncStream<String> {
    let (stream, lines) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { lines.yield(line) }
      lines.finish()
    }
    return stream
  }
}

func say(_ members: [String: Any]) {
  guard let data = try? JSONSerialization.data(withJSONObject: members, options: .sortedKeys) else { return }
  FileHandle.standardOutput.write(data + Data("\n".utf8))
}

actor Peer {
  private let call: CallClient
  private var publishers: [String: CallPublisher] = [:]
  private var subscribers: [String: CallSubscriber] = [:]
  private var gauges: [String: Gauge] = [:]
  private var files: [WAVFile] = []

  init(_ call: CallClient) { self.call = call }

  func heard(_ event: CallEvent) {
    switch event {
    case .signal(let signal):
      say(["is": "signal", "kind": signal.kind.string, "data": signal.data.string, "from": signal.from?.string ?? ""])
    case .streamCreated(let stream): say(["is": "streamCreated", "name": stream.name.string, "type": stream.videoType.string])
    case .streamDestroyed(let stream): say(["is": "streamDestroyed", "name": stream.name.string])
    case .streamChanged(let stream):
      say(["is": "streamChanged", "name": stream.name.string, "audio": stream.hasAudio, "video": stream.hasVideo])
    case .publicationChanged(let publication):
      say(["is": "publication", "muted": publication.isMutedByForce, "audio": publication.hasAudio])
    case .publicationEnded: say(["is": "publicationEnded"])
    case .connectionDestroyed(let connection): say(["is": "connectionDestroyed", "id": connection.id.string])
    case .reconnected: say(["is": "reconnected"])
    case .closed(let error): say(["is": "closed", "code": error.code])
    default: break
    }
  }

  /// Carries a command out and answers it.
  func take(_ words: [String]) async {
    do throws(CallError) {
      say(try await carryOut(words))
    } catch {
      say(["is": "refused", "code": error.code, "text": error.english])
    }
  }

  private func carryOut(_ words: [String]) async throws(CallError) -> [String: Any] {
    let name = words.count > 1 ? words[1] : ""
    switch words[0] {
    case "publish": try await publish(name, words.dropFirst(2))
    case "unpublish": try await publishers.removeValue(forKey: name)?.unpublish()
    case "audio": try await publishers[name]?.setAudio(words.last == "on")
    case "video": try await publishers[name]?.setVideo(words.last == "on")
    case "subscribe": try await subscribe(try await stream(name), wav: words.count > 2 ? words[2] : nil)
    case "unsubscribe": try await subscribers.removeValue(forKey: name)?.unsubscribe()
    case "hear": try await subscribers[name]?.setAudio(words.last == "on")
    case "see": try await subscribers[name]?.setVideo(words.last == "on")
    case "signal":
      guard words.count > 3 else {
        try await call.signal(words[2], kind: name)
        break
      }
      let to = await call.connections.first { $0.id.string == words[3] }
      try await call.signal(words[2], kind: name, to: to)
    case "mute": try await call.forceMute(try await stream(name))
    case "gauge": return gauges[name]?.reading ?? [:]
    case "close": for file in files { file.close() }
    default: break
    }
    return ["is": "done"]
  }

  private func publish(_ name: String, _ words: ArraySlice<String>) async throws(CallError) {
    switch words.first {
    case "colour": publishers[name] = try await call.publish(video: Colour(), audio: nil, name: name)
    case "file":
      let file = MediaFile(path: words.last ?? "")
      publishers[name] = try await call.publish(video: file.video, audio: file.audio, name: name)
    case "camera": publishers[name] = try await call.publish(video: Camera(device: words.last ?? ""), name: name)
    default: publishers[name] = try await call.publish(video: TestPattern(), audio: TestTone(), name: name)
    }
  }

  private func subscribe(_ stream: CallStream, wav: String?) async throws(CallError) {
    let gauge = Gauge()
    gauges[stream.name.string] = gauge
    var sink: any AudioSink = gauge
    if let wav {
      let file = try WAVFile(path: wav)
      files.append(file)
      sink = Both(gauge, file)
    }
    subscribers[stream.name.string] = try await call.subscribe(to: stream, video: gauge, audio: sink)
  }

  private func stream(_ name: String) async throws(CallError) -> CallStream {
    guard let stream = await call.streams.first(where: { $0.name.string == name }) else { throw .notFound }
    return stream
  }
}
