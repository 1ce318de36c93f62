import CallCore
import MatrixModel
import Messenger
import WebHost

/// Group calls: the bar above a room with an ongoing call, and the call that the user is in.
final class GroupCalls<D: DOM> {
  let desk: CallDesk<D>
  private let server: Server
  private var shown: RoomID?
  private(set) var user: UserID?
  private var device: DeviceID?
  private(set) var ongoing: OngoingCall<D>?
  private var bar: CallBar<D>?
  private lazy var bell = RoomBell(self)
  private var timer: HostTask?
  /// Whether the browser can encrypt what it sends in calls; replaced in tests.
  var canSeal: () -> Bool = { Host.pageState.contains(.canSealMedia) }

  /// People in a call.
  private static var peopleLimit: Int { 50 }

  init(_ desk: CallDesk<D>, _ server: Server) {
    self.desk = desk
    self.server = server
    bar = CallBar(
      desk.dom, onJoin: { [self] in prepare($0) },
      onDecline: { [self] in
        bell.decline($0)
        showBar()
        desk.dom.flush()
      })
  }

  func signedIn(_ user: UserID, _ device: DeviceID) {
    self.user = user
    self.device = device
  }

  func close() {
    bell.close()
    ongoing?.hangUp()
  }

  /// Others need not wait until the server knows that the page is gone.
  func pageChanged(_ change: PageChange) {
    switch change {
    case .leaving: ongoing?.hangUp()
    case .online: if Host.pageState.contains(.online) { ongoing?.host?.handle(.networkChanged) }
    default: break
    }
  }

  // MARK: Rooms

  func show(_ room: RoomID?) {
    shown = room
    showBar()
    ongoing?.show()
  }

  /// More is known of the room.
  func changed(_ room: RoomID) {
    if room == ongoing?.room { ongoing?.roomChanged() }
    bell.changed(room)
    if room == shown || room == bell.room { showBar() }
  }

  func uses(_ room: RoomID) -> Bool { room == shown || room == bell.room || room == ongoing?.room }

  /// Shows the bar of the room's call. A user who is in that call sees the call itself instead.
  func showBar() {
    timer?.cancel()
    timer = nil
    let now = Host.wallClockMilliseconds()
    guard let room = bell.room ?? shown, room != ongoing?.room, let known = desk.room(room), known.call.isActive(at: now)
    else { return bar?.hide() ?? () }
    bar?.show(known, now: now, caller: bell.caller)
    if let next = known.call.nextExpiry(after: now) {
      timer = Host.after(milliseconds: Double(next - now) + 1) { [self] in
        showBar()
        desk.dom.flush()
      }
    }
  }

  // MARK: The call

  /// Somebody wants to join: it rings no more, and they see themselves first.
  private func prepare(_ id: RoomID) {
    guard hasPlace(id), mayJoin(id) else { return }
    bell.decline(id)
    showBar()
    desk.prepare(toJoin: id)
    desk.dom.flush()
  }

  /// False once the person was told that the call is full.
  private func hasPlace(_ id: RoomID) -> Bool {
    let isFull = (desk.room(id)?.peopleCount(at: Host.wallClockMilliseconds()) ?? 0) >= Self.peopleLimit
    guard isFull else { return true }
    desk.tell(Word.groupCallFull.text, isTrouble: true)
    return false
  }

  /// False once the person was told that this browser cannot take part: in an encrypted room nothing is sent that the server could see or hear. False
  /// also for a room that the page has not told of, which may be encrypted.
  private func mayJoin(_ id: RoomID) -> Bool {
    guard let known = desk.room(id) else { return false }
    guard known.isEncrypted, !canSeal() else { return true }
    desk.tell(Word.groupCallCannotSeal.text, isTrouble: true)
    return false
  }

  func join(_ id: RoomID, _ setup: CallSetup) {
    guard let user, let device, id != ongoing?.room, hasPlace(id), mayJoin(id) else { return }
    bell.decline(id)
    ongoing?.hangUp()
    desk.direct?.hangUp()
    ongoing = OngoingCall(self, server, room: id, user: user, device: device)
    ongoing?.begin(setup)
    ongoingChanged()
  }

  /// What rings is answered otherwise beside a call.
  private func ongoingChanged() {
    showBar()
    desk.direct?.show()
    desk.callsChanged()
    desk.dom.flush()
  }

  /// Nobody is in it from here any more.
  func ended(_ call: OngoingCall<D>, _ words: String?, isTrouble: Bool) {
    guard ongoing === call else { return }
    ongoing = nil
    if let words { desk.tell(words, isTrouble: isTrouble) }
    ongoingChanged()
  }
}
