/// The IDs that one side of a media section gave to header extensions; 0 where it has none.
package struct ExtensionIDs: Sendable, Equatable {
  package var mid: UInt8 = 0
  package var streamID: UInt8 = 0
  package var repairedStreamID: UInt8 = 0
  package var audioLevel: UInt8 = 0
  package var sendTime: UInt8 = 0
  package var transportSequence: UInt8 = 0
  package var orientation: UInt8 = 0
  package var dependencyDescriptor: UInt8 = 0

  package init() {}

  package subscript(_ name: HeaderExtension) -> UInt8 {
    get {
      switch name {
      case .mid: mid
      case .streamID: streamID
      case .repairedStreamID: repairedStreamID
      case .audioLevel: audioLevel
      case .sendTime: sendTime
      case .transportSequence: transportSequence
      case .orientation: orientation
      case .dependencyDescriptor: dependencyDescriptor
      }
    }
    set {
      switch name {
      case .mid: mid = newValue
      case .streamID: streamID = newValue
      case .repairedStreamID: repairedStreamID = newValue
      case .audioLevel: audioLevel = newValue
      case .sendTime: sendTime = newValue
      case .transportSequence: transportSequence = newValue
      case .orientation: orientation = newValue
      case .dependencyDescriptor: dependencyDescriptor = newValue
      }
    }
  }
}
