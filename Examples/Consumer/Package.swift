// swift-tools-version: 6.2
import PackageDescription

// A program of somebody else: all it knows of this repository is the product MatrixClient.
let package = Package(
  name: "consumer",
  dependencies: [.package(name: "martlet", path: "../..")],
  targets: [
    .executableTarget(
      name: "Consumer", dependencies: [.product(name: "MatrixClient", package: "martlet")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
