import Olm

/// Answers commands, one a line, so that a script can hold this module against others. Bytes are written as base64, no bytes as "-".
/// Whatever lasts is written into a record and read again at each step.
struct Peer {
  typealias Name = [UInt8]

  var random = SecretSource.system
  var accounts: [Name: Account] = [:]
  var sessions: [Name: Session] = [:]
  var rooms: [Name: OutboundGroupSession] = [:]
  var readers: [Name: InboundGroupSession] = [:]
  var verifications: [Name: SAS] = [:]

  mutating func answer(_ line: [UInt8]) -> [UInt8] {
    let arguments = Arguments(line)
    do throws(OlmError) {
      if let answer = try answerOfDevices(arguments) { return answer }
      if let answer = try answerOfGroups(arguments) { return answer }
      if let answer = try answerOfMeasuring(arguments) { return answer }
      return try answerOfOthers(arguments) ?? Array("unknown".utf8)
    } catch {
      return Array(Self.text(of: error).utf8)
    }
  }

  private static func text(of error: OlmError) -> String {
    switch error {
    case .malformed: "error malformed"
    case .unknownVersion: "error unknownVersion"
    case .wrongMAC: "error wrongMAC"
    case .wrongSignature: "error wrongSignature"
    case .weakKey: "error weakKey"
    case .wrongSender: "error wrongSender"
    case .wrongSession: "error wrongSession"
    case .unknownOneTimeKey: "error unknownOneTimeKey"
    case .unreachableIndex: "error unreachableIndex"
    case .tooFarAhead: "error tooFarAhead"
    case .exhausted: "error exhausted"
    }
  }
}
