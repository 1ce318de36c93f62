import EventContent
import JSON
import MatrixModel

/// Finds people by a few letters of a name or ID, and keeps those who were chosen: what is behind every place where people are picked.
///
/// Direct chats stand first, the latest at the top, then members of shared rooms, then the server's directory. Within each, a name
/// that has a word with these first letters stands before one that has them elsewhere.
package struct PeopleFinder: Sendable {
  package struct Person: Sendable, Equatable {
    package let userID: UserID
    package let name: ByteString
    package let avatar: MediaURI?

    package init(_ userID: UserID, name: ByteString?, avatar: MediaURI? = nil) {
      self.userID = userID
      self.name = Member.shownName(name, of: userID)
      self.avatar = avatar
    }
  }

  private struct Candidate: Sendable {
    let person: Person
    let name: FoldedText
    let localpart: FoldedText
    /// 0 for contacts that were known at first, 1 for those the directory named.
    let source: Int

    init(_ person: Person, source: Int) {
      self.person = person
      self.source = source
      name = FoldedText(person.name)
      localpart = FoldedText(ByteString(decoding: person.userID.text.utf8.dropFirst().prefix { $0 != UInt8(ascii: ":") }))
    }
  }

  /// People offered at once.
  package static var shownLimit: Int { 8 }
  /// People known without asking the server.
  package static var contactsLimit: Int { 2_000 }
  /// People the directory named that are kept while the picker is open.
  package static var directoryLimit: Int { 500 }
  package static var chosenLimit: Int { 100 }
  /// Bytes that are read of what was typed or pasted.
  package static var textLimit: Int { 16_384 }
  /// Bytes of a name that are looked for.
  package static var termLimit: Int { 255 }

  package private(set) var chosen: [Person] = []
  /// The people who fit, the best first.
  package private(set) var found: [Person] = []
  /// Counts what was typed: an answer to an earlier question comes too late.
  package private(set) var version = 0
  private var text = ByteString("")
  private var candidates: [Candidate] = []
  private var known: Set<UserID> = []
  /// The directory's answer to what is typed now; its own idea of what fits counts.
  private var answered: [UserID] = []
  private let own: UserID?
  private let present: Set<UserID>

  /// - Parameters:
  ///   - own: never offered.
  ///   - contacts: the best first; those behind `contactsLimit` are left to the directory.
  ///   - present: offered, but not to be chosen: they are in the room already.
  package init(own: UserID?, contacts: [Person], present: [UserID] = []) {
    self.own = own
    self.present = Set(present)
    for person in contacts {
      guard candidates.count < PeopleFinder.contactsLimit else { break }
      add(person, source: 0)
    }
    find()
  }

  private mutating func add(_ person: Person, source: Int) {
    guard person.userID != own, known.insert(person.userID).inserted else { return }
    candidates.append(Candidate(person, source: source))
  }

  package func isPresent(_ user: UserID) -> Bool { present.contains(user) }

  // MARK: Typing

  /// What the directory is to be asked for; nil if nothing is looked for.
  package var term: ByteString? {
    var bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "@") { bytes.removeFirst() }
    guard !bytes.isEmpty, bytes.count <= PeopleFinder.termLimit, PeopleFinder.user(in: text) == nil else { return nil }
    return ByteString(decoding: bytes)
  }

  /// Looks for a text.
  package mutating func type(_ typed: ByteString) {
    text = PeopleFinder.trimmed(typed)
    version += 1
    answered = []
    find()
  }

  /// Takes finished IDs and links out of what was typed or pasted, chooses them, looks for the rest and returns it.
  ///
  /// - Parameter isWhole: whether the last word is finished too, though nothing stands behind it.
  package mutating func takeIDs(_ typed: ByteString, isWhole: Bool = false) -> ByteString {
    let bytes = Array(typed.utf8.prefix(PeopleFinder.textLimit))
    let endsWord = isWhole || bytes.last.map(PeopleFinder.isSeparator) ?? false
    let words = PeopleFinder.words(of: bytes)
    var rest: [UInt8] = []
    var hasTaken = false
    for (index, word) in words.enumerated() {
      let isFinished = endsWord || index < words.count - 1
      if isFinished, let user = PeopleFinder.user(in: ByteString(decoding: word)) {
        hasTaken = true
        choose(user)
      } else {
        if !rest.isEmpty { rest.append(0x20) }
        rest += word
      }
    }
    guard hasTaken else {
      type(typed)
      return typed
    }
    let left = ByteString(decoding: rest)
    type(left)
    return left
  }

  /// Adds what the directory found. Returns false if something else is looked for by now.
  package mutating func directoryAnswered(_ people: [Person], for version: Int) -> Bool {
    guard version == self.version else { return false }
    for person in people.prefix(PeopleFinder.shownLimit) {
      if candidates.count < PeopleFinder.contactsLimit + PeopleFinder.directoryLimit { add(person, source: 1) }
      answered.append(person.userID)
    }
    find()
    return true
  }

  // MARK: Choosing

  /// Ignores the account's own user, people who are there already and those who were chosen before.
  package mutating func choose(_ user: UserID) {
    guard user != own, !isPresent(user), chosen.count < PeopleFinder.chosenLimit,
      !chosen.contains(where: { $0.userID == user })
    else { return }
    chosen.append(person(user))
    find()
  }

  package mutating func remove(_ user: UserID) {
    chosen.removeAll { $0.userID == user }
    find()
  }

  package mutating func removeLast() {
    if !chosen.isEmpty { chosen.removeLast() }
    find()
  }

  private func person(_ user: UserID) -> Person {
    candidates.first { $0.person.userID == user }?.person ?? Person(user, name: nil)
  }

  // MARK: Finding

  /// O(candidates).
  private mutating func find() {
    let exact = PeopleFinder.user(in: text)
    if let exact {
      found = exact == own || chosen.contains { $0.userID == exact } ? [] : [person(exact)]
      return
    }
    let term = FoldedText(term: self.term ?? "")
    var best: [(rank: Int, person: Person)] = []
    for candidate in candidates {
      let user = candidate.person.userID
      guard let fit = fit(candidate, term) else { continue }
      let rank = candidate.source * 2 + fit
      if best.count == PeopleFinder.shownLimit, let last = best.last, last.rank <= rank { continue }
      guard !chosen.contains(where: { $0.userID == user }) else { continue }
      best.insert((rank, candidate.person), at: best.firstIndex { rank < $0.rank } ?? best.count)
      if best.count > PeopleFinder.shownLimit { best.removeLast() }
    }
    found = best.map { $0.person }
  }

  /// 0 for the first letters of a word, 1 for letters elsewhere; nil if neither the name nor the ID has them.
  private func fit(_ candidate: Candidate, _ term: FoldedText) -> Int? {
    let matches = [candidate.name.match(term), candidate.localpart.match(term)]
    if matches.contains(.wordPrefix) { return 0 }
    if matches.contains(.substring) { return 1 }
    return answered.contains(candidate.person.userID) ? 1 : nil
  }

  // MARK: Reading

  /// The user of an ID or a link; nil if the text is something else.
  package static func user(in text: ByteString) -> UserID? {
    guard text.count <= Permalink.bytesLimit else { return nil }
    if let user = UserID(text) { return user }
    guard let link = Permalink(text), case .user(let user) = link.target else { return nil }
    return user
  }

  /// Words with white space, commas or semicolons between them. A field of one line drops the line breaks of what is pasted, so an
  /// ID may also begin right behind another.
  private static func words(of bytes: [UInt8]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    for part in bytes.split(whereSeparator: isSeparator) {
      var word: [UInt8] = []
      for byte in part {
        if byte == UInt8(ascii: "@"), word.count <= 255, UserID(ByteString(decoding: word)) != nil {
          words.append(word)
          word = []
        }
        word.append(byte)
      }
      words.append(word)
    }
    return words
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x2C || byte == 0x3B }

  private static func trimmed(_ text: ByteString) -> ByteString {
    var bytes = Array(text.utf8.prefix(textLimit))[...]
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    return ByteString(decoding: bytes)
  }
}

extension Client {
  /// People the account has to do with: those of direct chats, the latest first, then members of rooms, those of the latest room
  /// first. Ignored users are left out.
  ///
  /// - Parameter limit: of people.
  package func contacts(limit: Int = PeopleFinder.contactsLimit) -> [PeopleFinder.Person] {
    let joined = roomIDs.compactMap { rooms[$0] }.filter { $0.membership == .join }
      .sorted { $0.state.lastActivity > $1.state.lastActivity }
    var people: [PeopleFinder.Person] = []
    var seen: Set<UserID> = []
    func add(_ user: UserID, of room: Room) {
      guard user != session?.userID, !ignoredUsers.contains(user), seen.insert(user).inserted else { return }
      let member = room.state.members[user]
      people.append(PeopleFinder.Person(user, name: member?.displayName, avatar: member?.avatar))
    }
    for room in joined where people.count < limit { if let user = room.directUserID { add(user, of: room) } }
    for room in joined where !room.isDirect && people.count < limit {
      for user in room.memberIDs where people.count < limit { add(user, of: room) }
    }
    return people
  }
}
