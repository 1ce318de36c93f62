import CallCore
import JSON
import MatrixModel

/// What a tile shows of a participant: a camera, a screen, or only the name and avatar.
struct TileModel {
  enum Kind: Equatable { case own, ownScreen, person, screen }

  let kind: Kind
  /// The stream's ID; the connection's if the participant publishes nothing.
  let key: ByteString
  let connection: ByteString
  let user: ByteString
  let name: String
  let avatar: String?
  /// The name by which the browser shows the stream; empty while there is neither sound nor picture.
  var track = ""
  var hasPicture = false
  var isSilent = false
  var speaks = false
  /// Muted by the user, for this device only.
  var isMutedHere = false
  var isStream = false
  /// Nothing of it can be decrypted.
  var isLocked = false

  var isScreen: Bool { kind == .screen || kind == .ownScreen }
  var isOwn: Bool { kind == .own || kind == .ownScreen }
}

extension OngoingCall {
  /// Returns others in the order in which they joined, screens first, and the user last.
  func tiles() -> [TileModel] {
    guard let session else { return [] }
    var screens: [TileModel] = []
    var people: [TileModel] = []
    for connection in session.connections {
      let person = known?.person(of: connection) ?? KnownRoom.Person(user: "", name: "?", avatar: nil)
      var hasStream = false
      for stream in session.streams where stream.connection == connection.id {
        let isScreen = stream.videoType == "screen"
        var tile = tile(stream, person, session)
        tile.isLocked = isLocked(connection)
        if tile.isLocked { tile.hasPicture = false }
        if isScreen { screens.append(tile) } else { people.append(tile) }
        hasStream = hasStream || !isScreen
      }
      guard !hasStream else { continue }
      people.append(
        TileModel(
          kind: .person, key: connection.id, connection: connection.id, user: person.user, name: person.name,
          avatar: person.avatar, isSilent: true))
    }
    if session.publication(Self.screen)?.stream != nil { screens.append(own(.ownScreen, Self.screen, session)) }
    return screens + people + [own(.own, Self.camera, session)]
  }

  private func tile(_ stream: CallStream, _ person: KnownRoom.Person, _ session: CallSession) -> TileModel {
    TileModel(
      kind: stream.videoType == "screen" ? .screen : .person, key: stream.id, connection: stream.connection, user: person.user,
      name: person.name, avatar: person.avatar, track: tracks.first { $0.stream == stream.id }?.name ?? "",
      hasPicture: stream.hasVideo && stream.videoDisabled == nil, isSilent: !stream.hasAudio,
      speaks: session.speaker == stream.id,
      isMutedHere: !stream.preference.audio, isStream: true)
  }

  private func own(_ kind: TileModel.Kind, _ source: SourceID, _ session: CallSession) -> TileModel {
    let publication = session.publication(source)
    let connection = session.connection
    let person = connection.flatMap { known?.person(of: $0) }
    var tile = TileModel(
      kind: kind, key: kind == .own ? "own" : "own-screen", connection: connection?.id ?? "", user: person?.user ?? "",
      name: person?.name ?? Word.ownPicture.text, avatar: person?.avatar)
    guard let publication, publication.state != .capturing else {
      tile.isSilent = true
      return tile
    }
    tile.track = "own/\(source)"
    tile.hasPicture = publication.hasVideo
    tile.isSilent = kind == .own && !publication.hasAudio
    if let stream = publication.stream { tile.speaks = session.speaker == stream }
    return tile
  }
}
