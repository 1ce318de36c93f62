import Glibc
import HTTPServer

/// A client that sends what it is told, byte for byte, and gives up after ten seconds of silence.
final class RawClient {
  private let descriptor: Int32
  private var unread: [UInt8] = []

  struct Answer {
    var status: Int
    var head: String
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts[0].lowercased() == name.lowercased() { return parts[1].drop { $0 == " " }.description }
      }
      return nil
    }
  }

  struct Broken: Error {}

  init(_ address: SocketAddress, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var bytes = receiveBufferBytes { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4) }
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_port = address.port.bigEndian
    v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &v4) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Broken() }
  }

  deinit { Glibc.close(descriptor) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let result = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard result > 0 else { throw Broken() }
      sent += result
    }
  }

  /// Sends what fits without waiting; how much that was.
  func sendWithoutWaiting(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
  }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes with a reset rather than an end.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// The next bytes; empty at the end.
  func receive() throws -> [UInt8] {
    if !unread.isEmpty {
      defer { unread = [] }
      return unread
    }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 || errno == ECONNRESET else { throw Broken() }
    return Array(buffer[..<max(0, count)])
  }

  func receive(exactly count: Int) throws -> [UInt8] {
    guard count > 0 else { return [] }
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try receive()
      guard !more.isEmpty else { throw Broken() }
      bytes += more
    }
    unread = Array(bytes[count...])
    return Array(bytes[..<count])
  }

  func receiveToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let more = try receive(), !more.isEmpty { bytes += more }
    return bytes
  }

  /// Reads one response, 1xx included. Its body has a length, comes in chunks, or is absent.
  func answer(toHead isHead: Bool = false) throws -> Answer {
    var bytes: [UInt8] = []
    var end: Int?
    while end == nil {
      let more = try receive()
      guard !more.isEmpty else { throw Broken() }
      bytes += more
      end = Self.find([13, 10, 13, 10], in: bytes)
    }
    let head = String(decoding: bytes[..<end!], as: UTF8.self)
    unread = Array(bytes[(end! + 4)...])
    let status = Int(head.split(separator: " ")[1])!
    var answer = Answer(status: status, head: head, body: [])
    if isHead || status < 200 || status == 204 || status == 304 { return answer }
    if let length = answer.header("Content-Length") {
      answer.body = try receive(exactly: Int(length)!)
    } else if answer.header("Transfer-Encoding") == "chunked" {
      answer.body = try chunks()
    }
    return answer
  }

  private func chunks() throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      var line: [UInt8] = []
      while !line.suffix(2).elementsEqual([13, 10]) { line += try receive(exactly: 1) }
      let count = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16)!
      body += try receive(exactly: count)
      guard try receive(exactly: 2) == [13, 10] else { throw Broken() }
      if count == 0 { return body }
    }
  }

  private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
    guard bytes.count >= pattern.count else { return nil }
    for start in 0...(bytes.count - pattern.count) where bytes[start..<start + pattern.count].elementsEqual(pattern) {
      return start
    }
    return nil
  }
}
