import CLinux
import Glibc

/// Hands what of a batch goes by UDP to the system: each message one segmented datagram, until the system refuses that; from then on datagram by datagram.
///
/// Used by the worker's thread alone.
final class DatagramOutput {
  private let socket: Int32
  private(set) var isSegmenting: Bool
  private var messages: [datagram] = []
  /// Datagrams the system had no room for.
  private(set) var dropped = 0

  init(_ socket: Int32, isSegmenting: Bool = true) {
    self.socket = socket
    self.isSegmenting = isSegmenting
    messages.reserveCapacity(SendBatch.messagesLimit)
  }

  func send(_ batch: SendBatch) {
    messages.removeAll(keepingCapacity: true)
    for message in batch.messages where !message.address.isStream {
      let bytes = batch.bytes(of: message)
      if isSegmenting {
        append(bytes, message.address, segmentBytes: message.segments > 1 ? message.segmentBytes : 0)
      } else {
        for start in stride(from: 0, to: message.count, by: message.segmentBytes) {
          let end = min(start + message.segmentBytes, message.count)
          append(UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]), message.address, segmentBytes: 0)
        }
      }
    }
    sendMessages()
  }

  private func append(_ bytes: UnsafeMutableRawBufferPointer, _ address: TransportAddress, segmentBytes: Int) {
    messages.append(
      datagram(
        bytes: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), count: UInt32(bytes.count),
        segment_bytes: UInt16(segmentBytes), port: address.port, address_high: address.high, address_low: address.low))
  }

  private func sendMessages() {
    var next = 0
    while next < messages.count {
      let sent = messages.withUnsafeBufferPointer {
        datagrams_send(socket, $0.baseAddress! + next, Int32($0.count - next))
      }
      if sent > 0 {
        next += Int(sent)
        continue
      }
      let code = errno
      if messages[next].segment_bytes != 0 && [EINVAL, EIO, EMSGSIZE, EOPNOTSUPP].contains(code) {
        isSegmenting = false
        split(from: next)
      } else {
        // Full, or an address nobody can reach: UDP may lose it. The others have their turn.
        dropped += 1
        next += 1
      }
    }
  }

  /// Puts the datagrams of the messages not sent yet in their place.
  private func split(from first: Int) {
    var single = Array(messages[..<first])
    for message in messages[first...] {
      let step = message.segment_bytes == 0 ? message.count : UInt32(message.segment_bytes)
      for start in stride(from: 0, to: message.count, by: Int(step)) {
        var part = message
        part.bytes += Int(start)
        part.count = min(step, message.count - start)
        part.segment_bytes = 0
        single.append(part)
      }
    }
    messages = single
  }
}
