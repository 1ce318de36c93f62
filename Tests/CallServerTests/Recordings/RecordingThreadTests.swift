import Glibc
import MediaRouter
import Synchronization
import Testing

@testable import CallServer

@Suite struct RecordingThreadTests {
  /// What a recorder that is too slow for it leaves in memory; packets need no content for that.
  @Test(arguments: [0, 1_200]) func `what waits for the thread is bounded`(_ bytesOfPacket: Int) throws {
    var template = Array("/tmp/martlet-recorder-XXXXXX".utf8CString)
    let directory = String(cString: mkdtemp(&template))
    let recorder = try RecordingThread(in: directory, RecordingUsage(quotaBytes: nil), onFinish: { _ in }, refresh: { _ in })
    var batch = TappedBatch()
    batch.bytes = [UInt8](repeating: 0, count: 1_000 * bytesOfPacket)
    for i in 0..<1_000 {
      batch.packets.append(
        TappedBatch.Packet(
          subscription: SubscriptionID(1), sequence: UInt64(i), timestamp: 0, marker: false, startsFrame: false,
          isKeyFrame: false,
          arrival: MediaTime(microseconds: 0), media: 0..<bytesOfPacket))
    }
    // It has not been started.
    let fitting = CallLimits.recordedBytesWaiting / batch.cost
    #expect((10...2_000).contains(fitting))
    for _ in 0..<fitting { recorder.submit(batch) }
    #expect(recorder.dropped.load(ordering: .relaxed) == 0)
    recorder.submit(batch)
    #expect(recorder.dropped.load(ordering: .relaxed) == 1)
    rmdir(directory + "/recordings")
    rmdir(directory)
  }
}
