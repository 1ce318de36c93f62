import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct MemberOrderTests {
  /// A room of so many members, one of them banned and one who knocks.
  private static func room(_ count: Int) throws -> Room {
    let levels = #"{"users":{"@m3:test":100,"@m17:test":50,"@m5:test":50,"@m8:test":-1}}"#
    let members =
      (0..<count).map { Wire.member("@m\($0):test") }
      + [Wire.member("@z:test", "knock"), Wire.member("@x:test", "ban"), Wire.member("@gone:test", "leave")]
    let rules = [
      Wire.event("m.room.create", "$c", by: "@m3:test", #"{"room_version":"11"}"#, stateKey: ""),
      Wire.event("m.room.power_levels", "$p", by: "@m3:test", levels, stateKey: "")
    ]
    var host = Host.signedIn()
    host.sync(Wire.join([Wire.message("one", "$1")], state: members + rules))
    return try #require(host.client.room(.test))
  }

  @Test(arguments: [1, 7, 100, 5_000]) func `slices of any size give roles from the top, and each by user ID`(slice: Int) throws
  {
    let room = try Self.room(1_000)
    var order = MemberOrder(of: room)
    var steps = 0
    while !order.isDone {
      order.goOn(slice)
      steps += 1
    }
    let names = order.members.map { $0.string }
    let others = (0..<1_000).map { "@m\($0):test" }.filter { !["@m3:test", "@m17:test", "@m5:test", "@m8:test"].contains($0) }
    #expect(names == ["@m3:test", "@m17:test", "@m5:test"] + others.sorted() + ["@m8:test"])
    #expect(order.knocking.map { $0.userID.string } == ["@z:test"])
    #expect(order.banned.map { $0.userID.string } == ["@x:test"])
    // The slices, and what brings them together.
    #expect(steps <= 1_000 / slice + 12)
  }

  @Test func `nobody is in order at once`() throws {
    let order = MemberOrder(of: try Self.room(0))
    #expect(order.isDone && order.members.isEmpty)
  }

  @Test func `members whose presence is so are found without looking at all members`() throws {
    var host = Host.signedIn()
    host.handle(.presenceWanted(true))
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members))
    let here = { (user: String) in #"{"type":"m.presence","sender":"\#(user)","content":{"presence":"online"}}"# }
    host.sync(extra: #","presence":{"events":[\#(here("@bob:test")),\#(here("@alice:test")),\#(here("@stranger:test"))]}"#)
    let found = host.client.members(of: .test) { $0.presence == .online }
    #expect(found.map { $0.string } == ["@alice:test", "@bob:test"])
    #expect(host.client.members(of: .test) { $0.presence == .offline }.isEmpty)
  }
}
