import JSON
import MatrixModel

/// A response, read.
enum Answer: Sendable {
  case success(JSON)
  case refused(MatrixError, body: JSON?)
  case networkError
  case blobIsGone
  /// 2xx, but no JSON.
  case unreadable

  init(_ response: Response) {
    switch response {
    case .networkError: self = .networkError
    case .blobIsGone: self = .blobIsGone
    case .answer(let status, let body):
      let json = Answer.parse(body)
      if (200..<300).contains(status) {
        if let json { self = .success(json) } else { self = .unreadable }
      } else {
        self = .refused(MatrixError(status: status, body: json), body: json)
      }
    }
  }

  static func parse(_ body: [UInt8]) -> JSON? {
    do throws(JSONError) { return try JSON.parse(body, limits: JSONLimits(depth: 1_000)) } catch { return nil }
  }

  /// nil for success.
  var error: ClientError? {
    switch self {
    case .success: nil
    case .refused(let error, _): .refused(status: error.status, code: error.code, message: ByteString(error.message))
    case .networkError: .network
    case .blobIsGone: .attachmentIsGone
    case .unreadable: .badAnswer
    }
  }

  /// Whether the same request may succeed later: no answer, the server in trouble, too many requests.
  var isTransient: Bool {
    switch self {
    case .networkError: true
    case .unreadable: true
    case .refused(let error, _):
      error.status >= 500 || error.status == 429 || error.status == 408 || error.code == .limitExceeded
    case .success, .blobIsGone: false
    }
  }

  var retryAfterMilliseconds: Int64? {
    if case .refused(let error, _) = self { return error.retryAfterMilliseconds }
    return nil
  }
}

extension Client {
  mutating func answered(_ id: RequestID, _ response: Response) {
    guard let purpose = pending.requests.removeValue(forKey: id) else { return }
    let answer = Answer(response)
    if case .refused(let error, _) = answer, error.status == 401, error.code == .unknownToken, usesToken(purpose) {
      return tokenIsUnknown(isSoft: error.softLogout ?? false, purpose)
    }
    switch purpose {
    case .loginFlows(let command): loginFlowsAnswered(answer, command)
    case .registrationProbe(let command): registrationProbeAnswered(answer, command)
    case .logIn(let command): logInAnswered(answer, command)
    case .register(let command): registerAnswered(answer, command)
    case .logOut(let command):
      endSession(keepingData: false)
      finish(command, .done)
    case .sync: syncAnswered(answer)
    case .page(let room, let gap, let command, let emptyPages):
      pageAnswered(answer, room, gap: gap, command, emptyPages: emptyPages)
    case .members(let room, let command): membersAnswered(answer, room, command)
    case .upload(let entry): uploadAnswered(answer, entry)
    case .send(let entry): sendAnswered(answer, entry)
    case .mediaLimit: mediaLimitAnswered(answer)
    case .pinnedEvents(let room, let event, let isPinned, let command):
      pinnedEventsAnswered(answer, room, event, isPinned: isPinned, command)
    case .receipt(let room): receiptAnswered(answer, room)
    case .forgettable: break
    case .ownProfile: ownProfileAnswered(answer)
    default: commandAnswered(answer, purpose)
    }
  }

  private func usesToken(_ purpose: RequestPurpose) -> Bool {
    switch purpose {
    case .loginFlows, .registrationProbe, .logIn, .register, .logOut: false
    default: true
    }
  }

  /// Spec: "Soft logout": with it the data stays and the user logs in again to the same device.
  private mutating func tokenIsUnknown(isSoft: Bool, _ purpose: RequestPurpose) {
    endSession(keepingData: isSoft)
    finish(commandID(of: purpose), .failed(.notSignedIn))
  }

  private func commandID(of purpose: RequestPurpose) -> CommandID {
    switch purpose {
    case .page(_, _, let id, _), .members(_, let id), .createRoom(_, let id), .join(_, let id), .leave(_, let id),
      .forget(_, let id), .command(let id), .setProfile(_, _, let id), .uploadAvatar(_, let id), .pinnedEvents(_, _, _, let id):
      id
    default: 0
    }
  }
}
