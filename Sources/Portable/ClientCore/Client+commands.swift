import JSON
import MatrixModel

extension Client {
  mutating func handle(_ command: Command, _ id: CommandID) {
    switch command {
    case .loadFlows: loadFlows(id)
    case .logIn(let login, let device): logIn(login, deviceID: device, id)
    case .register(let username, let password, let token):
      register(username: username, password: password, token: token, id)
    case .continueRegistration(let stage): continueRegistration(stage, id)
    case .registerGuest: registerGuest(id)
    case .restore(let session): restore(session, id)
    // A list may be there before the rooms are.
    case .openRoomList, .closeRoomList, .growRoomList: handleLists(command, id)
    default:
      guard sessionState == .signedIn || sessionState == .softLoggedOut, session != nil else {
        return finish(id, .failed(.notSignedIn))
      }
      handleSignedIn(command, id)
    }
  }

  private mutating func handleSignedIn(_ command: Command, _ id: CommandID) {
    switch command {
    case .loadFlows, .logIn, .register, .continueRegistration, .registerGuest, .restore: break
    case .logOut: logOut(id)
    case .logOutEverywhere: logOutEverywhere(id)
    case .openRoom(let room): openRoom(room, id)
    case .closeRoom(let room): closeRoom(room, id)
    case .openTimeline(let key): openTimeline(key, id)
    case .closeTimeline(let key): closeTimeline(key, id)
    case .paginateBack(let key): paginateBack(key, id)
    case .paginateForward(let key): paginateForward(key, id)
    case .fillGap(let key, let item): fillGap(key, item, id)
    case .loadReply(let key, let item): loadReply(item, in: key, id)
    case .loadEvent(let room, let event): loadEvent(event, in: room, id)
    case .jumpToDate(let room, let time): jumpToDate(time, in: room, id)
    case .loadMembers(let room): loadMembers(room, id)
    case .viewed(let room, let item): viewed(room, upTo: item, id)
    case .send(let room, let message): send(message, to: room, id)
    case .retry(let room, let item): retry(item, in: room, id)
    case .cancel(let room, let item): cancel(item, in: room, id)
    case .redact(let room, let item, let reason): redact(.item(item), in: room, reason: reason, relationTypes: [], id)
    case .setDraft(let room, let text): setDraft(text, in: room, id)
    case .saveDraft(let room, let thread, let draft): setDraft(draft, in: room, thread: thread, id)
    case .setPublicReceipts(let isPublic):
      sendsPublicReceipts = isPublic
      finish(id, .done)
    case .setTypingNotices(let isOn):
      sendsTypingNotices = isOn
      finish(id, .done)
    default: handleSending(command, id)
    }
  }

  private mutating func handleSending(_ command: Command, _ id: CommandID) {
    switch command {
    case .edit(let room, let target, let text): edit(target, in: room, text, id)
    case .replace(let room, let target, let message): replace(target, in: room, with: message, id)
    case .toggleReaction(let room, let target, let key): toggleReaction(key, to: target, in: room, id)
    case .redactEvent(let room, let target, let reason, let types):
      redact(target, in: room, reason: reason, relationTypes: types, id)
    case .vote(let room, let poll, let answers): vote(answers, in: poll, of: room, id)
    case .endPoll(let room, let poll, let text): endPoll(poll, in: room, text, id)
    case .setBeacon(let room, let beacon): setBeacon(beacon, in: room, id)
    case .sendBeacon(let room, let info, let uri, let description): sendBeacon(info, in: room, uri, description, id)
    case .pin(let room, let event): setPinned(true, event, in: room, id)
    case .unpin(let room, let event): setPinned(false, event, in: room, id)
    case .retrySend(let entry): retry(entry, id)
    case .cancelSend(let entry): cancel(entry, id)
    case .retryAll(let room): retryAll(in: room, id)
    case .setSending(let room, let isEnabled): setSending(isEnabled, in: room, id)
    default: handleRoomsAndAccount(command, id)
    }
  }

  private mutating func handleRoomsAndAccount(_ command: Command, _ id: CommandID) {
    switch command {
    case .createRoom(let room): createRoom(room, directUser: nil, id)
    case .openDirectChat(let user): openDirectChat(with: user, id)
    case .invite(let room, let user): invite(user, to: room, id)
    case .join(let address, let servers, let reason): join(address, via: servers, reason: reason, id)
    case .leave(let room): leave(room, id)
    case .forget(let room): forget(room, id)
    case .kick(let room, let user, let reason): moderate(.kick, room, user, reason, id)
    case .ban(let room, let user, let reason): moderate(.ban, room, user, reason, id)
    case .unban(let room, let user): moderate(.unban, room, user, nil, id)
    case .setRoomName(let room, let name): setState(.name, in: room, member: "name", name, id)
    case .setRoomTopic(let room, let topic): setState(.topic, in: room, member: "topic", topic, id)
    case .setDisplayName(let name): setProfile("displayname", name, id)
    case .setAvatar(let blob, let mimeType): uploadAvatar(blob, mimeType: mimeType, id)
    case .setAccountData(let type, let content): setAccountData(type, content, .command(id))
    case .startAfresh: startAfresh(id)
    case .changeNotifications(let change): changeNotifications(change, id)
    // Sync
    case .pause: pause(id)
    case .resume: resume(id)
    default: handlePeople(command, id)
    }
  }

  private mutating func handlePeople(_ command: Command, _ id: CommandID) {
    switch command {
    case .setPowerLevel(let room, let user, let level): setPowerLevel(of: .user(user), to: level, in: room, id)
    case .setRequiredLevel(let room, let subject, let level): setPowerLevel(of: subject, to: level, in: room, id)
    case .setIgnored(let user, let isIgnored): setIgnored(user, isIgnored, id)
    case .setTyping(let room, let isTyping):
      if isTyping { tellTyping(room) } else { stopTyping(room) }
      finish(id, .done)
    case .setPresence(let presence, let message): setPresence(presence, message: message, id)
    case .markRead(let room): markRead(room, id)
    case .explainUnread(let room): explainUnread(room, id)
    case .setDeliveryReceipts(let isOn): setDeliveryReceipts(isOn, id)
    default: handleLists(command, id)
    }
  }
}
