/// Which packets of a transport arrived, and when. draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
struct TransportFeedback: Equatable {
  /// The unit of arrival times, in microseconds.
  static let tickMicroseconds: Int64 = 250
  /// The unit of the reference time: 64 ms.
  static let referenceTicks: Int64 = 256

  /// One that tells of more packets is not read: a few bytes may claim 65,535.
  static let packetsLimit = 4096

  var sender: UInt32
  var media: UInt32
  /// The transport-wide number of the first packet.
  var base: UInt16
  /// Counts feedback packets.
  var number: UInt8
  /// The arrival of the packet `base + i`, in ticks since an epoch of the receiver's (wrapping every 49 days); nil if it did not arrive.
  var arrivals: [Int64?]

  init(sender: UInt32, media: UInt32, base: UInt16, number: UInt8, arrivals: [Int64?]) {
    self.sender = sender
    self.media = media
    self.base = base
    self.number = number
    self.arrivals = arrivals
  }

  /// Of how many packets it tells, without reading it; nil if it is too short.
  static func claimedPackets(_ body: RawSpan) -> Int? { body.byteCount >= 16 ? Int(body.uint16(at: 10)) : nil }

  /// Reads the packet without its RTCP header; nil if it is malformed.
  init?(_ body: RawSpan) {
    guard let count = Self.claimedPackets(body), count <= Self.packetsLimit else { return nil }
    sender = body.uint32(at: 0)
    media = body.uint32(at: 4)
    base = body.uint16(at: 8)
    // 24 bits with a sign.
    let reference = Int64(Int32(bitPattern: body.uint24(at: 12) << 8) >> 8)
    number = body.uint8(at: 15)
    var offset = 16
    guard let symbols = Self.readSymbols(count, body, &offset) else { return nil }
    var time = reference * Self.referenceTicks
    arrivals = []
    arrivals.reserveCapacity(count)
    for symbol in symbols {
      switch symbol {
      case 1:
        guard offset + 1 <= body.byteCount else { return nil }
        time += Int64(body.uint8(at: offset))
        offset += 1
        arrivals.append(time)
      case 2:
        guard offset + 2 <= body.byteCount else { return nil }
        time += Int64(Int16(bitPattern: body.uint16(at: offset)))
        offset += 2
        arrivals.append(time)
      default: arrivals.append(nil)
      }
    }
  }

  private static func readSymbols(_ count: Int, _ body: RawSpan, _ offset: inout Int) -> [UInt8]? {
    var symbols: [UInt8] = []
    symbols.reserveCapacity(count)
    while symbols.count < count {
      guard offset + 2 <= body.byteCount else { return nil }
      let chunk = body.uint16(at: offset)
      offset += 2
      let left = count - symbols.count
      if chunk & 0x8000 == 0 {
        let symbol = UInt8(chunk >> 13 & 3)
        symbols.append(contentsOf: repeatElement(symbol, count: min(left, Int(chunk & 0x1FFF))))
        if chunk & 0x1FFF == 0 { return nil }
      } else if chunk & 0x4000 == 0 {
        for i in 0..<min(left, 14) { symbols.append(UInt8(chunk >> (13 - i) & 1)) }
      } else {
        for i in 0..<min(left, 7) { symbols.append(UInt8(chunk >> (12 - 2 * i) & 3)) }
      }
    }
    return symbols
  }

  /// Appends the packet without its RTCP header, filled up to a multiple of four bytes.
  ///
  /// The first arrival is the reference; arrivals too far from the one before for 16 bits are told as not arrived.
  func append(to bytes: inout [UInt8]) {
    let first = arrivals.lazy.compactMap { $0 }.first ?? 0
    let reference = first.flooredDivision(by: Self.referenceTicks)
    var time = reference * Self.referenceTicks
    var symbols: [UInt8] = []
    var deltas: [UInt8] = []
    for arrival in arrivals {
      guard let arrival, let delta = Int16(exactly: arrival - time) else {
        symbols.append(0)
        continue
      }
      time = arrival
      if (0...255).contains(delta) {
        symbols.append(1)
        deltas.append(UInt8(delta))
      } else {
        symbols.append(2)
        deltas.append(number: delta)
      }
    }
    bytes.append(number: sender)
    bytes.append(number: media)
    bytes.append(number: base)
    bytes.append(number: UInt16(arrivals.count))
    bytes.append(number: UInt32(truncatingIfNeeded: reference) << 8 | UInt32(number))
    Self.append(symbols, to: &bytes)
    bytes += deltas
    while bytes.count % 4 != 0 { bytes.append(0) }
  }

  /// Runs where seven or more are alike, vectors of seven elsewhere.
  private static func append(_ symbols: [UInt8], to bytes: inout [UInt8]) {
    var i = 0
    while i < symbols.count {
      let run = symbols[i...].prefix(0x1FFF).prefix { $0 == symbols[i] }.count
      if run >= 7 || i + run == symbols.count {
        bytes.append(number: UInt16(symbols[i]) << 13 | UInt16(run))
        i += run
        continue
      }
      var chunk: UInt16 = 0xC000
      for j in 0..<min(7, symbols.count - i) { chunk |= UInt16(symbols[i + j]) << (12 - 2 * j) }
      bytes.append(number: chunk)
      i += 7
    }
  }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
  }
}
