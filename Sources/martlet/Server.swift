import Addresses
import CallServer
import EventLoop
import Glibc
import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel
import MediaRouter
import ServerAccounts
import ServerCore
import ServerDirectory
import Shell
import Synchronization
import Telemetry

/// The running homeserver, which `serve` starts and stops.
struct Server: Sendable {
  /// The addresses on which it listens, as URLs for people: `http://localhost:8008`.
  let addresses: [String]

  private let homeserver: Homeserver
  /// nil if calls are off.
  private let calls: CallServer?
  /// Martlet's own TURN server; nil if it is off.
  private let relay: RelayWorker?
  /// Follows changes of the certificate of `relay`; nil if it does not use TLS.
  private let certificates: Task<Void, Never>?
  private let loops: EventLoopGroup
  private let pool: BlockingPool
  /// The server of the Client-Server API, then those for other nodes and of the metrics, if `cluster.bind` and `metrics_bind` are set.
  private let servers: [HTTPServer]
  /// nil if there are no other nodes.
  private let watch: ClusterWatch?
  /// nil if the data folder cannot have a socket.
  private let adminSocket: AdminSocket?

  /// The time that `stop` gives open requests to finish.
  private static let grace = Duration.seconds(10)

  /// Opens the database in `directory`, listens on `bind` and `metrics_bind`, and returns when both accept connections.
  /// Throws `failed` or `address`.
  static func start(
    _ configuration: Configuration, in directory: DataDirectory, pages: OperationsPages
  ) async throws(StartError) -> Server {
    do {
      let relay = try configuration.ownRelay(in: directory)
      let turn = configuration.turn.server ?? relay?.server
      let callChanges = configuration.calls.isEnabled ? CallChanges() : nil
      let homeserver = try Homeserver(
        try configuration.homeserver(in: directory, turn: turn), tables: CallTables.statements, follower: callChanges,
        log: Log("homeserver"))
      let projects: CallProjects
      do {
        try await homeserver.checkServerName()
        try await MediaBucketCheck.beforeStart(homeserver)
        projects = try CallProjects(homeserver)
        if configuration.cluster.bind != nil {
          try await ClusterWatch.checkClock(by: homeserver.database)
          try await homeserver.database.join(with: configuration.terms(in: directory))
        }
      } catch {
        await homeserver.shutdown()
        throw error
      }
      let calls = try callChanges.map {
        try configuration.callServer(projects, for: homeserver, following: $0, turn: turn)
      }
      let loops = try EventLoopGroup()
      let pool = try BlockingPool(threads: 4)
      var api = configuration.api
      let operatorKey = AccessToken.random(prefix: "mlo_")
      api.operatorKey = operatorKey
      let disk = DiskSpace(folder: directory.path, log: homeserver.configuration.database.path.map { $0 + "-wal" })
      api.disk = disk
      api.version = Program.version
      pages.watch { disk.trouble }
      let probe = DatabaseProbe(database: homeserver.database)
      pages.ask { await probe.answers() }
      var router = HomeserverAPI.router(for: homeserver, api, pool: pool) { routes in
        routes.addCallKeyRoutes(projects) { await calls?.end($0) }
        if let calls { routes.addRoomCallRoutes(projects, calls.sessions, publicBaseURL: configuration.publicBaseURL) }
      }
      calls?.mountSocket(on: &router)
      calls?.mountREST(on: &router)
      pages.mount(on: &router, health: true, metrics: false)
      var operations = Router()
      pages.mount(on: &operations, health: true, metrics: true)

      var servers = [
        HTTPServer(
          configuration: try configuration.http(configuration.bind, timedBy: api.requestTimes), router: router, loops: loops,
          pool: pool)
      ]
      if let bind = configuration.cluster.bind {
        servers.append(
          HTTPServer(
            configuration: try configuration.nodeHTTP(bind, timedBy: api.requestTimes), router: router, loops: loops, pool: pool
          ))
      }
      if !configuration.metricsBind.isEmpty {
        servers.append(
          HTTPServer(
            configuration: try configuration.http(configuration.metricsBind, timedBy: nil), router: operations, loops: loops,
            pool: pool))
      }
      let adminSocket = AdminSocket.open(
        in: directory.path, OperatorCalls(router: router, key: operatorKey), pool: pool)
      for server in servers { try await server.start() }
      homeserver.start { Self.endDisplaced() }
      try await calls?.start()
      try relay?.worker.start(routers: calls?.workers.addresses ?? [])
      ServerMetrics.register(homeserver, servers[0])
      ServerMetrics.register(disk)
      if let calls { ServerMetrics.register(calls) }
      let watch = homeserver.database.isNode ? ClusterWatch(homeserver) : nil
      if let watch { ServerMetrics.register(watch) }
      let addresses = servers[0].boundAddresses.map { "http://\($0.isLoopback ? "localhost:\($0.port)" : "\($0)")" }
      let certificates = relay.flatMap { relay in
        relay.certificate.map { files in Task { await files.follow(on: pool) { relay.worker.use($0) } } }
      }
      return Server(
        addresses: addresses, homeserver: homeserver, calls: calls, relay: relay?.worker, certificates: certificates,
        loops: loops, pool: pool,
        servers: servers, watch: watch, adminSocket: adminSocket)
    } catch {
      throw error as? StartError ?? .failed("\(error)")
    }
  }

  /// Another server does this one's work: whoever supervises the process starts it anew.
  private static func endDisplaced() {
    Log("cluster").error(
      "this server was stopped, or without the database, for so long that another has taken over its work; it ends")
    exit(1)
  }

  /// Goes on for a while, so that load balancers notice that `GET /ready` says no. Clients are asked to connect anew.
  func drain(for duration: Duration) async {
    guard duration > .zero else { return }
    await calls?.drain()
    for server in servers { await server.drain() }
    try? await Task.sleep(for: duration)
  }

  /// Stops accepting connections, lets open requests finish within ten seconds, and closes the database.
  func stop() async {
    certificates?.cancel()
    watch?.stop()
    await adminSocket?.close()
    await calls?.shutdown()
    await relay?.stop()
    for server in servers { await server.shutdown(grace: Self.grace) }
    await loops.shutdown()
    await pool.shutdown()
    await homeserver.shutdown()
  }
}

extension Configuration {
  /// Returns the settings as the homeserver takes them. Throws `failed` if a file or the server name is not valid.
  func homeserver(in folder: DataDirectory, turn: TURNServer? = nil) throws(StartError) -> HomeserverConfiguration {
    guard let name = ServerName(serverName) else { throw .failed("server_name '\(serverName)' is not a valid server name") }
    var homeserver = HomeserverConfiguration(serverName: name, dataDirectory: folder.path)
    if let database = try database.configuration() { homeserver.database = database }
    homeserver.database.node = try cluster.configuration()
    homeserver.database.bus = bus.configuration(of: serverName)
    homeserver.registration =
      switch registration {
      case .open: .open
      case .token: .token
      case .closed: .closed
      }
    homeserver.registrationTokens = registrationTokens.map { $0.reveal() }
    homeserver.registrationSharedSecret = registrationSharedSecret?.reveal()
    homeserver.inviteLinks = inviteLinks
    homeserver.allowsGuests = allowsGuests
    homeserver.accessTokenLifetimeMilliseconds = accessTokenLifetimeMinutes.map { Int64($0) * 60_000 }
    homeserver.issuesLoginTokens = issuesLoginTokens
    homeserver.jsonWebTokens = try jwt.login()
    homeserver.profileFields.allowed = profileFieldsAllowed.isEmpty ? nil : profileFieldsAllowed.map { ByteString($0) }
    homeserver.profileFields.disallowed = profileFieldsDisallowed.map { ByteString($0) }
    homeserver.defaultRoomVersion = ByteString(defaultRoomVersion)
    homeserver.isPresenceEnabled = isPresenceEnabled
    homeserver.forgetsRoomsOnLeave = forgetsRoomsOnLeave
    homeserver.policyRooms = policyRooms
    homeserver.passwordHashMemoryBytes = passwordHash.memoryMiB << 20
    homeserver.passwordHashIterations = passwordHash.iterations
    homeserver.uploadBytesLimit = Int64(uploadBytesLimit)
    homeserver.media.userQuotaBytes = Int64(media.userQuotaBytes)
    homeserver.media.allowsUnauthenticatedDownloads = media.allowsUnauthenticatedDownloads
    homeserver.media.previewsPages = media.previewsPages
    homeserver.media.deniedPreviewURLs = media.deniedPreviewURLs
    homeserver.media.bucket = try bucket.configuration()
    homeserver.media.cacheBytesLimit = Int64(bucket.cacheBytes)
    homeserver.gifs = gifs.configuration
    homeserver.outbound = outbound
    homeserver.identity = identity
    homeserver.publishing = self.directory.publishing
    homeserver.userDirectoryScope = self.directory.users
    homeserver.retention = retention.rules
    homeserver.notices = notices
    homeserver.auditLifetimeMilliseconds = auditKeepDays == 0 ? nil : Int64(auditKeepDays) * 24 * 60 * 60 * 1_000
    homeserver.delayedEvents = delayedEvents.limits
    homeserver.pushGateways = push.gateways
    homeserver.sendsWebPush = push.isWebOn
    homeserver.pushContact = push.webContact
    homeserver.notificationDays = push.notificationDays
    homeserver.notificationMails = push.mails
    for path in appServices { homeserver.appServices.append(try AppServiceFile.read(path)) }
    homeserver.turn = turn
    homeserver.servesCalls = calls.isEnabled
    homeserver.thumbnailProgram = ProgramFolder.file("martlet-thumbnail")
    return homeserver
  }

  fileprivate var api: APIConfiguration {
    var api = APIConfiguration()
    api.rateLimits = rateLimits
    api.webDirectory = webDirectory ?? WebFolder.find()
    api.embedOrigins = embedOrigins
    api.publicBaseURL = publicBaseURL
    api.support = support
    api.delegatedServer = delegatedServer
    api.newRoomEncryption = newRoomEncryption
    return api
  }

  /// Nodes alone reach this address: they say for which client they ask.
  fileprivate func nodeHTTP(_ bind: BindAddress, timedBy times: RequestTimes) throws -> HTTPServerConfiguration {
    var http = try http([bind], timedBy: times)
    http.trustedProxies = ["0.0.0.0/0", "::/0"].compactMap { IPNetwork($0) }
    return http
  }

  /// - Parameter times: hears how long requests took.
  fileprivate func http(_ bind: [BindAddress], timedBy times: RequestTimes?) throws -> HTTPServerConfiguration {
    var addresses: [SocketAddress] = []
    for address in bind { addresses += try SocketAddress.resolve(address.description) }
    var http = HTTPServerConfiguration(bind: addresses)
    http.trustedProxies = trustedProxies
    http.webSocketMessageBytesLimit = CallLimits.offerMessageBytes
    http.refusal = HomeserverAPI.refusal
    let log = Log("http")
    http.log = { log.warning("connection", ["message": .text($0)]) }
    let access = AccessLog()
    http.requestFinished = { request in
      access.record(request)
      times?.record(request.duration, isWaiting: request.routePattern.hasSuffix("/sync"))
    }
    return http
  }
}

/// Records each finished request in the metrics and, at the level `debug`, in the log.
private final class AccessLog: Sendable {
  private struct Kind: Hashable {
    let method: Method
    let route: String
    let status: UInt16
  }

  private struct Series {
    let requests: Counter
    let seconds: Histogram
  }

  private let log = Log("access")
  private let requests = Metrics.process.counter(
    "martlet_http_requests_total", "Finished HTTP requests.", labels: ["method", "route", "status"])
  private let seconds = Metrics.process.histogram(
    "martlet_http_request_seconds", "Time from the request's header to the last byte of the response.", labels: ["route"])
  /// The series of each kind of request. The routes limit the number of kinds.
  private let series = Mutex<[Kind: Series]>([:])

  func record(_ request: FinishedRequest) {
    let series = series(of: request)
    series.requests.add()
    series.seconds.observe(request.duration)
    log.debug(
      "request",
      [
        "request": .text(request.id), "method": .text(request.method), "route": .text(request.routePattern),
        "status": .integer(request.status.code), "took": .duration(request.duration),
        "bytes": .integer(request.responseBodyBytes)
      ])
  }

  private func series(of request: FinishedRequest) -> Series {
    let kind = Kind(method: request.method, route: request.routePattern, status: request.status.code)
    return series.withLock { series in
      if let known = series[kind] { return known }
      let made = Series(
        requests: requests.labelled(kind.method.description, kind.route, kind.status.description),
        seconds: seconds.labelled(kind.route))
      series[kind] = made
      return made
    }
  }
}

extension OperationsPages {
  fileprivate func mount(on router: inout Router, health: Bool, metrics: Bool) {
    if health {
      router.on(.get, "/health") { [self] _ in self.health().response }
      router.on(.get, "/ready") { [self] _ in await self.ready().response }
    }
    if metrics { router.on(.get, "/metrics") { [self] _ in self.metricsPage().response } }
  }
}

extension PlainAnswer {
  fileprivate var response: Response {
    Response(status: Status(status), headers: ["Content-Type": contentType], body: .bytes(body))
  }
}
