import JSON
import MatrixModel

extension Client {
  mutating func answered(_ id: RequestID, _ response: Response) {
    guard let waiting = pending.requests.removeValue(forKey: id) else { return }
    let answer = Answer(response)
    if case .refused(let error, _) = answer, error.status == 401, error.code == .unknownToken,
      let token = waiting.request.accessToken, !waiting.purpose.isLogOut
    {
      return tokenRefused(token, by: error, id, waiting)
    }
    take(answer, waiting.purpose)
  }

  @inline(never)
  mutating func take(_ answer: Answer, _ purpose: RequestPurpose) {
    switch purpose {
    case .query(let id): queryAnswered(answer, id)
    case .refreshToken: refreshAnswered(answer)
    case .loginFlows(let command): loginFlowsAnswered(answer, command)
    case .registrationProbe(let command): registrationProbeAnswered(answer, command)
    case .logIn(let command): logInAnswered(answer, command)
    case .register(let command): registerAnswered(answer, command)
    case .logOut(let command):
      endSession(keepingData: false)
      finish(command, .done)
    case .logOutEverywhere(let command): loggedOutEverywhere(answer, command)
    case .sync: syncAnswered(answer)
    case .syncOffer: slidingChapter?.offered(&self, answer)
    case .syncFilter: filterAnswered(answer)
    case .page, .forwardPage, .context, .event, .date: timelineAnswered(answer, purpose)
    case .members(let room, let command): membersAnswered(answer, room, command)
    case .upload(let entry): uploadAnswered(answer, entry)
    case .send(let entry): sendAnswered(answer, entry)
    case .mediaLimit: mediaLimitAnswered(answer)
    case .encryption(let room): encryptionAnswered(answer, of: room)
    case .pinnedEvents(let room, let event, let isPinned, let command):
      pinnedEventsAnswered(answer, room, event, isPinned: isPinned, command)
    case .receipt(let room): receiptAnswered(answer, room)
    case .unreadMark(let room, let mark, let command): unreadMarkAnswered(answer, room, mark, command)
    case .removal(let room, let event, let command): removalAnswered(answer, room, event, command)
    case .breadcrumbs: breadcrumbsAnswered()
    case .readDirect: directAnswered(answer)
    case .writeDirect: directWritten(answer)
    case .readIgnoredUsers: ignoredUsersRead(answer)
    case .writeIgnoredUsers: ignoredUsersWritten(answer)
    case .spaceChild(let child, let space, let change, let command):
      spaceChildAnswered(answer, child, in: space, change, command)
    case .ownPushRules(let age): ownPushRulesAnswered(answer, age: age)
    case .pushRule: pushRuleAnswered(answer)
    case .capabilities: capabilitiesAnswered(answer)
    case .powerLevels(let room, let subject, let level, let command):
      powerLevelsAnswered(answer, room, subject, level, command)
    case .lastEvent(let room, let command): lastEventAnswered(answer, room, command)
    case .markedRead(let rooms, let command): markedReadAnswered(answer, rooms, command)
    case .forgettable: break
    case .ownProfile: ownProfileAnswered(answer)
    case .createRoom(let user?, let command): directChatAnswered(answer, with: user, command)
    case .inviteLink(let token, let command): inviteLinkAnswered(answer, token, command)
    case .encryptionWishes(let chat, let command): wishesAnswered(answer, for: chat, command)
    case .directChatKeys(let chat, let user, let command): chatKeysAnswered(answer, for: chat, of: user, command)
    case .createRoom(nil, let command): roomAnswered(answer, directUser: nil, command)
    case .join(let user, let command): roomAnswered(answer, directUser: user, command)
    case .forget(let room, let command): forgetAnswered(answer, room, command)
    case .leave(_, let command), .command(let command): finish(command, answer.error.map { .failed($0) } ?? .done)
    case .setProfile(let isName, let value, let command): setProfileAnswered(answer, isName: isName, value, command)
    case .uploadAvatar(let blob, let command): avatarUploaded(answer, blob, command)
    }
  }
}

extension RequestPurpose {
  var isLogOut: Bool {
    if case .logOut = self { return true }
    return false
  }

  var isLogOutEverywhere: Bool {
    if case .logOutEverywhere = self { return true }
    return false
  }
}
