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

  @Test("of 10,000 contacts only so many are kept and shown")
  func limits() {
    let many = (0..<10_000).map { Self.person(ByteString("@user\($0):example.org")) }
    var finder = PeopleFinder(own: nil, contacts: many)
    finder.type("user")
    #expect(finder.found.count == PeopleFinder.shownLimit)
    for person in many { finder.choose(person.userID) }
    #expect(finder.chosen.count == PeopleFinder.chosenLimit)
  }
}
