// swift-tools-version: 6.3

import PackageDescription

/// Every flag stands under its proposal; all targets in Swift get all of them.
let strictSettings: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A library that users import: a product of the target's own name.
func module(_ name: String, in folder: String, needs: [Target.Dependency] = [], excluding: [String] = []) -> Target {
    .target(name: name, dependencies: needs, path: "Sources/\(folder)", exclude: excluding)
}

func suite(_ name: String, in folder: String, needs: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: needs, path: "Tests/\(folder)")
}

let modules: [Target] = [
    module("Errand", in: "Core", needs: ["ErrandSupport"]),
    module("ErrandJSONValidation", in: "Plugins/JSONValidation", needs: ["Errand"]),
    module("ErrandTesting", in: "Plugins/Testing", needs: ["Errand"]),
    module("ErrandCurlTransport", in: "Plugins/CurlTransport", needs: ["Errand", "CErrandCurl"], excluding: ["CShim"]),
]

/// What several modules need and no user sees: no product.
let support: Target = .target(name: "ErrandSupport", path: "Sources/Plugins/Support")

let shims: [Target] = [
    .target(name: "CErrandCurl", path: "Sources/Plugins/CurlTransport/CShim", publicHeadersPath: "include")
]

/// A program that people run or copy from; its name is the command's, unless a product gives it another.
func program(_ name: String, in folder: String, needs: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: needs, path: folder)
}

let programs: [Target] = [
    program("ErrandQuickstart", in: "Examples/Quickstart", needs: ["Errand", "ErrandCurlTransport", "ErrandTesting"]),
    program("errand-validate", in: "Examples/Validate", needs: ["ErrandJSONValidation"]),
    program(
        "errand-bench", in: "Tests/Benchmarks",
        needs: ["Errand", "ErrandCurlTransport", "ErrandJSONValidation", "ErrandTesting"]),
    program("errand-linkage", in: "Tests/Linkage/Program", needs: ["Errand", "ErrandTesting"]),
]

let suites: [Target] = [
    suite("ErrandCoreTests", in: "CoreTests", needs: ["Errand", "ErrandTesting"]),
    suite(
        "ErrandDocumentationTests", in: "DocumentationTests",
        needs: ["Errand", "ErrandCurlTransport", "ErrandJSONValidation", "ErrandTesting"]),
    suite(
        "ErrandJSONValidationTests", in: "JSONValidationTests",
        needs: ["Errand", "ErrandJSONValidation", "ErrandTesting", "errand-validate"]),
    suite("ErrandTestingTests", in: "TestingTests", needs: ["Errand", "ErrandTesting"]),
    suite("ErrandCurlTransportTests", in: "CurlTransportTests", needs: ["ErrandCurlTransport", "Errand"]),
]

let package = Package(
    name: "Errand",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: modules.map { .library(name: $0.name, targets: [$0.name]) } + [
        .executable(name: "quickstart", targets: ["ErrandQuickstart"])
    ],
    targets: modules + [support] + shims + programs + suites,
    swiftLanguageModes: [.v6]
)

for target in package.targets where !shims.contains(where: { $0.name == target.name }) {
    target.swiftSettings = strictSettings
}
