import ErrandHTTP
import ErrandRedaction
import Foundation
import Testing

/// What a log or a recording may show.
@Suite(.timeLimit(.minutes(30)), .leakChecked) struct RedactorTests {
    @Test(
        "names look secret in any case, with any punctuation and encoding",
        arguments: [
            "token", "access_token", "X-API-Key", "PASSWORD", "pass%77ord", "session.id", "key", "csrf[a]",
            "%%70assword",
        ])
    func secretNames(name: String) { #expect(Redaction().isSecret(name)) }

    @Test("other names do not", arguments: ["page", "keyboard", "monkey", "design", "q", "", "%"])
    func harmlessNames(name: String) { #expect(!Redaction().isSecret(name)) }

    @Test("rules can be added and lifted, but credentials stay masked")
    func rules() {
        var redaction = Redaction()
        redaction.secretNames.insert("customer")
        redaction.shownNames.insert("pagetoken")
        redaction.shownHeaders.formUnion(["X-Trace", "Authorization"])
        #expect(redaction.isSecret("Customer-Id") && !redaction.isSecret("page_token"))
        #expect(!redaction.isSecret(HTTPHeaders.Field("x-trace", "1")))
        #expect(redaction.isSecret(HTTPHeaders.Field("Authorization", "1")))
        #expect(redaction.isSecret(HTTPHeaders.Field("Accept", "1", sensitive: true)))
        #expect(redaction.isSecret(HTTPHeaders.Field("X-Other", "1")))
    }

    @Test("a secret that one part names is masked in all others")
    func echoes() {
        var redactor = Redactor()
        let url = redactor.url("https://ada:pa%2Fssword@example.com/a?page=2&token=abc%2Bdefgh&x#frag")
        #expect(url == "https://•••@example.com/a?page=2&token=•••&x")
        let headers = redactor.headers(["Authorization": "Bearer 0123456789", "Accept": "a/b", "X-Own": "x"])
        #expect(headers.map(\.value) == ["•••", "a/b", "•••"])
        let json = redactor.json(Data(#"{"a":1,"auth":{"list":["in-a-list"],"n":1234567}}"#.utf8))
        #expect(json.map { String(decoding: $0, as: UTF8.self) } == #"{"a":1,"auth":"•••"}"#)
        #expect(redactor.form("a=1&&secret=form%20value&b") == "a=1&&secret=•••&b")
        for secret in ["pa/ssword", "abc+defgh", "0123456789", "in-a-list", "1234567", "form value"] {
            #expect(redactor.masking("<\(secret)\u{301}>") == "<•••\u{301}>", "\(secret)")
            #expect(redactor.masking(Data("\u{0}\(secret)\(secret)".utf8)) == Data("\u{0}••••••".utf8))
        }
        #expect(redactor.masking("list, harmless") == "list, harmless")
    }

    @Test("the fields of a part are masked with all lines that continue them, however many there are")
    func foldedFields() {
        func shown(_ head: String, _ redactor: inout Redactor) -> String? {
            let body = Data("--b\r\n\(head)\r\n\r\nopen\r\n--b--".utf8)
            guard case .shown(let data) = redactor.body(body, contentType: "multipart/mixed; boundary=b") else {
                return nil
            }
            let text = String(decoding: data, as: UTF8.self)
            guard text.hasPrefix("--b\r\n"), text.hasSuffix("\r\n--b--") else { return nil }
            return String(text.utf8.dropFirst(5).dropLast(7))
        }
        var redactor = Redactor()
        #expect(shown("X-Key: canary-1\r\n canary-2\n\tcanary-3", &redactor) == "X-Key: •••\r\n•••\n•••\r\n\r\nopen")
        // Elsewhere as it was, as one line and in part.
        #expect(redactor.masking("<canary-1 canary-2\tcanary-3> <canary-3>") == "<•••> <•••>")
        // What Unicode joins with a blank or a colon to one character.
        #expect(shown("X-Key: canary-1\r\n \u{301}canary-2", &redactor) == "X-Key: •••\r\n•••\r\n\r\nopen")
        #expect(shown("X-Key:\u{301}canary-4", &redactor) == "X-Key: •••\r\n\r\nopen")
        // Lines that are no field hide the content too.
        #expect(
            shown("canary-5\r\nContent-Type: text/plain", &redactor) == "•••\r\nContent-Type: text/plain\r\n\r\n•••")
        #expect(
            shown("Content-Type: text/plain;\r\n charset=utf-8", &redactor)?.hasSuffix("=utf-8\r\n\r\nopen") == true)
        // Joining all before each of them would take hours.
        let lines = String(repeating: "\r\n canary-6-canary-6", count: 100_000)
        #expect(
            shown("X-Key: canary-6\(lines)", &redactor)
                == "X-Key: •••\(String(repeating: "\r\n•••", count: 100_000))\r\n\r\nopen")
    }

    @Test("JSON keeps every byte but those of secrets, cut off or not, and what is not JSON is refused")
    func json() {
        func masked(_ text: String) -> String? {
            var redactor = Redactor()
            return redactor.json(Data(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        for text in ["{ }\n", "[1.50,\t\"é\"]", #"{"a" : {"b":null}}"#, "", "7"] { #expect(masked(text) == text) }
        #expect(masked(#"{"pwd":"x","a":1}"#) == #"{"pwd":"•••","a":1}"#)
        #expect(masked(#"{"pwd":"half of i"#) == #"{"pwd":"•••""#)
        #expect(masked(#"{"pwd":["a","b"#) == #"{"pwd":"•••""#)
        #expect(masked(#"{"pwd":"#) == #"{"pwd":"#)
        #expect(masked(#"{"p\u0077d":1}"#) == #"{"p\u0077d":"•••"}"#)
        #expect(masked("}") == nil && masked(#"{"a" 1}"#) == nil && masked("[}") == nil)
        #expect(masked(String(repeating: "[", count: 10_000)) == nil)
    }

    @Test("a failure has a name without a secret")
    func failures() {
        struct Own: Error { let secret = "x" }
        #expect(Redaction.name(of: ErrandError(.timedOut, "late")) == "timedOut")
        #expect(Redaction.name(of: Own()) == "Own")
    }
}
