import CWslay

/// wslay with bytes on one side and messages on the other; no socket. RFC 6455 §5.
///
/// wslay keeps a pointer to this object and calls back while `receive` and `takeOutput` run.
package final class WebSocketFraming {
  package enum Side { case server, client }

  package struct Message: Equatable {
    package let isText: Bool
    /// Of a text, valid UTF-8.
    package let bytes: [UInt8]
  }

  private var context: wslay_event_context_ptr?
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var output: [UInt8] = []
  private var messages: [Message] = []

  private let takesBinary: Bool

  /// - Parameters:
  ///   - messageBytesLimit: a longer one ends the socket with code 1009.
  ///   - takesBinary: whether messages may be bytes; else one that is ends the socket with code 1003.
  package init(_ side: Side, messageBytesLimit: Int, takesBinary: Bool = true) {
    self.takesBinary = takesBinary
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, count, _, framing in
      WebSocketFraming.of(framing).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), context)
    }
    callbacks.send_callback = { _, bytes, count, _, framing in
      WebSocketFraming.of(framing).output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
      return count
    }
    callbacks.on_msg_recv_callback = { _, message, framing in
      guard let message else { return }
      WebSocketFraming.of(framing).received(message.pointee)
    }
    let own = Unmanaged.passUnretained(self).toOpaque()
    let result: Int32
    switch side {
    case .server: result = wslay_event_context_server_init(&context, &callbacks, own)
    case .client:
      // Unpredictable, so that nobody chooses the bytes on the wire. RFC 6455 §5.3.
      callbacks.genmask_callback = { _, bytes, count, _ in
        guard let bytes else { return -1 }
        for i in 0..<count { bytes[i] = UInt8.random(in: 0...255) }
        return 0
      }
      result = wslay_event_context_client_init(&context, &callbacks, own)
    }
    precondition(result == 0, "wslay has no memory")
    wslay_event_config_set_max_recv_msg_length(context, UInt64(messageBytesLimit))
  }

  deinit { wslay_event_context_free(context) }

  /// Nothing more is read: a close frame came, or what came was against the protocol.
  package var hasReadEnded: Bool { wslay_event_get_read_enabled(context) == 0 }
  package var hasSentClose: Bool { wslay_event_get_close_sent(context) != 0 }
  package var hasReceivedClose: Bool { wslay_event_get_close_received(context) != 0 }

  /// The messages completed by these bytes. Pings are answered and violations closed with their code by themselves: take
  /// the output afterwards.
  package func receive(_ bytes: UnsafeRawBufferPointer) -> [Message] {
    input = bytes
    if wslay_event_recv(context) != 0 { wslay_event_shutdown_read(context) }
    input = UnsafeRawBufferPointer(start: nil, count: 0)
    defer { messages = [] }
    return messages
  }

  /// False when the socket is closing.
  package func queue(text: [UInt8]) -> Bool { queue(WSLAY_TEXT_FRAME, text) }

  /// False when the socket is closing.
  package func queue(binary: [UInt8]) -> Bool { queue(WSLAY_BINARY_FRAME, binary) }

  package func queuePing() { _ = queue(WSLAY_PING, []) }

  /// - Parameter reason: left out where it is longer than 123 bytes.
  package func queueClose(code: UInt16, reason: String = "") {
    let bytes = Array(reason.utf8)
    wslay_event_queue_close(context, code, bytes, bytes.count <= 123 ? bytes.count : 0)
  }

  /// Frames ready to be sent.
  package func takeOutput() -> [UInt8] {
    wslay_event_send(context)
    defer { output = [] }
    return output
  }

  private static func of(_ framing: UnsafeMutableRawPointer?) -> WebSocketFraming {
    Unmanaged<WebSocketFraming>.fromOpaque(framing!).takeUnretainedValue()
  }

  private func queue(_ opcode: wslay_opcode, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var message = wslay_event_msg(opcode: UInt8(opcode.rawValue), msg: bytes.baseAddress, msg_length: bytes.count)
      return wslay_event_queue_msg(context, &message) == 0
    }
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer, _ context: wslay_event_context_ptr?) -> Int {
    guard !input.isEmpty else {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
      return -1
    }
    let count = min(buffer.count, input.count)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    input = UnsafeRawBufferPointer(rebasing: input[count...])
    return count
  }

  private func received(_ message: wslay_event_on_msg_recv_arg) {
    let opcode = UInt32(message.opcode)
    guard opcode == WSLAY_TEXT_FRAME.rawValue || opcode == WSLAY_BINARY_FRAME.rawValue else { return }
    guard takesBinary || opcode == WSLAY_TEXT_FRAME.rawValue else { return queueClose(code: 1_003) }
    messages.append(
      Message(
        isText: opcode == WSLAY_TEXT_FRAME.rawValue,
        bytes: Array(UnsafeBufferPointer(start: message.msg, count: message.msg_length))))
  }
}
