import JSON
import MatrixModel

/// Makes `ClientEvent`s of changes. Each change has to be shown to it right after the input that made it, with `Client.reportsArrivals` on.
public struct ClientEventReader: Sendable {
  /// Rooms of the list; nil before the first sync, whose rooms are not new.
  private var listed: Set<RoomID>?
  private var conversations: Set<RoomID> = []
  private var hidden: Set<RoomID> = []
  private var typing: [RoomID: [UserID]] = [:]
  private var isConnected = false
  private var wasSignedIn = false

  public init(_ client: Client) {
    if client.syncLoop.position.token != nil { look(at: client) }
    if case .running = client.connection { isConnected = true }
    wasSignedIn = client.sessionState == .signedIn
    for (id, room) in client.rooms {
      if !room.typing.isEmpty { typing[id] = room.typing }
      if room.isHidden { hidden.insert(id) }
    }
  }

  private mutating func look(at client: Client) {
    listed = Set(client.roomIDs)
    conversations = listed?.filter { client.isConversation($0) } ?? []
  }

  public mutating func read(_ change: Change, in client: Client) -> [ClientEvent] {
    switch change {
    case .connection: return connectionChanged(client)
    case .session: return sessionChanged(client)
    case .storeFailed: return [.error(.storeFailed)]
    case .room(let id, let aspects): return roomChanged(id, aspects, client)
    case .arrived(let id, let events): return events.compactMap { event($0, in: id, client) } + [.data(id, events)]
    case .receipts(let id, let receipts): return receipts.compactMap { receipt($0, in: id, client) }
    case .accountData(let id?, let events): return events.flatMap { accountDataChanged($0, of: id, client) }
    case .sending(let id, let sending, .sent(let event)): return [.delivery(id, .sent(sending, event))]
    case .sending(let id, let sending, .failed(let error)): return [.delivery(id, .failed(sending, error))]
    default: return []
    }
  }

  // MARK: The account

  private mutating func connectionChanged(_ client: Client) -> [ClientEvent] {
    let wasConnected = isConnected
    isConnected = false
    switch client.connection {
    case .running:
      isConnected = true
      if listed == nil { look(at: client) }
      return wasConnected ? [] : [.connected]
    case .reconnecting(let time): return [.error(.disconnected(retryAtMilliseconds: time))]
    case .offline: return [.error(.offline)]
    case .idle, .connecting, .firstSync: return []
    }
  }

  private mutating func sessionChanged(_ client: Client) -> [ClientEvent] {
    let was = wasSignedIn
    wasSignedIn = client.sessionState == .signedIn
    guard was, !wasSignedIn else { return [] }
    if client.sessionState == .signedOut {
      listed = nil
      conversations = []
      hidden = []
      typing = [:]
    }
    return [.error(.signedOut(client.sessionState))]
  }

  // MARK: Rooms

  private mutating func roomChanged(_ id: RoomID, _ aspects: RoomAspects, _ client: Client) -> [ClientEvent] {
    var events: [ClientEvent] = []
    if aspects.contains(.typing) { events += typingChanged(id, client) }
    guard listed != nil else { return events }
    if aspects.contains(.membership) { events += membershipChanged(id, client) }
    if client.isListed(id) {
      if client.isConversation(id) { conversations.insert(id) } else { conversations.remove(id) }
      let shown = aspects.intersection(.shownInLists)
      if !shown.isEmpty { events.append(.updated(id, shown)) }
    }
    return events
  }

  private mutating func membershipChanged(_ id: RoomID, _ client: Client) -> [ClientEvent] {
    if client.isListed(id) {
      if client.isConversation(id) { conversations.insert(id) }
      return listed?.insert(id).inserted ?? false ? [.started(id)] : []
    }
    guard listed?.remove(id) != nil else { return [] }
    hidden.remove(id)
    guard conversations.remove(id) != nil else { return [.left(id, client.room(id)?.membership ?? .leave)] }
    return conversations.isEmpty ? [.ended(id), .allEnded] : [.ended(id)]
  }

  private mutating func accountDataChanged(_ event: Event, of id: RoomID, _ client: Client) -> [ClientEvent] {
    guard event.type == ClientEventReader.hiddenType else { return [] }
    guard event.content.integer("before") != nil else {
      hidden.remove(id)
      return []
    }
    guard hidden.insert(id).inserted else { return [] }
    let joined = client.roomIDs.filter { client.room($0)?.membership == .join }
    return joined.allSatisfy { hidden.contains($0) } ? [.hidden(id), .allHidden] : [.hidden(id)]
  }

  private static var hiddenType: EventType { "martlet.hidden" }

  // MARK: People

  private mutating func typingChanged(_ id: RoomID, _ client: Client) -> [ClientEvent] {
    let now = client.room(id)?.typing ?? []
    let before = typing.removeValue(forKey: id) ?? []
    if !now.isEmpty { typing[id] = now }
    return before.filter { !now.contains($0) }.map { .typingStopped(id, $0) }
      + now.filter { !before.contains($0) }.map { .typingStarted(id, $0) }
  }

  private func receipt(_ receipt: ReceiptReport, in id: RoomID, _ client: Client) -> ClientEvent? {
    if receipt.user == client.session?.userID { return nil }
    switch receipt.kind {
    case .read, .readPrivately: return .read(id, by: receipt.user, upTo: receipt.event)
    case .delivered: return .delivery(id, .delivered(receipt.event, to: receipt.user))
    }
  }

  // MARK: Events

  private func event(_ event: Event, in id: RoomID, _ client: Client) -> ClientEvent? {
    guard let eventID = event.eventID, let sender = event.sender, let item = event.item else { return nil }
    switch item.content {
    case .state(let change):
      return .system(
        id,
        SystemMessage(
          eventID: eventID, sender: sender, timestampMilliseconds: event.originServerTimestamp ?? 0, change: change))
    case .message(let content):
      let message = RoomMessage(event, eventID, sender, content, replyTo: item.replyTo, for: client.session?.userID)
      let isNotice = event.content["msgtype"]?.isString("m.server_notice") ?? false
      if isNotice || client.room(id)?.isServerNotice ?? false { return .broadcast(id, message) }
      return content.isFile ? .file(id, message) : .message(id, message)
    case .undecryptable:
      return .message(id, RoomMessage(event, eventID, sender, nil, replyTo: nil, for: client.session?.userID))
    case .redacted, .call, .verification, .custom, .unparsable, .gap: return nil
    }
  }
}

extension RoomMessage {
  init(
    _ event: Event, _ eventID: EventID, _ sender: UserID, _ content: MessageContent?, replyTo: EventID?,
    for reader: UserID?
  ) {
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event.originServerTimestamp ?? 0
    self.content = content
    self.replyTo = replyTo
    let relation = event.content["m.relates_to"]
    threadRoot = relation?.isRelation("m.thread") ?? false ? EventID(relation?["event_id"]) : nil
    let mentions = content?.mentions
    mentionsReader = (mentions?.room ?? false) || reader.map { mentions?.users.contains($0) ?? false } ?? false
  }
}

extension MessageContent {
  /// Whether it is there for its file.
  var isFile: Bool {
    switch kind {
    case .image, .video, .audio, .file, .voice, .gallery: true
    case .text, .emote, .notice, .location, .sticker, .unknown, .poll, .liveLocation: false
    }
  }
}

extension RoomAspects {
  /// What a line in a list shows.
  static let shownInLists: RoomAspects = [
    .name, .avatar, .topic, .unread, .preview, .memberCounts, .settings, .membership, .draft
  ]
}

extension Client {
  func isListed(_ id: RoomID) -> Bool {
    guard let room = rooms[id] else { return false }
    return room.membership == .join || room.membership == .invite
  }

  /// Whether people are there because somebody asked them to.
  func isConversation(_ id: RoomID) -> Bool { isListed(id) && rooms[id]?.joinRule != .public }
}
