import Errand
import ErrandAuthentication
import ErrandCache
import ErrandRetry
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

/// What the page shows of the filters that apps use most.
@Suite("Notes of filters on the page", .endsInTime, .leakChecked)
struct NoteTests {
    private static let base = "https://api.example.com"

    private func notes(_ details: [String: Any], of name: String) -> [String] {
        (details["noteList"] as? [[String: Any]] ?? []).filter { $0["name"] as? String == name }
            .compactMap { $0["text"] as? String }
    }

    private struct GetUser: CacheableRequest {
        typealias Output = Data
        var path: String { "user" }
        var cachePolicy: CachePolicy
    }

    @Test("the page explains why a cache didn't serve a response: not stored, stale, changed, or not storable")
    func cache() async throws {
        let (stub, visit, time) = (StubTransport(), try Visit(), ManualTimeSource())
        stub.on(
            "/user", response: StubResponse(status: 200, headers: ["Cache-Control": "max-age=10"], body: Data("1".utf8))
        )
        stub.on("/news", response: StubResponse(status: 200, headers: ["Cache-Control": "no-store"]))
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.cache(.memory(), policy: .http)],
            accessories: [visit.inspector], time: time)
        _ = try await agent.send(Call<Data>(.get, "user"))
        _ = try await agent.send(Call<Data>(.get, "user"))
        time.advance(by: .seconds(60))
        _ = try await agent.send(Call<Data>(.get, "user"))
        _ = try await agent.send(Call<Data>(.get, "news"))
        let all = try visit.activities().map { notes($0, of: "cache").joined(separator: "; ") }
        #expect(all.count == 4)
        #expect(all[0].contains("fwd=uri-miss") && all[1].contains("hit") && all[2].contains("fwd=stale"), "\(all)")
        #expect(all[3].contains("no-store"), "\(all)")
    }

    @Test("why a timed cache didn't serve a response")
    func timedCache() async throws {
        let (stub, visit, time) = (StubTransport(), try Visit(), ManualTimeSource())
        stub.on("/user", response: .text("1"))
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.cache(.memory())], accessories: [visit.inspector],
            time: time)
        let request = GetUser(cachePolicy: .timed(.seconds(10)))
        for _ in 0..<3 {
            _ = try await agent.send(request)
            if visit.inspector.recordedIDs.count == 2 { time.advance(by: .seconds(60)) }
        }
        let all = try visit.activities().map { notes($0, of: "cache").joined(separator: "; ") }
        #expect(all.count == 3)
        #expect(all[0].contains("fwd=") && all[1].contains("hit") && all[2].contains("fwd=stale"), "\(all)")
    }

    @Test("which host a request waited for, while it waits and after")
    func gate() async throws {
        let (stub, visit, gate) = (StubTransport(), try Visit(), Gate())
        stub.on("/first", response: StubResponse(status: 200).waiting(for: gate))
        stub.on("/second", response: .text("2"))
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.hostLimit(HostLimits(maximumConcurrent: 1))],
            accessories: [visit.inspector])
        let first = agent.start(Call<Data>(.get, "first"))
        try await eventually { stub.received.count == 1 }
        let second = agent.start(Call<Data>(.get, "second"))
        try await eventually { try visit.activities().last?["notes"] as? Int == 1 }
        let waiting = try #require(try visit.activities().last)
        #expect(
            notes(waiting, of: "host limit") == ["waits for api.example.com:443"], "\(notes(waiting, of: "host limit"))"
        )
        gate.open()
        _ = try await (first.value, second.value)
        let ended = notes(try #require(try visit.activities().last), of: "host limit")
        #expect(ended.count == 2 && ended[1].hasPrefix("waited "), "\(ended)")
    }

    @Test("when a token was refused and refreshed")
    func refresh() async throws {
        let (stub, visit) = (StubTransport(), try Visit())
        stub.on("/user", response: StubResponse(status: 401), .text("ada"))
        let session = AuthenticationSession(BearerToken("canary-old-0123456789")) { _ in
            BearerToken("canary-new-0123456789")
        }
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.authentication(session)],
            accessories: [visit.inspector])
        _ = try await agent.send(Call<Data>(.get, "user"))
        let details = try #require(try visit.activities().first)
        let found = notes(details, of: "authentication")
        #expect(found.count == 2 && found[0] == "the credential was rejected with status 401", "\(found)")
        #expect(found.last?.hasPrefix("waited ") == true && found.last?.hasSuffix(" for a new credential") == true)
        #expect(!"\(details)".contains("canary"))
    }

    @Test("why a request was sent again, and after which wait")
    func retry() async throws {
        let (stub, visit) = (StubTransport(), try Visit())
        stub.on(
            "/user", response: StubResponse(status: 503, headers: ["Retry-After": "0"]),
            .failure(ErrandError(.connectionLost, "the cable was cut")), .text("ada"))
        let policy = RetryPolicy(backoff: Backoff(base: .zero))
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.retry(policy)], accessories: [visit.inspector])
        _ = try await agent.send(Call<Data>(.get, "user"))
        let found = notes(try #require(try visit.activities().first), of: "retry")
        #expect(found.count == 2 && found[0].contains("503") && found[1].contains("connectionLost"), "\(found)")
    }

    @Test("an error with its evidence, and the path of the request through its filters")
    func failure() async throws {
        let (stub, visit) = (StubTransport(), try Visit())
        stub.on(
            "/user",
            response: StubResponse(
                status: 500, headers: ["Content-Type": "application/json"], body: Data(#"{"why":"full"}"#.utf8)))
        let agent = NetworkAgent(
            baseURL: Self.base, transport: stub, filters: [.retry(.off), .cache(.memory())],
            accessories: [visit.inspector])
        visit.inspector.explainRequests(of: agent)
        let body = RequestBody.data(Data(repeating: 65, count: 100_000))
        _ = try? await agent.send(Call<Data>(.post, "user", body: body))
        let details = try #require(try visit.activities().first)
        let failure = try #require(details["failure"] as? [String: String])
        #expect(failure["description"]?.contains("500") == true && failure["sentence"]?.isEmpty == false)
        let exchange = try #require((details["exchanges"] as? [[String: Any]])?.first)
        let response = try #require(exchange["response"] as? [String: Any])
        #expect((response["body"] as? [String: Any])?["text"] as? String == #"{"why":"full"}"#)
        let explanation = try #require(details["explanation"] as? String)
        #expect(explanation.contains("call  ") && explanation.contains("transport"), "\(explanation)")
    }
}
