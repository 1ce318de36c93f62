// Standard input and output, the same natively and under WASI. A line is answered before the next is read.

@_extern(c, "getchar")
private func readByte() -> Int32

@_extern(c, "putchar")
private func writeByte(_ byte: Int32) -> Int32

@_extern(c, "fflush")
private func flush(_ file: UnsafeMutableRawPointer?) -> Int32

func answerLines() {
  var peer = Peer()
  var line: [UInt8] = []
  while case let byte = readByte(), byte >= 0 {
    guard byte == 0x0A else {
      line.append(UInt8(truncatingIfNeeded: byte))
      continue
    }
    for byte in peer.answer(line) + [0x0A] { _ = writeByte(Int32(byte)) }
    _ = flush(nil)
    line.removeAll(keepingCapacity: true)
  }
}
