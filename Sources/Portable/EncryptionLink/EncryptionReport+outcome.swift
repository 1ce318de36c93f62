import JSON

extension EncryptionReport.Outcome {
  func write(to writer: inout LinkWriter) {
    switch self {
    case .done(let text):
      writer.write(kind: 0)
      writer.write(text)
    case .recovery(let state):
      writer.write(kind: 1)
      writer.write(kind: state.rawValue)
    case .failed(let reason):
      writer.write(kind: 2)
      writer.write(kind: reason.rawValue)
    case .verification(let id):
      writer.write(kind: 3)
      writer.write(id)
    case .trust(let trust):
      writer.write(kind: 4)
      trust.write(to: &writer)
    case .told(let devices):
      writer.write(kind: 30)
      writer.write(devices) { $0.write($1) }
    case .imported(let total, let new, let unusable):
      writer.write(kind: 20)
      writer.write(total)
      writer.write(new)
      writer.write(unusable)
    case .sealed(let file):
      writer.write(kind: 21)
      file.write(to: &writer)
    case .users(let users):
      writer.write(kind: 22)
      writer.write(users) { $0.write($1) }
    }
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .done(try reader.text())
    case 1:
      guard let state = EncryptionReport.Recovery(rawValue: try reader.byte()) else { throw .unknownKind }
      self = .recovery(state)
    case 2:
      guard let reason = EncryptionReport.Failure(rawValue: try reader.byte()) else { throw .unknownKind }
      self = .failed(reason)
    case 3: self = .verification(try reader.uint64())
    case 4: self = .trust(try EncryptionReport.Trust(&reader))
    case 30: self = .told(try reader.devices())
    case 20: self = .imported(total: try reader.uint32(), new: try reader.uint32(), unusable: try reader.uint32())
    case 21: self = .sealed(try EncryptionAction.SealedFile(&reader))
    case 22: self = .users(try reader.list { (one) throws(LinkError) in try one.text() })
    default: throw .unknownKind
    }
  }
}
