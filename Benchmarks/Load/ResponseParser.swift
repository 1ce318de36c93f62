import CLLHTTP

/// llhttp, set up for one answer after the other.
final class ResponseParser {
  private(set) var status = 0
  var body: [UInt8] = []
  private(set) var isComplete = false
  private(set) var keepsAlive = true

  private let parser = UnsafeMutablePointer<llhttp_t>.allocate(capacity: 1)
  private let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)

  init() {
    llhttp_settings_init(settings)
    settings.pointee.on_body = { parser, bytes, count in
      guard let parser, let bytes else { return -1 }
      ResponseParser.from(parser).body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    }
    settings.pointee.on_message_complete = { parser in
      guard let parser else { return -1 }
      ResponseParser.from(parser).completed()
      return 0
    }
    reset()
  }

  deinit {
    parser.deallocate()
    settings.deallocate()
  }

  /// A new connection begins.
  func reset() {
    llhttp_init(parser, HTTP_RESPONSE, settings)
    parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
  }

  /// A new answer begins.
  func begin() {
    body.removeAll(keepingCapacity: body.capacity <= 64 << 10)
    isComplete = false
  }

  /// False when the bytes are not HTTP.
  func parse(_ bytes: UnsafePointer<CChar>, _ count: Int) -> Bool {
    llhttp_execute(parser, bytes, count) == HPE_OK
  }

  /// The connection has ended. True when that completes the answer.
  func finish() -> Bool {
    llhttp_finish(parser) == HPE_OK && isComplete
  }

  private static func from(_ parser: UnsafeMutablePointer<llhttp_t>) -> ResponseParser {
    Unmanaged<ResponseParser>.fromOpaque(parser.pointee.data).takeUnretainedValue()
  }

  private func completed() {
    status = Int(llhttp_get_status_code(parser))
    guard status >= 200 else { return }
    isComplete = true
    keepsAlive = llhttp_should_keep_alive(parser) != 0
  }
}
