import Encryption
import Foundation
import JSON
import MatrixModel
import Olm

/// What the encryption machine costs natively: the figures of Documentation/Decisions/0023-encryption.md.
///
///     swift run -c release encryption-benchmark
///
/// Each line is the best of five rounds. With words, only steps whose name has them: `encryption-benchmark sessions there`.

// Before the keys of the other steps are made: they would count.
if CommandLine.arguments.dropFirst().first == "start", let path = CommandLine.arguments.last {
  let before = StoredMachine.peakKilobytes
  print(try await StoredMachine(path: path).start(), StoredMachine.peakKilobytes - before)
  exit(0)
}

struct Step {
  let name: String
  let unit: String
  /// How many units a round has.
  let count: Int
  /// Returns the milliseconds of a round.
  let round: () async -> Double
}

let clock = ContinuousClock()

func milliseconds(_ body: () -> Void) -> Double {
  let time = clock.measure(body)
  return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
}

let steps = [
  Step(name: "a room's key to 1,000 devices, sessions to be made", unit: "device", count: 1_000) {
    var room = SharedRoom(devices: 1_000)
    return milliseconds { room.share() }
  },
  Step(name: "the next key to 1,000 devices, sessions there", unit: "device", count: 1_000) {
    var room = SharedRoom(devices: 1_000)
    room.share()
    return milliseconds { room.shareAgain() }
  },
  Step(name: "an answer with 2,000 devices, signatures checked", unit: "device", count: 2_000) {
    var room = SharedRoom(devices: 2_000, learns: false)
    return milliseconds { room.learn() }
  },
  Step(name: "1,000 events of a room decrypted in one batch", unit: "event", count: 1_000) {
    var room = SharedRoom(devices: 1)
    room.share()
    let events = room.write(1_000)
    return milliseconds { room.read(events) }
  },
  Step(name: "a message encrypted, the key shared, to the records", unit: "message", count: 90) {
    var room = SharedRoom(devices: 10)
    room.share()
    return milliseconds { _ = room.write(90) }
  },
  Step(name: "an attachment of 10 MiB encrypted and hashed, in parts of 64 KiB", unit: "MiB", count: 10) {
    var random = SecretSource.repeating(seed: Array("attachment".utf8))
    var cipher = AttachmentCipher(random: &random)
    var part = [UInt8](repeating: 7, count: 1 << 16)
    return milliseconds {
      for _ in 0..<160 { cipher.encrypt(&part) }
      precondition(cipher.digest.count == 32)
    }
  },
  Step(name: "10,000 keys exported, from the records to the file", unit: "key", count: 10_000) {
    var machine = KeyedMachine(keys: roomKeys)
    return milliseconds { precondition(sealed(machine.exported()).count > 10_000) }
  },
  Step(name: "10,000 keys imported, from the file to the records", unit: "key", count: 10_000) {
    let file = keyFile
    var machine = KeyedMachine(keys: [])
    return milliseconds { machine.take(opened(file)) }
  },
  Step(name: "10,000 keys from the backup, from the answer to the records", unit: "key", count: 10_000) {
    let (answer, pair) = backedUp
    var machine = KeyedMachine(keys: [])
    return milliseconds {
      guard let json = try? JSON.parse(answer) else { fatalError("no answer") }
      var download = BackupDownload(json, of: .all, with: pair)
      while download.remaining > 0 { machine.take(download.next()) }
      precondition(download.count == roomKeys.count && download.unreadable == 0)
    }
  }
]

let roomKeys = KeyedMachine.newKeys(10_000)
/// Without the rounds of the passphrase, which take a third of a second by intent.
let fileKeys = Secret([UInt8](repeating: 7, count: KeyFile.keysByteCount))
let keyFile = sealed(roomKeys)

/// What a server answers to `GET /room_keys/keys`.
let backedUp: (answer: [UInt8], pair: Curve25519KeyPair) = {
  var random = SecretSource.repeating(seed: Array("backup".utf8))
  let pair = Curve25519KeyPair(from: &random)
  var backup = KeyBackup(version: "1", pair: pair), rooms: [String] = []
  let keys = Dictionary(uniqueKeysWithValues: roomKeys.map { ($0.name, [$0]) })
  for key in roomKeys { backup.add(key.name, at: 0) }
  while case let names = backup.nextNames(at: 60_000), !names.isEmpty {
    guard let upload = backup.upload(names, keys: { keys[$0] ?? [] }, isVerified: { _ in false }, random: &random),
      let answer = try? JSON.object({ $0.member("count", 0) })
    else { fatalError("no upload") }
    // Uploads have whole rooms: 20 sessions each.
    rooms.append(String(decoding: upload.body.dropFirst(#"{"rooms":{"#.utf8.count).dropLast(2), as: UTF8.self))
    _ = backup.uploaded(upload, answer)
  }
  return (Array("{\"rooms\":{\(rooms.joined(separator: ","))}}".utf8), pair)
}()

func sealed(_ keys: [RoomKey]) -> [UInt8] {
  var random = SecretSource.system
  let derivation = PassphraseKey(random: &random)
  guard let file = try? KeyFile.seal(ExportedRoomKey.file(of: keys), fileKeys, derivation, random: &random) else {
    fatalError("no file")
  }
  return file
}

func opened(_ file: [UInt8]) -> [RoomKey] {
  guard let text = try? KeyFile(file).open(fileKeys), let read = try? ExportedRoomKey.keys(ofFile: text) else {
    fatalError("no keys")
  }
  return read.keys
}

let words = CommandLine.arguments.dropFirst().joined(separator: " ")
for step in steps where words.isEmpty || step.name.contains(words) {
  var best = Double.infinity
  for _ in 0..<5 { best = min(best, await step.round()) }
  let each = Int(best * 1e3 / Double(step.count))
  print("\(step.name): \(Int(best + 0.5)) ms, \(each) µs a \(step.unit)")
}

guard words.isEmpty || words == "from a sealed file" else { exit(0) }
let stored = try await StoredMachine(sessions: KeyedMachine.newKeys(50_000))
let starts = try (0..<5).map { _ in try stored.startElsewhere() }
stored.remove()
let start = Int((starts.map(\.milliseconds).min() ?? 0) + 0.5), memory = Int(starts.map(\.kilobytes).max() ?? 0) / 1_024
print(
  "start from a sealed file with 500 rooms, 5,000 devices and 50,000 sessions: \(start) ms, \(memory) MB")
