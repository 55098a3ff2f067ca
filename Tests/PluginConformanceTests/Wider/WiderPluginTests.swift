import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// A filter in a wrong and a right form, and the law that distinguishes them.
struct WiderFilter: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let law: FilterLaw
    var effects: [FilterEffect] = []
    var exchange = LawExchange()
    /// The filter of another user.
    var another: (@Sendable () -> any Filter)?
    var secrets: [String] = []
    let make: @Sendable () -> any Filter

    init(
        _ name: String, _ law: FilterLaw, _ exchange: LawExchange = LawExchange(), effects: [FilterEffect] = [],
        secrets: [String] = [], another: (@Sendable () -> any Filter)? = nil, make: @escaping @Sendable () -> any Filter
    ) {
        (testDescription, self.law, self.exchange, self.effects) = (name, law, exchange, effects)
        (self.secrets, self.another, self.make) = (secrets, another, make)
    }

    private static let service = LawExchange(.get, "https://api.service.test/v1/a")
    private static let demo = LawExchange(.get, "https://demo.service.test/v1/a")
    private static let pending = LawExchange(replies: [LawReply(202), LawReply()])
    private static let upload = LawExchange(.put, body: .stream(["law", "b"], hasLength: true))
    private static let order = LawExchange(.post, body: .text("law"))
    private static let fields: [FilterEffect] = [
        .headersPerCall("X-Call"), .headersPerAttempt("X-Nonce"), .headers("X-Attempt"),
    ]
    private static let polls: [FilterEffect] = [.repeats(.get), .waits]
    private static let copies = (CommonCopies(), CommonCopies())

    static let wrong: [WiderFilter] = [
        WiderFilter("a domain without its dot", .lookalikes, service) { DomainKey(form: .withoutDot) },
        WiderFilter("the beginning of a URL", .lookalikes, service) { DomainKey(form: .beginning) },
        WiderFilter("a key without encryption", .lookalikes, service) { DomainKey(form: .anyScheme) },
        WiderFilter("a host in a query", .lookalikes, demo, effects: [.responds]) { DemoService(comparesHost: false) },
        WiderFilter(
            "an undeclared account", .users, another: { AccountField(form: .undeclared, account: "two") },
            make: { AccountField(form: .undeclared, account: "one") }),
        WiderFilter(
            "copies of all accounts", .users,
            another: { AccountCopies(separatesAccounts: false, account: "two", copies: copies.0) },
            make: { AccountCopies(separatesAccounts: false, account: "one", copies: copies.0) }),
        WiderFilter("an arm for each request", .attempts) { ArmField(.eachRequest) },
        WiderFilter("an arm for each attempt", .attempts) { ArmField(.eachAttempt) },
        WiderFilter("a declared ID for each request", .attempts, effects: fields) { LogFields(.newID) },
        WiderFilter("a declared ID that is the same for all calls", .attempts, effects: fields) { LogFields(.sameID) },
        WiderFilter("a declared nonce for several requests", .attempts, effects: fields) { LogFields(.staleNonce) },
        WiderFilter("work of an unused response", .bystanders, pending, effects: polls) {
            ReadyPolls(form: .keepsWork)
        },
        WiderFilter("work of another filter", .bystanders, pending, effects: polls) {
            ReadyPolls(form: .discardsAllWork)
        },
        WiderFilter("a body that is read twice", .response, upload) { BodyWeight(form: .readsTwice) },
        WiderFilter("an order that is never sent again", .resending, order) { OrderGuard(.forgetsSuccesses) },
        WiderFilter("a room that stays full", .recovery) { WaitingRoom(countsDown: false) },
        WiderFilter("a country twice", .redirects, effects: [.url]) { CountryPath(form: .everyHop) },
        WiderFilter("a version twice", .redirects) { VersionItem(replaces: false) },
    ]

    static let right: [WiderFilter] = [
        WiderFilter("a whole domain", .lookalikes, service, secrets: ["wider-key-1"]) { DomainKey(form: .right) },
        WiderFilter("a host", .lookalikes, demo, effects: [.responds]) { DemoService(comparesHost: true) },
        WiderFilter(
            "a declared account", .users, another: { AccountField(form: .right, account: "two") },
            make: { AccountField(form: .right, account: "one") }),
        WiderFilter(
            "an account in the URL", .users, another: { AccountField(form: .inURL, account: "two") },
            make: { AccountField(form: .inURL, account: "one") }),
        WiderFilter(
            "copies of each account", .users,
            another: { AccountCopies(separatesAccounts: true, account: "two", copies: CommonCopies()) },
            make: { AccountCopies(separatesAccounts: true, account: "one", copies: CommonCopies()) }),
        WiderFilter("an arm for each call", .attempts) { ArmField(.right) },
        WiderFilter("an ID, a nonce and the number of the attempt", .attempts, effects: fields) { LogFields(.right) },
        WiderFilter("undeclared fields", .attempts) { LogFields(.right) },
        WiderFilter("polls in child tasks", .bystanders, pending, effects: polls) { ReadyPolls(form: .right) },
        WiderFilter("a body that is kept", .response, upload) { BodyWeight(form: .right) },
        WiderFilter("a body that is measured while it's sent", .response, upload) { BodyWeight(form: .counts) },
        WiderFilter("an order that is forgotten", .resending, order, effects: [.error]) { OrderGuard(.right) },
        WiderFilter("an order that is refused for an hour", .resending, order, effects: [.error]) {
            OrderGuard(.remembersFailures)
        },
        WiderFilter("a room", .recovery) { WaitingRoom(countsDown: true) },
        WiderFilter("a country before redirects", .redirects, effects: [.url]) { CountryPath(form: .right) },
        WiderFilter("a country once", .redirects, effects: [.url]) { CountryPath(form: .looks) },
        WiderFilter("a version that is replaced", .redirects) { VersionItem(replaces: true) },
    ]
}

/// Plugins whose mistakes show with other hosts, users, attempts or calls.
@Suite("Plugins with wider mistakes are judged by the laws", .endsInTime, .serialized)
struct WiderPluginTests {
    @Test("a law refuses a wrong filter", arguments: WiderFilter.wrong)
    func wrong(each: WiderFilter) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await each.law.check(each.make, effects: each.effects, another: each.another, each.exchange)
        }
        #expect(failure?.name == each.law.name)
    }

    @Test("the law accepts a right filter", arguments: WiderFilter.right)
    func right(each: WiderFilter) async throws {
        try await each.law.check(each.make, effects: each.effects, another: each.another, each.exchange)
    }

    @Test("no law refuses a right filter", arguments: WiderFilter.right)
    func laws(each: WiderFilter) async throws {
        let cases = FilterConformance.cases(
            for: each.make, effects: each.effects, samples: [each.exchange], secrets: each.secrets,
            another: each.another, laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration),
            within: .seconds(600), gracePeriod: .seconds(300))
        for law in cases where law.name.hasPrefix("law: ") && LawBudget.includes(law.name) { try await law.run() }
    }

    @Test("a sample with another origin declares that the filter knows it")
    func declared() async throws {
        let samples = [
            LawExchange(.get, "https://api.service.test/v1/a"), LawExchange(.get, "http://api.service.test/v1/a"),
        ]
        func failure(_ samples: [LawExchange]) async -> (any Error)? {
            let cases = FilterConformance.cases(
                for: { DomainKey(form: .anyScheme) },
                samples: samples + [LawExchange(.get, "https://api.service.test:8444/")],
                laws: LawOptions(rounds: 100, budget: .seconds(600)))
            do { try await cases.first { $0.name == FilterLaw.lookalikes.name }?.run() } catch { return error }
            return nil
        }
        #expect(await failure([samples[0]]) is ConformanceFailure)
        #expect(await failure(samples) == nil)
    }

    // MARK: Accessories

    @Test(
        "a law refuses texts that mix up calls at the same time",
        arguments: [FailureTexts.Form.oneForAll, .byLabel, .right])
    func texts(form: FailureTexts.Form) async throws {
        try await AccessoryConformance.expect(form == .right, "if their events alternate", output: { $0.text }) {
            FailureTexts(form)
        }
    }

    @Test("a law refuses results that are counted for another host", arguments: [false, true])
    func hosts(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "if their events alternate", output: { $0.text }) {
            HostResults(usesResponse: isRight)
        }
    }

    @Test("a law refuses a sum without the bytes of repeated transfers", arguments: [false, true])
    func sums(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "a call that is repeated", output: { $0.text }) {
            TransferSum(looksAtTransfer: isRight)
        }
    }

    @Test("no law refuses the size of the last successful call")
    func lastSize() async throws {
        try await AccessoryConformance.expect(true, "", output: { $0.text }) { LastSize() }
    }
}
