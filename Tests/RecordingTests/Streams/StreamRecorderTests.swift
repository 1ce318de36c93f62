import MediaRouter
import Testing

@testable import Recording

@Suite struct StreamRecorderTests {
  /// A publisher of sound and picture whose packets arrive at once, and the files of its recording.
  private struct World {
    var recorder = StreamRecorder(began: milliseconds(10_000))
    var files = RecordedFiles()
    var now: Int64 = 10_000
    var audio = PacketSource(.opus, id: 1)
    var video = PacketSource(.vp8, id: 2)
    private var step = 0

    init(audio: Bool = true, video: Bool = true) {
      if audio { recorder.add(SubscriptionID(1), .opus, now: milliseconds(now)) }
      if video { recorder.add(SubscriptionID(2), .vp8, now: milliseconds(now)) }
    }

    /// Sound every 20 ms, a picture every 40.
    mutating func run(_ duration: Int64, audio hasAudio: Bool = true, video hasVideo: Bool = true, videoDelay: Int64 = 0) {
      let end = now + duration
      while now < end {
        if hasAudio { send(audio.frame([[7]], at: now)) }
        if hasVideo, step % 2 == 0 {
          let isKey = step % 50 == 0 || !video.hasBegun
          send(video.frame([isKey ? vp8Key() : [0x11], [1]], at: now, timestamp: UInt32(90 * (now - videoDelay)), isKey: isKey))
          video.hasBegun = true
        }
        step += 1
        now += 20
        if step % 10 == 0 { recorder.advance(to: milliseconds(now)) }
        files.take(recorder.takeOutputs())
      }
    }

    private mutating func send(_ packets: [PacketSource.Sent]) {
      for sent in packets { recorder.receive(sent.packet, sent.media) }
    }

    mutating func finish() {
      recorder.finish(now: milliseconds(now))
      files.take(recorder.takeOutputs())
    }
  }

  private func blocks(_ file: [UInt8]) -> [(track: UInt8, time: Int64, isKey: Bool, bytes: [UInt8])] {
    WebMElement.read(file)[1].all(0x1F43_B675).flatMap(\.blocks)
  }

  @Test func soundAndPictureStandInOneFileAtTheirTimes() throws {
    var world = World()
    world.run(5_000)
    world.finish()
    let file = try #require(world.files.files.first)
    #expect(world.files.files.count == 1 && file.isWhole)
    #expect(file.part.tracks == [.vp8(width: 640, height: 480), .opus])
    #expect(file.part.startMilliseconds == 0 && file.part.bytes == file.bytes.count)
    #expect(file.part.durationMilliseconds == 5_000)
    #expect(file.part.audioFrames == 250 && file.part.videoFrames == 125)
    #expect(blocks(file.bytes).filter { $0.track == 1 }.map(\.time) == (0..<125).map { 40 * $0 })
    #expect(blocks(file.bytes).filter { $0.track == 2 }.map(\.time) == (0..<250).map { 20 * $0 })
  }

  /// What a kill takes away.
  @Test func whatIsWrittenLagsByTwoSecondsAtMost() throws {
    var world = World()
    for _ in 0..<40 {
      world.run(250)
      let left = recovery(of: world.files.files.first?.bytes ?? [])
      #expect(left?.durationMilliseconds ?? 0 >= world.now - 10_000 - 2_000)
    }
  }

  @Test func aPictureThatComesLaterBeginsAnotherFile() throws {
    var world = World()
    world.run(4_000, video: false)
    world.run(2_000)
    world.finish()
    #expect(world.files.files.map(\.part.tracks) == [[.opus], [.vp8(width: 640, height: 480), .opus]])
    #expect(world.files.files[1].part.startMilliseconds == 4_000)
    #expect(world.files.files.map(\.part.audioFrames).reduce(0, +) == 300)
    #expect(world.files.files[1].part.videoFrames == 50)
  }

  @Test func aPictureThatComesSoonStandsInTheFirst() {
    var world = World()
    world.run(2_000, video: false)
    world.run(2_000)
    world.finish()
    #expect(world.files.files.map(\.part.tracks) == [[.vp8(width: 640, height: 480), .opus]])
    #expect(world.files.files[0].part.audioFrames == 200)
  }

  @Test func soundThatComesLaterBeginsAnotherFileWithAKeyFrame() throws {
    var world = World(audio: false)
    world.run(3_500, audio: false)
    world.recorder.add(SubscriptionID(1), .opus, now: milliseconds(world.now))
    world.run(3_000)
    world.finish()
    #expect(world.files.files.map(\.part.tracks.count) == [1, 2])
    #expect(world.files.keyFramesWanted == 1)
    let first = try #require(blocks(world.files.files[1].bytes).first { $0.track == 1 })
    #expect(first.isKey)
  }

  @Test func aStreamWithoutPictureIsAFileOfSound() {
    var world = World(video: false)
    world.run(1_000, video: false)
    world.finish()
    #expect(world.files.files.map(\.part.tracks) == [[.opus]])
    #expect(world.files.files[0].part.durationMilliseconds == 1_000)
  }

  @Test func whatIsShorterThanTheDelayIsOneFile() {
    var world = World()
    world.run(300)
    world.finish()
    #expect(world.files.files.map(\.part.tracks.count) == [2])
    #expect(world.files.files[0].part.audioFrames == 15)
  }

  @Test func aStreamOfNothingLeavesNoFile() {
    var world = World()
    world.now += 5_000
    world.finish()
    #expect(world.files.files.isEmpty)
  }

  /// The picture arrives 300 ms later than the sound of its time; reports tell, at any moment the same.
  @Test func reportsBringSoundAndPictureTogether() throws {
    var world = World()
    world.run(1_000, videoDelay: 300)
    for _ in 0..<5 {
      for (id, rate) in [(1, 48), (2, 90)] as [(UInt64, Int64)] {
        let ntp = UInt64(world.now / 1_000) << 32 + (UInt64(world.now % 1_000) << 32) / 1_000
        world.recorder.receive(
          TappedBatch.Report(subscription: SubscriptionID(id), ntpTime: ntp, timestamp: UInt32(rate * world.now)))
      }
      world.run(340, videoDelay: 300)
    }
    world.finish()
    let file = blocks(world.files.files[0].bytes)
    for (track, step) in [(1, 40), (2, 20)] as [(UInt8, Int64)] {
      let times = file.filter { $0.track == track }.map(\.time)
      let steps = zip(times, times.dropFirst()).map { $1 - $0 }
      // But for the moment of the first report each comes after the one before it.
      #expect(steps.count { abs($0 - step) > 1 } <= (track == 1 ? 8 : 0), "\(steps)")
    }
    let last = try #require(file.last { $0.track == 1 })
    // A picture sent at a time was taken 300 ms before it.
    #expect(abs(last.time - (world.now - 20 - 300 - 10_000)) <= 22, "\(last.time)")
  }

  /// A burst in the beginning, as of a publisher that begins late: its first packet comes 400 ms after its time.
  @Test func whatWasDelayedLeastTellsTheTime() {
    var world = World(video: false)
    for i in 0..<50 {
      let time = 10_000 + Int64(20 * i)
      let sent = world.audio.frame([[1]], at: max(time, 10_400), timestamp: UInt32(48 * time))[0]
      world.recorder.receive(sent.packet, sent.media)
    }
    world.now = 11_000
    world.finish()
    #expect(blocks(world.files.files[0].bytes).map(\.time) == (0..<50).map { 20 * $0 })
  }

  @Test func aClockThatIsNotBelievedChangesNothing() {
    var world = World()
    world.run(1_000)
    for id in [1, 2] as [UInt64] {
      world.recorder.receive(TappedBatch.Report(subscription: SubscriptionID(id), ntpTime: .max / id, timestamp: 77))
    }
    world.run(1_000)
    world.finish()
    #expect(world.files.files[0].part.durationMilliseconds == 2_000)
  }

  /// What restarts its timestamps goes on by its arrival.
  @Test func timestampsThatJumpAreNotBelieved() {
    var world = World(video: false)
    world.run(1_000, video: false)
    world.audio.sequence += 0
    let before = world.now
    for i in 0..<50 {
      let packet = world.audio.frame([[9]], at: before + Int64(20 * i), timestamp: UInt32(4_000_000_000 + 960 * i))
      for sent in packet { world.recorder.receive(sent.packet, sent.media) }
    }
    world.now += 1_000
    world.finish()
    #expect(world.files.files[0].part.durationMilliseconds == 2_000)
  }

  /// Each is near enough to the one before it. A duration of hours would have a composer busy for hours.
  @Test func reportsMoveNoFrameFarFromItsArrival() {
    var world = World()
    world.run(1_000)
    for i in 0..<2_000 as Range<UInt64> {
      for id in [1, 2] as [UInt64] {
        let rate: Int64 = id == 1 ? 48 : 90
        world.recorder.receive(
          TappedBatch.Report(
            subscription: SubscriptionID(id), ntpTime: (1_000 + i) << 32, timestamp: UInt32(rate * world.now)))
      }
    }
    world.run(1_000)
    world.finish()
    #expect(world.files.files.map(\.part.durationMilliseconds).reduce(0, +) <= 5_000)
    #expect(world.files.files.allSatisfy { $0.part.startMilliseconds <= 4_000 })
  }

  @Test func framesThatAreTooManyMakeNoLongerFile() {
    var world = World(video: false)
    // A second of 40 for each millisecond.
    for i in 0..<40_000 as Range<Int64> {
      for sent in world.audio.frame([[1]], at: 10_000 + i / 40) { world.recorder.receive(sent.packet, sent.media) }
      if i % 4_000 == 0 { world.recorder.advance(to: milliseconds(10_000 + i / 40)) }
    }
    world.now = 11_000
    world.finish()
    #expect(world.files.files.count == 1)
    #expect((1_000...6_100).contains(world.files.files[0].part.durationMilliseconds))
    // What comes afterwards at its time is there again.
    #expect(world.files.files[0].part.audioFrames <= 6_100)
  }
}
