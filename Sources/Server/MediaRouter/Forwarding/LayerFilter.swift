/// Which spatial and temporal layers within one SSRC a subscriber gets: VP9 by the numbers of its payload descriptor, AV1 by the decode targets of its
/// dependency descriptor. Fewer from a picture on; more only where what was left out is not needed.
struct LayerFilter {
  /// What the subscriber shall get at most.
  struct Wish {
    var spatial: UInt8
    var temporal: UInt8
  }

  struct Verdict: Equatable {
    var passes: Bool
    /// What follows of the same picture is left out: this packet takes the marker.
    var endsPicture = false
    /// What is wished for has to begin with a key frame.
    var wantsKeyFrame = false
  }

  /// A change down that found no place for it in so many frames waits for a key frame.
  static let patience = 12

  private(set) var spatial: UInt8 = 0
  private(set) var temporal: UInt8 = 7
  /// AV1.
  private var target = 0
  private var waited = 0
  /// VP9: each layer of this picture can be begun with.
  private var isKeyPicture = false

  mutating func decide(
    _ payload: PayloadDescription, _ wish: Wish, _ structure: DependencyDescriptor.Structure?
  ) -> Verdict {
    if let frame = payload.decodeTargets, let structure { return decide(payload, frame, wish, structure) }
    if payload.startsFrame {
      if payload.isKeyFrame { (spatial, temporal) = (0, wish.temporal) }
      if payload.spatialLayer == 0 {
        isKeyPicture = payload.isKeyFrame
        spatial = min(spatial, wish.spatial)
        if wish.temporal < temporal || payload.isSwitchingPoint && payload.temporalLayer == temporal + 1 {
          temporal = wish.temporal
        }
      } else if payload.spatialLayer == spatial + 1, spatial < wish.spatial, !payload.needsEarlierPicture {
        spatial += 1
      }
    }
    let passes = payload.spatialLayer <= spatial && payload.temporalLayer <= temporal
    return Verdict(
      passes: passes,
      endsPicture: passes && payload.endsFrame && payload.spatialLayer == (isKeyPicture ? wish.spatial : spatial),
      wantsKeyFrame: payload.startsFrame && payload.spatialLayer > spatial && spatial < wish.spatial)
  }

  private mutating func decide(
    _ payload: PayloadDescription, _ frame: DependencyDescriptor.Targets, _ wish: Wish,
    _ structure: DependencyDescriptor.Structure
  ) -> Verdict {
    let wished = structure.target(spatial: wish.spatial, temporal: wish.temporal)
    if payload.startsFrame, target != wished || payload.isKeyFrame {
      waited += 1
      // One that is had now, and from which on the other can be had.
      if payload.isKeyFrame || frame.present.has(target) && frame.switches.has(wished) { (target, waited) = (wished, 0) }
    }
    let layers = structure.targets[min(target, structure.targets.count - 1)]
    (spatial, temporal) = (layers.spatialLayer, layers.temporalLayer)
    let passes = frame.present.has(target)
    return Verdict(
      passes: passes, endsPicture: passes && payload.endsFrame && payload.spatialLayer == spatial,
      wantsKeyFrame: waited > 0 && (structure.targets[wished].spatialLayer > spatial || waited > Self.patience))
  }
}

extension UInt32 {
  fileprivate func has(_ bit: Int) -> Bool { bit < 32 && self & 1 << UInt32(bit) != 0 }
}
