@testable import MediaRouter

/// Pictures of several spatial and two temporal layers in one SSRC: VP9 in flexible mode, or AV1 with a dependency descriptor. Each frame has two
/// packets; behind the descriptors stand the picture, the spatial and the temporal layer.
struct ScalableSource {
  static let descriptorExtension: UInt8 = 8

  let codec: Codec
  let spatialLayers: Int
  private(set) var pictures = 0
  private var sequenceNumber: UInt16 = 500
  private var lastKey = 0

  init(_ codec: Codec, spatialLayers: Int = 2) {
    self.codec = codec
    self.spatialLayers = spatialLayers
  }

  mutating func picture(isKey: Bool) -> [[UInt8]] {
    if isKey { lastKey = pictures }
    let temporal = (pictures - lastKey) % 2
    defer { pictures += 1 }
    return (0..<spatialLayers).flatMap { spatial in
      (0..<2).map { part in
        let isEnd = part == 1 && spatial == spatialLayers - 1
        var packet: [UInt8] = [codec == .av1 ? 0x90 : 0x80, 96 | (isEnd ? 0x80 : 0)]
        packet.append(number: sequenceNumber)
        packet.append(number: UInt32(pictures) * 3000)
        packet.append(number: UInt32(10))
        sequenceNumber &+= 1
        if codec == .av1 {
          let value = descriptor(spatial, temporal, part, isKey)
          var elements = [Self.descriptorExtension, UInt8(value.count)] + value
          while elements.count % 4 != 0 { elements.append(0) }
          packet += [0x10, 0] + [0, UInt8(elements.count / 4)] + elements
        } else {
          packet += vp9(spatial, temporal, part, isKey)
        }
        packet += [UInt8(truncatingIfNeeded: pictures), UInt8(spatial), UInt8(temporal)]
        return packet + [UInt8](repeating: 1, count: 300 * (spatial + 1))
      }
    }
  }

  /// I, P, L, F, B and E; a picture of the base layer leans on the last of them, another one on that before it.
  private func vp9(_ spatial: Int, _ temporal: Int, _ part: Int, _ isKey: Bool) -> [UInt8] {
    let first: UInt8 = 0xB0 | (isKey ? 0 : 0x40) | (part == 0 ? 0x08 : 0x04)
    var bytes = [first, 0x80 | UInt8(pictures >> 8), UInt8(truncatingIfNeeded: pictures)]
    bytes.append(UInt8(temporal) << 5 | (temporal == 1 ? 0x10 : 0) | UInt8(spatial) << 1 | (spatial > 0 ? 1 : 0))
    if !isKey { bytes.append(UInt8(temporal == 1 ? 1 : 2) << 1) }
    return bytes
  }

  /// Templates of L2T2: S0T0 of key pictures, S0T0, S0T1, S1T0, S1T1; decode targets S0T0, S0T1, S1T0, S1T1.
  private func descriptor(_ spatial: Int, _ temporal: Int, _ part: Int, _ isKey: Bool) -> [UInt8] {
    let template = spatial == 0 ? (isKey ? 0 : 1 + temporal) : 3 + temporal
    var text = (part == 0 ? "1" : "0") + (part == 1 ? "1" : "0") + Self.digits(template, 6) + Self.digits(pictures, 16)
    if isKey, spatial == 0, part == 0 {
      text += "10000" + "000000" + "00011" + "00" + "01" + "10" + "01" + "11"
      // Switch, required, discardable, absent.
      for row in ["SSSS", "SSRR", "-D-R", "--SS", "---D"] {
        for indication in row { text += ["S": "10", "R": "11", "D": "01", "-": "00"][indication]! }
      }
      text += "00000" + "0" + "0"
    }
    return stride(from: 0, to: text.count, by: 8).map { start in
      let digits = Array(text)[start..<min(start + 8, text.count)]
      return UInt8(String(digits) + String(repeating: "0", count: 8 - digits.count), radix: 2)!
    }
  }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number, radix: 2)
    return String(repeating: "0", count: count - text.count) + text
  }
}
