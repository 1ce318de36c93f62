import Messenger
import WebHost

/// Every text the program says. The words are in the files `Web/texts.LANGUAGE.txt`, of which the host brings one.
enum Strings {
  /// As they stand in those files.
  enum Key: Int, CaseIterable, Sendable {
    case product, device
    // Tabs
    case openElsewhere, takenOver, useHere
    // Signing in
    case welcome, welcomeNote, signIn, createAccount, signingIn, creatingAccount, signInAgain, userName, userNameHint,
      newUserNameHint, password, newPasswordHint, showPassword, hidePassword, token, tokenHint, serverIs, change,
      serverAddress, serverAddressHint, use, checkingServer, serverUnreachable, serverAddressWrong, registrationClosed,
      registrationUnsupported, passwordLoginUnsupported, userNameMissing, userNameWrong, passwordMissing, passwordShort,
      tokenMissing, tokenWrong, signInWrong
    // Connection
    case offline, noAnswer, nextTry, tryingAgain, connecting, storeFailed
    // Rooms
    case conversations, newConversation, filter, noMatch, noRooms, noRoomsNote, loadingRooms, pickRoom, pickRoomNote,
      profile, invitation, draft, noMessages, typingShort, severalTyping, you, unread, image, video, audio, file, location,
      removedMessage, encryptedMessage
    // Room
    case back, details, members, openingRoom, returning, toLatest, invitedBy, invitedToChat, invitedBySomeone, accept,
      decline, joining, left, banned, unknownRoom, join, forget, encrypted, upgraded, goToNewRoom, dropHere, copyText,
      delete, discard, retry, copied, cancelSending, deleteQuestion
    // Details
    case about, roomName, topic, noTopic, edit, save, saving, cancel, close, people, invite, inviting, inviteTitle,
      inviteHint, invited, isInvited, isYou, loadingMembers, moreMembers, leave, leaveQuestion, leaveNote, leaving, address,
      copy, message, remove, removeQuestion, removing
    // New conversation
    case directChat, newRoom, joinRoom, userID, userIDHint, startChat, starting, createRoom, creating, roomNameMissing,
      topicOptional, inviteOptional, inviteManyHint, anyoneMayJoin, aliasHint, aliasName, aliasMissing, aliasWrong,
      joinAddress, joinAddressHint, notUserID
    // Profile
    case displayName, displayNameHint, changePicture, uploadingPicture, notPicture, privateReceipts, logOut, logOutQuestion,
      logOutNote, loggingOut
    // Image
    case download, downloadFailed, imageNamed
    // What went wrong
    case serverSilent, answerSenseless, userIDWrong, roomAddressWrong, ownUserID, notSignedIn, tooLarge, noHomeserver,
      serverUntrusted, stopped, outboxFull, targetFailed, messageGone, notAllowed, cannotBeSent, fileGone, userNameTaken,
      nameReserved, accountClosed, accountLocked, tooManyTries, roomAddressTaken, notKnown, serverInTrouble, refused
    // Rooms without a name
    case listed, listedLast, others, emptyRoom, emptyRoomOf
    // Messages
    case newMessagesDivider, newMessages, timeline, startOfHistory, loading, loadingFailed, gap, sending, queued, notSent,
      edited, undecryptable, unsupported, unreadMembers, typing, openImage, openVideo, uploading, play, pause, seek,
      playbackRate, liveLocation, poll, votes, pollVoters, pollEnded, spoiler, spoilerAbout, replyToMessage, replyTo,
      replies, addReaction, reaction, reactionBy, readBy, sent, delivered, read, endOfHistory, composerPlaceholder, attach,
      send, charactersLeft, charactersOver
    // What happened in a room; {0} did it
    case because, joined, leftRoom, invitedMember, inviteRejected, inviteWithdrawn, kicked, bannedMember, unbanned, knocked,
      knockAccepted, knockDenied, knockWithdrawn, renamed, nameRemoved, avatarChanged, someoneInvited,
      thirdPartyInviteWithdrawn, roomCreated, roomNamed, roomNameRemoved, topicSet, topicRemoved, roomAvatarChanged,
      addressSet, addressRemoved, addressesChanged, encryptionEnabled, joinPublic, joinKnock, joinRestricted, joinInvite,
      historyWorld, historyShared, historyInvited, historyJoined, historyChanged, guestsAllowed, guestsForbidden,
      powerChanged, powerLevelsChanged, powerLevel, defaultLevel, pinned, unpinned, pinsChanged, serverACLChanged,
      roomUpgraded, childAdded, childRemoved, parentAdded, parentRemoved, ruleSet, ruleRemoved, settingsChanged
  }

  private static let table = StringTable(Host.texts)

  static subscript(key: Key) -> String { words(key, 0, []) }
  static subscript(key: Key, argument: String) -> String { words(key, 0, [argument]) }
  static subscript(key: Key, first: String, second: String) -> String { words(key, 0, [first, second]) }
  static subscript(key: Key, first: String, second: String, third: String) -> String { words(key, 0, [first, second, third]) }
  /// In the form that the language has for that number.
  static subscript(key: Key, count count: Int) -> String { words(key, Host.pluralForm(of: count), ["\(count)"]) }

  private static func words(_ key: Key, _ form: Int, _ arguments: [String]) -> String {
    #if !hasFeature(Embedded)
      // Without a page there are no words: tests see the names.
      if table.count == 0 { return (["\(key)"] + arguments).joined(separator: " ") }
    #endif
    return table.words(key.rawValue, form: form, arguments)
  }

  /// What the messenger says.
  static var phrases: Phrases {
    var phrases = Phrases()
    phrases.newMessagesDivider = self[.newMessagesDivider]
    phrases.newMessagesBadge = { self[.newMessages, count: $0] }
    phrases.jumpToEnd = self[.toLatest]
    phrases.timeline = self[.timeline]
    phrases.startOfHistory = self[.startOfHistory]
    phrases.loading = self[.loading]
    phrases.loadingFailed = self[.loadingFailed]
    phrases.gap = self[.gap]
    phrases.retry = self[.retry]
    phrases.cancel = self[.discard]
    phrases.sending = self[.sending]
    phrases.queued = self[.queued]
    phrases.failed = self[.notSent]
    phrases.edited = self[.edited]
    phrases.redacted = self[.removedMessage]
    phrases.undecryptable = self[.undecryptable]
    phrases.unsupported = self[.unsupported]
    phrases.unreadMembers = { self[.unreadMembers, count: $0] }
    phrases.typing = { self[.typing, $0] }
    phrases.openImage = { self[.openImage, $0] }
    phrases.openVideo = { self[.openVideo, $0] }
    phrases.uploading = self[.uploading]
    phrases.play = self[.play]
    phrases.pause = self[.pause]
    phrases.seek = self[.seek]
    phrases.playbackRate = self[.playbackRate]
    phrases.copyCode = self[.copy]
    phrases.location = self[.location]
    phrases.liveLocation = self[.liveLocation]
    phrases.poll = { self[.poll, $0] }
    phrases.votes = { self[.votes, count: $0] }
    phrases.pollVoters = { self[.pollVoters, count: $0] }
    phrases.pollEnded = { self[.pollEnded, count: $0] }
    phrases.spoiler = { $0.utf8.isEmpty ? self[.spoiler] : self[.spoilerAbout, $0] }
    phrases.replyTo = { $0.utf8.isEmpty ? self[.replyToMessage] : self[.replyTo, $0] }
    phrases.replies = { self[.replies, count: $0] }
    phrases.addReaction = self[.addReaction]
    phrases.reaction = { key, count, people in
      people.utf8.isEmpty ? self[.reaction, key, "\(count)"] : self[.reactionBy, key, "\(count)", people]
    }
    phrases.readBy = { self[.readBy, count: $0] }
    phrases.sent = self[.sent]
    phrases.delivered = self[.delivered]
    phrases.read = self[.read]
    phrases.newMessages = { self[.newMessages, count: $0] }
    phrases.endOfHistory = self[.endOfHistory]
    phrases.closeChat = self[.close]
    phrases.composerPlaceholder = self[.composerPlaceholder]
    phrases.attach = self[.attach]
    phrases.send = self[.send]
    phrases.remainingLength = { $0 < 0 ? self[.charactersOver, count: -$0] : self[.charactersLeft, count: $0] }
    return phrases
  }
}
