import JSON
import MatrixModel

extension Client {
  mutating func setAccountData(_ type: EventType, _ content: [UInt8], _ purpose: RequestPurpose) {
    guard let user = session?.userID else { return }
    request(.setAccountData, Endpoint.setAccountData.path(user.text, type.text), body: content, for: purpose)
  }

  mutating func ownProfileAnswered(_ answer: Answer) {
    guard case .success(let json) = answer else { return }
    let old = ownProfile
    ownProfile = OwnProfile(json)
    if ownProfile != old { keepProfile() }
    notify(.profile)
  }

  private mutating func keepProfile() { write([.put(key: StoreKey.profile, value: ownProfile.record)]) }

  mutating func setProfile(_ key: StaticString, _ value: ByteString, _ id: CommandID) {
    guard let user = session?.userID else { return }
    var writer = JSONWriter()
    writer.object { $0.member(key, value) }
    let isName = ByteString("displayname") == key
    let path = Endpoint.setProfileField.path(user.text, isName ? "displayname" : "avatar_url")
    request(.setProfileField, path, body: writer.bytes, for: .setProfile(isName: isName, value, id))
  }

  mutating func setProfileAnswered(_ answer: Answer, isName: Bool, _ value: ByteString, _ id: CommandID) {
    if let error = answer.error { return finish(id, .failed(error)) }
    if isName { ownProfile.displayName = value.isEmpty ? nil : value } else { ownProfile.avatar = MediaURI(value) }
    keepProfile()
    notify(.profile)
    finish(id, .done)
  }

  mutating func uploadAvatar(_ blob: BlobHandle, mimeType: ByteString, _ id: CommandID) {
    _ = upload(blob, mimeType: mimeType, fileName: "", for: .uploadAvatar(blob, id))
  }

  mutating func avatarUploaded(_ answer: Answer, _ blob: BlobHandle, _ id: CommandID) {
    emit(.releaseBlob(blob))
    guard case .success(let json) = answer, let source = MediaURI(json["content_uri"]) else {
      return finish(id, .failed(answer.error ?? .badAnswer))
    }
    setProfile("avatar_url", source.text, id)
  }
}

/// The user's own name and picture, stored so that they are there without a network.
struct OwnProfile: Sendable, Equatable {
  var displayName: ByteString?
  var avatar: MediaURI?

  init() {}

  /// Spec: `GET /profile/{userId}`.
  init(_ json: JSON) {
    displayName = json.text("displayname")
    avatar = MediaURI(json["avatar_url"])
  }

  /// As the server tells it.
  var record: [UInt8] {
    JSONWriter.object { writer in
      if let displayName { writer.member("displayname", displayName) }
      if let avatar { writer.member("avatar_url", avatar) }
    }
  }
}
