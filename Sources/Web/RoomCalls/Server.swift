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

  /// Where the page reaches the homeserver: `scheme://host[:port]`.
  var base = ""
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

  /// Where the socket of a call is.
  ///
  /// A server that was not told its public address names what it reads in `Host`, which a proxy may have written. Without TLS the page may connect to
  /// its own server only. So a plain address is taken as a path on the server that the page reaches already.
  func socketAddress(_ url: String) -> String {
    let url = ByteString(url), base = ByteString(base)
    guard url.hasPrefix("ws://"), base.hasPrefix("http") else { return url.string }
    let path = url.utf8.dropFirst(5).drop { $0 != UInt8(ascii: "/") }
    return "ws" + String(decoding: base.utf8.dropFirst(4), as: UTF8.self) + String(decoding: path, as: UTF8.self)
  }

  func answered(_ json: JSON) {
    guard let i = waiting.firstIndex(where: { $0.number == json.integer("id") }) else { return }
    let then = waiting.remove(at: i).then
    if let answer = json["answer"] { then(.done(answer)) } else { then(.failed(json["error"]?.string ?? "")) }
  }
}
