import CWslay
import Glibc

/// wslay with bytes on one side and messages on the other; no socket.
///
/// wslay keeps a pointer to this object and calls back while `receive` and `takeOutput` run.
final class WebSocketFraming {
  private var context: wslay_event_context_ptr?
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var output: [UInt8] = []
  private var messages: [WebSocket.Message] = []

  init(messageBytesLimit: Int) {
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, count, _, framing in
      WebSocketFraming.of(framing).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), context)
    }
    callbacks.send_callback = { _, bytes, count, _, framing in
      WebSocketFraming.of(framing).output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
      return count
    }
    callbacks.on_msg_recv_callback = { _, message, framing in
      WebSocketFraming.of(framing).received(message!.pointee)
    }
    let result = wslay_event_context_server_init(&context, &callbacks, Unmanaged.passUnretained(self).toOpaque())
    precondition(result == 0, "wslay has no memory")
    wslay_event_config_set_max_recv_msg_length(context, UInt64(messageBytesLimit))
  }

  deinit { wslay_event_context_free(context) }

  /// Nothing more is read: a close frame came, or what came was against the protocol.
  var hasReadEnded: Bool { wslay_event_get_read_enabled(context) == 0 }
  var hasSentClose: Bool { wslay_event_get_close_sent(context) != 0 }
  var hasReceivedClose: Bool { wslay_event_get_close_received(context) != 0 }

  /// The messages completed by these bytes. Pings are answered and violations closed with their code by themselves: take
  /// the output afterwards.
  func receive(_ bytes: UnsafeRawBufferPointer) -> [WebSocket.Message] {
    input = bytes
    if wslay_event_recv(context) != 0 { wslay_event_shutdown_read(context) }
    input = UnsafeRawBufferPointer(start: nil, count: 0)
    defer { messages = [] }
    return messages
  }

  /// Queues a message; false when the socket is closing.
  func queue(_ message: WebSocket.Message) -> Bool {
    switch message {
    case .text(let text): queue(opcode: WSLAY_TEXT_FRAME, Array(text.utf8))
    case .binary(let bytes): queue(opcode: WSLAY_BINARY_FRAME, bytes)
    }
  }

  func queuePing() { _ = queue(opcode: WSLAY_PING, []) }

  func queueClose(code: UInt16, reason: String) {
    let bytes = Array(reason.utf8)
    wslay_event_queue_close(context, code, bytes, bytes.count <= 123 ? bytes.count : 0)
  }

  /// Frames ready to be sent.
  func takeOutput() -> [UInt8] {
    wslay_event_send(context)
    defer { output = [] }
    return output
  }

  private static func of(_ framing: UnsafeMutableRawPointer?) -> WebSocketFraming {
    Unmanaged<WebSocketFraming>.fromOpaque(framing!).takeUnretainedValue()
  }

  private func queue(opcode: wslay_opcode, _ bytes: [UInt8]) -> Bool {
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
    let bytes = UnsafeBufferPointer(start: message.msg, count: message.msg_length)
    switch UInt32(message.opcode) {
    case WSLAY_TEXT_FRAME.rawValue: messages.append(.text(String(decoding: bytes, as: UTF8.self)))
    case WSLAY_BINARY_FRAME.rawValue: messages.append(.binary(Array(bytes)))
    default: return
    }
  }
}
