@testable import MediaRouter

/// Pictures of VP8 as an encoder sends them, of one layer.
struct VP8Source {
  let ssrc: UInt32
  var rid: [UInt8] = []
  var ridExtension: UInt8 = 0
  var packetsPerFrame = 3
  var temporalLayers: UInt8 = 1
  private(set) var sequenceNumber: UInt32
  private(set) var timestamp: UInt32
  private var picture: UInt16
  private var baseLayer: UInt8
  private(set) var frames = 0

  init(ssrc: UInt32, firstNumber: UInt16 = 100) {
    self.ssrc = ssrc
    sequenceNumber = UInt32(firstNumber)
    timestamp = ssrc &* 1000
    picture = UInt16(truncatingIfNeeded: ssrc &* 7)
    baseLayer = UInt8(truncatingIfNeeded: ssrc)
  }

  /// The packets of the next frame, with the ROC of each.
  mutating func frame(isKey: Bool) -> [(packet: [UInt8], rollOver: UInt32)] {
    let temporal = isKey ? 0 : UInt8(frames % Int(temporalLayers))
    defer {
      frames += 1
      timestamp &+= 3000
      picture = (picture &+ 1) & 0x7FFF
    }
    if temporal == 0 { baseLayer &+= 1 }
    return (0..<packetsPerFrame).map { i in
      var packet: [UInt8] = [ridExtension == 0 ? 0x80 : 0x90, 96 | (i == packetsPerFrame - 1 ? 0x80 : 0)]
      packet.append(number: UInt16(truncatingIfNeeded: sequenceNumber))
      packet.append(number: timestamp)
      packet.append(number: ssrc)
      if ridExtension != 0 {
        packet += [0xBE, 0xDE, 0, 1, ridExtension << 4, rid[0], 0, 0]
      }
      packet += [i == 0 ? 0x90 : 0x80, 0xE0]
      packet.append(number: picture | 0x8000)
      packet += [baseLayer, temporal << 6, isKey && i == 0 ? 0 : 1]
      packet.append(number: sequenceNumber)
      packet += [UInt8](repeating: UInt8(i), count: 200)
      defer { sequenceNumber += 1 }
      return (packet, sequenceNumber >> 16)
    }
  }
}
