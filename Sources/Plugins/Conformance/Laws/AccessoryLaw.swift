public import Errand
import ErrandEssentials
import ErrandTesting

/// A law of accessories. It runs random exchanges with and without the accessory.
struct AccessoryLaw: RandomLaw {
    let name: String
    let advice: String
    let share: Int
    let judge: @Sendable (AccessoryBench, [LawExchange], Duration) async throws -> LawViolation?

    static let all = [
        conservation, secrecy, order, thrift, rest, crowd, totals, outcome, echo, balance, presence, lines, threads,
        numbers, transfers, turns, repeats,
    ]

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

    func arguments(_ bench: AccessoryBench) throws -> [String] {
        [LawCode.creation(of: try bench.make().0)] + bench.arguments.map { "\($0.name): \($0.code)" }
    }

    private static func pairs(
        _ accessory: any Accessory, _ exchanges: [LawExchange], _ bench: FilterBench, _ patience: Duration
    ) async -> [(LawTrace, LawTrace)] {
        let plain = LawRun(nil, patience: patience, bench: bench)
        let observed = LawRun(nil, accessories: [accessory], patience: patience, bench: bench)
        var pairs: [(LawTrace, LawTrace)] = []
        for exchange in exchanges { pairs.append((await plain.play(exchange), await observed.play(exchange))) }
        return pairs
    }

    /// The law that an accessory only observes.
    static let conservation = AccessoryLaw(
        name: "law: a call with the accessory is the same as without it",
        advice: "Only observe: don't cancel the activity, don't wait, and don't report your own events.", share: 100
    ) { bench, exchanges, patience in
        let (accessory, _) = try bench.make()
        for (expected, came) in await pairs(accessory, exchanges, bench.filters, patience) {
            if came.outcome.kind != expected.outcome.kind {
                if bench.isExpected(came.outcome.kind, expected.outcome.kind) { continue }
                return LawViolation(expected: "\(expected.outcome)", came: "\(came.outcome)")
            }
            if came.sends.map(\.image) != expected.sends.map(\.image) {
                return LawViolation(
                    expected: "the same \(expected.sends.count) requests",
                    came: "\(came.sends.count) requests that differ")
            }
            let (before, after) = (expected.events + expected.work.sorted(), came.events + came.work.sorted())
            if before != after {
                return LawViolation(
                    expected: before.joined(separator: ", "), came: after.joined(separator: ", "))
            }
            if let body = expected.outcome.response?.body, came.outcome.response?.body != body {
                return LawViolation(expected: "a body of \(body.count) bytes", came: "a different body")
            }
            if came.elapsed > expected.elapsed + .seconds(1) {
                return LawViolation(expected: "the call to take \(expected.elapsed)", came: "it took \(came.elapsed)")
            }
        }
        return nil
    }

    /// The law that an accessory's output doesn't contain secrets.
    static let secrecy = AccessoryLaw(
        name: "law: the output contains no secret from any field, JSON member or form item",
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
                let spelling = exchange.url.utf8.reduce(index) { $0 + Int($1) }
                if place.hide(secret, in: &exchange, spelling) { hidden.append((place.description, secret)) }
            }
            let secret = "law-secret-\(index)-notice-7b1e"
            hidden.append(("a field of an interim response, or a trailer", secret))
            let notices = HTTPHeaders([
                .init("X-Law-Key", secret, sensitive: true), .init(.setCookie, "law=\(secret)"),
                .init("X-Auth-Token", secret), .init(.link, "</a?access_token=\(secret)>; rel=next"),
            ])
            _ = await run.begin(LawCall(exchange, notices: notices))
        }
        // Reports messages with secrets in both directions, as sockets and event streams do.
        let secrets = ["received", "sent"].map { "law-secret-\($0)-7b1e" }
        await run.report(secrets.map { "{\"law\":[{\"access_token\":\"\($0)\"}]}" })
        for secret in secrets { hidden.append(("a member of a message in JSON", secret)) }
        let text = try await output()
        var dumped = ""
        dump(accessory, to: &dumped)
        for (place, secret) in hidden where text.contains(secret) || dumped.contains(secret) {
            return LawViolation(expected: "output without the secret in \(place)", came: "the secret in the output")
        }
        return nil
    }

    /// The law that an accessory doesn't keep the bodies of finished calls.
    static let thrift = AccessoryLaw(
        name: "law: the bodies of finished calls aren't kept, except for a bounded number of bytes",
        advice: """
            Limit the bytes that you keep, not only the number of responses: a body in memory can have \
            `maximumBodyBytes`. Keep status and fields, and set `body` to `.empty`.
            """, share: 2
    ) { bench, _, patience in
        let body = LawBody.text(String(repeating: "a", count: 4 << 20))
        func growth(_ accessories: [any Accessory]) async -> Int {
            let run = LawRun(nil, accessories: accessories, patience: patience, bench: bench.filters)
            let exchange = LawExchange(replies: [LawReply(body: body)])
            _ = await run.play(exchange)
            let before = HeapMeter.bytes()
            for _ in 0..<24 {
                let call = await run.begin(LawCall(exchange))
                // Clears the trace, because an accessory may keep the request, and the request refers to the trace.
                call.clearTrace()
            }
            return HeapMeter.bytes() - before
        }
        let (accessory, _) = try bench.make()
        // Half the size of all bodies.
        let most = 12 * 4 << 20
        let grown = await growth([accessory])
        if grown < most { return nil }
        let plain = await growth([])
        if grown - plain < most { return nil }
        return withExtendedLifetime(accessory) {
            LawViolation(
                expected: "at most \(most) bytes in memory after 24 bodies of 4 MiB", came: "\(grown - plain) bytes")
        }
    }

    /// The law that an accessory accepts events in any order, and repeated or missing ones.
    static let order = AccessoryLaw(
        name: "law: missing, repeated and reordered events from eight threads do no harm",
        advice: "Protect all state with one lock, and don't rely on the order of events.", share: 5
    ) { bench, exchanges, patience in
        let (accessory, output) = try bench.make()
        let recorder = BenchForwarder(BenchWitness(), keepsEvents: true)
        let source = LawRun(nil, accessories: [recorder], patience: patience, bench: bench.filters)
        for exchange in exchanges { _ = await source.play(exchange) }
        let scenes = bench.agent(recorder)
        for scene in [BenchScene.repeated, .hedged, .noted, .detached, .cached, .cancelledOnTheWire] {
            _ = await scene.play(on: scenes)
        }
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

private enum LawSecret: String, CaseIterable {
    case authorization, sensitiveField, cookie, query, requestMember, formItem, setCookie, responseMember
    case location, proxyAuthorization, userInfo

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
        case .userInfo: "the user information of the URL"
        }
    }

    private static let types = [
        "application/json", "application/json; charset=utf-8", "application/problem+json", "Application/JSON",
        "application/vnd.law+json",
    ]
    private static let texts = [
        "{\"law\":[{\"a\":{\"password\":\"$\"}},1],\"b\":null}", "{\"password\" : \"$\"}",
        "{\n  \"law\" : {\n    \"password\"\t:\n      \"$\"\n  }\n}", "{\"pass\\u0077ord\":\"$\"}",
        "[{\"PASSWORD\":\"a\\\"$\"},{\"access_token\" :\"$\"}]", "{\"a\":\"{\\\"password\\\":\\\"$\\\"}\"}",
        "{\"client_secret\":[\"$\"]}", "{\"a\":\"b=1&password=$\"}",
    ]
    private static let forms = [
        "law=1&password=$", "pass%77ord=$&law=1", "password=a&password=$", "law=1&access_token=$",
    ]

    private static func text(_ spellings: [String], _ spelling: Int, _ secret: String) -> String {
        spellings[spelling % spellings.count].replacing("$", with: secret)
    }

    /// Puts a secret into this place of an exchange. Returns `false` if the exchange lacks the place.
    func hide(_ secret: String, in exchange: inout LawExchange, _ spelling: Int) -> Bool {
        let spelling = spelling % 1_000
        func name(_ name: String) -> HTTPHeaderName {
            HTTPHeaderName([name, name.lowercased(), name.uppercased()][spelling % 3])
        }
        let type = Self.types[spelling % Self.types.count]
        func json() -> LawBody { .text(Self.text(Self.texts, spelling, secret)) }
        let hasBody = ![.get, .head, .options].contains(exchange.method)
        let names: [HTTPHeaderName] = ["Authorization", "authorization", "AUTHORIZATION", "aUTHORIZATION"]
        switch self {
        case .authorization: exchange.headers.set(names[spelling % 4], "Bearer \(secret)")
        case .proxyAuthorization: exchange.headers.set(name("Proxy-Authorization"), "Basic \(secret)")
        case .sensitiveField: exchange.headers.set(name("X-Law-Key"), secret, sensitive: true)
        case .cookie: exchange.headers.set(name("Cookie"), "law=a; law=\(secret)")
        case .query:
            let name = [
                "access_token", "access%5Ftoken", "ACCESS_TOKEN", "access_token=a&access_token", "a=1&access_token",
            ][spelling % 5]
            let parts = exchange.url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            exchange.url = "\(parts[0])\(parts[0].contains("?") ? "&" : "?")\(name)=\(secret)"
            if parts.count > 1 { exchange.url += "#\(parts[1])" }
        case .userInfo where spelling.isMultiple(of: 5):
            exchange.url = exchange.url.replacing("https://", with: "https://law:\(secret)@", maxReplacements: 1)
        case .requestMember where hasBody && exchange.timeout != nil:
            exchange.body = json()
            exchange.headers[.contentType] = type
        case .formItem where hasBody && exchange.timeout == nil:
            exchange.body = .text(Self.text(Self.forms, spelling, secret))
            exchange.headers[.contentType] = "application/x-www-form-urlencoded"
        case .setCookie:
            exchange.replies[0].headers.set(name("Set-Cookie"), "law=\(secret)")
            // The first field isn't the only one.
            if spelling.isMultiple(of: 2) { exchange.replies[0].headers.add(.setCookie, "law2=a\(secret); Path=/") }
        case .responseMember where !exchange.isStreamed && exchange.method != .head:
            exchange.replies[exchange.replies.count - 1].body = json()
            exchange.replies[exchange.replies.count - 1].headers[.contentType] = type
        case .location where exchange.replies.count > 1:
            let mark = spelling.isMultiple(of: 3) ? "#" : spelling.isMultiple(of: 2) ? "?a=1#" : "?"
            exchange.replies[0].headers[.location] = "\(LawVocabulary.origin)/v1/x\(mark)access_token=\(secret)"
        default: return false
        }
        return true
    }
}

extension AccessoryConformance {
    /// Checks an accessory with exchanges. Throws ``ConformanceFailure`` if the accessory breaks a law. The failure of
    /// a law contains a call to this method, to repeat it.
    public static func check<Subject: Accessory>(
        _ make: @escaping @Sendable () throws -> Subject, effects: [AccessoryEffect] = [],
        output: (@Sendable (Subject) async throws -> String)? = nil,
        outcomes: (@Sendable (Subject) async throws -> String)? = nil,
        attach: (@Sendable (Subject, NetworkAgent) -> Void)? = nil, _ exchanges: LawExchange...
    ) async throws {
        let bench = AccessoryBench(
            make, effects: effects, output: output, outcomes: outcomes, attach: attach, gracePeriod: .seconds(5))
        for law in AccessoryLaw.all {
            guard let violation = try await law.judge(bench, exchanges, .milliseconds(25)) else { continue }
            throw ConformanceFailure(expected: violation.expected, came: violation.came).named(law.name)
        }
    }
}
