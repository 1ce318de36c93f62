import CUV
import Glibc

/// The server under load.
struct Target {
  /// Of the form 127.0.0.1:8008.
  let host: String
  let address: sockaddr_in

  /// nil when the text is not `http://HOST[:PORT]` with an IPv4 address or `localhost`, or when the address is not a loopback
  /// address and `anyAddress` is false.
  init?(base: String, anyAddress: Bool) {
    guard base.hasPrefix("http://") else { return nil }
    let parts = base.dropFirst(7).prefix { $0 != "/" }.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, parts.count <= 2 else { return nil }
    let port = parts.count == 2 ? UInt16(parts[1]) : 80
    let number = name == "localhost" ? "127.0.0.1" : String(name)
    var address = sockaddr_in()
    guard let port, uv_ip4_addr(number, Int32(port), &address) == 0 else { return nil }
    guard anyAddress || UInt32(bigEndian: address.sin_addr.s_addr) >> 24 == 127 else { return nil }
    self.address = address
    host = "\(number):\(port)"
  }

  func request(
    _ method: String, _ path: [UInt8], token: String? = nil, body: [UInt8]? = nil, type: String = "application/json"
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(320 + path.count + (body?.count ?? 0))
    bytes.append(method)
    bytes.append(0x20)
    bytes += path
    bytes.append(" HTTP/1.1\r\nHost: ")
    bytes.append(host)
    if let token {
      bytes.append("\r\nAuthorization: Bearer ")
      bytes.append(token)
    }
    if let body {
      bytes.append("\r\nContent-Type: \(type)\r\nContent-Length: ")
      bytes.append(String(body.count))
    }
    bytes.append("\r\n\r\n")
    if let body { bytes += body }
    return bytes
  }

  func request(_ method: String, _ path: String, token: String? = nil, body: String? = nil) -> [UInt8] {
    request(method, Array(path.utf8), token: token, body: body.map { Array($0.utf8) })
  }
}
