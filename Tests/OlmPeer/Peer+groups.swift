import Olm

// Rooms: those that this side writes to, and those that it reads.
extension Peer {
  mutating func answerOfGroups(_ arguments: Arguments) throws(OlmError) -> [UInt8]? {
    switch arguments.command {
    case "room":
      let room = OutboundGroupSession(random: &random)
      rooms[try arguments.name(0)] = room
      return words(room.id, base64(room.sharedKey.exposed()))
    case "room-key":
      return base64(try room(arguments.name(0)).sharedKey.exposed())
    case "room-encrypt":
      var room = try room(arguments.name(0))
      let message = try room.encrypt(arguments.bytes(1))
      rooms[try arguments.name(0)] = room
      return base64(message)
    case "take":
      let reader = try InboundGroupSession(sharedKey: arguments.bytes(1))
      readers[try arguments.name(0)] = reader
      return reader.id
    case "import":
      let reader = try InboundGroupSession(exportedKey: arguments.bytes(1))
      readers[try arguments.name(0)] = reader
      return decimal(reader.firstIndex)
    case "export":
      return base64(try reader(arguments.name(0)).exportedKey(at: arguments.number(1)).exposed())
    case "agree":
      return yes(try reader(arguments.name(0)).agrees(with: reader(arguments.name(1))))
    case "room-decrypt":
      var reader = try reader(arguments.name(0))
      let (plaintext, index) = try reader.decrypt(arguments.bytes(1))
      readers[try arguments.name(0)] = reader
      return words(decimal(index), base64(plaintext))
    case "restart":
      readers[try arguments.name(0)] = try InboundGroupSession(record: reader(arguments.name(0)).record)
      return yes(true)
    default: return nil
    }
  }

  private func room(_ name: Name) throws(OlmError) -> OutboundGroupSession {
    guard let room = rooms[name] else { throw .malformed }
    return try OutboundGroupSession(record: room.record)
  }

  private func reader(_ name: Name) throws(OlmError) -> InboundGroupSession {
    guard let reader = readers[name] else { throw .malformed }
    return reader
  }
}
