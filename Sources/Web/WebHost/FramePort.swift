import JSON
import Messenger

/// The line to the page that embeds this one, where it is the frame of `<martlet-messenger>`: requests come in as JSON objects with
/// a `number`, each is answered once, and events go out. `Web/messenger-frame.js` has the other end.
public final class FramePort {
  /// Carries bytes to the page; replaced in tests.
  public var post: ([UInt8]) -> Void

  /// - Parameter name: empty for the page around this one; `#NAME` for the program NAME.wasm, which draws into the element of that ID.
  public init(_ name: String = "", _ onRequest: @escaping (JSON) -> Void) {
    let channel = Host.openTabChannel(named: name) {
      if let request = try? JSON.parse($0) { onRequest(request) }
    }
    post = { channel.post($0) }
  }

  public func tell(_ event: StaticString, _ members: (inout JSONWriter) -> Void = { _ in }) {
    send { writer in
      writer.key("event")
      writer.write(ByteString(stringLiteral: event))
      members(&writer)
    }
  }

  /// To a program that this one has opened.
  public func request(_ name: StaticString, _ members: (inout JSONWriter) -> Void = { _ in }) {
    send { writer in
      writer.key("do")
      writer.write(ByteString(stringLiteral: name))
      members(&writer)
    }
  }

  public func answer(_ request: JSON, _ members: (inout JSONWriter) -> Void = { _ in }) {
    answer(request.integer("number") ?? 0, members)
  }

  /// To the request of that number.
  public func answer(_ number: Int64, _ members: (inout JSONWriter) -> Void = { _ in }) {
    send { writer in
      writer.member("answer", number)
      members(&writer)
    }
  }

  private func send(_ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    post(writer.bytes)
  }
}
