import Glibc
import JSON

/// Parsing a first sync of about 5 MB, and what is done with single events.
///
/// - Parameter file: a sync answer to parse instead of the one made here.
/// - Returns: one line: parse, canonical form and splicing in MB/s of processor time, the best of many.
func benchmarkJSON(file: String?) -> String {
  let sync = file.flatMap(contents(of:)) ?? madeUpSync(bytes: 5_000_000)
  guard let parsed = try? JSON.parse(sync) else { return "json: the input is not JSON" }
  let event = madeUpEvent(7)
  let events = [[UInt8]](repeating: event, count: 5_000_000 / event.count)
  let parse = best(of: 40) { _ = try? JSON.parse(sync) }
  let walk = best(of: 20) { blackHole = bodies(in: parsed) }
  let canonical = best(of: 20) { for event in events.prefix(1_000) { _ = try? JSON.parse(event).canonical() } }
  let splice = best(of: 40) {
    var writer = JSONWriter(capacity: 5_200_000)
    writer.array { writer in for event in events { writer.raw(event) } }
    blackHole = writer.bytes.count
  }
  return """
    json: parse \(rate(sync.count, parse)) MB/s of a sync of \(sync.count) bytes, \
    extract \(Int(walk * 1e6)) µs, parse+canonical \(rate(event.count * 1_000, canonical)) MB/s of events of \
    \(event.count) bytes, splice \(rate(event.count * events.count, splice)) MB/s
    """
}

nonisolated(unsafe) private var blackHole = 0

private func rate(_ bytes: Int, _ seconds: Double) -> Int { Int(Double(bytes) / seconds / 1e6) }

/// Processor seconds of the fastest run.
private func best(of count: Int, _ body: () -> Void) -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
  var best = Double.infinity
  for _ in 0..<count {
    let start = now()
    body()
    best = min(best, now() - start)
  }
  return best
}

/// What a client takes from a sync: the bodies of all messages; the sum of their lengths.
private func bodies(in sync: JSON) -> Int {
  var sum = 0
  for room in sync["rooms"]?["join"]?.members.map(\.value) ?? [] {
    for event in room["timeline"]?["events"]?.elements.map({ $0 }) ?? [] {
      sum += event["content"]?["body"]?.text?.count ?? 0
    }
  }
  return sum
}

private func madeUpEvent(_ number: Int) -> [UInt8] {
  let text = "Message \(number): the quick brown fox jumps over the lazy dog, \"quoted\" and with a line\nbreak, naïve café 😀."
  let body = String(decoding: JSON.text(ByteString(text)), as: UTF8.self)
  return Array(
    """
    {"content":{"body":\(body),"format":"org.matrix.custom.html","formatted_body":"<b>\(number)</b> the quick brown fox",\
    "m.mentions":{"user_ids":["@user\(number % 97):example.org"]},"msgtype":"m.text"},\
    "event_id":"$u9FZBtJ3Y40bwixXYjglA-_JVHpVGBde2600f\(number)","origin_server_ts":\(1_700_000_000_000 + number),\
    "room_id":"!052MITTAXZ1zaFZF8VyoUxr-JE5mb3rzBz6UDKqSVHk","sender":"@user\(number % 97):example.org",\
    "type":"m.room.message","unsigned":{"age":\(number * 31),"membership":"join"}}
    """.utf8)
}

private func madeUpSync(bytes: Int) -> [UInt8] {
  var writer = JSONWriter(capacity: bytes + 4_096)
  var number = 0
  writer.object { writer in
    writer.member("next_batch", "s1_2_3")
    writer.key("rooms")
    writer.object { writer in
      writer.key("join")
      writer.object { writer in
        while writer.bytes.count < bytes {
          writer.key(ByteString("!room\(number):example.org"))
          writer.object { writer in
            writer.key("timeline")
            writer.object { writer in
              writer.key("events")
              writer.array { writer in
                for _ in 0..<20 {
                  writer.raw(madeUpEvent(number))
                  number += 1
                }
              }
            }
          }
        }
      }
    }
  }
  return writer.bytes
}

private func contents(of path: String) -> [UInt8]? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
  return bytes
}
