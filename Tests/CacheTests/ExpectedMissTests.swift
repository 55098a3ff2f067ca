import Errand
import ErrandCache
import ErrandTesting
import Testing

@Suite("A miss without a failure", .endsInTime, .leakChecked) struct ExpectedMissTests {
    private static let policies: [CachePolicy] = [.timed(.seconds(60)), .http, .timed(.seconds(60)).and(.http)]

    private let recording = RecordingAccessory()

    private var options: CallOptions { CallOptions(accessories: [recording]) }

    @Test("looking up a response that isn't stored doesn't fail", arguments: policies)
    func cached(policy: CachePolicy) async throws {
        let f = Fixture()
        #expect(try await f.agent.cached(Get("feed", policy), options: options) == nil)
        #expect(try await f.agent.cached(Get("feed", policy), includingStale: true, options: options) == nil)
        #expect(try await !f.agent.removeCached(Get("feed", policy), options: options))
        #expect(recording.outcomes == ["success", "success", "success"] && f.sent == 0)
        #expect(recording.problems() == [])
    }

    @Test("opening a screen for the first time doesn't fail, and delivers one response", arguments: policies)
    func cachedThenFresh(policy: CachePolicy) async throws {
        let f = Fixture()
        f.respond()
        var values: [String] = []
        for try await response in f.agent.cachedThenFresh(Get("feed", policy), options: options) {
            values.append(response.value)
        }
        #expect(values.count == 1 && recording.outcomes == ["success", "success"])
    }

    @Test("the error mapping of the agent does not see it")
    func mapping() async throws {
        struct Mapped: Error {}
        let f = Fixture()
        f.agent.configure { $0.mapError = { _ in Mapped() } }
        #expect(try await f.agent.cached(Get(), options: options) == nil)
        await #expect(throws: Mapped.self) { try await f.agent.send(Get(), options: options.cache(.cacheOnly)) }
        #expect(recording.outcomes == ["success", "failure"])
    }

    @Test("a miss that the caller gets as an error is a failure, and so is a missing cache")
    func failures() async throws {
        let f = Fixture()
        let miss = await #expect(throws: CacheMiss.self) {
            try await f.agent.send(Get(), options: options.cache(.cacheOnly))
        }
        #expect(miss?.isExpected == false)
        await #expect(throws: CacheMiss.self) { try await f.agent.removeCached(Get("feed", .off), options: options) }
        let bare = NetworkAgent(baseURL: "https://example.com", transport: .stub(.text("x")))
        await #expect(throws: CacheMiss.self) { try await bare.cached(Get(), options: options) }
        #expect(recording.outcomes == ["failure", "failure", "failure"])
    }
}
