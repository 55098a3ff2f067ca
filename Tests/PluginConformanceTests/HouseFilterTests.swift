import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCompression
import ErrandConformance
import ErrandCookies
import ErrandJSONValidation
import ErrandOAuth
import ErrandResumableDownload
import ErrandResumableUpload
import ErrandRetry
import ErrandSigning
import ErrandTesting
import ErrandURLFilters
import Testing

struct HouseFilter: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cases: [PluginConformanceCase]

    init(
        _ name: String, effects: [FilterEffect] = [], secrets: [String] = [],
        another: (@Sendable () throws -> any Filter)? = nil, knownLimitations limitations: [KnownLimitation] = [],
        _ make: @escaping @Sendable () throws -> any Filter
    ) {
        testDescription = name
        cases = FilterConformance.cases(
            for: make, effects: effects, secrets: secrets, another: another,
            laws: LawOptions(rounds: LawBudget.rounds, budget: LawBudget.duration),
            knownLimitations: limitations, within: LawBudget.duration, gracePeriod: .seconds(300)
        ).filter { LawBudget.includes($0.name) }
    }
}

extension HouseFilter {
    private static let key = "filter-key-51d0"
    private static let quick = RetryPolicy(backoff: Backoff(base: .milliseconds(1), maximumDelay: .milliseconds(5)))

    private static func fields(key: String) -> any Filter {
        let headers: HTTPHeaders = ["X-Key": key]
        return .headers(headers.sensitive("X-Key"))
    }

    static let all: [HouseFilter] = [
        HouseFilter("a filter that does nothing") { .closure { exchange, next in try await next(exchange) } },
        HouseFilter("authentication", secrets: [key], another: { .authentication(.bearer("another")) }) {
            .authentication(.bearer(key))
        },
        HouseFilter("cache, timed") { .cache(.memory(), policy: .timed(.seconds(60))) },
        HouseFilter("cache, HTTP") { .cache(.memory(), policy: .http()) },
        HouseFilter("coalescing") { .coalescing },
        HouseFilter("coalescing, before redirects") { .coalescing(in: .call) },
        HouseFilter("compressed bodies", effects: [.body]) { .bodyCompression(.gzip, minimumBytes: 1) },
        HouseFilter("cookies") { .cookies },
        HouseFilter("JSON validation") { JSONValidationFilter() },
        HouseFilter("resumable downloads") { .downloads },
        HouseFilter("resumable uploads") { .uploads },
        HouseFilter("retry") { .retry(quick) },
        HouseFilter("hedge") { .hedge },
        HouseFilter("host limit", effects: [.limits(4)]) {
            .hostLimit(HostLimits(maximumConcurrent: 4, rate: RequestRate(1_000, per: .seconds(1))))
        },
        HouseFilter("breaker") { .breaker },
        HouseFilter("attempt timeout") { .attemptTimeout(.seconds(600)) },
        HouseFilter("fault injection without faults") { FaultInjectionFilter(seed: 7) },
        HouseFilter("standard resilience") {
            .standardResilience {
                $0.retry = quick
                $0.attemptTimeout = .seconds(600)
            }
        },
        HouseFilter("query and signature", secrets: [key]) {
            .urls(.query(["app": "shop"]), .sign(key: SigningKey(key)))
        },
        HouseFilter("headers", secrets: [key], another: { fields(key: "another") }) { fields(key: key) },
        HouseFilter(
            "OAuth, with proofs", effects: [.error], secrets: [key],
            knownLimitations: [
                .named(
                    "law: concurrent calls have the same results as each call alone",
                    because: "a refused token signs the user out of all calls")
            ]
        ) {
            let client = OAuthClient(
                issuer: "https://id.example.com", id: "app", dpop: try DPoP(key: .generate(.p256)), transport: .stub)
            let session = OAuthSession(client)
            session.authentication.signIn(OAuthToken(key, kind: .dpop))
            return .authentication(session)
        },
        HouseFilter("HTTP message signatures", secrets: [key]) {
            var signer = try HTTPMessageSigner(key: HMACKey(key.utf8), keyID: "app")
            signer.streamedBody = .isUnsigned
            return .signing(signer)
        },
        HouseFilter(
            "signatures of AWS", secrets: [key],
            knownLimitations: [
                .named(
                    "a field that is marked as sensitive stays marked", because: "the signature needs Authorization"),
                .named(
                    "a response for one user or request body isn't returned for another",
                    because: "the case sends Authorization, which the signature needs"),
                .named(
                    "law: a request is sent as often as without the filter, except for declared repeats",
                    because: "a request with its own Authorization is refused"),
                .named(
                    "law: a response or error reaches the caller unchanged, except for declared effects",
                    because: "a request with its own Authorization is refused"),
                .named(
                    "law: concurrent calls have the same results as each call alone",
                    because: "a request with its own Authorization is refused"),
            ]
        ) {
            let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: key, sessionToken: key)
            var signer = AWSRequestSigner(region: "us-east-1", service: "api", credentials: credentials)
            signer.payload = .unsigned
            return .signing(signer)
        },
        HouseFilter("environment") {
            try .environment(
                ServiceEnvironments(
                    ["release": ServiceConfiguration(baseURL: "https://conformance.example")], selected: "release"))
        },
    ]
}

@Suite("Errand's own filters pass the conformance suite", .endsInTime, .leakChecked)
struct HouseFilterTests {
    @Test("each of Errand's filters passes every case", arguments: HouseFilter.all)
    func kept(filter: HouseFilter) async throws {
        for each in filter.cases {
            do { try await each.run() } catch is ConformanceSkipped {
                #expect(each.limitation != nil)
            } catch { Issue.record("\(error)") }
        }
    }
}
