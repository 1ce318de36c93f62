import CallCore
import JSON

/// Turns the page's requests into commands.
extension SessionCommand {
  /// Returns nil if the request is not a command or lacks a required field.
  init?(_ name: ByteString, _ request: JSON) {
    func text(_ key: StaticString) -> ByteString? { request[key]?.text }
    func flag(_ key: StaticString) -> Bool? { request[key]?.bool }
    let source = SourceID(truncatingIfNeeded: request.integer("source") ?? 0)
    switch name {
    case "publish":
      guard let kind = CaptureKind(text("kind") ?? "") else { return nil }
      self = .publish(
        source, kind, name: text("name") ?? "", audio: flag("audio") ?? true, video: flag("video") ?? true)
    case "update": self = .update(source, hasAudio: flag("audio"), hasVideo: flag("video"))
    case "unpublish": self = .unpublish(source)
    case "signal":
      self = .signal(kind: text("kind") ?? "", data: text("data") ?? "", to: text("to"))
    case "muteAll":
      var except: [ByteString] = []
      if let listed = request["except"] {
        for stream in listed.elements { if let stream = stream.text { except.append(stream) } }
      }
      self = .muteAll(isActive: flag("active") ?? true, except: except)
    case "disconnect":
      guard let connection = text("connection") else { return nil }
      self = .disconnect(connection: connection)
    case "record": self = .record(flag("on") ?? true)
    case "leave": self = .leave
    default:
      guard let stream = text("stream") else { return nil }
      switch name {
      case "subscribe": self = .subscribe(stream)
      case "unsubscribe": self = .unsubscribe(stream)
      case "prefer":
        self = .prefer(
          stream,
          StreamPreference(
            width: request.integer("width"), height: request.integer("height"), frameRate: request.integer("frameRate"),
            audio: flag("audio") ?? true, video: flag("video") ?? true))
      case "mute": self = .mute(stream: stream)
      case "forceUnpublish": self = .forceUnpublish(stream: stream)
      default: return nil
      }
    }
  }
}

extension CaptureKind {
  fileprivate init?(_ name: ByteString) {
    switch name {
    case "camera": self = .camera
    case "microphone": self = .microphone
    case "screen": self = .screen
    case "custom": self = .custom
    default: return nil
    }
  }
}

extension SessionEnd {
  var code: ByteString {
    switch self {
    case .left: "left"
    case .closed(let code): code
    case .unreachable: "unreachable"
    case .mediaFailed: "media_failed"
    }
  }
}

extension CallConnection {
  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", id)
      writer.member("data", data)
      switch role {
      case .subscriber: writer.member("role", "subscriber" as ByteString)
      case .publisher: writer.member("role", "publisher" as ByteString)
      case .publisherOnly: writer.member("role", "publisheronly" as ByteString)
      case .moderator: writer.member("role", "moderator" as ByteString)
      }
      writer.member("created", created)
    }
  }
}

extension CallStream {
  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", id)
      writer.member("connection", connection)
      writer.member("name", name)
      writer.member("hasAudio", hasAudio)
      writer.member("hasVideo", hasVideo)
      writer.member("videoType", videoType)
      writer.member("width", width)
      writer.member("height", height)
      writer.member("muted", isMuted)
      writer.member("created", created)
    }
  }
}

extension Publication {
  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      if let stream { writer.member("stream", stream) }
      writer.member("hasAudio", hasAudio)
      writer.member("hasVideo", hasVideo)
      writer.member("muted", isMutedByForce)
    }
  }
}
