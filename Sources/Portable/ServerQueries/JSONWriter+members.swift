import JSON

extension JSONWriter {
  /// The members of an object that stands in bytes; nothing where they are none.
  mutating func members(of object: [UInt8]) {
    guard let object = Answer.parse(object) else { return }
    for member in object.members {
      key(member.key)
      write(member.value)
    }
  }
}
