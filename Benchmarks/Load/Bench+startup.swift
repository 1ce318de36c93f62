import Glibc

/// From the start of a server's program to its first answer.
extension Bench {
  /// `--exec` is run by the shell, in a process group of its own that is ended afterwards.
  func startup() {
    guard !options.command.isEmpty else { fail("startup wants --exec COMMAND") }
    for repetition in 0..<options.repetitions {
      let start = monotonicSeconds()
      guard let process = spawn(options.command) else { fail("cannot start \(options.command)") }
      let measurement = Measurement(processes: options.processes + [Int(process)])
      measurement.start()
      let answered = firstAnswer(of: process, until: start + options.timeoutSeconds)
      measurement.stop()
      if let answered {
        measurement.succeeded(after: answered - start)
      } else {
        measurement.failed("the server ended, or did not answer within \(options.timeoutSeconds.fixed(0)) s")
      }
      measurement.set(startSeconds: start, endSeconds: answered ?? monotonicSeconds())
      report(
        measurement, ["\"first_200_s\":\(((answered ?? start - 1) - start).fixed(3))", "\"rep\":\(repetition)"])
      end(process)
    }
  }

  private func spawn(_ command: String) -> pid_t? {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    for descriptor in 0...2 as ClosedRange<Int32> {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    let strings = ["sh", "-c", command].map { (text: String) in strdup(text) }
    defer { for string in strings { free(string) } }
    var process = pid_t()
    return posix_spawn(&process, "/bin/sh", &actions, &attributes, strings + [nil], environ) == 0 ? process : nil
  }

  /// When the server first answered `/versions` with 200; nil when it ended or the time is up. Asks every 2 ms.
  private func firstAnswer(of process: pid_t, until end: Double) -> Double? {
    let request = target.request("GET", "/_matrix/client/versions")
    while monotonicSeconds() < end {
      let connection = Connection(slot: 0, loop: loop, target: target)
      var isAnswered = false
      connection.send(request) { _ in isAnswered = true }
      loop.run(until: min(end, monotonicSeconds() + 2), while: { !isAnswered })
      if isAnswered && connection.status == 200 { return monotonicSeconds() }
      var status: Int32 = 0
      if waitpid(process, &status, WNOHANG) == process { return nil }
      usleep(2000)
    }
    return nil
  }

  private func end(_ process: pid_t) {
    var status: Int32 = 0
    kill(-process, SIGTERM)
    let patience = monotonicSeconds() + 20
    while monotonicSeconds() < patience {
      if waitpid(process, &status, WNOHANG) != 0 { return }
      usleep(20_000)
    }
    kill(-process, SIGKILL)
    waitpid(process, &status, 0)
  }
}
