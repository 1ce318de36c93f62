#if FUZZING
  import Glibc
  import Synchronization

  /// LLVM's coverage-guided engine, which the toolchain brings along. Source: LLVM's "libFuzzer" page, "Using libFuzzer as a library".
  enum LibFuzzer {
    /// The engine's callback has no place for a context.
    private static let chosen = Mutex<FuzzTarget?>(nil)

    /// Runs for so many seconds or until an input crashes, which ends the process with status 77.
    static func run(_ target: FuzzTarget, seconds: String, corpus: [String]) -> Int32 {
      chosen.withLock { $0 = target }
      let words =
        [
          "fuzz", "-max_total_time=\(seconds)", "-print_final_stats=1", "-timeout=5", "-rss_limit_mb=1024",
          "-verbosity=0"
        ]
        + corpus
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      var count = Int32(words.count)
      return arguments.withUnsafeMutableBufferPointer { buffer in
        var start = buffer.baseAddress
        return runDriver(&count, &start) { bytes, count in
          let target = LibFuzzer.chosen.withLock { $0 }
          target?.body(UnsafeRawBufferPointer(start: bytes, count: count))
          return 0
        }
      }
    }
  }

  @_silgen_name("LLVMFuzzerRunDriver")
  private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) -> Int32
#endif
