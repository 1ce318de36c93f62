import Glibc

/// What some processes and all their descendants have used so far.
struct ProcessUsage {
  /// User and system time, that of reaped children included; of theirs the kernel tells ticks (10 ms) only.
  var processorSeconds = 0.0
  var residentKilobytes = 0
  var proportionalKilobytes = 0

  init(of roots: [Int]) {
    guard !roots.isEmpty else { return }
    let table = Self.processes()
    var family = Set(roots)
    var grows = true
    while grows {
      grows = false
      for (process, entry) in table where family.contains(entry.parent) && family.insert(process).inserted {
        grows = true
      }
    }
    for process in family {
      guard let entry = table[process] else { continue }
      processorSeconds += entry.childrenSeconds + (Self.processorSeconds(of: process) ?? entry.processorSeconds)
      residentKilobytes += Self.kilobytes("VmRSS:", in: "/proc/\(process)/status")
      proportionalKilobytes += Self.kilobytes("Pss:", in: "/proc/\(process)/smaps_rollup")
    }
  }

  /// This program's own, in seconds.
  static func ownProcessorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// A process's own time to the nanosecond; nil where the kernel does not tell.
  private static func processorSeconds(of process: Int) -> Double? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(pid_t(process), &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  private struct Entry {
    let parent: Int
    let processorSeconds: Double
    let childrenSeconds: Double
  }

  /// man 5 proc, /proc/[pid]/stat: fields 4 (parent) and 14 to 17 (times), counted behind the name in parentheses.
  private static func processes() -> [Int: Entry] {
    var result: [Int: Entry] = [:]
    guard let directory = opendir("/proc") else { return result }
    defer { closedir(directory) }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let process = Int(name), let text = text(ofFile: "/proc/\(process)/stat"),
        let end = text.utf8.lastIndex(of: 0x29)
      else { continue }
      let fields = text[end...].split(separator: " ")
      guard fields.count > 15, let parent = Int(fields[2]) else { continue }
      let times = fields[12...15].map { Double(Int($0) ?? 0) / ticks }
      result[process] = Entry(
        parent: parent, processorSeconds: times[0] + times[1], childrenSeconds: times[2] + times[3])
    }
    return result
  }

  private static func kilobytes(_ name: String, in path: String) -> Int {
    for line in (text(ofFile: path) ?? "").split(separator: "\n") where line.hasPrefix(name) {
      return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    return 0
  }

  private static func text(ofFile path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 8192)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}
