import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// What rooms are called, and what happened in them.
extension Strings {
  /// Who invites the user, and to what.
  package static func invitation(to room: Room) -> String {
    guard let inviter = room.inviter else { return self[.invitedBySomeone] }
    return self[room.isDirect ? .invitedToChat : .invitedBy, room.displayName(of: inviter).string]
  }

  package static func words(for name: RoomName) -> String {
    switch name {
    case .text(let text): text.string
    case .members(let names, let others):
      list(names.map { $0.string } + (others > 0 ? [self[.others, count: others]] : []))
    case .empty(let names): names.isEmpty ? self[.emptyRoom] : self[.emptyRoomOf, list(names.map { $0.string })]
    }
  }

  /// How many are in a room, and how many are invited.
  package static func memberCount(of room: Room) -> String {
    let members = self[.members, count: room.joinedMemberCount]
    guard room.invitedMemberCount > 0 else { return members }
    return self[.joinedAndInvited, members, self[.invitedCount, count: room.invitedMemberCount]]
  }

  /// Several names in one text.
  package static func list(_ parts: [String]) -> String {
    guard let last = parts.last, var list = parts.first else { return "" }
    if parts.count == 1 { return last }
    for part in parts.dropFirst().dropLast() { list = self[.listed, list, part] }
    return self[.listedLast, list, last]
  }

  /// A time that a room was given, in the largest unit that it is a whole number of.
  package static func words(forMilliseconds time: Int64) -> String {
    let seconds = (time + 999) / 1_000
    if seconds % 3_600 == 0 { return self[.hours, "\(seconds / 3_600)"] }
    return seconds % 60 == 0 ? self[.minutes, "\(seconds / 60)"] : self[.seconds, "\(seconds)"]
  }

  /// What a person is called among others: the first word of the name, and the next one as well behind an abbreviation ("Dr. Blum").
  package static func firstName(_ name: String) -> String {
    var first: [UInt8] = []
    for byte in name.utf8 {
      if byte == 0x20, let last = first.last, last != UInt8(ascii: ".") { break }
      first.append(byte)
    }
    return String(decoding: first, as: UTF8.self)
  }

  /// What stands before a message in a line: "You:", "Boris:".
  package static func prefix(of sender: UserID, in room: Room, isOwn: Bool) -> String {
    if isOwn { return self[.you, ""].trimmed }
    return room.isDirect ? "" : self[.labelled, firstName(room.displayName(of: sender).string), ""].trimmed
  }

  /// A message in a few words.
  package static func short(_ content: MessageContent) -> String {
    switch content.kind {
    case .text, .emote, .notice, .gallery, .poll, .unknown: content.previewText.string
    case .image: self[.image]
    case .sticker: self[.sticker]
    case .video: self[.video]
    case .audio: self[.audio]
    case .voice: self[.voiceMessage]
    case .file: self[.file, of: content.body.string]
    case .location, .liveLocation: self[.location]
    }
  }

  /// A line of a timeline.
  /// - Parameters:
  ///   - sender: who did it.
  ///   - name: the shown name of a member.
  package static func words(for change: StateChange, by sender: String, name: (UserID) -> String) -> String {
    switch change {
    case .joined(let user): self[.joined, name(user)]
    case .left(let user, let reason): because(reason, self[.leftRoom, name(user)])
    case .invited(let user, let reason): because(reason, self[.invitedMember, sender, name(user)])
    case .inviteRejected(let user): self[.inviteRejected, name(user)]
    case .inviteWithdrawn(let user): self[.inviteWithdrawn, sender, name(user)]
    case .kicked(let user, let reason): because(reason, self[.kicked, sender, name(user)])
    case .banned(let user, let reason): because(reason, self[.bannedMember, sender, name(user)])
    case .unbanned(let user): self[.unbanned, sender, name(user)]
    case .knocked(let user, let reason): because(reason, self[.knocked, name(user)])
    case .knockAccepted(let user): self[.knockAccepted, sender, name(user)]
    case .knockDenied(let user, let reason): because(reason, self[.knockDenied, sender, name(user)])
    case .knockWithdrawn(let user): self[.knockWithdrawn, name(user)]
    case .displayNameChanged(let user, let old, let new): renamed(StateChange.formerName(old, of: user), new)
    case .avatarChanged(let user): self[.avatarChanged, name(user)]
    case .thirdPartyInvited(nil): self[.thirdPartyInviteWithdrawn, sender]
    case .thirdPartyInvited(let who?): who.isEmpty ? self[.someoneInvited, sender] : self[.invitedMember, sender, who.string]
    default: aboutRoom(change, sender, name)
    }
  }

  private static func because(_ reason: ByteString?, _ words: String) -> String {
    guard let reason, !reason.isEmpty else { return words }
    return self[.because, words, reason.string]
  }

  private static func renamed(_ old: String, _ new: ByteString?) -> String {
    new.map { self[.renamed, old, $0.string] } ?? self[.nameRemoved, old]
  }

  private static func aboutRoom(_ change: StateChange, _ sender: String, _ name: (UserID) -> String) -> String {
    switch change {
    case .created: self[.roomCreated, sender]
    case .roomNamed(let name): either(.roomNamed, .roomNameRemoved, sender, name)
    case .topicSet(let topic): either(.topicSet, .topicRemoved, sender, topic)
    case .roomAvatarChanged: self[.roomAvatarChanged, sender]
    case .addressSet(let alias): either(.addressSet, .addressRemoved, sender, alias?.text)
    case .alternativeAddressesChanged: self[.addressesChanged, sender]
    case .encryptionEnabled: self[.encryptionEnabled, sender]
    case .joinRuleSet(let rule): self[key(joinRule: rule), sender]
    case .historyVisibilitySet(let visibility): self[key(historyVisibility: visibility), sender]
    case .guestAccessSet(let access): self[access == "can_join" ? .guestsAllowed : .guestsForbidden, sender]
    case .powerLevelsChanged(let changes): power(changes, sender, name)
    case .pinnedEventsChanged(let pinned, let unpinned): self[key(pinned: pinned.count, unpinned: unpinned.count), sender]
    case .serverACLChanged: self[.serverACLChanged, sender]
    case .upgraded: self[.roomUpgraded, sender]
    case .callJoined: self[.joinedCall, sender]
    case .callLeft(let milliseconds, _):
      self[.leftCall, sender] + (milliseconds.map { " (" + ClockText.minutes($0) + ")" } ?? "")
    case .childAdded(let room): self[.childAdded, sender, room.string]
    case .childRemoved(let room): self[.childRemoved, sender, room.string]
    case .parentAdded(let room): self[.parentAdded, sender, room.string]
    case .parentRemoved(let room): self[.parentRemoved, sender, room.string]
    case .ruleSet(let rule):
      because(rule.reason, self[.ruleSet, sender, rule.recommendation.string, rule.entity.string])
    case .ruleRemoved: self[.ruleRemoved, sender]
    default: self[.settingsChanged, sender]
    }
  }

  private static func either(_ set: Key, _ removed: Key, _ sender: String, _ value: ByteString?) -> String {
    value.map { self[set, sender, $0.string] } ?? self[removed, sender]
  }

  private static func key(joinRule: ByteString) -> Key {
    if joinRule == "public" { return .joinPublic }
    if joinRule == "knock" || joinRule == "knock_restricted" { return .joinKnock }
    return joinRule == "restricted" ? .joinRestricted : .joinInvite
  }

  private static func key(historyVisibility: ByteString) -> Key {
    if historyVisibility == "world_readable" { return .historyWorld }
    if historyVisibility == "shared" { return .historyShared }
    if historyVisibility == "invited" { return .historyInvited }
    return historyVisibility == "joined" ? .historyJoined : .historyChanged
  }

  /// - Parameter isOwn: the user has called.
  package static func words(for call: CallSummary, isOwn: Bool = false) -> String {
    switch call.outcome {
    case .open: self[.callMade]
    case .ended(let milliseconds): self[.callMade] + " (" + ClockText.minutes(max(1_000, milliseconds)) + ")"
    case .declined: self[.callMadeDeclined]
    case .unanswered: self[isOwn ? .callMadeNoAnswer : .callMadeUnanswered]
    }
  }

  package static func words(for verification: VerificationSummary) -> String {
    let state: Key =
      switch verification.state {
      case .asked: .verificationWaiting
      case .accepted: .verificationGoesOn
      case .done: .verificationDone
      case .cancelled: .verificationCancelled
      }
    return self[.labelled, self[.verificationRequest], self[state]]
  }

  private static func key(pinned: Int, unpinned: Int) -> Key {
    switch (pinned, unpinned) {
    case (1, 0): .pinned
    case (0, 1): .unpinned
    default: .pinsChanged
    }
  }

  private static func power(_ changes: [PowerChange], _ sender: String, _ name: (UserID) -> String) -> String {
    var parts: [String] = []
    for change in changes {
      guard case .user(let user) = change.subject else { continue }
      parts.append(self[.powerLevel, name(user), level(change.from), level(change.to)])
    }
    return parts.isEmpty ? self[.powerChanged, sender] : self[.powerLevelsChanged, sender, list(parts)]
  }

  /// The role that a level stands for; other levels as they are.
  private static func level(_ level: Int64?) -> String {
    let level = level ?? 0
    let roles: [RoomRole] = [.user, .moderator, .administrator]
    return roles.first { $0.suggestedLevel == level }.map { words(for: $0) } ?? self[.roleOfLevel, "\(level)"]
  }

  package static func words(for role: RoomRole) -> String {
    switch role {
    case .muted: self[.roleMuted]
    case .user: self[.roleMember]
    case .moderator: self[.roleModerator]
    case .administrator: self[.roleAdministrator]
    case .creator: self[.roleCreator]
    }
  }
}
