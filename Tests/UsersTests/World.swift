import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import ErrandURLFilters
import Synchronization

/// An agent with filters in a random order, and changing users.
final class World: Sendable {
    enum Style: CaseIterable { case bearer, device, query, form, cookies, own }

    private typealias Credentials = (filter: any Filter, become: @Sendable (_ user: String, _ signsOut: Bool) -> Void)

    private let random: SharedGenerator
    private let shop: Shop
    private let style: Style
    private let credentials: Credentials
    private let agent: NetworkAgent
    /// The numbers of requests that have passed the filter with the credential, or have ended.
    private let begun = Log<Int>()
    /// The number of requests with a response, to detect a world in which every request fails.
    let successes = Counter()

    init(seed: Int) {
        let random = SharedGenerator(seed: seed)
        let (style, jar, begun) = (Style.allCases[random.below(Style.allCases.count)], CookieJar(), begun)
        let credentials = Self.credentials(style, jar)
        let passed = ClosureFilter { exchange, next in
            begun.add(exchange.tags[Number.self])
            return try await next(exchange)
        }
        var groups: [[any Filter]] = [[credentials.filter, passed]]
        func maybe(_ percent: Int, _ filter: @autoclosure () -> any Filter) {
            if random.below(100) < percent { groups.append([filter()]) }
        }
        maybe(75, .cache(.memory()))
        maybe(40, .coalescing)
        maybe(20, .coalescing(in: .call))
        maybe(50, .retry(RetryPolicy(maximumAttempts: 3, backoff: .none)))
        maybe(30, .headers(["X-App": "shop"]))
        maybe(30, .urls(.query(["v": "3"])))
        maybe(20, .body(["app": "shop"]))
        maybe(30, .headers(signedBy: Signer(key: "secret", signature: "X-Signature", timestamp: nil)))
        if style != .cookies { maybe(30, .cookies(jar)) }
        for index in groups.indices.reversed() { groups.swapAt(index, random.below(index + 1)) }
        (self.random, self.style, self.credentials) = (random, style, credentials)
        shop = Shop(random)
        agent = NetworkAgent(
            baseURL: Service.home, transport: shop.transport, filters: groups.flatMap(\.self), time: ManualTimeSource())
    }

    private static func credentials(_ style: Style, _ jar: CookieJar) -> Credentials {
        func session<C: Credential>(_ make: @escaping @Sendable (String) -> C) -> Credentials {
            let (count, user) = (Counter(), Counter())
            let names = ["ada", "bob", "eve"]
            let session = AuthenticationSession(make("ada.0")) { old in
                old == nil ? nil : make("\(names[user.value]).\(count.increment())")
            }
            return (
                .authentication(session),
                { name, signsOut in
                    if signsOut { session.signOut() }
                    while names[user.value] != name { user.increment() }
                    session.signIn(make("\(name).\(count.increment())"))
                }
            )
        }
        switch style {
        case .bearer: return session { BearerToken($0) }
        case .device: return session { DeviceKey(key: $0) }
        case .query: return session { QueryKey(key: $0) }
        case .form: return session { FormKey(key: $0) }
        case .cookies:
            jar.hold("ada")
            return (.cookies(jar), { name, _ in jar.hold(name) })
        case .own:
            let name = Mutex("ada")
            let filter = HeaderFilter(name: "own") { _ in
                HTTPHeaders([.init("X-Device-Key", name.withLock { $0 }, sensitive: true)])
            }
            return (filter, { new, _ in name.withLock { $0 = new } })
        }
    }

    /// Whether the filter order has no known problem for any policy of the requests. Without a cache, policies have
    /// no effect, which isn't a problem of the order.
    var isAccepted: Bool {
        let hasCache = agent.configuration.filters.contains { $0 is ResponseCache }
        return (hasCache ? Self.policies(of: "ada") : [.off]).allSatisfy { agent.explain(Get($0)).problems.isEmpty }
            && agent.explain(Call<Void>(.post, "orders")).problems.isEmpty
    }

    var order: String { "\(style): \(agent.configuration.filters.map(\.explanation))" }

    private static func policies(of user: String) -> [CachePolicy] {
        [.off, .timed(.seconds(60)), .http, .timed(.seconds(60)).and(.http), .http(partition: user)]
            + [.timed(.seconds(60), partition: user)]
    }

    /// Sends requests as three users in turn, and returns the faults found.
    func run() async throws -> [String] {
        var number = 0
        for name in ["ada", "bob", "eve"] {
            if name != "ada" { credentials.become(name, random.below(2) == 0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 + random.below(4) {
                    number += 1
                    let own = number
                    group.addTask { [self] in await request(own, of: name) }
                }
                // A session's user may change while requests run, which then belong to the previous user.
                let isPinned = style != .cookies && style != .own
                guard isPinned, random.below(2) == 0 else { return try await group.waitForAll() }
                let last = number
                try await begun.wait { Set($0).isSuperset(of: 1...last) }
                let next = name == "ada" ? "bob" : "eve"
                credentials.become(next, random.below(2) == 0)
            }
        }
        return shop.faults
    }

    private func request(_ number: Int, of user: String) async {
        defer { begun.add(number) }
        let options = CallOptions(tags: Tags().with(Number.self, number))
        let path = ["data", "away"][random.below(2)]
        do {
            let text: String
            if random.below(3) == 0 {
                text = try await agent.send(
                    Call<String>(.post, path, body: form) { $0.headers = ["X-Order": "\(number)"] }, options: options
                ).value
            } else {
                let policies = Self.policies(of: user)
                let policy = policies[random.below(policies.count)]
                text = try await agent.send(Get(policy, path), options: options).value
            }
            successes.increment()
            if text != "data of \(user)", text != "data of nobody" {
                shop.fault("request \(number) of \(user) got the \(text)")
            }
        } catch is AuthenticationError {
        } catch let error as ErrandError where [401, 503].contains(error.response?.status) {
        } catch { shop.fault("request \(number) of \(user): \(error)") }
    }
}

private enum Number: TagKey {
    static let defaultValue = 0
}
