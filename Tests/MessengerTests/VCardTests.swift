import Testing

@testable import Messenger

@Suite("Contacts in files")
struct VCardTests {
  private func read(_ text: String) -> VCard? { VCard(Array(text.utf8)) }

  private static let three = """
    BEGIN:VCARD\r
    VERSION:3.0\r
    FN:Ada Lovelace\\, Countess\r
    N:Lovelace;Ada;;Countess;\r
    ORG:Analytical Engines;Programs\r
    TEL;TYPE=cell,voice:+44 20 7946 0958\r
    item1.EMAIL;TYPE=INTERNET:ada@engine\r
     .example\r
    NOTE:TEL:+1\\nsecond line\r
    END:VCARD\r
    BEGIN:VCARD\r
    FN:Somebody Else\r
    END:VCARD\r

    """

  @Test("Version 3.0: escapes, folded lines, groups, and nobody but the first")
  func three() throws {
    let card = try #require(read(Self.three))
    #expect(card.name == "Ada Lovelace, Countess")
    #expect(card.organisation == "Analytical Engines, Programs")
    #expect(card.numbers == ["+44 20 7946 0958"])
    #expect(card.addresses == ["ada@engine.example"])
  }

  @Test("Version 4.0: addresses as values, parameters in quotes, names in parts, lines of one tab")
  func four() throws {
    let card = try #require(
      read(
        "begin:vcard\nversion:4.0\nn:Hopper;Grace;Brewster;;\ntel;VALUE=uri;PREF=1;LABEL=\"a:b;c\":tel:+1-555-010-9999;ext=7\n"
          + "email:MAILTO:grace@navy.example\nemail:grace@navy.example\norg:Na\n\tvy\nend:vcard"))
    #expect(card.name == "Grace Hopper")
    #expect(card.organisation == "Navy")
    #expect(card.numbers == ["+1-555-010-9999;ext=7"])
    #expect(card.addresses == ["grace@navy.example"])
    #expect(VCard.url(ofNumber: card.numbers[0]) == "tel:+15550109999")
  }

  @Test("Version 2.1: quoted printable over several lines, folds that keep their space, an agent's card inside")
  func two() throws {
    let card = try #require(
      read(
        "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=\r\n=B6rg=\r\n en\r\n"
          + "ORG:Farm\r\n of all\r\nAGENT:\r\nBEGIN:VCARD\r\nFN:Agent\r\nTEL:007007\r\nEND:VCARD\r\nTEL;HOME;VOICE:(030) 1234\r\nEND:VCARD"
      ))
    #expect(card.name == "Jörg en Müller")
    #expect(card.organisation == "Farm of all")
    #expect(card.numbers == ["(030) 1234"])
  }

  @Test("What says too little is named by what it says; what says nothing is no card")
  func little() throws {
    #expect(read("BEGIN:VCARD\nORG:Farm;\nEND:VCARD").map { [$0.name, $0.organisation] } == ["Farm", ""])
    #expect(read("BEGIN:VCARD\nFN:\nTEL:123\nEND:VCARD")?.name == "123")
    #expect(read("BEGIN:VCARD\nEMAIL:a@b.de")?.name == "a@b.de")
    for text in [
      "", "\n", "FN:Ada", "BEGIN:VCARD", "BEGIN:VCARD\nFN:\nEND:VCARD", "BEGIN:VCARD\nFN", "END:VCARD\nFN:A", ":",
      "BEGIN:VCALENDAR\nX:y"
    ] {
      #expect(read(text) == nil, "\(text)")
    }
  }

  @Test(
    "Numbers and addresses lead to what they are and to nothing more",
    arguments: [
      ("+49 (0)30 12", "tel:+4903012"), ("112", "tel:112"), ("12", nil), ("12345678901234567", nil), ("ask Bob", nil),
      ("030 1234 x5", "tel:0301234"), ("1;2345", nil)
    ] as [(String, String?)])
  func numbers(text: String, url: String?) { #expect(VCard.url(ofNumber: text) == url) }

  @Test(
    "Mail addresses become links without further headers",
    arguments: [
      ("a.b+c@d.example", "mailto:a.b+c@d.example"), ("a@b?bcc=c@d", nil), ("a@b@c", nil), ("@b", nil), ("a@", nil), ("a", nil),
      ("a%0a@b", nil), ("javascript:a@b", nil), ("a b@c", nil)
    ] as [(String, String?)])
  func addresses(text: String, url: String?) { #expect(VCard.url(ofAddress: text) == url) }

  @Test("Large files are not read, and long or many parts of others are cut", .timeLimit(.minutes(1)))
  func limits() throws {
    let head = "BEGIN:VCARD\nFN:", tail = "\nEND:VCARD"
    let room = VCard.bytesLimit - head.utf8.count - tail.utf8.count
    let long = try #require(read(head + String(repeating: "ü", count: room / 2) + tail))
    #expect(long.name == String(repeating: "ü", count: VCard.textLimit / 2))
    #expect(read(head + String(repeating: "a", count: room + 1) + tail) == nil)
    let many = (0..<50).map { "TEL:\(1000 + $0)\nEMAIL:a\($0)@b.de\n" }.joined()
    let card = try #require(read("BEGIN:VCARD\n" + many + "END:VCARD"))
    #expect(card.numbers.count == VCard.linesLimit && card.addresses.count == VCard.linesLimit)
    // Each of these would take minutes if it were looked through again and again.
    for repeated in ["=\n", "\n ", ";", "BEGIN:VCARD\n", "A;ENCODING=QUOTED-PRINTABLE:=\n", "\\", "\"", "ORG:;\n"] {
      _ = read("BEGIN:VCARD\nX;QUOTED-PRINTABLE:" + String(repeating: repeated, count: 60_000 / repeated.utf8.count))
    }
  }

  // Proves P36
  @Test("Whatever a file holds, reading it ends, and what is read is in one line and of the length that is allowed")
  func anything() {
    var random: UInt64 = 0x9E37_79B9_7F4A_7C15
    func next(_ limit: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % limit
    }
    let pieces = [
      "\n", "\r\n ", ":", ";", "\\", "=", "=0", "\"", "FN", "N", "TEL", "EMAIL", "ORG", "BEGIN:VCARD\n", "END:VCARD\n",
      "ENCODING=QUOTED-PRINTABLE", ",", "ü"
    ]
    .map { Array($0.utf8) }
    for round in 0..<20_000 {
      var bytes = round % 2 == 0 ? Array(Self.three.utf8) : Array("BEGIN:VCARD\n".utf8)
      for _ in 0..<(1 + next(12)) {
        let place = next(bytes.count + 1)
        switch next(3) {
        case 0: bytes.insert(contentsOf: pieces[next(pieces.count)], at: place)
        case 1: bytes.insert(UInt8(next(256)), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + next(20)))
        }
      }
      guard let card = VCard(bytes) else { continue }
      #expect(!card.name.isEmpty)
      for text in [card.name, card.organisation] + card.numbers + card.addresses {
        #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
      }
      // What is no text in the file takes three bytes for one, and an organisation has several parts.
      #expect(card.name.utf8.count < 10 * VCard.textLimit && card.organisation.utf8.count < 10 * VCard.textLimit)
      #expect(card.numbers.count <= VCard.linesLimit && card.addresses.count <= VCard.linesLimit)
    }
  }
}
