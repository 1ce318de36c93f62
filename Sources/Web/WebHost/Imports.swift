// How texts and bytes cross to JavaScript: lent for the length of a call, and read from a buffer that the page fills. The calls themselves are
// in HostProtocol.swift.

typealias Bytes = UnsafePointer<UInt8>
typealias Buffer = UnsafeMutablePointer<UInt8>

/// Lends the UTF-8 bytes of a text for the length of a call.
@inline(__always)
func withBytes<Result>(_ text: String, _ body: (Bytes?, Int32) -> Result) -> Result {
  var text = text
  return text.withUTF8 { body($0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
}

/// Lends bytes or numbers for the length of a call; with them goes how many they are.
@inline(__always)
func withBytes<Element, Result>(_ elements: [Element], _ body: (UnsafePointer<Element>?, Int32) -> Result) -> Result {
  elements.withUnsafeBufferPointer { body($0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
}

/// Texts with a NUL between them, as the page splits them. Within one, which may be a stranger's, it is dropped: nothing shifts.
func fields(_ texts: String...) -> [UInt8] {
  var joined: [UInt8] = []
  for (index, text) in texts.enumerated() {
    if index > 0 { joined.append(0) }
    for byte in Array(text.utf8) where byte != 0 { joined.append(byte) }
  }
  return joined
}

/// Reads a text that the host writes. Returns nil if the host has no text.
func readText(_ ask: (Buffer?, Int32) -> Int32) -> String? {
  var capacity = 256
  while true {
    let buffer = Buffer.allocate(capacity: capacity)
    defer { buffer.deallocate() }
    let length = Int(ask(buffer, Int32(capacity)))
    if length < 0 { return nil }
    if length <= capacity { return String(decoding: UnsafeBufferPointer(start: buffer, count: length), as: UTF8.self) }
    capacity = length
  }
}
