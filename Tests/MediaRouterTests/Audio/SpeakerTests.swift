@testable import MediaRouter
import Testing

@Suite struct SpeakerTests {
  private static let (a, b) = (TrackID(1), TrackID(2))

  /// Plays levels for a while, 50 packets a second each; how often the speaker changed.
  private static func play(
    _ detector: inout SpeakerDetector, _ now: inout MediaTime, milliseconds: Int64, _ levels: [(TrackID, UInt8)]
  ) -> Int {
    var changes = 0
    let end = now + .milliseconds(milliseconds)
    while now < end {
      now = now + .milliseconds(20)
      for (track, level) in levels { detector.receive(track, level: level, now: now) }
      if now.microseconds % SpeakerDetector.interval.microseconds == 0, detector.decide(now: now) { changes += 1 }
    }
    return changes
  }

  // Proves A8
  @Test func whoBeginsIsTheSpeakerAndStaysOneInSilence() {
    var (detector, now) = (SpeakerDetector(), MediaTime.zero)
    let silent = Self.play(&detector, &now, milliseconds: 1500, [(Self.a, 127), (Self.b, 90)])
    #expect(silent == 0 && detector.speaker == nil)
    let first = Self.play(&detector, &now, milliseconds: 1500, [(Self.a, 25), (Self.b, 127)])
    #expect(first == 1 && detector.speaker == Self.a)
    let after = Self.play(&detector, &now, milliseconds: 6000, [(Self.a, 127), (Self.b, 127)])
    #expect(after == 0 && detector.speaker == Self.a)
  }

  // Proves M13
  @Test func aCoughChangesNothing() {
    var (detector, now) = (SpeakerDetector(), MediaTime.zero)
    _ = Self.play(&detector, &now, milliseconds: 3000, [(Self.a, 25), (Self.b, 127)])
    let cough = Self.play(&detector, &now, milliseconds: 100, [(Self.a, 25), (Self.b, 5)])
    let after = Self.play(&detector, &now, milliseconds: 1500, [(Self.a, 25), (Self.b, 127)])
    #expect(cough + after == 0)
  }

  // Proves M13
  @Test func theNextSpeakerTakesOverSoon() {
    var (detector, now) = (SpeakerDetector(), MediaTime.zero)
    _ = Self.play(&detector, &now, milliseconds: 9000, [(Self.a, 25), (Self.b, 127)])
    let changes = Self.play(&detector, &now, milliseconds: 1800, [(Self.a, 127), (Self.b, 25)])
    #expect(changes == 1 && detector.speaker == Self.b)
  }

  @Test func twoAtATimeDoNotTakeTurns() {
    var (detector, now) = (SpeakerDetector(), MediaTime.zero)
    _ = Self.play(&detector, &now, milliseconds: 3000, [(Self.a, 25), (Self.b, 127)])
    let changes = Self.play(&detector, &now, milliseconds: 9000, [(Self.a, 27), (Self.b, 23)])
    #expect(changes == 0)
  }

  @Test func whoSendsNothingOrGoesIsSilent() {
    var (detector, now) = (SpeakerDetector(), MediaTime.zero)
    _ = Self.play(&detector, &now, milliseconds: 3000, [(Self.a, 25)])
    _ = Self.play(&detector, &now, milliseconds: 2100, [(Self.b, 25)])
    #expect(detector.speaker == Self.b)
    detector.remove(Self.b)
    #expect(detector.speaker == nil)
    detector.remove(Self.a)
    #expect(detector.isEmpty)
  }
}
