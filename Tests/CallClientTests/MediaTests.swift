import Foundation
import Testing

@testable import CallClient

@Suite struct MediaTests {
  @Test("A frame must have planes of its size")
  func frames() throws {
    let frame = try #require(VideoFrame(width: 5, height: 3, timestampMicroseconds: 7))
    #expect(frame.y.count == 15 && frame.u.count == 6 && frame.v.count == 6 && frame.isWellFormed)
    #expect(VideoFrame(width: 5, height: 3, timestampMicroseconds: 7, y: frame.y, u: frame.u, v: frame.v) == frame)
    #expect(VideoFrame(width: 5, height: 3, timestampMicroseconds: 7, y: frame.y, u: frame.u, v: []) == nil)
    #expect(VideoFrame(width: 0, height: 3, timestampMicroseconds: 0) == nil)
    #expect(VideoFrame(width: VideoFrame.sideLimit + 1, height: 1, timestampMicroseconds: 0) == nil)
    #expect(VideoFrame(width: .max, height: .max, timestampMicroseconds: 0) == nil)
    var cut = frame
    cut.v.removeLast()
    #expect(!cut.isWellFormed)
  }

  @Test("Sound is whole instants of one or two channels, at most a second")
  func sound() throws {
    #expect(try #require(AudioFrame(channels: 2, samples: [1, 2, 3, 4], timestampMicroseconds: 0)).count == 2)
    #expect(AudioFrame(channels: 2, samples: [1, 2, 3], timestampMicroseconds: 0) == nil)
    #expect(AudioFrame(channels: 1, samples: [], timestampMicroseconds: 0) == nil)
    #expect(AudioFrame(channels: 3, samples: [1, 2, 3], timestampMicroseconds: 0) == nil)
    #expect(AudioFrame(channels: 0, samples: [], timestampMicroseconds: 0) == nil)
    #expect(
      AudioFrame(channels: 1, samples: [Int16](repeating: 0, count: AudioFrame.countLimit + 1), timestampMicroseconds: 0) == nil
    )
  }

  // Proves L17
  @Test("The distances between frames stay, whatever clock a source has; one that is off begins anew")
  func clock() {
    var clock = SourceClock()
    #expect(clock.place(0, now: 5_000_000) == 5_000_000)
    #expect(clock.place(40_000, now: 5_041_000) == 5_040_000)
    #expect(clock.place(80_000, now: 5_079_000) == 5_080_000)
    #expect(clock.place(60_000_000, now: 5_120_000) == 5_120_000)
    #expect(clock.place(60_040_000, now: 5_165_000) == 5_160_000)
    #expect(clock.place(.max, now: 5_200_000) == 5_200_000)
    #expect(clock.place(.min, now: 5_240_000) == 5_240_000)
    #expect(clock.place(0, now: 5_280_000) == 5_280_000)
  }

  @Test("The test pattern has eight bars, and a band that moves")
  func pattern() throws {
    let still = try #require(TestPattern.still(width: 64, height: 32))
    #expect(still.isWellFormed)
    for (i, bar) in TestPattern.bars.enumerated() {
      #expect(still.y[31 * 64 + i * 8] == bar.y && still.u[i * 4] == bar.u && still.v[15 * 32 + i * 4 + 3] == bar.v)
    }
    let (one, two) = (TestPattern.frame(0, on: still, 1), TestPattern.frame(30, on: still, 2))
    #expect(one.isWellFormed && one.y[0] == 235 && two.y[0] == 180 && two.y[16 * 64] == 235 && one != two)
    #expect(try #require(TestPattern.still(width: 1, height: 1)).isWellFormed)
    #expect(TestPattern.frame(59, on: try #require(TestPattern.still(width: 3, height: 7)), 0).isWellFormed)
  }

  @Test("A tone goes on from piece to piece without a seam")
  func tone() throws {
    var samples: [Int16] = []
    for number in 49...51 { samples += try #require(TestTone.frame(Int64(number), hertz: 440, level: 1, 0)).samples }
    // A sine of 440 Hz climbs at most by its amplitude times 2π·440/48,000.
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 1_890 })
    #expect(samples.max()! > 32_000 && samples.min()! < -32_000)
  }

  @Test("Beats come with the times when they are due, until they are stopped")
  func metronome() async {
    let (beats, beat) = AsyncStream.makeStream(of: (Int64, Int64).self)
    let metronome = Metronome()
    metronome.start(every: .milliseconds(1)) { beat.yield(($0, $1)) }
    var heard: [(Int64, Int64)] = []
    for await each in beats {
      heard.append(each)
      if heard.count == 5 { break }
    }
    metronome.stop()
    for (one, two) in zip(heard, heard.dropFirst()) { #expect(two.1 - one.1 == (two.0 - one.0) * 1_000 && two.0 > one.0) }
  }

  // Proves L15
  @Test("A WAVE file says its length, and has the sound of one channel twice")
  func wave() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).wav").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try WAVFile(path: path)
    file.take(try #require(AudioFrame(channels: 1, samples: [1, -2], timestampMicroseconds: 0)))
    file.take(try #require(AudioFrame(channels: 2, samples: [3, 4], timestampMicroseconds: 0)))
    file.close()
    file.take(try #require(AudioFrame(channels: 1, samples: [9], timestampMicroseconds: 0)))
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(Array(bytes.prefix(WAVFile.headerBytes)) == WAVFile.header(soundBytes: 12))
    #expect(Array(bytes.dropFirst(WAVFile.headerBytes)) == [1, 0, 1, 0, 0xFE, 0xFF, 0xFE, 0xFF, 3, 0, 4, 0])
    #expect(bytes[4] == 48 && bytes[40] == 12 && bytes[22] == 2)
    #expect(throws: CallError.self) { try WAVFile(path: "/nowhere/at/all.wav") }
  }
}
