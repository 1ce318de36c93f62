import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// How verifications end before they are done.
@Suite struct VerificationEndTests {
  /// The steps of both people, in order.
  private static let script: [(step: VerificationStep, isFirst: Bool)] = [
    (.accept, false), (.compare, true), (.confirm, true), (.confirm, false)
  ]

  @Test(arguments: [true, false], 0..<4)
  func `either side can end it at each step`(_ isFirst: Bool, _ steps: Int) throws {
    for play in [try VerificationPlay.ownDevices(), try VerificationPlay.people()] {
      var play = play
      try play.begin()
      for (step, isFirst) in Self.script.prefix(steps) { try play.perform(step, by: isFirst ? play.one : play.other) }
      try play.perform(.cancel, by: isFirst ? play.one : play.other)
      let ends = [play.one.cancellation, play.other.cancellation]
      #expect(ends == [.init(.user, isByUs: isFirst), .init(.user, isByUs: !isFirst)], "after \(steps)")
      #expect(play.one.name.user == bob || !play.other.isVerified(ann))
    }
  }

  @Test func `a request that nobody answers is put away after two minutes, and ends after ten`() throws {
    var play = try VerificationPlay.ownDevices()
    try play.begin()
    try play.pass(VerificationRun.answerMilliseconds)
    #expect(play.other.cancellation == .init(.timeout, isByUs: true) && play.stages[0] == .requested)
    try play.pass(VerificationRun.patienceMilliseconds - VerificationRun.answerMilliseconds)
    #expect(play.one.cancellation == .init(.timeout, isByUs: true))
    try play.pass(VerificationRun.patienceMilliseconds)
    #expect(play.one.verification == nil && play.other.verification == nil)
  }

  @Test func `a verification takes ten minutes at most`() throws {
    var play = try VerificationPlay.people()
    try play.compare()
    try play.perform(.confirm, by: play.one)
    let wake = try #require(play.other.wakeAt)
    #expect(wake <= play.world.now + VerificationRun.patienceMilliseconds)
    try play.pass(VerificationRun.patienceMilliseconds)
    #expect([play.one, play.other].allSatisfy { $0.cancellation?.reason == .timeout })
    #expect(!play.one.isVerified(bob) && !play.other.isVerified(ann))
  }

  @Test func `steps that do not fit the stage change nothing`() throws {
    var play = try VerificationPlay.ownDevices()
    try play.begin()
    #expect(try play.perform(.accept, by: play.one) == .unusable)
    for step in [VerificationStep.compare, .confirm, .mismatch, .scanned([])] {
      #expect(try play.perform(step, by: play.other) == .unusable)
    }
    try play.perform(.accept, by: play.other)
    #expect(try play.perform(.accept, by: play.other) == .unusable)
    #expect(try play.perform(.confirm, by: play.one) == .unusable)
    try play.perform(.compare, by: play.one)
    try play.perform(.confirm, by: play.one)
    #expect(try play.perform(.confirm, by: play.one) == .unusable)
    #expect(play.one.begin(.verification(77, .cancel), at: 0) > 0)
  }

  @Test func `who cannot sign is told before anybody is asked`() throws {
    var play = try VerificationPlay.ownDevices()
    func failure(_ target: VerificationTarget, by host: TestHost) -> EncryptionFailure? {
      let number = host.begin(.verify(target), at: play.world.now)
      if case .failed(let reason)? = host.outcome(of: number) { return reason }
      return nil
    }
    #expect(failure(.user(bob, in: ModelServer.room), by: play.other) == .unverified)
    #expect(failure(.user(ann, in: ModelServer.room), by: play.one) == .unusable)
    #expect(failure(.ownDevice(DeviceID(trusted: "NONE")), by: play.one) == .unusable)
    #expect(failure(.ownDevice(play.one.name.device), by: play.one) == .unusable)
    let lonely = TestHost(bob, "LONELY", at: play.world.server, now: play.world.now)
    play.world.hosts.append(lonely)
    try play.settle()
    #expect(failure(.ownDevices, by: lonely) == .incomplete)
  }

  // MARK: Crashes

  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], [true, false])
  func `a crash between any two batches ends in a result for both or an end for both`(
    _ point: TestHost.CrashPoint, _ isFirst: Bool
  ) throws {
    var results = 0
    for kind in 0...1 {
      for delay in 0..<40 {
        var play = kind == 0 ? try VerificationPlay.ownDevices() : try VerificationPlay.people()
        let crashing = isFirst ? play.one : play.other
        (crashing.crash, crashing.crashDelay) = (point, delay)
        try? play.begin()
        for (step, isFirst) in Self.script { _ = try? play.perform(step, by: isFirst ? play.one : play.other) }
        crashing.crash = nil
        try play.pass(1_000)
        for host in [play.one, play.other] {
          #expect(host.machine.verifications.runs.allSatisfy { $0.isOver || $0.view.stage == .requested }, "\(kind) \(delay)")
        }
        try play.pass(VerificationRun.patienceMilliseconds)
        try play.pass(VerificationRun.patienceMilliseconds)
        for host in [play.one, play.other] {
          #expect(host.machine.verifications.runs.isEmpty, "\(kind) \(delay)")
          #expect(!host.durable.store.keys.contains { $0.utf8.starts(with: RecordNames.verifications.utf8) })
        }
        if kind == 1, play.one.isVerified(bob) || play.other.isVerified(ann) { results += 1 }
        if kind == 0, play.other.machine.encryptionState.isVerified { results += 1 }
      }
    }
    #expect(results > 0)
  }
}
