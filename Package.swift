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
    .executable(name: "martlet-thumbnail", targets: ["martlet-thumbnail"]),
    .executable(name: "WebApp", targets: ["WebApp"]),
    .executable(name: "MessengerElement", targets: ["MessengerElement"]),
    .executable(name: "MessengerBenchmark", targets: ["MessengerBenchmark"]),
    .library(name: "MatrixClient", targets: ["MatrixClient"]),
    .library(name: "Messenger", targets: ["Messenger"])
  ],
  targets: [
    // Portable: native and wasm32
    module("JSON", in: "Portable", settings: portable),
    module("MatrixModel", in: "Portable", uses: ["JSON"], settings: portable),
    module("ClientCore", in: "Portable", uses: ["JSON", "MatrixModel"], settings: portable),
    module("CallCore", in: "Portable", uses: ["JSON", "MatrixModel"], settings: portable),
    module("Messenger", in: "Portable", settings: portable),

    // Web
    module("WebHost", in: "Web", uses: ["JSON", "Messenger"], settings: web),
    program(
      "WebApp", path: "Sources/Web/WebApp", uses: ["JSON", "MatrixModel", "ClientCore", "CallCore", "Messenger", "WebHost"],
      settings: web),
    program(
      "MessengerElement", path: "Sources/Web/MessengerElement", uses: ["JSON", "Messenger", "WebHost"], settings: web),
    program(
      "MessengerBenchmark", path: "Benchmarks/Messenger", uses: ["Messenger", "WebHost"],
      without: ["index.html", "page.css", "picture.svg", "run.py"], settings: web),

    // Server
    module("Addresses", in: "Server"),
    module("Telemetry", in: "Server", uses: ["CLinux"]),
    module("EventLoop", in: "Server", uses: ["CUV", "CLinux"]),
    module(
      "HTTPServer", in: "Server",
      uses: ["Addresses", "Telemetry", "EventLoop", "CUV", "CLLHTTP", "CWslay", "CCrypto", "CLinux"]),
    module("Database", in: "Server", uses: ["Telemetry", "CSQLite", "CLinux"]),
    module("Outbound", in: "Server", uses: ["Addresses", "Telemetry", "CCurl", "CLinux"]),
    module("RoomRules", in: "Server", uses: ["JSON", "MatrixModel", "CSodium", "CCrypto"]),
    module(
      "Homeserver", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Telemetry", "Database", "RoomRules", "EventLoop", "Outbound", "CSodium", "CCrypto",
        "CPCRE2", "CXML2", "CLinux"
      ]),
    module(
      "HomeserverAPI", in: "Server",
      uses: ["JSON", "MatrixModel", "Telemetry", "HTTPServer", "EventLoop", "Outbound", "Homeserver"]),

    module("MediaRouter", in: "Server", uses: ["Addresses", "CSSL", "CLinux"]),
    module(
      "CallServer", in: "Server",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "RoomRules", "EventLoop", "HTTPServer", "Homeserver",
        "HomeserverAPI", "MediaRouter"
      ]),

    // Client
    module(
      "MatrixClient", in: "Client",
      uses: [
        "JSON", "MatrixModel", "ClientCore", .target(name: "CCurl", condition: .when(platforms: [.linux])), "CSQLite"
      ]),

    // Programs
    program(
      "martlet", path: "Sources/martlet",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "EventLoop", "HTTPServer", "Database", "Outbound", "Homeserver",
        "HomeserverAPI", "MediaRouter", "CallServer", "MatrixClient", "CYAML", "CLinux"
      ]),
    program("martlet-thumbnail", path: "Sources/martlet-thumbnail", uses: ["CVips", "CLinux"]),
    program(
      "martlet-benchmark", path: "Benchmarks/Micro",
      uses: ["JSON", "MatrixModel", "Telemetry", "Database", "RoomRules", "Homeserver"]),
    program(
      "client-benchmark", path: "Benchmarks/Client", uses: ["MatrixClient", "ClientCore", "JSON", "MatrixModel"]),
    program("Hello", path: "Examples/Hello", uses: ["MatrixClient"]),
    program("EchoBot", path: "Examples/EchoBot", uses: ["MatrixClient"]),
    program("UseCases", path: "Examples/UseCases", uses: ["MatrixClient"]),
    program("matrix-load", path: "Benchmarks/Load", uses: ["CUV", "CLLHTTP", "CCrypto"]),
    program("client-live", path: "Tests/ClientLive", uses: ["MatrixClient"]),
    program("client-peer", path: "Tests/ClientPeer", uses: ["MatrixClient"]),
    program("router-peer", path: "Tests/RouterPeer", uses: ["MediaRouter", "Addresses"]),
    program("database-crash", path: "Tests/DatabaseCrash", uses: ["Database"]),
    program(
      "fuzz", path: "Tests/Fuzz",
      uses: ["JSON", "MatrixModel", "HTTPServer", "RoomRules", "Homeserver", "MediaRouter", "ClientCore", "CCrypto"],
      without: ["Corpus"]),
    program(
      "portable-smoke", path: "Tests/PortableSmoke", uses: ["JSON", "MatrixModel", "ClientCore", "CallCore", "Messenger"],
      settings: web),

    // C libraries of the system (installed by Scripts/install-dependencies)
    system("CUV", pkgConfig: "libuv", apt: "libuv1-dev"),
    system("CLLHTTP", pkgConfig: "libllhttp", apt: "libllhttp-dev"),
    system("CWslay", apt: "libwslay-dev"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
    system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    system("CSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    system("CSRTP", apt: "libsrtp2-dev"),
    system("CVips", pkgConfig: "vips", apt: "libvips-dev"),
    system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev"),
    system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
    system("CXML2", pkgConfig: "libxml-2.0", apt: "libxml2-dev"),
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    .target(name: "CLinux", path: "Sources/System/CLinux"),

    // Tests
    tests(of: "JSON"),
    tests(of: "MatrixModel", uses: ["JSON"]),
    tests(of: "ClientCore", uses: ["JSON", "MatrixModel"], without: ["Timeline/Snapshots"]),
    tests(of: "CallCore", uses: ["JSON", "MatrixModel"]),
    .target(
      name: "MessengerTesting", dependencies: ["Messenger"], path: "Tests/MessengerTesting", swiftSettings: common),
    tests(of: "Messenger", uses: ["MessengerTesting"]),
    tests(of: "WebHost", uses: ["Messenger"]),
    tests(of: "WebApp", uses: ["WebHost", "Messenger", "MessengerTesting", "ClientCore"]),
    tests(of: "Addresses"),
    tests(of: "Telemetry"),
    tests(of: "EventLoop"),
    tests(of: "HTTPServer", uses: ["Addresses", "EventLoop", "CLinux"]),
    tests(of: "Database", uses: ["CSQLite", "database-crash"]),
    .target(name: "OutboundTesting", path: "Tests/OutboundTesting", swiftSettings: common),
    tests(of: "Outbound", uses: ["Addresses", "Telemetry", "OutboundTesting"]),
    tests(of: "RoomRules", uses: ["JSON", "MatrixModel"]),
    tests(of: "Homeserver", uses: ["JSON", "MatrixModel", "Database", "RoomRules"]),
    tests(
      of: "HomeserverAPI",
      uses: [
        "JSON", "MatrixModel", "Addresses", "HTTPServer", "Homeserver", "Database", "Outbound", "OutboundTesting"
      ]),
    tests(of: "MediaRouter", uses: ["Addresses", "CSSL", "CSRTP"]),
    tests(
      of: "CallServer",
      uses: [
        "JSON", "MatrixModel", "Addresses", "Telemetry", "Database", "EventLoop", "HTTPServer", "Homeserver", "HomeserverAPI",
        "MediaRouter"
      ]),
    tests(of: "MatrixClient"),
    tests(of: "martlet", uses: ["JSON", "MatrixModel", "MatrixClient"]),
    .testTarget(
      name: "LoadTests", dependencies: ["matrix-load"], path: "Tests/LoadTests", swiftSettings: common),
    .testTarget(
      name: "ThumbnailTests", dependencies: ["martlet-thumbnail"], path: "Tests/ThumbnailTests", swiftSettings: common)
  ],
  swiftLanguageModes: [.v6]
)
