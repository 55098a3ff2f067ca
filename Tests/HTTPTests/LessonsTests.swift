import ErrandEssentials
import ErrandHTTP
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Parameters that other encoders got wrong", .leakChecked) struct ParameterLessonsTests {
    private func text(_ parameters: Parameters, _ encoding: ParameterEncoding = ParameterEncoding()) throws -> String {
        try encoding.encode(parameters)
    }

    private struct Profile: Encodable {
        var first: String? = "Ada"
        var middle: String?
        var isMember = true
        var count = 1
        var born = Date(timeIntervalSince1970: 86_400)
    }

    @Test("a missing optional property is omitted, and null is sent only on request")
    func missing() throws {
        #expect(try text(Parameters(encoding: Profile())).contains("middle") == false)
        let none: String? = nil
        #expect(try text(["a": none, "b": "x"]) == "b=x")
        #expect(try text(["a": .null, "b": "x"]) == "a&b=x")
        #expect(try text(["a": "", "b": "x"]) == "a=&b=x")
    }

    @Test("a Boolean stays a Boolean next to 0 and 1, in a value and in a literal")
    func booleans() throws {
        let literal = ParameterEncoding(booleans: .literal)
        let profile = try text(Parameters(encoding: Profile()), literal)
        #expect(profile.contains("isMember=true") && profile.contains("count=1"))
        #expect(try text(["a": true, "b": 1, "c": false, "d": 0], literal) == "a=true&b=1&c=false&d=0")
        #expect(try text(["a": true, "b": 1]) == "a=1&b=1")
        let json = try JSONEncoder().encode(["a": ParameterValue(true), "b": ParameterValue(1)])
        #expect([#"{"a":true,"b":1}"#, #"{"b":1,"a":true}"#].contains(String(decoding: json, as: UTF8.self)))
    }

    @Test("dates are written as the given encoder writes them")
    func dates() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        #expect(try text(Parameters(encoding: Profile(), encoder: encoder)).contains("born=1970-01-02T00%3A00%3A00Z"))
        encoder.dateEncodingStrategy = .secondsSince1970
        #expect(try text(Parameters(encoding: Profile(), encoder: encoder)).contains("born=86400"))
    }

    @Test(
        "no text creates an invalid query: blanks, percent signs, quotes, control characters or a partial escape",
        arguments: [
            (" ", "%20"), ("100%", "100%25"), ("%zz", "%25zz"), ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("a\nb\0", "a%0Ab%00"), ("2~XlNd+M+261dHJobVe9J/iszJktw==", "2~XlNd%2BM%2B261dHJobVe9J/iszJktw%3D%3D"),
            ("\u{4E2D}\u{6587}", "%E4%B8%AD%E6%96%87"), ("+", "%2B"), ("a=b&c#d", "a%3Db%26c%23d"), ("\u{7F}", "%7F"),
        ])
    func characters(value: String, encoded: String) throws {
        #expect(try text(["q": ParameterValue(value)]) == "q=\(encoded)")
        #expect(try text(Parameters([.init(value, 1)])) == "\(encoded)=1")
        let url = URL(string: "https://example.com/?\(try text(["q": ParameterValue(value)]))")
        let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false)?.queryItems }
        #expect(items?.first?.value == value)
    }
}
