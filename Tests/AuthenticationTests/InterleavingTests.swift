import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Orders of events", .endsInTime, .leakChecked) struct InterleavingTests {
    @Test(
        "every request ends as expected, one refresh runs at a time, and no token is refreshed twice",
        arguments: 0..<10)
    func orders(block: Int) async throws {
        #if DEBUG
        let count = 300
        #else
        let count = 1000
        #endif
        for seed in block * count..<(block + 1) * count {
            let world = World(seed: UInt64(seed))
            let faults = try await world.run()
            #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "; "))")
            if !faults.isEmpty { return }
        }
    }
}

/// A server whose tokens can expire at any time, and an app that can do anything at any time.
private final class World: Sendable {
    private struct State {
        var random: SeededGenerator
        var valid = "0"
        var count = 0
        var running = 0
        var renewed: Set<String> = []
        /// Whether something happened that makes a second refusal, or a missing credential, a correct outcome.
        var mayRefuse = false
        var mayBeSignedOut = false
        var mayFail = false
        var faults: [String] = []
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    private func chance(_ percent: UInt64) -> Bool { state.withLock { $0.random.next() % 100 < percent } }

    private func pause() async {
        for _ in 0..<state.withLock({ $0.random.next() % 6 }) { await Task.yield() }
    }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    private func newToken() -> BearerToken {
        state.withLock { state in
            state.count += 1
            state.valid = "\(state.count)"
            return BearerToken(state.valid)
        }
    }

    private func refresh(_ old: BearerToken?) async throws -> BearerToken? {
        let isAlone = state.withLock { state in
            state.running += 1
            return state.running == 1
        }
        // A sign-in or sign-out cancels a refresh, which may still be unwinding.
        if !isAlone, !state.withLock({ $0.mayBeSignedOut }) { fault("two refreshes at once") }
        defer { state.withLock { $0.running -= 1 } }
        await pause()
        if chance(15) {
            state.withLock { $0.mayFail = true }
            throw Broken()
        }
        if chance(5) {
            state.withLock { $0.mayBeSignedOut = true }
            return nil
        }
        await pause()
        if let old, !state.withLock({ $0.renewed.insert(old.token).inserted }), !state.withLock({ $0.mayBeSignedOut }) {
            fault("token \(old.token) was refreshed twice")
        }
        return newToken()
    }

    func run() async throws -> [String] {
        let session = AuthenticationSession(BearerToken(chance(50) ? "0" : "stale")) { [self] in try await refresh($0) }
        let transport = StubTransport(maximumRecordedRequests: 0) { [self] request in
            await pause()
            let token = request.headers[.authorization]
            let isFine = state.withLock { token == "Bearer \($0.valid)" }
            await pause()
            return isFine ? .text(request.url.path) : .status(401)
        }
        let agent = NetworkAgent(transport, .authentication(session))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Int(3 + state.withLock { $0.random.next() % 5 }) {
                group.addTask { [self] in await request(number, agent) }
            }
            if chance(30) {
                group.addTask { [self] in
                    await pause()
                    // The server forgets a token, possibly a new one.
                    state.withLock { state in
                        state.mayRefuse = true
                        state.valid = "forgotten"
                    }
                }
            }
            if chance(20) {
                group.addTask { [self] in
                    await pause()
                    state.withLock { $0.mayBeSignedOut = true }
                    session.signOut()
                    await pause()
                    // Set before the token is made, because from then on the server refuses the previous one.
                    state.withLock { $0.mayRefuse = true }
                    if chance(50) { session.signIn(newToken()) }
                }
            }
        }
        // Whatever happened, the session must work afterwards.
        session.signIn(newToken())
        // A dropped refresh may still create a token, which invalidates the tokens after it.
        for _ in 0..<100 {
            do {
                if try await agent.text("after") == "/after" { return state.withLock { $0.faults } }
            } catch is AuthenticationError {} catch let error as ErrandError where error.response?.status == 401 {}
            session.signIn(newToken())
        }
        fault("the session is of no use afterwards")
        return state.withLock { $0.faults }
    }

    private func request(_ number: Int, _ agent: NetworkAgent) async {
        await pause()
        let isCancelled = chance(15)
        let task = Task { try await agent.text("\(number)") }
        if isCancelled {
            await pause()
            task.cancel()
        }
        let allowed = { self.state.withLock { ($0.mayRefuse, $0.mayBeSignedOut, $0.mayFail) } }
        do {
            let path = try await task.value
            if path != "/\(number)" { fault("\(number) got the response of \(path)") }
        } catch let error as AuthenticationError {
            let (_, isSignedOut, mayFail) = allowed()
            switch error.code {
            case .signedOut, .userChanged: if !isSignedOut { fault("\(error.code) without a sign-out") }
            default: if !mayFail || !(error.underlying is Broken) { fault("\(error)") }
            }
        } catch let error as ErrandError {
            if error.isCancelled {
                if !isCancelled { fault("\(number) was cancelled by another") }
            } else if error.response?.status != 401 || !allowed().0 {
                fault("\(error)")
            }
        } catch { fault("\(error)") }
    }
}
