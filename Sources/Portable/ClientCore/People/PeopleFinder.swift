import EventContent
import JSON
import MatrixModel

/// Finds people by a few letters of a name or ID, and keeps those who were chosen: what is behind every place where people are picked, also
/// where a member is named in a message.
///
/// Direct chats stand first, the latest at the top, then members of shared rooms, then the server's directory. Within each, a name
/// that has a word with these first letters stands before one that has them elsewhere. Those who cannot be chosen stand at the end.
package struct PeopleFinder: Sendable {
  package struct Person: Sendable, Equatable {
    package let userID: UserID
    package let name: ByteString
    package let avatar: MediaURI?

    package init(_ userID: UserID, name: ByteString?, avatar: MediaURI? = nil) {
      self.init(userID, shownAs: Member.shownName(name, of: userID), avatar: avatar)
    }

    /// - Parameter name: without what could mislead, such as `Room.displayName(of:)` is.
    package init(_ userID: UserID, shownAs name: ByteString, avatar: MediaURI? = nil) {
      self.userID = userID
      self.name = name
      self.avatar = avatar
    }

    /// Whether there is more to call them by than the ID.
    package var isNamed: Bool { name != userID.text }

    /// What the eye sees of the name: people with the same are told apart by their IDs.
    package var visibleName: ByteString { ShownName.visible(name) }
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
      name = FoldedText(person.visibleName)
      localpart = FoldedText(ByteString(decoding: person.userID.text.utf8.dropFirst().prefix { $0 != UInt8(ascii: ":") }))
    }
  }

  /// How many people have a name.
  private struct Bearers: Sendable {
    var count = 0
    /// The one of them; nil if that is not known.
    var only: UserID?

    mutating func add(_ user: UserID) {
      count += 1
      only = count == 1 ? user : nil
    }

    mutating func removeOne() {
      count -= 1
      only = nil
    }
  }

  /// People offered at once.
  package static var shownLimit: Int { 8 }
  /// People known without asking the server.
  package static var contactsLimit: Int { 2_000 }
  /// Members of a room that are known.
  package static var membersLimit: Int { 50_000 }
  /// People the directory named that are kept while the picker is open.
  package static var directoryLimit: Int { 500 }
  package static var chosenLimit: Int { 100 }
  /// Bytes that are read of what was typed or pasted.
  package static var textLimit: Int { 16_384 }
  /// Bytes of a name that are looked for.
  package static var termLimit: Int { 255 }

  package private(set) var chosen: [Person] = []
  /// People who are found at once.
  package var foundLimit = PeopleFinder.shownLimit
  /// People who are looked at when what is looked for changes; `lookOn` goes on with the others.
  package var lookedAtOnce = Int.max
  /// Those who stand before others that fit as well, the first of them first.
  package var preferred: [UserID] = []
  /// Counts what was typed: an answer to an earlier question comes too late.
  package private(set) var version = 0
  private var text = ByteString("")
  private var candidates: [Candidate] = []
  private var known: Set<UserID> = []
  /// So many of the candidates have been looked at.
  private var looked = 0
  /// By what the eye sees of their names.
  private var bearers: [FoldedText: Bearers] = [:]
  /// Those who fit, the best first.
  private var best: [(rank: Int, person: Person)] = []
  /// The directory's answer to what is typed now; its own idea of what fits counts.
  private var answered: [UserID] = []
  private let own: UserID?
  private let present: Set<UserID>
  private let candidatesLimit: Int
  private let chosenLimit: Int

  /// - Parameters:
  ///   - own: never offered.
  ///   - contacts: the best first; those behind `limit` are left to the directory.
  ///   - present: offered, but not to be chosen: they are in the room already.
  package init(
    own: UserID?, contacts: [Person] = [], present: [UserID] = [], limit: Int = PeopleFinder.contactsLimit,
    chosenLimit: Int = PeopleFinder.chosenLimit
  ) {
    self.own = own
    self.present = Set(present)
    self.chosenLimit = chosenLimit
    candidatesLimit = limit
    add(contacts)
  }

  // MARK: Who is known

  /// People who are known by now; those known before stay as they are. O(people).
  package mutating func add(_ people: [Person]) {
    let sought = Sought(self)
    for person in people where candidates.count < candidatesLimit { add(person, source: 0, sought) }
  }

  private mutating func add(_ person: Person, source: Int, _ sought: Sought) {
    guard person.userID != own, known.insert(person.userID).inserted else { return }
    let candidate = Candidate(person, source: source)
    candidates.append(candidate)
    bearers[candidate.name, default: Bearers()].add(person.userID)
    // Else its turn comes.
    guard looked == candidates.count - 1 else { return }
    looked += 1
    consider(candidate, sought)
  }

  /// They are somebody else by now, or have gone. O(candidates).
  package mutating func forget(_ users: [UserID]) {
    let gone = Set(users.filter { known.remove($0) != nil })
    guard !gone.isEmpty else { return }
    candidates.removeAll { candidate in
      guard gone.contains(candidate.person.userID) else { return false }
      bearers[candidate.name]?.removeOne()
      return true
    }
    find()
  }

  /// Everybody who is known, in the order in which they came. O(candidates).
  package var people: [Person] { candidates.map { $0.person } }

  /// Whether somebody else goes by a name that looks the same, so that only the ID tells them apart.
  package func sharesName(_ person: Person) -> Bool {
    guard person.isNamed else { return false }
    let name = FoldedText(person.visibleName)
    guard let all = bearers[name], all.count == 1 else { return bearers[name]?.count ?? 0 > 1 }
    if let only = all.only { return only != person.userID }
    return candidates.contains { $0.name == name && $0.person.userID != person.userID }
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
    let sought = Sought(self)
    for person in people.prefix(PeopleFinder.shownLimit) {
      answered.append(person.userID)
      if candidates.count < candidatesLimit + PeopleFinder.directoryLimit { add(person, source: 1, sought) }
    }
    find()
    return true
  }

  // MARK: Choosing

  /// Ignores the account's own user, people who are there already and those who were chosen before.
  package mutating func choose(_ user: UserID) {
    guard user != own, !isPresent(user), chosen.count < chosenLimit,
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

  /// As they are known; else nothing but the ID. O(candidates).
  package func person(_ user: UserID) -> Person {
    candidates.first { $0.person.userID == user }?.person ?? Person(user, name: nil)
  }

  // MARK: Finding

  /// What is looked for.
  private struct Sought {
    /// Somebody whose ID was written to its end.
    let exact: UserID?
    let term: FoldedText
    /// The beginning of an ID, which goes on behind the colon; nil if there is no ID.
    let start: ByteString?

    init(_ finder: PeopleFinder) {
      let text = finder.term ?? ""
      exact = PeopleFinder.user(in: finder.text)
      term = FoldedText(term: text)
      start = text.utf8.contains(UInt8(ascii: ":")) ? text : nil
    }
  }

  /// The people who fit, the best first.
  package var found: [Person] {
    guard let exact = PeopleFinder.user(in: text) else { return best.map { $0.person } }
    return exact == own || chosen.contains { $0.userID == exact } ? [] : [person(exact)]
  }

  /// Begins anew. O(lookedAtOnce).
  private mutating func find() {
    best = []
    looked = 0
    lookOn()
  }

  /// Whether everybody who is known has been looked at.
  package var hasLookedAtAll: Bool { looked == candidates.count }

  /// Looks at the next of them. O(lookedAtOnce).
  package mutating func lookOn() {
    let sought = Sought(self)
    let end = looked + min(lookedAtOnce, candidates.count - looked)
    if sought.exact == nil { for index in looked..<end { consider(candidates[index], sought) } }
    looked = end
  }

  /// Takes a place among the best, behind those who fit as well.
  private mutating func consider(_ candidate: Candidate, _ sought: Sought) {
    guard sought.exact == nil, let fit = fit(candidate, sought) else { return }
    let user = candidate.person.userID
    // Behind everybody who can be chosen.
    let place = candidate.source * 2 + fit + (isPresent(user) ? 4 : 0)
    var rank = place * (preferred.count + 1)
    if best.count == foundLimit, let last = best.last, last.rank <= rank { return }
    guard !chosen.contains(where: { $0.userID == user }) else { return }
    rank += preferred.firstIndex(of: user) ?? preferred.count
    best.insert((rank, candidate.person), at: best.firstIndex { rank < $0.rank } ?? best.count)
    if best.count > foundLimit { best.removeLast() }
  }

  /// 0 for the first letters of a word or of the ID, 1 for letters elsewhere; nil if neither the name nor the ID has them.
  private func fit(_ candidate: Candidate, _ sought: Sought) -> Int? {
    if let start = sought.start, candidate.person.userID.text.utf8.dropFirst().starts(with: start.utf8) { return 0 }
    let name = candidate.name.match(sought.term)
    if name == .wordPrefix { return 0 }
    let localpart = candidate.localpart.match(sought.term)
    if localpart == .wordPrefix { return 0 }
    if name == .substring || localpart == .substring { return 1 }
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
  /// As the first room that knows a name of theirs shows them. O(rooms).
  package func person(_ user: UserID) -> PeopleFinder.Person {
    for id in roomIDs {
      guard let member = rooms[id]?.state.members[user], member.displayName != nil else { continue }
      return PeopleFinder.Person(user, name: member.displayName, avatar: member.avatar)
    }
    return PeopleFinder.Person(user, name: nil)
  }

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
      // Those who are offered before anything is typed are the same each time, with the last speaker at the top.
      let members = room.state.members
      let spoke = [room.state.preview?.sender].compactMap { $0 }.filter { members[$0]?.isPresent ?? false }
      let first = session.map { members.first(PeopleFinder.shownLimit, except: $0.userID) } ?? []
      for user in spoke + first + room.memberIDs where people.count < limit { add(user, of: room) }
    }
    return people
  }
}
