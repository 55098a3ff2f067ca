import Errand
import ErrandJSONDecoding
import ErrandTesting
import Foundation
import Testing

/// Values and responses that other decoders got wrong. Tests/Lessons.md has the reports.
@Suite("Values and responses that other decoders got wrong", .endsInTime, .leakChecked)
struct DecodingReportTests {
    private struct Payload: Decodable, Equatable {
        let id: Int64
        let price: Decimal
        let ratio: Double
    }

    /// A value whose type is named by a member that may come after its content.
    private enum Tagged: Decodable, Equatable {
        case payload(Payload)
        case number(UInt64)

        private enum Key: String, CodingKey { case kind, data }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            switch try container.decode(String.self, forKey: .kind) {
            case "payload": self = .payload(try Payload(from: decoder))
            case "wrapped": self = .payload(try container.decode(Payload.self, forKey: .data))
            default: self = .number(try container.decode(UInt64.self, forKey: .data))
            }
        }
    }

    @Test("numbers keep their digits in a value whose type follows from a later member")
    func tagged() throws {
        let payload = Tagged.payload(
            Payload(id: 9_007_199_254_740_993, price: Decimal(string: "12345678901234567.89")!, ratio: 1))
        let members = #""id":9007199254740993,"price":12345678901234567.89,"ratio":1"#
        let text = """
            [{\(members),"kind":"payload"},{"data":{\(members)},"kind":"wrapped"},{"data":18446744073709551615,"kind":"n"}]
            """
        for decoder: any BodyDecoder in [FastJSONDecoder(), JSONDecoder()] {
            let values = try decoder.decode([Tagged].self, from: Data(text.utf8))
            #expect(values == [payload, payload, .number(.max)])
        }
    }

    @Test(
        "a number with the suffix of a programming language is malformed",
        arguments: ["1.0f", "1d", "1L", "0x1F", "1_000", "1e5f", "-1D", "1.0F"])
    func suffixes(number: String) {
        struct Nothing: Decodable { init(from decoder: any Decoder) {} }
        for text in [number, "[\(number)]", "{\"a\":\(number)}"] {
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Nothing.self, from: Data(text.utf8)) }
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([Double].self, from: Data(text.utf8)) }
        }
    }

    @Test(
        "an HTML page of a gateway with the status 200 is an error that tells what arrived, and keeps it",
        arguments: ["text/html; charset=utf-8", "application/json", nil] as [String?])
    func gatewayPage(type: String?) async throws {
        let page = "<!DOCTYPE html><html><title>Sign in to Wi-Fi</title></html>"
        var response = StubResponse(body: Data(page.utf8))
        if let type { response = response.header(.contentType, type) }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response))
        for decoder: any BodyDecoder in [FastJSONDecoder(), JSONDecoder()] {
            agent.configure { $0.decoder = decoder }
            let error = await #expect(throws: ErrandError.self) {
                try await agent.send(Call<[String]>(.get, "users"))
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(
                text.contains(
                    type == nil ? "no Content-Type" : type?.hasPrefix("text/html") == true ? "text/html" : "JSON"))
            if type?.hasPrefix("text/html") != true { #expect(text.contains("HTML") && text.contains("status 200")) }
            #expect(error?.response?.status == 200 && error?.response?.body.data == Data(page.utf8))
        }
    }
}
