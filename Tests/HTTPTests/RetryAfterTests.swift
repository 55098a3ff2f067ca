import ErrandEssentials
import ErrandHTTP
import Testing

@Suite("Retry-After in headers") struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "the longest valid wait counts, and missing, invalid and past values don't cause a wait",
        arguments: [
            ([], nil), (["7"], 7), (["3", "Sun, 06 Nov 1994 08:49:42 GMT"], 5), (["soon", "2", "-9"], 2), (["0"], nil),
            (["Sun, 06 Nov 1994 08:49:37 GMT"], nil), (["Sunday, 06-Nov-94 08:48:37 GMT"], nil),
            (["soon", "1.5"], nil),
        ] as [([String], Int?)])
    func waits(fields: [String], seconds: Int?) {
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field("retry-after", $0) })
        #expect(headers.retryAfter(from: now) == seconds.map { .seconds($0) })
    }

    @Test("a wait that is longer than the limit counts as the limit")
    func limit() {
        let headers: HTTPHeaders = ["Retry-After": "99999999999999999999"]
        #expect(headers.retryAfter(from: now, upTo: .seconds(60)) == .seconds(60))
        #expect(headers.retryAfter(from: now, upTo: .seconds(-1)) == .zero)
        #expect(headers.retryAfter(from: now) == .seconds(1 << 32))
        #expect((["Retry-After": "59"] as HTTPHeaders).retryAfter(from: now, upTo: .seconds(60)) == .seconds(59))
    }
}
