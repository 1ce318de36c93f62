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
    /// At most 32.
    var decodeTargets: Int
    var templates: [Template]
    /// Of each decode target the highest layers in it.
    private(set) var targets: [Template] = []

    /// The decode target with the most of what is wished for.
    func target(spatial: UInt8, temporal: UInt8) -> Int {
      func rank(_ i: Int) -> (Int, Int, Int) {
        let (overSpatial, overTemporal) = (targets[i].spatialLayer > spatial, targets[i].temporalLayer > temporal)
        let rank = (overSpatial ? -1 : 1) * (1 + Int(targets[i].spatialLayer))
        return (rank, overTemporal ? -1 - Int(targets[i].temporalLayer) : 1 + Int(targets[i].temporalLayer), -i)
      }
      return targets.indices.max { rank($0) < rank($1) } ?? 0
    }

    fileprivate mutating func describeTargets() {
      targets = (0..<decodeTargets).map { i in
        let present = templates.filter { $0.indications[i] != 0 }
        return Template(
          spatialLayer: present.map(\.spatialLayer).max() ?? 0, temporalLayer: present.map(\.temporalLayer).max() ?? 0)
      }
    }
  }

  /// A bit for each decode target.
  struct Targets: Equatable {
    /// The frame belongs to it.
    var present: UInt32 = 0
    /// It can be decoded from this frame on.
    var switches: UInt32 = 0

    init(_ indications: [UInt8]) {
      for (i, indication) in indications.prefix(32).enumerated() where indication != 0 {
        present |= 1 << UInt32(i)
        if indication == 2 { switches |= 1 << UInt32(i) }
      }
    }
  }

  /// More templates than this cannot be told apart by six bits.
  static let templatesLimit = 64

  var startsFrame: Bool
  var endsFrame: Bool
  var frameNumber: UInt16
  var spatialLayer: UInt8
  var temporalLayer: UInt8
  var targets: Targets
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
    var flags: UInt32 = 0
    if bytes.byteCount > 3 {
      guard let read = bits.read(5, of: bytes) else { return nil }
      flags = read
    }
    if flags & 0x10 != 0 {
      guard let read = Self.readStructure(&bits, bytes) else { return nil }
      newStructure = read
    }
    guard let known = newStructure ?? structure else { return nil }
    // Which decode targets are active is for receivers.
    if flags & 0x08 != 0, bits.read(known.decodeTargets, of: bytes) == nil { return nil }
    let index = (Int(templateID) + 64 - Int(known.templateIDOffset)) % 64
    guard index < known.templates.count else { return nil }
    spatialLayer = known.templates[index].spatialLayer
    temporalLayer = known.templates[index].temporalLayer
    targets = Targets(known.templates[index].indications)
    if flags & 0x04 != 0 {
      guard let own = Self.readIndications(known.decodeTargets, &bits, bytes) else { return nil }
      targets = Targets(own)
    }
  }

  private static func readStructure(_ bits: inout BitReader, _ bytes: RawSpan) -> Structure? {
    guard let offset = bits.read(6, of: bytes), let targets = bits.read(5, of: bytes) else { return nil }
    var structure = Structure(templateIDOffset: UInt8(offset), decodeTargets: Int(targets) + 1, templates: [])
    guard readLayers(&structure, &bits, bytes) else { return nil }
    for i in structure.templates.indices {
      guard let indications = readIndications(structure.decodeTargets, &bits, bytes) else { return nil }
      structure.templates[i].indications = indications
    }
    structure.describeTargets()
    return passDependencies(structure, &bits, bytes) ? structure : nil
  }

  private static func readIndications(_ count: Int, _ bits: inout BitReader, _ bytes: RawSpan) -> [UInt8]? {
    var indications: [UInt8] = []
    for _ in 0..<count {
      guard let indication = bits.read(2, of: bytes) else { return nil }
      indications.append(UInt8(indication))
    }
    return indications
  }

  /// A.8.3: what templates depend on, their chains, and resolutions. Only what stands behind them is of interest.
  private static func passDependencies(_ structure: Structure, _ bits: inout BitReader, _ bytes: RawSpan) -> Bool {
    for _ in structure.templates {
      while true {
        guard let follows = bits.read(1, of: bytes) else { return false }
        guard follows == 1 else { break }
        guard bits.read(4, of: bytes) != nil else { return false }
      }
    }
    guard let chains = bits.readBelow(UInt32(structure.decodeTargets) + 1, of: bytes) else { return false }
    if chains > 0 {
      for _ in 0..<structure.decodeTargets { guard bits.readBelow(chains, of: bytes) != nil else { return false } }
      for _ in 0..<(structure.templates.count * Int(chains)) { guard bits.read(4, of: bytes) != nil else { return false } }
    }
    guard let hasResolutions = bits.read(1, of: bytes) else { return false }
    guard hasResolutions == 1 else { return true }
    let spatialLayers = 1 + Int(structure.templates.map(\.spatialLayer).max() ?? 0)
    return (0..<spatialLayers).allSatisfy { _ in bits.read(32, of: bytes) != nil }
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
