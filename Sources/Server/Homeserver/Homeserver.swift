import Database
import JSON
import MatrixModel
import Outbound
import RoomRules
import ServerAccounts
import ServerCore
import ServerDirectory
import ServerMedia
import ServerPush
import ServerRooms
import ServerSync
import Synchronization
import Telemetry

/// The domain of one homeserver: accounts, rooms, sync and what belongs to them. No HTTP.
///
/// A *command* is one `Database.write`: it looks at snapshots and rows, decides, writes rows, stages the new snapshot. Nothing
/// is visible before the commit: then caches apply the command's notes and wake who waits (Decision 24).
/// A *query* reads immutable snapshots and, where they end, one read transaction.
package final class Homeserver: Sendable {
  package let configuration: HomeserverConfiguration
  package let database: Database
  package let notifier: Notifier
  package let log: Log

  /// The way out: `DestinationPolicy.publicAddresses` for whatever a user names.
  package let http: HTTPClient
  /// nil where no mail server is configured.
  package let mail: MailSender?

  package let sessions: Sessions
  package let accounts: Accounts
  package let thirdPartyIdentifiers: ThirdPartyIdentifiers
  package let emailValidations: EmailValidations
  package let singleSignOn: SingleSignOn
  package let profiles: Profiles
  package let userDirectory: UserDirectory
  package let devices: Devices
  package let deviceLists: DeviceLists
  package let deviceKeys: DeviceKeys
  package let oneTimeKeys: OneTimeKeys
  package let crossSigningKeys: CrossSigningKeys
  package let signatureUpload: SignatureUpload
  package let toDeviceMessages: ToDeviceMessages
  package let dehydratedDevices: DehydratedDevices
  package let keyBackups: KeyBackups
  package let accountData: AccountData
  package let tags: Tags
  package let storedFilters: StoredFilters
  package let pushRules: PushRules
  package let rooms: Rooms
  package let relations: Relations
  package let search: Search
  package let publicRooms: PublicRooms
  package let spaceHierarchy: SpaceHierarchy
  package let reports: Reports
  package let media: MediaRepository
  package let mediaModeration: MediaModeration
  package let urlPreviews: URLPreviews
  /// nil where the operator has named no provider.
  package let gifs: Gifs?
  package let receipts: Receipts
  package let syncFilters: SyncFilters
  package let presence: Presence
  package let sync: SyncEngine
  package let slidingSync: SlidingSync
  package let audit: AuditLog
  package let administrationTasks: AdministrationTasks
  package let roomAdministration: RoomAdministration
  package let serverNotices: ServerNotices
  package let statistics: Statistics
  package let dailyStatistics: DailyStatistics
  package let hiddenRooms: HiddenRooms
  package let directRooms: DirectRooms
  package let linkInvitations: LinkInvitations
  package let bulkLeaves: BulkLeaves
  package let delayedEvents: DelayedEvents
  package let pushers: Pushers
  package let notifications: Notifications
  package let push: Push
  package let appServices: AppServices
  package let appServiceSessions: AppServiceSessions
  package let appServiceQueries: AppServiceQueries
  package let appServiceWorkers: AppServiceWorkers
  package let thirdPartyNetworks: ThirdPartyNetworks
  private let chores = Mutex<[Task<Void, Never>]>([])

  /// The room versions this server can take part in.
  package static var roomVersions: [(name: ByteString, isStable: Bool)] {
    RoomVersion.known.map { ($0.name, $0.isStable) }
  }

  /// Opens the database in `configuration.dataDirectory` and brings its schema up to date.
  ///
  /// - Parameters:
  ///   - tables: statements that make the tables of others in the same database.
  ///   - follower: follows rooms and accounts, before the chapters of this module.
  package init(
    _ configuration: HomeserverConfiguration, tables: [String] = [], follower: (any RoomObserver & AccountObserver)? = nil,
    log: Log
  ) throws {
    self.configuration = configuration
    self.log = log
    var databaseConfiguration = configuration.database
    databaseConfiguration.report = { $0.write(to: log) }
    database = try Database(databaseConfiguration, migrations: Schema.migrations(with: tables))
    notifier = Notifier(database)
    http = HTTPClient(configuration.outbound, log: Log("outbound"))
    mail = configuration.identity.mail.map { MailSender($0, log: Log("mail")) }
    let clock = configuration.clock
    appServices = try AppServices(configuration.appServices, server: configuration.serverName)
    appServiceQueries = AppServiceQueries(appServices, http: http, log: log)
    thirdPartyNetworks = ThirdPartyNetworks(appServices, http: http, log: log)
    appServiceSessions = AppServiceSessions(database: database)
    pushers = Pushers(
      database: database, gateways: configuration.pushGatewayAddresses,
      vapidKey: configuration.sendsWebPush
        ? try VAPIDKey(in: configuration.dataDirectory, subject: configuration.pushSubject) : nil,
      sendsMail: configuration.identity.confirmsEmail, badgeDelay: configuration.pushBadgeDelay, clock: clock)
    accountData = AccountData(database: database, notifier: notifier)
    tags = Tags(accountData: accountData)
    storedFilters = StoredFilters(database: database)
    pushRules = PushRules(database: database, accountData: accountData)

    // Rooms, and the chapters that follow them.
    let searchProgress = SearchProgress(database: database)
    let hiddenRows = HiddenRoomRows(accountData: accountData)
    let delayedState = DelayedState(clock: clock)
    let directLists = DirectRoomLists(accountData: accountData)
    let roomObservers: [any RoomObserver] = [
      directLists, delayedState, hiddenRows, PublicRoomList(), searchProgress, pushers.work, appServices
    ]
    rooms = Rooms(
      configuration.rooms, database: database, notifier: notifier,
      signingKey: try SigningKeyFile(in: configuration.dataDirectory).key,
      settings: RoomSettings(accountData: accountData, pushRules: pushRules),
      directory: LocalDirectory(database: database, appServices: appServices, queries: appServiceQueries),
      observers: (follower.map { [$0] } ?? []) + roomObservers)
    presence = rooms.presence
    relations = Relations(database: database, rooms: rooms)
    receipts = Receipts(database: database, rooms: rooms, accountData: accountData, clock: clock)
    directRooms = DirectRooms(
      database: database, rooms: rooms, lists: directLists, defaultVersion: configuration.defaultRoomVersion)
    search = Search(database: database, rooms: rooms, progress: searchProgress)
    publicRooms = PublicRooms(database: database, rooms: rooms)
    spaceHierarchy = SpaceHierarchy(database: database, rooms: rooms, clock: clock)
    reports = Reports(database: database, rooms: rooms, clock: clock)
    hiddenRooms = HiddenRooms(database: database, rooms: rooms, rows: hiddenRows, clock: clock)
    bulkLeaves = BulkLeaves(database: database, rooms: rooms, clock: clock, log: log)
    delayedEvents = DelayedEvents(
      configuration.delayedEvents, database: database, rooms: rooms, state: delayedState, clock: clock, log: log)

    // Accounts, which rooms, pushers and others follow.
    let accountObservers: [any AccountObserver] =
      (follower.map { [$0] } ?? []) + [appServices, rooms, hiddenRows, pushers, notifier]
    sessions = Sessions(
      database: database, observers: accountObservers, clock: clock,
      lifetimeMilliseconds: configuration.accessTokenLifetimeMilliseconds)
    let census = DeviceCensus()
    deviceLists = DeviceLists(database: database, notifier: notifier, census: census)
    devices = Devices(database: database, lists: deviceLists, observers: accountObservers, clock: clock)
    deviceKeys = DeviceKeys(database: database, lists: deviceLists, notifier: notifier)
    oneTimeKeys = OneTimeKeys(database: database, notifier: notifier, census: census)
    crossSigningKeys = CrossSigningKeys(database: database, lists: deviceLists)
    signatureUpload = SignatureUpload(database: database, lists: deviceLists)
    toDeviceMessages = ToDeviceMessages(database: database, notifier: notifier, clock: clock, census: census)
    dehydratedDevices = DehydratedDevices(
      database: database, devices: devices, lists: deviceLists, sessions: sessions, clock: clock)
    keyBackups = KeyBackups(database: database)
    emailValidations = EmailValidations(
      configuration.identity, of: configuration.serverName, database: database, mail: mail, clock: clock)
    accounts = try Accounts(
      configuration: configuration.accounts, database: database, sessions: sessions, devices: devices, pushRules: pushRules,
      emailValidations: emailValidations, observers: accountObservers)
    linkInvitations = LinkInvitations(
      database: database, accounts: accounts, rooms: rooms, direct: directRooms)
    thirdPartyIdentifiers = ThirdPartyIdentifiers(database: database, observers: accountObservers)
    profiles = Profiles(database: database, accounts: accounts)
    userDirectory = UserDirectory(database: database, scope: configuration.userDirectoryScope, clock: clock)

    media = try MediaRepository(configuration.mediaStore, configuration.media, database: database, clock: clock)
    mediaModeration = MediaModeration(media: media)
    urlPreviews = try URLPreviews(
      configuration.media, database: database, http: http, media: media, moderation: mediaModeration, clock: clock)
    gifs = configuration.gifs.map { [http, urlPreviews, media] in
      Gifs($0, http: http, previews: urlPreviews, media: media, clock: clock)
    }
    singleSignOn = SingleSignOn(
      database: database, accounts: accounts, profiles: profiles, media: media, http: http)

    syncFilters = SyncFilters(stored: storedFilters)
    let unread = Unread(database: database, receipts: receipts, pushRules: pushRules)
    let sources = SyncSources(rooms: rooms, receipts: receipts, unread: unread, pushRules: pushRules, presence: presence)
    sync = SyncEngine(
      database: database, notifier: notifier, sources: sources, toDeviceMessages: toDeviceMessages, clock: clock)
    slidingSync = SlidingSync(sync)
    notifications = Notifications(
      database: database, sources: sources, clock: clock,
      ageMillisecondsLimit: Int64(configuration.notificationDays) * 24 * 60 * 60 * 1_000)
    push = Push(
      configuration.notificationMails, database: database, pushers: pushers, sources: sources, http: http,
      mail: mail.flatMap { sender in configuration.identity.publicBaseURL.map { (sender, $0) } }, log: log)
    appServiceWorkers = AppServiceWorkers(
      appServices, database: database, rooms: rooms, http: http, clock: clock, log: log)

    audit = AuditLog(database: database, clock: clock, lifetimeMilliseconds: configuration.auditLifetimeMilliseconds)
    administrationTasks = AdministrationTasks(database: database, clock: clock, log: log)
    roomAdministration = RoomAdministration(rooms: rooms, tasks: administrationTasks, database: database)
    serverNotices = ServerNotices(
      configuration, database: database, accounts: accounts, rooms: rooms, accountData: accountData,
      tasks: administrationTasks)
    statistics = Statistics(database: database, clock: clock)
    dailyStatistics = DailyStatistics(database: database, clock: clock)
    try accounts.makeSenders(of: appServices)
    try database.readBlocking { [rooms] in
      try rooms.erasures.load($0)
      try census.countWaiting($0)
    }
  }

  /// The lease of what one node does for all.
  package static let workLease = "work"

  /// Begins what goes on in the background: pushing, telling application services, tasks, and chores. Of several nodes one does it.
  ///
  /// - Parameter isDisplaced: called if another node does it now, because this one was stopped for too long: the process has to end.
  package func start(isDisplaced: @escaping @Sendable () -> Void = {}) {
    chores.withLock { $0.append(Task { await self.keepOwnHouse() }) }
    database.lease(
      Self.workLease,
      granted: { [self] in
        push.start()
        appServiceWorkers.start()
        delayedEvents.start()
        bulkLeaves.start()
        administrationTasks.start()
        chores.withLock { $0.append(Task { await self.keepHouse() }) }
      }, lost: isDisplaced)
  }

  /// Finishes what is under way and lets go of threads and files. Blocks the calling task's thread until the database is
  /// closed: for the end of the process and of tests.
  package func shutdown() async {
    for task in chores.withLock({ $0 }) { task.cancel() }
    await administrationTasks.shutdown()
    await push.stop()
    await appServiceWorkers.stop()
    await delayedEvents.stop()
    await bulkLeaves.stop()
    await http.shutdown()
    await mail?.shutdown()
    await accounts.passwords.shutdown()
    await urlPreviews.shutdown()
    await media.shutdown()
    database.close()
  }
}
