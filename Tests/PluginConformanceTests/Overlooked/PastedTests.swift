import Errand
import ErrandEssentials
import Testing

@testable import ErrandConformance

/// The tests that failures print compile: the file `Pasted.swift` contains them, and is part of this suite.
@Suite("The test that a failure prints can be pasted", .endsInTime)
struct PastedTests {
    private static let every = LawExchange(
        "LAW", "https://api.service.test/v1/a?b=%20\"",
        headers: (["X-A": "1\\\"", "Accept": "*/*"] as HTTPHeaders).sensitive("X-A"),
        body: .stream(["a", "b\n"], isReplayable: true, hasLength: true), isSaved: true,
        timeout: .milliseconds(1_500), deadline: .seconds(9), priority: .high, isTagged: true,
        tags: [
            LawTag(URLTemplate.self, "/users/{id}"), LawTag(LiveStream.self, true),
            LawTag(LinkSource.self, URL(string: "https://conformance.example/")),
            LawTag(PastedFilter.Mode.self, .quick),
        ], isRefused: true, isStrict: true, isRepeated: true, cancellation: .onTheWire,
        replies: [
            LawReply(503, headers: ["X-B": ""], body: .bytes([255]), delay: .seconds(1), failure: .connectionLost),
            LawReply(body: .text(String(repeating: "\"", count: 200))), LawReply(body: .none),
        ])
    private static let streamed = LawExchange(
        .post, body: .text("law"), isStreamed: true, isDropped: true, cancellation: .whileReading,
        replies: [LawReply(body: .awaitedStream(["a"]))])
    private static let wire = WireExchange(
        .put, "/b?c", headers: ["X-A": "1"], body: .stream([1, 2], isKnown: true, isReplayable: false),
        isElsewhere: true, isStreamed: true, isReadSlowly: true, isDropped: true, isCancelled: true,
        reply: WireReply(
            404, headers: ["X-B": "2"], body: .bytes(9), framing: .chunked([3]), trailers: ["X-C": "3"],
            informational: [103], fault: .close(2)),
        furtherReplies: [.part])
    /// Each kind of effect.
    private static let effects: [FilterEffect] = [
        .method, .url, .headers("X-A", "X-B"), .body, .headersPerCall("X-C"), .headersPerAttempt("X-D"), .timeout,
        .priority, .delivery, .tags, .response, .error, .repeats(), .repeats(.get, "LAW"),
        .repeats(.post, evenIfReceived: true), .responds, .waits, .limits(4),
    ]

    private static func printed() throws -> [String] {
        let filters = FilterBench(make: { PastedFilter() }, secrets: [], gracePeriod: .seconds(5))
        let plain = LawBench(filters: filters, effects: [])
        var tests = try FilterLaw.all.map { try $0.test(plain, [LawExchange()]) }
        let bench = LawBench(
            filters: FilterBench(make: { PastedFilter.Inner(name: "a") }, secrets: [], gracePeriod: .seconds(5)),
            effects: effects, another: { PastedFilter.Inner(name: "b") }, samples: [streamed, LawExchange()])
        tests.append(try FilterLaw.request.test(bench, [every, streamed]))
        let accessories = AccessoryBench(
            { PastedAccessory() }, effects: [.cancels], output: { _ in "" }, outcomes: { _ in "" },
            attach: { _, _ in }, gracePeriod: .seconds(5))
        tests.append(try AccessoryLaw.conservation.test(accessories, [every]))
        let transports = WireBench(make: { PastedTransport() })
        tests += try TransportLaw.all.map { try $0.test(transports, [WireExchange()]) }
        var relayed = WireBench(make: { PastedTransport() }, effects: TransportEffect.allCases)
        relayed.relay = { _ in throw PastedTransport.NoServer() }
        tests.append(try TransportLaw.continuation.test(relayed, [wire, WireExchange()]))
        return tests
    }

    @Test("each law's test, with each kind of argument, is in a file that compiles")
    func compiles() throws {
        let functions = try Self.printed().enumerated().map { index, test in
            test.replacing("@Test func keepsLaw()", with: "func keepsLaw\(index)()")
        }
        // The formatter adds spaces and commas.
        func words(_ text: String) -> String { text.filter { !$0.isWhitespace }.replacing(",]", with: "]") }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Pasted.swift")
        let source = words(try String(contentsOf: file, encoding: .utf8))
        let missing = functions.filter { !source.contains(words($0)) }
        #expect(missing.isEmpty, "add to Pasted.swift:\n\(missing.joined(separator: "\n\n"))")
    }

    @Test("a failure contains its test")
    func failure() async throws {
        let cases = FilterConformance.cases(
            for: { PastedFilter(isWrong: true) }, effects: [.url], laws: LawOptions(rounds: 10))
        let each = try #require(cases.first { $0.name == FilterLaw.request.name })
        let failure = await #expect(throws: ConformanceFailure.self) { try await each.run() }
        let details = try #require(failure?.details)
        #expect(details.contains("FilterLaw.request.check("))
        #expect(details.contains("{ PastedFilter(/* arguments as in your test */) },"))
        #expect(details.contains("effects: [.url],"))
    }
}

struct PastedFilter: Filter {
    enum Mode: TagKey {
        case quick, slow
        static var defaultValue: Mode { .slow }
    }

    struct Inner: Filter {
        var name = ""
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    var isWrong = false

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if isWrong { exchange.timeout = .seconds(1) }
        return try await next(exchange)
    }
}

final class PastedAccessory: Accessory {
    func activity(_ activity: Activity, did event: ActivityEvent) {}
}

struct PastedTransport: Transport {
    struct NoServer: Error {}

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse { throw NoServer() }
}
