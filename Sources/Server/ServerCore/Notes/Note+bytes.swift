import JSON
import MatrixModel

// Notes as bytes: of a batch, a version and then each note as kind, length and fields. Numbers are LEB128, text and lists follow their length.
extension Note {
  /// Of the form of the whole. A program that meets a newer one reads nothing of it.
  static let version: UInt8 = 1

  package static func encode(_ notes: [Note]) -> [UInt8] {
    var writer = NoteWriter()
    writer.bytes.append(version)
    for note in notes {
      writer.bytes.append(note.kind.rawValue)
      var fields = NoteWriter()
      note.write(to: &fields)
      writer.write(fields.bytes)
    }
    return writer.bytes
  }

  /// The notes of a batch; nil if one of them is of a newer program or the bytes are damaged: then everything that is remembered must be
  /// forgotten, because it may be wrong.
  package static func decode(_ bytes: [UInt8]) -> [Note]? {
    guard bytes.first == version else { return nil }
    var reader = NoteReader(bytes[1...])
    var notes: [Note] = []
    while !reader.isAtEnd {
      guard let kind = reader.byte().flatMap(Kind.init), let fields = reader.bytes() else { return nil }
      var inner = NoteReader(fields)
      guard let note = Note(kind, &inner), inner.isAtEnd else { return nil }
      notes.append(note)
    }
    return notes
  }

  private func write(to writer: inout NoteWriter) {
    switch self {
    case .room(let news): news.write(to: &writer)
    case .purged(let room): writer.write(room)
    case .receipts(let room, let users, let position):
      writer.write(room)
      writer.write(users)
      writer.write(position)
    case .news(let users, let position):
      writer.write(users)
      writer.write(position)
    case .onlyFor(let user, let room, let position):
      writer.write(user)
      writer.write(room)
      writer.write(position)
    case .rules(let user): writer.write(user)
    case .sessions(let user, let devices):
      writer.write(user)
      writer.write(devices)
    case .erased(let user, let position):
      writer.write(user)
      writer.write(position)
    case .pusher(let news): news.write(to: &writer)
    case .project(let text), .media(let text), .work(let text): writer.write(text.utf8)
    case .delayed: break
    case .inUse(let chapter, let room):
      writer.bytes.append(chapter.rawValue)
      writer.write(room)
    case .toDevice(let user, let devices):
      writer.write(user)
      writer.write(devices)
    }
  }

  private init?(_ kind: Kind, _ reader: inout NoteReader) {
    switch kind {
    case .room:
      guard let news = RoomNews(&reader) else { return nil }
      self = .room(news)
    case .purged:
      guard let room = reader.room() else { return nil }
      self = .purged(room)
    case .receipts:
      guard let room = reader.room(), let users: [UserID] = reader.identifiers(), let position = reader.integer() else {
        return nil
      }
      self = .receipts(room, of: users, upTo: position)
    case .news:
      guard let users: [UserID] = reader.identifiers(), let position = reader.integer() else { return nil }
      self = .news(users, position: position)
    case .onlyFor:
      guard let user: UserID = reader.identifier(), let room = reader.room(), let position = reader.integer() else {
        return nil
      }
      self = .onlyFor(user, in: room, position: position)
    case .rules:
      guard let user: UserID = reader.identifier() else { return nil }
      self = .rules(user)
    case .sessions:
      guard let user: UserID = reader.identifier(), let devices: [DeviceID] = reader.identifiers() else { return nil }
      self = .sessions(user, devices: devices)
    case .erased:
      guard let user: UserID = reader.identifier(), let position = reader.integer() else { return nil }
      self = .erased(user, position: position)
    case .pusher:
      guard let news = PusherNews(&reader) else { return nil }
      self = .pusher(news)
    case .project:
      guard let text = reader.text() else { return nil }
      self = .project(text)
    case .media:
      guard let text = reader.text() else { return nil }
      self = .media(text)
    case .delayed: self = .delayed
    case .work:
      guard let text = reader.text() else { return nil }
      self = .work(text)
    case .inUse:
      guard let chapter = reader.byte().flatMap(Chapter.init), let room = reader.room() else { return nil }
      self = .inUse(chapter, room)
    case .toDevice:
      guard let user: UserID = reader.identifier(), let devices: [DeviceID] = reader.identifiers() else { return nil }
      self = .toDevice(user, devices)
    }
  }
}

extension Note.RoomNews {
  fileprivate func write(to writer: inout NoteWriter) {
    writer.write(number)
    writer.write(upTo)
    writer.write(count: count)
    writer.write(members)
    writer.write(count: replaced.count)
    for position in replaced { writer.write(position) }
    writer.bytes.append((hasRelation ? 1 : 0) | (reload ? 2 : 0) | (hasPowerLevels ? 4 : 0))
  }

  fileprivate init?(_ reader: inout NoteReader) {
    guard let number = reader.room(), let upTo = reader.integer(), let count = reader.number(),
      let members: [UserID] = reader.identifiers(), let replaced = reader.integers(), let flags = reader.byte(), flags < 8
    else { return nil }
    self.init(number: number, upTo: upTo)
    self.count = count
    self.members = members
    self.replaced = replaced
    hasRelation = flags & 1 != 0
    reload = flags & 2 != 0
    hasPowerLevels = flags & 4 != 0
  }
}

extension Note.PusherNews {
  fileprivate func write(to writer: inout NoteWriter) {
    writer.write(user)
    writer.write(appID.utf8)
    writer.write(pushkey.utf8)
    writer.write(position)
  }

  fileprivate init?(_ reader: inout NoteReader) {
    guard let user: UserID = reader.identifier(), let appID = reader.text(), let pushkey = reader.text(),
      let position = reader.integer()
    else { return nil }
    self.init(user: user, appID: appID, pushkey: pushkey, position: position)
  }
}
