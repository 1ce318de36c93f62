import JSON
import WebHost

/// Requests to the homeserver, which the page makes: it has the session. `answered` comes once for each.
final class Server {
  enum Method {
    case get, put, post

    fileprivate var name: ByteString {
      switch self {
      case .get: "GET"
      case .put: "PUT"
      case .post: "POST"
      }
    }
  }

  enum Answer {
    case done(JSON)
    /// In words for the person.
    case failed(String)
  }

  private let port: FramePort
  private var waiting: [(number: Int64, then: (Answer) -> Void)] = []
  private var last: Int64 = 0

  init(_ port: FramePort) { self.port = port }

  /// - Parameter body: a JSON object; of a `get`, nothing is made of it.
  func ask(_ method: Method, _ path: String, _ body: [UInt8] = Array("{}".utf8), _ then: @escaping (Answer) -> Void) {
    last += 1
    waiting.append((last, then))
    let number = last
    port.tell("ask") { writer in
      writer.member("id", number)
      writer.member("method", method.name)
      writer.member("path", path)
      writer.key("body")
      writer.raw(body)
    }
  }

  func answered(_ json: JSON) {
    guard let i = waiting.firstIndex(where: { $0.number == json.integer("id") }) else { return }
    let then = waiting.remove(at: i).then
    if let answer = json["answer"] { then(.done(answer)) } else { then(.failed(json["error"]?.string ?? "")) }
  }
}
