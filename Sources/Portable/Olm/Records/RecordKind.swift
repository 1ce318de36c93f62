/// What a record is of. A number is never used for something else. A change of a kind's format raises its version, and reading goes on with the older ones.
enum RecordKind: UInt8 {
  case account = 1
  case session = 2
  case outboundGroupSession = 3
  case inboundGroupSession = 4

  var version: UInt8 { 1 }
}
