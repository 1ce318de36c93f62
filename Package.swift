// swift-tools-version: 6.2
import PackageDescription

// One manifest, two machines: everything under Sources/Portable and Sources/Web also compiles with Embedded Swift for
// wasm32 (Scripts/build-web); everything else is native only.

let common: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let portable: [SwiftSetting] = common + [.treatWarning("EmbeddedRestrictions", as: .error)]
let web: [SwiftSetting] = portable + [.enableExperimentalFeature("Extern")]

func system(_ name: String, pkgConfig: String? = nil, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func module(
  _ name: String, in folder: String, uses dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = common
) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", swiftSettings: settings)
}

func program(
  _ name: String, path: String, uses dependencies: [Target.Dependency], without exclude: [String] = [],
  settings: [SwiftSetting] = common
) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

func tests(
  of name: String, uses dependencies: [Target.Dependency] = [], without exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, path: "Tests/\(name)Tests",
    exclude: exclude, resources: resources, swiftSettings: common)
}

let package = Package(
  name: "martlet",
  products: [
    .executable(name: "martlet", targets: ["martlet"]),
    .executable(name: "martlet-terminal", targets: ["martlet-terminal"]),
    .executable(name: "martlet-thumbnail", targets: ["martlet-thumbnail"]),
    .executable(name: "WebApp", targets: ["WebApp"]),
    .executable(name: "MessengerElement", targets: ["MessengerElement"]),
    .executable(name: "MartletCall", targets: ["MartletCall"]),
    .executable(name: "RoomCalls", targets: ["RoomCalls"]),
    .executable(name: "EncryptionWorker", targets: ["EncryptionWorker"]),
    .executable(name: "MessengerBenchmark", targets: ["MessengerBenchmark"]),
    .library(name: "MatrixClient", targets: ["MatrixClient"]),
    .library(name: "CallClient", targets: ["CallClient", "GStreamerMedia"]),
    .library(name: "Messenger", targets: ["Messenger"])
  ],
  targets: [
    // Portable: native and wasm32
    module("JSON", in: "Portable", settings: portable),
    module("MatrixModel", in: "Portable", uses: ["JSON"], settings: portable),
    module("EventContent", in: "Portable", uses: ["JSON", "MatrixModel"], settings: portable),
    module("ServerQueries", in: "Portable", uses: ["JSON", "MatrixModel", "EventContent"], settings: portable),
    module(
      "ClientCore", in: "Portable", uses: ["JSON", "MatrixModel", "EventContent", "ServerQueries"], settings: portable),
    module(
      "AdministrationCore", in: "Portable", uses: ["JSON", "MatrixModel", "ServerQueries"], settings: portable),
    module(
      "SearchIndex", in: "Portable", uses: ["JSON", "MatrixModel", "EventContent", "ClientCore"], settings: portable),
    module("Transcripts", in: "Portable", uses: ["JSON", "MatrixModel", "ClientCore"], settings: portable),
    module("CallCore", in: "Portable", uses: ["JSON", "MatrixModel"], settings: portable),
    module("Messenger", in: "Portable", settings: portable),
    module("MessageRows", in: "Portable", uses: ["JSON", "MatrixModel", "ClientCore", "Messenger"], settings: portable),
    module("QRCodes", in: "Portable", settings: portable),
    module("Olm", in: "Portable", uses: ["CPrimitives"], settings: portable),
    module("Encryption", in: "Portable", uses: ["JSON", "MatrixModel", "Olm"], settings: portable),
    module("EncryptionLink", in: "Portable", uses: ["JSON"], settings: portable),

    // Web
    module("WebHost", in: "Web", uses: ["JSON", "CallCore", "Messenger"], settings: web),
    module(
      "ClientHost", in: "Web",
      uses: ["JSON", "MatrixModel", "ClientCore", "EncryptionLink", "Messenger", "SearchIndex", "WebHost"],
      settings: web),
    module("PageWidgets", in: "Web", uses: ["Messenger", "WebHost"], settings: web),
    module("PageWords", in: "Web", uses: ["JSON", "MatrixModel", "ClientCore", "Messenger", "PageWidgets"], settings: web),
    module(
      "SecurityDialogs", in: "Web",
      uses: ["JSON", "EncryptionLink", "Messenger", "QRCodes", "ClientHost", "PageWidgets", "WebHost"], settings: web),
    module(
      "AdministrationScreens", in: "Web",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "AdministrationCore", "Messenger", "PageWidgets", "PageWords", "WebHost"
      ], settings: web),
    program(
      "WebApp", path: "Sources/Web/WebApp",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "AdministrationCore", "Transcripts", "Messenger", "MessageRows", "QRCodes",
        "AdministrationScreens", "ClientHost", "EncryptionLink", "PageWidgets", "PageWords", "SecurityDialogs", "WebHost"
      ],
      settings: web),
    program(
      "MessengerElement", path: "Sources/Web/MessengerElement", uses: ["JSON", "Messenger", "WebHost"], settings: web),
    program("MartletCall", path: "Sources/Web/MartletCall", uses: ["JSON", "CallCore", "WebHost"], settings: web),
    program(
      "RoomCalls", path: "Sources/Web/RoomCalls", uses: ["JSON", "MatrixModel", "CallCore", "Messenger", "WebHost"],
      settings: web),
    program(
      "EncryptionWorker", path: "Sources/Web/EncryptionWorker",
      uses: ["JSON", "MatrixModel", "Olm", "Encryption", "EncryptionLink", "CPrimitives"], settings: web),
    program(
      "MessengerBenchmark", path: "Benchmarks/Messenger", uses: ["Messenger", "WebHost"],
      without: ["index.html", "page.css", "picture.svg", "run.py", "scrolling.py"], settings: web),

    // Server
    module("Addresses", in: "Server"),
    module("Telemetry", in: "Server"),
    module("EventLoop", in: "Server", uses: ["CUV", "CLinux"]),
    module(
      "HTTPServer", in: "Server",
      uses: ["Addresses", "Telemetry", "EventLoop", "WebSockets", "CUV", "CLLHTTP", "CCrypto"]),
    module("Database", in: "Server", uses: ["CSQLite", "CPostgreSQL", "CNATS", "CCrypto"]),
    module("Backup", in: "Server", uses: ["Files", "CSQLite", "CCrypto"]),
    module("Outbound", in: "Server", uses: ["Addresses", "Telemetry", "CCurl", "CLinux"]),
    module("RoomRules", in: "Server", uses: ["JSON", "MatrixModel", "CSodium", "CCrypto"]),
    module(
      "ServerCore", in: "Server",
      uses: ["JSON", "MatrixModel", "Database", "RoomRules", "EventLoop", "CSodium", "CCrypto"]),
    module("ObjectStore", in: "Server", uses: ["Telemetry", "Outbound", "ServerCore", "CCrypto", "CXML2"]),
    module(
      "ServerMedia", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "EventLoop", "Outbound", "ObjectStore", "ServerCore", "Files",
        "CCrypto", "CLinux", "CXML2"
      ]),
    module(
      "ServerAccounts", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "ServerCore", "ServerMedia",
        "CCrypto", "CSodium"
      ]),
    module(
      "ServerRooms", in: "Server",
      uses: ["JSON", "MatrixModel", "Database", "RoomRules", "EventLoop", "ServerCore", "ServerAccounts"]),
    module(
      "ServerDirectory", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "RoomRules", "EventLoop", "ServerCore", "ServerAccounts", "ServerRooms",
        "CCrypto"
      ]),
    module(
      "ServerSync", in: "Server",
      uses: ["JSON", "MatrixModel", "Database", "RoomRules", "EventLoop", "ServerCore", "ServerAccounts", "ServerRooms"]),
    module(
      "ServerPush", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "ServerCore",
        "ServerAccounts", "ServerRooms", "ServerDirectory", "ServerSync", "CCrypto", "CPCRE2"
      ]),
    module(
      "Homeserver", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "Outbound", "ServerCore", "ServerMedia",
        "ServerAccounts", "ServerRooms", "ServerDirectory", "ServerSync", "ServerPush"
      ]),
    module(
      "HomeserverAPI", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "EventLoop", "Outbound", "HTTPServer", "ObjectStore", "ServerCore",
        "ServerMedia",
        "ServerAccounts", "ServerRooms", "ServerDirectory", "ServerSync", "ServerPush", "Homeserver"
      ]),

    module("MediaRouter", in: "Server", uses: ["Addresses", "EventLoop", "CSSL", "CLinux"]),
    module("Recording", in: "Server", uses: ["MediaRouter"]),
    module(
      "CallServer", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "HTTPServer",
        "ServerCore", "ServerAccounts", "ServerRooms", "ServerDirectory", "Homeserver", "HomeserverAPI", "MediaRouter",
        "Recording", "Files", "WebSockets", "CLinux"
      ]),

    // Client
    module(
      "MatrixClient", in: "Client",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "Encryption", "Olm", "SearchIndex", "CSodium",
        .target(name: "CCurl", condition: .when(platforms: [.linux])), "CSQLite"
      ]),
    module("CallClient", in: "Client", uses: ["JSON", "CallCore", "WebSockets", "CCurl"]),
    module("GStreamerMedia", in: "Client", uses: ["CallClient", "CPeerConnection"]),

    // Programs
    program(
      "martlet", path: "Sources/martlet",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "EventLoop", "Outbound", "ObjectStore", "HTTPServer",
        "ServerCore", "ServerMedia", "ServerAccounts", "ServerRooms", "ServerDirectory", "ServerPush", "Homeserver",
        "HomeserverAPI",
        "MediaRouter", "CallServer", "Backup", "Files", "Shell", "CYAML"
      ]),
    program(
      "martlet-terminal", path: "Sources/martlet-terminal",
      uses: ["JSON", "MatrixModel", "Telemetry", "MatrixClient", "Transcripts", "Files", "Shell"]),
    program("martlet-thumbnail", path: "Sources/martlet-thumbnail", uses: ["CVips", "CLinux"]),
    program(
      "martlet-benchmark", path: "Benchmarks/Micro",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "ServerCore", "ServerRooms", "ServerDirectory", "ServerSync",
        "Homeserver"
      ]),
    program(
      "encryption-benchmark", path: "Benchmarks/Encryption/Machine",
      uses: ["MatrixClient", "ClientCore", "Encryption", "JSON", "MatrixModel", "Olm"]),
    program(
      "client-benchmark", path: "Benchmarks/Client", uses: ["MatrixClient", "ClientCore", "SearchIndex", "JSON", "MatrixModel"]),
    program("Hello", path: "Examples/Hello", uses: ["MatrixClient"]),
    program("EchoBot", path: "Examples/EchoBot", uses: ["MatrixClient"]),
    program("UseCases", path: "Examples/UseCases", uses: ["MatrixClient"]),
    program("NativeCall", path: "Examples/NativeCall", uses: ["CallClient", "GStreamerMedia"]),
    program("matrix-load", path: "Benchmarks/Load", uses: ["CUV", "CLLHTTP", "CCrypto"]),
    program("client-live", path: "Tests/ClientLive", uses: ["MatrixClient"]),
    program("client-peer", path: "Tests/ClientPeer", uses: ["MatrixClient"]),
    program("call-peer", path: "Tests/CallPeer", uses: ["CallClient", "GStreamerMedia"]),
    program("router-peer", path: "Tests/RouterPeer", uses: ["MediaRouter", "Addresses"]),
    program("state-resolver", path: "Tests/StateResolver", uses: ["JSON", "MatrixModel", "RoomRules"]),
    program("database-crash", path: "Tests/DatabaseCrash", uses: ["Database"]),
    program(
      "fuzz", path: "Tests/Fuzz",
      uses: [
        "JSON", "MatrixModel", "EventContent", "ClientCore", "Messenger", "Addresses", "Telemetry", "RoomRules", "HTTPServer",
        "ServerCore", "ServerMedia",
        "ServerAccounts", "MediaRouter", "Recording", "WebSockets", "Backup", "Olm", "Encryption", "CCrypto"
      ],
      without: ["Corpus"]),
    program(
      "portable-smoke", path: "Tests/PortableSmoke",
      uses: ["JSON", "MatrixModel", "CallCore", "Olm", "Encryption", "ClientCore", "SearchIndex"],
      settings: web),
    program(
      "constant-time", path: "Tests/ConstantTime", uses: ["Olm", "CMemcheck"], without: ["public-results.supp"]),
    program(
      "olm-peer", path: "Tests/OlmPeer", uses: ["Olm"], without: ["dehydrated.py", "differential.py", "wasi.mjs"], settings: web
    ),

    // C libraries of the system (installed by Scripts/install-dependencies)
    system("CUV", pkgConfig: "libuv", apt: "libuv1-dev"),
    system("CLLHTTP", pkgConfig: "libllhttp", apt: "libllhttp-dev"),
    system("CWslay", apt: "libwslay-dev"),
    system("CMemcheck", apt: "valgrind"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    system("CPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev"),
    system("CNATS", pkgConfig: "libnats", apt: "libnats-dev"),
    system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
    system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    system("CSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    system("CSRTP", apt: "libsrtp2-dev"),
    system("CVips", pkgConfig: "vips", apt: "libvips-dev"),
    system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev"),
    system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
    system("CXML2", pkgConfig: "libxml-2.0", apt: "libxml2-dev"),
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    system("CGStreamer", pkgConfig: "gstreamer-app-1.0", apt: "libgstreamer-plugins-base1.0-dev"),
    .target(
      name: "CPeerConnection", dependencies: ["CGStreamer"], path: "Sources/System/CPeerConnection",
      linkerSettings: [.linkedLibrary("gstsdp-1.0"), .linkedLibrary("gstvideo-1.0")]),
    .target(name: "CLinux", path: "Sources/System/CLinux"),
    // Cryptography for clients. As wasm it is linked with what Scripts/build-primitives makes.
    .target(
      name: "CPrimitives",
      dependencies: [
        .target(name: "CSodium", condition: .when(platforms: [.linux])),
        .target(name: "CCrypto", condition: .when(platforms: [.linux]))
      ],
      path: "Sources/System/CPrimitives"),
    // One wrapper of a library for the server and for clients.
    module("WebSockets", in: "System", uses: ["CWslay", "CCrypto"]),
    module("Files", in: "System"),
    // What the programs share that people start from a shell.
    module("Shell", in: "System", uses: ["JSON", "MatrixModel", "Telemetry"]),

    // Tests
    tests(of: "JSON"),
    .target(name: "TimeTesting", path: "Tests/TimeTesting", swiftSettings: common),
    tests(of: "MatrixModel", uses: ["JSON", "TimeTesting"]),
    tests(of: "EventContent", uses: ["JSON", "MatrixModel", "TimeTesting"]),
    tests(of: "ServerQueries", uses: ["JSON", "MatrixModel"]),
    tests(of: "ClientCore", uses: ["JSON", "MatrixModel", "ServerQueries"], without: ["Timeline/Snapshots"]),
    tests(of: "AdministrationCore", uses: ["JSON", "MatrixModel", "ServerQueries"]),
    tests(of: "SearchIndex", uses: ["JSON", "MatrixModel", "ClientCore"]),
    tests(of: "Transcripts", uses: ["JSON", "MatrixModel", "ClientCore"]),
    tests(of: "CallCore", uses: ["JSON", "MatrixModel"]),
    .target(
      name: "MessengerTesting", dependencies: ["Messenger"], path: "Tests/MessengerTesting", swiftSettings: common),
    tests(of: "Messenger", uses: ["MessengerTesting"]),
    tests(of: "MessageRows", uses: ["JSON", "MatrixModel", "ClientCore", "Messenger"]),
    tests(of: "QRCodes"),
    tests(of: "Olm", uses: ["CPrimitives"], without: ["keep-vectors.py"]),
    tests(of: "Encryption", uses: ["JSON", "MatrixModel", "Olm"], without: ["keep-vectors.py"]),
    tests(of: "WebHost", uses: ["Messenger"]),
    tests(of: "MartletCall", uses: ["JSON", "CallCore", "WebHost"]),
    tests(of: "EncryptionLink", uses: ["JSON"]),
    tests(of: "EncryptionWorker", uses: ["JSON", "MatrixModel", "Olm", "Encryption", "EncryptionLink"]),
    tests(of: "RoomCalls", uses: ["JSON", "MatrixModel", "CallCore", "MessengerTesting", "WebHost"]),
    tests(
      of: "WebApp",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "ClientHost", "EncryptionLink", "Messenger", "MessengerTesting", "PageWidgets",
        "PageWords", "WebHost"
      ]),
    tests(
      of: "SecurityDialogs",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "ClientHost", "EncryptionLink", "Messenger", "MessengerTesting", "PageWidgets"
      ]),
    tests(
      of: "AdministrationScreens",
      uses: [
        "JSON", "MatrixModel", "ClientCore", "AdministrationCore", "Messenger", "MessengerTesting", "PageWidgets"
      ]),
    tests(
      of: "ClientHost",
      uses: ["JSON", "MatrixModel", "ClientCore", "EncryptionLink", "EncryptionWorker", "Olm", "SearchIndex", "WebHost"]),
    tests(of: "Addresses"),
    tests(of: "Telemetry"),
    tests(of: "EventLoop"),
    tests(of: "HTTPServer", uses: ["Addresses", "EventLoop"]),
    .target(
      name: "PostgreSQLTesting", dependencies: ["CPostgreSQL"], path: "Tests/PostgreSQLTesting", exclude: ["postgresql-server"],
      swiftSettings: common),
    tests(of: "Database", uses: ["CSQLite", "CPostgreSQL", "PostgreSQLTesting", "database-crash"]),
    tests(of: "Backup", uses: ["Database", "FilesTesting"]),
    .target(name: "OutboundTesting", path: "Tests/OutboundTesting", swiftSettings: common),
    tests(of: "Outbound", uses: ["Addresses", "Telemetry", "OutboundTesting", "FilesTesting"]),
    tests(of: "RoomRules", uses: ["JSON", "MatrixModel"]),
    tests(of: "ServerCore", uses: ["JSON", "MatrixModel"]),
    tests(of: "ObjectStore", uses: ["Telemetry", "ServerCore", "OutboundTesting"]),
    tests(of: "ServerMedia"),
    tests(of: "ServerAccounts", uses: ["JSON", "MatrixModel", "Telemetry", "Outbound", "ServerCore", "CSodium"]),
    tests(of: "ServerRooms", uses: ["JSON", "MatrixModel", "ServerCore"]),
    tests(
      of: "ServerPush", uses: ["JSON", "MatrixModel", "RoomRules", "EventLoop", "ServerCore", "ServerAccounts", "ServerRooms"]),
    tests(
      of: "Homeserver",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "RoomRules", "ServerCore", "ServerAccounts", "ServerRooms",
        "ServerDirectory", "ServerSync"
      ]),
    tests(
      of: "HomeserverAPI",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "ObjectStore",
        "HTTPServer", "ServerCore", "ServerMedia", "ServerAccounts", "ServerRooms", "ServerDirectory", "ServerSync",
        "ServerPush", "Homeserver", "OutboundTesting", "CCrypto"
      ]),
    .target(name: "TLSTesting", dependencies: ["CSSL"], path: "Tests/TLSTesting", swiftSettings: common),
    tests(of: "MediaRouter", uses: ["Addresses", "CSSL", "CSRTP", "CLinux", "TLSTesting", "TimeTesting"]),
    tests(of: "Recording", uses: ["MediaRouter"]),
    tests(
      of: "CallServer",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "ServerCore",
        "ServerAccounts", "ServerRooms", "Homeserver", "MediaRouter", "Recording", "OutboundTesting", "PostgreSQLTesting"
      ]),
    tests(of: "MatrixClient", uses: ["JSON", "MatrixModel", "ClientCore", "Encryption", "Olm", "CSQLite"]),
    tests(of: "CallClient", uses: ["CallCore", "JSON"]),
    tests(of: "WebSockets"),
    tests(of: "GStreamerMedia", uses: ["CallClient"]),
    .target(name: "FilesTesting", path: "Tests/FilesTesting", swiftSettings: common),
    tests(
      of: "martlet",
      uses: [
        "Telemetry", "Database", "EventLoop", "Outbound", "HTTPServer", "ServerCore", "ServerAccounts", "ServerPush",
        "Homeserver", "MediaRouter", "CallServer", "Shell", "TLSTesting", "FilesTesting"
      ]),
    .testTarget(
      name: "TerminalTests",
      dependencies: ["martlet-terminal", "Shell", "JSON", "MatrixModel", "MatrixClient", "FilesTesting"],
      path: "Tests/TerminalTests", swiftSettings: common),
    // Both ends of a session's socket; no file of it imports both.
    .testTarget(
      name: "CallSessionTests", dependencies: ["Addresses", "JSON", "MatrixModel", "MediaRouter", "CallCore", "CallServer"],
      path: "Tests/CallSessionTests", swiftSettings: common),
    .testTarget(
      name: "LoadTests", dependencies: ["matrix-load"], path: "Tests/LoadTests", swiftSettings: common),
    .testTarget(
      name: "ThumbnailTests", dependencies: ["martlet-thumbnail", "CVips", "CLinux", "FilesTesting"],
      path: "Tests/ThumbnailTests", exclude: ["Pictures"], swiftSettings: common)
  ],
  swiftLanguageModes: [.v6]
)

// What `./test NAME…` runs is all that it builds: the names of test targets, with spaces between them.
if let chosen = Context.environment["MARTLET_TESTS"] {
  package.targets.removeAll { $0.isTest && !chosen.split(separator: " ").contains($0.name[...]) }
}
