import Homeserver
import JSON

/// What happens in a session, as its application's server hears of it. The shape is OpenTok's, "session monitoring".
package struct SessionEvent: Sendable {
  enum What: Sendable {
    case connectionCreated
    case connectionDestroyed(SessionLogic.End)
    case streamCreated(CallStream)
    case streamDestroyed(CallStream, SessionLogic.StreamEnd)
  }

  let what: What
  /// The connection that came, went or publishes.
  let connection: CallConnection

  /// - Parameter time: when it happened, in milliseconds since 1970.
  func body(of session: SessionID, of project: ProjectID, at time: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("sessionId", session)
      writer.member("projectId", project)
      writer.member("event", name)
      writer.member("timestamp", time)
      switch what {
      case .connectionCreated: writeConnection(to: &writer)
      case .connectionDestroyed(let end):
        writer.member("reason", end.callbackReason)
        writeConnection(to: &writer)
      case .streamCreated(let stream): write(stream, to: &writer)
      case .streamDestroyed(let stream, let end):
        writer.member("reason", end.callbackReason)
        write(stream, to: &writer)
      }
    }
    return writer.bytes
  }

  private var name: String {
    switch what {
    case .connectionCreated: "connectionCreated"
    case .connectionDestroyed: "connectionDestroyed"
    case .streamCreated: "streamCreated"
    case .streamDestroyed: "streamDestroyed"
    }
  }

  private func writeConnection(to writer: inout JSONWriter) {
    writer.key("connection")
    writer.object { writer in
      writer.member("id", connection.id)
      writer.member("createdAt", connection.created)
      writer.member("data", connection.token.data)
    }
  }

  private func write(_ stream: CallStream, to writer: inout JSONWriter) {
    writer.key("stream")
    writer.object { writer in
      writer.member("id", stream.id)
      writeConnection(to: &writer)
      writer.member("createdAt", stream.created)
      writer.member("name", stream.description.name)
      writer.member("videoType", stream.description.videoType.rawValue)
    }
  }
}

extension SessionLogic.End {
  fileprivate var callbackReason: String {
    switch self {
    case .left: "clientDisconnected"
    case .lost: "networkDisconnected"
    case .forced, .ended: "forceDisconnected"
    }
  }
}

extension SessionLogic.StreamEnd {
  fileprivate var callbackReason: String {
    switch self {
    case .unpublished, .noMedia: "mediaStopped"
    case .left: "clientDisconnected"
    case .lost: "networkDisconnected"
    case .forced: "forceUnpublished"
    }
  }
}
