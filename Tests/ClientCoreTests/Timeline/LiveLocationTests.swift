import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct LiveLocationTests {
  static let startTime = 1_700_000_000_000

  static func start(
    _ id: String, by user: String = "@alice:test", time: Int = startTime, timeout: Int = 60_000, isStable: Bool = true
  ) -> String {
    Wire.event(
      isStable ? "m.beacon_info" : "org.matrix.msc3672.beacon_info", id, by: user, time: time,
      #"{"description":"On my way","live":true,"timeout":\#(timeout),"m.asset":{"type":"m.self"}}"#, stateKey: user)
  }

  static func stop(_ id: String, by user: String = "@alice:test", time: Int = startTime + 30_000) -> String {
    Wire.event("m.beacon_info", id, by: user, time: time, #"{"live":false,"timeout":60000}"#, stateKey: user)
  }

  static func position(
    _ uri: String, _ id: String, of share: String, by user: String = "@alice:test", time: Int = startTime + 1000,
    isStable: Bool = true
  ) -> String {
    let relation = #""m.relates_to":{"rel_type":"m.reference","event_id":"\#(share)"}"#
    return Wire.event(
      isStable ? "m.beacon" : "org.matrix.msc3672.beacon", id, by: user, time: time,
      isStable
        ? #"{\#(relation),"m.location":{"uri":"\#(uri)"},"m.ts":\#(time)}"#
        : #"{\#(relation),"org.matrix.msc3488.location":{"uri":"\#(uri)"},"org.matrix.msc3488.ts":\#(time)}"#)
  }

  static func share(_ host: Host, _ index: Int = 0) -> LiveLocation? {
    guard case .message(let message)? = host.items().dropFirst(index).first?.content else { return nil }
    return message.liveLocation
  }

  @Test func `a share ends by itself when its time is over`() {
    var host = Host.inRoom([Self.start("$b")])
    #expect(Self.share(host)?.isLive == true)
    host.wait(59_000)
    #expect(Self.share(host)?.isLive == true)
    host.wait(2_000)
    #expect(Self.share(host)?.isLive == false)
  }

  @Test func `a share ends when it is stopped, or replaced by the person's next one`() {
    var host = Host.inRoom([Self.start("$b")])
    host.sync(Wire.join([Self.stop("$s")]))
    #expect(Self.share(host)?.isLive == false)
    host.sync(Wire.join([Self.start("$b2", time: Self.startTime + 40_000)]))
    #expect(Self.share(host, 1)?.isLive == true)
    host.sync(Wire.join([Self.start("$b3", time: Self.startTime + 50_000)]))
    #expect(Self.share(host, 1)?.isLive == false)
    #expect(Self.share(host, 2)?.isLive == true)
  }

  @Test func `the newest position of the person who shares is shown, in any order`() {
    var host = Host.inRoom([Self.position("geo:3,3", "$p3", of: "$b", time: Self.startTime + 3_000)])
    host.sync(
      Wire.join([
        Self.start("$b"), Self.position("geo:2,2", "$p2", of: "$b", time: Self.startTime + 2_000),
        Self.position("geo:9,9", "$x", of: "$b", by: "@bob:test", time: Self.startTime + 9_000),
        Self.position("geo:8,8", "$late", of: "$b", time: Self.startTime + 60_001)
      ]))
    #expect(Self.share(host)?.position?.uri.text == "geo:3,3")
    host.sync(Wire.join([TimelineTests.redaction(of: "$p3", "$r")]))
    #expect(Self.share(host)?.position?.uri.text == "geo:2,2")
  }

  @Test func `a live location needs its beginning and its duration`() {
    func read(_ content: String) -> [TimelineItem] {
      Host.inRoom([Wire.event("m.beacon_info", "$b", time: 5_000, content, stateKey: "@alice:test")]).items()
    }
    guard case .message(let message)? = read(#"{"description":"Walk","live":true,"timeout":60000,"m.ts":4000}"#).first?.content
    else { return #expect(Bool(false)) }
    #expect(message.body == "Walk" && message.liveLocation?.description == "Walk")
    #expect(message.liveLocation?.startedAtMilliseconds == 4_000 && message.liveLocation?.expiresAtMilliseconds == 64_000)
    guard case .message(let second)? = read(#"{"live":true,"timeout":60000}"#).first?.content else {
      return #expect(Bool(false))
    }
    #expect(second.liveLocation?.expiresAtMilliseconds == 65_000)
    guard case .unparsable? = read(#"{"live":true}"#).first?.content else { return #expect(Bool(false)) }
  }

  @Test(arguments: [
    ("geo:53.99803101552848,-8.25347900390625;u=10", "53.99803101552848 -8.25347900390625 nil Optional(10.0)"),
    ("geo:53.5,-8.25,100.5", "53.5 -8.25 Optional(100.5) nil"), ("geo:1,2;crs=WGS84", "1.0 2.0 nil nil"),
    ("geo:1,2;U=5", "1.0 2.0 nil Optional(5.0)"), ("geo:-90,180", "-90.0 180.0 nil nil")
  ]) func `geo URIs are read`(uri: String, expected: String) {
    let read = GeoURI(ByteString(uri))
    #expect(
      read.map { "\($0.latitude) \($0.longitude) \(String(describing: $0.altitude)) \(String(describing: $0.uncertainty))" }
        == expected)
    #expect(read?.text.string == uri)
  }

  @Test(arguments: [
    "", "geo:", "geo:1", "geo:1,", "geo:,2", "geo:91,0", "geo:0,181", "geo:1,2,3,4", "geo:a,b", "1,2", "geo:1.,2", "geo:1e3,2",
    "geo:1,2;crs=moon", "geo:99999999999999999999,1", "geo:--1,2", "geo:" + String(repeating: "1", count: 300)
  ]) func `what is no place on earth is no geo URI`(uri: String) {
    #expect(GeoURI(ByteString(uri)) == nil)
  }
}
