// The code of docs/writing-a-plugin.md and docs/plugin-conformance.md.
import Errand
import ErrandConformance
import ErrandTesting
import Foundation
import Testing

/// Limits the number of requests per second, in the fewest lines.
struct RateLimit: Filter {
    let perSecond: Int

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(1) / max(1, perSecond)))
        return try await next(exchange)
    }
}

@Suite("RateLimit passes the filter conformance suite")
struct RateLimitTests {
    @Test(arguments: FilterConformance.cases(for: { RateLimit(perSecond: 10_000) }))
    func kept(each: PluginConformanceCase) async throws { try await each.run() }
}

extension Filter where Self == RateLimit {
    /// `filters: [.rateLimit(perSecond: 10)]`
    static func rateLimit(perSecond count: Int) -> RateLimit { RateLimit(perSecond: count) }
}

/// A stand-in for the type in a package manifest.
private struct PackageDependency {
    let url: String
    static func package(url: String, _ range: Range) -> PackageDependency { PackageDependency(url: url) }

    struct Range {
        static func upToNextMinor(from version: String) -> Range { Range() }
    }
}

private let dependencies: [PackageDependency] = [
    .package(url: "https://example.com/errand.git", .upToNextMinor(from: "0.1.0"))
]

private struct SignedFilter: Filter {
    let key: String
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private func secretCases() -> [PluginConformanceCase] {
    FilterConformance.cases(for: { SignedFilter(key: "key-of-the-test") }, secrets: ["key-of-the-test"])
}

private func outputCases() -> [PluginConformanceCase] {
    AccessoryConformance.cases(for: { SlowRequests() }, output: { $0.all.joined(separator: "\n") })
}

private func excusedCases() -> [PluginConformanceCase] {
    FilterConformance.cases(
        for: { SignedFilter(key: "key-of-the-test") },
        knownLimitations: [
            .named("a streamed body isn't read before the caller reads it", because: "it verifies a signature")
        ])
}

private struct VersionedPath: Filter {
    let prefix: String
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private struct TenantHeader: Filter {
    let tenant: String
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private func effectCases() -> [[PluginConformanceCase]] {
    let moved = FilterConformance.cases(for: { VersionedPath(prefix: "/v2") }, effects: [.url])
    let strict = FilterConformance.cases(for: { TenantHeader(tenant: "shop") }, effects: [.headers("X-Tenant")])
    return [moved, strict]
}

private func effectList() async throws -> [FilterEffect] {
    let unneeded = try await FilterConformance.unneededEffects(for: { VersionedPath(prefix: "/v2") }, effects: [.url])
    return unneeded
}

private struct TokenHeader: Filter {
    let token: @Sendable () async throws -> String
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private func closureCases() -> [PluginConformanceCase] {
    FilterConformance.closureCases(for: { closure in
        TokenHeader(token: { "token-\(try await closure())" })
    })
}

private func userCases() -> [PluginConformanceCase] {
    let cases = FilterConformance.cases(
        for: { TenantHeader(tenant: "shop") }, another: { TenantHeader(tenant: "bank") })
    return cases
}

private struct SumFilter: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private func sampleCases() -> [PluginConformanceCase] {
    let summed = LawExchange(replies: [LawReply(headers: ["X-Sum": "324"], body: .text("law"))])
    let cases = FilterConformance.cases(for: { SumFilter() }, samples: [summed])
    return cases
}

private struct NetworkGate: Filter {
    let isOnline: Bool
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private func heldCases() -> [PluginConformanceCase] {
    FilterConformance.holdingCases(for: { NetworkGate(isOnline: false) })
}

private func thoroughCases() -> [PluginConformanceCase] {
    FilterConformance.cases(for: { MyFilter() }, laws: LawOptions(rounds: 10_000, budget: .seconds(600), seed: 7))
}

private struct MyFilter: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

@Suite("My filter passes the filter conformance suite")
struct MyFilterTests {
    @Test(arguments: FilterConformance.cases(for: { MyFilter() }))
    func kept(each: PluginConformanceCase) async throws { try await each.run() }
}

@Suite("My accessory passes the accessory conformance suite")
struct MyAccessoryTests {
    @Test(arguments: AccessoryConformance.cases(for: { SlowRequests() }))
    func kept(each: PluginConformanceCase) async throws { try await each.run() }
}
