import Testing

@testable import Messenger

@Suite("Texts")
struct TextTests {
  // Proves P36
  @Test(
    "Links are found where they are",
    arguments: [
      ("see https://example.org/a?b=c#d now", ["https://example.org/a?b=c#d"]),
      ("😀 http://example.org.", ["http://example.org"]),
      ("(https://en.wikipedia.org/wiki/Swift_(bird))", ["https://en.wikipedia.org/wiki/Swift_(bird)"]),
      ("HTTPS://EXAMPLE.ORG, and http://b.c!", ["HTTPS://EXAMPLE.ORG", "http://b.c"]),
      ("https://example.org/ä/日本", ["https://example.org/ä/日本"]),
      ("http://[::1]:80/x", ["http://[::1]:80/x"]),
      ("http://a.b/(c)))).", ["http://a.b/(c)"]), ("http://a.b/)(c)", ["http://a.b/)(c"]),
      ("http://a.b/c).)", ["http://a.b/c"]),
      ("xhttp://a.b", []), ("http://", []), ("https:// a", []), ("javascript:alert(1)", []), ("http://.", []),
      ("h", []),
      ("<https://a.b>", ["https://a.b"]), ("", [])
    ])
  func links(text: String, expected: [String]) {
    let segments = LinkScanner.segments(of: text)
    #expect((segments ?? []).filter(\.isLink).map(\.text) == expected)
    if let segments { #expect(segments.map(\.text).joined() == text) }
  }

  @Test(
    "A long text is looked through once, whatever its links end in and however many are none", .timeLimit(.minutes(1)),
    arguments: [("http://a", ")", 200_000, ["http://a"]), ("", "http://.", 20_000, [])])
  func longTexts(start: String, repeated: String, count: Int, expected: [String]) {
    let segments = LinkScanner.segments(of: start + String(repeating: repeated, count: count))
    #expect((segments ?? []).filter(\.isLink).map(\.text) == expected)
  }

  // Proves P36
  @Test(
    "Telephone numbers that begin with + are found where they are, and lead to their digits",
    arguments: [
      ("call +49 30 1234-567, please", "+49 30 1234-567", "tel:+49301234567"),
      ("+1 (555) 010-9999", "+1 (555) 010-9999", "tel:+15550109999"), ("(+441632960961)", "+441632960961", "tel:+441632960961"),
      ("+49.30.1234567.", "+49.30.1234567", "tel:+49301234567"),
      // Too short, too long, a part of something else, none at all.
      ("+49 30 12", "", ""), ("+1234567890123456", "", ""), ("1+49301234567", "", ""), ("x+49301234567", "", ""),
      ("+49301234567x", "", ""), ("+ ten", "", ""), ("49 30 1234567", "", ""), ("+", "", "")
    ])
  func numbers(text: String, expected: String, url: String) {
    let segments = LinkScanner.segments(of: text)
    let links = (segments ?? []).filter(\.isLink)
    #expect(links.map(\.text) == (expected.isEmpty ? [] : [expected]))
    #expect(links.map(\.url) == (expected.isEmpty ? [] : [url]))
    if let segments { #expect(segments.map(\.text).joined() == text) }
  }

  // Proves P36
  @Test(
    "Telephone numbers of a country are found where they can be nothing else",
    arguments: [
      ("call (030) 123 45 67, please", "(030) 123 45 67", "tel:0301234567"),
      ("030/1234-567.", "030/1234-567", "tel:0301234567"),
      ("01 23 45 67 89", "01 23 45 67 89", "tel:0123456789"), ("(03-1234-5678)", "03-1234-5678", "tel:0312345678"),
      ("0049 30 123456", "0049 30 123456", "tel:004930123456"), ("555-210-9999", "555-210-9999", "tel:5552109999"),
      ("or (555) 210-9999", "(555) 210-9999", "tel:5552109999"), ("555.210.9999!", "555.210.9999", "tel:5552109999"),
      // Hours, a day, an amount, a version, an order, a part of something else, too short, too long.
      ("0900-1700", "", ""), ("01-02-2026 14:30", "", ""), ("0301234567", "", ""), ("3.141.5926", "", ""),
      ("123-456-7890", "", ""),
      ("x0301 234567", "", ""), ("030 1234567x", "", ""), ("A-030 1234567", "", ""), ("02 03 04", "", ""),
      ("0301 23456789012345", "", ""), ("555-210.9999", "", ""), ("555-210-99999", "", ""),
      ("(555-210-9999)", "555-210-9999", "tel:5552109999"),
      ("(", "", ""), ("0", "", ""), ("(0", "", ""), ("555-", "", ""), ("(555)", "", "")
    ])
  func localNumbers(text: String, expected: String, url: String) { numbers(text: text, expected: expected, url: url) }

  // Proves P36
  @Test(
    "Addresses for mail are found where they are",
    arguments: [
      ("write to seeds@farm.example.", "seeds@farm.example"), ("(a.b+c-d_e@x-1.y.example)", "a.b+c-d_e@x-1.y.example"),
      ("ü a@b.de", "a@b.de"), ("<a@b.de>", "a@b.de"), ("a@b.de, c", "a@b.de"), (".a@b.de", "a@b.de"), ("a@b.de:8", "a@b.de"),
      // No server, no dot, no letters at its end, an empty label, no name, a user ID, a part of something else.
      ("a@", ""), ("a@b", ""), ("a@b.1", ""), ("a@b..de", ""), ("@b.de", ""), ("@a:b.de", ""), ("@a@b.de", ""), ("üa@b.de", ""),
      ("a@b.c", ""), ("@", ""), ("a@.de", "")
    ])
  func mail(text: String, expected: String) {
    let segments = LinkScanner.segments(of: text)
    let links = (segments ?? []).filter(\.isLink)
    #expect(links.map(\.text) == (expected.isEmpty ? [] : [expected]))
    #expect(links.map(\.url) == (expected.isEmpty ? [] : ["mailto:" + expected]))
    if let segments { #expect(segments.map(\.text).joined() == text) }
  }

  // Proves P36
  @Test(
    "Hashtags are found where they are, in any script, and nothing else behind #",
    arguments: [
      ("bring #seeds, please", ["#seeds"]), ("#Größe_2 (#b) \"#c\"", ["#Größe_2", "#b", "#c"]), ("#庭 です。#種まき、", ["#庭", "#種まき"]),
      ("#حديقة؟", ["#حديقة"]), ("#a: first", ["#a"]), ("#a2026 #2026a", ["#a2026", "#2026a"]), ("#seeds🌱", ["#seeds"]),
      // A room, a number, a colour of no letters, a part of something else, none at all.
      ("#room:farm.example", []), ("#1", []), ("#_", []), ("#", []), ("##a", []), ("#a#b", []), ("a#b", []), ("ü#b", []),
      ("&#x41;", []), ("#\u{200C}", []), ("#می\u{200C}کارم", ["#می\u{200C}کارم"]),
      ("https://a.example/#b", []), ("a.example/#b", []), ("# a", []), ("#。", []), ("#x:[::1]", [])
    ])
  func tags(text: String, expected: [String]) {
    let segments = LinkScanner.segments(of: text, findsTerms: true)
    let found = (segments ?? []).filter(\.isTerm)
    #expect(found.map(\.text) == expected)
    #expect(found.map(\.url) == expected)
    if let segments { #expect(segments.map(\.text).joined() == text) }
    #expect(!(LinkScanner.segments(of: text) ?? []).contains { $0.isTerm })
  }

  // Proves P36
  @Test(
    "Dates are found where they are, with the time of day behind them",
    arguments: [
      ("on 2026-11-27.", "2026-11-27", "2026-11-27"), ("2026-11-27 14:30, at home", "2026-11-27 14:30", "2026-11-27T14:30"),
      ("(2026-11-27T14:30)", "2026-11-27T14:30", "2026-11-27T14:30"),
      ("2026-11-27 14:30:59Z", "2026-11-27 14:30:59Z", "2026-11-27T14:30:59Z"),
      ("2026-11-27T14:30+02:00", "2026-11-27T14:30+02:00", "2026-11-27T14:30+02:00"),
      ("2024-02-29", "2024-02-29", "2024-02-29"),
      ("2026-11-27 24:00", "2026-11-27", "2026-11-27"), ("2026-11-27: sow", "2026-11-27", "2026-11-27"),
      ("です2026-11-27", "", ""), ("。2026-11-27", "2026-11-27", "2026-11-27"),
      // No such day, other centuries, a part of something else.
      ("2026-02-29", "", ""), ("2026-13-01", "", ""), ("2026-00-01", "", ""), ("2026-01-00", "", ""), ("1234-01-01", "", ""),
      ("2026-1-1", "", ""), ("2026-11-27x", "", ""), ("2026-11-271", "", ""), ("12026-11-27", "", ""), ("2026-11-27-1", "", ""),
      ("/2026-11-27", "", ""), ("2026-11-27/x", "", ""), ("2026-11-27.5", "", ""), ("2026-11-", "", ""), ("20", "", ""),
      ("2026-11-27T", "", "")
    ])
  func dates(text: String, expected: String, moment: String) {
    let segments = LinkScanner.segments(of: text, findsTerms: true)
    let found = (segments ?? []).filter(\.isTerm)
    #expect(found.map(\.text) == (expected.isEmpty ? [] : [expected]))
    #expect(found.map(\.url) == (expected.isEmpty ? [] : ["date:" + moment]))
    if let segments { #expect(segments.map(\.text).joined() == text) }
    #expect(LinkScanner.segments(of: text) == nil)
  }

  // Proves P36
  @Test(
    "Dates are found as people write them, in all languages of the client",
    arguments: [
      ("on 27.11.2026.", "27.11.2026", "2026-11-27"), ("1.2.2026, or", "1.2.2026", "2026-02-01"),
      ("27/11/2026", "27/11/2026", "2026-11-27"), ("11/27/2026", "11/27/2026", "2026-11-27"),
      ("5/5/2026", "5/5/2026", "2026-05-05"),
      ("2026/1/9", "2026/1/9", "2026-01-09"), ("は2026年1月9日に", "2026年1月9日", "2026-01-09"), ("x2026年1月9日", "", ""),
      ("。2026年1月9日に", "2026年1月9日", "2026-01-09"),
      ("27.11.2026 14:30", "27.11.2026 14:30", "2026-11-27T14:30"),
      ("by 27 November 2026!", "27 November 2026", "2026-11-27"), ("3rd of May 2026", "3rd of May 2026", "2026-05-03"),
      ("27. November 2026", "27. November 2026", "2026-11-27"), ("1. märz 2026", "1. märz 2026", "2026-03-01"),
      ("Am 1. Okt. 2026", "1. Okt. 2026", "2026-10-01"), ("le 1er août 2026", "1er août 2026", "2026-08-01"),
      ("el 2 de enero de 2026", "2 de enero de 2026", "2026-01-02"),
      ("2 de septiembre del 2026", "2 de septiembre del 2026", "2026-09-02"),
      ("في 5 نوفمبر 2026", "5 نوفمبر 2026", "2026-11-05"), ("November 27, 2026: sow", "November 27, 2026", "2026-11-27"),
      ("(Nov. 7th 2026 09:00)", "Nov. 7th 2026 09:00", "2026-11-07T09:00"), ("dec 1 2026", "dec 1 2026", "2026-12-01"),
      // Either of two days, no such day, without a year, no month, a part of something else.
      ("3/4/2026", "", ""), ("31.4.2026", "", ""), ("30 February 2026", "", ""), ("27 November", "", ""),
      ("27 Novembers 2026", "", ""),
      ("27 men 2026", "", ""), ("nov 2026", "", ""), ("pronov 5, 2026", "", ""), ("27.11.20261", "", ""),
      ("127.11.2026", "", ""),
      ("1.27.11.2026", "", ""), ("27.11/2026", "", ""), ("27.11.2026x", "", ""), ("27 November 12026", "", ""), ("27.", "", ""),
      ("27 ", "", ""), ("27 de ", "", ""), ("27. nov.", "", ""), ("2026年", "", ""), ("2026/", "", ""), ("/27.11.2026", "", "")
    ])
  func writtenDates(text: String, expected: String, moment: String) { dates(text: text, expected: expected, moment: moment) }

  // Proves P36
  @Test(
    "Only addresses that open something are safe, never those that run something",
    arguments: [
      ("https://a.example", true), ("HTTP://a.example", true), ("mailto:a@b.example", true), ("tel:+4930", true),
      ("matrix:u/a:b", true), ("geo:1,2", true), ("javascript:alert(1)", false), ("JavaScript:alert(1)", false),
      ("data:text/html,x", false), ("blob:x", false), ("file:///etc/passwd", false), (" https://a.example", false),
      ("vbscript:x", false), ("a.example", false), ("", false)
    ])
  func safety(url: String, isSafe: Bool) {
    #expect(LinkScanner.isSafe(url) == isSafe)
  }

  // Proves T9, T10
  @Test(
    "Initials come from the first and the last word",
    arguments: [
      ("Alice", "A"), ("Alice B. Carol", "AC"), ("@bob:example.org", "b"), ("  大輔 山田 ", "大"), ("Ünal Öz", "ÜÖ"),
      ("", ""),
      ("!!!", ""), ("🦊 fox", "🦊"), ("(Eve)", "E"), ("\u{FDFD} Omar", "O"), ("\u{1242B}", "")
    ])
  func initials(name: String, expected: String) {
    #expect(Initials.of(name) == expected)
  }

  @Test("A colour belongs to an identity")
  func colours() {
    #expect(Initials.colour(of: "@alice:example.org") == Initials.colour(of: "@alice:example.org"))
    let all = Set((0..<200).map { Initials.colour(of: "@user\($0):example.org") })
    #expect(all == Set(0..<Initials.colourCount))
  }

  @Test(
    "An image's place is known before it is loaded",
    arguments: [
      (4000, 3000, 1000.0, 320.0, 240.0), (100, 80, 1000, 100, 80), (1000, 4000, 1000, 80, 320), (0, 0, 1000, 240, 180),
      (4000, 3000, 320, 184, 138), (10_000, 1, 1000, 320, 56), (1, 10_000, 1000, 56, 320), (-5, 7, 1000, 240, 180)
    ])
  func pictures(width: Int, height: Int, timeline: Double, boxWidth: Double, boxHeight: Double) {
    let box = PictureBox(width: width, height: height, timelineWidth: timeline)
    #expect(box.width == boxWidth && box.height == boxHeight)
  }

  @Test("Atoms are interned once")
  func atoms() {
    var table = AtomTable()
    var seen: [Atom] = []
    for number in 0..<1000 {
      let (atom, isNew) = table.intern("name\(number)")
      #expect(isNew)
      seen.append(atom)
    }
    for number in 0..<1000 {
      #expect(table.intern("name\(number)") == (seen[number], false))
      #expect(table.name(of: seen[number]) == "name\(number)")
    }
  }
}
