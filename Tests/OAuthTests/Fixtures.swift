import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandSystemTransport
import ErrandTesting
import Synchronization

/// Follows a sign-in page to its redirect, as a browser does for a user who agrees at once.
struct RobotBrowser: OAuthBrowser {
    var redirectURI = "com.example.app:/signed-in"
    /// Changes the redirect before it reaches the client, as an attacker would.
    var change: @Sendable (String) async throws -> String = { $0 }

    func redirect(from page: SignInPage) async throws -> String {
        let url = try await page.url(for: redirectURI)
        return try await change(try await Self.redirect(of: url))
    }

    static func redirect(of page: URL) async throws -> String {
        var call = Call<HTTPResponse>(.get, page.absoluteString)
        (call.redirects, call.acceptableStatuses) = (.off, .any)
        let response = try await NetworkAgent(baseURL: "", transport: .system).send(call).value
        guard let location = response.headers[.location] else { throw RobotFailed(status: response.status) }
        return location
    }
}

/// A clock that doesn't wait between the polls of a device, but moves to their end. Longer sleeps, such as the timeouts
/// of requests, wait until a test moves the base.
struct JumpingClock: TimeSource {
    let base: ManualTimeSource
    /// The lengths of the sleeps, in seconds.
    let waits = Log<Int>()

    var now: ContinuousClock.Instant { base.now }
    var date: Date { base.date }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        let seconds = Int((instant - now) / .seconds(1))
        if seconds > 25 { return try await base.sleep(until: instant) }
        // The timer of an earlier request is already due.
        if seconds <= 0 { return }
        waits.add(seconds)
        base.advance(to: instant)
    }
}

struct RobotFailed: Error { let status: Int }

extension AuthorizationServer {
    func client(
        _ authentication: ClientAuthentication = .none, dpop: DPoP? = nil, filters: [any Filter] = [],
        accessories: [any Accessory] = []
    ) -> OAuthClient {
        OAuthClient(
            issuer: url, id: "app", authentication: authentication, dpop: dpop, transport: .system, filters: filters,
            accessories: accessories, time: clock)
    }

    func agent(_ session: OAuthSession, accessories: [any Accessory] = []) -> NetworkAgent {
        NetworkAgent(
            baseURL: url, transport: .system, filters: [.authentication(session)], accessories: accessories, time: time)
    }

    /// Returns a session of a user who has signed in.
    func session(
        _ client: OAuthClient? = nil, store: any TokenStore = MemoryTokenStore(), scope: String? = nil
    ) async throws -> OAuthSession {
        let client = client ?? self.client()
        let session = OAuthSession(client, store: store)
        await session.signIn(try await client.signIn(scope: scope, browser: RobotBrowser()))
        return session
    }
}

/// Returns the error of a body, or nil if it doesn't throw one.
func failure(_ body: () async throws -> Void) async -> OAuthError? {
    do { try await body() } catch { return error as? OAuthError }
    return nil
}

/// A store whose next operations fail.
final class FailingStore: TokenStore {
    struct Failed: Error {}
    let base = MemoryTokenStore()
    private let fails = Mutex(false)

    var isFailing: Bool {
        get { fails.withLock { $0 } }
        set { fails.withLock { $0 = newValue } }
    }

    func load() async throws -> OAuthToken? { base.load() }
    func save(_ token: OAuthToken) async throws { if isFailing { throw Failed() } else { base.save(token) } }
    func remove() async throws { if isFailing { throw Failed() } else { base.remove() } }
}

extension OAuthClient {
    /// Returns the error of a sign-in, or nil if it succeeds.
    func failure(_ browser: any OAuthBrowser = RobotBrowser(), scope: String? = nil) async -> OAuthError? {
        do { _ = try await signIn(scope: scope, browser: browser) } catch { return error as? OAuthError }
        return nil
    }
}
