import CallCore
import JSON
import Testing

@testable import CallClient

/// A session that a server talks to, and what listeners hear of it.
private struct Listening {
  var session = CallSession(randomSeed: 1, subscribesToAll: false)
  var events = CallEvents()
  var heard: [String] = []

  mutating func take(_ input: SessionInput) {
    for effect in session.handle(input, now: 0) {
      guard case .change(let change) = effect else { continue }
      heard += events.take(change, in: session).map { Self.words(CallEvent($0, in: session)) }
    }
  }

  mutating func says(_ text: String) { take(.text(1, Array(text.utf8))) }

  mutating func told() -> [String] {
    defer { heard = [] }
    return heard
  }

  mutating func comesIn() {
    take(.command(.connect(CallToken("t"), session: "s"), id: 1))
    take(.socketOpened(1))
    says(
      #"{"type":"connected","connection":{"id":"me","data":"","role":"publisher"},"key":"k","mode":"routed","#
        + #""connections":[{"id":"a","data":"Ana","role":"publisher"}],"streams":[{"id":"s1","connection":"a","name":"cam","has_audio":true}]}"#
    )
  }

  private static func words(_ event: CallEvent) -> String {
    switch event {
    case .connected(let own): "connected \(own.id.string)"
    case .reconnecting: "reconnecting"
    case .reconnected: "reconnected"
    case .connectionCreated(let other): "+\(other.data.string)"
    case .connectionChanged(let other): "\(other.id.string) is \(other.role)"
    case .connectionDestroyed(let other): "-\(other.data.string)"
    case .streamCreated(let stream): "+\(stream.name.string)"
    case .streamChanged(let stream): "\(stream.name.string) audio \(stream.hasAudio)"
    case .streamDestroyed(let stream): "-\(stream.name.string)"
    case .videoDisabled(let stream): "no picture of \(stream.name.string)"
    case .videoEnabled(let stream): "picture of \(stream.name.string)"
    case .signal(let signal): "signal \(signal.data.string)"
    case .speaker(let stream): "speaker \(stream?.name.string ?? "nobody")"
    case .muteAll(let isActive): "mute all \(isActive)"
    case .recording(let id): "recording \(id?.string ?? "none")"
    case .publicationChanged, .publicationEnded: "publication"
    case .closed(let error): "closed \(error.code)"
    }
  }
}

@Suite struct CallEventsTests {
  @Test("Who and what is there is told after the own coming, each once")
  func coming() {
    var listening = Listening()
    listening.comesIn()
    #expect(listening.told() == ["connected me", "+Ana", "+cam"])
    listening.says(#"{"seq":1,"type":"connection_created","connection":{"id":"a","data":"again"}}"#)
    #expect(listening.told() == [])
  }

  @Test("Changes are events, except those that the participant asked for")
  func changing() {
    var listening = Listening()
    listening.comesIn()
    _ = listening.told()
    listening.says(#"{"seq":1,"type":"stream_changed","stream":"s1","has_audio":false}"#)
    listening.says(#"{"seq":2,"type":"stream_changed","stream":"s1","has_audio":false}"#)
    listening.says(#"{"seq":3,"type":"video_disabled","stream":"s1","reason":"quality"}"#)
    listening.says(#"{"seq":4,"type":"video_enabled","stream":"s1","reason":"quality"}"#)
    listening.says(#"{"seq":5,"type":"signal","data":"hi","from":"a"}"#)
    listening.says(#"{"seq":6,"type":"speaker","stream":"s1"}"#)
    listening.says(#"{"seq":7,"type":"recording_started","archive":"r"}"#)
    listening.says(#"{"seq":8,"type":"recording_stopped","archive":"r"}"#)
    listening.says(#"{"seq":9,"type":"muted","active":true}"#)
    listening.says(#"{"seq":10,"type":"connection_changed","connection":"a","role":"moderator"}"#)
    listening.says(#"{"seq":11,"type":"connection_changed","connection":"a","role":"moderator"}"#)
    listening.says(#"{"seq":12,"type":"connection_changed","connection":"me","role":"subscriber"}"#)
    listening.take(.command(.subscribe("s1"), id: 5))
    #expect(
      listening.told() == [
        "cam audio false", "no picture of cam", "picture of cam", "signal hi", "speaker cam", "recording r", "recording none",
        "mute all true", "a is moderator", "me is subscriber"
      ])
  }

  @Test("Who goes takes the streams along; the end is told once, with its reason")
  func going() {
    var listening = Listening()
    listening.comesIn()
    _ = listening.told()
    listening.says(#"{"seq":1,"type":"connection_destroyed","connection":"a"}"#)
    #expect(listening.told() == ["-cam", "-Ana"])
    listening.says(#"{"type":"closed","code":"forced"}"#)
    listening.says(#"{"type":"closed","code":"forced"}"#)
    #expect(listening.told() == ["closed forced"])
  }

  @Test("Why a token is refused is said in the server's words, where it has any")
  func refused() {
    for (message, words) in [("The token has expired.", "The token has expired."), ("", CallError.unauthorized("").english)] {
      var listening = Listening()
      listening.take(.command(.connect(CallToken("t"), session: "s"), id: 1))
      listening.take(.socketOpened(1))
      listening.says(#"{"type":"closed","code":"unauthorized","message":"\#(message)","retry":false}"#)
      #expect(CallError(.closed("unauthorized"), of: listening.session).english == words)
    }
  }

  @Test("A connection that the server has forgotten takes with it what is not there any more")
  func forgetting() {
    var listening = Listening()
    listening.comesIn()
    _ = listening.told()
    listening.says(#"{"type":"closed","code":"gone"}"#)
    #expect(listening.told() == ["-cam", "-Ana", "reconnecting"])
  }

  @Test(
    "Each code of the server's is an error of its own, with words",
    arguments: [
      "unauthorized", "forbidden", "not_found", "invalid", "too_large", "limit", "forced", "ended", "replaced", "too_slow",
      "new_one"
    ])
  func errors(_ code: String) {
    let error = CallError(code: ByteString(code), message: "")
    #expect(error.code == code && !error.english.isEmpty)
  }
}
