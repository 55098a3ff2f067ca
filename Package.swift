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

/// A plugin: module Errand + its folder's name, a product of its own, on the core.
func plugin(_ folder: String, needs more: [Target.Dependency] = [], excluding: [String] = []) -> Target {
    .target(
        name: "Errand\(folder)", dependencies: ["Errand", "ErrandEssentials"] + more,
        path: "Sources/Plugins/\(folder)", exclude: excluding)
}

/// The tests of a module, with the test kit: Errand + folder + Tests.
func suite(_ folder: String, needs more: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "Errand\(folder)",
        dependencies: ["Errand", "ErrandEssentials", "ErrandTesting", "ErrandTestSupport"] + more,
        path: "Tests/\(folder)")
}

/// A program that people run or copy from; its name is the command's, unless a product gives it another.
func program(
    _ name: String, in folder: String, needs more: [Target.Dependency] = [], excluding: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: ["Errand", "ErrandEssentials", "ErrandTesting"] + more,
        path: folder, exclude: excluding)
}

/// Whether there are targets with SwiftUI: on a Mac, and in the rehearsal of its builds.
#if os(macOS)
let hasSwiftUI = true
#else
let hasSwiftUI = Context.environment["ERRAND_APPLE"] != nil
#endif

let curlPlatforms: [Platform] = [.linux, .android]
let applePlatforms: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]

/// What lies below the plugins, each on those before it. An app builds what its plugins name and no more: the parts of the
/// grammar and the redaction that the core does without are modules of their own.
let core: [Target] = [
    .target(name: "ErrandEssentials", path: "Sources/Core/Essentials"),
    .target(
        name: "ErrandMessageSyntax", dependencies: ["ErrandEssentials", "ErrandSupport"], path: "Sources/Core/Syntax"),
    .target(
        name: "ErrandHTTP", dependencies: ["ErrandEssentials", "ErrandMessageSyntax", "ErrandSupport"],
        path: "Sources/Core/HTTP"),
    .target(
        name: "ErrandHTTPFields",
        dependencies: ["ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax", "ErrandSupport"],
        path: "Sources/Core/Fields"),
    .target(
        name: "ErrandJSONSyntax", dependencies: ["ErrandMessageSyntax"], path: "Sources/Core/JSONSyntax"),
    .target(
        name: "ErrandHTTPSyntax", dependencies: ["ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax"],
        path: "Sources/Core/HTTPSyntax"),
    .target(
        name: "ErrandRedaction",
        dependencies: [
            "ErrandEssentials", "ErrandHTTP", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax",
            "ErrandSupport",
        ],
        path: "Sources/Core/Redaction"),
    .target(
        name: "Errand", dependencies: ["ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax", "ErrandSupport"],
        path: "Sources/Core/Errand"),
]

/// Files, digests, what transfers share, and the C library: nothing of agents, and no products.
let system: [Target] = [
    .target(
        name: "ErrandSupport", dependencies: ["ErrandEssentials"], path: "Sources/Core/System", exclude: ["Codings"]),
    .target(name: "ErrandDigests", dependencies: ["ErrandSupport"], path: "Sources/Core/Digests"),
    .target(
        name: "ErrandTransfers", dependencies: ["ErrandDigests", "ErrandEssentials", "ErrandHTTP", "ErrandSupport"],
        path: "Sources/Core/Transfers"),
]

let plugins: [Target] = [
    plugin("Authentication", needs: ["ErrandDigests", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("Batch", needs: ["ErrandSupport"]),
    plugin("Cache", needs: ["ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("CacheTesting", needs: ["ErrandCache"]),
    plugin("Chain"),
    plugin("Coalescing", needs: ["ErrandSupport"]),
    plugin("Compression", needs: ["CErrandCodings", "ErrandMessageSyntax"]),
    plugin("Cookies", needs: ["ErrandMessageSyntax", "ErrandSupport"]),
    plugin(
        "CurlTransport", needs: ["CErrandCodings", "CErrandCurl", "ErrandMessageSyntax", "ErrandSupport"],
        excluding: ["CShim"]),
    plugin("Envelopes"),
    plugin("JSONDecoding", needs: ["ErrandJSONSyntax", "ErrandMessageSyntax"]),
    plugin("JSONSchema", needs: ["ErrandJSONSyntax", "ErrandJSONValidation", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("JSONValidation", needs: ["ErrandJSONSyntax", "ErrandMessageSyntax"]),
    plugin(
        "LoadingIndicatorLog", needs: ["ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandRedaction", "ErrandSupport"]),
    plugin("Multipart", needs: ["ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("Outbox", needs: ["ErrandDigests", "ErrandSupport"]),
    plugin("Paging", needs: ["ErrandHTTPFields"]),
    plugin("Recording", needs: ["ErrandRedaction", "ErrandSupport"]),
    plugin(
        "Replay",
        needs: [
            "ErrandDigests", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandRecording",
            "ErrandRedaction", "ErrandSupport",
        ]),
    plugin(
        "ResumableDownload",
        needs: [
            "ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport", "ErrandTransfers",
        ]),
    plugin(
        "ResumableUpload",
        needs: [
            "ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport", "ErrandTransfers",
        ]),
    plugin("Retry", needs: ["ErrandHTTPFields", "ErrandMessageSyntax"]),
    plugin("Streaming", needs: ["ErrandJSONSyntax", "ErrandSupport"]),
    plugin(
        "SystemTransport",
        needs: [
            .target(name: "ErrandCurlTransport", condition: .when(platforms: curlPlatforms)),
            .target(name: "ErrandURLSessionTransport", condition: .when(platforms: applePlatforms)),
        ]),
    plugin("Testing", needs: ["ErrandDigests", "ErrandSupport"]),
    plugin(
        "URLFilters",
        needs: [
            "ErrandDigests", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandSupport",
        ]),
    plugin("URLSessionTransport"),
    plugin("WebSocket", needs: ["CErrandCodings", "ErrandDigests", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("XML", needs: ["ErrandMessageSyntax"]),
]

/// All plugins but the test kit, which every program gets anyway.
let everything: [Target.Dependency] = plugins.map(\.name).filter { $0 != "ErrandTesting" }.map { .byName(name: $0) }

/// What several suites need, and below it what the benchmarks need as well, which are no tests: no products.
let testSupport: [Target] = [
    .target(
        name: "ErrandTestSupport", dependencies: ["Errand", "ErrandEssentials", "ErrandTesting", "ErrandTestPrograms"],
        path: "Tests/Shared", exclude: ["Programs"]),
    .target(
        name: "ErrandTestPrograms", dependencies: ["Errand", "ErrandEssentials", "ErrandTesting"],
        path: "Tests/Shared/Programs"),
]

/// With this trait a program holds libcurl and zlib, or names them for the linker, and loads neither itself.
let linkedLibcurl = "LinkedLibcurl"

func shim(_ name: String, in folder: String, links library: String) -> Target {
    .target(
        name: name, path: folder, publicHeadersPath: "include",
        cSettings: [.define("ERRAND_LINKED_LIBCURL", .when(platforms: curlPlatforms, traits: [linkedLibcurl]))],
        linkerSettings: [.linkedLibrary(library, .when(platforms: curlPlatforms, traits: [linkedLibcurl]))])
}

let shims: [Target] = [
    shim("CErrandCodings", in: "Sources/Core/System/Codings", links: "z"),
    shim("CErrandCurl", in: "Sources/Plugins/CurlTransport/CShim", links: "curl"),
    .target(name: "CErrandBareCurl", path: "Tests/Benchmarks/BareCurl", publicHeadersPath: "include"),
    .target(name: "CErrandCounter", path: "Tests/Cost/Counter", publicHeadersPath: "include"),
]

/// The requests that several examples send, and what of the demo app is built and tested on Linux as well: no products.
let demo: [Target] = [
    .target(name: "ErrandExampleUsers", dependencies: ["Errand"], path: "Examples/Users"),
    .target(
        name: "ErrandExampleShop", dependencies: ["Errand", "ErrandExampleUsers", "ErrandTesting"],
        path: "Examples/Shop"),
    .target(
        name: "ErrandExampleRequests",
        dependencies: [
            "Errand", "ErrandAuthentication", "ErrandCache", "ErrandPaging", "ErrandResumableUpload", "ErrandStreaming",
        ],
        path: "Examples/Requests"),
    .target(
        name: "ErrandAppBackend",
        dependencies: ["Errand", "ErrandExampleRequests", "ErrandExampleUsers", "ErrandTesting"],
        path: "Examples/App/Backend"),
    .target(
        name: "ErrandAppModels",
        dependencies: [
            "Errand", "ErrandAuthentication", "ErrandCache", "ErrandExampleRequests", "ErrandExampleUsers",
            "ErrandPaging", "ErrandResumableUpload", "ErrandRetry", "ErrandStreaming", "ErrandSystemTransport",
        ],
        path: "Examples/App/Models"),
]

/// The screens of the demo app, a product for the project of an app, and the program for a Mac.
let views: [Target] = [
    .target(
        name: "ErrandAppViews",
        dependencies: ["ErrandAppBackend", "ErrandAppModels", "ErrandExampleRequests", "ErrandResumableUpload"],
        path: "Examples/App/Views"),
    .executableTarget(name: "errand-app", dependencies: ["ErrandAppViews"], path: "Examples/App/Program"),
]

let programs: [Target] = [
    program("errand-checkout", in: "Examples/Checkout", needs: ["ErrandBatch", "ErrandChain"]),
    // A newcomer waits for its build: no more modules than the first steps need.
    program(
        "ErrandQuickstart", in: "Examples/Quickstart",
        needs: ["ErrandBatch", "ErrandChain", "ErrandExampleShop", "ErrandExampleUsers", "ErrandSystemTransport"]),
    program(
        "errand-tour", in: "Examples/Tour",
        needs: everything + ["ErrandExampleRequests", "ErrandExampleShop", "ErrandExampleUsers"]),
    program(
        "errand-bench", in: "Tests/Benchmarks",
        needs: everything + [
            .target(name: "CErrandBareCurl", condition: .when(platforms: [.linux])), "errand-cost", "errand-download",
            "errand-upload",
            "errand-upload-process", "ErrandTestPrograms",
        ],
        excluding: ["BareCurl"]),
    program(
        "errand-cost", in: "Tests/Cost/Program",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandLoadingIndicatorLog",
            "ErrandRecording", "ErrandRetry", .target(name: "CErrandCounter", condition: .when(platforms: [.linux])),
        ]),
    program("errand-curl-tool", in: "Examples/CurlTool"),
    program("errand-cache-process", in: "Tests/CacheProcess", needs: ["ErrandCache"]),
    program("errand-curl-process", in: "Tests/CurlProcess", needs: ["ErrandCurlTransport"]),
    program(
        "errand-download", in: "Examples/Download",
        needs: [
            .target(name: "ErrandCurlTransport", condition: .when(platforms: curlPlatforms)),
            "ErrandHTTPSyntax", "ErrandResumableDownload", "ErrandSupport", "ErrandSystemTransport",
        ]),
    program(
        "errand-download-process", in: "Tests/DownloadProcess",
        needs: ["ErrandResumableDownload", "ErrandSystemTransport"]),
    program(
        "errand-feed", in: "Examples/Feed",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandExampleRequests", "ErrandPaging", "ErrandRetry",
            "ErrandSystemTransport",
        ]),
    // Of Core alone, which is what its size stands for.
    .executableTarget(
        name: "errand-linkage", dependencies: ["Errand", "ErrandEssentials"], path: "Tests/Linkage/Program"),
    .executableTarget(
        name: "errand-fetch", dependencies: ["Errand", "ErrandCurlTransport", "ErrandEssentials"],
        path: "Tests/Linkage/Fetch"),
    .executableTarget(name: "errand-new", dependencies: ["ErrandEssentials"], path: "Examples/NewPlugin"),
    program("errand-outbox-process", in: "Tests/OutboxProcess", needs: ["ErrandOutbox", "ErrandSystemTransport"]),
    program("errand-sockets", in: "Tests/SocketProcess", needs: ["ErrandSystemTransport", "ErrandWebSocket"]),
    program("errand-spinner", in: "Tests/SpinnerProgram", needs: ["ErrandLoadingIndicatorLog"]),
    program(
        "errand-upload", in: "Examples/Upload",
        needs: ["ErrandExampleRequests", "ErrandResumableUpload", "ErrandSystemTransport"]),
    program("errand-upload-process", in: "Tests/UploadProcess", needs: ["ErrandMultipart", "ErrandSystemTransport"]),
    program("errand-validate", in: "Examples/Validate", needs: ["ErrandJSONSchema", "ErrandJSONValidation"]),
    program(
        "errand-watch", in: "Examples/Watch",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandLoadingIndicatorLog", "ErrandRecording",
            "ErrandSystemTransport",
        ]),
]

let suites: [Target] = [
    suite(
        "AppTests",
        needs: [
            "ErrandAppBackend", "ErrandAppModels", "ErrandCache", "ErrandExampleRequests", "ErrandResumableUpload",
            "ErrandSystemTransport", "ErrandTestPrograms",
        ]),
    suite("AuthenticationTests", needs: ["ErrandAuthentication", "ErrandCache"]),
    suite("BatchTests", needs: ["ErrandBatch"]),
    suite("ChainTests", needs: ["ErrandBatch", "ErrandChain"]),
    suite("CompressionTests", needs: ["ErrandCompression", "ErrandSystemTransport", "ErrandURLFilters"]),
    suite(
        "ConformanceTests",
        needs: ["ErrandCache", "ErrandCookies", "ErrandCurlTransport", "ErrandURLSessionTransport"]),
    suite(
        "CacheTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandCacheTesting", "ErrandChain", "ErrandSupport",
            "ErrandSystemTransport", "errand-cache-process",
        ]),
    // Copied from, and tested where it lies.
    .testTarget(
        name: "ErrandCacheStoresTests", dependencies: ["Errand", "ErrandCache", "ErrandCacheTesting", "ErrandTesting"],
        path: "Examples/CacheStores"),
    suite(
        "CoalescingTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandJSONValidation", "ErrandRetry",
            "ErrandSystemTransport",
        ]),
    suite("CookiesTests", needs: ["ErrandCache", "ErrandCookies", "ErrandSystemTransport"]),
    suite("CoreTests", needs: ["ErrandHTTP"]),
    suite("CurlTransportTests", needs: ["ErrandCurlTransport", "ErrandHTTPSyntax", "errand-curl-process"]),
    suite("DocumentationTests", needs: everything + ["ErrandHTTPSyntax", "ErrandRedaction"]),
    .testTarget(
        name: "ErrandIntegrationTests",
        dependencies: [
            "Errand", "ErrandCompression", "ErrandCurlTransport", "ErrandEssentials", "ErrandMultipart",
            "ErrandResumableDownload", "ErrandResumableUpload", "ErrandSystemTransport", "ErrandTesting",
            "ErrandTestSupport", "ErrandURLSessionTransport", "ErrandWebSocket",
        ],
        path: "Tests/Integration"),
    suite(
        "EnvelopesTests",
        needs: [
            "ErrandAuthentication", "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandEnvelopes",
            "ErrandJSONValidation", "ErrandPaging", "ErrandRecording", "ErrandRetry", "ErrandSystemTransport",
        ]),
    suite("HTTPTests", needs: ["ErrandHTTP"]),
    suite("HTTPSyntaxTests", needs: ["ErrandHTTPSyntax"]),
    suite("JSONDecodingTests", needs: ["ErrandJSONDecoding", "ErrandJSONValidation"]),
    suite("JSONSchemaTests", needs: ["ErrandJSONSchema", "ErrandJSONValidation", "errand-validate"]),
    suite("JSONValidationTests", needs: ["ErrandJSONValidation"]),
    suite(
        "LoadingIndicatorLogTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandLoadingIndicatorLog", "errand-spinner", "errand-watch",
        ]),
    suite(
        "MainActorTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandEnvelopes", "ErrandJSONValidation",
            "ErrandLoadingIndicatorLog", "ErrandPaging", "ErrandResumableDownload", "ErrandRetry", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLFilters",
            "ErrandXML",
        ]),
    suite(
        "MultipartTests",
        needs: ["ErrandHTTPSyntax", "ErrandMultipart", "ErrandSystemTransport", "errand-upload-process"]),
    suite(
        "NewPluginTests",
        needs: [
            "ErrandCache", "ErrandCacheTesting", "ErrandLoadingIndicatorLog", "ErrandSystemTransport", "errand-new",
        ]),
    suite("OutboxTests", needs: ["ErrandOutbox", "ErrandSystemTransport", "errand-outbox-process"]),
    suite("PagingTests", needs: ["ErrandPaging", "errand-feed"]),
    suite(
        "PluginConformanceTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCompression", "ErrandCookies",
            "ErrandJSONValidation",
            "ErrandLoadingIndicatorLog", "ErrandRecording", "ErrandResumableDownload", "ErrandResumableUpload",
            "ErrandRetry", "ErrandURLFilters",
        ]),
    suite(
        "RecordingTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandRecording", "ErrandSystemTransport", "ErrandWebSocket",
        ]),
    suite("RedactionTests", needs: ["ErrandHTTP", "ErrandRedaction"]),
    suite(
        "ReplayTests",
        needs: ["ErrandHTTPSyntax", "ErrandRecording", "ErrandReplay", "ErrandSystemTransport", "ErrandWebSocket"]),
    suite(
        "ResumableDownloadTests",
        needs: [
            "ErrandCache", "ErrandDigests", "ErrandHTTPSyntax", "ErrandResumableDownload", "ErrandSupport",
            "ErrandSystemTransport",
            "ErrandTransfers", "ErrandURLSessionTransport", "errand-download", "errand-download-process",
        ]),
    suite(
        "ResumableUploadTests",
        needs: ["ErrandResumableUpload", "ErrandSupport", "ErrandSystemTransport", "ErrandTransfers", "errand-upload"]),
    suite(
        "RetryTests",
        needs: [
            "ErrandCache", "ErrandCoalescing", "ErrandResumableDownload", "ErrandRetry", "ErrandSystemTransport",
            "ErrandURLFilters",
        ]),
    suite(
        "StreamingTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandLoadingIndicatorLog", "ErrandRecording", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLSessionTransport",
        ]),
    // Copied from as well.
    .testTarget(
        name: "ErrandRecipesTests",
        dependencies: ["Errand", "ErrandEnvelopes", "ErrandSystemTransport", "ErrandTesting"],
        path: "Examples/Recipes"),
    suite("SupportTests", needs: ["ErrandDigests", "ErrandSupport"]),
    suite(
        "SystemTransportTests", needs: ["ErrandSystemTransport", "ErrandCurlTransport", "ErrandURLSessionTransport"]),
    suite("TestingTests"),
    suite("URLFiltersTests", needs: ["ErrandDigests", "ErrandURLFilters", "ErrandSupport", "ErrandSystemTransport"]),
    suite("URLSessionTransportTests", needs: ["ErrandURLSessionTransport"]),
    suite(
        "UsersTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandOutbox", "ErrandPaging",
            "ErrandResumableDownload", "ErrandResumableUpload", "ErrandRetry", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLFilters",
        ]),
    suite(
        "WebSocketTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandCurlTransport",
            "ErrandLoadingIndicatorLog", "ErrandRetry", "ErrandSystemTransport", "ErrandWebSocket", "errand-sockets",
        ]),
    suite("WireTests", needs: ["ErrandSystemTransport"]),
    suite("XMLTests", needs: ["ErrandSystemTransport", "ErrandXML"]),
]

/// `ERRAND_SUITES=CoreTests,CacheTests swift test` builds those suites, and the programs that they run, and no more.
let chosenSuites = Context.environment["ERRAND_SUITES"].map { names in
    let wanted = names.split(separator: ",").map { "Errand\($0)" }
    return suites.filter { wanted.contains($0.name) }
}

/// The programs that the chosen suites run; all of them where none is chosen. A dependency shows its name in its description
/// only.
let builtPrograms = programs.filter { program in
    guard let chosenSuites else { return true }
    return chosenSuites.contains { $0.dependencies.contains { "\($0)".contains("\"\(program.name)\"") } }
}

let package = Package(
    name: "Errand",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: (core + plugins).map { .library(name: $0.name, targets: [$0.name]) }
        + (chosenSuites == nil ? [.executable(name: "quickstart", targets: ["ErrandQuickstart"])] : [])
        + (hasSwiftUI ? [.library(name: "ErrandAppViews", targets: ["ErrandAppViews"])] : []),
    traits: [.trait(name: linkedLibcurl, description: "Links libcurl and zlib instead of loading them at run time.")],
    targets: core + system + plugins + testSupport + shims + demo + (hasSwiftUI ? views : []) + builtPrograms
        + (chosenSuites ?? suites),
    swiftLanguageModes: [.v6]
)

for target in package.targets where !shims.contains(where: { $0.name == target.name }) {
    target.swiftSettings = strictSettings
}

// As new apps of Xcode are.
for target in package.targets
where ["ErrandAppModels", "ErrandAppViews", "errand-app", "ErrandMainActorTests"].contains(target.name) {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))
}

// Release builds of the tests are for the modules that they test; optimizing the tests themselves takes most of the time.
for target in package.targets where target.type == .test {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}
