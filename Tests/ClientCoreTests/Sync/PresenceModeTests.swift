import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Sliding sync brings no presence: who wants it syncs by v3.
@Suite struct PresenceModeTests {
  private let offer = #"{"versions":["v1.11"],"unstable_features":{"org.matrix.simplified_msc3575":true}}"#
  private let events = (1...4).map { Wire.message("\($0)", "$\($0)") }

  private func automatic(_ count: Int) -> Host {
    var host = Host.signedIn(mode: .automatic)
    host.answer("/versions", offer)
    host.slide([Sliding.first(Array(events.prefix(count)))])
    host.command(.timeline(.openRoom(.test)))
    host.slide()
    return host
  }

  @Test func `who wants presence from the start is not asked to slide`() {
    var host = Host(mode: .automatic)
    host.handle(.presenceWanted(true))
    host.handle(.start)
    host.handle(.command(.session(.logIn(user: "me", password: "secret")), id: 1))
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.request("/versions") == nil)
    #expect(host.request("/v3/sync?")?.request.target.contains("presence") == false)
  }

  @Test func `presence that is wanted later, and no more, changes the way without loss`() {
    var host = automatic(1)
    let held = host.request(Sliding.path)?.id
    host.handle(.presenceWanted(true))
    #expect(host.waiting.allSatisfy { $0.id != held })
    host.sync(Wire.join(Array(events.prefix(2)), state: Wire.members, extra: Wire.counts))
    #expect(host.texts() == ["1", "2"])
    host.handle(.presenceWanted(false))
    host.answer("/versions", offer)
    #expect(host.slidingTarget?.contains("pos=") == false)
    host.slide([Sliding.first(Array(events.prefix(3)))])
    #expect(host.texts() == ["1", "2", "3"])
    #expect(host.client.roomIDs == [.test])
    host = host.restarted()
    host.command(.timeline(.openRoom(.test)))
    #expect(host.request("/versions") == nil)
    #expect(host.slidingTarget?.contains("pos=") == true)
    #expect(host.texts() == ["1", "2", "3"])
  }

  @Test func `a server that offers nothing else goes on where it was`() {
    var host = automatic(1)
    host.handle(.presenceWanted(true))
    host.sync(Wire.join(Array(events.prefix(2)), state: Wire.members, extra: Wire.counts))
    host.handle(.presenceWanted(false))
    host.answer("/versions", #"{"versions":["v1.11"]}"#)
    #expect(host.request("/v3/sync?")?.request.target.contains("since=s\(host.batch)") == true)
  }

  @Test func `a batch that is being stored when presence is wanted is shown, and its rooms are told once`() {
    var host = automatic(1)
    host.writesAtOnce = false
    host.slide([Sliding.room("!room:test", [events[1]])])
    host.handle(.presenceWanted(true))
    #expect(host.waiting.allSatisfy { !$0.request.target.contains("sync?") })
    host.finishWrites()
    #expect(host.texts() == ["1", "2"])
    host.sync(Wire.join(Array(events.prefix(3)), state: Wire.members, extra: Wire.counts))
    host.finishWrites()
    #expect(host.texts() == ["1", "2", "3"])
  }

  @Test(arguments: [SyncMode.v3, .sliding]) func `who has chosen a way keeps it`(mode: SyncMode) {
    var host = mode == .v3 ? Host.inRoom() : Host.slidingInRoom()
    for isWanted in [true, false] {
      host.handle(.presenceWanted(isWanted))
      let target = host.request("sync?")?.request.target
      #expect(target?.contains(mode == .v3 ? "since=s" : "pos=p") == true)
      #expect(host.request("/versions") == nil)
    }
  }
}
