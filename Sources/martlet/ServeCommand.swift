import Glibc
import Shell
import Telemetry

/// Runs `martlet serve`: starts the server, and stops it on SIGINT or SIGTERM.
enum ServeCommand {
  private static let log = Log("serve")

  static func run(_ flags: [String]) async -> ExitStatus {
    do {
      let loaded = try ConfigurationLoader.load(flags: flags, environment: processEnvironment())
      try await serve(loaded)
      return .success
    } catch let error as ConfigurationError {
      return Program.complain(error)
    } catch {
      Program.complain("\(error)")
      return .failure
    }
  }

  private static func serve(_ loaded: LoadedConfiguration) async throws {
    let configuration = loaded.configuration
    LogSink.process.configure(level: configuration.logLevel, format: configuration.logFormat)
    for variable in loaded.unknownVariables {
      log.warning("an environment variable does not name a setting", ["variable": .text(variable)])
    }
    for warning in configuration.warnings { log.warning("check the settings", ["problem": .text(warning)]) }
    raiseFileLimit()
    ProcessMetrics.register()
    let directory = try DataDirectory(configuration.dataDirectory)
    for address in configuration.bind { try address.checkUsable(setting: "bind") }
    if let address = configuration.cluster.bind { try address.checkUsable(setting: "cluster.bind") }
    for address in configuration.metricsBind { try address.checkUsable(setting: "metrics_bind") }

    let manager = ServiceManager(environment: processEnvironment())
    let pages = OperationsPages()
    let server = try await Server.start(configuration, in: directory, pages: pages)
    pages.set(.ok)
    manager?.tell(.ready)
    for address in server.addresses { StandardOutput.write("Martlet is at \(address)\n") }
    if let outside = configuration.addressForOthers { StandardOutput.write(outside + "\n") }
    let signal = await StopSignal.wait()
    log.info("stopping", ["signal": .integer(signal)])
    pages.set(.stopping)
    manager?.tell(.stopping)
    await server.drain(for: .seconds(configuration.drain))
    await server.stop()
    log.info("stopped")
  }

  /// Raises the soft limit of open files to the hard limit. Each parked request holds a descriptor, and the usual soft limit of 1024 exists for
  /// programs that call select(2).
  private static func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else {
      return
    }
    limit.rlim_cur = limit.rlim_max
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
      log.warning("cannot raise the limit of open files", ["errno": .integer(errno)])
    }
  }
}
