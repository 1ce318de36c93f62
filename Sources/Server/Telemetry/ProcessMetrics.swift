import Glibc

/// What the kernel knows of this process, under the names that Prometheus' own libraries use.
package enum ProcessMetrics {
  /// Adds CPU time, resident memory, open files and start time to `metrics`.
  package static func register(in metrics: Metrics = .process) {
    metrics.measured("process_cpu_seconds_total", "CPU time of all threads, in seconds", isCounter: true) {
      cpuSeconds()
    }
    metrics.measured("process_resident_memory_bytes", "Resident memory") { residentBytes() }
    metrics.measured("process_open_fds", "Open file descriptors") { Double(openFiles()) }
    let start = Double(WallTime.now().milliseconds) / 1000
    metrics.measured("process_start_time_seconds", "Start, in seconds since 1970") { start }
  }

  private static func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The second number of `/proc/self/statm`, in pages. Source: proc(5).
  private static func residentBytes() -> Double {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return .nan }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return .nan }
    let numbers = bytes[..<count].split(separator: UInt8(ascii: " "))
    guard numbers.count > 1, let pages = Int(String(decoding: numbers[1], as: UTF8.self)) else { return .nan }
    return Double(pages) * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// Counts the entries of `/proc/self/fd`, less the two links to the folder and the one that reads it.
  private static func openFiles() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return max(0, count - 3)
  }
}
