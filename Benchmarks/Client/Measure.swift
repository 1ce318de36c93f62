import Glibc

/// Wall and processor seconds since it was made.
struct Watch {
  private let wall = Watch.seconds(CLOCK_MONOTONIC)
  private let processor = Watch.seconds(CLOCK_PROCESS_CPUTIME_ID)

  var wallMilliseconds: Double { (Watch.seconds(CLOCK_MONOTONIC) - wall) * 1e3 }
  var processorMilliseconds: Double { (Watch.seconds(CLOCK_PROCESS_CPUTIME_ID) - processor) * 1e3 }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// One figure, as a line for people or, with `--json`, as an object for `Benchmarks/compare-clients`.
func report(_ name: String, _ text: String, _ value: Double, _ unit: String) {
  let number = value < 1 ? "\((value * 10_000).rounded() / 10_000)" : "\((value * 100).rounded() / 100)"
  if arguments.contains("--json") {
    print(#"{"name":"\#(name)","value":\#(number),"unit":"\#(unit)"}"#)
  } else {
    print("\(text): \(number) \(unit)")
  }
}

func residentMegabytes() -> Double {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard fgets(&line, 128, file) != nil else { return 0 }
  let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
  return (fields.count > 1 ? Double(fields[1]) ?? 0 : 0) * 4096 / 1e6
}

/// This program once more; false where it failed.
func run(_ arguments: [String]) async -> Bool {
  var pointers = (["client-benchmark"] + arguments).map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  var id = pid_t()
  guard posix_spawn(&id, "/proc/self/exe", nil, nil, &pointers, environ) == 0 else { return false }
  var status: Int32 = 0
  while waitpid(id, &status, 0) < 0, errno == EINTR {}
  return status == 0
}
