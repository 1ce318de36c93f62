import JSON
import MatrixModel
import MediaRouter
import Testing

@testable import CallServer

@Suite struct SessionRecordingTests {
  private static let start = #""action":"start""#
  private static let stop = #""action":"stop""#

  private func tracks(_ fixture: SessionFixture) -> Set<TrackID> { Set(fixture.state.recording!.recorders.keys) }

  private func added(_ commands: [RecordingCommand]) -> [(StreamID, Codec)] {
    commands.compactMap { if case .add(_, let stream, _, let codec) = $0 { (stream.id, codec) } else { nil } }
  }

  // Proves L14, M48
  @Test func `everybody is told of a recording, late participants too`() throws {
    let fixture = SessionFixture()
    let (moderator, other) = (try fixture.connect(.moderator), try fixture.connect())
    fixture.recordingOptions.name = "the talk"
    let answer = try fixture.ask(moderator, "record", Self.start)
    let recording = try #require(RecordingID(answer["archive"]))
    #expect(answer["type"]?.string == "done")
    for client in [moderator, other] {
      let told = try #require(fixture.told(client).last { $0["type"]?.string == "recording_started" })
      #expect(RecordingID(told["archive"]) == recording && told["name"]?.string == "the talk")
    }
    #expect(RecordingID(try fixture.greeting()["recording"]) == recording)
    try fixture.ask(moderator, "record", Self.stop)
    for client in [moderator, other] {
      #expect(
        fixture.told(client).contains { $0["type"]?.string == "recording_stopped" && RecordingID($0["archive"]) == recording })
    }
    #expect(try fixture.greeting()["recording"] == nil)
    #expect(try fixture.refusal(moderator, "record", Self.stop) == "invalid")
    #expect(try fixture.refusal(moderator, "record", #""action":"pause""#) == "invalid")
  }

  @Test func `what is published before and after is recorded, and nothing once it has ended`() throws {
    let fixture = SessionFixture()
    let (moderator, alice, bob) = (try fixture.connect(.moderator), try fixture.connect(data: "Alice"), try fixture.connect())
    let first = try fixture.publish(alice)
    var model = RouterModel()
    try fixture.ask(moderator, "record", Self.start)
    #expect(try fixture.refusal(moderator, "record", Self.start) == "invalid")
    let second = try fixture.publish(bob, video: false)
    model.take(fixture.takeCommands())
    #expect(Set(model.recorded.values) == tracks(fixture) && model.recorded.count == 3)
    let added = added(fixture.recordingCommands)
    #expect(added.filter { $0.0 == first }.map(\.1) == [.opus, .vp8] && added.filter { $0.0 == second }.map(\.1) == [.opus])
    // The recorder knows a name before the router does.
    guard case .add(_, let described, let name, _)? = fixture.recordingCommands.dropFirst().first else {
      Issue.record("nothing was added")
      return
    }
    #expect(described.connectionData == "Alice" && model.recorded[name] != nil)
    try fixture.ask(alice, "unpublish", #""stream":"\#(first)""#)
    #expect(fixture.recordingCommands.contains { if case .endStream(_, first) = $0 { true } else { false } })
    try fixture.ask(moderator, "record", Self.stop)
    model.take(fixture.takeCommands())
    #expect(model.recorded.isEmpty)
    #expect(fixture.recordingCommands.last.map { if case .finish = $0 { true } else { false } } == true)
    fixture.recordingCommands = []
    _ = try fixture.publish(alice)
    model.take(fixture.takeCommands())
    #expect(model.recorded.isEmpty && fixture.recordingCommands.isEmpty)
  }

  private func changes(_ fixture: SessionFixture) -> [RecordingChange] {
    fixture.recordingCommands.compactMap { if case .change(_, let change) = $0 { change } else { nil } }
  }

  // Proves M29
  @Test func `the recorder is told of layouts and classes: those there are, and those that change`() throws {
    let fixture = SessionFixture()
    let (moderator, alice) = (try fixture.connect(.moderator), try fixture.connect())
    let (first, second) = (try fixture.publish(alice), try fixture.publish(moderator))
    try fixture.state.setLayoutClasses([(first, ["focus"])])
    fixture.collect()
    #expect(fixture.recordingCommands.isEmpty)
    try fixture.ask(moderator, "record", Self.start)
    let recording = try #require(fixture.state.recordingID)
    var layout = RecordingLayout()
    layout.kind = .pip
    try fixture.state.setLayout(layout, of: recording)
    try fixture.state.setLayoutClasses([(first, []), (second, ["full"])])
    // Nothing is new about these.
    try fixture.state.setLayoutClasses([(first, []), (second, ["full"])])
    fixture.collect()
    #expect(
      changes(fixture) == [.classes(first, ["focus"]), .layout(layout), .classes(first, []), .classes(second, ["full"])])
    #expect(throws: CallRefusal.self) { try fixture.state.setLayout(layout, of: RecordingID(trusted: "another")) }
    try fixture.ask(moderator, "record", Self.stop)
    #expect(throws: CallRefusal.self) { try fixture.state.setLayout(layout, of: recording) }
  }

  @Test func `a recording takes so many changes of its picture`() throws {
    let fixture = SessionFixture()
    let moderator = try fixture.connect(.moderator)
    let stream = try fixture.publish(moderator)
    try fixture.ask(moderator, "record", Self.start)
    let recording = try #require(fixture.state.recordingID)
    for _ in 0..<CallLimits.changesOfRecording { try fixture.state.setLayout(RecordingLayout(), of: recording) }
    fixture.collect()
    #expect(changes(fixture).count == CallLimits.changesOfRecording)
    #expect(throws: CallRefusal.self) { try fixture.state.setLayout(RecordingLayout(), of: recording) }
    #expect(throws: CallRefusal.self) { try fixture.state.setLayoutClasses([(stream, ["focus"])]) }
    #expect(fixture.state.streams[stream]?.layoutClasses == [])
  }

  @Test func `a recording ends when the last one leaves or its time is over`() throws {
    for isTime in [true, false] {
      let fixture = SessionFixture()
      let moderator = try fixture.connect(.moderator)
      _ = try fixture.publish(moderator)
      try fixture.ask(moderator, "record", Self.start)
      var model = RouterModel()
      model.take(fixture.takeCommands())
      if isTime {
        fixture.pass(CallLimits.recordingMilliseconds - 1)
        #expect(fixture.state.recordingID != nil)
        #expect(fixture.state.deadline == fixture.now.monotonic + 1)
        fixture.pass(1)
      } else {
        fixture.lose(moderator)
        fixture.pass(CallLimits.resumeMilliseconds - 1)
        #expect(fixture.state.recordingID != nil)
        fixture.pass(1)
        #expect(fixture.state.isEmpty)
      }
      model.take(fixture.takeCommands())
      #expect(fixture.state.recordingID == nil && model.recorded.isEmpty)
      #expect(fixture.recordingCommands.count { if case .finish = $0 { true } else { false } } == 1)
    }
  }

  @Test func `a session that is always recorded begins with its first stream`() throws {
    let fixture = SessionFixture(isAlwaysRecorded: true)
    let alice = try fixture.connect()
    #expect(fixture.recordingRequests.isEmpty)
    _ = try fixture.publish(alice)
    #expect(fixture.recordingRequests.count == 1 && tracks(fixture).count == 2)
    let bob = try fixture.connect()
    _ = try fixture.publish(bob)
    #expect(fixture.recordingRequests.count == 1 && tracks(fixture).count == 4)
  }

  @Test func `relayed sessions and those nobody is in are not recorded`() throws {
    let options = RecordingOptions()
    let relayed = SessionFixture(isRouted: false)
    _ = try relayed.connect()
    let empty = SessionFixture()
    let id = RecordingID(trusted: "a")
    #expect(throws: CallRefusal.self) { try relayed.state.startRecording(id, options, now: relayed.now) }
    #expect(throws: CallRefusal.self) { try empty.state.startRecording(id, options, now: empty.now) }
    #expect(empty.state.isEmpty)
  }

  @Test(arguments: [(true, false), (false, true)]) func `one kind alone is recorded where only that is wanted`(
    audio: Bool, video: Bool
  ) throws {
    let fixture = SessionFixture()
    let moderator = try fixture.connect(.moderator)
    (fixture.recordingOptions.hasAudio, fixture.recordingOptions.hasVideo) = (audio, video)
    try fixture.ask(moderator, "record", Self.start)
    _ = try fixture.publish(moderator)
    #expect(added(fixture.recordingCommands).map(\.1) == [audio ? .opus : .vp8])
  }

  @Test func `in manual mode streams are recorded one by one`() throws {
    let fixture = SessionFixture()
    let (moderator, other) = (try fixture.connect(.moderator), try fixture.connect())
    fixture.recordingOptions.isManual = true
    let (first, second) = (try fixture.publish(moderator), try fixture.publish(other))
    let recording = try #require(RecordingID(try fixture.ask(moderator, "record", Self.start)["archive"]))
    var model = RouterModel()
    func recorded() -> Int {
      fixture.collect()
      model.take(fixture.takeCommands())
      return model.recorded.count
    }
    #expect(recorded() == 0)
    try fixture.state.addStream(first, to: recording, audio: true, video: true)
    #expect(recorded() == 2)
    try fixture.state.addStream(first, to: recording, audio: true, video: false)
    #expect(recorded() == 1)
    try fixture.state.addStream(second, to: recording, audio: false, video: true)
    #expect(recorded() == 2)
    try fixture.state.removeStream(first, from: recording)
    #expect(recorded() == 1)
    let nobody = StreamID(trusted: "00000000-0000-4000-8000-000000000000")
    #expect(throws: CallRefusal.self) { try fixture.state.addStream(nobody, to: recording, audio: true, video: true) }
    #expect(throws: CallRefusal(.notFound, "This archive is not being recorded.")) {
      try fixture.state.removeStream(second, from: RecordingID(trusted: "another"))
    }
  }

  /// What comes and goes in any order leaves nothing behind.
  @Test(arguments: 1...10 as ClosedRange<UInt64>) func `recordings leave nothing in the router`(seed: UInt64) throws {
    let fixture = SessionFixture(seed: seed)
    var random = RandomSource(seed: seed)
    let moderator = try fixture.connect(.moderator)
    var model = RouterModel()
    var streams: [StreamID] = []
    var (begun, finished) = (0, 0)
    for _ in 0..<200 {
      fixture.pass(60)
      fixture.receive(#"{"type":"ack","seq":\#(fixture.state.connections[moderator.id]!.outbox.last)}"#, on: moderator.socket)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: fixture.send(moderator, "record", Self.start)
      case 1: fixture.send(moderator, "record", Self.stop)
      case 2, 3:
        let client = try fixture.connect()
        streams.append(try fixture.publish(client, video: Bool.random(using: &random)))
        if Bool.random(using: &random) { fixture.send(client, "leave") }
      default:
        if let stream = streams.randomElement(using: &random) {
          fixture.send(moderator, "unpublish", #""stream":"\#(stream)""#)
        }
      }
      model.take(fixture.takeCommands())
      #expect(Set(model.recorded.keys) == Set(fixture.state.recording?.recorders.values.map(\.subscription) ?? []))
      for command in fixture.recordingCommands {
        switch command {
        case .begin: begun += 1
        case .finish: finished += 1
        default: break
        }
      }
      fixture.recordingCommands = []
      #expect(begun - finished == (fixture.state.recordingID == nil ? 0 : 1))
    }
    #expect(begun > 5)
  }
}
