import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Names that their bearers chose to be taken for somebody else, or to break what stands around them.
@Suite struct HostileNameTests {
  private static let eve = UserID(trusted: "@eve:test")

  private static func named(_ name: String, others: [String] = ["Alice"]) -> Members {
    var members = Members()
    for (i, other) in others.enumerated() { _ = members.set(member(UserID(trusted: ByteString("@\(i):test")), other)) }
    _ = members.set(member(eve, name))
    return members
  }

  private static func member(_ user: UserID, _ name: String) -> Member {
    Member(userID: user, membership: .join, displayName: ByteString(name))
  }

  // Proves C73
  @Test(arguments: [
    "Alice", " Alice", "Alice ", "Al\u{200B}ice", "Alice\u{FEFF}", "A\u{00AD}lice", "Alice\u{E0041}", "\u{2060}Alice",
    "Alice\u{FE0F}",
    "Alice\u{0}", "Alice\n", "\u{A0}Alice", "Alice\u{3000}", "\u{2800}Alice"
  ]) func `names that look the same are told apart`(name: String) {
    let members = Self.named(name)
    #expect(members.displayName(of: Self.eve).string.hasSuffix(" (@eve:test)"))
    #expect(members.displayName(of: UserID(trusted: "@0:test")) == "Alice (@0:test)")
  }

  @Test(arguments: ["Alicia", "alice", "Alíce", "爱丽丝", "👩🏽‍🚀", "Ali ce"]) func `others stand as they are`(name: String) {
    let members = Self.named(name)
    #expect(members.displayName(of: Self.eve) == ByteString(name))
    #expect(members.displayName(of: UserID(trusted: "@0:test")) == "Alice")
  }

  // Proves C73
  @Test(arguments: [
    "Anna Maria", "Anna  Maria", "Anna\u{A0}Maria", "Anna\u{2003}Maria", "Anna\u{3000}Maria", "Anna\u{200B} \u{200B}Maria",
    " Anna \u{202F} Maria ", "Anna\nMaria"
  ]) func `no space makes another name`(name: String) {
    let members = Self.named(name, others: ["Anna Maria"])
    #expect(members.displayName(of: Self.eve).string.hasSuffix(" (@eve:test)"))
    #expect(members.displayName(of: UserID(trusted: "@0:test")) == "Anna Maria (@0:test)")
  }

  // Proves C73
  @Test(arguments: [
    " @alice:test", "\u{A0}@alice:test", "Alice (@alice:test)", "Alice\u{2003}(@alice:test)", "Alice @al\u{200B}ice:test!",
    "Alice (@alice:[::1])", "x@@alice:test", "Eve (@eve:test) Alice (@alice:test)", "@eve:test.example", "@eve:test:8448",
    "Jose\u{301}", "A\u{30A}ke"
  ]) func `who has another's user ID in the name, or letters with marks, is told apart`(name: String) {
    let members = Self.named(name, others: ["Alice", "Alice"])
    #expect(members.displayName(of: Self.eve).string.hasSuffix(" (@eve:test)"))
    #expect(members.displayName(of: UserID(trusted: "@0:test")) == "Alice (@0:test)")
    #expect(Member.shownName(ByteString(name), of: Self.eve) == "@eve:test")
  }

  @Test(arguments: [
    "Eve (@eve:test)", "@eve", "Eve @ work: late", "eve@test.example", "Eve @home", "José", "Eve: @", "@:x", "@eve:"
  ]) func `a text that is no user ID, or the member's own ID, is not suspicious`(name: String) {
    #expect(Self.named(name).displayName(of: Self.eve) == ByteString(name))
  }

  // Proves C73
  @Test(arguments: [
    "\u{202E}ecilA", "Bob\u{2067}", "@alice:test", "@alice:test\u{200B}", "\u{200E}@alice:test", "Bob\u{200F}"
  ]) func `what passes for a user ID or turns the text around is told apart`(name: String) {
    let shown = Self.named(name, others: []).displayName(of: Self.eve).string
    #expect(shown.hasSuffix(" (@eve:test)"))
    #expect(!shown.unicodeScalars.contains { (0x202A...0x202E).contains($0.value) || (0x2066...0x2069).contains($0.value) })
  }

  @Test func `the member's own user ID is a name like any other`() {
    #expect(Self.named("@eve:test", others: []).displayName(of: Self.eve) == "@eve:test")
  }

  @Test(arguments: ["\u{200B}\u{200B}", " ", "\u{3164}", "\u{0}\u{1}", "\u{202E}"])
  func `who cannot be seen has their ID for a name`(
    name: String
  ) {
    #expect(Self.named(name, others: []).displayName(of: Self.eve) == "@eve:test")
  }

  // Proves C73
  @Test func `no name breaks the line`() {
    #expect(Self.named("Eve\n\n\u{0}Admin\u{2028}x\u{7F}", others: []).displayName(of: Self.eve) == "Eve  Admin x")
    let name = #""Tea\n\u0000\u202eevil""#
    var host = Host.signedIn()
    host.sync(Wire.join(state: [Wire.event("m.room.name", "$n", #"{"name":\#(name)}"#, stateKey: "")]))
    #expect(host.client.room(.test)?.name.english == "Tea evil")
  }

  // Proves C73
  @Test func `the name of a file shows where it ends`() throws {
    let named = #""body":"report\u202efdp\n.exe""#
    let bare = try MessageContent(JSON.parse(Array(#"{"msgtype":"m.file",\#(named)}"#.utf8)), type: .message)
    #expect(bare.attachment?.fileName == "reportfdp .exe" && bare.body == "reportfdp .exe" && bare.caption == nil)
    let both = #"{"msgtype":"m.image","filename":"a\u2066.png","body":"a\nb"}"#
    let captioned = try MessageContent(JSON.parse(Array(both.utf8)), type: .message)
    #expect(captioned.attachment?.fileName == "a.png" && captioned.caption == "a\nb")
    let gallery = #"{"msgtype":"dm.filament.gallery","body":"","itemtypes":[{"itemtype":"m.file",\#(named)}]}"#
    let entry = try #require(MessageContent(JSON.parse(Array(gallery.utf8)), type: .message).gallery.first)
    #expect(entry.attachment?.fileName == "reportfdp .exe" && entry.caption == nil)
  }

  // Proves C73
  @Test(arguments: [ContentLimits.nameBytes, ContentLimits.nameBytes + 1, 60_000]) func `names have a bound`(bytes: Int) {
    let name = String(repeating: "n", count: bytes)
    var host = Host.signedIn()
    let room = Wire.event("m.room.name", "$n", #"{"name":"\#(name)"}"#, stateKey: "")
    host.sync(Wire.join(state: [Wire.member("@me:test", name: name), room]))
    host.command(.timeline(.openRoom(.test)))
    #expect(host.client.room(.test)?.name.english.count == min(bytes, ContentLimits.nameBytes))
    #expect(host.client.room(.test)?.members.first?.displayName?.count == min(bytes, ContentLimits.nameBytes))
  }

  @Test func `a name is not cut in the middle of a character`() throws {
    // One byte, then three each: the bound falls into a character.
    let json = try JSON.parse(Array(#"{"name":"x\#(String(repeating: "爱", count: 1_000))"}"#.utf8))
    let name = try #require(ShownName.read(json["name"]))
    #expect(name.count == ContentLimits.nameBytes - (ContentLimits.nameBytes - 1) % 3)
    #expect(name.string.unicodeScalars.allSatisfy { $0 == "x" || $0 == "爱" })
  }

  /// Each pair affects two members, regardless of the others.
  @Test func `many pairs of names cost no more than their number`() {
    var members = Members()
    let count = 40_000
    for round in 0..<2 {
      for i in 0..<count {
        let user = UserID(trusted: ByteString("@\(round)-\(i):test"))
        let touched = members.set(Self.member(user, "name \(i)"))
        #expect(touched.count == 1 + round)
      }
    }
    for i in 0..<count {
      let user = UserID(trusted: ByteString("@0-\(i):test"))
      #expect(members.set(Self.member(user, "other \(i)")).count == 2)
    }
    #expect(members.displayName(of: UserID(trusted: "@1-7:test")) == "name 7")
  }

  @Test func `of many with one name each is told apart until one is left`() {
    var members = Members()
    let users = (0..<5_000).map { UserID(trusted: ByteString("@\($0):test")) }
    for user in users { _ = members.set(Self.member(user, "Same")) }
    #expect(members.displayName(of: users[4_999]) == "Same (@4999:test)")
    for user in users.dropFirst(2) { #expect(members.set(Self.member(user, "u\(user.string)")) == [user]) }
    #expect(members.set(Self.member(users[1], "One")) == [users[1], users[0]])
    #expect(members.displayName(of: users[0]) == "Same")
  }
}
