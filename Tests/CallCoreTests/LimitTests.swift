import JSON
import MatrixModel
import Testing

@testable import CallCore

/// What a server or another side may make a client keep, on both sides of each limit.
struct LimitTests {
  private func greeted(_ members: String, mode: String = "routed") -> CallSession {
    var session = CallSession(randomSeed: 1, subscribesToAll: false)
    _ = session.handle(.command(.connect(CallToken("t"), session: "s"), id: 1), now: 0)
    _ = session.handle(.socketOpened(1), now: 0)
    let text = #"{"type":"connected","connection":{"id":"me","role":"publisher"},"key":"k","mode":"\#(mode)"\#(members)}"#
    _ = session.handle(.text(1, Array(text.utf8)), now: 0)
    #expect(session.state == .connected)
    return session
  }

  private func list(_ count: Int, _ entry: (Int) -> String) -> String { (0..<count).map(entry).joined(separator: ",") }

  @Test func connectionsAndStreams() {
    let connections = list(CallLimits.connections + 1) { #"{"id":"c\#($0)"}"# }
    let streams = list(CallLimits.streams + 1) { #"{"id":"s\#($0)","connection":"c0"}"# }
    let session = greeted(#","connections":[\#(connections)],"streams":[\#(streams)]"#)
    #expect(session.connections.count == CallLimits.connections && session.streams.count == CallLimits.streams)
  }

  @Test func texts() {
    let fits = String(repeating: "d", count: CallLimits.connectionDataBytes)
    let session = greeted(#","connections":[{"id":"a","data":"\#(fits)"},{"id":"b","data":"\#(fits)d"}]"#)
    #expect(session.connections.map(\.data.count) == [CallLimits.connectionDataBytes, 0])
    let name = String(repeating: "n", count: CallLimits.nameBytes)
    let streams = #"{"id":"s","connection":"a","name":"\#(name)"},{"id":"t","connection":"a","name":"\#(name)n"}"#
    #expect(greeted(#","streams":[\#(streams)]"#).streams.map(\.name.count) == [CallLimits.nameBytes, 0])
  }

  @Test func iceServers() {
    let servers = list(CallLimits.iceServers + 1) { #"{"urls":["stun:\#($0)"],"username":"u"}"# }
    #expect(greeted(#","ice_servers":[\#(servers),{"urls":"x"},{},7]"#).iceServers.count == CallLimits.iceServers)
  }

  @Test(arguments: [0, 1])
  func messages(over: Int) {
    var session = greeted("")
    let frame = #"{"seq":1,"type":"speaker","stream":"x","pad":""}"#
    let pad = String(repeating: "p", count: CallLimits.descriptionMessageBytes - frame.utf8.count + over)
    let text = frame.replacing("\"pad\":\"\"", with: "\"pad\":\"\(pad)\"")
    #expect(text.utf8.count == CallLimits.descriptionMessageBytes + over)
    _ = session.handle(.text(1, Array(text.utf8)), now: 1)
    #expect((session.speaker == nil) == (over == 1) && (session.state == .connected) == (over == 0))
  }

  @Test func peersOfARelayedSession() {
    let simulation = Simulation(seed: 5)
    let server = TestServer(simulation, mode: "relayed")
    let clients = (0...CallLimits.relayedPeers + 1).map { TestClient("c\($0)", server, simulation) }
    for client in clients { client.connect() }
    simulation.run(for: 2_000)
    clients[0].command(.publish(1, .microphone, name: "", audio: true, video: false))
    simulation.run(for: 5_000)
    #expect(clients[0].host.peers.count == CallLimits.relayedPeers)
  }

  @Test(arguments: [0, 1])
  func messagesToTheServer(over: Int) {
    var session = greeted("")
    let frame = #"{"type":"disconnect","id":1,"connection":""}"#
    let id = ByteString(String(repeating: "c", count: CallLimits.messageBytes - frame.utf8.count + over))
    let effects = session.handle(.command(.disconnect(connection: id), id: 9), now: 1)
    let isSaid = effects.contains {
      if case .sendText(_, let text) = $0 { text.bytes.count == CallLimits.messageBytes } else { false }
    }
    #expect(isSaid == (over == 0))
  }

  @Test func streamsOfACall() {
    let streams = list(CallLimits.mediaStreams + 1) { #""s\#($0)":{"purpose":"m.usermedia"}"# }
    let json = try? JSON.parse(Array("{\(streams)}".utf8))
    #expect(json.map { RemoteMedia.list($0).count } == CallLimits.mediaStreams)
    let odd = try? JSON.parse(Array(#"{"a":{"purpose":"m.other"},"b":{},"c":7,"d":{"purpose":"m.screenshare"}}"#.utf8))
    #expect(odd.map { RemoteMedia.list($0).map(\.stream) } == ["d"])
  }

  @Test(arguments: [0, 1])
  func eventsOfACall(over: Int) {
    let frame = #"{"call_id":"x","version":"1","party_id":"p","pad":""}"#
    let pad = String(repeating: "p", count: CallLimits.contentBytes - frame.utf8.count + over)
    let text = frame.replacing("\"pad\":\"\"", with: "\"pad\":\"\(pad)\"")
    #expect((MatrixCallContent(Array(text.utf8)) == nil) == (over == 1))
  }
}
