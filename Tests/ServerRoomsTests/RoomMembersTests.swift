import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms

@Suite struct RoomMembersTests {
  private static func user(_ number: Int) -> UserID { UserID(trusted: ByteString("@u\(number):example.org")) }

  private static func member(_ membership: Membership, at position: Int64) throws -> RoomSnapshot.Member {
    RoomSnapshot.Member(
      membership: membership,
      event: StoredEvent(
        position: position, eventID: EventID(trusted: ByteString("$\(position)")), room: RoomNumber(1), type: .member,
        stateKey: "", sender: user(0), timestamp: 0, depth: 1, shared: [], content: try JSON.object { _ in }))
  }

  @Test(arguments: [0, 1, 64, 65, 1_000]) func `every member is found and told once, however many`(count: Int) throws {
    var members = RoomMembers()
    for number in 0..<count { members.set(try Self.member(.join, at: Int64(number)), for: Self.user(number)) }
    #expect(members.count == count)
    #expect(Set(members.map(\.key)).count == count)
    #expect(members.values.map(\.event.position).sorted() == (0..<count).map { Int64($0) })
    for number in 0..<count { #expect(members[Self.user(number)]?.event.position == Int64(number)) }
    #expect(members[Self.user(count)] == nil)
  }

  @Test func `a change is not seen in the value before it`() throws {
    var members = RoomMembers()
    for number in 0..<500 { members.set(try Self.member(.join, at: Int64(number)), for: Self.user(number)) }
    let before = members
    members.set(try Self.member(.leave, at: 1_000), for: Self.user(7))
    members.set(try Self.member(.join, at: 1_001), for: Self.user(500))
    #expect(members.count == 501)
    #expect(members[Self.user(7)]?.membership == .leave)
    #expect(before.count == 500)
    #expect(before[Self.user(7)]?.membership == .join)
    #expect(before[Self.user(500)] == nil)
  }
}
