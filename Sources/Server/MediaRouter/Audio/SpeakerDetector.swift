/// Who speaks in a session, from the levels that packets carry (RFC 6464): the one who is louder than the present speaker now, for a while and on the
/// whole, after the three windows of Volfin and Cohen, "Dominant Speaker Identification for Multipoint Videoconferencing" (2013).
struct SpeakerDetector {
  static let interval = MediaTime.Interval.milliseconds(300)
  /// Quieter than this, in dB below the loudest there can be, is not speech.
  static let silence: UInt8 = 50

  private struct Voice {
    /// 0 (silent) to 1 (as loud as can be), smoothed over about 100 ms, 500 ms and 3 s.
    var now = 0.0
    var recently = 0.0
    var lately = 0.0
    var lastPacket: MediaTime

    mutating func update(_ loudness: Double, _ time: MediaTime) {
      let elapsed = max(0.001, min(1, (time - lastPacket).seconds))
      now += (loudness - now) * min(1, elapsed / 0.1)
      recently += (loudness - recently) * min(1, elapsed / 0.5)
      lately += (loudness - lately) * min(1, elapsed / 3)
      lastPacket = time
    }
  }

  private var voices: [TrackID: Voice] = [:]
  private(set) var speaker: TrackID?

  var isEmpty: Bool { voices.isEmpty }

  /// - Parameter level: 0 (loudest) to 127 dB below it, without the voice flag.
  mutating func receive(_ track: TrackID, level: UInt8, now: MediaTime) {
    let loudness = level > Self.silence ? 0 : Double(Self.silence - level) / Double(Self.silence)
    voices[track, default: Voice(lastPacket: now)].update(loudness, now)
  }

  mutating func remove(_ track: TrackID) {
    voices[track] = nil
    if speaker == track { speaker = nil }
  }

  /// Decides anew, each `interval`; true if it is another one now. Nobody speaking leaves the last speaker.
  mutating func decide(now: MediaTime) -> Bool {
    // Who sends nothing (discontinuous transmission, mute) is silent.
    for (track, voice) in voices where now - voice.lastPacket >= Self.interval { voices[track]!.update(0, now) }
    let present = speaker.flatMap { voices[$0] }
    let best = voices.filter { $0.key != speaker && Self.beats($0.value, present) }
      .max { ($0.value.recently, $1.key.number) < ($1.value.recently, $0.key.number) }
    guard let best else { return false }
    speaker = best.key
    return true
  }

  private static func beats(_ voice: Voice, _ present: Voice?) -> Bool {
    // A cough does not last for half of the middle window.
    guard voice.now > 0.05, voice.recently > 0.08 else { return false }
    guard let present else { return true }
    return voice.now > 2 * present.now && voice.recently > 1.5 * present.recently && voice.lately > 0.25 * present.lately
  }
}
