import JSON
import MatrixModel
import Testing

@testable import ServerCore

@Suite struct NoteTests {
  private static let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bób:one.example")

  /// One of each kind, and those that differ within.
  static let all: [Note] = {
    var room = Note.RoomNews(number: RoomNumber(7), upTo: 1 << 40)
    let plain = Note.room(room)
    room.members = [ann, bob]
    room.replaced = [1, 127, 128, .max]
    room.count = 300
    room.hasRelation = true
    let full = Note.room(room)
    room.reload = true
    let reloaded = Note.room(room)
    room.hasPowerLevels = true
    return [
      plain, full, reloaded, .room(room),
      .purged(RoomNumber(.max)), .receipts(RoomNumber(1), of: [ann], upTo: 9), .news([], position: 0),
      .news([ann, bob], position: 300), .onlyFor(bob, in: RoomNumber(3), position: 4), .rules(ann), .sessions(ann, devices: []),
      .sessions(ann, devices: [DeviceID(trusted: "PHONE"), DeviceID(trusted: "")]), .erased(bob, position: -1),
      .pusher(Note.PusherNews(user: ann, appID: "app", pushkey: "", position: 5)), .project("45678"), .media("abc"), .delayed,
      .work("search"), .inUse(.hidden, RoomNumber(2)), .inUse(.delayed, RoomNumber(2)),
      .toDevice(ann, []), .toDevice(ann, [DeviceID(trusted: "PHONE"), DeviceID(trusted: "TABLET")])
    ]
  }()

  @Test func `every note comes back from its bytes, alone and among others`() {
    #expect(Set(Self.all.map(\.kind)) == Set(Note.Kind.allCases))
    for note in Self.all { #expect(Note.decode(Note.encode([note])) == [note]) }
    #expect(Note.decode(Note.encode(Self.all)) == Self.all)
    #expect(Note.decode(Note.encode([])) == [])
  }

  @Test func `the bytes do not change`() {
    #expect(
      Note.encode([.delayed, .project("4a"), .purged(RoomNumber(300))]) == [1, 12, 0, 10, 3, 2, 0x34, 0x61, 2, 2, 0xAC, 2])
    #expect(
      Note.Kind.allCases.map { "\($0.rawValue) \($0)" } == [
        "1 room", "2 purged", "3 receipts", "4 news", "5 onlyFor", "6 rules", "7 sessions", "8 erased", "9 pusher",
        "10 project",
        "11 media", "12 delayed", "13 work", "14 inUse", "15 toDevice"
      ])
  }

  @Test func `truncated bytes are as many notes as are whole, or none`() {
    let bytes = Note.encode(Self.all)
    let whole = Self.all.indices.map { Note.encode(Array(Self.all[..<$0])).count }
    for length in 0..<bytes.count {
      let decoded = Note.decode(Array(bytes[..<length]))
      if let count = whole.firstIndex(of: length) {
        #expect(decoded == Array(Self.all[..<count]))
      } else {
        #expect(decoded == nil, "\(length) bytes")
      }
    }
  }

  @Test(
    arguments: [
      [], [2], [1, 0, 0], [1, 16, 0], [1, 255, 0], [1, 12, 1, 0], [1, 12, 0x80, 0], [1, 2, 0], [1, 2, 2, 0x80, 0],
      [1, 14, 2, 9, 1], [1, 4, 1, 0xFF], [1, 4, 3, 0xFF, 0xFF, 0x7F], [1, 10, 2, 5, 0x61],
      [1, 2, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], [1, 1, 6, 1, 1, 0, 0, 0, 8]
    ] as [[UInt8]])
  func `nothing is read of bytes of another version, with an unknown kind or with fields that are not as they are written`(
    bytes: [UInt8]
  ) {
    #expect(Note.decode(bytes) == nil)
  }

  @Test func `any change of a byte gives other notes or none`() {
    let bytes = Note.encode(Self.all)
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        guard let notes = Note.decode(changed) else { continue }
        // What is not UTF-8 is mended, the rest is written as it was read.
        #expect(notes != Self.all && Note.decode(Note.encode(notes)) == notes)
      }
    }
  }
}
