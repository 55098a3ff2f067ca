public import Errand
import ErrandEssentials
import ErrandTesting

/// Laws of accessories, tested with random exchanges that run with the accessory and without it.
struct AccessoryLaw: RandomLaw {
    let name: String
    let advice: String
    let share: Int
    let judge: @Sendable (AccessoryBench, [LawExchange], Duration) async throws -> LawViolation?

    static let all = [conservation, secrecy, order]

    static let patience: [Duration] = [.milliseconds(5), .milliseconds(25), .milliseconds(100)]
    static let shrinking = LawShrinking(patience: [.milliseconds(5), .milliseconds(10)], time: .seconds(5))

    var check: String { "AccessoryConformance.check" }

    var exchanges: @Sendable (inout LawRandom) -> [LawExchange] {
        { random in
            var exchanges = LawExchange.story(&random)
            if random.isTrue(0.2) { exchanges[exchanges.count - 1].redirect(&random) }
            if random.isTrue(0.2), exchanges.last?.deadline == nil {
                exchanges[exchanges.count - 1].cancellation = .onTheWire
            }
            return exchanges
        }
    }

    func violation(
        _ bench: AccessoryBench, _ exchanges: [LawExchange], patience: Duration
    ) async throws -> LawViolation? { try await judge(bench, exchanges, patience) }

    func simpler(_ exchanges: [LawExchange]) -> [[LawExchange]] { LawExchange.simpler(exchanges, keepsCount: false) }

    func arguments(_ bench: AccessoryBench) throws -> String { "{ \(type(of: try bench.make().0))() }" }

    /// Plays exchanges without an accessory and with it.
    private static func pairs(
        _ accessory: any Accessory, _ exchanges: [LawExchange], _ bench: FilterBench, _ patience: Duration
    ) async -> [(LawTrace, LawTrace)] {
        let plain = LawRun(nil, patience: patience, bench: bench)
        let observed = LawRun(nil, accessories: [accessory], patience: patience, bench: bench)
        var pairs: [(LawTrace, LawTrace)] = []
        for exchange in exchanges { pairs.append((await plain.play(exchange), await observed.play(exchange))) }
        return pairs
    }

    /// An accessory observes, and changes nothing.
    static let conservation = AccessoryLaw(
        name: "law: a call with the accessory is the same as without it",
        advice: "Only observe: don't cancel the activity, don't wait, and don't report events of your own.", share: 100
    ) { bench, exchanges, patience in
        let (accessory, _) = try bench.make()
        for (expected, came) in await pairs(accessory, exchanges, bench.filters, patience) {
            if came.outcome.kind != expected.outcome.kind {
                return LawViolation(expected: "\(expected.outcome)", came: "\(came.outcome)")
            }
            if came.sends.map(\.image) != expected.sends.map(\.image) {
                return LawViolation(
                    expected: "\(expected.sends.count) requests", came: "\(came.sends.count), or different ones")
            }
            let (before, after) = (expected.events + expected.work.sorted(), came.events + came.work.sorted())
            if before != after {
                return LawViolation(
                    expected: before.joined(separator: ", "), came: after.joined(separator: ", "))
            }
            if let body = expected.outcome.response?.body, came.outcome.response?.body != body {
                return LawViolation(expected: "a body of \(body.count) bytes", came: "another body")
            }
            if came.elapsed > expected.elapsed + .seconds(1) {
                return LawViolation(expected: "an end after \(expected.elapsed)", came: "an end after \(came.elapsed)")
            }
        }
        return nil
    }

    /// Secrets stay secret, wherever they occur.
    static let secrecy = AccessoryLaw(
        name: "law: no secret is in what it writes, in whichever field, member or item it comes",
        advice: """
            Pass URLs, fields and `Location` through a `Redactor`, and bodies through `ErrandRedaction`, before you \
            keep or write them.
            """, share: 40
    ) { bench, exchanges, patience in
        let (accessory, output) = try bench.make()
        let run = LawRun(nil, accessories: [accessory], patience: patience, bench: bench.filters)
        var hidden: [(String, String)] = []
        for (index, exchange) in exchanges.enumerated() {
            var exchange = exchange
            for place in LawSecret.allCases {
                let secret = "law-secret-\(index)-\(place.rawValue)-7b1e"
                if place.hide(secret, in: &exchange) { hidden.append((place.description, secret)) }
            }
            _ = await run.play(exchange)
        }
        let text = try await output()
        var dumped = ""
        dump(accessory, to: &dumped)
        for (place, secret) in hidden where text.contains(secret) || dumped.contains(secret) {
            return LawViolation(expected: "no secret of \(place)", came: "it is in the output")
        }
        return nil
    }

    /// Events can come in any order, twice, or not at all.
    static let order = AccessoryLaw(
        name: "law: it survives events in any order, missing or repeated, from eight threads",
        advice: "Protect all state with one lock, and don't trust that an event comes only after another one.", share: 5
    ) { bench, exchanges, patience in
        let (accessory, output) = try bench.make()
        let recorder = BenchForwarder(BenchWitness(), keepsEvents: true)
        let source = LawRun(nil, accessories: [recorder], patience: patience, bench: bench.filters)
        for exchange in exchanges { _ = await source.play(exchange) }
        let events = recorder.events
        await withTaskGroup { group in
            for lane in 0..<8 {
                group.addTask {
                    var random = LawRandom(seed: UInt64(lane))
                    for _ in 0..<20 {
                        for each in events.shuffled(using: &random) where random.isTrue(0.8) {
                            accessory.activity(each.activity, did: each.event)
                        }
                    }
                }
            }
        }
        _ = try await output()
        let run = LawRun(nil, accessories: [accessory], patience: patience, bench: bench.filters)
        let outcome = await run.play(LawExchange()).outcome
        if outcome.kind == "status 200" { return nil }
        return LawViolation(expected: "a later call with status 200", came: "\(outcome)")
    }
}

/// Where a secret can be.
private enum LawSecret: String, CaseIterable {
    case authorization, sensitiveField, cookie, query, requestMember, formItem, setCookie, responseMember
    case location, proxyAuthorization

    var description: String {
        switch self {
        case .authorization: "Authorization"
        case .sensitiveField: "a field that is marked as sensitive"
        case .cookie: "Cookie"
        case .query: "an item of the query"
        case .requestMember: "a nested member of a JSON request"
        case .formItem: "an item of a form"
        case .setCookie: "Set-Cookie"
        case .responseMember: "a nested member of a JSON response"
        case .location: "the query of Location"
        case .proxyAuthorization: "Proxy-Authorization"
        }
    }

    /// Returns false if the exchange has no such place.
    func hide(_ secret: String, in exchange: inout LawExchange) -> Bool {
        func json(_ secret: String) -> LawBody {
            .text("{\"law\":[{\"a\":{\"password\":\"\(secret)\"}},1],\"b\":null}")
        }
        let hasBody = ![.get, .head, .options].contains(exchange.method)
        switch self {
        case .authorization: exchange.headers.set(.authorization, "Bearer \(secret)")
        case .proxyAuthorization: exchange.headers.set(.proxyAuthorization, "Basic \(secret)")
        case .sensitiveField: exchange.headers.set("X-Law-Key", secret, sensitive: true)
        case .cookie: exchange.headers.set(.cookie, "law=\(secret)")
        case .query:
            exchange.url += (exchange.url.contains("?") ? "&" : "?") + "access_token=\(secret)"
        case .requestMember where hasBody && exchange.timeout != nil:
            exchange.body = json(secret)
            exchange.headers[.contentType] = "application/json"
        case .formItem where hasBody && exchange.timeout == nil:
            exchange.body = .text("law=1&password=\(secret)")
            exchange.headers[.contentType] = "application/x-www-form-urlencoded"
        case .setCookie: exchange.replies[0].headers.set(.setCookie, "law=\(secret)")
        case .responseMember where !exchange.isStreamed && exchange.method != .head:
            exchange.replies[exchange.replies.count - 1].body = json(secret)
            exchange.replies[exchange.replies.count - 1].headers[.contentType] = "application/json"
        case .location where exchange.replies.count > 1:
            exchange.replies[0].headers[.location] = "\(LawVocabulary.origin)/v1/x?access_token=\(secret)"
        default: return false
        }
        return true
    }
}

extension AccessoryConformance {
    /// Plays exchanges with an accessory and without it, and throws ``ConformanceFailure`` if it changes one. The
    /// failure of a law contains such a call.
    public static func check<Subject: Accessory>(
        _ make: @escaping @Sendable () throws -> Subject,
        output: @escaping @Sendable (Subject) async throws -> String = { _ in "" }, _ exchanges: LawExchange...
    ) async throws {
        let bench = AccessoryBench(
            make: {
                let subject = try make()
                return (subject, { try await output(subject) })
            }, gracePeriod: .seconds(5))
        for law in AccessoryLaw.all {
            guard let violation = try await law.judge(bench, exchanges, .milliseconds(25)) else { continue }
            throw ConformanceFailure(expected: violation.expected, came: violation.came).named(law.name)
        }
    }
}
