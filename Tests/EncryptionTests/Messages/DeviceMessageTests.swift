import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct DeviceMessageTests {
  private let type: ByteString = "io.element.call.encryption_keys"
  private let content = #"{"keys":{"index":0,"key":"c2VjcmV0"}}"#

  /// All follow each other's devices, as those do who write to one another.
  private func world(_ names: [(UserID, String)]) throws -> World {
    var world = try World(names)
    for host in world.hosts { host.handle(.track(world.server.members), at: world.now) }
    try world.settle()
    return world
  }

  private func address(_ host: TestHost) -> DeviceAddress { DeviceAddress(host.name.user, host.name.device) }

  private func received(_ host: TestHost) -> [ReceivedMessage] {
    host.news.compactMap { if case .received(let message) = $0 { message } else { nil } }
  }

  /// Says it from the first host to these devices. Those that got it.
  private func tell(_ world: inout World, _ devices: [DeviceAddress], by host: Int = 0) throws -> [DeviceAddress] {
    let number = world.hosts[host].begin(.tell(type: type, content: try parsed(content), devices: devices), at: world.now)
    try world.settle()
    guard case .told(let told)? = world.hosts[host].outcome(of: number) else { throw Untold() }
    return told.sorted { ($0.user, $0.device) < ($1.user, $1.device) }
  }

  private struct Untold: Error {}

  @Test func `the app's events go to the devices that are named, encrypted, and say who has sent them`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (bob, "TABLET")])
    let (desk, phone, tablet) = (world.hosts[0], world.hosts[1], world.hosts[2])
    #expect(try tell(&world, [address(phone)]) == [address(phone)])
    let message = try #require(received(phone).first)
    #expect(message.type == type && message.content.bytes.elementsEqual(content.utf8))
    #expect(message.sender == address(desk) && message.trust == .unsignedDevice && message.isReader)
    #expect(received(phone).count == 1 && received(tablet).isEmpty)
    let types = world.server.asked.filter { "\($0.request.endpoint.pattern)" == "\(Endpoint.sendToDevice.pattern)" }
    #expect(types.allSatisfy { $0.request.parameters[0] == "m.room.encrypted" })
    #expect(world.server.asked.allSatisfy { !String(decoding: $0.request.body, as: UTF8.self).contains("c2VjcmV0") })
  }

  @Test func `a signed device is told as such; one that its user has not signed gets nothing and is not believed`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE")])
    for host in world.hosts { try world.run(.setUpIdentity, by: host) }
    world.hosts.append(TestHost(bob, "FAKE", at: world.server, now: world.now))
    try world.settle()
    let (phone, fake) = (world.hosts[1], world.hosts[2])
    #expect(try tell(&world, [address(phone), address(fake)]) == [address(phone)])
    #expect(received(phone).map(\.trust) == [.pinned] && received(phone).allSatisfy(\.isReader))
    #expect(received(fake).isEmpty)
    _ = try tell(&world, [address(world.hosts[0])], by: 2)
    #expect(received(world.hosts[0]).map(\.trust) == [.unsignedDevice] && !received(world.hosts[0])[0].isReader)
  }

  @Test func `users whose keys have changed get nothing, and the others do`() throws {
    let carol = UserID(trusted: "@carol:one.example")
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (carol, "PHONE")])
    for host in world.hosts { try world.run(.setUpIdentity, by: host) }
    try world.run(.resetIdentity, by: world.hosts[1])
    let everybody = world.hosts.dropFirst().map { address($0) }
    #expect(try tell(&world, everybody) == [address(world.hosts[2])])
  }

  @Test func `an event of a sender who is not followed waits until the devices are known, but not for ever`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE")])
    let phone = world.hosts[1]
    _ = try tell(&world, [address(phone)])
    phone.news = []
    phone.machine.tracker.forget([ann])
    _ = try tell(&world, [address(phone)])
    #expect(received(phone).isEmpty && phone.machine.messages.incoming.count == 1)
    phone.handle(.track([ann]), at: world.now)
    try world.settle()
    #expect(received(phone).count == 1)
    phone.news = []
    phone.machine.tracker.forget([ann])
    _ = try tell(&world, [address(phone)])
    world.now += DeviceMessages.incomingMilliseconds
    phone.handle(.woken, at: world.now)
    #expect(phone.machine.messages.incoming.isEmpty && received(phone).isEmpty)
  }

  @Test(arguments: ["m.room_key", "m.forwarded_room_key", "m.secret.send", "m.key.verification.start", "m.dummy", ""])
  func `the machine's own types are not the app's`(_ type: String) throws {
    let world = try world([(ann, "DESK"), (bob, "PHONE")])
    let number = world.hosts[0].begin(
      .tell(type: ByteString(type), content: try parsed("{}"), devices: [address(world.hosts[1])]), at: world.now)
    guard case .failed(.unusable)? = world.hosts[0].outcome(of: number) else { throw Untold() }
  }

  @Test func `what is too large, or for too many devices, is refused`() throws {
    let world = try world([(ann, "DESK"), (bob, "PHONE")])
    let large = #"{"a":""# + String(repeating: "x", count: EncryptionLimits.messageBytes) + #""}"#
    let many = (0...EncryptionLimits.devicesOfMessage).map { DeviceAddress(bob, DeviceID(trusted: ByteString("D\($0)"))) }
    for (content, devices) in [(large, [address(world.hosts[1])]), ("{}", many)] {
      let number = world.hosts[0].begin(.tell(type: type, content: try parsed(content), devices: devices), at: world.now)
      guard case .failed(.unusable)? = world.hosts[0].outcome(of: number) else { throw Untold() }
    }
  }
}
