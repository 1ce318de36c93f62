import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Who is found by a few letters, in which order, and who can be chosen.
@Suite struct PeopleFinderTests {
  private static let own = UserID("@me:example.org")!

  private static func person(_ id: ByteString, _ name: ByteString? = nil) -> PeopleFinder.Person {
    PeopleFinder.Person(UserID(id)!, name: name)
  }

  private static func finder(present: [UserID] = []) -> PeopleFinder {
    PeopleFinder(
      own: own,
      contacts: [
        person("@debora:example.org", "Debora"), person("@boris:example.org", "Börïs Blum"), person("@me:example.org", "Me")
      ], present: present)
  }

  private static func ids(_ people: [PeopleFinder.Person]) -> [String] { people.map { $0.userID.string } }

  @Test("names are found without case and accents, first letters of a word before others, never the own user")
  func finding() {
    var finder = Self.finder()
    finder.type("bO")
    #expect(Self.ids(finder.found) == ["@boris:example.org", "@debora:example.org"])
    finder.type("blum")
    #expect(Self.ids(finder.found) == ["@boris:example.org"])
    finder.type("me")
    #expect(finder.found.isEmpty)
  }

  @Test("the directory's people stand behind contacts, and a late answer is dropped")
  func directory() {
    var finder = Self.finder()
    finder.type("bo")
    let old = finder.version
    #expect(finder.term == "bo")
    let answered = finder.directoryAnswered([Self.person("@bob:example.org"), Self.person("@boris:example.org")], for: old)
    #expect(answered)
    #expect(Self.ids(finder.found) == ["@boris:example.org", "@debora:example.org", "@bob:example.org"])
    finder.type("qq")
    let late = finder.directoryAnswered([Self.person("@late:example.org")], for: old)
    #expect(!late && finder.found.isEmpty)
  }

  @Test("an ID, a matrix.to link and a matrix: URI are the user, and the directory is not asked")
  func exact() {
    for text: ByteString in ["@new:example.org", "https://matrix.to/#/@new:example.org", "matrix:u/new:example.org"] {
      var finder = Self.finder()
      finder.type(text)
      #expect(Self.ids(finder.found) == ["@new:example.org"])
      #expect(finder.term == nil)
    }
  }

  @Test("finished IDs of a pasted list are chosen, and the rest stays")
  func lists() {
    var finder = Self.finder()
    #expect(finder.takeIDs("@a:example.org, @b:example.org@c:example.org; Boris @d:exa") == "Boris @d:exa")
    #expect(Self.ids(finder.chosen) == ["@a:example.org", "@b:example.org", "@c:example.org"])
    #expect(finder.takeIDs("@d:example.org", isWhole: true).isEmpty)
    finder.removeLast()
    #expect(finder.chosen.count == 3)
  }

  @Test("members of the room are found and cannot be chosen")
  func present() {
    let boris = UserID("@boris:example.org")!
    var finder = Self.finder(present: [boris])
    finder.type("boris")
    #expect(finder.found.count == 1 && finder.isPresent(boris))
    finder.choose(boris)
    #expect(finder.chosen.isEmpty)
  }

  @Test("members of the room stand behind everybody who can be invited, and take nobody's place")
  func presentLast() {
    let members = (0..<20).map { Self.person(ByteString("@bo\($0):example.org"), ByteString("Bo \($0)")) }
    let others = [Self.person("@elbow:example.org", "Elbow"), Self.person("@bob:example.org", "Bob")]
    var finder = PeopleFinder(own: nil, contacts: members + others, present: members.map { $0.userID })
    finder.type("bo")
    #expect(Self.ids(finder.found).prefix(2) == ["@bob:example.org", "@elbow:example.org"])
    #expect(finder.found.count == PeopleFinder.shownLimit)
    #expect(finder.found.dropFirst(2).allSatisfy { finder.isPresent($0.userID) })
    let answered = finder.directoryAnswered([Self.person("@bohr:example.org", "Bohr")], for: finder.version)
    #expect(answered && Self.ids(finder.found).prefix(3) == ["@bob:example.org", "@elbow:example.org", "@bohr:example.org"])
  }

  @Test("of 10,000 contacts only so many are kept and shown")
  func limits() {
    let many = (0..<10_000).map { Self.person(ByteString("@user\($0):example.org")) }
    var finder = PeopleFinder(own: nil, contacts: many)
    finder.type("user")
    #expect(finder.found.count == PeopleFinder.shownLimit)
    for person in many { finder.choose(person.userID) }
    #expect(finder.chosen.count == PeopleFinder.chosenLimit)
  }

  @Test("people who come in slices take their places among those who are known, and those who go leave them")
  func slices() {
    var finder = PeopleFinder(own: Self.own, limit: PeopleFinder.membersLimit)
    finder.type("bo")
    finder.add([Self.person("@jumbo:example.org", "Jumbo"), Self.person("@me:example.org", "Bo Me")])
    finder.add([Self.person("@boris:example.org", "Boris"), Self.person("@bo:example.org", "Bo")])
    #expect(Self.ids(finder.found) == ["@boris:example.org", "@bo:example.org", "@jumbo:example.org"])
    finder.preferred = [UserID("@bo:example.org")!]
    finder.type("bo")
    #expect(Self.ids(finder.found) == ["@bo:example.org", "@boris:example.org", "@jumbo:example.org"])
    finder.forget([UserID("@boris:example.org")!])
    finder.add([Self.person("@boris:example.org", "Robert")])
    #expect(Self.ids(finder.found) == ["@bo:example.org", "@boris:example.org", "@jumbo:example.org"])
    finder.type("bo")
    #expect(finder.people.count == 3)
  }

  @Test("slices find what a list at once finds", arguments: 0..<20)
  func sameBySlices(_ seed: Int) {
    let people = (0..<300).map { number -> PeopleFinder.Person in
      let mixed = (number &* 7_919 &+ seed &* 104_729) % 1_000
      return Self.person(ByteString("@u\(number):example.org"), ByteString("Name \(mixed) b\(mixed % 7)"))
    }
    for term: ByteString in ["", "b", "b3", "1", "u2", "name 9", "@u1:exa", "zzz"] {
      var whole = PeopleFinder(own: nil, contacts: people)
      whole.type(term)
      var sliced = PeopleFinder(own: nil)
      sliced.type(term)
      for start in stride(from: 0, to: people.count, by: 7) { sliced.add(Array(people[start..<min(start + 7, people.count)])) }
      #expect(sliced.found == whole.found)
    }
  }

  @Test("an ID is found by its beginning, also behind the colon")
  func beginning() {
    var finder = Self.finder()
    finder.type("debora:exa")
    #expect(Self.ids(finder.found) == ["@debora:example.org"])
    finder.type("debora:other")
    #expect(finder.found.isEmpty)
  }

  @Test("what is looked for a slice at a time is found as at once, also of people who come meanwhile", arguments: [1, 3, 50])
  func slices(_ slice: Int) {
    let people = (0..<100).map { Self.person(ByteString("@p\($0):example.org"), ByteString("Person \($0 * 7 % 100)")) }
    var (whole, sliced) = (PeopleFinder(own: Self.own, contacts: people), PeopleFinder(own: Self.own))
    sliced.lookedAtOnce = slice
    sliced.add(Array(people[..<60]))
    for text: ByteString in ["pers", "9", "person 42", "nobody", "@p61:example.org", ""] {
      whole.type(text)
      sliced.type(text)
      sliced.add(Array(people[60...]))
      var steps = 0
      while !sliced.hasLookedAtAll, steps <= 100 {
        sliced.lookOn()
        steps += 1
      }
      #expect(sliced.found.map { $0.userID } == whole.found.map { $0.userID })
      #expect(steps <= (100 + slice - 1) / slice)
    }
  }

  @Test("who shares a name is known as people come and go")
  func sharing() {
    let (one, other) = (Self.person("@a:example.org", "Ann"), Self.person("@b:example.org", "Ann"))
    var finder = PeopleFinder(own: nil, contacts: [one])
    #expect(!finder.sharesName(one) && finder.sharesName(other))
    finder.add([other])
    #expect(finder.sharesName(one) && finder.sharesName(other))
    finder.forget([one.userID])
    #expect(finder.sharesName(one) && !finder.sharesName(other))
    finder.forget([other.userID])
    #expect(!finder.sharesName(one) && !finder.sharesName(other))
  }

  @Test("only an ID tells people apart whose names look the same, also with letters that cannot be seen")
  func shared() {
    let (one, other) = (Self.person("@a:example.org", "Ann"), Self.person("@b:example.org", "A\u{200B}nn"))
    let third = Self.person("@c:example.org", "Anna")
    let finder = PeopleFinder(own: nil, contacts: [one, other, third, Self.person("@d:example.org")])
    #expect([one, other, third].map { finder.sharesName($0) } == [true, true, false])
    #expect(!finder.sharesName(Self.person("@d:example.org")))
  }

  @Test("names of 255 bytes, from right to left, of marks and of nothing to see are found and trap nowhere")
  func oddNames() {
    let names: [ByteString] = [
      ByteString(String(repeating: "W", count: 255)), "فاطمة البستانية",
      ByteString("Ze" + String(repeating: "\u{351}", count: 120)),
      "Bo\u{200B}\u{200D}ris", ByteString(String(repeating: "👩‍🌾", count: 20)), "\u{2066}\u{2067}", ""
    ]
    let people = names.enumerated().map { Self.person(ByteString("@n\($0.offset):example.org"), $0.element) }
    var finder = PeopleFinder(own: nil, contacts: people)
    for (term, expected) in [("www", 0), ("فاطمة", 1), ("bor", 3), ("👩", 4)] as [(ByteString, Int)] {
      finder.type(term)
      #expect(Self.ids(finder.found) == ["@n\(expected):example.org"])
    }
    for name in names {
      finder.type(name)
      _ = finder.found
    }
  }
}
