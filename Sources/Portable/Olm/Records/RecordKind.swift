/// The kind of a record. A number is never used again for another kind. A change of a format raises its version, and older versions
/// stay readable.
enum RecordKind: UInt8 {
  case account = 1
  case session = 2
  case outboundGroupSession = 3
  case inboundGroupSession = 4

  var version: UInt8 { 1 }
}
