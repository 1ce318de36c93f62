import Glibc

// client-benchmark: what the client SDK costs on its own, without a server. The store is made on the first run and kept.
//     client-benchmark [--rooms 1000] [--events 1000] [--folder /tmp] [--json]
//     client-benchmark --search                    search in 100,000 stored messages of encrypted rooms
//     client-benchmark record FOLDER               the answers that it reads, for `Benchmarks/compare-clients`
//     client-benchmark fill FILE ROOMS EVENTS     (what it calls itself, so that its own memory stays that of a client)

let arguments = Array(CommandLine.arguments.dropFirst())

func option(_ name: String, _ fallback: String) -> String {
  guard let i = arguments.firstIndex(of: "--" + name), i + 1 < arguments.count else { return fallback }
  return arguments[i + 1]
}

if arguments.first == "fill", arguments.count == 4 {
  try await fillStore(arguments[1], rooms: Int(arguments[2]) ?? 0, events: Int(arguments[3]) ?? 0)
} else if arguments.first == "record", arguments.count == 2 {
  try recordAnswers(in: arguments[1])
} else if arguments.contains("--search") {
  try await measureSearch(option("folder", "/tmp"))
} else {
  let rooms = Int(option("rooms", "1000")) ?? 1_000
  let events = Int(option("events", "1000")) ?? 1_000
  let path = option("folder", "/tmp") + "/martlet-client-\(rooms)-\(events).sqlite"
  if access(path, F_OK) != 0 {
    if !arguments.contains("--json") { print("filling \(path) …") }
    guard await run(["fill", path, "\(rooms)", "\(events)"]) else { exit(1) }
  }
  try await measureStore(path)
  try await measureIncrementalSync(path)
  try await measureFirstSync()
}
