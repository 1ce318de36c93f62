/// What the dependency descriptor tells of a packet without a look at its payload. AV1 RTP payload specification, appendix A.8.
///
/// The structure of templates comes with key frames and holds until the next one; the caller keeps it for each SSRC.
struct DependencyDescriptor: Equatable {
  struct Template: Equatable {
    var spatialLayer: UInt8
    var temporalLayer: UInt8
    /// By decode target: 0 not present, 1 discardable, 2 switch, 3 required.
    var indications: [UInt8] = []
  }

  /// A.8.3: what the numbers of templates mean.
  struct Structure: Equatable {
    var templateIDOffset: UInt8
    var decodeTargets: Int
    var templates: [Template]
  }

  /// More templates than this cannot be told apart by six bits.
  static let templatesLimit = 64

  var startsFrame: Bool
  var endsFrame: Bool
  var frameNumber: UInt16
  var spatialLayer: UInt8
  var temporalLayer: UInt8
  /// Present where this packet brings one.
  var newStructure: Structure?

  /// nil for malformed bytes, and for a template that the structure does not have.
  init?(_ bytes: RawSpan, structure: Structure?) {
    var bits = BitReader(bytes)
    guard let isFirst = bits.read(1, of: bytes), let isLast = bits.read(1, of: bytes),
      let templateID = bits.read(6, of: bytes), let number = bits.read(16, of: bytes)
    else { return nil }
    startsFrame = isFirst == 1
    endsFrame = isLast == 1
    frameNumber = UInt16(number)
    if bytes.byteCount > 3 {
      guard let flags = bits.read(5, of: bytes) else { return nil }
      if flags & 0x10 != 0 {
        guard let read = Self.readStructure(&bits, bytes) else { return nil }
        newStructure = read
      }
    }
    guard let known = newStructure ?? structure else { return nil }
    let index = (Int(templateID) + 64 - Int(known.templateIDOffset)) % 64
    guard index < known.templates.count else { return nil }
    spatialLayer = known.templates[index].spatialLayer
    temporalLayer = known.templates[index].temporalLayer
  }

  private static func readStructure(_ bits: inout BitReader, _ bytes: RawSpan) -> Structure? {
    guard let offset = bits.read(6, of: bytes), let targets = bits.read(5, of: bytes) else { return nil }
    var structure = Structure(templateIDOffset: UInt8(offset), decodeTargets: Int(targets) + 1, templates: [])
    guard readLayers(&structure, &bits, bytes) else { return nil }
    for i in structure.templates.indices {
      for _ in 0..<structure.decodeTargets {
        guard let indication = bits.read(2, of: bytes) else { return nil }
        structure.templates[i].indications.append(UInt8(indication))
      }
    }
    return structure
  }

  /// A.8.3, `template_layers`: each template stands on the layer of the one before, or on the next.
  private static func readLayers(_ structure: inout Structure, _ bits: inout BitReader, _ bytes: RawSpan) -> Bool {
    var (spatial, temporal) = (UInt8(0), UInt8(0))
    while structure.templates.count < templatesLimit {
      structure.templates.append(Template(spatialLayer: spatial, temporalLayer: temporal))
      guard let next = bits.read(2, of: bytes) else { return false }
      switch next {
      case 0: break
      case 1: temporal += 1
      case 2: (spatial, temporal) = (spatial + 1, 0)
      default: return true
      }
    }
    return false
  }
}

/// Reads bits from the most significant on.
private struct BitReader {
  private var position = 0
  private let count: Int

  init(_ bytes: RawSpan) { count = 8 * bytes.byteCount }

  /// nil beyond the end. At most 32 bits.
  mutating func read(_ width: Int, of bytes: RawSpan) -> UInt32? {
    guard position + width <= count else { return nil }
    var value: UInt32 = 0
    for _ in 0..<width {
      value = value << 1 | UInt32(bytes.uint8(at: position / 8) >> (7 - position % 8) & 1)
      position += 1
    }
    return value
  }
}
