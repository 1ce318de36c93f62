import JSON
import MatrixModel

/// What a person can ask for.
public indirect enum Command: Sendable {
  // Session
  /// Asks the server how one can log in and register; `SignIn` then says.
  case loadFlows
  /// - deviceID: of the device to go on with; nil for a new one, or after a soft logout the one before.
  case logIn(Login, deviceID: DeviceID? = nil)
  /// `token` is used where the server asks for a registration token; without one `SignIn.needsRegistrationToken` turns true.
  /// A stage that only a person can go through ends it with `authenticationNeeded`; `continueRegistration` goes on.
  case register(username: ByteString, password: ByteString, token: ByteString?)
  /// The next stage of the registration that ended with `authenticationNeeded`.
  case continueRegistration(AuthenticationStage)
  /// An account without a name or password. Spec: "Guest Access".
  case registerGuest
  /// Goes on with a login made elsewhere.
  case restore(Session)
  case logOut
  /// Ends the sessions of all devices.
  case logOutEverywhere

  // Reading
  /// Loads the timeline from the store and keeps it until other rooms push it out.
  case openRoom(RoomID)
  case closeRoom(RoomID)
  /// Opens a timeline until `closeTimeline`. Around an event and in a thread it ends when the first events are there.
  case openTimeline(TimelineKey)
  case closeTimeline(TimelineKey)
  /// Older events in front of the first item. Nothing happens at the start of the room or while a page is under way.
  case paginateBack(TimelineKey)
  /// Newer events behind the last item. Nothing happens where it is live or while a page is under way.
  case paginateForward(TimelineKey)
  /// The gap is on the screen.
  case fillGap(TimelineKey, ItemID)
  /// What a reply answers, for `TimelineItem.quoted`: from memory, from the server where it is not there.
  case loadReply(TimelineKey, ItemID)
  /// The event as the server has it; ends in `CommandResult.event`. A second time without a request.
  case loadEvent(RoomID, EventID)
  /// The first event at or after that time, in milliseconds since 1970; ends in `CommandResult.timeline`, which is open.
  case jumpToDate(RoomID, Int64)
  /// The whole member list.
  case loadMembers(RoomID)
  /// The last item that is fully on the screen. Counts as read once the window has the focus.
  case viewed(RoomID, upTo: ItemID)

  // Writing
  case send(RoomID, OutgoingMessage)
  /// A failed message once more.
  case retry(RoomID, ItemID)
  /// Takes back what is not sent yet: nothing happens when it is.
  case cancel(RoomID, ItemID)
  case redact(RoomID, ItemID, reason: ByteString?)

  // Sending
  /// New text, or a new caption where the target is a file. What has not gone out yet is changed in place. Fails with `notAllowed` for
  /// messages of others.
  case edit(RoomID, SendTarget, FormattedText)
  /// New content as a whole: a poll, an event of one's own type. Files cannot be exchanged.
  case replace(RoomID, SendTarget, OutgoingMessage)
  /// Reacts, or takes the own reaction of that kind back; counts what is on its way.
  case toggleReaction(RoomID, SendTarget, key: ByteString)
  /// Removes the content. `relationTypes` (`m.replace`, `m.thread`, `*` for all): related events that go with it, on servers that do so
  /// (MSC3912). What has not gone out yet is cancelled. Ends when the server has done it.
  case redactEvent(RoomID, SendTarget, reason: ByteString?, relationTypes: [ByteString])
  /// IDs of answers. The last vote counts; none takes the vote back.
  case vote(RoomID, poll: SendTarget, answers: [ByteString])
  /// `text` is what clients show that do not know polls.
  case endPoll(RoomID, poll: SendTarget, text: ByteString)
  /// Begins to share where one is, or ends it where `isLive` is false.
  case setBeacon(RoomID, BeaconInfo)
  /// Where one is now; `info` is the event that began it.
  case sendBeacon(RoomID, info: SendTarget, geoURI: ByteString, description: ByteString?)
  /// Fails with `notAllowed` where the own power level does not suffice, without asking the server where that is known.
  case pin(RoomID, EventID)
  case unpin(RoomID, EventID)
  /// A failed entry once more, with what waits for it.
  case retrySend(SendID)
  /// Like `cancel`.
  case cancelSend(SendID)
  /// Everything failed once more; nil for all rooms.
  case retryAll(RoomID?)
  /// While off, messages wait; nil for all rooms. On at the start.
  case setSending(RoomID?, isEnabled: Bool)
  /// What stands in the composer; empty where nothing does. Also drives the typing notification.
  case setDraft(RoomID, ByteString)
  /// The same with what it answers or edits, in the room or in a thread of it. An empty one is none.
  case saveDraft(RoomID, thread: EventID?, Draft)

  // Rooms
  case createRoom(NewRoom)
  /// The room of the direct chat with that user, made where there is none. Fails with `invalidUserID`.
  case openDirectChat(with: ByteString)
  case invite(RoomID, user: ByteString)
  /// A room ID or alias; servers that may know the room.
  case join(ByteString, via: [ServerName] = [], reason: ByteString? = nil)
  case leave(RoomID)
  case forget(RoomID)
  case kick(RoomID, UserID, reason: ByteString?)
  case ban(RoomID, UserID, reason: ByteString?)
  case unban(RoomID, UserID)
  case setRoomName(RoomID, ByteString)
  case setRoomTopic(RoomID, ByteString)

  // Room list
  /// Puts the tag on the room, or gives it another order.
  case setTag(RoomID, RoomTag)
  case removeTag(RoomID, ByteString)
  /// Marks the room as unread, for later, from behind an event on where there is one, or takes that back, which reading it does as well.
  case markUnread(RoomID, Bool, after: EventID? = nil)
  /// Removes a message from the timelines of this account, on all its devices; for others it stays.
  case removeForMe(RoomID, EventID)
  /// Keeps a list up to date until `closeRoomList`. One that is open under the ID gives way to it.
  case openRoomList(RoomListID, RoomListQuery)
  case closeRoomList(RoomListID)
  /// The next page of a section is wanted.
  case growRoomList(RoomListID, RoomListSection)
  /// Somebody goes to the room: it becomes the first of `Client.breadcrumbs`.
  case visitRoom(RoomID)
  /// Makes the room the direct chat with that user, or with nobody, in `m.direct`.
  case setDirect(RoomID, with: UserID?)

  // Spaces
  /// Puts the room into the space, or changes how it stands there. Fails with `notAllowed` where the own power level does not suffice.
  case setSpaceChild(RoomID, in: RoomID, SpaceChildChange)
  case removeSpaceChild(RoomID, from: RoomID)
  /// Says in the room that it belongs to the space.
  case setSpaceParent(RoomID, of: RoomID, isCanonical: Bool)
  case removeSpaceParent(RoomID, of: RoomID)

  // Sync
  /// Ends every request and timer until `resume`, for an app that goes to rest. Messages wait; who waits for an answer learns that it
  /// was `cancelled`.
  case pause
  case resume

  // Notifications
  /// Ends when the server has all of it. Fails with `invalidContent` for what is no keyword.
  case changeNotifications(NotificationChange)

  // People
  /// The level of one user; nil for that of everybody whom nobody gave one. What else the event says stays. Fails with `notAllowed` where
  /// one may not.
  case setPowerLevel(RoomID, of: UserID, to: Int64?)
  /// The level that one needs for something; otherwise like `setPowerLevel`.
  case setRequiredLevel(RoomID, PowerSubject, to: Int64)
  /// From now on nothing of theirs is shown but what changes the room, or it is shown again.
  case setIgnored(UserID, Bool)
  /// Tells that one is writing, again and again as long as one is, or no longer.
  case setTyping(RoomID, Bool)
  /// Tells whether one is there, now and with every sync.
  case setPresence(Presence, message: ByteString?)
  /// Everything there has been read; nil for all rooms.
  case markRead(RoomID?)
  /// Why the room counts as unread; ends in `CommandResult.unread`. Asks no server.
  case explainUnread(RoomID)
  /// Whether the server is told what has reached this device, where it passes that on (`martlet.delivered`). Off at the start.
  case setDeliveryReceipts(Bool)

  // Store
  /// Everything a sync brings comes anew; the login, messages on their way and drafts stay.
  case startAfresh

  // Account
  case setDisplayName(ByteString)
  /// Uploads the picture, then names it in the profile.
  case setAvatar(BlobHandle, mimeType: ByteString)
  /// `content` is a JSON object.
  case setAccountData(EventType, content: [UInt8])
  /// Whether others see how far one has read (`m.read`) or not (`m.read.private`).
  case setPublicReceipts(Bool)
  /// Whether others see that one is writing. On at the start.
  case setTypingNotices(Bool)
}

extension Command {
  /// `user` is a localpart or a whole user ID.
  public static func logIn(user: ByteString, password: ByteString) -> Command {
    .logIn(.password(password, user: .user(user)))
  }
}

/// What a new room is like.
public struct NewRoom: Sendable {
  public enum Preset: Sendable { case privateChat, trustedPrivateChat, publicChat }

  public var preset: Preset
  public var name: ByteString?
  public var topic: ByteString?
  /// Localpart of the alias to make, without `#` and server.
  public var aliasLocalpart: ByteString?
  public var invited: [UserID]
  /// `m.space` for a space (`NewRoom.space`); nil for a plain room.
  public var type: ByteString?

  public init(
    preset: Preset = .privateChat, name: ByteString? = nil, topic: ByteString? = nil, aliasLocalpart: ByteString? = nil,
    invited: [UserID] = []
  ) {
    self.preset = preset
    self.name = name
    self.topic = topic
    self.aliasLocalpart = aliasLocalpart
    self.invited = invited
  }
}

/// How a command ended.
public indirect enum CommandResult: Sendable {
  case done
  /// The room that was made, joined or found.
  case room(RoomID)
  case event(EventSource)
  case unread(UnreadEvidence)
  /// A timeline that is open now.
  case timeline(TimelineKey)
  /// It is in the outbox under that ID; `Change.sending` tells how it goes on.
  case queued(SendID)
  case failed(ClientError)
}

/// Why something did not happen.
public indirect enum ClientError: Error, Sendable {
  /// No answer from the server.
  case network
  /// The server refused it.
  /// - retryAfterMilliseconds: how long to wait, where it said so. Spec: "Rate limiting".
  case refused(status: Int, code: ErrorCode, message: ByteString, retryAfterMilliseconds: Int64? = nil)
  /// The server wants to be surer of who asks. Spec: "User-interactive authentication API".
  case authenticationNeeded(InteractiveAuthentication)
  /// The file is larger than the server takes.
  case tooLarge(limitBytes: Int64)
  /// No homeserver was found there.
  case noHomeserver(DiscoveryError)
  /// The server's certificate is not trusted.
  case untrustedServer
  /// Whoever asked has stopped waiting for it.
  case cancelled
  /// The answer was not what the spec says.
  case badAnswer
  /// Not `@localpart:server`.
  case invalidUserID
  /// Neither a room ID nor an alias.
  case invalidRoomAddress
  /// One cannot chat with oneself.
  case ownUserID
  case unknownRoom
  case notSignedIn
  /// As that user: log out first, or use another store.
  case alreadySignedIn(UserID)
  /// The server wants a way of signing in that this client does not have.
  case unsupportedFlow
  /// The server registers only people with a token; ask for one and register again.
  case registrationTokenNeeded
  /// Too many messages wait already.
  case outboxIsFull
  /// What is kept on this device cannot be read; nothing was asked.
  case storeUnavailable(reason: ByteString)
  /// The file of an attachment is no longer there.
  case attachmentIsGone

  // Sending
  /// What it speaks of could not be sent; it is tried again together with that.
  case targetFailed
  /// The event is not known here, nor on its way.
  case unknownEvent
  /// One may not do that in this room.
  case notAllowed
  /// The content is not what its kind asks for.
  case invalidContent
}
