import MatrixClient

extension Peer {
  /// `{"id": 1, "do": "send", "text": "Hello"}`: `do` is the name of the case, the other members those of its values.
  enum Command: Sendable {
    case send(String)
    case edit(EventID, String)
    case react(EventID, key: String)
    /// The sender of what it answers is told.
    case reply(EventID, mentioning: UserID?, String)
    case thread(EventID, String)
    case redact(EventID)
    case typing(Bool)
    case name(String)
    /// Everything.
    case readAll
    /// By a receipt, of a thread where there is a root.
    case read(EventID, threadRoot: EventID?)
    /// By having it on the screen.
    case viewed(EventID)
    case join, leave
    case invite(UserID)
    case kick(UserID)
    case ban(UserID)
    case unban(UserID)
    /// What failed, once more.
    case retry
    /// What the operating system says of the network.
    case network(Bool)
    case rest(Bool)
    /// The clock is that many milliseconds fast from now on.
    case clock(Int64)
    /// What it believes, see `Report`.
    case report(since: EventID?, threads: [EventID])
    case stop
    /// What views show of encryption.
    case encryption
    /// Answers with the recovery key.
    case setUpRecovery(passphrase: String?)
    case recover(String)
    case resetIdentity(password: String)
    /// Answers with the room.
    case direct(UserID)
    /// Likewise, of a room of its own.
    case create(isPublic: Bool)
    /// Answers with the devices of a user that are verified, and the others.
    case devices(UserID)
    /// The keys that the user has by now.
    case accept(UserID)
    /// Asks the user in the room, and says that all is the same. Answers with the end.
    case verify(UserID)
    /// Likewise, of what the other side asks next.
    case takePart
    /// The file at a path of this machine, which stays there.
    case attach(String)
    /// Answers with the size of the event's file, once it is here.
    case file(EventID)

    init?(_ json: JSON) {
      let event = EventID(json["event"])
      let user = UserID(json["user"])
      let text = json["text"]?.string ?? ""
      let isOn = json["on"]?.bool ?? false
      switch (json["do"]?.string ?? "", event, user) {
      case ("send", _, _): self = .send(text)
      case ("edit", let event?, _): self = .edit(event, text)
      case ("react", let event?, _): self = .react(event, key: text)
      case ("reply", let event?, _): self = .reply(event, mentioning: user, text)
      case ("thread", let event?, _): self = .thread(event, text)
      case ("redact", let event?, _): self = .redact(event)
      case ("typing", _, _): self = .typing(isOn)
      case ("name", _, _): self = .name(text)
      case ("readAll", _, _): self = .readAll
      case ("read", let event?, _): self = .read(event, threadRoot: EventID(json["root"]))
      case ("viewed", let event?, _): self = .viewed(event)
      case ("join", _, _): self = .join
      case ("leave", _, _): self = .leave
      case ("invite", _, let user?): self = .invite(user)
      case ("kick", _, let user?): self = .kick(user)
      case ("ban", _, let user?): self = .ban(user)
      case ("unban", _, let user?): self = .unban(user)
      case ("retry", _, _): self = .retry
      case ("network", _, _): self = .network(isOn)
      case ("rest", _, _): self = .rest(isOn)
      case ("clock", _, _): self = .clock(json["error"]?.integer ?? 0)
      case ("report", _, _):
        let threads = (json["threads"]?.elements).map { Array($0) } ?? []
        self = .report(since: EventID(json["since"]), threads: threads.compactMap { EventID($0) })
      case ("stop", _, _): self = .stop
      case ("encryption", _, _): self = .encryption
      case ("setUpRecovery", _, _): self = .setUpRecovery(passphrase: json["passphrase"]?.string)
      case ("recover", _, _): self = .recover(text)
      case ("resetIdentity", _, _): self = .resetIdentity(password: text)
      case ("direct", _, let user?): self = .direct(user)
      case ("create", _, _): self = .create(isPublic: json["public"]?.bool ?? false)
      case ("devices", _, let user?): self = .devices(user)
      case ("accept", _, let user?): self = .accept(user)
      case ("verify", _, let user?): self = .verify(user)
      case ("takePart", _, _): self = .takePart
      case ("attach", _, _): self = .attach(json["path"]?.string ?? "")
      case ("file", let event?, _): self = .file(event)
      default: return nil
      }
    }
  }
}
