import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters with mistakes that earlier laws overlooked, and right filters that resemble them.
@Suite("Filters with overlooked mistakes are judged by the laws", .endsInTime)
struct OverlookedFilterTests {
    // MARK: Renewals

    private static let refused = LawExchange(replies: [LawReply(401), LawReply()])

    @Test("the law refuses renewals that concurrent calls repeat", arguments: RenewingToken.Form.allCases)
    func renewals(form: RenewingToken.Form) async throws {
        let check = { try await FilterLaw.renewal.check({ RenewingToken(form) }, Self.refused) }
        if form == .right { return try await check() }
        let failure = await #expect(throws: ConformanceFailure.self) { try await check() }
        #expect(failure?.name == FilterLaw.renewal.name)
    }

    @Test("a case refuses calls of a closure that concurrent calls repeat", arguments: RenewingToken.Form.allCases)
    func closures(form: RenewingToken.Form) async throws {
        let cases = FilterConformance.closureCases(for: { closure in
            RenewingToken(form) { _ in "token-\(try await closure())" }
        })
        let each = try #require(cases.first { $0.name.contains("the closure once for all") })
        if form == .right { return try await each.run() }
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("a filter that renews once passes every case for closures, also if the value stays the same")
    func rightClosures() async throws {
        for isNew in [false, true] {
            let cases = FilterConformance.closureCases(for: { closure in
                RenewingToken(.right) { _ in
                    let number = try await closure()
                    return isNew ? "token-\(number)" : "token"
                }
            })
            for each in cases { try await each.run() }
        }
    }

    // MARK: Spellings

    private static let json = LawExchange(
        replies: [LawReply(headers: [.contentType: "application/json"], body: .text("{}"))])
    private static let upload = LawExchange(
        .post, headers: [.contentType: "application/json"], body: .text("{}"))
    private static let unstored = LawExchange(replies: [LawReply(headers: [.cacheControl: "no-cache, no-store"])])

    @Test("the law refuses a media type that is compared as text", arguments: [false, true])
    func mediaTypes(isWrong: Bool) async throws {
        try await expect(!isWrong, Self.json) { JSONMark(comparesText: isWrong) }
        try await expect(!isWrong, Self.upload) { CompactJSON(comparesText: isWrong) }
    }

    @Test("the law refuses a list that is compared as text", arguments: StoreMark.Form.allCases)
    func lists(form: StoreMark.Form) async throws {
        try await expect(form == .right, Self.unstored) { StoreMark(form: form) }
    }

    private func expect(
        _ isRight: Bool, _ exchange: LawExchange, _ make: @escaping @Sendable () -> any Filter
    ) async throws {
        if isRight { return try await FilterLaw.spelling.check(make, exchange) }
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.spelling.check(make, exchange)
        }
        #expect(failure?.name == FilterLaw.spelling.name)
    }

    @Test("random exchanges find a media type that is compared as text", arguments: [false, true])
    func randomTypes(isRequest: Bool) async throws {
        let make: @Sendable () -> any Filter = {
            if isRequest { return CompactJSON(comparesText: true) }
            return JSONMark(comparesText: true)
        }
        let cases = FilterConformance.cases(for: make, laws: LawOptions(budget: .seconds(600)))
        let each = try #require(cases.first { $0.name == FilterLaw.spelling.name })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    // MARK: Repetitions

    private static func failing(_ method: HTTPMethod, _ reply: LawReply, key: String? = nil) -> LawExchange {
        var exchange = LawExchange(method, body: .text("law"), replies: [reply, LawReply()])
        exchange.headers[.idempotencyKey] = key
        return exchange
    }

    @Test("a declared repeat doesn't include a request that the server may have processed")
    func lost() async throws {
        let lost = Self.failing(.post, LawReply(failure: .connectionLost))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.count.check({ RepeatsFailures(form: .afterLoss) }, effects: [.repeats(.post)], lost)
        }
        #expect(failure?.expected.contains(".repeats(.post, evenIfReceived: true)") == true)
        try await FilterLaw.count.check(
            { RepeatsFailures(form: .afterLoss) }, effects: [.repeats(.post, evenIfReceived: true)], lost)
    }

    @Test("a declared repeat includes requests that weren't processed, or that a server knows by their key")
    func unprocessed() async throws {
        let (unreached, refused) = (LawReply(failure: .cannotConnect), LawReply(409))
        for method in [HTTPMethod.post, "REPORT"] {
            for effects in [[FilterEffect.repeats(method)], [.repeats()]] {
                try await FilterLaw.count.check(
                    { RepeatsFailures(form: .ifUnreached) }, effects: effects, Self.failing(method, unreached))
                try await FilterLaw.count.check(
                    { RepeatsFailures(form: .ifRefused) }, effects: effects, Self.failing(method, refused))
                try await FilterLaw.count.check(
                    { RepeatsFailures(form: .withKey) }, effects: effects + [.headersPerCall(.idempotencyKey)],
                    Self.failing(method, LawReply(failure: .connectionLost)))
            }
        }
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.count.check(
                { RepeatsFailures(form: .ifRefused) }, effects: [.repeats(.put)], Self.failing(.post, refused))
        }
    }

    @Test("the case about repeats follows the declared effects")
    func declaredRepeats() async throws {
        func check(_ form: RepeatsFailures.Form, _ effects: [FilterEffect]) async throws {
            let cases = FilterConformance.cases(for: { RepeatsFailures(form: form) }, effects: effects, laws: .off)
            for each in cases where each.name.hasPrefix("a request that isn't idempotent") { try await each.run() }
        }
        try await check(.afterLoss, [.repeats(evenIfReceived: true)])
        try await check(.withKey, [.repeats(), .headersPerCall(.idempotencyKey)])
        for effects in [[], [.repeats()], [.repeats(.post, evenIfReceived: true)]] as [[FilterEffect]] {
            await #expect(throws: ConformanceFailure.self) { try await check(.afterLoss, effects) }
        }
    }

    @Test("an order with the app's own key is accepted by the law about equal requests")
    func ownKey() async throws {
        let exchange = Self.failing(.post, LawReply(), key: "law-key")
        try await FilterLaw.repetition.check({ RepeatsFailures(form: .withKey) }, exchange)
    }

    // MARK: Errors and times

    @Test("an error instead of a status of 400 or more has to be declared")
    func errors() async throws {
        let forbidden = LawExchange(replies: [LawReply(403)])
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check({ RejectsForbidden() }, forbidden)
        }
        try await FilterLaw.response.check({ RejectsForbidden() }, effects: [.error], forbidden)
    }

    @Test("a filter that waits before several attempts passes the law about bodies that arrive late")
    func waits() async throws {
        let failed = LawReply(503, body: .text("law"))
        let exchange = LawExchange(isStreamed: true, replies: [failed, failed, failed, LawReply()])
        try await FilterLaw.arrival.check({ PatientRepeats() }, exchange)
    }
}

/// Reads the body of a failure, waits for two seconds, and sends a GET again.
private struct PatientRepeats: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        for _ in 0..<3 {
            let count = exchange.stagedWorkCount
            let response = try await next(exchange)
            guard response.status == 503, exchange.http.method == .get else { return response }
            _ = try await exchange.gatherEvidence(of: response)
            await exchange.discard(response)
            await exchange.discardStagedWork(after: count)
            try await exchange.time.sleep(until: exchange.time.instant(after: .milliseconds(2_000)))
        }
        return try await next(exchange)
    }
}
