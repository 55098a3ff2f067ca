import Errand
import ErrandRecording
import Foundation
import Testing

/// Exchanges created directly from a request and its response.
@Suite(.endsInTime, .leakChecked)
struct RecordedExchangeTests {
    private let secret = "abcdefgh12345678"

    private func exchange(receivedLength: Int64? = nil) throws -> RecordedExchange {
        let url = try #require(URL(string: "https://api.example.com/users?token=\(secret)&page=2"))
        let request = HTTPRequest(.post, url, headers: ["X-Trace": "of \(secret)"])
        let response = HTTPResponse(
            to: request, status: 201, headers: ["Content-Type": "application/json", "Location": "/at/\(secret)"])
        return RecordedExchange(
            masking: request, sent: Data("mine is \(secret)".utf8), response: response,
            received: Data(#"{"id":7,"session":"s3ss10n-of-ada"}"#.utf8), receivedLength: receivedLength,
            label: "create, s3ss10n-of-ada", date: Date(timeIntervalSince1970: 0))
    }

    @Test("an exchange created from unmasked messages has all secrets masked in all of its parts")
    func masked() throws {
        let exchange = try exchange()
        #expect(exchange.request.url == "https://api.example.com/users?token=•••&page=2")
        #expect(exchange.request.body.text == "mine is •••" && exchange.label == "create, •••")
        #expect(exchange.response?.redirectURL == "/at/•••" && exchange.response?.status == 201)
        #expect(exchange.response?.body.text == #"{"id":7,"session":"•••"}"#)
        let text = String(decoding: try HARFile.Entry(exchange).encoded(), as: UTF8.self)
        #expect(!text.contains(secret) && !text.contains("s3ss10n") && text.contains("/users?token=•••"))
    }

    @Test("a received body's length is the copy's length, unless a greater length is given")
    func length() throws {
        let whole = try exchange().response?.body
        #expect(whole?.length == 35 && whole?.isTruncated == false)
        let beginning = try exchange(receivedLength: 1000).response?.body
        #expect(beginning?.length == 1000 && beginning?.isTruncated == true)
    }

    @Test("an exchange adopts the secrets of another exchange, and reports its memory use")
    func others() throws {
        var exchange = try exchange()
        var redactor = Redactor()
        redactor.remember("api.example.com")
        exchange.mask(redactor)
        #expect(exchange.request.url.hasPrefix("https://•••/users"))
        let before = exchange.approximateByteCount
        exchange.response?.body.data.append(Data(count: 5000))
        #expect(exchange.approximateByteCount == before + 5000)
    }

    @Test("an entry that is written alone equals the entry in a file")
    func entry() throws {
        let entry = try HARFile.Entry(exchange())
        #expect(try JSONDecoder().decode(HARFile.Entry.self, from: entry.encoded()) == entry)
    }
}
