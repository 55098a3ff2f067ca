// swift-tools-version: 6.3

import PackageDescription

/// The same settings as Errand's modules. Without the last one, each filter call switches executors.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "ErrandTraceContext",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ErrandTraceContext", targets: ["ErrandTraceContext"])
    ],
    dependencies: [
        .package(name: "Errand", path: "../..")
    ],
    targets: [
        .target(
            name: "ErrandTraceContext",
            dependencies: [
                .product(name: "Errand", package: "Errand")
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandTraceContextTests",
            dependencies: [
                .target(name: "ErrandTraceContext"),
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandConformance", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
                .product(name: "ErrandTesting", package: "Errand"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
