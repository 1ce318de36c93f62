import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The call that the user is in: the session at the call server, the user's membership in the room, and the view of both.
final class OngoingCall<D: DOM> {
  let room: RoomID
  private let group: GroupCalls<D>
  private let desk: CallDesk<D>
  private let server: Server
  let membership: Membership
  private let ownDevice: CallDeviceName
  private(set) var host: SessionHost?
  private var view: CallView<D>?
  /// nil in a room that is not encrypted.
  private(set) var sealed: SealedCall?
  private var isOver = false
  private(set) var isCapturing = true
  /// Whether the camera was opened with the microphone.
  private var hasCamera = false
  /// By which name the browser has a stream.
  private(set) var tracks: [(stream: ByteString, name: String)] = []
  private(set) var devices: [CallDevice] = []
  /// Since when the call is joined, by `monotonicMilliseconds`.
  private(set) var joinedAt: Double?
  private var commands: [(id: CommandID, then: (CallRefusal) -> Void)] = []
  private var lastCommand: CommandID = 0

  static var camera: SourceID { 1 }
  static var screen: SourceID { 2 }

  init(_ group: GroupCalls<D>, _ server: Server, room: RoomID, user: UserID, device: DeviceID) {
    self.group = group
    desk = group.desk
    self.server = server
    self.room = room
    ownDevice = CallDeviceName(user, device.text)
    membership = Membership(server, room: room, user: user, device: device)
    view = CallView(desk.dom, self)
    membership.onFailed = { [desk] in desk.tell($0, isTrouble: true) }
  }

  var known: KnownRoom? { desk.room(room) }
  var isElsewhere: Bool { desk.shown != room }
  /// The page opens its room.
  func open() { desk.open(room) }
  var session: CallSession? { host?.session }

  // MARK: In

  /// Camera and microphone open while leave to come in is asked for.
  func begin(_ setup: CallSetup) {
    let host = SessionHost(subscribesToAll: true)
    self.host = host
    host.onChange = { [self] in changed($0) }
    host.onTrack = { [self] stream, name in
      tracks.removeAll { $0.stream == stream }
      tracks.append((stream, name))
      if let owner = owner(of: stream) { sealed?.arrived(name, of: owner) }
      show()
    }
    host.onMedia = { [self] in heard($0) }
    if known?.isEncrypted ?? true { seal(host) }
    host.media?.prefer(.kept)
    publishCamera(withPicture: setup.hasCamera)
    if setup.isMuted { toggle(.audio) }
    show()
    askForTicket { [self] answer in
      switch answer {
      case .failed(let words): end(words)
      case .done(let ticket):
        guard let token = ticket.text("token"), let session = ticket.text("session_id"), let url = ticket["url"]?.string
        else {
          return end(Word.callBroken.text)
        }
        host.address = server.socketAddress(url)
        host.perform(.connect(CallToken(token), session: session))
      }
    }
  }

  /// Before the first track or connection.
  private func seal(_ host: SessionHost) {
    let sealed = SealedCall(
      room, ownDevice, post: { host.media?.post($0) },
      tell: { [desk, room] in desk.tell($2, of: room, $0, CallKey.eventType, $1) })
    self.sealed = sealed
    sealed.onChange = { [self] in show() }
    if let known { sealed.changed(known) }
  }

  /// More is known of the room. A call that began before the room was encrypted ends: its members would take it for what it is not.
  func roomChanged() {
    guard let known, !isOver else { return }
    if known.isEncrypted, sealed == nil { return end(Word.groupCallNowSealed.text) }
    sealed?.changed(known)
    show()
  }

  /// - Parameter answer: to what `SealedCall` has asked the page.
  func told(_ answer: JSON) {
    if answer.bool("lost") ?? false { return end(Word.groupCallKeysLost.text) }
    sealed?.told(answer)
  }

  private func owner(of stream: ByteString) -> CallDeviceName? {
    guard let id = session?.stream(stream)?.connection else { return nil }
    return session?.connections.first { $0.id == id }.flatMap { CallDeviceName($0) }
  }

  /// Whether the person sees and hears nothing of this connection because its device has given no key.
  func isLocked(_ connection: CallConnection) -> Bool {
    guard let sealed else { return false }
    return CallDeviceName(connection).map { !sealed.hears($0) } ?? true
  }

  private func askForTicket(_ then: @escaping (Server.Answer) -> Void) {
    server.ask(.post, Endpoint.createCallToken.path(room.text)) { [self] in if !isOver { then($0) } }
  }

  private func publishCamera(withPicture: Bool) {
    hasCamera = withPicture
    perform(.publish(Self.camera, withPicture ? .camera : .microphone, name: "", audio: true, video: withPicture)) { [self] in
      notCaptured($0)
    }
  }

  /// One hears and sees the others all the same.
  private func notCaptured(_ refusal: CallRefusal) {
    isCapturing = false
    guard !isOver, refusal.code != "connection_lost" else { return }
    desk.tell(refusal.code == "media_failed" ? Word.groupCallNoCamera.text : Word.callNoMedia.text, isTrouble: true)
    show()
  }

  // MARK: Out

  func hangUp() { end(nil) }

  private func end(_ words: String?, isTrouble: Bool = true) {
    guard !isOver else { return }
    isOver = true
    membership.end()
    sealed?.end()
    if let host {
      // They hold one another.
      host.onChange = { _ in }
      host.onTrack = { _, _ in }
      host.onMedia = { _ in }
      if case .ended = host.session.state {} else { host.perform(.leave) }
    }
    membership.onFailed = { _ in }
    view?.close()
    view = nil
    group.ended(self, words, isTrouble: isTrouble)
  }

  // MARK: What happens

  private func changed(_ change: SessionChange) {
    guard !isOver, let session else { return }
    switch change {
    case .session: stateChanged(session.state)
    case .finished(let id, let refusal):
      guard let i = commands.firstIndex(where: { $0.id == id }) else { return }
      let then = commands.remove(at: i).then
      if let refusal { then(refusal) }
    case .publication(let source):
      guard let publication = session.publication(source) else { break }
      if source == Self.camera { isCapturing = true }
      if publication.isMutedByForce, !wasMuted { desk.tell(Word.groupCallMuted.text, isTrouble: false) }
      wasMuted = publication.isMutedByForce
    default: break
    }
    show()
  }

  private var wasMuted = false

  private func stateChanged(_ state: CallState) {
    switch state {
    case .connected where joinedAt == nil:
      joinedAt = Host.monotonicMilliseconds()
      membership.begin()
      host?.media?.listDevices()
    case .ended(.closed("forced")): end(Word.groupCallRemoved.text)
    case .ended(.closed("unauthorized")) where joinedAt != nil:
      // Or the token, which is good for an hour, was needed anew: who may still come in has only lost the connection.
      askForTicket { [self] answer in
        if case .done = answer { end(Word.callLost.text) } else { end(Word.groupCallGone.text) }
      }
    case .ended(.closed("ended")): end(Word.callOver.text, isTrouble: false)
    case .ended(.mediaFailed): end(Word.callNoMedia.text)
    case .ended: end((joinedAt == nil ? Word.callBroken : .callLost).text)
    default: break
    }
  }

  private func heard(_ json: JSON) {
    view?.heard(json)
    guard let listed = CallDevice.list(json) else { return }
    devices = listed
    show()
  }

  func show() {
    guard !isOver else { return }
    view?.show()
    desk.dom.flush()
  }

  // MARK: What the person does

  func perform(_ command: SessionCommand, refused: @escaping (CallRefusal) -> Void = { _ in }) {
    lastCommand += 1
    commands.append((lastCommand, refused))
    host?.perform(command, id: lastCommand)
  }

  func toggle(_ kind: TrackKind) {
    guard let own = session?.publication(Self.camera) else {
      // What was refused may be allowed by now.
      return publishCamera(withPicture: hasCamera || kind == .video)
    }
    switch kind {
    case .audio: perform(.update(Self.camera, hasAudio: !own.hasAudio, hasVideo: nil))
    case .video where !hasCamera: openCamera(isMuted: !own.hasAudio)
    case .video: perform(.update(Self.camera, hasAudio: nil, hasVideo: !own.hasVideo))
    }
  }

  /// It was left off at the beginning: what is published has no place for a picture yet.
  private func openCamera(isMuted: Bool) {
    perform(.unpublish(Self.camera))
    publishCamera(withPicture: true)
    if isMuted { toggle(.audio) }
  }

  func toggleScreen() {
    if session?.publication(Self.screen) != nil { return perform(.unpublish(Self.screen)) }
    perform(.publish(Self.screen, .screen, name: "", audio: true, video: true))
  }

  func turnCamera() { host?.media?.turnCamera(of: Self.camera) }

  func use(_ device: CallDevice) { host?.media?.use(device, for: Self.camera) }
}
