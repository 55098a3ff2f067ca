import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// Responses that arrive in another order than their requests were sent. Tests/Lessons.md has the reports.
@Suite("Responses that arrive late", .endsInTime, .leakChecked) struct LateResponseTests {
    @Test(
        "a response to an earlier request that arrives after a later response doesn't replace it",
        arguments: [true, false])
    func earlierRequest(isHTTP: Bool) async throws {
        let f = Fixture()
        let (count, gate) = (Counter(), Gate())
        let dates = [httpDate(f.time.date), httpDate(f.time.date + 3)]
        f.stub.on("*") { _ in
            let number = count.increment()
            let response = StubResponse(
                headers: [
                    "Cache-Control": "max-age=100", "Date": dates[min(number, 2) - 1], "Content-Type": "text/plain",
                ],
                body: Data("\(number)".utf8))
            return number == 1 ? response.waiting(for: gate) : response
        }
        let request = isHTTP ? Get("late", .http) : Get("late")
        let first = Task { try await f.text(request) }
        try await gate.reached()
        f.time.advance(by: .seconds(3))
        #expect(try await f.text(request) == "2")
        f.time.advance(by: .seconds(1))
        gate.open()
        #expect(try await first.value == "1")
        #expect(try await f.text(request) == "2")
        #expect(f.sent == 2)
    }

    @Test(
        "a stream that began before a later request ends after its response, and doesn't replace it",
        arguments: [true, false])
    func earlierStream(isHTTP: Bool) async throws {
        let f = Fixture()
        let count = Counter()
        f.stub.on("*") { _ in
            let number = count.increment()
            let headers: HTTPHeaders = ["Cache-Control": "max-age=100", "Content-Type": "text/plain"]
            if number > 1 { return StubResponse(headers: headers, body: Data("\(number)".utf8)) }
            var response = StubResponse.chunks(["o", "l", "d"].map { Data($0.utf8) })
            response.headers.merge(headers)
            return response
        }
        let request = isHTTP ? Get("late", .http) : Get("late")
        let streamed = try await f.agent.send(Streamed(cachePolicy: request.cachePolicy)).value
        f.time.advance(by: .seconds(1))
        #expect(try await f.text(request, .reload) == "2")
        await f.cache.flush()
        #expect(try await streamed.body.collect(upTo: 10) == Data("old".utf8))
        await f.cache.flush()
        #expect(try await f.text(request) == "2")
        #expect(f.sent == 2)
    }

    private struct Streamed: CacheableRequest {
        typealias Output = HTTPResponse
        let cachePolicy: CachePolicy
        var path: String { "late" }
        var delivery: BodyDelivery { .stream }
    }
}
