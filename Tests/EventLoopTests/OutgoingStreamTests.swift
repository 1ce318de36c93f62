import EventLoop
import Glibc
import Testing

@Suite struct OutgoingStreamTests {
  /// A listening socket of this machine, and its port.
  private struct Listener {
    let descriptor: Int32
    let port: UInt16

    init() throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
      var count = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = descriptor
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor, address, count) | listen(descriptor, 1) | getsockname(descriptor, address, &count)
        }
      }
      try #require(result == 0)
      port = UInt16(bigEndian: address.sin_port)
    }

    /// Gives back what comes, on a thread of its own, until the other side closes.
    func echo() {
      let descriptor = descriptor
      _ = spawnThread(name: "echo") {
        let peer = accept(descriptor, nil, nil)
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
          let count = read(peer, &bytes, bytes.count)
          guard count > 0 else { break }
          var sent = 0
          while sent < count { sent += bytes[sent..<count].withUnsafeBytes { write(peer, $0.baseAddress, $0.count) } }
        }
        close(peer)
      }
    }
  }

  private struct Told: Sendable {
    var lines: [String] = []
    var bytes: [UInt8] = []
  }

  /// Confined to the loop.
  private final class Held: @unchecked Sendable { var stream: OutgoingStream? }

  @Test func `what is written goes there and back in its order, and the end is told once`() async throws {
    let (loop, listener, held, told) = (try EventLoop(), try Listener(), Held(), Shared(Told()))
    listener.echo()
    let sent = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.submit {
        held.stream = OutgoingStream(
          to: "localhost", port: listener.port, on: loop, drained: { told.change { $0.lines.append("drained") } }
        ) { event in
          switch event {
          case .opened:
            told.change { $0.lines.append("opened") }
            held.stream?.write(sent)
          case .bytes(let bytes):
            let piece = Array(bytes)
            told.change { $0.bytes += piece }
            if told.current.bytes.count == sent.count {
              held.stream?.close()
              held.stream?.close()
            }
          case .ended:
            told.change { $0.lines.append("ended") }
            held.stream = nil
            done.resume()
          }
        }
      }
    }
    await loop.shutdown()
    close(listener.descriptor)
    #expect(told.current.bytes == sent)
    #expect(told.current.lines == ["opened", "drained", "ended"])
  }

  @Test(arguments: ["127.0.0.1", "no-such-host.invalid"])
  func `a connection that cannot be made ends`(_ host: String) async throws {
    let (loop, listener, held, told) = (try EventLoop(), try Listener(), Held(), Shared(Told()))
    // Nobody listens any more.
    close(listener.descriptor)
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.submit {
        held.stream = OutgoingStream(to: host, port: listener.port, on: loop, drained: {}) { event in
          guard case .ended = event else { return told.change { $0.lines.append("not ended") } }
          told.change { $0.lines.append("ended") }
          held.stream = nil
          done.resume()
        }
      }
    }
    await loop.shutdown()
    #expect(told.current.lines == ["ended"])
  }
}
