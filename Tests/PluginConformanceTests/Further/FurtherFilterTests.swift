import Errand
import ErrandCompression
import ErrandConformance
import Testing

/// Mistakes that need more than one call to show: what a call leaves for others, and what equal calls share.
enum FurtherFilters {
    private static let home = "https://conformance.example/v1"
    private static let away = "https://other.example/v1/a"

    private static func user(_ name: String, _ text: String) -> LawExchange {
        LawExchange(headers: [.authorization: "Bearer \(name)"], replies: [LawReply(body: .text(text))])
    }

    private static let languages = ["de", "fr"].map { language in
        LawExchange(
            .get, "\(home)/a", headers: [.acceptLanguage: language],
            replies: [LawReply(body: .text(language == "de" ? "law-first" : "law-second"))])
    }
    private static let read = LawExchange(.get, "\(home)/a", replies: [LawReply(body: .text("law-old"))])
    private static let write = LawExchange(.put, "\(home)/a", body: .text("law"))
    private static let slow = LawExchange(
        replies: [LawReply(delay: .seconds(30)), LawReply(failure: .cannotConnect)])
    private static let redirected = LawExchange(
        replies: [LawReply(302, headers: [.location: away]), LawReply()])
    private static let coded = LawExchange(
        .post, headers: [.contentEncoding: "x-law"], body: .text(String(repeating: "law ", count: 100)))
    private static let plain = LawExchange(.post, body: .text(String(repeating: "law ", count: 100)))

    /// A law with exchanges, the wrong form of a filter, and the right one.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let law: FilterLaw
        let exchanges: [LawExchange]
        let wrong: @Sendable () -> any Filter
        let right: @Sendable () -> any Filter
    }

    static let all: [Pair] = [
        Pair(
            testDescription: "failures of one host refuse another",
            law: .history, exchanges: [LawExchange(.get, away, replies: [LawReply(503)]), LawExchange()],
            wrong: { OneBreakerForAll() }, right: { OneBreakerForAll(byHost: true) }),
        Pair(
            testDescription: "a value of the first user is sent for another",
            law: .history, exchanges: [user("one", "law-first"), user("two", "law-second")],
            wrong: { UserNumber(byUser: false) }, right: { UserNumber(byUser: true) }),
        Pair(
            testDescription: "a number of all calls isn't a value of a user",
            law: .history, exchanges: [user("one", "law-first"), user("two", "law-second")],
            wrong: { UserNumber(byUser: false) }, right: { CallNumber() }),
        Pair(
            testDescription: "a request in flight is shared by calls that ask for another language",
            law: .distinction, exchanges: languages, wrong: { JoinsByURL() },
            right: { JoinsByURL(comparesFields: true) }),
        Pair(
            testDescription: "a label without a coding", law: .coding, exchanges: [plain], wrong: { GzipLabel() },
            right: { .bodyCompression(.gzip, minimumBytes: 1) }),
        Pair(
            testDescription: "a coding is forgotten", law: .coding, exchanges: [coded], wrong: { CodingRemover() },
            right: { .bodyCompression(.gzip, minimumBytes: 1) }),
        Pair(
            testDescription: "two equal orders have the same key", law: .repetition, exchanges: [plain],
            wrong: { WriteKey(fromBody: true) }, right: { WriteKey(fromBody: false) }),
        Pair(
            testDescription: "the second of two equal orders isn't sent", law: .repetition, exchanges: [plain],
            wrong: { WriteEcho() }, right: { JoinsByURL(comparesFields: true) }),
        Pair(
            testDescription: "a read that began before a write is stored after it", law: .coherence,
            exchanges: [read, write], wrong: { ForgetsBeforeWrites(countsWrites: false) },
            right: { ForgetsBeforeWrites(countsWrites: true) }),
        Pair(
            testDescription: "a task that is already cancelled joins the line", law: .recovery,
            exchanges: [LawExchange()], wrong: { LongLine(looksTwice: false) }, right: { LongLine(looksTwice: true) }),
        Pair(
            testDescription: "a failure of the second attempt ends the first, which would succeed",
            law: .response, exchanges: [slow], wrong: { TwoReads(waitsForSuccess: false) },
            right: { TwoReads(waitsForSuccess: true) }),
        Pair(
            testDescription: "a stored response hides the error of another filter", law: .errors,
            exchanges: [LawExchange()], wrong: { SavedReads(onlyOffline: false) },
            right: { SavedReads(onlyOffline: true) }),
        Pair(
            testDescription: "a field that authenticates follows a redirect to another origin", law: .credentials,
            exchanges: [redirected], wrong: { TenantField(isSensitive: false) },
            right: { TenantField(isSensitive: true) }),
        Pair(
            testDescription: "a stream is signed like an empty body", law: .signatures,
            exchanges: [LawExchange(.post, body: .stream(["law"]))], wrong: { ByteSignature(readsStreams: false) },
            right: { ByteSignature(readsStreams: true) }),
        Pair(
            testDescription: "a date in Retry-After is ignored", law: .pauses,
            exchanges: [LawExchange(replies: [LawReply(503, headers: [.retryAfter: "60"]), LawReply()])],
            wrong: { HostPause(readsDates: false) }, right: { HostPause(readsDates: true) }),
    ]
}

@Suite("Laws about several calls", .endsInTime)
struct FurtherFilterTests {
    private func check(
        _ pair: FurtherFilters.Pair, _ make: @escaping @Sendable () -> any Filter
    ) async throws {
        try await pair.law.check(make, all: pair.exchanges)
    }

    @Test("a law refuses a filter with the mistake", arguments: FurtherFilters.all)
    func wrong(pair: FurtherFilters.Pair) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(pair, pair.wrong) }
        #expect(failure?.name == pair.law.name)
    }

    @Test("a law accepts the right form", arguments: FurtherFilters.all)
    func right(pair: FurtherFilters.Pair) async throws { try await check(pair, pair.right) }

    @Test("a send may end a little later than its call")
    func lateSends() async throws {
        try await FilterLaw.release.check({ LateEnd() }, LawExchange(cancellation: .onTheWire))
    }

    @Test("copies of requests, which a filter sends elsewhere, don't confuse the cases")
    func copies() async throws {
        let cases = FilterConformance.cases(
            for: { CopiesReads() }, effects: [.repeats(.get)], laws: .off, within: .seconds(600),
            gracePeriod: .seconds(300))
        let words = ["URL", "fields", "timeout", "method", "inner filter", "Range", "HEAD", "redirect", "marked"]
        let quick = cases.filter { each in words.contains { each.name.contains($0) } }
        #expect(quick.count >= words.count)
        for each in quick { try await each.run() }
    }
}

/// Returns at a cancellation, and cancels its request a little later.
private struct LateEnd: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (responses, call) = AsyncThrowingStream<HTTPResponse, any Error>.makeStream()
        let send = Task.detached {
            do {
                call.yield(try await next(exchange))
                call.finish()
            } catch { call.finish(throwing: error) }
        }
        return try await withTaskCancellationHandler {
            for try await response in responses { return response }
            throw CancellationError()
        } onCancel: {
            call.finish(throwing: CancellationError())
            Task.detached {
                try await Task.sleep(for: .milliseconds(20))
                send.cancel()
            }
        }
    }
}
