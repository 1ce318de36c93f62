/// How the end of a response's body is told.
enum BodyFraming: Equatable {
  case length(Int64)
  case chunked
  /// Neither field, as for 204 and 304.
  case none
  /// The end of the connection, for HTTP/1.0 and a body of unknown length.
  case untilClose
  /// 101: the fields that switch protocols are the response's own.
  case upgrade
}

/// Writes status line and header fields. RFC 9112 §4, §5.
enum ResponseHead {
  static func write(
    _ response: Response, framing: BodyFraming, keepsAlive: Bool, date: String, into output: inout [UInt8]
  ) {
    put("HTTP/1.1 ", &output)
    put(Int64(response.status.code), &output)
    put(" ", &output)
    put(response.status.reason, &output)
    put("\r\nDate: ", &output)
    output.append(contentsOf: date.utf8)
    put("\r\n", &output)
    for field in response.headers.fields where !isFraming(field.name) {
      putClean(field.name, &output)
      put(": ", &output)
      putClean(field.value, &output)
      put("\r\n", &output)
    }
    switch framing {
    case .length(let bytes):
      put("Content-Length: ", &output)
      put(bytes, &output)
      put("\r\n", &output)
    case .chunked:
      put("Transfer-Encoding: chunked\r\n", &output)
    case .none, .untilClose, .upgrade:
      break
    }
    if framing == .upgrade {
      put("Connection: Upgrade\r\n", &output)
    } else if !keepsAlive {
      put("Connection: close\r\n", &output)
    }
    put("\r\n", &output)
  }

  /// Fields that are this server's to set: a handler's own would make a second, perhaps different framing.
  private static func isFraming(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: ResponseHeaders.equal(name, "Date")
    case 10: ResponseHeaders.equal(name, "Connection")
    case 14: ResponseHeaders.equal(name, "Content-Length")
    case 17: ResponseHeaders.equal(name, "Transfer-Encoding")
    default: false
    }
  }

  private static func putClean(_ text: String, _ output: inout [UInt8]) {
    let start = output.count
    output.append(contentsOf: text.utf8)
    for index in start..<output.count where (output[index] < 0x20 && output[index] != 9) || output[index] == 0x7F {
      output[index] = 0x20
    }
  }

  static func put(_ text: StaticString, _ output: inout [UInt8]) {
    output.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  static func put(_ number: Int64, _ output: inout [UInt8]) {
    guard number >= 10 else {
      output.append(48 + UInt8(max(0, number)))
      return
    }
    var divisor: Int64 = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      output.append(48 + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  /// The line before a chunk of a body. RFC 9112 §7.1.
  static func chunkHeader(_ count: Int) -> [UInt8] { Array(String(count, radix: 16).utf8) + [13, 10] }
}
