// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "ErrandObservability",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ErrandObservability", targets: ["ErrandObservability"])
    ],
    dependencies: [
        .package(name: "Errand", path: "../../.."),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "ErrandObservability",
            dependencies: [
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandCache", package: "Errand"),
                .product(name: "ErrandLoadingIndicatorLog", package: "Errand"),
                .product(name: "ErrandRetry", package: "Errand"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "errand-observability-bench",
            dependencies: [
                .target(name: "ErrandObservability"),
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandLoadingIndicatorLog", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Benchmarks", swiftSettings: settings),
        .testTarget(
            name: "ErrandObservabilityTests",
            dependencies: [
                .target(name: "ErrandObservability"),
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandCache", package: "Errand"),
                .product(name: "ErrandConformance", package: "Errand"),
                .product(name: "ErrandLoadingIndicatorLog", package: "Errand"),
                .product(name: "ErrandRetry", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
                .product(name: "ErrandTesting", package: "Errand"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
